import logging

import torch

logger = logging.getLogger("case")


@torch.compile
def several(x: torch.Tensor, mode: str) -> torch.Tensor:
    y = x.sin()
    logger.info("mode %s of %s", mode, y)
    if mode == "cos":
        return y.cos()
    if mode == "none":
        return
    if mode == "fail":
        raise ValueError(f"no such mode: {mode}")
    z = y.exp()
    return z


@torch.compile
def falls_off(x: torch.Tensor, found: dict) -> None:
    y = x.sin()
    with torch.no_grad():
        logger.info("sum %s", y.sum())
        z = y.cos()
    w = z.exp()


@torch.compile
def upwards(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    name = "upwards"
    y = x.sin()
    logger.info("%s of %s", name, x)
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
