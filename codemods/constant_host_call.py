"""A call of the standard library that gives the same number or text every time: made once, when the module is loaded.

Dynamo does not follow functions written in C, nor some of the standard library that looks like Python: `zlib.crc32`,
`json.dumps`, `hashlib.md5`, `decimal.Decimal` or `ctypes.c_int` end the graph (GB0007, GB0156; `decimal` even fails).
With constant arguments nothing is gained by asking again.

Before:

    @torch.compile
    def f(x):
        return x + zlib.crc32(b"salt") % 7

After:

    _ZLIB_CRC32 = zlib.crc32(b"salt") % 7


    @torch.compile
    def f(x):
        return x + _ZLIB_CRC32

The expression is taken as far as only constants take part in it. gbfix evaluates it, to know that it does not fail and
that it is a number, a text, bytes or None, which nobody can change.

Stays away, and says so, when an argument is not a constant, when the result can be changed (a list, a Decimal), when it
fails, and inside an f-string.

Source: PyTorch's GB0007 "Attempted to call function marked as skipped", GB0156, GB0147.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.codemods._constant_call import Constant, constant_around
from gbfix.codemods._host_calls import HostCall, Reads, host_call, own_nodes
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import unused_name
from gbfix.codemods._top_level import inserted_above
from gbfix.codemods._tree import all_names
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Rule

NAME = ("GBF326", "constant-host-call")


def find(view: FileView) -> Iterator[Finding]:
    """The calls of one file that give a constant, and those that nearly do."""
    for compiled in view.compiled:
        for node in own_nodes(compiled.function.node):
            if isinstance(node, ast.Call):
                call = host_call(view.names, node)
                if call is not None and call.reads is Reads.VALUE and not view.project.torch.captures(_gate(call)):
                    yield _finding(view, compiled, call, all_names(view.source.tree))


def _gate(call: HostCall) -> str:
    return "decimal.Decimal" if call.name == "decimal.Decimal" else "zlib.crc32"


def _finding(view: FileView, compiled: CompiledFunction, call: HostCall, taken: set[str]) -> Finding:
    at = (*NAME, view.source.span(call.node), f"call of {call.name}, which Dynamo does not follow")
    where = (compiled.function.qualname, compiled.reason)
    try:
        constant = constant_around(view, call)
    except RefusedError as refused:
        return Finding(*at, *where, (refused.obligation,), advice=refused.advice)
    line = call.node.lineno
    obligations = (
        Obligation("the value is the same every time", Discharge.PROVED, f"{constant.text} reads constants", line),
        Obligation("it does not fail", Discharge.PROVED, "gbfix evaluated it", line),
        Obligation("nobody can change the value", Discharge.PROVED, f"it is {constant.kind}", line),
    )
    return Finding(*at, *where, obligations, _fix(view, constant, taken))


def _fix(view: FileView, constant: Constant, taken: set[str]) -> Fix:
    wanted = "_" + constant.call.name.replace(".", "_").lstrip("_").upper()
    name = unused_name(wanted, frozenset(taken))
    taken.add(name)
    replacement = inserted_above(view.source, constant.node, name, f"{name} = {constant.source}")
    return Fix(f"compute {constant.text} once, when the module is loaded", (replacement,), constant.imports)


RULE = Rule(*NAME, "a call of the standard library with constants, which Dynamo does not follow", __doc__, find)
