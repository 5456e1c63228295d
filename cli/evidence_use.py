"""What `gbfix apply` takes from a run: the observations about the files it works on, when they are still right."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path

from gbfix.analysis.observations import Observation
from gbfix.analysis.observed import Observed, by_line
from gbfix.cli.evidence_recompiles import recompiles_by_file
from gbfix.cli.evidence_target import project_root
from gbfix.cli.inputs import Inputs
from gbfix.cli.names import STDIN, display_name
from gbfix.cli.seen import NOTHING_SEEN, Seen
from gbfix.engine.dataclass import dataclass
from gbfix.engine.files import SourceText, encode_source
from gbfix.engine.model import ConfigurationError, GbfixError
from gbfix.evidence.fake import FakeOperations
from gbfix.evidence.hashes import CHANGED
from gbfix.evidence.model import Change, Evidence
from gbfix.evidence.places import Places
from gbfix.evidence.store import find_evidence, load_evidence


@dataclass(frozen=True)
class UsedEvidence:
    """What rules may take from a run, and what the user should know about it. recorded: all that the run showed."""

    seen: Seen = NOTHING_SEEN
    recorded: Evidence | None = None
    notes: tuple[str, ...] = ()


def evidence_for(inputs: Inputs, wanted: Path | None, *, ignored: bool) -> UsedEvidence:
    """The evidence in the file that was named, else in .gbfix/evidence.json at the project root when there is one.

    Raises GbfixError when a named file cannot be used; one that nobody named is left out then, with a note.
    Raises ConfigurationError when a file is named and evidence is to be ignored.
    """
    if ignored:
        if wanted is not None:
            raise ConfigurationError("--evidence and --no-evidence exclude each other; leave one of them out")
        return UsedEvidence()
    path = wanted or Path(display_name(find_evidence(project_root())))
    if wanted is None and not path.exists():
        return UsedEvidence()
    try:
        evidence = load_evidence(path)
    except GbfixError as error:
        if wanted is not None:
            raise
        return UsedEvidence(notes=(f"evidence is not used: {error}",))
    return used(evidence, inputs, display_name(path))


def used(evidence: Evidence, inputs: Inputs, document: str) -> UsedEvidence:
    """What the evidence says about the inputs; a file that changed since the run gets none, with a note."""
    by_file = _observations_by_file(evidence)
    compiled_again = {row.place.file for row in evidence.recompiles}
    places = Places(Path(evidence.root))
    observed: dict[str, Mapping[int, Observed]] = {}
    names: dict[str, str] = {}
    notes = []
    for source in inputs.sources:
        file = "" if source.path == STDIN else places.file(os.path.realpath(source.path))
        name = display_name(source.path)
        if not is_changed(source, evidence.hashes.get(file, CHANGED)):
            names[file] = name
        elif file in by_file or file in compiled_again:
            notes.append(f"{name} changed since {document} was recorded: it is not used; run `gbfix trace` again")
            continue
        if file in by_file:
            lines = (
                [place.line for place in kept if place.file == file]
                for kept in (evidence.settled, evidence.behind, evidence.in_python)
            )
            observed[name] = by_line(by_file[file], *lines)
    recompiles = recompiles_by_file(evidence, names)
    used_files = observed.keys() | (recompiles.keys() & set(names.values()))
    if used_files:
        files = f"{len(used_files)} file{'' if len(used_files) == 1 else 's'}"
        ended = "" if evidence.complete else "; that run did not end in order, so it may have missed values"
        notes.insert(0, f"using what a run showed of {files}, from {document}{ended}")
    changes = None if evidence.changes is None else tuple(_told(change) for change in evidence.changes)
    seen = Seen(observed, FakeOperations(), recompiles, changes, document)
    return UsedEvidence(seen, evidence, tuple(notes))


def is_changed(source: SourceText, known: str | None) -> bool:
    """Whether a text is another one than a run had; known: the SHA-256 of that, None when nobody knows."""
    return known is not None and hashlib.sha256(encode_source(source, source.text)).hexdigest() != known


def _told(change: Change) -> str:
    return f"{change.change} in {change.place.function}"


def _observations_by_file(evidence: Evidence) -> dict[str, list[Observation]]:
    """The observations, without the lines that also ran unseen: what was seen there does not cover the run."""
    unseen = {(place.file, place.line) for place in evidence.unwatched}
    found: dict[str, list[Observation]] = {}
    for observation in evidence.observations:
        if (observation.file, observation.line) not in unseen:
            found.setdefault(observation.file, []).append(observation)
    for entry in evidence.entries:
        place = entry.defined
        # Of a function that breaks in its first statement nothing else may be known than that it is compiled.
        if place is not None and all(one.line != place.line for one in found.get(place.file, ())):
            known = Observation(place.file, place.line, entry.function, count=entry.calls)
            found.setdefault(place.file, []).append(known)
    return found
