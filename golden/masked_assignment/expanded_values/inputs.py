import torch

ENTRY = "f"
GRAD = True


def inputs():
    weights = [torch.zeros(2, 3), torch.ones(2, 3), torch.tensor([[0.1, 0.9, float("nan")], [0.5, 0.4, 2.0]])]
    return [(torch.ones(2, 3, requires_grad=True), torch.tensor([7.0], requires_grad=True), weight) for weight in weights]
