"""Source text of statements that move, and of the two functions that one function is split into."""

from __future__ import annotations

import ast
import io
import itertools
import tokenize
from collections.abc import Mapping, Sequence

from gbfix.analysis.source import SourceFile
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import LINE_LENGTH, indentation_of, reindented
from gbfix.engine.model import Span

Edits = Mapping[ast.AST, str]
"""New source for some nodes."""


def edited(source: SourceFile, node: ast.AST, edits: Edits) -> str:
    """The text of a statement at indentation zero, with some of its expressions replaced.

    Raises RefusedError when one stands in an f-string, whose inner positions Python before 3.12 does not give.
    """
    span = source.span(node)
    lines = source.lines[span.line - 1 : span.end_line]
    cut = len(lines[-1]) - span.end_column
    for part in edits:
        for parent in source.ancestors(part):
            if isinstance(parent, ast.JoinedStr):
                raise RefusedError(
                    "the moved statement can be written with other names",
                    "a name that changes in between stands in an f-string",
                    getattr(part, "lineno", 0),
                    "give the value a name of its own before it",
                )
            if parent is node:
                break
    for place, new in sorted(((source.span(part), new) for part, new in edits.items()), reverse=True):
        first, last = place.line - span.line, place.end_line - span.line
        before, after = lines[first][: place.column], lines[last][place.end_column :]
        if before.endswith(" (") and after.startswith(")") and new.isidentifier():
            before, after = before[:-1], after[1:]
        lines[first : last + 1] = [before + new + after]
    lines[-1] = lines[-1][: len(lines[-1]) - cut] if cut else lines[-1]
    lines[0] = lines[0][span.column :]
    return reindented("\n".join(lines), indentation_of(source, node), "")


def graph_name(source: SourceFile, node: ast.FunctionDef, taken: frozenset[str]) -> str:
    """The name of the traced part of a function; functions of one name get different ones, also in one pass."""
    wanted = f"_{node.name.lstrip('_')}_graph"
    alike = [f.node for f in source.functions if f.name.lstrip("_") == node.name.lstrip("_")]
    numbered = itertools.chain([wanted], (f"{wanted}_{number}" for number in itertools.count(2)))
    defined = {getattr(part, key, "") for part in source.nodes for key in ("name", "attr")}
    free = (name for name in numbered if name not in taken | defined)
    return next(itertools.islice(free, alike.index(node), None))


def header(source: SourceFile, node: ast.FunctionDef) -> str:
    """The signature as it stands, from `def` to the colon. Raises RefusedError for a function on one line."""
    body = source.span(node.body[0])
    if body.line == node.lineno:
        raise RefusedError("the function has a body of its own", "it is on one line", node.lineno, "give it several")
    span = Span(node.lineno, source.span(node).column, body.line, 0)
    lines = source.lines[span.line - 1 : span.end_line - 1]
    text = "\n".join([lines[0][span.column :], *lines[1:]])
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text + "\n    pass\n").readline):
        depth += (token.string in "([{") - (token.string in ")]}") if token.type == tokenize.OP else 0
        if token.type == tokenize.OP and token.string == ":" and depth == 0:
            end = token.end
            kept = text.split("\n")[: end[0]]
            kept[-1] = kept[-1][: end[1]]
            return reindented("\n".join(kept), indentation_of(source, node), "")
    raise AssertionError("a function without a colon")


def signature(source: SourceFile, node: ast.FunctionDef, name: str) -> str:
    """A signature of another name, with the same parameters, without defaults and result."""
    arguments = node.args

    def shown(argument: ast.arg, star: str = "") -> str:
        return star + source.segment(argument)

    parts = [shown(a) for a in arguments.posonlyargs] + (["/"] if arguments.posonlyargs else [])
    parts += [shown(a) for a in arguments.args]
    parts += [shown(arguments.vararg, "*")] if arguments.vararg else ["*"] if arguments.kwonlyargs else []
    parts += [shown(a) for a in arguments.kwonlyargs]
    parts += [shown(arguments.kwarg, "**")] if arguments.kwarg else []
    flat = f"def {name}({', '.join(parts)}):"
    return flat if len(flat) <= LINE_LENGTH else f"def {name}(\n" + "".join(f"    {p},\n" for p in parts) + "):"


def arguments(node: ast.FunctionDef) -> str:
    """The arguments that pass every parameter on."""
    of = node.args
    parts = [a.arg for a in [*of.posonlyargs, *of.args]]
    parts += [f"*{of.vararg.arg}"] if of.vararg else []
    parts += [f"{a.arg}={a.arg}" for a in of.kwonlyargs]
    parts += [f"**{of.kwarg.arg}"] if of.kwarg else []
    return ", ".join(parts)


def body_text(source: SourceFile, body: Sequence[ast.stmt], edits: Edits) -> str:
    """Consecutive statements at indentation zero, with some replaced (by nothing: the lines go, comments stay)."""
    first, last = source.span(body[0]), source.span(body[-1])
    indentation = indentation_of(source, body[0])
    top = first.line
    above = top - 2
    while above >= 0 and source.lines[above].lstrip().startswith("#"):
        top, above = above + 1, above - 1
    lines = source.lines[top - 1 : last.end_line]
    spans = sorted(((source.span(part), new) for part, new in edits.items()), key=lambda pair: pair[0], reverse=True)
    for span, new in spans:
        start, end = span.line - top, span.end_line - top
        before, after = lines[start][: span.column], lines[end][span.end_column :]
        alone = not before.strip() and (not after.strip() or after.strip().startswith("#"))
        if not new and alone:
            lines[start : end + 1] = [before + after.strip()] if after.strip() else []
            continue
        lines[start : end + 1] = (
            before + reindented(new or "pass", "", before if alone else "").lstrip() + after
        ).split("\n")
    text = "\n".join(lines)
    return reindented(text[len(indentation) :], indentation, "").strip("\n") or "pass"
