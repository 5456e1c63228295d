import torch

ARGUMENTS = (torch.randn(2, 3), 0.5)
