"""Tells what ran in a compiled call before Dynamo came to a line: nothing but what it traced, or maybe more.

Where a graph breaks within an inlined call, Dynamo runs the callers up to that call and then traces what is called as
a frame of its own. Up to there only what was traced has run, if the functions that still run are those that were
inlined when the line was first reached. A function that goes on behind a break has the name of a resume function, and
one that is given up runs its own code object: both may have done anything before, as often as they like.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from types import CodeType, FrameType

from gbfix.evidence import entries
from gbfix.evidence.stack import resumed

BEHIND = "behind"
IN_PYTHON = "in Python"
_REPEATING = re.compile(
    r"\b(map|filter|filterfalse|sorted|sort|min|max|any|all|sum|reduce|accumulate|starmap|groupby|takewhile|dropwhile"
    r"|tree_map\w*|apply\w*|vmap|sub)\s*\("
)
"""Calls of what may call a function several times, in the source of the call that leads to it."""
_MODULE_CALL = "/torch/nn/modules/module.py"
_CALLING = (
    *("/torch/_dynamo/", _MODULE_CALL, "/torch/_utils_internal.py", "/torch/utils/_contextlib.py"),
    *("/contextlib.py", "/functools.py", os.path.dirname(__file__).replace(os.sep, "/") + "/", "/gbfix/evidence/"),
)
"""Files whose frames only stand between a function that runs and what it calls, while Dynamo compiles that."""

_Key = tuple[str, int, str]


class Begun:
    """What is known of the functions of one process that Dynamo traced."""

    def __init__(self) -> None:
        self._traced: dict[_Key, CodeType] = {}
        self._changing: set[_Key] = set()
        self._chains: dict[tuple[str, int], set[tuple[_Key, ...]]] = {}

    def trace(self, code: CodeType) -> None:
        """Note that the frame of a function is traced."""
        self._traced[_key(code)] = code

    def changes(self, code: CodeType) -> None:
        """Note that what was traced of a function changes what outlives it."""
        self._changing.add(_key(code))

    def reached(self, place: tuple[str, int], codes: Iterable[CodeType], calls: Iterable[str], *, changed: bool) -> str:
        """What may have happened in the call before a line: "" for nothing that lasts, else BEHIND or IN_PYTHON.

        codes: of the frame that is traced and those inlined in it, the innermost first. calls: the lines of source with
        the calls that are inlined. changed: this frame has changed something that outlives it.
        """
        frames = entries.frames_of_call()
        running = [] if frames is None else [frame for frame in frames if not _is_calling(frame.f_code)]
        if any(self._is_given_up(frame) for frame in running):
            return IN_PYTHON
        inlined = list(codes)
        chain = tuple(_key(code) for code in reversed([*inlined, *(frame.f_code for frame in running)]))
        changed |= any(_REPEATING.search(call) for call in calls)
        if frames is None or changed or self._changing & set(chain[: len(running)]):
            return BEHIND
        known = self._chains.setdefault(place, set())
        if running:
            return "" if chain in known else BEHIND
        if resumed(inlined[-1].co_name) is not None or any(_may_repeat(code) for code in inlined):
            return BEHIND
        known.add(chain)
        return ""

    def _is_given_up(self, frame: FrameType) -> bool:
        return self._traced.get(_key(frame.f_code), frame.f_code) is frame.f_code


def _is_calling(code: CodeType) -> bool:
    file = code.co_filename.replace(os.sep, "/")
    return any(part in file for part in _CALLING)


def _may_repeat(code: CodeType) -> bool:
    """Whether a comprehension or PyTorch's own code, such as that of a container, may call a function several times."""
    if code.co_name.startswith("<"):
        return True
    file = code.co_filename.replace(os.sep, "/")
    return "/torch/" in file and not file.endswith((_MODULE_CALL, "/torch/utils/_contextlib.py"))


def _key(code: CodeType) -> _Key:
    return (code.co_filename, code.co_firstlineno, code.co_name)
