"""From notes to evidence: everything that one run, or its saved trace, showed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from gbfix.evidence.begun import BEHIND, IN_PYTHON
from gbfix.evidence.breaks import read_breaks
from gbfix.evidence.cut_off import ends_with_a_line
from gbfix.evidence.entered import read_entries
from gbfix.evidence.fragments import read_fragments
from gbfix.evidence.hashes import file_hashes
from gbfix.evidence.journal import SUFFIX, read_journal
from gbfix.evidence.model import Evidence, Place, Process
from gbfix.evidence.observed import read_changes, read_observations, read_reached, read_settled, read_unwatched
from gbfix.evidence.places import Places
from gbfix.evidence.problems import is_complete, read_problems
from gbfix.evidence.recompiles import read_recompiles
from gbfix.evidence.records import Note, Records, collect
from gbfix.evidence.stack import FOUNDATIONS


def journal_notes(folder: Path) -> Iterator[Note]:
    """The notes of every process that wrote a journal into a folder, for `read_evidence`. Raises OSError.

    A process that did not say who it is gets the number in its file's name; a file that ends in the middle of a line
    brings a note "problem".
    """
    for path in sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime_ns):
        first = True
        for note in read_journal(path):
            if first and note["kind"] != "process":
                yield {"kind": "process", "pid": int(path.stem) if path.stem.isdigit() else 0}
            first = False
            yield note
        if not first and not ends_with_a_line(path):
            yield {"kind": "problem", "message": "its notes end in the middle of a line: the last one is lost"}


def read_evidence(
    notes: Iterable[Note],
    *,
    root: Path,
    mode: str = "run",
    command: Sequence[str] = (),
    exit_status: int | None = None,
    copies: Mapping[Path, Path] | None = None,
) -> Evidence:
    """Fold notes into one document; each note "process" begins a process, to which those after it belong.

    root: the folder of the project, to which files in it are relative. mode, command, exit_status: see `Evidence`.
    Files are hashed as they are now, so that this is to be called right after the run. copies: what was run in place of
    files; the notes name the originals (see `gbfix.evidence.copies`), and the evidence is about the text of the copies.
    """
    processes = collect(notes)
    places = Places(root, copies)
    entries = read_entries(processes, places)
    fragments = read_fragments(processes, places)
    breaks = read_breaks(processes, places)
    recompiles = read_recompiles(processes, places)
    observations = read_observations(processes, places)
    unwatched = read_unwatched(processes, places)
    named: list[Place | None] = [fragment.place for fragment in fragments]
    named += [place for entry in entries for place in (entry.defined, entry.compiled_at)]
    named += [place for site in breaks for place in (site.place, site.project, *site.stack)]
    named += [place for row in recompiles for place in (row.place, row.owner)]
    files = {place.file for place in (*named, *unwatched) if place is not None}
    files |= {seen.file for seen in observations}
    return Evidence(
        root=places.root,
        mode=mode,
        command=tuple(command),
        exit_status=exit_status,
        complete=all(is_complete(records) for records in processes),
        problems=read_problems(processes, places, mode),
        processes=tuple(_process(records) for records in processes),
        entries=entries,
        fragments=fragments,
        breaks=breaks,
        recompiles=recompiles,
        observations=observations,
        unwatched=unwatched,
        settled=read_settled(processes, places),
        changes=read_changes(processes, places) if mode == "run" else None,
        behind=read_reached(processes, places, BEHIND),
        in_python=read_reached(processes, places, IN_PYTHON),
        hashes=file_hashes((file for file in files if places.origin(file) not in FOUNDATIONS), places.text),
    )


def _process(records: Records) -> Process:
    note = records.process
    return Process(
        pid=int(note.get("pid") or 0),
        rank=records.rank,
        argv=tuple(str(word) for word in note.get("argv") or ()),
        python=str(note.get("python") or ""),
        torch=records.torch,
        settings=records.settings,
        complete=is_complete(records),
    )
