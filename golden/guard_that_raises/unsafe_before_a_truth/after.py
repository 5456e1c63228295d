import torch


@torch.compile
def _f_graph(x: torch.Tensor, double: bool):
    double = x
    value = x.max()
    x_before = x
    x = torch.where((double != 0).reshape(()), x * 2.0, x)
    return x.sin(), value, x_before


def f(x: torch.Tensor, double: bool = False) -> torch.Tensor:
    result, value, x = _f_graph(x, double)
    if value.item() > 5:
        raise ValueError("too large", x.shape)
    return result
