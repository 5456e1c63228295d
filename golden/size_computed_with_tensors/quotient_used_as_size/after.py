import torch


@torch.compile
def f(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    rows, columns = x.size()
    pairs = x.view(x.size(0) // 2, 2 * columns)
    count = (rows // (2 * 2)) - 1  # one less
    zeros = x.new_zeros((count + 2, columns))
    size = [count + 1, columns]
    return pairs * 2.0, zeros + x[:count].sum(), torch.ones(size)
