"""What is known of the calls of a target, from recorded calls, annotations, default values and names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gbfix.equivalence.annotations import SHARED_SIZES, annotation_forms, forms_of, guessed_tensor, merged
from gbfix.equivalence.forms import CallForm, ContainerForm, Form, NumberForm, TensorForm, distinct, tensors_of
from gbfix.equivalence.model import CheckError, Parameter, Settings, Setup
from gbfix.equivalence.recorded import recorded_calls, unknown_arguments
from gbfix.evidence.model import ArgumentsSeen

_NOTHING = CallForm((), tuple(SHARED_SIZES.items()))
FLOATING = ("float32", "float16", "bfloat16", "float64")


@dataclass(frozen=True)
class Signature:
    """The calls that are known, the ordinary first. others: what else an argument may be, by name.

    optional: arguments that may be left out. floating: the floating dtypes to try. origin: as in `Verdict.inputs`.
    as_recorded: what the recorded calls have in common stays so (see `Settings`).
    """

    calls: tuple[CallForm, ...]
    others: Mapping[str, tuple[Form, ...]]
    optional: tuple[str, ...]
    floating: tuple[str, ...]
    module: bool
    origin: str
    as_recorded: bool = False


def signature_of(setup: Setup, seen: Sequence[ArgumentsSeen], settings: Settings) -> Signature:
    """Recorded calls first; what they lack comes from annotations, defaults and, for the rest, guesses.

    Raises `CheckError` when a parameter can be neither made nor left out.
    """
    recorded = recorded_calls(seen)
    if settings.as_recorded and seen and not any(one.grad_enabled for one in seen):
        recorded = tuple(replace(call, grad_enabled=False) for call in recorded)
    unknown = unknown_arguments(seen) if recorded else {}
    parameters = [p for p in setup.parameters if p.kind not in ("VAR_POSITIONAL", "VAR_KEYWORD")]
    _check_known(parameters, recorded, unknown)
    options = {parameter.name: forms_of(parameter) for parameter in parameters}
    guessed = [p.name for p in parameters if _tells_nothing(p, options, recorded)]
    options.update({name: (*options[name], *guessed_tensor(name)) for name in guessed})
    options = {name: _like_recorded(forms, recorded) for name, forms in options.items()}
    rest = {} if recorded else _rest(setup.parameters)
    likely = {f"*{p.name}" for p in setup.parameters if not parameters or annotation_forms(p.annotation, p.name)}
    options.update({name: forms for name, forms in rest.items() if name in likely})
    calls = [_completed(call, parameters, options, setup) for call in recorded or (_NOTHING,)]
    options.update(rest)
    complete = [call for call in calls if all(not p.required or p.name in dict(call.arguments) for p in parameters)]
    calls = [_cast(call, settings.dtype) for call in complete or calls]
    options = {name: tuple(_in_dtype(name, form, settings.dtype) for form in forms) for name, forms in options.items()}
    others = {name: _others(name, forms, calls) for name, forms in options.items()}
    return Signature(
        calls=distinct(calls),
        others={name: forms for name, forms in others.items() if forms},
        optional=distinct(_optional(setup.parameters, calls)),
        floating=(settings.dtype,) if settings.dtype else FLOATING,
        module=setup.module,
        origin=_origin(seen if recorded else (), [p.name for p in parameters if p.name in guessed and p.required]),
        as_recorded=settings.as_recorded and bool(recorded),
    )


def with_words(signature: Signature, words: Sequence[str]) -> Signature:
    """The signature with these texts as what an argument may be that is a text."""
    first = dict(signature.calls[0].arguments)
    others = dict(signature.others)
    for name in dict.fromkeys([*first, *others]):
        forms = [form for form in (first.get(name), *others.get(name, ())) if isinstance(form, NumberForm)]
        known = [value for form in forms for value in form.values if isinstance(value, str)]
        new = tuple(word for word in words if word not in known)
        if known and new:
            others[name] = merged([*others.get(name, ()), NumberForm(new)])
    return replace(signature, others=others)


def _check_known(parameters: Sequence[Parameter], recorded: Sequence[CallForm], unknown: Mapping[str, str]) -> None:
    for parameter in parameters:
        known = any(parameter.name in dict(call.arguments) for call in recorded)
        annotated = bool(forms_of(parameter))
        opaque = parameter.name in unknown or bool(parameter.annotation)
        if parameter.required and not known and not annotated and opaque:
            what = unknown.get(parameter.name) or parameter.annotation
            raise CheckError(
                f"nothing tells how to make the argument {parameter.name!r} ({what}); give inputs yourself: "
                "--inputs module:name of a Hypothesis strategy of argument tuples, or of a function that returns a list"
            )


def _tells_nothing(parameter: Parameter, options: Mapping[str, tuple[Form, ...]], calls: Sequence[CallForm]) -> bool:
    """Neither a recorded call, nor the annotation, nor the default (None tells nothing) says what it is."""
    known = any(parameter.name in dict(call.arguments) for call in calls)
    return not known and not parameter.annotation and options[parameter.name] in ((), (NumberForm((None,)),))


def _like_recorded(forms: tuple[Form, ...], recorded: Sequence[CallForm]) -> tuple[Form, ...]:
    """Tensors that no call has shown get the shape of the first tensor of the first recorded call."""
    shape = next((form.shape for call in recorded[:1] for _, form in tensors_of(call)), None)
    if shape is None:
        return forms
    return tuple(
        replace(form, shape=shape, free_rank=False) if isinstance(form, TensorForm) else form for form in forms
    )


def _rest(parameters: Sequence[Parameter]) -> dict[str, tuple[Form, ...]]:
    """What *args may hold, by its name with the star: what its annotation says, else tensors."""
    found: dict[str, tuple[Form, ...]] = {}
    for parameter in parameters:
        if parameter.kind == "VAR_POSITIONAL":
            forms = annotation_forms(parameter.annotation, parameter.name)
            item = (forms or guessed_tensor(parameter.name))[0]
            rows = [ContainerForm("tuple", tuple((str(i), item) for i in range(count))) for count in (2, 1, 3)]
            found[f"*{parameter.name}"] = tuple(rows)
    return found


def _completed(
    call: CallForm, parameters: Sequence[Parameter], options: Mapping[str, tuple[Form, ...]], setup: Setup
) -> CallForm:
    """The call with the required arguments that it lacks, in the order of the parameters."""
    given = dict(call.arguments)
    arguments: dict[str, Form] = {}
    for parameter in parameters:
        forms = options[parameter.name]
        if parameter.name in given:
            arguments[parameter.name] = given.pop(parameter.name)
        elif parameter.required and forms:
            form = forms[0]
            arguments[parameter.name] = replace(form, values=form.values[:1]) if isinstance(form, NumberForm) else form
    arguments.update({name: forms[0] for name, forms in options.items() if name.startswith("*")})
    arguments.update(given)
    if not arguments:
        arguments.update(_first_tensor(options))
    training = call.training if call.training is not None else True
    return replace(call, arguments=tuple(arguments.items()), training=training if setup.module else None)


def _first_tensor(options: Mapping[str, tuple[Form, ...]]) -> dict[str, Form]:
    """For a call that needs no argument at all: the first that may be a tensor, since without one little happens."""
    for name, forms in options.items():
        for form in forms:
            if isinstance(form, TensorForm):
                return {name: form}
    return {}


def _cast(call: CallForm, dtype: str) -> CallForm:
    """The call with all floating tensors of the dtype that was asked for, if one was."""
    return call.with_tensors(lambda _, form: replace(form, dtype=dtype) if dtype and form.floating else form)


def _in_dtype(name: str, form: Form, dtype: str) -> Form:
    return _cast(CallForm(((name, form),)), dtype).arguments[0][1]


def _optional(parameters: Sequence[Parameter], calls: Sequence[CallForm]) -> Iterator[str]:
    for parameter in parameters:
        if not parameter.required and not parameter.kind.startswith("VAR_"):
            yield parameter.name
    for call in calls:
        yield from (name for name, _ in call.arguments if name.startswith("*"))


def _others(name: str, forms: Sequence[Form], calls: Sequence[CallForm]) -> tuple[Form, ...]:
    """What the argument may be besides the first call's: of other calls, of its annotation, near its numbers."""
    first = dict(calls[0].arguments).get(name)
    seen = [form for call in calls for key, form in call.arguments if key == name]
    if any(isinstance(form, TensorForm) for form in seen):
        forms = [form for form in forms if not isinstance(form, TensorForm)]
    numbers = [form for form in seen if isinstance(form, NumberForm)]
    near = [_near(number) for number in numbers[:1]]
    return tuple(form for form in merged([*numbers, *forms, *near]) if repr(form) != repr(first))


def _near(form: NumberForm) -> NumberForm:
    """The numbers of the same type at which programs branch; texts have none."""
    value = form.values[0]
    if isinstance(value, bool):
        return NumberForm((not value,))
    if isinstance(value, int):
        return NumberForm((0, 1, -1, value + 1))
    if isinstance(value, float):
        return NumberForm((0.0, -0.0, 1.0, -1.5, float("nan"), float("inf")))
    return NumberForm(())


def _origin(seen: Sequence[ArgumentsSeen], guessed: Sequence[str]) -> str:
    count = sum(one.calls for one in seen)
    origin = f"{count} recorded call{'s' * (count != 1)}" if count else "annotations"
    if not guessed:
        return origin
    names = ", ".join(guessed)
    guess = f"guessed: {names} {'is a tensor' if len(guessed) == 1 else 'are tensors'}"
    return guess if not count and origin == "annotations" else f"{origin}; {guess}"
