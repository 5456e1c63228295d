import logging

import torch

logger = logging.getLogger("case")


def _in_graph(say):
	"""Let graphs call a function that says something: as an operator, which runs whenever the graph runs."""
	name = f"module_{__name__.encode().hex()}::{say.__name__}"
	schema = torch.library.infer_schema(say, mutates_args=()).replace("-> ()", "-> Tensor")

	def run(*numbers):
		say(*numbers)
		return torch.empty(0)  # Inductor on CPUs misplaces an operator that neither takes nor gives a tensor.

	tags = (torch.Tag.cudagraph_unsafe,)
	operator = torch.library.custom_op(name, run, mutates_args=(), schema=schema, tags=tags)
	operator.register_fake(lambda *numbers: torch.empty(0))
	operator.register_effect(torch.library.EffectType.ORDERED)

	def speak(*numbers):
		if torch.compiler.is_dynamo_compiling():
			operator(*numbers)
		else:
			say(*numbers)

	return speak


@_in_graph
def _report_whole() -> None:
	logger.log(logging.WARNING, "cos")


@_in_graph
def _report_helper() -> None:
	logger.info("in helper, %d times", 2)


@_in_graph
def _report_f() -> None:
	logging.error("next")


def helper(x: torch.Tensor) -> torch.Tensor:
	_report_helper()
	return x.cos()


@torch.compile(fullgraph=True)
def whole(x: torch.Tensor, flag: bool) -> torch.Tensor:
	y = x.sin()
	if flag:
		y = y.cos()
		# in place
		_report_whole()
		y = y.exp()
	return y.sin()


@torch.compile
def f(x: torch.Tensor, flag: bool) -> torch.Tensor:
	y = helper(x.sin())
	if flag:
		y = y.exp()
		_report_f()
	return helper(y).sin()
