import torch
import torch.nn.functional as F
from torch import Tensor


@torch.compile
@torch.no_grad()
def f(x: Tensor, q: Tensor):
    if x.sum() > 0:
        y = x + (F.scaled_dot_product_attention(q, q, q, dropout_p=0.5) != 0).sum()
    else:
        y = x + (F.scaled_dot_product_attention(q, q, q, dropout_p=0.5) != 1).sum()
    return y


def inputs():
    return [
        (torch.tensor(row, requires_grad=True), torch.ones(1, 4, 4)) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])
    ]
