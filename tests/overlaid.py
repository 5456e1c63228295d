"""A project with an overlay, and programs that run with it, for the tests of the overlay."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cli_project import Done

from gbfix.engine.atomic import Rewrite
from gbfix.evidence.journal import read_journal
from gbfix.evidence.overlay import MANIFEST, overlay_folder, write_overlay

BOOTSTRAP = Path(__file__).parent.parent / "evidence" / "bootstrap"


@dataclass(frozen=True)
class Overlaid:
    """A project's root. Libraries go to `site-packages/` in it, which is on the path of its programs."""

    root: Path
    search: list[Path] = field(default_factory=list)

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def overlay(self, *names: str, change: Callable[[bytes], bytes] | None = None) -> list[Path]:
        """Put copies into the overlay that say "copy" where the file says "original", two lines further down."""
        rewrites = []
        for name in names:
            path = Path(os.path.realpath(self.root / name))
            before = path.read_bytes()
            after = change(before) if change else b"# rewritten\n\n" + before.replace(b"original", b"copy")
            rewrites.append(Rewrite(path, before, after))
        return list(write_overlay(self.root, rewrites).copies.values())

    def python(
        self, *words: str, folder: str = ".", interpreter: str = sys.executable, overlay: bool = True, stdin: str = ""
    ) -> Done:
        notes = self.root / "notes"
        notes.mkdir(exist_ok=True)
        libraries = [str(self.root / "site-packages"), *map(str, self.search)]
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPATH": os.pathsep.join(libraries)}
        if overlay:
            environment["PYTHONPATH"] = os.pathsep.join([str(BOOTSTRAP), *libraries])
            environment["GBFIX_OVERLAY"] = str(overlay_folder(self.root) / MANIFEST)
            environment["GBFIX_OVERLAY_NOTES"] = str(notes)
        done = subprocess.run(
            [interpreter, *words],
            cwd=self.root / folder,
            env=environment,
            input=stdin.encode(),
            capture_output=True,
            timeout=120,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def notes(self) -> list[dict[str, Any]]:
        return [note for path in sorted((self.root / "notes").iterdir()) for note in read_journal(path)]

    def loaded(self) -> set[str]:
        """The names of the originals whose copies were loaded."""
        return {os.path.relpath(note["original"], self.root) for note in self.notes() if note["kind"] == "overlay"}


def lines(done: Done) -> Sequence[str]:
    assert done.code == 0, done.err
    return done.out.splitlines()
