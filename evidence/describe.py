"""What a value is, as data: tensor metadata, scalars, small containers. Never runs code of the program.

Two sources give the same facts (the fields of `analysis.observations.ValueSpec`): real values, and what Dynamo knows of
a value while it traces. Everything is read through the classes' own C descriptors, since `isinstance`, `repr`, `len`,
attribute access and comparisons of a user's class can run the user's code, and tensor attributes of a subclass or under
a mode go through `__torch_function__`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

MAX_ITEMS = 8
MAX_TEXT = 200
SCALARS: dict[type, str] = {
    bool: "bool",
    int: "int",
    float: "float",
    complex: "complex",
    str: "str",
    type(None): "none",
}
FAKE_TENSOR = "torch._subclasses.fake_tensor.FakeTensor"

_mro = type.__dict__["__mro__"].__get__
_namespace = type.__dict__["__dict__"].__get__
_module = type.__dict__["__module__"].__get__
_qualname = type.__dict__["__qualname__"].__get__


def describe(value: object, *, depth: int = 2) -> dict[str, object]:
    """The facts of a value, ready for JSON. Containers are followed `depth` levels down, at most 8 items each.

    A tensor class with its own `__torch_dispatch__` outside PyTorch gets no tensor facts: reading a size can call that.
    """
    cls = type(value)
    if cls in SCALARS:
        return _scalar(value)
    if _is_tensor(cls):
        return _tensor(value)
    for base, kind in ((list, "list"), (tuple, "tuple"), (dict, "dict")):
        if is_subclass(cls, base):
            return _container(value, kind, depth)
    if is_subclass(cls, _torch("nn.Module")):
        return module_facts(type_name(cls), instance_dict(value).get("training"))
    if is_subclass(cls, _torch("SymInt")):
        return {"kind": "int", "type": "int"}
    if is_subclass(cls, _torch("SymFloat")):
        return {"kind": "float", "type": "float"}
    if is_subclass(cls, _torch("SymBool")):
        return {"kind": "bool", "type": "bool"}
    return {"kind": "object", "type": type_name(cls)}


@dataclass(frozen=True)
class Unrealized:
    """A value that Dynamo had not looked at, and `facts`, the description of the real one that stands in for it."""

    variable: Any
    facts: dict[str, object]
    depth: int

    def refresh(self) -> bool:
        """Whether Dynamo has looked at all of it by now; `facts` become what it knows."""
        if "LazyVariableTracker" in class_names(unwrap(self.variable)):
            return False
        within: list[Unrealized] = []  # items of a container that was opened for others of them
        facts = describe_variable(self.variable, depth=self.depth, unrealized=within)
        self.facts.clear()
        self.facts.update(facts)
        return not within


def describe_variable(
    variable: Any,  # noqa: ANN401
    *,
    depth: int = 2,
    unrealized: list[Unrealized] | None = None,
) -> dict[str, object]:
    """The facts that Dynamo knows of a value (a VariableTracker) while it traces; nothing is realized.

    Trackers are told apart by the names of their classes: `isinstance` of some realizes them, which adds guards (torch
    2.13, variables/base.py). A lazy tracker that is not realized has no guards yet: the value that it stands for is
    described and added to `unrealized`.
    """
    variable = unwrap(variable)
    names = class_names(variable)
    if "LazyVariableTracker" in names:
        facts = describe(variable._cache.value, depth=depth)
        if unrealized is not None:
            unrealized.append(Unrealized(variable, facts, depth))
        return facts
    if "SymNodeVariable" in names:
        return describe(variable.sym_num)
    if "NumpyNdarrayVariable" in names:
        return {"kind": "object", "type": "numpy.ndarray"}
    if "UnspecializedPythonVariable" in names:
        facts = describe(variable.raw_value)
        return {"kind": facts["kind"], "type": facts["type"]} if variable.raw_value is not None else _unknown(variable)
    if "TensorVariable" in names:
        return _tensor_variable(variable)
    if "ConstantVariable" in names:
        return describe(variable.value, depth=depth)
    if "NNModuleVariable" in names or "UnspecializedNNModuleVariable" in names:
        return describe(variable.value)
    return _variable_container(variable, names, depth, unrealized)


def unwrap(variable: Any) -> Any:  # noqa: ANN401
    """The tracker behind a lazy one that is realized, otherwise the tracker itself."""
    if "LazyVariableTracker" in class_names(variable) and variable._cache.vt is not None:
        return unwrap(variable._cache.vt)
    return variable


def class_names(value: object) -> frozenset[str]:
    """The bare names of the classes of a value, for classes that differ between versions of PyTorch."""
    cls = type(value)
    if cls not in _class_names:
        _class_names[cls] = frozenset(base.__name__ for base in _mro(cls))
    return _class_names[cls]


_class_names: dict[type, frozenset[str]] = {}


def source_text(source: Any) -> str:  # noqa: ANN401
    """How Dynamo writes a source or guard, "" for none; `name` was a method before it became a property.

    Some have none and say so by an error: what the caller's stack held when a graph was broken (torch 2.13).
    """
    try:
        name = getattr(source, "name", "")
        return str(name() if callable(name) else name)
    except NotImplementedError:
        return ""


def is_subclass(cls: type, base: object) -> bool:
    """Whether `base` is among the bases of a class, without asking either for its opinion."""
    return isinstance(base, type) and type.__subclasscheck__(base, cls)


def type_name(cls: type) -> str:
    """The dotted name of a class; the built-in ones without their module."""
    module, name = _module(cls), _qualname(cls)
    return f"{module}.{name}" if isinstance(module, str) and module != "builtins" else str(name)


def instance_dict(value: object) -> Mapping[str, Any]:
    """The attributes set on an instance; empty for a class without a plain `__dict__`."""
    for base in _mro(type(value)):
        descriptor = _namespace(base).get("__dict__")
        if type(descriptor) in (types.GetSetDescriptorType, types.MemberDescriptorType):
            found = descriptor.__get__(value)
            return found if type(found) is dict else {}
        if descriptor is not None:
            return {}
    return {}


def class_attribute(cls: type, name: str) -> tuple[bool, Any]:
    """What a class itself holds under a name, as it stands (a descriptor is not called)."""
    for base in _mro(cls):
        namespace = _namespace(base)
        if name in namespace:
            return True, namespace[name]
    return False, None


def module_facts(name: str, training: object) -> dict[str, object]:
    """The facts of a module: its class, and its training flag where it is a plain bool."""
    facts: dict[str, object] = {"kind": "module", "type": name}
    if type(training) is bool:
        facts["items"] = [["training", _scalar(training)]]
    return facts


def storage_of(value: object) -> int | None:
    """What is equal for two tensors just when they share storage, while both are alive; None when there is none."""
    cls = type(value)
    if not _is_tensor(cls) or _own_dispatch(cls):
        return None
    torch = sys.modules["torch"]
    try:
        with torch._C.DisableTorchFunction():
            return int(torch._C.TensorBase.untyped_storage(value)._cdata)
    except Exception:  # sparse, meta and functorch tensors have none; each kind raises something else
        return None


def _scalar(value: object) -> dict[str, object]:
    kind = SCALARS[type(value)]
    facts: dict[str, object] = {"kind": kind, "type": "None" if kind == "none" else kind}
    if isinstance(value, str) and len(value) > MAX_TEXT:
        facts["length"] = len(value)
        value = value[:MAX_TEXT]
    try:
        facts["value"] = repr(value)
    except ValueError:  # an int of more digits than sys.set_int_max_str_digits allows
        return facts
    if len(str(facts["value"])) > 2 * MAX_TEXT:
        del facts["value"]
    return facts


def _container(value: Any, kind: str, depth: int) -> dict[str, object]:  # noqa: ANN401
    base: Any = {"list": list, "tuple": tuple, "dict": dict}[kind]
    facts: dict[str, object] = {"kind": kind, "type": type_name(type(value)), "length": base.__len__(value)}
    if depth > 0:
        try:
            pairs: Iterable[tuple[Any, Any]] = dict.items(value) if kind == "dict" else enumerate(base.__iter__(value))
            pairs = list(islice(pairs, MAX_ITEMS))
        except RuntimeError:  # another thread changed it just now
            return facts
        facts["items"] = [[_key(key), describe(item, depth=depth - 1)] for key, item in pairs]
    return facts


def _key(key: object) -> str:
    if type(key) is str:
        return key[:MAX_TEXT]
    return str(_scalar(key).get("value", "")) if type(key) in SCALARS else f"<{type_name(type(key))}>"


def _torch(path: str) -> object:
    """A class of PyTorch by its path, None while the program has not imported it."""
    found: Any = sys.modules.get("torch")
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


def _is_tensor(cls: type) -> bool:
    return is_subclass(cls, _torch("Tensor"))


def _own_dispatch(cls: type) -> bool:
    """Whether a class outside PyTorch defines `__torch_dispatch__`, so that even its size may be the user's code."""
    for base in _mro(cls):
        if "__torch_dispatch__" in _namespace(base):
            return str(_module(base)).partition(".")[0] != "torch"
    return False


