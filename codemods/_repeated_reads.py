"""Numbers of one tensor that statements read one after the other, or a comprehension again and again: read once."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow, flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import SourceFile
from gbfix.analysis.tree import stored_names
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._repeated_items import (
    DIMENSION,
    REPEATED,
    kept_spans,
    number_obligations,
    place_of,
    tensor_obligation,
)
from gbfix.codemods._scalar_duties import ELEMENT
from gbfix.codemods._scalar_reads import Read, reads_of, statement_of
from gbfix.codemods._text import indentation_of, reindented, unused_name
from gbfix.codemods._tree import all_names
from gbfix.codemods._unwritten import unwritten
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement

_ADVICE = "read the numbers with one tolist(), where the tensor does not change in between"
_MOST = 64  # elements of one reading; a tensor of which few are used may be large
_EAGER_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp
_SIMPLE = ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return
_LATER = ast.GeneratorExp | ast.Lambda
_LISTS_ONLY_READ = frozenset({"zip", "enumerate", "sum", "max", "min", "len", "range", "any", "all"})


@dataclass(frozen=True)
class Numbers:
    """Readings of one tensor in statements of one block. listed: each is `t.tolist()`, else of elements `t[k]`."""

    tensor: ast.Name
    statements: Sequence[ast.stmt]
    reads: Sequence[Read]
    listed: bool


def read_findings(view: FileView) -> Iterator[Finding]:
    """Every tensor whose numbers a compiled function reads several times where once is enough."""
    kept = kept_spans(view)
    if kept is None:
        return
    for compiled in view.compiled:
        if compiled.fullgraph is not True:
            flow = flow_of(view, compiled.function)
            reads = [read for read in reads_of(flow) if view.source.span(read.node) not in kept]
            taken = all_names(view.source.tree)
            for numbers in _groups(flow, reads):
                if view.project.torch.captures("item"):
                    return
                name = unused_name(f"{numbers.tensor.id}_values", frozenset(taken))
                taken.add(name)
                yield _finding(view, compiled, flow, numbers, name)


def _groups(flow: Flow, reads: Sequence[Read]) -> Iterator[Numbers]:
    found: dict[tuple[str, bool, ast.AST, str], list[tuple[ast.stmt, Read]]] = {}
    for read in reads:
        tensor = _tensor_of(flow, read)
        statement = statement_of(flow.context, read.node)
        if tensor is None or statement is None or not isinstance(statement, _SIMPLE) or _is_later(flow, read.node):
            continue
        parent = flow.context.source.parents[statement]
        block = next(name for name, part in ast.iter_fields(parent) if isinstance(part, list) and statement in part)
        found.setdefault((tensor.id, read.listed, parent, block), []).append((statement, read))
    for (_, listed, parent, block), group in found.items():
        yield from _without_rebinding(flow, getattr(parent, block), group, listed)


def _without_rebinding(
    flow: Flow, block: list[ast.stmt], group: list[tuple[ast.stmt, Read]], listed: bool
) -> Iterator[Numbers]:
    """The runs of readings between which the name of the tensor gets no other value."""
    runs: list[list[tuple[ast.stmt, Read]]] = [[]]
    for statement, read in group:
        if runs[-1]:
            first = block.index(runs[-1][-1][0])
            between = block[first : block.index(statement)]
            name = _tensor_of(flow, read)
            if name is not None and name.id in stored_names(between):
                runs.append([])
        runs[-1].append((statement, read))
    for run in runs:
        again = listed and any(_is_repeated(flow, read) for _, read in run)
        if len({ast.dump(read.tensor) for _, read in run}) > 1 or (listed and len(run) > 1) or again:
            tensor = _tensor_of(flow, run[0][1])
            assert tensor is not None
            statements = block[block.index(run[0][0]) : block.index(run[-1][0]) + 1]
            yield Numbers(tensor, statements, [read for _, read in run], listed)


def _tensor_of(flow: Flow, read: Read) -> ast.Name | None:
    """The name of the tensor whose numbers are read; None for a reading that is made in another way."""
    match read:
        case Read(listed=True, tensor=ast.Name() as tensor) if _is_only_read(flow, read.node):
            return _own(flow, tensor)
        case Read(listed=False, index=None, tensor=ast.Subscript(value=ast.Name() as tensor, slice=index)) if (
            place_of(read) is not None and _position(index) is not None
        ):
            return _own(flow, tensor)
        case _:
            return None


def _own(flow: Flow, tensor: ast.Name) -> ast.Name | None:
    """The name, when it belongs to the function itself."""
    scope, _ = flow.context.names.lookup(tensor.id, tensor)
    return tensor if scope is flow.context.function.node else None


def _position(index: ast.expr) -> int | None:
    match index:
        case ast.Constant(value=int(place)) if not isinstance(place, bool) and 0 <= place < _MOST:
            return place
        case _:
            return None


def _is_only_read(flow: Flow, node: ast.expr) -> bool:
    """True when a list is only looked at, so that two readers may share it."""
    names = flow.context.names
    match flow.context.source.parents[node]:
        case ast.Call(func=ast.Name(id=name) as function) as call if names.is_builtin(function, name):
            return name in _LISTS_ONLY_READ and node in call.args
        case ast.Call(func=function) as call if node in call.args:
            method = isinstance(function, ast.Attribute) and function.attr in ("split", "split_with_sizes")
            return method or (names.qualified(function) or "").startswith("torch.")
        case ast.comprehension() | ast.For():
            return True
        case ast.Subscript(value=value, ctx=ast.Load()):
            return value is node
        case _:
            return False


def _is_later(flow: Flow, node: ast.AST) -> bool:
    """True when something else than the statement itself decides when an expression is evaluated."""
    for parent in flow.context.source.ancestors(node):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, _LATER):
            return True
    return True


def _is_repeated(flow: Flow, read: Read) -> bool:
    """True when a comprehension evaluates the reading for each of its elements."""
    inside: ast.AST = read.node
    for parent in flow.context.source.ancestors(read.node):
        if isinstance(parent, ast.stmt):
            return False
        if isinstance(parent, _EAGER_COMPREHENSIONS) and inside is not parent.generators[0]:
            return True
        if isinstance(parent, ast.comprehension) and inside is not parent.iter:
            return True
        inside = parent
    return False


def _finding(view: FileView, compiled: CompiledFunction, flow: Flow, numbers: Numbers, name: str) -> Finding:
    message = f"numbers of {numbers.tensor.id} read one after the other"
    span = view.source.span(numbers.reads[0].node)
    about = (*REPEATED, span, message, compiled.function.qualname, compiled.reason)
    try:
        obligations = _obligations(flow, numbers)
    except RefusedError as refused:
        return Finding(*about, (refused.obligation,), advice=refused.advice)
    fix = Fix("read the numbers once", tuple(_replacements(view, flow, numbers, name)))
    return Finding(*about, tuple(obligations), fix)


def _obligations(flow: Flow, numbers: Numbers) -> list[Obligation]:
    """What one reading relies on. Raises RefusedError."""
    first, last, line = numbers.statements[0], numbers.statements[-1], numbers.statements[0].lineno
    name = numbers.tensor.id
    value = flow.evaluate(numbers.tensor, flow.before[first])[0]
    found = [tensor_obligation(value, name, line, _ADVICE)]
    if not numbers.listed:
        ranks = sizes.ranks(value.shape or ())
        if value.is_scalar or (ranks and ranks != {1}):
            raise RefusedError(DIMENSION, f"{name} has {max(ranks, default=0)}", line, _ADVICE)
        shown = Discharge.PROVED if ranks else Discharge.ASSUMED
        reason = f"{name} has" if ranks else f"the shape of {name} is not known"
        found.append(Obligation(DIMENSION, shown, reason, line))
        counts = [sizes.element_counts(known) for known in value.shape or ()]
        exists = bool(counts) and all(count is not None and min(count) > _highest(numbers) for count in counts)
        reason = f"{name} has them all" if exists else f"the text of the error is another one outside of {name}"
        found.append(Obligation(ELEMENT, Discharge.PROVED if exists else Discharge.ASSUMED, reason, line))
        found += number_obligations(numbers.reads, value, name, line)
    inside = [part for one in numbers.statements for part in ast.walk(one) if isinstance(part, ast.stmt)]
    found.append(
        unwritten(
            flow, name, inside, line, "between the readings", _ADVICE, last, [read.node for read in numbers.reads]
        )
    )
    return found


def _replacements(view: FileView, flow: Flow, numbers: Numbers, listed: str) -> Iterator[Replacement]:
    """The reading before the first statement, and a name in place of each of the readings."""
    source, first = view.source, numbers.statements[0]
    edits = [
        (source.span(place), _new(source, read, listed))
        for read in numbers.reads
        if (place := _place(read)) is not None
    ]
    span = source.span(first)
    inside = [edit for edit in edits if span.start <= edit[0].start and edit[0].end <= span.end]
    lines = source.lines[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column]
    for where, new in sorted(inside, reverse=True):
        top, bottom = where.line - span.line, where.end_line - span.line
        lines[top : bottom + 1] = [lines[top][: where.column] + new + lines[bottom][where.end_column :]]
    indentation = indentation_of(source, first)
    text = reindented("\n".join(lines)[span.column :], indentation, "")
    yield Replacement(span, f"{listed} = {_whole(flow, numbers)}.tolist()\n{text}")
    for where, new in edits:
        if (where, new) not in inside:
            yield Replacement(where, new)


def _place(read: Read) -> ast.expr | None:
    """The expression that takes its number from the list instead."""
    return read.node if read.listed else place_of(read)


def _new(source: SourceFile, read: Read, listed: str) -> str:
    if read.listed:
        return listed
    assert isinstance(read.tensor, ast.Subscript)
    return f"{listed}[{source.segment(read.tensor.slice)}]"


def _whole(flow: Flow, numbers: Numbers) -> str:
    """What is read: the tensor, or as many of its elements as are needed where it may have many more."""
    name = numbers.tensor.id
    if numbers.listed:
        return name
    shape = flow.evaluate(numbers.tensor, flow.before[numbers.statements[0]])[0].shape or ()
    counts = [sizes.element_counts(known) for known in shape]
    if counts and all(count is not None and max(count) <= _MOST for count in counts):
        return name
    return f"{name}[:{_highest(numbers) + 1}]"


def _highest(numbers: Numbers) -> int:
    """The last of the elements that are read."""
    positions = [_position(read.tensor.slice) for read in numbers.reads if isinstance(read.tensor, ast.Subscript)]
    return max(place for place in positions if place is not None)
