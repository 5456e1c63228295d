"""What a number of selected elements is used for: where a tensor does as well, and what it relies on there."""

from __future__ import annotations

import ast

from gbfix.analysis.flow import State
from gbfix.analysis.literals import shorten
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods import _mask_duties as duty
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_dtypes import DTYPE, known_devices
from gbfix.codemods._selections import SelectionReader
from gbfix.engine.model import Discharge, Obligation, Replacement

CONSUMED = "the number is only used in arithmetic with tensors"
PROMOTES = "no integer without dimensions that is narrower than int64 meets the number"
ADVICE = (
    "use mask.count_nonzero(), which is a tensor, where a tensor is enough; or compute the number in the caller, "
    "and pass it in"
)


class CountUses:
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
            raise RefusedError(CONSUMED, f"{ast.unparse(other)} is no tensor, or not added or multiplied", line, ADVICE)
        if isinstance(op, ast.Div) and not last:
            reason = "a number divided by a tensor is rounded in another way than a tensor is"
            raise RefusedError(CONSUMED, reason, line, ADVICE)
        text = shorten(ast.unparse(other))
        category = value.dtype.category if value.dtype is not None else None
        if category is Category.COMPLEX:
            raise RefusedError(CONSUMED, f"{text} is complex", line, ADVICE)
        if value.kind is Kind.MAYBE or value.assumed:
            self.obligations.append(
                Obligation(CONSUMED, Discharge.ASSUMED, f"nothing shows that {text} is a tensor", line)
            )
        else:
            self.obligations.append(Obligation(CONSUMED, Discharge.PROVED, f"it meets {text}", line))
        exact = category is Category.FLOAT or (value.dtype is not None and value.dtype.term == "int64")
        if category in (Category.INT, Category.BOOL) and not exact:
            raise RefusedError(PROMOTES, f"{text} is one, or could be", line, ADVICE)
        if not exact:
            self.obligations.append(Obligation(PROMOTES, Discharge.ASSUMED, f"the dtype of {text} is not known", line))
        self.obligations += self._rounding(value, op, text, last=last, line=line)
        if value.devices != self.mask.devices and not self.mask.is_scalar:
            reason = f"{text} may be on another device than the mask"
            self.obligations.append(Obligation(duty.DEVICE, Discharge.ASSUMED, reason, line))

    def _rounding(self, value: Value, op: ast.operator, text: str, *, last: bool, line: int) -> list[Obligation]:
        """Half precision, and division on an accelerator, round a number in another way than a tensor."""
        name = value.dtype.term if value.dtype is not None else None
        half = name in ("float16", "bfloat16")
        if half and isinstance(op, ast.Mult) and not last:
            raise RefusedError(DTYPE, f"a 0-d tensor left of {text} is rounded to {name}", line, ADVICE)
        if known_devices(value) == {"cpu"} and (half or name in ("float32", "float64", "int64")):
            return [Obligation(DTYPE, Discharge.PROVED, f"{text} is {name}, on the CPU", line)]
        if half or name not in ("float32", "float64", "int64"):
            return [Obligation(DTYPE, Discharge.ASSUMED, f"{text} may be of half precision", line)]
        if isinstance(op, ast.Div):
            return [Obligation(DTYPE, Discharge.ASSUMED, f"dividing {text} is the same on the CPU only", line)]
        return []

    def _refused(self, node: ast.AST) -> RefusedError:
        line = getattr(node, "lineno", 0)
        text = shorten(self.reader.source.segment(node)) if isinstance(node, ast.expr | ast.stmt) else "its use"
        return RefusedError(CONSUMED, f"{text} needs a Python number", line, ADVICE)
