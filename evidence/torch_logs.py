"""Saved text of TORCH_LOGS="graph_breaks,recompiles", or of an exception of torch.compile, as the notes of a journal.

torch 2.6 to 2.14 begin every line with a prefix: level, date, time, process, place in torch, compile id and name of
the log; in a distributed run with the rank before it. Other lines may stand between. The text of an exception that
Dynamo raised has no prefix: its message, then "from user code:" with the stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from gbfix.engine.model import GbfixError
from gbfix.engine.paths import printable
from gbfix.evidence.records import Note

_PREFIX = re.compile(
    r"^(?:\[rank(?P<rank>\d+)\]:)?[VIWEC]\d{4} \d\d:\d\d:\d\d\.\d+ +(?P<pid>\d+) +(?P<place>\S+:\d+)\]"
    r"(?: \[(?P<frame>\d+)/(?P<compilation>\d+)(?:_(?P<attempt>\d+))?\])?"
    r"(?: \[__(?P<log>\w+)\])?(?: (?P<text>.*))?$"
)
_BREAK_BEGINS = re.compile(r"^Graph break(?::| in user code| \(user stack suppressed)")
_BREAK_PLACE = re.compile(r"^Graph break (?P<suppressed>\(user stack suppressed.*?\) )?in user code at (?P<place>.*)$")
_STACK = "User code traceback:"
_RECOMPILE_BEGINS = re.compile(r"^Recompiling function (?P<function>.+) in (?P<file>.+):(?P<line>\d+)$")
_RECOMPILE_REASON = re.compile(r"^\s*-? ?(?P<reason>\d+/\d+: .*)$")
_NEXT_REASON = re.compile(r"^\s*guard \d+ failures:$")
_LIMIT_BEGINS = re.compile(r"^torch\._dynamo hit config\.(?:accumulated_)?(?:recompile_limit|cache_size_limit)")
_LIMIT_FUNCTION = re.compile(r"^\s*function: '(?P<function>.+)' \((?P<file>.+):(?P<line>\d+)\)")
_LIMIT_REASON = re.compile(r"^\s*last reason: (?P<reason>\d+/\d+: .*)$")
"""The newest reason; the only one in a log that was not asked for recompilations."""
_BEGINS = {
    "graph_breaks": _BREAK_BEGINS,
    "recompiles": _RECOMPILE_BEGINS,
    "recompiles_verbose": _RECOMPILE_BEGINS,
    "": _LIMIT_BEGINS,
}
"""How the messages of each log begin that matter here; "" is the log of Dynamo's warnings."""
_EXCEPTION = re.compile(
    r"^(?:torch\._dynamo\.exc\.)?(?P<type>Unsupported|UserError|TorchRuntimeError|InternalTorchDynamoError"
    r"|UncapturedHigherOrderOpError): (?P<text>.*)$"
)
_EXCEPTION_ENDS = re.compile(r"^Set TORCHDYNAMO_VERBOSE=1|^Traceback \(most recent call last\)")


@dataclass
class _Message:
    """Consecutive lines of one log message."""

    process: tuple[int, int | None]
    compile_id: tuple[int, int] | None
    lines: list[str] = field(default_factory=list)


