"""What needs a Python number, in words, and the way out."""

from __future__ import annotations

import ast
from collections.abc import Iterator

CAPTURE = (
    "torch._dynamo.config.capture_scalar_outputs = True lets Dynamo capture the number, for the whole process; for a "
    "tensor that is passed in, every new value compiles again, and a branch on a computed number still breaks"
)
OUTSIDE = "return or keep the tensor, detached, and read the number outside of the compiled function"


def until_statement(nodes: Iterator[ast.AST]) -> Iterator[ast.AST]:
    """The nodes up to the first statement among them."""
    for node in nodes:
        yield node
        if isinstance(node, ast.stmt):
            return


def says(call: ast.Call) -> bool:
    """True for a call that looks like a message: what it does is for the rules of messages to tell."""
    function = call.func
    if isinstance(function, ast.Name):
        return function.id == "print"
    said = {"debug", "info", "warning", "warn", "error", "exception", "critical", "log", "write", "warning_once"}
    return isinstance(function, ast.Attribute) and function.attr in said


def sink(text: str, parent: ast.AST) -> tuple[str, str]:
    """Why a number is needed there, and the way out."""
    match parent:
        case ast.Return() | ast.Yield() | ast.Tuple() | ast.List() | ast.Dict():
            return f"{text} leaves as a Python number, which a tensor is not", OUTSIDE
        case ast.Assign() | ast.AnnAssign() | ast.AugAssign():
            return f"{text} is kept as a Python number", OUTSIDE
        case ast.Slice():
            return f"{text} bounds a slice", f"select with a mask, or: {CAPTURE}"
        case ast.Subscript():
            return f"{text} is an index", CAPTURE
        case ast.Call(func=ast.Name(id="range")):
            return f"{text} says how often a loop runs", f"run a fixed number of steps with a mask, or: {CAPTURE}"
        case ast.Call(func=ast.Name(id="round" | "min" | "max" | "bool" | "int" as name)):
            return f"{name}({text}) is a Python number", f"use the operation of torch on the tensor, or: {CAPTURE}"
        case ast.Call(func=ast.Attribute(attr="append" | "extend")):
            return f"{text} is kept in a container as a Python number", OUTSIDE
        case ast.BinOp(op=ast.Pow() | ast.Mod() | ast.FloorDiv()):
            return f"Python and torch compute {text} in another way here", CAPTURE
        case ast.Compare():
            return f"comparing {text} gives a Python bool", "compare the tensor, and use the result as a tensor"
        case _:
            return f"{text} has to be a Python number here", CAPTURE
