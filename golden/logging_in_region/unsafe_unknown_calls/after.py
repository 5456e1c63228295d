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
        out = self.second(hidden)
        result = out + y
        logger.info("hidden %s", tuple(hidden.shape))
        return result


@torch.compile
def written(x: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
        y = x.sin()
        z = y.detach()
        reported_y = y.clone()
        reported_y_2 = y.numel()
        reported_y_3 = y.mean()
        y += 1
        z.add_(y)
    result = y.exp()
    logger.info("before %s of %d: %.2f", reported_y, reported_y_2, reported_y_3.item())
    return result


torch.manual_seed(0)
net = Net(3)
model = torch.compile(net)


def entry(x, y):
    return model(x, y), written(y)
