import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x, mask=None):
        return x * self.scale if mask is None else x * self.scale * mask["keep"]


def main(first, second):
    torch.manual_seed(0)
    model = Net()
    model = torch.compile(model)
    model.train()
    losses = []
    for x in (first, second):
        torch._dynamo.maybe_mark_dynamic(x, 0)
        mask = {"keep": (x > 0).float()}
        torch._dynamo.maybe_mark_dynamic(mask['keep'], 0)
        out = model(x, mask)
        loss = out.sum()
        loss.backward()
        losses.append(loss)
    return losses, [p.grad for p in model.parameters()]
