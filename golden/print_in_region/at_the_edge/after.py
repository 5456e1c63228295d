import torch


@torch.compile
def f(x: torch.Tensor, y: torch.Tensor):
    a = torch.relu(x) + y
    reported_a = a.sum() > 0
    b = torch.sin(a)
    result = torch.cos(b)
    print("middle", a)
    if reported_a:
        print("positive", a.shape)
    print("late")
    return result
