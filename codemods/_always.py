"""Which statement makes a call exactly once, every time it runs."""

from __future__ import annotations

import ast

from gbfix.analysis.project import FileView
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._tree import is_elif

_SIMPLE = ast.Expr | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Return | ast.Assert | ast.Raise
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
ADVICE = "give the result of the call a name in a statement of its own before, with the mark above it"


def statement_of(view: FileView, call: ast.Call) -> ast.stmt:
    """The statement before which marks for a call can stand.

    Raises RefusedError where the call is not made exactly once, and always, after the statement began.
    """
    node: ast.AST = call
    while not isinstance(node, ast.stmt):
        parent = view.source.parents[node]
        if reason := _may_be_skipped(view, parent, node):
            raise RefusedError("the call is always made", reason, call.lineno, ADVICE)
        node = parent
    return node


def _may_be_skipped(view: FileView, parent: ast.AST, child: ast.AST) -> str:
    """Why what stands in `parent` may run another number of times than once, or later; empty where it does not."""
    source = view.source
    match parent:
        case ast.Lambda() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return "the call stands in a lambda or in the head of a definition"
        case ast.IfExp(test=test) if child is not test:
            return "the call stands in one arm of a conditional expression"
        case ast.BoolOp(values=[first, *_]) if child is not first:
            return "`and` or `or` may skip the call"
        case ast.Compare(comparators=[_, *later]) if child in later:
            return "a chain of comparisons may skip the call"
        case ast.comprehension():
            owner = source.parents[parent]
            is_first = isinstance(owner, _COMPREHENSIONS) and parent is owner.generators[0] and child is parent.iter
            return "" if is_first else "a comprehension makes the call many times"
        case _ if isinstance(parent, _COMPREHENSIONS) and not isinstance(child, ast.comprehension):
            return "a comprehension makes the call many times"
        case ast.Assert(test=test) if child is not test:
            return "the call makes the message of an assert"
        case ast.If(test=test):
            return "the condition of an `elif` is not always asked" if is_elif(source, parent) else ""
        case ast.For(iter=head) | ast.Match(subject=head):
            return "" if child is head else "the call stands where a target is"
        case ast.With(items=[first, *_]):
            return "" if child is first else "what a `with` enters first may change what the call is given"
        case ast.stmt() if not isinstance(parent, _SIMPLE):
            return "the call stands in the head of a statement that may ask it again"
    return ""
