"""From observations at a line to the facts that rules compute with.

What held in every observed run counts as known; whoever uses these facts has to say that they are observed (see
`gbfix.engine.observed`). Values that differ between runs keep a term of their own, so that two names that always
agreed are not taken for names that must agree.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from keyword import iskeyword

from gbfix.analysis import sizes
from gbfix.analysis import values as v
from gbfix.analysis.observations import Observation, Size, TensorSpec, ValueSpec
from gbfix.analysis.symbols import without_symbols
from gbfix.analysis.terms import term
from gbfix.analysis.values import DType, Kind, Value
from gbfix.engine.dataclass import dataclass

_DENSE_TYPES = ("torch.Tensor", "torch.nn.parameter.Parameter", "torch.nn.parameter.Buffer")
_NUMBERS = ("bool", "int", "float", "complex")


@dataclass(frozen=True)
class Observed:
    """All observations at one line of one function; runs: how often the line was observed.

    The observations have no symbols: what Dynamo left open appears once for each of several choices of numbers.
    resumed: what it knew where it went on within the statement, also after nobody read the arguments any more.
    settled: only the first runs of the line were observed, since these showed nothing new in the end.
    symbolic: the observations as they were, where Dynamo left sizes open.
    behind: in its call, something that lasts may have been changed before. in_python: a function that Dynamo gave up
    led here.
    """

    observations: tuple[Observation, ...]
    runs: int
    resumed: tuple[Observation, ...] = ()
    settled: bool = False
    symbolic: tuple[Observation, ...] = ()
    behind: bool = True
    in_python: bool = True

    @property
    def told(self) -> str:
        """How often the line was observed, in words."""
        seen = f"seen {self.runs} time{'' if self.runs == 1 else 's'}"
        return f"{seen}, later runs were not watched" if self.settled else seen

    @property
    def function(self) -> str:
        """The name of the function that holds the line, without the names around it."""
        return _own_name(self.observations[0].function)

    @property
    def gradients_off(self) -> bool:
        """True when no run recorded gradients here."""
        return not any(observation.grad_enabled for observation in self.observations)

    @property
    def stands_free(self) -> bool:
        """True when Dynamo followed the line, never within a `with` or `try`, also of the functions that call it."""
        traced = [one for one in (*self.observations, *self.resumed) if one.how != "eager"]
        return bool(traced) and not any(one.in_block for one in traced)

    @property
    def comes_first(self) -> bool:
        """True when Dynamo followed the line each time, before anything in the call changed what outlives it."""
        return self.is_followed and not self.behind

    @property
    def is_followed(self) -> bool:
        """True when Dynamo followed the line each time, and all functions that call it."""
        return not self.in_python and all(one.how == "traced" for one in self.observations)

    def names(self) -> tuple[str, ...]:
        """The names, dotted paths included, that were seen every time.

        What no guard holds may be something else in a later call that reused the graph.
        """
        first, *others = self.observations
        unguarded = {name for observation in self.observations for name in observation.unguarded}
        everywhere = (name for name in first.values if all(name in other.values for other in others))
        return tuple(
            name for name in everywhere if name.partition("[")[0] not in unguarded and not self._contradicted(name)
        )

    def _contradicted(self, name: str) -> bool:
        """True when the name was something else later than all observations of the whole statement."""
        whole = (*self.observations, *self.symbolic)
        known = [observation.values[name] for observation in whole if name in observation.values]
        later = [observation.values[name] for observation in self.resumed if name in observation.values]
        return not all(any(_agree(spec, one) for one in known) for spec in later)

    def tensor_anywhere(self, name: str) -> Value | None:
        """The tensor that `name` was whenever it was there, if that was always one of the same kind and size.

        Also where Dynamo went on within the statement, and where no guard held it: for what a program makes once.
        """
        seen = (*self.observations, *self.resumed)
        specs = [observation.values[name] for observation in seen if name in observation.values]
        tensors = {spec.tensor for spec in specs if spec.tensor is not None and _is_dense(spec, spec.tensor)}
        only = next(iter(tensors), None)
        if only is None or len(tensors) > 1 or any(spec.tensor is None for spec in specs):
            return None
        if not all(isinstance(size, int) for size in only.shape):
            return None
        return _tensor(name, (self.observations[0].file, self.observations[0].line), [only], None)

    def value(self, name: str, held: Value | None) -> Value:
        """What `name` was in every run, on top of what the source shows of it."""
        specs = [observation.values[name] for observation in self.observations]
        place = (self.observations[0].file, self.observations[0].line)
        tensors = [spec.tensor for spec in specs if spec.tensor is not None and _is_dense(spec, spec.tensor)]
        if len(tensors) == len(specs):
            return _tensor(name, place, tensors, held)
        kinds = {spec.kind for spec in specs}
        if kinds == {"none"}:
            return v.NONE
        if len(kinds) == 1 and kinds <= set(_NUMBERS):
            return _number(kinds.pop(), held)
        if "tensor" in kinds or "object" in kinds or len(kinds) > 1:
            return v.opaque_tensor(term("observed", place, name), None, kind=Kind.MAYBE)
        return _other(specs, held)


def _is_dense(spec: ValueSpec, tensor: TensorSpec) -> bool:
    """True for a plain tensor; a sparse or nested one has no stride for each of its sizes.

    Quantized ones and half complex numbers are none either: torch.where does not take them (torch 2.13).
    """
    usual = not tensor.dtype.startswith("q") and tensor.dtype != "complex32"
    return usual and spec.type in _DENSE_TYPES and len(tensor.shape) == len(tensor.stride)


def with_facts(known: Value, place: Hashable, specs: Sequence[TensorSpec]) -> Value:
    """A tensor with the shape, dtype, device and strides that it had in each run."""
    shapes, strides = [_numbers(spec.shape) for spec in specs], [_numbers(spec.stride) for spec in specs]
    scalar = all(shape == () for shape in shapes)
    return replace(
        known,
        shape=v.SCALAR_SHAPE if scalar else frozenset({sizes.observed(place, shapes)}),
        dtype=_dtype(place, [spec.dtype for spec in specs]),
        layout="scalar" if scalar else _layout(place, shapes, strides),
        devices=_devices(place, [spec.device for spec in specs]),
        one=all(size == 1 for shape in shapes for size in shape),
    )


def _tensor(name: str, place: Hashable, specs: Sequence[TensorSpec], held: Value | None) -> Value:
    known = held if held is not None and held.tensor_like else v.opaque_tensor(term("observed", place, name), name)
    carries = any(spec.requires_grad for spec in specs)
    return replace(
        with_facts(known, place, specs),
        kind=Kind.TENSOR,
        sources=known.sources if carries else frozenset(),
        hazard=known.hazard if carries else None,
        number=None,
        scalar_of=None,
        assumed=frozenset(),
    )


def _numbers(given: Iterable[Size]) -> sizes.Sizes:
    return tuple(size for size in given if isinstance(size, int))  # `without_symbols` left no others


def _dtype(place: Hashable, names: Sequence[str]) -> DType:
    found = [v.concrete_dtype(dtype) for dtype in names]
    if found[0] is not None and all(dtype == found[0] for dtype in found):
        return found[0]
    categories = {dtype.category if dtype is not None else None for dtype in found}
    same = categories.pop() if len(categories) == 1 else None
    return DType(term("observed dtypes", None if len(set(names)) == 1 else place, tuple(names)), same)


def _layout(place: Hashable, shapes: Sequence[sizes.Sizes], strides: Sequence[sizes.Sizes]) -> v.Term:
    if all(sizes.contiguous_strides(shape) == stride for shape, stride in zip(shapes, strides, strict=True)):
        return v.CONTIGUOUS
    return sizes.observed(place, list(strides))


def _devices(place: Hashable, devices: Sequence[str]) -> frozenset[v.Term]:
    return frozenset({devices[0] if len(set(devices)) == 1 else term("observed devices", place, tuple(devices))})


def _number(kind: str, held: Value | None) -> Value:
    known = held if held is not None and held.kind is Kind.NUMBER else v.number()
    return replace(known, number=kind if kind != "complex" else None)


def _other(specs: Sequence[ValueSpec], held: Value | None) -> Value:
    if held is not None and not held.tensor_like and held.kind is not Kind.NUMBER:
        return held
    if all(spec.kind == "module" for spec in specs):
        return v.OTHER  # of a known class nothing would be asked further, but a module holds tensors
    types = {spec.type for spec in specs}
    return Value(Kind.OTHER, class_name=types.pop() if len(types) == 1 else None)


def by_line(
    observations: Iterable[Observation],
    settled: Collection[int] = (),
    behind: Collection[int] = (),
    in_python: Collection[int] = (),
) -> dict[int, Observed]:
    """The observations of one file, by line; a line that belongs to several functions is left out.

    Those of a lambda do not count where the function around it was observed, too: it starts the statement.

    settled: the lines of which only the first runs were observed. behind, in_python: see `Observed`.
    """
    found: dict[int, list[Observation]] = {}
    resumed: dict[int, list[Observation]] = {}
    for observation in observations:
        # Where Dynamo resumed, part of the statement has run, and some names are gone.
        (resumed if observation.how == "resumed" else found).setdefault(observation.line, []).append(observation)
    result = {}
    for line, on_line in found.items():
        named = [one for one in on_line if not _own_name(one.function).startswith("<")]
        at_line = named or on_line
        if len({_own_name(observation.function) for observation in at_line}) == 1:
            concrete = [one for observation in at_line for one in without_symbols(observation)]
            with_items = tuple(map(_opened, concrete))
            count = sum(observation.count for observation in at_line)
            function = _own_name(at_line[0].function)
            later = [one for one in resumed.get(line, ()) if _own_name(one.function) == function]
            symbolic = tuple(_opened(one) for one in at_line if one not in concrete)
            resumed_there = tuple(map(_opened, later))
            reached = (line in behind or line in in_python, line in in_python)
            result[line] = Observed(with_items, count, resumed_there, line in settled, symbolic, *reached)
    return result


def _agree(later: ValueSpec, known: ValueSpec) -> bool:
    """True when two specs may be the same value: all but sizes, of which either may be open."""
    one, other = later.tensor, known.tensor
    if one is None or other is None or later.type != known.type:
        return (later.kind, later.type) == (known.kind, known.type)
    same = (one.dtype, one.device, one.requires_grad) == (other.dtype, other.device, other.requires_grad)
    sizes_agree = all(a == b or isinstance(a, str) for a, b in zip(one.shape, other.shape, strict=False))
    return same and len(one.shape) == len(other.shape) and sizes_agree


def _own_name(function: str) -> str:
    """The name of a function without the names around it."""
    return function.rpartition(".")[2]


def _opened(observation: Observation) -> Observation:
    return replace(observation, values=_with_items(observation.values))


def _with_items(values: Mapping[str, ValueSpec]) -> dict[str, ValueSpec]:
    """The values, and what plain containers among them hold, by the text that reads it: `batch['x']`, `sizes[0]`."""
    found = dict(values)
    for name, spec in values.items():
        if spec.type == spec.kind and spec.kind in ("list", "tuple", "dict"):
            for key, item in spec.items:
                if spec.kind != "dict":
                    found[f"{name}[{key}]"] = item
                elif key.isidentifier() and not iskeyword(key):  # other text may stand for a key that is no string
                    found[f"{name}[{key!r}]"] = item
    return found
