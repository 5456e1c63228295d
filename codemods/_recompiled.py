"""The functions that a recorded run compiled again for other sizes, and what marks of those sizes would save."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from gbfix.analysis.observations import ValueSpec
from gbfix.analysis.project import Project
from gbfix.analysis.recompiles import EntrySeen, RecompileSeen, function_at
from gbfix.analysis.source import Function
from gbfix.codemods._varying import EVERY_ITEM, SPECIAL, Varying, from_calls, leaves, tensors_in
from gbfix.engine.dataclass import dataclass


@dataclass(frozen=True, eq=False)
class Recompiled:
    """A function that was compiled again for other sizes.

    function: None for one that is not in the given files. path: of the file that defines or else compiles it. entry:
    how it was given to torch.compile, None where the run does not say. expected: how often it is compiled with those
    sizes marked, as far as the recorded calls show it.
    """

    path: str
    name: str
    function: Function | None
    row: RecompileSeen
    entry: EntrySeen | None
    varying: tuple[Varying, ...]
    expected: int
    calls: tuple[Mapping[str, ValueSpec], ...] = ()

    @property
    def compiles(self) -> int:
        """How often it was compiled."""
        if self.function is None and self.entry is not None:
            return self.entry.compiles
        return self.row.compiles

    @property
    def line(self) -> int:
        """Where the function begins, or is compiled when it is not in the given files."""
        if self.function is not None:
            return self.function.node.lineno
        at = self.entry.compiled_at if self.entry is not None else None
        return at.line if at is not None else 0

    @property
    def special(self) -> tuple[int, ...]:
        """Which of the sizes 0 and 1 were seen."""
        seen = {size for one in self.varying for sizes in one.seen for size in sizes}
        return tuple(size for size in SPECIAL if size in seen)

    def parameters(self, positional: int, keywords: Collection[str]) -> list[str]:
        """The names of its positional parameters, as far as they are known; of an unknown function from its calls."""
        if self.function is not None:
            arguments = self.function.node.args
            names = [a.arg for a in [*arguments.posonlyargs, *arguments.args]]
            return names[1:] if self.function.owner is not None and not _is_static(self.function) else names
        orders = [[name for name in call if name != "self"] for call in self.calls]
        alike = [names for names in orders if len(names) == positional + len(keywords) and set(keywords) <= set(names)]
        return alike[0][:positional] if alike else []


@lru_cache(maxsize=4)
def recompiled_functions(project: Project) -> tuple[Recompiled, ...]:
    """Every function of the project that was compiled again for other sizes of its arguments, in source order."""
    return tuple(_recompiled_functions(project))


def _recompiled_functions(project: Project) -> Iterator[Recompiled]:
    for path, rows in sorted(project.recompiles.items()):
        by_code: dict[tuple[int, str], list[RecompileSeen]] = {}
        for row in rows:
            if row.kind == "size":
                by_code.setdefault((row.at.line, row.function), []).append(row)
        for (line, name), same in sorted(by_code.items()):
            function = function_at(project.files[path], line, name) if path in project.files else None
            if function is not None:
                entries = [entry for row in same for entry in row.entries if entry.defined == row.at]
                yield _recompiled(path, function, same, entries)
            elif path not in project.files:
                yield from _elsewhere(project, same)


def _elsewhere(project: Project, rows: Sequence[RecompileSeen]) -> Iterator[Recompiled]:
    """What the files compile of other code. PyTorch enters its own modules by one function, which they share."""
    for entry in dict.fromkeys(_Once(entry) for row in rows for entry in row.entries):
        at = entry.entry.compiled_at
        if at is not None and at.file in project.files:
            yield _recompiled(at.file, None, rows, [entry.entry])


def _is_static(function: Function) -> bool:
    decorators = [] if isinstance(function.node, ast.Lambda) else function.node.decorator_list
    return any(isinstance(one, ast.Name) and one.id == "staticmethod" for one in decorators)


def _recompiled(
    path: str, function: Function | None, rows: Sequence[RecompileSeen], entries: Sequence[EntrySeen]
) -> Recompiled:
    calls = tuple(call for entry in dict.fromkeys(map(_Once, entries)) for call in entry.entry.arguments)
    found = from_calls(calls) if calls else _from_guards(rows)
    expected = len({_kept(call, found) for call in calls}) if calls else 1 + _special_sizes(found)
    entry = entries[0] if entries else None
    name = function.qualname if function is not None else entries[0].function
    return Recompiled(path, name, function, rows[0], entry, found, expected, calls)


@dataclass(frozen=True)
class _Once:
    """An entry that stands in several rows; the mappings in it cannot be hashed."""

    entry: EntrySeen

    def __hash__(self) -> int:
        return hash((self.entry.function, self.entry.compiled_at))


def _from_guards(rows: Sequence[RecompileSeen]) -> tuple[Varying, ...]:
    """What the guards say, for a run that recorded no arguments."""
    found: dict[str, dict[int, tuple[int, ...]]] = {}
    for row in rows:
        sizes = tuple(int(value) for value in row.values if value.isdigit())
        if row.source_name.isidentifier() and row.dimension is not None:
            found.setdefault(row.source_name, {})[row.dimension] = sizes
    return tuple(Varying(name, "", tuple(sizes), tuple(sizes.values())) for name, sizes in found.items())


def _kept(call: Mapping[str, ValueSpec], varying: Sequence[Varying]) -> str:
    """What of a call the graph would still be made for with the sizes marked."""
    marked = {(one.parameter, one.path): one.dimensions for one in varying}
    for one in varying:
        if one.path.startswith(EVERY_ITEM):
            marked |= {(one.parameter, path): one.dimensions for path in leaves(call[one.parameter])}
    parts = []
    for parameter, spec in sorted(call.items()):
        tensors = dict(tensors_in(spec))
        if any((parameter, path) in marked for path in tensors):
            parts += [_kept_tensor(path, inner, marked.get((parameter, path), ())) for path, inner in tensors.items()]
        else:
            parts.append(repr(spec))
    return "; ".join(parts)


def _kept_tensor(path: str, spec: ValueSpec, dimensions: tuple[int, ...]) -> str:
    tensor = spec.tensor
    assert tensor is not None
    sizes = [
        "any" if number in dimensions and size not in SPECIAL else str(size) for number, size in enumerate(tensor.shape)
    ]
    return f"{path} {spec.type} {tensor.dtype} {sizes} {tensor.device} {tensor.requires_grad}"


def _special_sizes(varying: Sequence[Varying]) -> int:
    return max((sum(size in SPECIAL for size in sizes) for one in varying for sizes in one.seen), default=0)
