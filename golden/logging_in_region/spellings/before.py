import functools
import logging
import sys
from logging import getLogger as get_logger

import torch

logger = get_logger("spellings")
adapter = logging.LoggerAdapter(logger, {})
VERBOSE = 15


@functools.lru_cache
def warn_once(text):
    logger.warning(text)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.logger = logging.getLogger("spellings.net")
        self.step = 0

    @torch.compile
    def call(self, x: torch.Tensor) -> torch.Tensor:
        y = x.sin()
        self.logger.info("net %s", tuple(y.shape))
        return y.cos()


@torch.compile
def levels(x: torch.Tensor) -> torch.Tensor:
    """Every level, in the order of the source."""
    y = x.sin()
    logger.debug("debug %d", y.ndim)
    logger.error("error", exc_info=True)
    y = y.cos()
    logging.getLogger("spellings.child").critical("%s", y)
    adapter.log(VERBOSE, "verbose")  # never seen by default
    print("printed", y.dtype, file=sys.stdout)
    logger.exception("nothing was raised")
    return y.exp()


@torch.compile
def asked(x: torch.Tensor, debug: bool) -> torch.Tensor:
    y = x.sin()
    if logger.isEnabledFor(logging.DEBUG) and debug:
        # Only then.
        logger.debug("mean %s", y.mean())
    elif debug:
        logger.info("no debugging")
    z = y.cos()
    warn_once("said once")
    return z.exp()


@torch.compile
def root(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    logging.info(
        "root %(rows)d",
        {"rows": y.shape[0]} if y.ndim else {"rows": 0},
    )
    return y.cos(), y


def entry(x, debug):
    return Net().call(x), levels(x), asked(x, debug), root(x)
