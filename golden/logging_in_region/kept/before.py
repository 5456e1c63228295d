import logging

import torch

logger = logging.getLogger("case")


@torch.compile
def rebound(x: torch.Tensor, step: int) -> torch.Tensor:
    y = x.sin()
    logger.info("step %d: %s %s", step, y, x.shape)
    step = step + 1
    y = y.cos()
    logger.info(f"step {step}: {y.abs().sum()} {'ok'} {y.shape[0]:>3}")
    x = y * step
    return x


class Counter:
    def __init__(self):
        self.steps = 0

    @torch.compile
    def call(self, x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        logger.info("step %d", self.steps)
        self.steps = self.steps + 1
        logger.info("next %d", self.steps)
        return y.cos()


def entry(x, step):
    counter = Counter()
    counter.call(x)
    counter.call(x)
    return rebound(x, step), counter.steps
