"""The inputs of a check as a Hypothesis strategy that a person can read and change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gbfix.equivalence.example import Expression, Scalar
from gbfix.equivalence.forms import CallForm, ContainerForm, Form, NumberForm, TensorForm, shape_of
from gbfix.equivalence.model import CheckError, Parameter
from gbfix.equivalence.recipes import constant_source
from gbfix.equivalence.signatures import Signature

_SIZE_NAMES = ("n", "m", "k", "l", "p", "q")
_BY_POSITION = ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD")


@dataclass(frozen=True)
class _Seen:
    """A form of an argument in one call, with the sizes of that call."""

    form: Form
    call: CallForm


def strategy_text(signature: Signature, parameters: Sequence[Parameter], *, device: str, gradients: bool) -> str:
    """Source of a strategy of argument tuples, or of dicts where an argument has to be given by name.

    device: of tensors, as torch names it. gradients: floating tensors with and without requires_grad. Raises
    CheckError for arguments that no such strategy makes.
    """
    return _Text(device, gradients).of_calls(signature, parameters)


def argument_names(signature: Signature, parameters: Sequence[Parameter]) -> list[str]:
    """The arguments to give, in the order of the parameters: those of the ordinary call, and others that are known."""
    given = [name for name, _ in signature.calls[0].arguments]
    optional = [name for name in signature.optional if signature.others.get(name)]
    order = [each.name for each in parameters if each.name in given or each.name in optional]
    return [*order, *(name for name in given if name not in order)]


@dataclass
class _Text:
    """Writes one strategy, and remembers which sizes it has named."""

    device: str
    gradients: bool
    _sizes: dict[str, str] = field(default_factory=dict)

    def of_calls(self, signature: Signature, parameters: Sequence[Parameter]) -> str:
        names = argument_names(signature, parameters)
        arguments = {name: self._argument(name, signature) for name in names}
        positional = _leading(parameters, arguments)
        rest = [name for name in arguments if name not in positional]
        if not rest:
            return f"st.tuples({', '.join(arguments[name] for name in positional)})"
        by_name = {each.name for each in parameters if each.kind == "POSITIONAL_ONLY"}.isdisjoint(positional)
        if not by_name or any(name.startswith("*") for name in rest):
            raise CheckError(f"no test can be written: {rest[0]} cannot be given by name; give inputs with --inputs")
        items = ", ".join(f'"{name}": {text}' for name, text in arguments.items())
        return f"st.fixed_dictionaries({{{items}}})"

    def _argument(self, name: str, signature: Signature) -> str:
        seen = [_Seen(form, call) for call in signature.calls for key, form in call.arguments if key == name]
        others = [_Seen(form, signature.calls[0]) for form in signature.others.get(name, ())]
        tensors = any(isinstance(each.form, TensorForm) for each in seen)
        return self._any_of([*seen, *(each for each in others if not seen or _goes_with(each.form, tensors))])

    def _any_of(self, seen: Sequence[_Seen]) -> str:
        texts: list[str] = []
        groups: dict[tuple[object, ...], list[_Seen]] = {}
        for each in seen:
            groups.setdefault(_kind(each.form), []).append(each)
        for group in groups.values():
            first = group[0].form
            if isinstance(first, TensorForm):
                texts.append(self._tensors(group))
            elif isinstance(first, NumberForm):
                texts.append(_numbers([each.form for each in group if isinstance(each.form, NumberForm)]))
            elif isinstance(first, ContainerForm):
                texts.append(self._container(group))
            elif isinstance(first, Expression):
                texts.append(f"st.just({first.source})")
            else:
                raise CheckError("no test can be written: an argument is the same object as another one")
        texts = list(dict.fromkeys(texts))
        return texts[0] if len(texts) == 1 else f"st.one_of({', '.join(texts)})"

    def _tensors(self, group: Sequence[_Seen]) -> str:
        forms = [each.form for each in group if isinstance(each.form, TensorForm)]
        shapes = [shape_of(form, each.call) for each, form in zip(group, forms, strict=True)]
        items = [self._size(forms, shapes, dimension) for dimension in range(len(shapes[0]))]
        dtypes = list(dict.fromkeys(f"torch.{form.dtype}" for form in forms))
        if dtypes != ["torch.float32"]:
            items.append(f"dtype={dtypes[0] if len(dtypes) == 1 else '[' + ', '.join(dtypes) + ']'}")
        first = forms[0]
        if first.low is not None and first.high is not None:
            items += [f"low={first.low}", f"high={first.high}"]
        if first.differentiable and (self.gradients or any(form.requires_grad for form in forms)):
            items.append("requires_grad=None")
        if self.device != "cpu":
            items.append(f'device="{self.device}"')
        return f"tensors({', '.join(items)})"

    def _size(self, forms: Sequence[TensorForm], shapes: Sequence[Sequence[int]], dimension: int) -> str:
        """A number where all calls had the same, else a name: equal names are equal sizes."""
        sizes = {shape[dimension] for shape in shapes}
        symbol = forms[0].shape[dimension]
        if isinstance(symbol, int) or (len(sizes) == 1 and not forms[0].free_rank):
            return str(min(sizes))
        if not symbol.isidentifier():
            return "None"
        if symbol not in self._sizes:
            count = len(self._sizes)
            self._sizes[symbol] = _SIZE_NAMES[count] if count < len(_SIZE_NAMES) else f"n{count}"
        return f'"{self._sizes[symbol]}"'

    def _container(self, group: Sequence[_Seen]) -> str:
        """Containers of one kind and with the same keys."""
        first = group[0].form
        assert isinstance(first, ContainerForm)
        items = []
        for index, (key, _) in enumerate(first.items):
            inner = [
                _Seen(each.form.items[index][1], each.call) for each in group if isinstance(each.form, ContainerForm)
            ]
            items.append((key, self._any_of(inner)))
        if first.kind == "dict":
            return f"st.fixed_dictionaries({{{', '.join(f'{key!r}: {text}' for key, text in items)}}})"
        texts = f"st.tuples({', '.join(text for _, text in items)})"
        return f"st.builds(list, {texts})" if first.kind == "list" else texts


def _goes_with(form: Form, tensors: bool) -> bool:
    """Whether to offer a form that no call had: None in place of a tensor, other numbers in place of a number."""
    if not isinstance(form, NumberForm):
        return False
    return not tensors or form.values == (None,)


def _leading(parameters: Sequence[Parameter], given: Mapping[str, str]) -> list[str]:
    """The arguments that can be given by position: those before the first that is left out."""
    names = []
    for parameter in parameters:
        if parameter.kind not in _BY_POSITION or parameter.name not in given:
            break
        names.append(parameter.name)
    return names


def _kind(form: Form) -> tuple[object, ...]:
    """What forms have in common that one strategy makes."""
    match form:
        case TensorForm():
            return ("tensor", len(form.shape), form.floating, form.integer, form.low, form.high)
        case NumberForm():
            return ("number",)
        case ContainerForm():
            return (form.kind, tuple(key for key, _ in form.items))
    return (form,)


def _numbers(forms: Iterable[NumberForm]) -> str:
    values: dict[str, Scalar] = {}
    for form in forms:
        values.update({repr(value): value for value in form.values})
    kinds = {type(value) for value in values.values()}
    if kinds == {bool} and len(values) == 2:
        return "st.booleans()"
    texts = [constant_source(value) for value in values.values()]
    return f"st.just({texts[0]})" if len(texts) == 1 else f"st.sampled_from([{', '.join(texts)}])"
