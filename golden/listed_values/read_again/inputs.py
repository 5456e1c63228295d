import torch

ENTRY = "f"
GRAD = True


def inputs() -> list[tuple[torch.Tensor, torch.Tensor]]:
    sizes = ((2, 3), (4, 1), (5, 0))
    return [(torch.linspace(-1.0, 1.0, a + b + 2).requires_grad_(), torch.zeros(a, b)) for a, b in sizes]
