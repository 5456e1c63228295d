"""Turns the values of a message into arguments of the in-graph print, and says what that relies on."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import field

from gbfix.analysis import sizes
from gbfix.analysis.effects import Effects
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.values import Category, Kind, Value
from gbfix.codemods._constant_containers import is_constant_container, is_constant_text
from gbfix.codemods._obligations import shorten
from gbfix.codemods._print_metadata import asked_for_sizes, is_metadata, is_text
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._template import Piece, Slot
from gbfix.codemods._text import indentation_of, render
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation

IS_PRINTABLE = "what is printed is a tensor, a number or text"
ONE_ELEMENT = "the number that is printed comes from one element"
SIZES_STAY = "the sizes in the text stay the same"
NO_GRAD_FN = "no grad_fn is shown"
NO_WARNING = "nobody relies on a warning"
EVALUATED_FIRST = "nothing changes while the text is put together"
_INTEGERS = (Category.INT, Category.BOOL)
ADVICE = "print tensors, numbers and constant text, or print after the compiled function has returned"


@dataclass
class Printed:
    """A format string for the in-graph print, its arguments, and the obligations, worst first of each claim."""

    format: str = ""
    arguments: list[str] = field(default_factory=list)
    obligations: dict[str, Obligation] = field(default_factory=dict)

    def relies_on(self, claim: str, discharge: Discharge, reason: str, line: int) -> None:
        """Note an obligation; of two with the same claim the worse one counts."""
        known = self.obligations.get(claim)
        if known is None or (known.discharge is Discharge.PROVED and discharge is not Discharge.PROVED):
            self.obligations[claim] = Obligation(claim, discharge, reason, line)


class Printer:
    """Writes the pieces of one message at one place. Raises RefusedError."""

    def __init__(self, flow: Flow, state: State) -> None:
        self._flow = flow
        self._state = state
        self._result = Printed()

    def print(self, pieces: Sequence[Piece]) -> Printed:
        """The format string and the arguments for some pieces."""
        self._check_order(pieces)
        for piece in pieces:
            if isinstance(piece, str):
                self._result.format += escaped(piece)
            else:
                self._result.format += self._field(piece)
        return self._result

    def _check_order(self, pieces: Sequence[Piece]) -> None:
        """An f-string formats each value before it evaluates the next one; the print formats when all are evaluated."""
        inside = [piece for piece in pieces if isinstance(piece, Slot) and piece.in_text]
        for piece in inside if len(inside) > 1 else ():
            effects = self._effects(piece.node)
            if effects.impure:
                note = effects.impure[0]
                advice = "compute the value on a line of its own, and format it in the message"
                raise RefusedError(EVALUATED_FIRST, note.text, note.line, advice)

    def _effects(self, node: ast.expr) -> Effects:
        return self._flow.evaluate(node, self._state)[1].effects

    def _field(self, slot: Slot) -> str:
        if is_constant_text(slot.node) and not slot.spec:
            constant = ast.literal_eval(slot.node)
            return escaped({"r": repr, "a": ascii}.get(slot.conversion, str)(constant))
        value = self._flow.evaluate(slot.node, self._state)[0]
        conversion = self._argument(slot, value)
        spec = ""
        for piece in slot.spec:
            if isinstance(piece, str):
                if "{" in piece or "}" in piece:
                    raise self._unclear(slot, "a brace in a format specification")
                spec += piece
            else:
                spec += self._field(piece)
        return "{" + (f"!{conversion}" if conversion else "") + (f":{spec}" if spec else "") + "}"

    def _argument(self, slot: Slot, value: Value) -> str:
        """Add the argument for a slot, and give the conversion that makes its text."""
        node = slot.node
        if value.kind is Kind.NUMBER and value.scalar_of is not None:
            return self._number_read(slot, value)
        if is_text(self._flow, node):
            value = Value(Kind.OTHER, class_name="str")
        if value.tensor_like:
            return self._tensor(slot, value)
        if isinstance(node, ast.Constant) or value.kind is Kind.NUMBER or value.class_name in ("str", "None"):
            self._result.arguments.append(self._source(slot))
            if not isinstance(node, ast.Constant):
                self._show_printable(slot, value)
            if slot.number == "integer" and value.number not in ("int", "bool", "int at most"):
                raise self._unclear(slot, f"{self._text(slot)} is not known to be an integer")
            return slot.conversion
        if is_metadata(self._flow, self._state, node) or is_constant_container(self._flow, node):
            return self._as_text(slot, value)
        raise RefusedError(IS_PRINTABLE, f"{self._text(slot)} is not known to be one of them", node.lineno, ADVICE)

    def _as_text(self, slot: Slot, value: Value) -> str:
        """Shapes, dtypes and containers: text that is made when the graph is, since the graph takes none of them."""
        function = {"": "str", "s": "str", "r": "repr", "a": "ascii"}[slot.conversion]
        if not slot.conversion and slot.spec:
            raise self._unclear(slot, "a format specification for something that is no number")
        if self._flow.context.names.bindings(function, slot.node):
            raise self._unclear(slot, f"{function} is bound to something else here")
        self._result.arguments.append(f"{function}({self._source(slot)})")
        self._show_printable(slot, value)
        self._show_sizes_stay(slot)
        return ""

    def _tensor(self, slot: Slot, value: Value) -> str:
        """A tensor is formatted by the graph itself."""
        self._show_printable(slot, value)
        if slot.number:
            self._show_no_warning(slot, value)
            self._number(slot, value, self._source(slot), "int" if slot.number == "integer" else "")
            return slot.conversion
        self._result.arguments.append(self._source(slot))
        as_number = not slot.conversion and value.is_scalar
        if slot.spec and not slot.conversion and not as_number:
            reason = f"{self._text(slot)} is not known to have no dimension, as a format of a number needs"
            self._result.relies_on(ONE_ELEMENT, Discharge.ASSUMED, reason, slot.node.lineno)
        elif not as_number:
            self._show_no_grad_fn(slot, value)
        return slot.conversion

    def _number_read(self, slot: Slot, value: Value) -> str:
        """`t.item()`, `float(t)`, `int(t)` and `bool(t)`: the graph formats the element, so that nobody reads it."""
        names = self._flow.context.names
        match slot.node:
            case ast.Call(func=ast.Attribute(value=tensor, attr="item"), args=[], keywords=[]):
                cast = ""
            case ast.Call(func=ast.Name(id="float" | "int" | "bool" as cast) as func, args=[tensor], keywords=[]) if (
                names.is_builtin(func, cast)
            ):
                pass
            case ast.Name():  # it was read before, which is a break of its own
                self._result.arguments.append(self._source(slot))
                self._show_printable(slot, value)
                return slot.conversion
            case _:
                advice = "compute with the tensor, and print the result"
                reason = f"{self._text(slot)} computes with a number that Python has read out of a tensor"
                raise RefusedError(IS_PRINTABLE, reason, slot.node.lineno, advice)
        held = self._flow.evaluate(tensor, self._state)[0]
        inner = Slot(tensor, in_text=slot.in_text)
        if held.kind is not Kind.TENSOR:
            raise self._unclear(slot, f"{self._text(inner)} is not known to be a tensor")
        if slot.conversion and slot.spec:
            raise self._unclear(slot, "a format of the text of a number")
        self._show_printable(inner, held)
        if cast in ("float", "int"):
            self._show_no_warning(slot, held)
        self._number(slot, held, self._source(inner), "int" if slot.number == "integer" and not cast else cast)
        return ""

    def _number(self, slot: Slot, held: Value, source: str, cast: str) -> None:
        """Add the one element of a tensor as the number that `cast` makes of it; no cast is `item()`."""
        category = held.dtype.category if held.dtype is not None else None
        if not held.is_scalar:
            if not held.one:
                reason = f"{shorten(source)} is not known to have exactly one"
                self._result.relies_on(ONE_ELEMENT, Discharge.ASSUMED, reason, slot.node.lineno)
            source = f"{_atom(source)}.reshape(())"
        if cast == "float" and category is not Category.FLOAT:
            if category is Category.COMPLEX:
                raise self._unclear(slot, "a complex number is no float")
            source = f"{_atom(source)}.double()"
        if cast == "bool" and category is not Category.BOOL:
            source = f"{_atom(source)}.bool()"
        if cast == "int" and category is not Category.INT:
            if category is not Category.BOOL:
                raise self._unclear(slot, f"{shorten(source)} is not known to be of an integer dtype")
            source = f"{_atom(source)}.long()"
        self._result.relies_on(ONE_ELEMENT, Discharge.PROVED, f"{shorten(source)} has one", slot.node.lineno)
        self._result.arguments.append(source)

    # -- obligations -----------------------------------------------------------------------

    def _show_printable(self, slot: Slot, value: Value) -> None:
        line = slot.node.lineno
        if value.kind is Kind.MAYBE:
            reason = f"nothing shows what {self._text(slot)} is; it must not be a list or another object"
            self._result.relies_on(IS_PRINTABLE, Discharge.ASSUMED, reason, line)
        elif value.assumed:
            first = min(value.assumed)
            self._result.relies_on(IS_PRINTABLE, Discharge.ASSUMED, first.claim, first.line)
        else:
            self._result.relies_on(IS_PRINTABLE, Discharge.PROVED, f"{self._text(slot)} is one", line)

    def _show_sizes_stay(self, slot: Slot) -> None:
        """Text of a shape is made when the graph is, so that every other shape is compiled anew (six sizes: 2 to 6)."""
        asked = [shaped for part in ast.walk(slot.node) if (shaped := asked_for_sizes(part)) is not None]
        if not asked:
            return
        line = slot.node.lineno
        values = [self._flow.evaluate(tensor, self._state)[0] for tensor in asked]
        if all(value.shape is not None and sizes.is_one_shape(value.shape) for value in values):
            self._result.relies_on(SIZES_STAY, Discharge.PROVED, f"{self._text(slot)} is the same at each call", line)
        else:
            reason = f"{self._text(slot)} becomes text when the graph is made, so that each other size compiles again"
            self._result.relies_on(SIZES_STAY, Discharge.ASSUMED, reason, line)

    def _show_no_warning(self, slot: Slot, value: Value) -> None:
        if value.sources:
            reason = f"PyTorch warns once where {self._text(slot)} is read as a number and requires a gradient"
            self._result.relies_on(NO_WARNING, Discharge.ASSUMED, reason, slot.node.lineno)

    def _show_no_grad_fn(self, slot: Slot, value: Value) -> None:
        """Compiled ahead of time, the graph has no grad_fn to show where Python shows one."""
        category = value.dtype.category if value.dtype is not None else None
        line = slot.node.lineno
        if not value.sources or category in _INTEGERS:
            self._result.relies_on(NO_GRAD_FN, Discharge.PROVED, f"{self._text(slot)} carries no gradient", line)
        else:
            reason = f"{self._text(slot)} may carry a gradient, and some backends do not show its grad_fn"
            self._result.relies_on(NO_GRAD_FN, Discharge.ASSUMED, reason, line)

    # -- words -----------------------------------------------------------------------------

    def _source(self, slot: Slot) -> str:
        """The source of a value; inside an f-string, positions are not known before Python 3.12."""
        if slot.in_text:
            return ast.unparse(slot.node)
        context = self._flow.context
        statement = next((p for p in context.source.ancestors(slot.node) if isinstance(p, ast.stmt)), slot.node)
        text = render(context.source, slot.node, {}, indentation_of(context.source, statement))
        assert text is not None  # nothing is renamed
        return text

    def _text(self, slot: Slot) -> str:
        return shorten(ast.unparse(slot.node))

    def _unclear(self, slot: Slot, reason: str) -> RefusedError:
        return RefusedError("the text is exactly the same", reason, slot.node.lineno, ADVICE)


def escaped(text: str) -> str:
    """Constant text as a format string gives it."""
    return text.replace("{", "{{").replace("}", "}}")


def _atom(source: str) -> str:
    """The source of an expression that an attribute can be asked of."""
    node = ast.parse(f"({source})", mode="eval").body
    simple = isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
    return source if simple and "\n" not in source else f"({source})"