def _tensor(value: Any) -> dict[str, object]:  # noqa: ANN401
    cls = type(value)
    name = type_name(cls)
    facts: dict[str, object] = {"kind": "tensor", "type": "torch.Tensor" if name == FAKE_TENSOR else name}
    if not _own_dispatch(cls):
        try:
            facts["tensor"] = _metadata(value)
        except Exception:  # a kind of tensor without the metadata of a dense one, such as a C++ nested one
            return facts
    return facts


def _metadata(value: Any) -> dict[str, object]:  # noqa: ANN401
    torch: Any = sys.modules["torch"]
    base = torch._C.TensorBase
    with torch._C.DisableTorchFunction():
        return {
            "dtype": str(base.dtype.__get__(value)).removeprefix("torch."),
            "shape": _sizes(base.size(value)),
            "stride": _strides(base, value, torch),
            "device": str(value.fake_device if type_name(type(value)) == FAKE_TENSOR else base.device.__get__(value)),
            "requires_grad": bool(base.requires_grad.__get__(value)),
        }


def _strides(base: Any, value: Any, torch: Any) -> list[int | str]:  # noqa: ANN401
    if base.layout.__get__(value) is not torch.strided:
        return []
    try:
        return _sizes(base.stride(value))
    except (RuntimeError, NotImplementedError):
        return []


