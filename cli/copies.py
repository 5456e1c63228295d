"""Bringing a run's results to the overlay: `gbfix apply --overlay`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from gbfix.cli.names import shown_name
from gbfix.cli.outcome import FileOutcome, Outcome
from gbfix.engine.atomic import Rewrite
from gbfix.engine.files import encode_source
from gbfix.engine.model import ConfigurationError
from gbfix.engine.paths import printable
from gbfix.evidence.overlay import OverlayChange, no_overlay_reason, overlay_folder, write_overlay


def check_overlay_options(paths: Sequence[str] | None, *, dry_run: bool, patch: Path | None) -> None:
    """Raise ConfigurationError for what cannot be given together with --overlay."""
    if dry_run or patch is not None:
        other = "--dry-run" if dry_run else "--patch"
        raise ConfigurationError(f"--overlay writes copies and {other} writes none; give one of them")
    if "-" in (paths or ()):
        raise ConfigurationError('--overlay needs files, so "-" (standard input) cannot be given with it')


def write_copies(outcome: Outcome, root: Path) -> tuple[Outcome, str | None]:
    """Write every changed file's copy into the overlay of a project; gives the outcome, and where the copies are.

    Files that cannot be overlaid become problems of the outcome. A file without a fix loses the copy that it had.
    Raises WriteError.
    """
    reasons = {file.source.path: no_overlay_reason(file.source.path) for file in outcome.files if file.changed}
    refused = {path: f"{printable(path)}: {reason}" for path, reason in reasons.items() if reason}
    files = tuple(file for file in outcome.files if file.source.path not in refused)
    change = write_overlay(
        root,
        [_rewrite(file) for file in files if file.changed],
        without=[file.source.path for file in files if not file.changed],
    )
    kept = replace(outcome, files=files, problems=(*outcome.problems, *refused.values()))
    return kept, _hint(change, overlay_folder(root))


def _rewrite(file: FileOutcome) -> Rewrite:
    source = file.source
    real = Path(os.path.realpath(source.path))
    return Rewrite(real, encode_source(source, source.text), encode_source(source, file.after))


def _hint(change: OverlayChange, folder: Path) -> str | None:
    lines = [f"copy: {shown_name(copy)}" for copy in change.copies.values()]
    lines += [
        f"no copy any more: {shown_name(original)} (no fix for it was applied now)" for original in change.removed
    ]
    if change.copies:
        lines.append(
            "the files themselves are untouched; `gbfix run -- CMD` runs a program with the copies in their place, "
            f"and removing {shown_name(folder)} drops them"
        )
    return "\n".join(lines) or None
