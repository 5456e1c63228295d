import torch

f = torch.compile(lambda x: torch.mul(x, 2.0) if torch.sum(x) > 0 else torch.add(x, 1.0))
