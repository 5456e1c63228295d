import logging

import torch

logger = logging.getLogger("case")


@torch.compile
def rebound(x: torch.Tensor, step: int) -> torch.Tensor:
    y = x.sin()
    reported_step = step
    reported_y = y
    reported_shape = x.shape
    step = step + 1
    y = y.cos()
    reported_y_2 = y.abs().sum()
    x = y * step
    logger.info("step %d: %s %s", reported_step, reported_y, reported_shape)
    logger.info(f"step {step}: {reported_y_2} {'ok'} {y.shape[0]:>3}")
    return x


class Counter:
    def __init__(self):
        self.steps = 0

    @torch.compile
    def call(self, x: torch.Tensor) -> torch.Tensor:
        logger.info("step %d", self.steps)
        y = x.sin()
        self.steps = self.steps + 1
        result = y.cos()
        logger.info("next %d", self.steps)
        return result


def entry(x, step):
    counter = Counter()
    counter.call(x)
    counter.call(x)
    return rebound(x, step), counter.steps
