import logging

import torch

logger = logging.getLogger("case")


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first = torch.nn.Linear(width, width)
        self.second = torch.nn.Linear(width, width)

    def forward(self, x, y):
        hidden = self.first(x).relu()
        logger.info("hidden %s", tuple(hidden.shape))
        out = self.second(hidden)
        return out + y


@torch.compile
def written(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = x.sin()
        z = y.detach()
        logger.info("before %s of %d: %.2f", y, y.numel(), y.mean().item())
        y += 1
        z.add_(y)
    return y.exp()


torch.manual_seed(0)
net = Net(3)
model = torch.compile(net)


def entry(x, y):
    return model(x, y), written(y)
