"""What is known of a value before the program runs: a must-analysis, never a guess.

A `Value` says what an expression certainly is, given the claims in `assumed`. With no claims the
facts are proved by the source. Shapes, dtypes and layouts are symbolic terms: two values with the
same term have the same shape (dtype, layout) in every run, whatever it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import Enum

from gbfix.analysis import dtypes, sizes
from gbfix.analysis.terms import Term as Term
from gbfix.analysis.terms import term as term
from gbfix.analysis.terms import term_parts as term_parts
from gbfix.engine.dataclass import dataclass

SCALAR_SHAPE: frozenset[Term] = frozenset()
"""The shape of a 0-d tensor: broadcasting with it changes nothing."""


class Kind(Enum):
    """What sort of object a value is."""

    TENSOR = "tensor"
    MAYBE = "possibly a tensor, nothing shows it"
    NUMBER = "Python number"
    MODULE = "module"
    OTHER = "not a tensor"
    UNKNOWN = "unknown"


class Category(Enum):
    """The classes of dtypes that type promotion orders."""

    BOOL = 0
    INT = 1
    FLOAT = 2
    COMPLEX = 3


@dataclass(frozen=True)
class DType:
    """A symbolic dtype, and its category where that is known.

    inexact: floating or complex, which a Python float makes of every tensor.
    """

    term: Term
    category: Category | None = None
    inexact: bool = False

    @property
    def floor(self) -> Category | None:
        """A category that the dtype certainly reaches, None when nothing is known."""
        return self.category or (Category.FLOAT if self.inexact else None)


CONCRETE = {
    "bool": Category.BOOL,
    "uint8": Category.INT,
    "int8": Category.INT,
    "int16": Category.INT,
    "short": Category.INT,
    "int32": Category.INT,
    "int": Category.INT,
    "int64": Category.INT,
    "long": Category.INT,
    "float16": Category.FLOAT,
    "half": Category.FLOAT,
    "bfloat16": Category.FLOAT,
    "float32": Category.FLOAT,
    "float": Category.FLOAT,
    "float64": Category.FLOAT,
    "double": Category.FLOAT,
    "complex64": Category.COMPLEX,
    "complex128": Category.COMPLEX,
}
_SYNONYMS = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "long": "int64",
    "int": "int32",
    "short": "int16",
}


def concrete_dtype(name: str) -> DType | None:
    """The dtype called `torch.<name>`, None when there is none."""
    category = CONCRETE.get(name)
    return None if category is None else DType(_SYNONYMS.get(name, name), category)


BOOL = DType("bool", Category.BOOL)
INT64 = DType("int64", Category.INT)


@dataclass(frozen=True, order=True)
class Assumption:
    """Something taken for granted about a value, in words, and the line that suggested it."""

    claim: str
    line: int = 0


@dataclass(frozen=True, order=True)
class Hazard:
    """A derivative that may turn a zero gradient into NaN: for ordinary operands if `singular`, else for inf or NaN."""

    singular: bool
    text: str
    line: int


def worst(hazards: Iterable[Hazard | None]) -> Hazard | None:
    """The most dangerous of some hazards, the first of equally dangerous ones."""
    known = [hazard for hazard in hazards if hazard is not None]
    return max(known, key=lambda hazard: hazard.singular, default=None)


@dataclass(frozen=True)
class Value:
    """The facts about one value.

    shape: terms that are broadcast together; empty for 0-d. None only when the value is no tensor.
    one: exactly one element. dtype: None when the value is no tensor.
    layout: a term for the strides. fresh: no other name, container or caller can reach the object.
    sources: the tensors, or terms for unknown ones, that a gradient flows to from here; empty when none does.
    number: for NUMBER, the Python type ("int", "float", "bool") if known. scalar_of: for a number read out of a
    tensor, that tensor.
    inside: for NUMBER, the dtype term of a tensor whose finite range holds it; edge: "max" or "min" when it is the
    end of that range. hazard: the worst derivative between the tensor and its sources.
    class_name: for MODULE, the dotted name of its class if known.
    """

    kind: Kind = Kind.UNKNOWN
    shape: frozenset[Term] | None = None
    dtype: DType | None = None
    layout: Term = None
    devices: frozenset[Term] = frozenset()
    one: bool = False
    fresh: bool = False
    sources: frozenset[Term] = frozenset()
    assumed: frozenset[Assumption] = frozenset()
    number: str | None = None
    scalar_of: Value | None = None
    inside: Term = None
    edge: str = ""
    hazard: Hazard | None = None
    class_name: str | None = None

    @property
    def is_scalar(self) -> bool:
        """True for a tensor that certainly has no dimension."""
        return self.shape == SCALAR_SHAPE

    @property
    def has_one_element(self) -> bool:
        """True for a tensor that certainly has exactly one element."""
        return self.one or self.is_scalar

    @property
    def tensor_like(self) -> bool:
        """True for a tensor, proved or assumed, and for a value that may be one."""
        return self.kind in (Kind.TENSOR, Kind.MAYBE)

    def assuming(self, assumptions: Iterable[Assumption]) -> Value:
        """The same facts under more claims."""
        return replace(self, assumed=self.assumed | frozenset(assumptions))


CONTIGUOUS = "contiguous"
"""The layout of a tensor that is certainly contiguous."""

UNKNOWN = Value()
OTHER = Value(Kind.OTHER)
NONE = Value(Kind.OTHER, class_name="None")


def number(kind: str | None = None) -> Value:
    """A Python number."""
    return Value(Kind.NUMBER, number=kind)


def opaque_tensor(token: Term, source: str | None, *, fresh: bool = False, kind: Kind = Kind.TENSOR) -> Value:
    """A tensor of which nothing more is known: its facts get terms of their own, named by `token`.

    `source` names the tensor for gradients; without one, the token stands for whatever flows into it.
    """
    return Value(
        kind,
        shape=frozenset({term("shape", token)}),
        dtype=DType(term("dtype", token)),
        layout=term("layout", token),
        devices=frozenset({term("device", token)}),
        fresh=fresh,
        sources=frozenset({token if source is None else source}),
    )


def join(first: Value, second: Value, token: Term) -> Value:
    """What holds when either of two values may be the one; `token` names the terms that differ."""
    if first == second:
        return first
    assumed = first.assumed | second.assumed
    kinds = {first.kind, second.kind}
    if kinds <= {Kind.TENSOR, Kind.MAYBE}:
        other = opaque_tensor(token, None)
        category = (
            first.dtype.category
            if first.dtype and second.dtype and first.dtype.category == second.dtype.category
            else None
        )
        return Value(
            Kind.TENSOR if kinds == {Kind.TENSOR} else Kind.MAYBE,
            shape=first.shape if first.shape == second.shape else other.shape,
            dtype=first.dtype if first.dtype == second.dtype else DType(term("dtype", token), category),
            layout=first.layout if first.layout == second.layout else other.layout,
            devices=first.devices if first.devices == second.devices else other.devices,
            one=first.one and second.one,
            fresh=first.fresh and second.fresh,
            # "One or the other" must never be taken for "both".
            sources=first.sources if first.sources == second.sources else frozenset({token}),
            assumed=assumed,
            hazard=worst([first.hazard, second.hazard]),
        )
    if kinds == {Kind.NUMBER}:
        return Value(Kind.NUMBER, number=first.number if first.number == second.number else None, assumed=assumed)
    if kinds <= {Kind.OTHER, Kind.MODULE}:
        return Value(Kind.OTHER, assumed=assumed)
    return opaque_tensor(token, None, kind=Kind.MAYBE)


def promote(operands: Iterable[Value]) -> DType:
    """The dtype of an operation on tensors and Python numbers.

    The rules are those of torch.result_type: tensors with dimensions first, then 0-d tensors, then
    Python numbers, each lower class only counting when its category is higher.
    """
    values = list(operands)
    tensors = [v for v in values if v.dtype is not None and v.tensor_like]
    scalars = {v.number or "number" for v in values if v.kind is Kind.NUMBER}
    found = {v.dtype for v in tensors if v.dtype is not None}
    categories = [d.category for d in found]
    known = [c for c in categories if c is not None]
    top = max(known, key=lambda c: c.value) if known and len(known) == len(categories) else None
    floor = max((d.floor.value for d in found if d.floor is not None), default=-1)
    scalars = {s for s in scalars if _SCALAR_CATEGORY[s].value > floor}
    if len(found) == 1 and not scalars:
        return next(iter(found))
    if not scalars:
        concrete = _promote_concrete(tensors)
        if concrete is not None:
            return concrete
    parts = frozenset((v.dtype.term, v.shape) for v in tensors if v.dtype is not None)
    if top is None:
        category = None
    else:
        category = max([top, *(_SCALAR_CATEGORY[s] for s in scalars if s != "number")], key=lambda c: c.value)
    inexact = "float" in scalars or any(d.inexact for d in found)
    unsure = any(s == "number" or s.endswith("at most") for s in scalars)
    return DType(term("promote", parts, frozenset(scalars)), None if unsure else category, inexact)


def _promote_concrete(tensors: Sequence[Value]) -> DType | None:
    """The dtype by name, where all dtypes are known by name and it is known which tensors have dimensions."""
    operands = []
    for value in tensors:
        ranks = {0} if value.is_scalar else sizes.ranks(value.shape or ())
        if value.dtype is None or not isinstance(value.dtype.term, str) or not ranks or {0} < ranks:
            return None
        operands.append((value.dtype.term, ranks != {0}))
    name = dtypes.promote(operands)
    return None if name is None else concrete_dtype(name)


_SCALAR_CATEGORY = {
    "bool": Category.BOOL,
    "int": Category.INT,
    "float": Category.FLOAT,
    # An annotation `int` admits a bool, and `float` an int (PEP 484): only the upper end is known.
    "int at most": Category.INT,
    "float at most": Category.FLOAT,
    "number": Category.COMPLEX,
}


def floating(dtype: DType) -> DType:
    """The dtype of an operation that makes integers floating and keeps floating ones."""
    if dtype.category in (Category.FLOAT, Category.COMPLEX):
        return dtype
    if dtype.inexact:
        return dtype
    return DType(term("floating", dtype.term), Category.FLOAT if dtype.category is not None else None, inexact=True)


def broadcast(operands: Iterable[Value]) -> frozenset[Term]:
    """The shape of an element-wise operation on several tensors; numbers and 0-d tensors add nothing."""
    united: frozenset[Term] = frozenset().union(*(v.shape for v in operands if v.tensor_like and v.shape is not None))
    return united if len(united) < 2 else sizes.broadcast(united) or united


def dense_layout(operands: Iterable[Value]) -> Term:
    """The layout of an element-wise result: dense, in the order of the dimensioned operands.

    TensorIterator takes the order of strides from its operands in turn, so the order counts; an
    element-wise result of a dense result keeps its layout.
    """
    layouts = [v.layout for v in operands if v.tensor_like and not v.is_scalar]
    unique = list(dict.fromkeys(layouts))
    if unique == [CONTIGUOUS]:
        return CONTIGUOUS
    if not unique:
        return "scalar"
    if len(unique) == 1 and term_parts(unique[0])[:1] == ("dense",):
        return unique[0]
    return term("dense", tuple(unique))


def is_dense(layout: Term) -> bool:
    """True for the layout of a tensor whose elements each have a place of their own, without gaps."""
    return layout in (CONTIGUOUS, "scalar") or term_parts(layout)[:1] == ("dense",)


def union_sources(operands: Iterable[Value]) -> frozenset[Term]:
    """The tensors that gradients flow to through an operation; Python numbers carry none."""
    found: frozenset[Term] = frozenset()
    for value in operands:
        if value.kind in (Kind.NUMBER, Kind.OTHER):
            continue
        if value.dtype is not None and value.dtype.category in (Category.BOOL, Category.INT):
            continue
        found |= value.sources
    return found
