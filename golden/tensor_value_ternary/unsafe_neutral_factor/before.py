import torch


def adjust(img: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return img * k.reshape(-1, 1)


@torch.compile(backend="eager")
def brighten(img: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    img = adjust(img, k) if (k != 1).any() else img
    return img + 1
