import torch


@torch.compile
def f(x: torch.Tensor, starts: torch.Tensor):
    for i in range(2):
        x = x[int(starts[i].item()) :]
        starts.add_(1)
    for i in range(2):
        x = x[int(starts[i].item()) :]
        starts = starts + 0
    return x
