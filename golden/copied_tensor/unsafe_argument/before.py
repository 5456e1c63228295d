import copy as c

import torch


class Net(torch.nn.Module):
    def forward(self, batch):
        first = c.deepcopy(batch)
        first.mul_(3.0)
        if batch.ndim > 1:
            batch = batch + 1.0
        return first + batch, c.deepcopy(batch)


@torch.compile
def f(x):
    return Net()(x)
