"""What the names of a running frame hold: the facts of an eager observation."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any

from gbfix.evidence.candidates import Candidate
from gbfix.evidence.describe import describe, storage_of
from gbfix.evidence.lookup import MISSING, is_recorded_global, path_value
from gbfix.evidence.stack import resumed

SNAPSHOTS = sys.version_info < (3, 13)
"""Reading `f_locals` makes a dict that the frame keeps, and that a call of `locals()` there returns (PEP 667)."""

IMMUTABLE = ("none", "bool", "int", "float", "complex", "str")


def read_frame(frame: FrameType, candidate: Candidate) -> dict[str, object]:
    """The facts of an "observation" note, without its place. Runs no code of the program and keeps no value alive."""
    torch: Any = sys.modules["torch"]
    held = frame.f_locals
    names = {name: value for name, value in held.items() if name.isidentifier()}
    if SNAPSHOTS and sys.gettrace() is None:
        held.clear()  # it would keep alive what the function deletes; after a trace function it is read back instead
    values = {name: _describe(value, mentioned=name in candidate.names) for name, value in names.items()}
    objects: dict[str, Any] = dict(names)
    for name in candidate.names:
        value = frame.f_globals.get(name, MISSING)
        if name not in objects and is_recorded_global(value):
            objects[name], values[name] = value, describe(value)
    for path in candidate.paths:
        value = path_value(objects, path)
        if value is not MISSING:
            objects[path], values[path] = value, describe(value)
    return {
        "function": function_name(frame.f_code),
        "how": "eager",
        "grad_enabled": torch.is_grad_enabled(),
        "values": values,
        "aliases": aliases({name: {object_identity(objects[name])} for name in mutable(values)}),
        "unguarded": [],
    }


def function_name(code: CodeType) -> str:
    """The qualified name of a function (its bare name before Python 3.11); of a resume function the original's."""
    name: str = getattr(code, "co_qualname", code.co_name)
    outer, dot, inner = name.rpartition(".")
    continued = resumed(inner)
    return outer + dot + continued[0] if continued else name


def outline(facts: dict[str, object]) -> dict[str, object]:
    """What is told of a name that the statement does not mention, such as a loop's counter: what it is, no number."""
    kept = ("kind", "type", "tensor", "value") if facts["kind"] in ("bool", "none") else ("kind", "type", "tensor")
    return {name: fact for name, fact in facts.items() if name in kept}


def mutable(values: Mapping[str, dict[str, object]]) -> list[str]:
    """The names that hold something that can be changed in place, so that another name for it matters."""
    return [name for name, facts in values.items() if facts["kind"] not in IMMUTABLE]


def object_identity(value: object) -> tuple[str, int]:
    """What is equal for two live values just when they are one object or tensors that share storage."""
    storage = storage_of(value)
    return ("object", id(value)) if storage is None else ("storage", storage)


def aliases(identities: Mapping[str, set[tuple[str, int]]]) -> list[list[str]]:
    """The groups of names that have an identity in common."""
    groups: list[tuple[set[tuple[str, int]], list[str]]] = []
    for name, known in identities.items():
        same = [group for group in groups if group[0] & known]
        groups = [group for group in groups if not group[0] & known]
        groups.append(
            (known.union(*(group[0] for group in same)), [name, *(one for group in same for one in group[1])])
        )
    return sorted(sorted(names) for _, names in groups if len(names) > 1)


def _describe(value: object, *, mentioned: bool) -> dict[str, object]:
    return describe(value) if mentioned else outline(describe(value, depth=0))
