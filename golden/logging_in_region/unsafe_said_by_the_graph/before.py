import logging

import torch

logger = logging.getLogger("case")


def helper(x: torch.Tensor) -> torch.Tensor:
	logger.info("in helper, %d times", 2)
	return x.cos()


@torch.compile(fullgraph=True)
def whole(x: torch.Tensor, flag: bool) -> torch.Tensor:
	y = x.sin()
	if flag:
		y = y.cos()
		logger.log(logging.WARNING, "cos")  # in place
		y = y.exp()
	return y.sin()


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
	y = helper(x.sin())
	if flag:
		y = y.exp()
		logging.error("next")
	return helper(y).sin()
