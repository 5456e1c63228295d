import torch


@torch.compile
def f(x: torch.Tensor, y: torch.Tensor):
    a = torch.relu(x) + y
    print("middle", a)
    if a.sum() > 0:
        print("positive", a.shape)
    b = torch.sin(a)
    print("late")
    return torch.cos(b)
