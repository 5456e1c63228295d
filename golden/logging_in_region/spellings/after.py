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
        result = y.cos()
        self.logger.info("net %s", tuple(y.shape))
        return result


@torch.compile
def levels(x: torch.Tensor) -> torch.Tensor:
    """Every level, in the order of the source."""
    y = x.sin()
    reported_ndim = y.ndim
    y = y.cos()
    # never seen by default
    result_2 = y.exp()
    logger.debug("debug %d", reported_ndim)
    logger.error("error", exc_info=True)
    logging.getLogger("spellings.child").critical("%s", y)
    adapter.log(VERBOSE, "verbose")
    torch._higher_order_ops.print("printed {}", str(y.dtype))
    logger.exception("nothing was raised")
    return result_2


@torch.compile
def asked(x: torch.Tensor, debug: bool) -> torch.Tensor:
    y = x.sin()
    # Only then.
    z = y.cos()
    result = z.exp()
    if logger.isEnabledFor(logging.DEBUG) and debug:
        # Only then.
        logger.debug("mean %s", y.mean())
    elif debug:
        logger.info("no debugging")
    warn_once("said once")
    return result


@torch.compile
def root(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    result = y.cos(), y
    logging.info(
        "root %(rows)d",
        {"rows": y.shape[0]} if y.ndim else {"rows": 0},
    )
    return result


def entry(x, debug):
    return Net().call(x), levels(x), asked(x, debug), root(x)
