import logging

import torch

logger = logging.getLogger("case")


@torch.compile
def several(x: torch.Tensor, mode: str) -> torch.Tensor:
    y = x.sin()
    if mode == "cos":
        result = y.cos()
        logger.info("mode %s of %s", mode, y)
        return result
    if mode == "none":
        logger.info("mode %s of %s", mode, y)
        return
    if mode == "fail":
        logger.info("mode %s of %s", mode, y)
        raise ValueError(f"no such mode: {mode}")
    z = y.exp()
    logger.info("mode %s of %s", mode, y)
    return z


@torch.compile
def falls_off(x: torch.Tensor, found: dict) -> None:
    y = x.sin()
    with torch.no_grad():
        reported_y = y.sum()
        z = y.cos()
    w = z.exp()
    logger.info("sum %s", reported_y)


@torch.compile
def upwards(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    name = "upwards"
    logger.info("%s of %s", name, x)
    y = x.sin()
    return y @ w


@torch.compile
def ready(x: torch.Tensor) -> torch.Tensor:
    logger.info("begins")
    y = x.sin()
    logger.info("ends with %s", y)
    return y


def entry(x, mode):
    falls_off(x, {})
    upwards(x, x)
    return ready(x), several(x, mode)
