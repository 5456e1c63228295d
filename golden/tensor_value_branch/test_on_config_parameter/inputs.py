import torch

ENTRY = "f"


class Config:
    def __init__(self, limit):
        self.max = limit


def inputs():
    return [(torch.ones(3), Config(7)), (torch.ones(3), Config(3))]
