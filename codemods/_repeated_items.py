"""Elements of one tensor that a loop reads one by one, read at once before it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow, flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.tree import stored_names
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_duties import ELEMENT, EXACT, TENSOR
from gbfix.codemods._scalar_reads import Read, captures_scalars, reads_of
from gbfix.codemods._scalar_sites import scalar_findings
from gbfix.codemods._text import indentation_of, reindented, unused_name
from gbfix.codemods._tree import all_names
from gbfix.codemods._unwritten import UNCHANGED, unwritten
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span

REPEATED = ("GBF204", "repeated-item")
DIMENSION = "the tensor has one dimension"
ADVICE = "read all elements with one tolist() before the loop, where the tensor does not change in it"
_PROVED, _ASSUMED = Discharge.PROVED, Discharge.ASSUMED


@dataclass(frozen=True)
class Repeated:
    """The elements of one tensor that a loop over `range` reads by its own index."""

    loop: ast.For
    tensor: ast.Name
    reads: Sequence[Read]


def repeated_findings(view: FileView) -> Iterator[Finding]:
    """Every tensor whose elements a loop of a compiled function reads one by one."""
    kept = kept_spans(view)
    if kept is None:
        return
    for compiled in view.compiled:
        if compiled.fullgraph is not True:
            flow = flow_of(view, compiled.function)
            reads = [read for read in reads_of(flow) if view.source.span(read.node) not in kept]
            for repeated in _repeated(flow, reads):
                if view.project.torch.captures("item"):
                    return
                yield _finding(view, compiled, flow, repeated)


def kept_spans(view: FileView) -> set[Span] | None:
    """Where numbers stay tensors, so that nothing reads them; None where the file lets Dynamo capture them all."""
    if captures_scalars(view):
        return None
    return {finding.span for finding in scalar_findings(view) if finding.fix is not None}


def _repeated(flow: Flow, reads: Sequence[Read]) -> Iterator[Repeated]:
    found: dict[tuple[ast.For, str], list[Read]] = {}
    for read in reads:
        match read.tensor:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name() as index) if place_of(read) is not None:
                loop = _loop_of(flow, read.node, index.id)
                if loop is not None:
                    found.setdefault((loop, name), []).append(read)
    for (loop, _), group in found.items():
        first = group[0].tensor
        assert isinstance(first, ast.Subscript)
        assert isinstance(first.value, ast.Name)
        yield Repeated(loop, first.value, group)


def place_of(read: Read) -> ast.expr | None:
    """The expression that an element of the list takes the place of; None where no word reads the number."""
    match read.node:
        case ast.Call(func=ast.Attribute(attr="item")):
            return read.node
        case ast.Call(func=ast.Name(), args=[argument]) if not read.implicit:
            return argument
        case _:
            return None


def _loop_of(flow: Flow, node: ast.AST, index: str) -> ast.For | None:
    """The innermost loop over `range` around a node, whose index a name is."""
    for parent in flow.context.source.ancestors(node):
        if parent is flow.context.function.node:
            return None
        if isinstance(parent, ast.For) and index in stored_names([parent]):
            match parent:
                case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name() as func)) if (
                    name == index and flow.context.names.is_builtin(func, "range")
                ):
                    inside = index not in stored_names(parent.body) and node not in ast.walk(parent.iter)
                    return parent if inside and parent in flow.before else None
            return None
    return None


def _finding(view: FileView, compiled: CompiledFunction, flow: Flow, repeated: Repeated) -> Finding:
    message = f"elements of {repeated.tensor.id} read one by one"
    span = view.source.span(repeated.reads[0].node)
    about = (*REPEATED, span, message, compiled.function.qualname, compiled.reason)
    try:
        obligations = _obligations(flow, repeated)
    except RefusedError as refused:
        return Finding(*about, (refused.obligation,), advice=refused.advice)
    fix = Fix("read all elements at once, before the loop", (_replacement(view, repeated),))
    return Finding(*about, tuple(obligations), fix)


def _obligations(flow: Flow, repeated: Repeated) -> list[Obligation]:
    """What reading the elements before the loop relies on. Raises RefusedError."""
    loop, text, line = repeated.loop, repeated.tensor.id, repeated.loop.lineno
    state = flow.before[loop]
    value = flow.evaluate(repeated.tensor, state)[0]
    found = [tensor_obligation(value, text, line, ADVICE)]
    ranks = sizes.ranks(value.shape or ())
    if (ranks and ranks != {1}) or value.is_scalar:
        raise RefusedError(DIMENSION, f"{text} has {max(ranks, default=0)}", line, ADVICE)
    shown = _PROVED if ranks else _ASSUMED
    found.append(Obligation(DIMENSION, shown, f"{text} has" if ranks else f"the shape of {text} is not known", line))
    within = _exists(flow, repeated, value)
    reason = f"the loop stays within {text}" if within else f"the text of the error is another one outside of {text}"
    found.append(Obligation(ELEMENT, _PROVED if within else _ASSUMED, reason, line))
    found += number_obligations(repeated.reads, value, text, line)
    found.append(_unchanged(flow, repeated))
    return found


def tensor_obligation(value: Value, text: str, line: int, advice: str) -> Obligation:
    """What is read must be a tensor already where all is read. Raises RefusedError."""
    if not value.tensor_like:
        raise RefusedError(TENSOR, f"nothing shows that {text} is a tensor there", line, advice)
    if value.kind is Kind.TENSOR and not value.assumed:
        return Obligation(TENSOR, _PROVED, f"{text} is one", line)
    return Obligation(TENSOR, _ASSUMED, f"nothing shows that {text} is a tensor", line)


def number_obligations(reads: Sequence[Read], value: Value, text: str, line: int) -> list[Obligation]:
    category = value.dtype.category if value.dtype is not None else None
    if category in (Category.INT, Category.BOOL) or not any(read.warns for read in reads):
        return []
    found = []
    if category is not Category.FLOAT:
        found.append(Obligation(EXACT, _ASSUMED, f"{text} may hold complex numbers", line))
    if value.sources and not all(read.state.gradients_off for read in reads):
        reason = f"taking a number out of {text} warns once where it requires a gradient"
        found.append(Obligation("nobody relies on a warning", _ASSUMED, reason, line))
    return found


def _exists(flow: Flow, repeated: Repeated, value: Value) -> bool:
    """True when the indices of the loop are places of the tensor."""
    assert isinstance(repeated.loop.iter, ast.Call)
    name = repeated.tensor.id
    if repeated.loop.iter.keywords or len(repeated.loop.iter.args) != 1:
        return False
    match repeated.loop.iter.args[0]:
        case ast.Constant(value=int(count)):
            series = sizes.element_counts(next(iter(value.shape))) if value.shape and len(value.shape) == 1 else None
            return bool(series) and all(count <= size for size in series or ())
        case ast.Call(func=ast.Name() as func, args=[ast.Name(id=other)]):
            return flow.context.names.is_builtin(func, "len") and other == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="numel"), args=[]):
            return other == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="size"), args=[ast.Constant(value=0)]):
            return other == name
        case ast.Subscript(
            value=ast.Attribute(value=ast.Name(id=other), attr="shape"), slice=ast.Constant(value=0 | -1)
        ):
            return other == name
        case _:
            return False


def _unchanged(flow: Flow, repeated: Repeated) -> Obligation:
    """Nothing in the loop may write the tensor. Raises RefusedError where something does."""
    name, loop = repeated.tensor.id, repeated.loop
    if name in stored_names([loop]) or not flow.context.is_local(name):
        raise RefusedError(UNCHANGED, f"the loop sets {name}", loop.lineno, ADVICE)
    inside = [part for part in ast.walk(loop) if isinstance(part, ast.stmt) and part is not loop]
    return unwritten(flow, name, inside, loop.lineno, "in the loop", ADVICE)


def _replacement(view: FileView, repeated: Repeated) -> Replacement:
    """The loop with one reading before it."""
    source, loop = view.source, repeated.loop
    span = source.span(loop)
    listed = unused_name(f"{repeated.tensor.id}_values", frozenset(all_names(source.tree)))
    lines = source.lines[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column]
    places = [(source.span(place), read.tensor) for read in repeated.reads if (place := place_of(read)) is not None]
    for where, tensor in sorted(places, key=lambda pair: pair[0], reverse=True):
        assert isinstance(tensor, ast.Subscript)
        new = f"{listed}[{source.segment(tensor.slice)}]"
        first, last = where.line - span.line, where.end_line - span.line
        lines[first : last + 1] = [lines[first][: where.column] + new + lines[last][where.end_column :]]
    indentation = indentation_of(source, loop)
    block = reindented("\n".join(lines)[len(indentation) :], indentation, "")
    return Replacement(span, f"{listed} = {repeated.tensor.id}.tolist()\n{block}")
