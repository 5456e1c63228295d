"""A number read out of a tensor that a compiled function gives away: read it outside of the compiled part.

`accuracy = t.item()` in a compiled step that returns the number makes Python wait for the value, so Dynamo ends the
graph there (GB0124), and captures what follows apart. What follows needs no graph, where it only reads numbers, says
something and returns: the function is cut in two there.

Before:

    @torch.compile
    def step(x: torch.Tensor, y: torch.Tensor):
        loss = (x - y).square().mean()
        error = (x - y).abs().max().item()
        print(f"loss {loss.item():.3f}, error {error:.3f}")
        return loss, error

After:

    @torch.compile
    def _step_graph(x: torch.Tensor, y: torch.Tensor):
        loss = (x - y).square().mean()
        error = (x - y).abs().max()
        return loss, error


    def step(x: torch.Tensor, y: torch.Tensor):
        loss, error = _step_graph(x, y)
        error = error.item()
        print(f"loss {loss.item():.3f}, error {error:.3f}")
        return loss, error

The same statements run in the same order. A number that is read further above, and that only the end of the function
mentions, is read behind the compiled part, out of a copy of the tensor. What tests an argument that changes at each
call, as in `if step % 10 == 0`, is not compiled in any more, either.

Takes functions and methods that `torch.compile` decorates, beside `torch.no_grad()` and the like, and those that one
call compiles and nothing else mentions, as in `self.step = torch.compile(self.training_step)`: the decorator on the
compiled part takes the place of the call.

Stays away from functions that are compiled in another way, that other classes define as well, that return before,
define functions, or look at their own frame; and where the end computes with tensors in another way than once for each
number.

What it relies on and cannot always prove: that what the end computes with are Python values, that a tensor of which a
number is read later has one element, and that nobody reads the name of a function that logs.

Source: torch.compile troubleshooting (GB0124).
"""

from __future__ import annotations

from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.codemods._obligations import shorten
from gbfix.codemods._tail_search import Tail
from gbfix.codemods._tail_text import TailWriter
from gbfix.codemods._tails import obligations_of, tails_of
from gbfix.engine.model import Finding, Rule

NAME = ("GBF206", "number-that-leaves")


def find(view: FileView) -> Iterator[Finding]:
    """The numbers that leave the compiled functions of one file, with the messages behind them."""
    tails = tails_of(view)
    for compiled in view.compiled:
        if compiled.function in tails:
            yield from _findings(view, compiled, tails[compiled.function])


def _findings(view: FileView, compiled: CompiledFunction, tail: Tail) -> Iterator[Finding]:
    fix, obligations = TailWriter(tail).fix(), tuple(obligations_of(tail))
    for node in tail.sites:
        text = shorten(" ".join(view.source.segment(node).split()), 60)
        message = f"{text} leaves the graph for good"
        where = (compiled.function.qualname, compiled.reason)
        yield Finding(*NAME, view.source.span(node), message, *where, obligations, fix)


RULE = Rule(*NAME, "a number read out of a tensor that a compiled function gives away", __doc__, find)
