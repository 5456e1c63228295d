import logging

import torch

logger = logging.getLogger("case")


@torch.compile
def in_loop(x: torch.Tensor) -> torch.Tensor:
    for i in range(3):
        x = x.sin()
        logger.info("round %s", x)
    return x.cos()


@torch.compile
def in_try(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    try:
        logger.info("y %s", y)
        y = y.cos()
    except ValueError:
        logger.exception("failed")
    return y.exp()


@torch.compile
def under_condition(x: torch.Tensor, flag: bool) -> torch.Tensor:
    y = x.sin()
    if flag:
        y = y.cos()
        logger.info("cos of %s", y)
        y = y.exp()
    return y.sin()


@torch.compile
def shows_stack(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    logger.info("here", stack_info=True)
    return y.cos()


def helper(x: torch.Tensor) -> torch.Tensor:
    logger.info("helper of %s", x)
    return x.cos()


@torch.compile
def calls_helper(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    logger.info("overtaken %s", y)
    return helper(y).exp()


@torch.compile
def changed_list(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    sizes = list(y.shape)
    logger.info("sizes %s", sizes)
    sizes.append(1)
    return y.reshape(sizes)


@torch.compile
def returns_in_loop(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    logger.info("y %s", y)
    for i in range(3):
        y = y.cos()
        if y.ndim > i:
            return y
    return y.exp()


@torch.compile
def draws(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    logger.info("noise %s", torch.rand(2))
    return y + torch.rand(1)


def entry(x):
    functions = [in_loop, in_try, shows_stack, calls_helper, changed_list, returns_in_loop, draws]
    return [function(x) for function in functions], under_condition(x, True)
