import numpy as np
import torch


class Masked(torch.nn.Module):
    """Puts a learned value into random spans."""

    def __init__(self):
        super().__init__()
        self.value = torch.nn.Parameter(torch.tensor(0.5))

    def forward(self, x: torch.Tensor, lengths: torch.Tensor | None = None):
        y = x * 2.0
        if x.shape[1] > 3:
            chosen = spans((x.shape[0], x.shape[1]), 0.4, length=2, lengths=lengths)
            mask = torch.from_numpy(chosen).to(x.device)
            y = torch.where(mask, self.value.to(y.dtype), y)
        return y + 1.0


# The spans are whole elements.
@torch.compiler.disable(reason="draws numbers with NumPy")
def spans(shape: tuple[int, int], share: float, length: int, lengths: torch.Tensor | None = None) -> np.ndarray:
    """True in random spans of each row."""
    rows, columns = shape
    if length > columns:
        raise ValueError(f"{length} is more than {columns}")
    by = np.random.rand(1).item()  # rounds by chance

    def count(size):
        return max(int(share * size / length + by), 1)

    sizes = lengths.detach().clamp(max=columns).tolist() if lengths is not None else [columns for _ in range(rows)]
    mask = np.zeros((rows, columns), dtype=bool)
    for row, size in enumerate(sizes):
        starts = np.random.choice(np.arange(size - length + 1), count(size), replace=False)
        for start in starts:
            mask[row, start : start + length] = True
    return mask


net = torch.compile(Masked(), fullgraph=False)


def f(x, lengths=None):
    np.random.seed(3)
    net.zero_grad()
    first, second = net(x, lengths), net(x, lengths)
    return first, second, np.random.rand()
