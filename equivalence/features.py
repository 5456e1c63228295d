"""Named changes to a call, one at a time: another dtype, size, rank, layout, an alias, another number.

Which of them a program takes, only a run can tell; the names are what the caller reports back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from gbfix.equivalence.example import Expression, SameAs
from gbfix.equivalence.feature import MOST_TENSORS, Feature
from gbfix.equivalence.forms import CallForm, ContainerForm, Form, NumberForm, TensorForm, shape_of
from gbfix.equivalence.tensor_features import tensor_features


def features_of(
    call: CallForm, forms: Mapping[str, Sequence[Form]], optional: Sequence[str], floating: Sequence[str]
) -> tuple[Feature, ...]:
    """All changes that alter the call, each with a name of its own.

    forms: what else an argument may be, by name; optional: arguments with a default; floating: floating dtypes allowed.
    """
    found = [
        *_forms(call, forms),
        *tensor_features(call, floating),
        *_aliases(call),
        *_left_out(optional),
    ]
    named = {feature.name: feature for feature in found}
    return tuple(feature for feature in named.values() if repr(feature.change(call)) != repr(call))


def _forms(call: CallForm, forms: Mapping[str, Sequence[Form]]) -> Iterator[Feature]:
    for name, options in forms.items():
        for form in options:
            if isinstance(form, NumberForm):
                for value in form.values:
                    yield _set(f"{name}={value!r}", name, NumberForm((value,)))
            else:
                yield _set(f"{name} is {_form_text(form)}", name, form)
    for name, form in call.arguments:
        value = form.values[0] if isinstance(form, NumberForm) else None
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield _set(other_number(name), name, NumberForm((value + 3,)))


def other_number(name: str) -> str:
    """The name of the change to another ordinary number."""
    return f"other {name}"


def _set(title: str, name: str, form: Form) -> Feature:
    return Feature(title, "form", lambda call: call.with_argument(name, form))


def _form_text(form: Form) -> str:
    if isinstance(form, TensorForm):
        return f"a {form.dtype} tensor"
    if isinstance(form, ContainerForm):
        return f"a {form.kind} of {len(form.items)}"
    return form.source if isinstance(form, Expression) else str(form)


def _aliases(call: CallForm) -> Iterator[Feature]:
    names = [name for name, form in call.arguments if isinstance(form, TensorForm)][:MOST_TENSORS]
    for earlier, later in combinations(names, 2):
        yield _aliased(f"{later} is {earlier}", earlier, later, view=False)
        yield _aliased(f"{later} is a view of {earlier}", earlier, later, view=True)


def _aliased(name: str, earlier: str, later: str, *, view: bool) -> Feature:
    def change(call: CallForm) -> CallForm:
        forms = dict(call.arguments)
        one, other = forms.get(earlier), forms.get(later)
        if not isinstance(one, TensorForm) or not isinstance(other, TensorForm) or one.dtype != other.dtype:
            return call
        if shape_of(one, call) != shape_of(other, call):
            return call
        return call.with_argument(later, SameAs(earlier, view))

    return Feature(name, "alias", change)


def _left_out(optional: Sequence[str]) -> Iterator[Feature]:
    for name in optional:
        yield Feature(f"without {name}", "left out", lambda call, name=name: _without(call, name))  # type: ignore[misc]


def _without(call: CallForm, name: str) -> CallForm:
    aliased = any(isinstance(form, SameAs) and form.argument == name for _, form in call.arguments)
    return call if aliased else call.with_argument(name, None)
