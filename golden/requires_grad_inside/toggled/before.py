import torch

model = torch.nn.Linear(2, 2)


def toggle(on):
    for p in model.parameters():
        p.requires_grad = on


@torch.compile
def f(x: torch.Tensor):
    toggle(False)
    y = torch.zeros(2, requires_grad=True)
    y.requires_grad = False
    z = x + 1.0
    z.requires_grad = False
    leaf = (x + 1.0).detach().requires_grad_()
    model.requires_grad_(False)
    return model(x) + y + z + leaf