def _sizes(sizes: Iterable[Any]) -> list[int | str]:
    """Sizes as numbers, symbolic ones as their text; reading the text of a symbol adds no guard."""
    return [size if type(size) is int else _symbol(size) for size in sizes]


def _symbol(size: Any) -> int | str:  # noqa: ANN401
    constant = size.node.maybe_as_int()
    if constant is not None:
        return int(constant)
    return str(size) if _is_made_of_sizes(size.node) else f"?{size}"


def _is_made_of_sizes(node: Any) -> bool:  # noqa: ANN401
    """Whether all symbols are sizes of tensors: those are never 0 or 1, while a number may be anything (torch 2.13)."""
    environment = getattr(node, "shape_env", None)  # a nested tensor's ragged size has none
    sources = getattr(environment, "var_to_sources", {})
    return environment is not None and all(
        any(getattr(getattr(source, "prop", None), "name", "") == "SIZE" for source in sources.get(symbol, ()))
        for symbol in node.expr.free_symbols
    )


def _tensor_variable(variable: Any) -> dict[str, object]:  # noqa: ANN401
    value = variable.proxy.node.meta.get("example_value")
    if value is None:
        return _unknown(variable)
    facts = describe(value)
    if facts["kind"] == "tensor":
        known = getattr(variable, "class_type", None)
        if isinstance(known, type):
            facts["type"] = type_name(known)
    return facts


def _variable_container(
    variable: Any,  # noqa: ANN401
    names: frozenset[str],
    depth: int,
    unrealized: list[Unrealized] | None,
) -> dict[str, object]:
    if "RangeVariable" in names or "SliceVariable" in names:
        return _unknown(variable)
    if "SizeVariable" in names:
        return _variable_items(variable.items, "tuple", "torch.Size", depth, unrealized)
    if "NamedTupleVariable" in names and "BaseListVariable" in names:
        return _variable_items(variable.items, "tuple", type_name(variable.tuple_cls), depth, unrealized)
    for name in ("ListVariable", "TupleVariable"):
        if name in names:
            kind = name.removesuffix("Variable").lower()
            return _variable_items(variable.items, kind, kind, depth, unrealized)
    if "ConstDictVariable" in names:
        cls = vars(variable).get("user_cls", dict)
        name = type_name(cls) if isinstance(cls, type) else "dict"
        return _variable_items(variable.items, "dict", name, depth, unrealized)
    return _unknown(variable)


def _variable_items(
    items: Any,  # noqa: ANN401
    kind: str,
    name: str,
    depth: int,
    unrealized: list[Unrealized] | None,
) -> dict[str, object]:
    facts: dict[str, object] = {"kind": kind, "type": name, "length": len(items)}
    if depth > 0:
        pairs = list(islice(items.items() if kind == "dict" else enumerate(items), MAX_ITEMS))
        facts["items"] = [
            [_variable_key(key), describe_variable(item, depth=depth - 1, unrealized=unrealized)] for key, item in pairs
        ]
    return facts


def _variable_key(key: Any) -> str:  # noqa: ANN401
    """A key as `_key` writes it; Dynamo wraps the trackers of keys in a hashable one."""
    if type(key) is int:
        return str(key)
    tracker = unwrap(getattr(key, "vt", key))
    if "LazyVariableTracker" in class_names(tracker):
        return _key(tracker._cache.value)
    return _key(tracker.value) if "ConstantVariable" in class_names(tracker) else f"<{type(tracker).__name__}>"


def _unknown(variable: Any) -> dict[str, object]:  # noqa: ANN401
    """A value that is told by its type; of a user's object Dynamo holds the real one."""
    held = vars(variable)
    if "UserDefinedObjectVariable" in class_names(variable) and "value" in held:
        facts = describe(held["value"], depth=0)
        return {"kind": facts["kind"], "type": facts["type"]}
    return {"kind": "object", "type": type(variable).__name__}
