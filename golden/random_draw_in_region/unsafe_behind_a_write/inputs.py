import random

import torch

ENTRY = "f"


def inputs():
    random.seed(1)
    return [(torch.ones(3),), (torch.zeros(3),)]
