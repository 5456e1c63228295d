import torch


@torch.compile
def f(x: torch.Tensor):
    y = x + 0.5
    # grow
    done = torch.zeros_like(x.sum() > 10)
    for i in range(5):
        condition = ~done
        x_true = x * 2
        x = torch.where(condition, x_true, x)
        y = torch.where(condition, y + i, y)
        done = torch.where(condition, x_true.sum() > 10, done)
    return x, y
