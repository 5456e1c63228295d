import torch


def adjust(img: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    return img * k.reshape(-1, 1)


@torch.compile(backend="eager")
def brighten(img: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
    img = torch.where((k != 1).any(), adjust(img, k), img)
    return img + 1
