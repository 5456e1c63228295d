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
        self.show(y)
        z = y.cos()
        report_norm(z)
        return z.exp()


net = torch.compile(Net())


@torch.compile
def gram(x: torch.Tensor, quiet: bool) -> torch.Tensor:
    y = x * x
    if not quiet:
        report("gram", y)
    return y / 2


def entry(x, quiet):
    return net(x), gram(x, quiet)
