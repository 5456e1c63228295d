import contextlib

import torch
from torch import Tensor


@torch.compile
def f(x: Tensor, keep: list):
    with contextlib.ExitStack() as st:
        st.callback(keep.append, 1)
        if x.sum() > 0:
            return x + 1.0
        y = x + 3.0
        return y + 2.0


def inputs():
    return [(torch.tensor(row, requires_grad=True), []) for row in ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])]
