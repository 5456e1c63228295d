import torch

ARGUMENTS = (torch.randn(2, 3, dtype=torch.float16),)
