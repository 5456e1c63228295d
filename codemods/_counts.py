"""Numbers of selected elements, such as `len(x[m])` and `m.nonzero().shape[0]`, as tensors without dimensions."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gbfix.analysis.flow import State
from gbfix.analysis.literals import shorten
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods import _mask_duties as duty
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._selections import SelectionReader
from gbfix.codemods._sites import torch_name
from gbfix.engine.model import Discharge, Obligation, Replacement

CONSUMED = "the number is only used in arithmetic with tensors"
PROMOTES = "no integer without dimensions that is narrower than int64 meets the number"
_ADVICE = (
    "use mask.count_nonzero(), which is a tensor, where a tensor is enough; or compute the number in the caller, "
    "and pass it in"
)


@dataclass(frozen=True)
class Count:
    """An expression for the number of elements of `mask` that are not zero."""

    node: ast.expr
    mask: ast.expr


def count_in(reader: SelectionReader, node: ast.expr, state: State) -> Count | None:
    """The count that an expression spells; None for another expression."""
    match node:
        case ast.Call(func=ast.Name(id="len") as func, args=[counted], keywords=[]) if reader.names.is_builtin(
            func, "len"
        ):
            return _rows(reader, node, counted, state)
        case ast.Subscript(value=ast.Attribute(value=counted, attr="shape"), slice=ast.Constant(value=0)):
            return _rows(reader, node, counted, state)
        case ast.Call(func=ast.Attribute(value=counted, attr="size"), args=[ast.Constant(value=0)], keywords=[]):
            return _rows(reader, node, counted, state)
        case ast.Call(func=ast.Attribute(value=counted, attr="numel" | "nelement"), args=[], keywords=[]):
            selection = reader.selection(counted, state)
            if selection is None:
                return _count_of(node, _places(reader, counted, state, whole=False))
            base, mask = (reader.flow.evaluate(part, state)[0] for part in (selection.base, selection.mask))
            return Count(node, selection.mask) if base.shape == mask.shape else None
        case _:
            return None


def _rows(reader: SelectionReader, node: ast.expr, counted: ast.expr, state: State) -> Count | None:
    selection = reader.selection(counted, state)
    if selection is not None and selection.broadcasts:
        base, mask = (reader.flow.evaluate(part, state)[0] for part in (selection.base, selection.mask))
        return Count(node, selection.mask) if base.shape == mask.shape else None
    if selection is not None:
        return Count(node, selection.mask)
    return _count_of(node, _places(reader, counted, state, whole=True))


def _count_of(node: ast.expr, mask: ast.expr | None) -> Count | None:
    return None if mask is None else Count(node, mask)


def _places(reader: SelectionReader, node: ast.expr, state: State, *, whole: bool) -> ast.expr | None:
    """The tensor whose elements other than zero an expression lists, one a row; whole: their indices together."""
    found = _listed(reader, node, state, whole=whole)
    if found is not None:
        reader.use(node)
    return found


def _listed(reader: SelectionReader, node: ast.expr, state: State, *, whole: bool) -> ast.expr | None:
    names = reader.names
    match reader.meaning(node):
        case ast.Subscript(value=ast.Call() as call, slice=ast.Constant(value=int())):
            match call:
                case ast.Call(func=func, args=[mask], keywords=[]) if names.qualified(func) == "torch.where":
                    return _tensor(reader, mask, state)
                case ast.Call(keywords=[ast.keyword(arg="as_tuple", value=ast.Constant(value=True))]):
                    return _nonzero(reader, call, state)
            return None
        case ast.Call(keywords=[]) as call if whole:
            return _nonzero(reader, call, state)
        case _:
            return None


def _nonzero(reader: SelectionReader, call: ast.Call, state: State) -> ast.expr | None:
    qualified = reader.names.qualified(call.func)
    if qualified in ("torch.nonzero", "torch.argwhere") and len(call.args) == 1:
        return _tensor(reader, call.args[0], state)
    method = isinstance(call.func, ast.Attribute) and call.func.attr in ("nonzero", "argwhere")
    if qualified is None and method and not call.args:
        assert isinstance(call.func, ast.Attribute)
        return _tensor(reader, call.func.value, state)
    return None


def _tensor(reader: SelectionReader, node: ast.expr, state: State) -> ast.expr | None:
    return node if reader.flow.evaluate(node, state)[0].tensor_like else None


def counted(reader: SelectionReader, count: Count, state: State) -> tuple[list[Replacement], list[Obligation]]:
    """The number as a tensor, and what that relies on. Raises RefusedError."""
    mask, evaluation = reader.flow.evaluate(count.mask, state)
    line = count.node.lineno
    for note in [*evaluation.effects.impure, *evaluation.effects.random, *evaluation.effects.reads]:
        raise RefusedError("it only computes", note.text, note.line, _ADVICE)
    obligations = [_is_tensor(reader, count, mask)]
    text = ast.unparse(count.mask)
    torch, _ = torch_name(reader.flow.context.view, count.node)
    found = [Replacement(reader.source.span(count.node), f"{torch}.count_nonzero({text})")]
    _Uses(reader, mask, found, obligations).follow(count.node, state)
    if len(obligations) == 1:
        raise RefusedError(CONSUMED, f"nothing uses {shorten(text)}", line, _ADVICE)
    return found, obligations


def _is_tensor(reader: SelectionReader, count: Count, mask: Value) -> Obligation:
    text, line = shorten(reader.source.segment(count.mask)), count.node.lineno
    if mask.kind is Kind.MAYBE or mask.assumed:
        return Obligation(duty.TENSORS, Discharge.ASSUMED, f"nothing shows that {text} is one", line)
    return Obligation(duty.TENSORS, Discharge.PROVED, f"{text} is one", line)


class _Uses:
    """Follows a number to where it meets a tensor."""

    def __init__(
        self, reader: SelectionReader, mask: Value, edits: list[Replacement], obligations: list[Obligation]
    ) -> None:
        self.reader = reader
        self.mask = mask
        self.edits = edits
        self.obligations = obligations

    def follow(self, node: ast.expr, state: State) -> None:
        """Check every use of an expression. Raises RefusedError for one that needs a Python number."""
        parent = self.reader.source.parents[node]
        match parent:
            case ast.BinOp(left=left, op=op, right=right):
                self._arithmetic(parent, op, left if right is node else right, state, last=right is node)
            case ast.AugAssign(target=ast.Name() as target, op=op) if parent.value is node:
                self._meets(ast.Name(target.id, ast.Load()), op, state, last=True, line=parent.lineno)
            case ast.Call(func=ast.Name(id="max") as func, args=[one, other], keywords=[]) if self._is_max(func):
                least = other if one is node else one
                if not isinstance(least, ast.Constant) or type(least.value) is not int:
                    raise self._refused(parent)
                self._clamp(parent, node, least.value)
                self.follow(parent, state)
            case ast.Assign(targets=[ast.Name()]):
                self._name(parent)
            case ast.Compare(left=left, ops=[_], comparators=[ast.Constant(value=int())]) if left is node:
                self._decides(parent)
            case ast.If() | ast.IfExp() if parent.test is node:
                self._decides(node)
            case _:
                raise self._refused(parent if isinstance(parent, ast.expr | ast.stmt) else node)

    def _decides(self, node: ast.expr) -> None:
        """A branch takes the truth of a tensor as it takes that of a number."""
        parent = self.reader.source.parents[node]
        if not (isinstance(parent, ast.If | ast.IfExp) and parent.test is node):
            raise self._refused(node)
        text = shorten(self.reader.source.segment(node))
        self.obligations.append(Obligation(CONSUMED, Discharge.PROVED, f"{text} decides a branch", node.lineno))

    def _is_max(self, func: ast.expr) -> bool:
        return self.reader.names.is_builtin(func, "max")

    def _clamp(self, call: ast.Call, node: ast.expr, least: int) -> None:
        """`max(n, 1)` of a tensor would read it."""
        source = self.reader.source
        inner = next((e for e in self.edits if e.span == source.span(node)), None)
        text = inner.source if inner is not None else source.segment(node)
        if inner is not None:
            self.edits.remove(inner)
        if not text.isidentifier() and inner is None:
            text = f"({text})"
        self.edits.append(Replacement(source.span(call), f"{text}.clamp(min={least})"))

    def _name(self, definition: ast.Assign) -> None:
        named = self.reader.named
        loads = named.loads(definition)
        for load in loads:
            statement = next((p for p in self.reader.source.ancestors(load) if isinstance(p, ast.stmt)), None)
            if statement not in self.reader.flow.before or not named.is_only_binding(load, definition):
                raise self._refused(load)
            assert isinstance(statement, ast.stmt)
            self.follow(load, self.reader.flow.before[statement])

    def _arithmetic(self, node: ast.BinOp, op: ast.operator, other: ast.expr, state: State, *, last: bool) -> None:
        value = self.reader.flow.evaluate(other, state)[0]
        whole = isinstance(other, ast.Constant) and type(other.value) is int
        if whole and isinstance(op, ast.Add | ast.Sub | ast.Mult):
            self.follow(node, state)
        elif value.kind is Kind.NUMBER:
            raise self._refused(node)
        else:
            self._meets(other, op, state, last=last, line=node.lineno)

    def _meets(self, other: ast.expr, op: ast.operator, state: State, *, last: bool, line: int) -> None:
        value = self.reader.flow.evaluate(other, state)[0]
        if not value.tensor_like or not isinstance(op, ast.Add | ast.Sub | ast.Mult | ast.Div):
            raise RefusedError(
                CONSUMED, f"{ast.unparse(other)} is no tensor, or not added or multiplied", line, _ADVICE
            )
        if isinstance(op, ast.Div) and not last:
            reason = "a number divided by a tensor is rounded in another way than a tensor is"
            raise RefusedError(CONSUMED, reason, line, _ADVICE)
        text = shorten(ast.unparse(other))
        category = value.dtype.category if value.dtype is not None else None
        if category is Category.COMPLEX:
            raise RefusedError(CONSUMED, f"{text} is complex", line, _ADVICE)
        if value.kind is Kind.MAYBE or value.assumed:
            self.obligations.append(
                Obligation(CONSUMED, Discharge.ASSUMED, f"nothing shows that {text} is a tensor", line)
            )
        else:
            self.obligations.append(Obligation(CONSUMED, Discharge.PROVED, f"it meets {text}", line))
        exact = category is Category.FLOAT or (value.dtype is not None and value.dtype.term == "int64")
        if category in (Category.INT, Category.BOOL) and not exact:
            raise RefusedError(PROMOTES, f"{text} is one, or could be", line, _ADVICE)
        if not exact:
            self.obligations.append(Obligation(PROMOTES, Discharge.ASSUMED, f"the dtype of {text} is not known", line))
        if value.devices != self.mask.devices and not self.mask.is_scalar:
            reason = f"{text} may be on another device than the mask"
            self.obligations.append(Obligation(duty.DEVICE, Discharge.ASSUMED, reason, line))

    def _refused(self, node: ast.AST) -> RefusedError:
        line = getattr(node, "lineno", 0)
        text = shorten(self.reader.source.segment(node)) if isinstance(node, ast.expr | ast.stmt) else "its use"
        return RefusedError(CONSUMED, f"{text} needs a Python number", line, _ADVICE)
