"""Modules and their files, found without importing anything of the program."""

from __future__ import annotations

import ast
import importlib.util
import os
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path

from gbfix.cli.names import display_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import read_source
from gbfix.engine.model import ConfigurationError, GbfixError
from gbfix.engine.paths import printable


@dataclass(frozen=True)
class ModuleFile:
    """A module: its file (absolute, links resolved), its name, and the folder on sys.path that the name starts at."""

    file: Path
    name: str
    search: Path


def module_of_file(path: Path) -> ModuleFile:
    """The module that a file is, as pytest's "prepend" mode names it: from the folder above the outermost package.

    Raises ConfigurationError for a file that is not there, is no .py file or cannot be a module.
    """
    if not path.is_file():
        raise ConfigurationError(f"{display_name(path)}: there is no such file")
    file = Path(os.path.realpath(path))
    parts = [] if file.name == "__init__.py" else [file.stem]
    folder = file.parent
    while (folder / "__init__.py").is_file():
        parts.insert(0, folder.name)
        folder = folder.parent
    if file.suffix != ".py" or "." in file.stem or not parts:
        raise ConfigurationError(f"{display_name(path)}: cannot be imported under this name; a module is NAME.py")
    return ModuleFile(file, ".".join(parts), folder)


def module_of_name(dotted: str, folder: Path) -> ModuleFile:
    """The module of a dotted name: looked for in `folder`, in `folder`/src, then where Python finds modules.

    Only the finders of installed packages are asked, and only for the first part. Raises ConfigurationError when there
    is no such module, or when it is not Python source.
    """
    parts = dotted.split(".")
    if not all(part.isidentifier() for part in parts):
        raise ConfigurationError(f"{dotted!r} is no name of a module; write module:function or path/file.py:function")
    folders = _folders_of(parts[0], folder) if len(parts) > 1 else ()
    for above in folders:
        file = _file_below(above, parts[1:])
        if file is not None:
            return _module(file, dotted)
    top = _spec(parts[0], folder)
    origin = None if top is None else top.origin
    if len(parts) == 1 and origin is not None and origin.endswith(".py"):
        return _module(Path(origin), dotted)
    if top is None:
        looked = f"looked in {printable(folder)} and where Python finds modules"
        raise ConfigurationError(f"there is no module {parts[0]} ({looked}); go to its folder, or name its file")
    raise ConfigurationError(f"there is no Python source for the module {dotted}; name its file: path/file.py:name")


def imported_files(module: ModuleFile, folders: Sequence[Path] = ()) -> frozenset[Path]:
    """The file of a module and those that it imports, directly or not.

    As far as they lie below its folder, or else below one of `folders`, from which modules are imported as well.
    Imports count wherever they stand; a file that does not parse imports nothing here.
    """
    found: set[Path] = set()
    waiting = [module.file]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found.add(file)
        waiting += [
            target for name in _imports(file) for target in _project_files(name, file, (module.search, *folders))
        ]
    return frozenset(found)


def _module(file: Path, dotted: str) -> ModuleFile:
    real = Path(os.path.realpath(file))
    parts = dotted.split(".")
    folders = real.parts[:-1] if real.name == "__init__.py" else (*real.parts[:-1], real.stem)
    if list(folders[-len(parts) :]) == parts:
        return ModuleFile(real, dotted, Path(*folders[: -len(parts)]))
    # Installed under another name than its folder has: Python finds it by itself.
    return ModuleFile(real, dotted, real.parent)


def _spec(name: str, folder: Path) -> importlib.machinery.ModuleSpec | None:
    own = PathFinder.find_spec(name, [str(folder), str(folder / "src")])
    if own is not None and own.origin is not None:
        return own
    try:
        return importlib.util.find_spec(name) or own
    except (ImportError, ValueError):
        return own


def _folders_of(package: str, folder: Path) -> tuple[Path, ...]:
    """The folders of a package; of one without an __init__.py there can be several."""
    found = [folder / package, folder / "src" / package]
    spec = _spec(package, folder)
    found += [Path(location) for location in (spec.submodule_search_locations or () if spec else ())]
    return tuple(path for path in found if path.is_dir())


def _file_below(folder: Path, parts: list[str]) -> Path | None:
    path = folder.joinpath(*parts)
    candidates = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _imports(file: Path) -> Iterator[str]:
    """The dotted names that a file imports, with leading dots where they are relative."""
    try:
        tree = ast.parse(read_source(file).text)
    except (GbfixError, SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield base
            yield from (f"{base}{'' if base.endswith('.') else '.'}{alias.name}" for alias in node.names)


def _project_files(dotted: str, importer: Path, folders: Sequence[Path]) -> Iterator[Path]:
    """The file of a module and those of the packages that hold it, which run first; of the first folder that has it."""
    names = [name for name in dotted.split(".") if name]
    level = len(dotted) - len(dotted.lstrip("."))
    if level:
        above = importer.parents[min(level, len(importer.parents)) - 1]
        folders = [above]
        if (above / "__init__.py").is_file():
            yield above / "__init__.py"
    for above in folders:
        files = [file for length in range(1, len(names) + 1) if (file := _file_below(above, names[:length]))]
        yield from (Path(os.path.realpath(file)) for file in files)
        if files:
            return
