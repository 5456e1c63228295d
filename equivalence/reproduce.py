"""The script that shows a difference: both versions, the arguments, and a look at what differs. It needs only torch."""

from __future__ import annotations

import ast
import difflib
import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from gbfix.equivalence import script_parts
from gbfix.equivalence.example import Example
from gbfix.equivalence.gradients import cotangent
from gbfix.equivalence.model import Difference, Job, Mode, Parameter, Target
from gbfix.equivalence.recipes import call_text
from gbfix.equivalence.script_call import arguments_text, show_text
from gbfix.equivalence.script_look import look_at
from gbfix.equivalence.script_text import as_literal, as_paragraph

_LONG = 400
"""Lines of source from which on a reader is better served by what changed; the texts then stand at the end."""

_IMPORTS = (
    "from __future__ import annotations",
    "",
    "import difflib",
    "import hashlib",
    "import importlib",
    "import importlib.util",
    "import inspect",
    "import io",
    "import itertools",
    "import logging",
    "import multiprocessing",
    "import os",
    "import random",
    "import re",
    "import sys",
    "import tempfile",
    "import warnings",
    "from collections.abc import Callable, Iterator",
    "from importlib.machinery import ModuleSpec",
    "from pathlib import Path",
    "from types import ModuleType",
    "from typing import Any",
    "",
    "import torch",
)

_MAIN = '''\
def run(version: str, files: dict[str, str]) -> list[str]:
    """What a version shows when it is called in a process of its own."""
    print(f"--- {version}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        process = multiprocessing.Process(target=report, args=(files, Path(folder)))
        process.start()
        process.join(SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
            return [f"does not end within {SECONDS} seconds"]
        if not Path(folder, "report.txt").exists():
            return [f"the process ends with status {process.exitcode}"]
        return Path(folder, "report.txt").read_text(encoding="utf-8").splitlines()


def report(files: dict[str, str], folder: Path) -> None:
    lines = show(files, folder)
    Path(folder, "report.txt").write_text("\\n".join(lines), encoding="utf-8", errors="backslashreplace")


def main() -> None:
    original, rewritten = run("original", ORIGINAL), run("rewritten", REWRITTEN)
    different = list(difflib.unified_diff(original, rewritten, "original", "rewritten", lineterm="", n=2))
    print("\\n".join(different[:80] or ["the versions do not differ here:", *original[:80]]))
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
'''


def program(job: Job, example: Example, difference: Difference, parameters: Sequence[Parameter] = ()) -> str:
    """A script that calls both versions with an example, prints what the difference is about, and ends with status 1.

    With status 0 it ends when the versions do not differ in that. parameters: of the target, without which arguments
    are passed by keyword. Modules of the program that are the same in both versions are imported from where they are.
    """
    original, rewritten = _files(job, job.original), _files(job, job.rewritten)
    needs_project = _needs_project(job, original, rewritten)
    sources = "\n\n".join(
        f"{name} = {{\n{_entries(files)}}}" for name, files in (("ORIGINAL", original), ("REWRITTEN", rewritten))
    )
    is_long = sum(text.count("\n") for text in original.values()) >= _LONG
    sections = [
        _changes(original, rewritten) + sources if not is_long else _changes(original, rewritten, "#").rstrip(),
        _constants(job, needs_project),
        arguments_text(example, parameters, job.settings.device),
        show_text(job, example, difference, needs_project),
        *map(_source, _parts_for(difference)),
        sources if is_long else "",
        _MAIN,
    ]
    body = "\n\n\n".join(section.strip("\n") for section in sections if section.strip())
    return f"{_docstring(job, example, difference)}\n\n{_imports(body)}\n\n{body}\n"


# -- texts of both versions ----------------------------------------------------------------------


def _files(job: Job, texts: Mapping[str, str]) -> dict[str, str]:
    """Texts by the path that leads to the module, in order."""
    return {_path(job.target, file): text for file, text in sorted(texts.items())}


def _path(target: Target, file: str) -> str:
    if file == target.file:
        path = target.module.replace(".", "/")
        return f"{path}/__init__.py" if os.path.basename(file) == "__init__.py" else f"{path}.py"
    path = os.path.relpath(file, target.search).replace(os.sep, "/")
    return os.path.basename(file) if path.startswith("..") else path


