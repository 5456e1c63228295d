"""Programs written to a folder, and versions of them in processes of their own."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from gbfix.equivalence.example import Constant, Example, Listed, TensorRecipe
from gbfix.equivalence.model import Mode, Settings, Target
from gbfix.equivalence.subject import Subject


def written(folder: Path, text: str, name: str = "program.py") -> Path:
    """A file of a program."""
    path = (folder / name).resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dedent(text))
    return path


def target(path: Path, attribute: str, *, module: str = "", search: Path | None = None, factory: str = "") -> Target:
    """A target in a file."""
    folder = search or path.parent
    return Target(f"{path.stem}:{attribute}", str(path), module or path.stem, str(folder), attribute, factory)


def subject(
    path: Path, attribute: str, mode: Mode = Mode.EAGER, settings: Settings | None = None, factory: str = ""
) -> Subject:
    """A version as it is on disk."""
    return Subject(target(path, attribute, factory=factory), {}, mode, settings or Settings())


def vector(*numbers: float, **options: bool | int | None) -> Example:
    """A call with one float tensor `x`."""
    return Example((("x", TensorRecipe("float32", (len(numbers),), Listed(numbers))),), **options)  # type: ignore[arg-type]


def number(value: float) -> Example:
    """A call with a number `x`."""
    return Example((("x", Constant(value)),))
