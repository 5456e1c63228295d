import torch

ENTRY = "f"


def inputs():
    right, wrong = torch.tensor([[0.0, 0.0, 1.0, 2.0]]), torch.tensor([[3.0, 0.0, 1.0, 2.0]])
    pairs = [(right, right.clone()), (right, wrong), (wrong, right)]
    return [({"first": first, "second": second},) for first, second in pairs]
