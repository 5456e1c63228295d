"""Which files `gbfix fix` may edit: those that a run led to, of the project and of installed libraries."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from gbfix.cli.check_modules import imported_files, module_of_file
from gbfix.engine.model import ConfigurationError, GbfixError
from gbfix.evidence.model import Evidence, Place
from gbfix.evidence.overlay import no_overlay_reason
from gbfix.evidence.places import Places
from gbfix.evidence.stack import FOUNDATIONS, Origin, origin


def check_within(within: Sequence[Path]) -> None:
    """Raise ConfigurationError for a path of --within that is not there."""
    for path in within:
        if not path.exists():
            raise ConfigurationError(f"--within {path}: there is no such file or folder")


def files_to_edit(evidence: Evidence, within: Sequence[Path]) -> tuple[Path, ...]:
    """The files in which something was compiled, broke or was observed, and what those of the project import.

    Other folders than the project's and those of installed packages are left alone, unless `within` names them; with
    it, nothing else is edited. Files of Python and PyTorch never are.
    """
    root = Path(evidence.root)
    own = {path for path in _seen(evidence) if is_own(path, root)}
    files = {*_seen(evidence), *_imported(own, root)}
    return tuple(sorted(path for path in files if _is_editable(path, root, within)))


def is_own(path: Path, root: Path) -> bool:
    """True for a file of the project itself, which is edited in place."""
    return origin(str(path), os.path.realpath(root)) is Origin.PROJECT


def is_installed(path: Path, root: Path) -> bool:
    """True for a file of an installed package, which is fixed in the overlay."""
    return origin(str(path), os.path.realpath(root)) is Origin.LIBRARY


def _is_editable(path: Path, root: Path, within: Sequence[Path]) -> bool:
    if path.suffix != ".py" or no_overlay_reason(path) is not None:
        return False
    if within:
        return any(path.is_relative_to(os.path.realpath(folder)) for folder in within)
    return is_own(path, root) or is_installed(path, root)


def _seen(evidence: Evidence) -> set[Path]:
    places = Places(Path(evidence.root))
    files = {place.file for place in _places(evidence)} | {seen.file for seen in evidence.observations}
    known = (file for file in files if places.origin(file) not in FOUNDATIONS)
    return {path for path in (Path(os.path.realpath(places.path(file))) for file in known) if path.is_file()}


def _places(evidence: Evidence) -> Iterator[Place]:
    found: list[Place | None] = [fragment.place for fragment in evidence.fragments]
    found += [place for entry in evidence.entries for place in (entry.defined, entry.compiled_at)]
    found += [place for site in evidence.breaks for place in (site.place, site.project, *site.stack)]
    found += [place for row in evidence.recompiles for place in (row.place, row.owner)]
    return (place for place in found if place is not None)


def _imported(files: set[Path], root: Path) -> set[Path]:
    folders = tuple(folder for top in (Path.cwd(), root) for folder in (top, top / "src"))
    found: set[Path] = set()
    for file in files:
        try:
            found |= imported_files(module_of_file(file), folders)
        except GbfixError:  # no module by its name; nothing is imported from it that a run would not show
            continue
    return {path for path in found if is_own(path, root)}
