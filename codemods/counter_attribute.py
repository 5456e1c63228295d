"""A number of a module that counts its calls: a buffer instead, which is not compiled in.

`self.step += 1` in a compiled `forward` changes an integer that the graph was made for. The graph of each call fits
that call only: eight compilations, then Dynamo gives up and runs the function without any (GB0039). A tensor is data.

Before:

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self._calls = 0

        def forward(self, x):
            self._calls += 1
            return x * 2.0

After:

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("_calls", torch.tensor(0), persistent=False)

        def forward(self, x):
            self._calls += 1
            return x * 2.0

The buffer is not persistent, so that `state_dict` stays as it is. Where the number takes part in arithmetic with a
tensor, a copy of the buffer does (`self._calls.clone()`), since it is written in place at the next call, perhaps
before the backward pass of this one.

A name without an underscore stays what it was for everybody else: the buffer gets the name with one, and a property
gives and takes a Python integer under the old name, so that `print(model.steps)` or `model.steps = 0` in the code that
is not compiled does what it did.

Stays away, with the line, when compiled code reads the number for something else than arithmetic with a tensor (a
comparison, a text, arithmetic with Python numbers, which is done in double), when compiled code of another class uses
an attribute of this name, when something else than a constant is added or assigned, and from classes that are not
plainly a `torch.nn.Module`, or that say how attributes are set, read or copied. `copy.copy`, `vars` and the like reach
attributes of any name, and `torch.inference_mode` or a default device may make the buffer unlike others: each is said
as an assumption, and so is the rounding of half precision and of quotients.

Source: PyTorch's GB0039 "Dynamo recompile limit exceeded"; torch.nn.Module.register_buffer.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.codemods._counter import Counter, counter_fix, starts_as_number
from gbfix.codemods._host_calls import own_nodes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._stays import report
from gbfix.engine.model import Finding, Rule

NAME = ("GBF411", "counter-attribute")


def find(view: FileView) -> Iterator[Finding]:
    """The counters of the modules of one file."""
    seen: set[tuple[ast.ClassDef, str]] = set()
    for compiled in view.compiled:
        owner = compiled.function.owner
        if owner is None or not compiled.function.parameters:
            continue
        if not any(view.names.qualified(base) == "torch.nn.Module" for base in owner.bases):
            continue
        for node in own_nodes(compiled.function.node):
            name = counted(node, compiled.function.parameters[0].arg)
            if name is None or not starts_as_number(Counter(view, owner, name)):
                continue
            if (owner, name) not in seen:
                seen.add((owner, name))
                yield _finding(view, compiled, owner, node, name)


def counted(node: ast.AST, receiver: str) -> str | None:
    """The attribute of the receiver to which a statement adds an integer constant."""
    match node:
        case ast.AugAssign(
            target=ast.Attribute(value=ast.Name(id=base), attr=name),
            op=ast.Add() | ast.Sub(),
            value=ast.Constant(value=int() as amount),
        ) if base == receiver and not isinstance(amount, bool):
            return name
        case ast.Assign(
            targets=[ast.Attribute(value=ast.Name(id=base), attr=name)],
            value=ast.BinOp(
                left=ast.Attribute(value=ast.Name(id=other), attr=same),
                op=ast.Add(),
                right=ast.Constant(value=int() as amount),
            ),
        ) if base == other == receiver and name == same and not isinstance(amount, bool):
            return name
        case _:
            return None


def _finding(view: FileView, compiled: CompiledFunction, owner: ast.ClassDef, node: ast.AST, name: str) -> Finding:
    message = f"self.{name} changes at every call, and each value is compiled"
    counter = Counter(view, owner, name)
    try:
        fix, obligations = counter_fix(counter)
    except RefusedError as refused:
        return report(view, compiled, NAME, node, message, refused)
    where = (compiled.function.qualname, compiled.reason)
    return Finding(*NAME, view.source.span(node), message, *where, obligations, fix)


RULE = Rule(*NAME, "an integer attribute of a module that changes at every call", __doc__, find)
