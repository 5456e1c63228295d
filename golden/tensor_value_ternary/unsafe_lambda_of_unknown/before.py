import torch

f = torch.compile(lambda x: x * 2.0 if x.sum() > 0 else x + 1.0)
