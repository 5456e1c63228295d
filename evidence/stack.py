"""Stacks as Dynamo prints them, and whose code a frame is.

The rule for "outside PyTorch and the standard library" is the one by which a break gets its place; it works by
patterns, so that it holds for paths of another machine as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

_FRAME = re.compile(r'^\s*File "(?P<file>.+?)", line (?P<line>\d+), in (?P<function>.+?)\s*$')
_ONLY_MARKS = re.compile(r"^[\s^~]*$")
_PACKAGES = re.compile(r"/(?:site|dist)-packages/(?P<inside>.*)$")
_STANDARD_LIBRARY = re.compile(
    r"/python3\.\d+t?/"  # lib/python3.11/, also of a framework or an environment manager
    r"|/python3\d+/lib/"  # Windows: Python311\Lib\, compared in lower case
    r"|^[a-z]:/.*/(?:mini|ana)conda3?/(?:envs/[^/]+/)?lib/"
    r"|/python3\d+\.zip/"
)
_OVERLAY = "/.gbfix/overlay/"  # a rewritten copy: no file of the project to edit
_TORCH_SOURCES = re.compile(r"/pytorch/torch/|/torch/_dynamo/")
_RESUMED = re.compile(r"^torch_dynamo_resume_in_(?P<function>.+)_at_(?P<line>\d+)$")


class Origin(str, Enum):
    """Whose code a frame is. elsewhere: in no package folder and not under the root, such as on another machine."""

    TORCH = "torch"
    STANDARD_LIBRARY = "standard library"
    LIBRARY = "library"
    PROJECT = "project"
    ELSEWHERE = "elsewhere"
    GENERATED = "generated"


FOUNDATIONS = frozenset({Origin.TORCH, Origin.STANDARD_LIBRARY, Origin.GENERATED})
"""Code that is never the place of a break, and that nobody rewrites."""


@dataclass(frozen=True)
class StackFrame:
    """One frame; source is its line of source as printed, empty when it was not."""

    file: str
    line: int
    function: str
    source: str = ""


def read_stack(text: str) -> tuple[StackFrame, ...]:
    """The frames in a text, the outermost first, as `traceback.format_list` prints them."""
    lines = text.splitlines()
    frames = []
    for number, line in enumerate(lines):
        if not (found := _FRAME.match(line)):
            continue
        following = lines[number + 1] if number + 1 < len(lines) else ""
        is_source = _indent(following) > _indent(line) and not _ONLY_MARKS.match(following)
        source = following.strip() if is_source and not _FRAME.match(following) else ""
        frames.append(StackFrame(found["file"], int(found["line"]), plain_function(found["function"]), source))
    return tuple(frames)


def resumed(function: str) -> tuple[str, int] | None:
    """The function that a resume function continues, and the line after which it does; None for any other name."""
    found = _RESUMED.match(function)
    return (found["function"], int(found["line"])) if found else None


def plain_function(function: str) -> str:
    """The name as the user wrote it, for a resume function as well."""
    continued = resumed(function)
    return continued[0] if continued else function


def origin(file: str, root: str) -> Origin:
    """Whose code a file is, given the folder of the project (absolute, or empty when there is none).

    A virtual environment inside the project is not the project; a project inside a package folder is.
    """
    path = file.replace("\\", "/")
    if path.startswith("<"):
        return Origin.GENERATED
    inside = _below(path, root.replace("\\", "/").rstrip("/"))
    known = _package(f"/{inside}" if inside is not None else path)
    if known is not None:
        return known
    return Origin.PROJECT if inside is not None else Origin.ELSEWHERE


def innermost(frames: Sequence[StackFrame], root: str) -> StackFrame | None:
    """The innermost frame outside PyTorch, the standard library and generated code; None when there is none."""
    return next((frame for frame in reversed(frames) if origin(frame.file, root) not in FOUNDATIONS), None)


def innermost_in_project(frames: Sequence[StackFrame], root: str) -> StackFrame | None:
    """The innermost frame of the project; in a trace of another machine, of code that is no installed package."""
    for wanted in (Origin.PROJECT, Origin.ELSEWHERE):
        found = next((frame for frame in reversed(frames) if origin(frame.file, root) is wanted), None)
        if found is not None:
            return found
    return None


def without_torch(frames: Iterable[StackFrame], root: str) -> tuple[StackFrame, ...]:
    """The frames that tell a reader something: none of PyTorch's machinery and of generated code."""
    return tuple(frame for frame in frames if origin(frame.file, root) not in (Origin.TORCH, Origin.GENERATED))


def _package(path: str) -> Origin | None:
    if _OVERLAY in path:
        return Origin.LIBRARY
    if found := _PACKAGES.search(path):
        return Origin.TORCH if found["inside"].startswith("torch/") else Origin.LIBRARY
    if _TORCH_SOURCES.search(path):
        return Origin.TORCH
    return Origin.STANDARD_LIBRARY if _STANDARD_LIBRARY.search(path.lower()) else None


def _below(path: str, root: str) -> str | None:
    return path[len(root) + 1 :] if root and path.startswith(root + "/") else None


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
