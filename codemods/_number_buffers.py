"""Decides about the integers that modules keep in buffers, and writes them beside."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.codemods._buffer_sources import NumberBuffer, Sources, number_buffers, other_mentions
from gbfix.codemods._number_uses import ADVICE, EXACT, ONLY_NUMBERS, NumberUses, Quotient, Uses
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import indentation_of, reindented
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span

NUMBER = ("GBF611", "number-in-buffer")
KEEPS = "the buffer keeps the number that __init__ puts there"
PROBE = "size compared with a tensor"
DIVIDES = "integers are divided in float32 or float64"


def number_findings(view: FileView) -> Iterator[Finding]:
    """The classes of a file whose compiled methods compute sizes with an integer in a buffer."""
    if "Buffer" not in view.source.text and "register_buffer" not in view.source.text:
        return
    for owner in [node for node in view.source.nodes if isinstance(node, ast.ClassDef)]:
        compiled = [one for one in view.compiled if one.function.owner is owner]
        if not compiled:
            continue
        sources = number_buffers(view, owner)
        if sources.buffers and not view.project.torch.captures(PROBE):
            yield from _of_class(view, owner, compiled, sources)


def _of_class(
    view: FileView, owner: ast.ClassDef, compiled: Sequence[CompiledFunction], sources: Sources
) -> Iterator[Finding]:
    names = frozenset(buffer.name for buffer in sources.buffers)
    reader = NumberUses(view, owner, names)
    try:
        uses = reader.follow()
        obligations = [] if not uses.needed or not uses.reads else list(_obligations(view, owner, sources, uses))
    except RefusedError as refused:
        if reader.uses.needed:
            yield _finding(view, compiled, reader.uses, [refused.obligation], None, refused.advice)
        return
    if uses.needed and uses.reads:
        replacements = (*_initial(view, sources, uses), *_used(view, sources, uses))
        fix = Fix("keep the integer beside the buffer", replacements)
        used = {read.attr for read in uses.reads}
        kept = tuple(buffer.kept for buffer in sources.buffers if buffer.name in used)
        yield replace(_finding(view, compiled, uses, obligations, fix, ""), apart=kept)


def _finding(
    view: FileView,
    compiled: Sequence[CompiledFunction],
    uses: Uses,
    obligations: Sequence[Obligation],
    fix: Fix | None,
    advice: str,
) -> Finding:
    read = (uses.reads or uses.needed)[0]
    span = view.source.span(read)
    around = view.source.enclosing_function(read)
    holder = next((one for one in compiled if one.function is around), compiled[0])
    message = f"sizes computed with the integer in the buffer {view.source.segment(read)}"
    about = (*NUMBER, span, message, holder.function.qualname, holder.reason)
    return Finding(*about, tuple(obligations), fix, advice)


def _obligations(view: FileView, owner: ast.ClassDef, sources: Sources, uses: Uses) -> Iterator[Obligation]:
    used = {read.attr for read in uses.reads}
    line = uses.reads[0].lineno
    yield Obligation(ONLY_NUMBERS, Discharge.PROVED, "it reaches nothing else", line)
    for buffer in sources.buffers:
        if buffer.name in used:
            yield _keeps(view, owner, buffer)
    if uses.quotients:
        reason = "it depends on the default dtype, which programs seldom make a smaller one"
        yield Obligation(DIVIDES, Discharge.ASSUMED, reason, uses.quotients[0].statements[0].lineno)


def _keeps(view: FileView, owner: ast.ClassDef, buffer: NumberBuffer) -> Obligation:
    """Nothing puts another number there. Raises RefusedError where something of the class does."""
    own = set(ast.walk(buffer.statement))
    for part in ast.walk(owner):
        stored = isinstance(part, ast.Attribute) and part.attr == buffer.name and not isinstance(part.ctx, ast.Load)
        named = isinstance(part, ast.Constant) and part.value == buffer.name
        if isinstance(part, ast.Attribute | ast.Constant) and (stored or named) and part not in own:
            raise RefusedError(KEEPS, f"self.{buffer.name} is also set elsewhere", part.lineno, ADVICE)
    if buffer.persistent:
        reason = f"self.{buffer.name} is part of the state dict, which may bring another one"
        return Obligation(KEEPS, Discharge.ASSUMED, reason, buffer.statement.lineno)
    for mention in other_mentions(view, owner, buffer.name):
        call = view.source.parents[mention]
        called = call.func if isinstance(call, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr.endswith("_") and mention is not called:
            reason = f"{' '.join(view.source.segment(call).split())} may write it"
            return Obligation(KEEPS, Discharge.ASSUMED, reason, mention.lineno)
    reason = f"who holds the module may write into its {buffer.name}"
    return Obligation(KEEPS, Discharge.ASSUMED, reason, buffer.statement.lineno)


def _initial(view: FileView, sources: Sources, uses: Uses) -> Iterator[Replacement]:
    """What `__init__` keeps, for the buffers that are read."""
    source = view.source
    used = {read.attr for read in uses.reads}
    wanted = [buffer for buffer in sources.buffers if buffer.name in used]
    for statement, (name, number) in sources.made.items():
        if not any(_mentions(buffer.number, name) for buffer in wanted):
            continue
        span, place = source.span(statement), source.span(number)
        inside = _text(view, span, [(place, name)])
        yield Replacement(span, f"{name} = int({_segment(view, place)})\n{_dedented(view, statement, inside)}")
    for buffer in wanted:
        span = source.span(buffer.statement)
        whole = buffer.number
        kept = whole.removeprefix("(").removesuffix(")") if whole.count("(") == 1 else whole
        text = _dedented(view, buffer.statement, _segment(view, span))
        yield Replacement(span, f"{text}\nself.{buffer.kept} = {kept}")


def _mentions(text: str, name: str) -> bool:
    return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(ast.parse(text, mode="eval")))


def _used(view: FileView, sources: Sources, uses: Uses) -> Iterator[Replacement]:
    """The readings, and the rounded quotients of them."""
    kept = {buffer.name: buffer.kept for buffer in sources.buffers}
    edits = sorted({(view.source.span(read), f"self.{kept[read.attr]}") for read in uses.reads})
    inside: set[Span] = set()
    for quotient in uses.quotients:
        span = Span(*view.source.span(quotient.statements[0]).start, *view.source.span(quotient.statements[-1]).end)
        inside |= {where for where, _ in edits if span.start <= where.start and where.end <= span.end}
        yield Replacement(span, _either(view, quotient, span, edits))
    for where, new in edits:
        if where not in inside:
            yield Replacement(where, new)


def _either(view: FileView, quotient: Quotient, span: Span, edits: Sequence[tuple[Span, str]]) -> str:
    """The statements with integers where these are exact, and as they were elsewhere."""
    upper, lower = (_part(view, part, edits) for part in (quotient.upper, quotient.lower))
    rounded = f"-(-{upper} // {lower})" if quotient.up else f"{upper} // {lower}"
    if quotient.more:
        rounded = f"{rounded} {'+' if quotient.more > 0 else '-'} {abs(quotient.more)}"
    if isinstance(view.source.parents[quotient.rounding], ast.Assign):
        pass
    elif quotient.more or not quotient.up:
        rounded = f"({rounded})"
    last = quotient.statements[-1]
    new = _text(view, view.source.span(last), [*edits, (view.source.span(quotient.rounding), rounded)])
    old = _dedented(view, quotient.statements[0], _segment(view, span))
    bare = upper.removeprefix("(").removesuffix(")") if upper.startswith("(") else upper
    bounds = f"0 < {lower} < {EXACT} and abs({bare}) < {EXACT}"
    fast = reindented(_dedented(view, last, new), "", "    ")
    return f"if {bounds}:\n{fast}\nelse:\n{reindented(old, '', '    ')}"


def _part(view: FileView, node: ast.expr, edits: Sequence[tuple[Span, str]]) -> str:
    text = " ".join(_text(view, view.source.span(node), edits).split())
    return text if isinstance(node, ast.Name | ast.Attribute | ast.Constant) else f"({text})"


def _text(view: FileView, span: Span, edits: Sequence[tuple[Span, str]]) -> str:
    """The source of a span with those edits that lie within it."""
    lines = view.source.lines[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column]
    chosen = [(where, new) for where, new in edits if span.start <= where.start and where.end <= span.end]
    for where, new in sorted(chosen, reverse=True):
        top, bottom = where.line - span.line, where.end_line - span.line
        lines[top : bottom + 1] = [lines[top][: where.column] + new + lines[bottom][where.end_column :]]
    return "\n".join([lines[0][span.column :], *lines[1:]])


def _segment(view: FileView, span: Span) -> str:
    return _text(view, span, ())


def _dedented(view: FileView, statement: ast.stmt, text: str) -> str:
    return reindented(text, indentation_of(view.source, statement), "")
