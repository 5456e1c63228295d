"""TORCH_TRACE files as the notes of a journal, so that one reader serves both.

torch.compile writes one file for each process: lines with a glog prefix and the metadata of a record as JSON; the
payload follows in lines that begin with a tab (torch 2.6 to 2.14). File names of stacks are numbers which records
"str" explain. There are no columns, no calls and no values in such files.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gbfix.engine.model import GbfixError
from gbfix.engine.paths import printable
from gbfix.evidence.cut_off import ends_with_a_line
from gbfix.evidence.records import Note
from gbfix.evidence.trace_records import ARTIFACTS

_LINE = re.compile(
    r"^(?:\[rank(?P<rank>\d+)\]:)?[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ +(?P<pid>\d+) +(?:\S+ )?\S+:\d+\]"
    r" ?(?P<metadata>\{.*)$"
)
_BEGINNING = 8192
_RECORDS = ("dynamo_start", "dynamo_output_graph", "compilation_metrics", "str")
_RANK = re.compile(r"(?:^|_)rank_(\d+)(?:_|\.|$)")


def read_torch_trace(path: Path) -> Iterator[Note]:
    """The notes in a trace file, or in every trace file of a folder and of those below it.

    A process begins with a note "process" and ends with "end" unless the file was cut off, since such a file does not
    tell how its process ended.
    Raises GbfixError for a file without a single record, and for a folder in which there is no file with one.
    """
    if not path.is_dir():
        yield from _file(path)
        return
    read_one = False
    for file in sorted(each for each in path.rglob("*") if each.is_file() and not _is_binary(each)):
        try:
            yield from _file(file)
            read_one = True
        except GbfixError:
            continue
    if not read_one:
        raise GbfixError(
            f"{printable(path)}: no TORCH_TRACE file is in this folder; run the program with TORCH_TRACE=FOLDER"
        )


def _is_binary(path: Path) -> bool:
    """True for a file that is no text, such as a checkpoint: it may be large, and would be read to its end in vain."""
    try:
        with path.open("rb") as file:
            return b"\0" in file.read(_BEGINNING)
    except OSError:
        return False


def _file(path: Path) -> Iterator[Note]:
    rank = _rank_of_name(path)
    begun = False
    for pid, line_rank, metadata, payload in _records(path):
        if not begun:
            begun = True
            found = metadata.get("rank", line_rank)
            rank = rank if rank is not None else found if isinstance(found, int) else None
            yield {"kind": "process", "pid": pid, "rank": rank}
        name = _artifact(metadata)
        if name == "torch_version":
            if version := _version(payload):
                yield {"kind": "torch", "version": version, "settings": {}}
        elif name in ARTIFACTS or any(record in metadata for record in _RECORDS):
            yield {"kind": "trace", "metadata": metadata, "payload": payload}
    if not begun:
        raise GbfixError(f"{printable(path)}: no record of TORCH_TRACE is in this file")
    if ends_with_a_line(path):
        yield {"kind": "end"}
    else:
        yield {"kind": "problem", "message": f"{printable(path)}: was cut off, so that the last record is lost"}


def _records(path: Path) -> Iterator[tuple[int, int | None, dict[str, Any], str | None]]:
    """The records of a file; one whose metadata were cut off is left out, a payload that was cut off is kept."""
    header: tuple[int, int | None, dict[str, Any]] | None = None
    payload: list[str] = []
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("\t"):
                    if header is not None and _artifact(header[2]) is not None:  # other payloads are graphs and kernels
                        payload.append(line[1:])
                    continue
                if header is not None:
                    yield (*header, _joined(payload))
                header, payload = _header(line), []
    except OSError as error:
        raise GbfixError(f"{printable(path)}: cannot be read: {error.strerror}") from error
    if header is not None:
        yield (*header, _joined(payload))


def _header(line: str) -> tuple[int, int | None, dict[str, Any]] | None:
    found = _LINE.match(line.rstrip("\n"))
    if found is None:
        return None
    try:
        metadata = json.loads(found["metadata"])
    except (ValueError, RecursionError):
        return None
    rank = int(found["rank"]) if found["rank"] else None
    return (int(found["pid"]), rank, metadata) if isinstance(metadata, dict) else None


def _artifact(metadata: dict[str, Any]) -> str | None:
    artifact = metadata.get("artifact")
    return str(artifact.get("name")) if isinstance(artifact, dict) else None


def _joined(payload: list[str]) -> str | None:
    return "".join(payload).rstrip("\n") if payload else None


def _rank_of_name(path: Path) -> int | None:
    found = _RANK.search(path.name)
    return int(found[1]) if found else None


def _version(payload: str | None) -> str:
    try:
        return str(json.loads(payload or "").get("pytorch_version") or "")
    except (ValueError, AttributeError):
        return ""