def _entries(files: Mapping[str, str]) -> str:
    return "".join(f"    {path!r}: {as_literal(text)},\n".replace("'", '"', 2) for path, text in files.items())


def _changes(original: Mapping[str, str], rewritten: Mapping[str, str], mark: str = "") -> str:
    """The difference of the texts as a comment; empty without a mark."""
    if not mark:
        return ""
    lines: list[str] = []
    for path in dict.fromkeys([*original, *rewritten]):
        texts = original.get(path, "").splitlines(), rewritten.get(path, "").splitlines()
        lines += difflib.unified_diff(*texts, f"original/{path}", f"rewritten/{path}", lineterm="")
    return "".join(f"{mark}{line}".rstrip() + "\n" for line in lines)


def _needs_project(job: Job, original: Mapping[str, str], rewritten: Mapping[str, str]) -> bool:
    """Whether other modules of the program are imported."""
    whole = _path(job.target, job.target.file) in original and original.keys() == rewritten.keys()
    return not whole or "." in job.target.module or any(_is_beside(job, name) for name in _imported(job))


def _imported(job: Job) -> Iterator[str]:
    for text in (*job.original.values(), *job.rewritten.values()):
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                yield from (each.name.partition(".")[0] for each in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield (node.module or "").partition(".")[0]


def _is_beside(job: Job, name: str) -> bool:
    folder = Path(job.target.search)
    place = next((each for each in (folder / f"{name}.py", folder / name) if each.exists()), None)
    return bool(name) and place is not None and str(place) not in job.original


def _constants(job: Job, needs_project: bool) -> str:
    lines = [f"SECONDS = {max(60, round(2 * job.settings.call_seconds))}"]
    if needs_project:
        lines.append(f'PROJECT = {job.target.search!r}\n"""Where the other modules of the program are."""')
    return "\n".join(lines)


# -- putting it together -------------------------------------------------------------------------


def _parts_for(difference: Difference) -> tuple[Callable[..., object], ...]:
    """What a script needs of `script_parts` and `gradients`, in the order in which a reader meets it."""
    used = "".join(look_at(difference))
    needed: tuple[Callable[..., Any], ...] = (
        script_parts.parts,
        script_parts.value_lines,
        script_parts.strides,
        script_parts.memory,
        cotangent,
        script_parts.random_lines,
        script_parts.mode_lines,
        script_parts.Messages,
    )
    found: list[Callable[..., object]] = [each for each in needed if re.search(rf"\b{each.__name__}\(", used)]
    if script_parts.Messages in found:
        found.append(script_parts.Stream)
    always = (
        script_parts.exception_text,
        script_parts.seed_generators,
        script_parts.compile_as,
        script_parts.Finder,
    )
    return (*found, *always)


def _source(part: Callable[..., object]) -> str:
    return re.sub(r"  # (?:noqa|type: ignore).*$", "", inspect.getsource(part), flags=re.M)


def _imports(body: str) -> str:
    """The import statements for the names that a text uses."""
    lines = []
    for line in _IMPORTS:
        module, _, names = line.partition(" import ") if line.startswith("from") else ("", "", "")
        if line in ("", "import torch", _IMPORTS[0]):
            lines.append(line)
        elif names:
            used = [name for name in names.split(", ") if re.search(rf"\b{name}\b", body)]
            lines += [f"{module} import {', '.join(used)}"] if used else []
        elif re.search(rf"\b{re.escape(line.removeprefix('import '))}\.", body):
            lines.append(line)
    return "\n".join(lines)


def _docstring(job: Job, example: Example, difference: Difference) -> str:
    compiled = f", compiled with the backend {job.settings.backend}" if difference.mode is Mode.COMPILED else ""
    text = f"""\
Two versions of {job.target.name} differ in this: {difference.aspect}, {difference.where}{compiled}

    original:  {as_paragraph(difference.original)}
    rewritten: {as_paragraph(difference.rewritten)}

Called with {as_paragraph(call_text(example))}
"""
    if example.given is not None:
        text += f"These arguments came from {job.inputs or 'the inputs given'}, with seed {job.settings.seed}.\n"
    text += f"""
Run it with Python and PyTorch (it was written with {torch.__version__}). It calls each version in a process of its own,
prints how they differ, and ends with status 1; with status 0 when they do not differ in this here.
"""
    return f'r"""{text.replace(chr(34) * 3, chr(39) * 3)}"""'
