import torch

ENTRY = "f"
GRAD = True


def inputs() -> list[tuple[torch.Tensor, list[torch.Tensor], torch.Tensor]]:
    x = torch.linspace(-3.0, 3.0, 20)
    x[4] = float("inf")
    return [(x.clone().requires_grad_(), [], torch.zeros(size)) for size in ((2, 3), (1, 4), (0, 2), (2, 2))]
