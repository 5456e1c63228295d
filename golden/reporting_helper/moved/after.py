import logging

import torch

logger = logging.getLogger("case")


def report(name: str, x: torch.Tensor) -> None:
    """Says what x is."""
    shape = tuple(x.shape)
    print(f"{name}: {shape}")
    if logger.isEnabledFor(logging.DEBUG):
        logger.debug("mean %s", x.mean())


@torch.compiler.disable
def report_norm(x):
    print("norm", x.norm().item())


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.name = "net"

    def show(self, x):
        logger.info("%s: %s", self.name, x)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        z = y.cos()
        result = z.exp()
        self.show(y)
        report_norm(z)
        return result


net = torch.compile(Net())


@torch.compile
def gram(x: torch.Tensor, quiet: bool) -> torch.Tensor:
    y = x * x
    result = y / 2
    if not quiet:
        report("gram", y)
    return result


def entry(x, quiet):
    return net(x), gram(x, quiet)
