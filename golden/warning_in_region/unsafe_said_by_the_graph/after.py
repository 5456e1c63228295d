import warnings

import torch


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
def _report_forward() -> None:
    warnings.warn("x becomes half")


@_in_graph
def _report_summed() -> None:
    warnings.warn("this way is slow", RuntimeWarning)


@_in_graph
def _report_summed_2() -> None:
    warnings.warn("index is " "converted", category=FutureWarning)


class Halved(torch.autograd.Function):
    @staticmethod
    def forward(context, x):
        if x.dtype != torch.float16:
            _report_forward()
        return x.half() * 2

    @staticmethod
    def backward(context, gradient):
        return gradient.float() * 2


def summed(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    if not x.is_cuda:
        _report_summed()
    elif index.dtype != torch.int64:
        _report_summed_2()
    return torch.zeros_like(x).index_add_(0, index, x)


def quiet(x: torch.Tensor) -> torch.Tensor:
    with warnings.catch_warnings():
        warnings.warn("nobody sees it")
        return x + 1.0


def pointed(x: torch.Tensor) -> torch.Tensor:
    warnings.warn("the caller is wrong", stacklevel=2)
    return x + 1.0


@torch.compile
def f(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    y = summed(x * 2.0, index)
    return pointed(quiet(Halved.apply(y) + 1.0))
