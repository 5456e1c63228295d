import torch

ENTRY = "f"


def inputs() -> list[tuple[torch.Tensor]]:
    return [(torch.linspace(-1.0, 1.0, n),) for n in (4, 5)]
