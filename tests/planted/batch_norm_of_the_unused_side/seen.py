import torch

ARGUMENTS = (torch.randn(3, 4),)