def read_torch_logs(path: Path) -> Iterator[Note]:
    """The notes in a saved log, process by process. Raises GbfixError, which names the file, when it holds none."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError as error:
        raise GbfixError(f"{printable(path)}: cannot be read: {error.strerror}") from error
    notes: dict[tuple[int, int | None], list[Note]] = {}
    stacks: dict[str, str] = {}
    for message in _messages(lines):
        _complete(message, stacks)
        notes.setdefault(message.process, []).extend(_notes(message))
    if plain := list(_exceptions(lines)):
        notes.setdefault((0, None), []).extend(plain)
    if not any(notes.values()):
        raise GbfixError(
            f"{printable(path)}: holds no graph break and no recompilation; save the output of the program run with "
            'TORCH_LOGS="graph_breaks,recompiles", or run it with TORCH_TRACE=FOLDER'
        )
    for (pid, rank), its_notes in notes.items():
        yield {"kind": "process", "pid": pid, "rank": rank}
        yield from its_notes
        yield {"kind": "end"}


def _messages(lines: list[str]) -> Iterator[_Message]:
    """The log messages; those of several processes may be mixed, so that each has its own current one."""
    current: dict[tuple[int, int | None, str], _Message] = {}
    for line in lines:
        found = _PREFIX.match(line)
        if found is None:
            continue
        rank = int(found["rank"]) if found["rank"] else None
        process = (int(found["pid"]), rank)
        compile_id = (int(found["frame"]), int(found["compilation"])) if found["frame"] else None
        text, log = found["text"] or "", found["log"] or ""
        key = (*process, log)
        if log in _BEGINS and _BEGINS[log].match(text):
            if key in current:
                yield current[key]
            current[key] = _Message(process, compile_id)
        if key in current:
            current[key].lines.append(text)
    yield from current.values()


def _complete(message: _Message, stacks: dict[str, str]) -> None:
    """Give a repeated graph break the stack of its first report, which the log leaves out.

    The first report of the same innermost line is taken: which functions stood around it is not known then.
    """
    if (found := _BREAK_PLACE.match(message.lines[0])) is None:
        return
    text = "\n".join(message.lines)
    if found["suppressed"] is None:
        _, marker, stack = text.partition(_STACK)
        stacks.setdefault(found["place"], marker + stack)
    else:
        message.lines += ["", *stacks.get(found["place"], "").splitlines()]


def _notes(message: _Message) -> Iterator[Note]:
    frame, compilation = message.compile_id or (0, 0)
    identity = {"frame_id": frame, "frame_compile_id": compilation}
    first = message.lines[0]
    if _BREAK_BEGINS.match(first):
        yield _trace({"artifact": {"name": "dynamo_graph_break_reason"}, **identity}, "\n".join(message.lines))
    elif (begins := _RECOMPILE_BEGINS.match(first)) is not None:
        yield _trace({"artifact": {"name": "recompile_reasons"}, **identity}, _newest_reason(message.lines[1:]))
        code = {"name": begins["function"], "filename": begins["file"], "line": int(begins["line"])}
        yield _trace({"dynamo_start": {"stack": [code]}, **identity}, None)
    elif _LIMIT_BEGINS.match(first):
        if (reason := next(filter(None, map(_LIMIT_REASON.match, message.lines)), None)) is not None:
            yield _trace({"artifact": {"name": "recompile_reasons"}, **identity}, reason["reason"])
        metrics: dict[str, object] = {"fail_type": "Unsupported", "fail_reason": first}
        if (named := next(filter(None, map(_LIMIT_FUNCTION.match, message.lines)), None)) is not None:
            metrics.update(co_name=named["function"], co_filename=named["file"], co_firstlineno=int(named["line"]))
        yield _trace({"compilation_metrics": metrics, **identity}, None)


def _newest_reason(lines: list[str]) -> str:
    """The first reason with the lines that belong to it, such as its user stack."""
    taken: list[str] = []
    for line in lines:
        if taken and (_RECOMPILE_REASON.match(line) or _NEXT_REASON.match(line)):
            break
        if taken or _RECOMPILE_REASON.match(line):
            taken.append(re.sub(r"^ {4}- ?", "", line))
    return "\n".join(taken)


def _exceptions(lines: list[str]) -> Iterator[Note]:
    """Exceptions in the text: a failed frame each, with its message and the stack after "from user code:"."""
    number = 0
    for start, line in enumerate(lines):
        found = _EXCEPTION.match(line)
        if found is None:
            continue
        end = next(
            (n for n in range(start + 1, len(lines)) if _EXCEPTION_ENDS.match(lines[n]) or _PREFIX.match(lines[n])),
            len(lines),
        )
        text = "\n".join([found["text"], *lines[start + 1 : end]])
        identity = {"frame_id": -1 - number, "frame_compile_id": 0}
        number += 1
        reason, marker, _ = text.partition("\nfrom user code:")
        if marker:
            yield _trace({"artifact": {"name": "dynamo_error"}, **identity}, text)
            metrics = {"fail_type": found["type"], "fail_reason": reason.strip()}
            yield _trace({"compilation_metrics": metrics, **identity}, None)


def _trace(metadata: dict[str, object], payload: str | None) -> Note:
    return {"kind": "trace", "metadata": metadata, "payload": payload}
