"""Where the files of evidence are on this machine, and whose they are."""

from __future__ import annotations

from pathlib import Path

from gbfix.engine.model import GbfixError
from gbfix.evidence.model import Evidence, Place
from gbfix.evidence.overlay import overlay_folder, read_overlay
from gbfix.evidence.places import Places
from gbfix.evidence.stack import FOUNDATIONS, Origin


def absolute_path(evidence: Evidence, file: str) -> Path:
    """The file of a place on this machine."""
    return Places(Path(evidence.root)).path(file)


def original_of(evidence: Evidence, path: Path) -> Path | None:
    """The file that a copy in the overlay stands for; None for any other file."""
    folder = overlay_folder(Path(evidence.root))
    if not path.is_relative_to(folder):
        return None
    try:
        files = read_overlay(folder)
    except GbfixError:  # the overlay was dropped since
        return None
    return next((Path(file.original) for file in files if folder / file.copy == path), None)


def is_library(evidence: Evidence, place: Place) -> bool:
    """True for a file of an installed package, which is overlaid rather than edited."""
    return Places(Path(evidence.root)).origin(place.file) is Origin.LIBRARY


def is_pytorch(evidence: Evidence, place: Place) -> bool:
    """True for code of PyTorch itself, such as the wrapper that torch.no_grad() puts around a function."""
    return Places(Path(evidence.root)).origin(place.file) is Origin.TORCH


def files_of(evidence: Evidence) -> tuple[str, ...]:
    """The files that breaks stand in or were called from, and those of the compiled functions, sorted.

    Those of PyTorch and of the standard library are left out: nobody rewrites them.
    """
    places = [place for site in evidence.breaks for place in (site.place, site.project, *site.stack)]
    places += [place for entry in evidence.entries for place in (entry.defined, entry.compiled_at)]
    names = Places(Path(evidence.root))
    files = {place.file for place in places if place is not None}
    return tuple(sorted(file for file in files if names.origin(file) not in FOUNDATIONS))
