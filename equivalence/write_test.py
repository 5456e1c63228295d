"""A pytest file that keeps what a check showed: the new function does what the old one did, in so many graphs."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

import jinja2

from gbfix.engine.atomic import write_whole
from gbfix.engine.model import WriteError
from gbfix.engine.paths import printable
from gbfix.equivalence.counted_calls import spelled_out
from gbfix.equivalence.model import CheckError, Counts, Job, Status, Verdict
from gbfix.equivalence.python_text import laid_out
from gbfix.equivalence.written_subject import WrittenSubject, subject_of

WRITTEN_BY = "# Written by `gbfix check --write-test`, which overwrites it; delete this line to keep it."
_TEMPLATE = "written_test.jinja"
_EXAMPLES = 50
_EXAMPLES_WITH_CODE = 20
"""Of a backend that makes code of its own, for which each new kind of arguments costs seconds."""


def test_source(job: Job, verdict: Verdict) -> str:
    """The text of a test file for one target. Raises CheckError, with the reason, where there can be none."""
    return _file_text([_section(job, verdict, set())], "")


test_source.__test__ = False  # type: ignore[attr-defined]  # pytest would run it where it is imported


def write_test(jobs_and_verdicts: Iterable[tuple[Job, Verdict]], file: Path) -> None:
    """Write the tests of some targets into one file, which is replaced when it was written by this function.

    Raises WriteError for a file that was not, or that cannot be written; CheckError for a target whose old version
    cannot be kept, and for one that was not found to be the same. Nothing is written then.
    """
    require_ours(file)
    taken: set[str] = set()
    pairs = list(jobs_and_verdicts)
    sections = [_section(job, verdict, taken) for job, verdict in pairs]
    text = _file_text(sections, _search_folder([job for job, _ in pairs], file))
    try:
        write_whole(file, text.encode())
    except OSError as error:
        raise WriteError(f"{printable(file)}: the test cannot be written: {error.strerror}") from error


@dataclass(frozen=True)
class Section:
    """The tests of one target, as lines for the template. counted: the body of the test of graphs, may be empty."""

    subject: WrittenSubject
    imports: tuple[str, ...]
    returned: tuple[str, ...]
    assignments: tuple[str, ...]
    constant: str
    test_arguments: str
    equivalent: tuple[str, ...]
    examples: int
    counted: tuple[str, ...]


def require_ours(file: Path) -> None:
    """Raise WriteError for a file that is there and was not written by `write_test`, or whose folder is missing."""
    try:
        first = file.read_text(encoding="utf-8").partition("\n")[0]
    except FileNotFoundError:
        if not file.parent.is_dir():
            raise WriteError(f"{printable(file)}: the folder does not exist; make it, or give another file") from None
        return
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no text"
        raise WriteError(f"{printable(file)}: cannot be read: {reason}; give another file") from error
    if first != WRITTEN_BY:
        raise WriteError(f"{printable(file)}: is there already and was not written by gbfix; give another file")


def _section(job: Job, verdict: Verdict, taken: set[str]) -> Section:
    if verdict.status not in (Status.EQUAL, Status.CLOSE):
        raise CheckError(f"{job.target.name}: no test can be written: the check says {verdict.status.value}")
    subject = subject_of(job, verdict, taken)
    examples = _EXAMPLES if job.settings.backend in ("eager", "aot_eager") else _EXAMPLES_WITH_CODE
    constant = f"{subject.name.upper()}_ARGUMENTS"
    assignments = list(subject.assignments)
    if subject.strategy:
        assignments += ["", f"# Arguments: {', '.join(subject.arguments)}"] if subject.arguments else [""]
        assignments += laid_out(f"{constant} = {subject.strategy}")
    options = _options(job)
    if subject.inputs:
        options.insert(0, f"examples={examples}")
    call = f"assert_equivalent({', '.join([subject.old, subject.new, subject.inputs or 'arguments', *options])})"
    arguments = [*(["training"] if subject.module else []), *([] if subject.inputs else ["arguments"])]
    return Section(
        subject=subject,
        imports=subject.program.imports,
        returned=tuple(laid_out(f"return {subject.returned}", 4)),
        assignments=tuple(assignments[1:] if assignments[:1] == [""] else assignments),
        constant=constant,
        test_arguments=", ".join(arguments),
        equivalent=tuple(laid_out(call, 4)),
        examples=min(job.settings.examples, examples),
        counted=_counted(job, verdict, subject),
    )


def _options(job: Job) -> list[str]:
    settings = job.settings
    options = [] if settings.backend == "eager" else [f'backend="{settings.backend}"']
    if settings.tolerance is not None:
        options.append(f"tolerance=({settings.tolerance.relative!r}, {settings.tolerance.absolute!r})")
    return options


def _counted(job: Job, verdict: Verdict, subject: WrittenSubject) -> tuple[str, ...]:
    """The body of the test that pins the counts of the new version; empty when there are none to show."""
    counts = verdict.rewritten
    calls = [spelled_out(call, subject.parameters, job.settings.device) for call in verdict.counted]
    if counts is None or counts.raised or not calls or None in calls:
        return ()
    lines = []
    if subject.module:
        mode = "" if verdict.counted[0].training is None else f".train({verdict.counted[0].training})"
        lines.append(f"    new = {subject.name}_modules()[1]{mode}")
    lines.append("    calls = []")
    for call in filter(None, calls):
        for statement in ast.parse(call.statements).body:
            text = ast.get_source_segment(call.statements, statement) or ast.unparse(statement)
            lines += laid_out(text, 4)
        lines += laid_out(f"calls.append({_as_value(call.arguments)})", 4)
    return (*lines, *laid_out(f"assert_graphs({subject.new}, calls, {_figures(counts, job)})", 4))


def _figures(counts: Counts, job: Job) -> str:
    figures = [f"graphs={counts.graphs}", f"recompiles={counts.recompiles_values + counts.recompiles_shapes}"]
    if counts.breaks or not counts.fullgraph:
        figures.append(f"breaks={len(counts.breaks)}")
    if counts.fullgraph:
        figures.append("fullgraph=True")
    if job.settings.backend != "eager":
        figures.append(f'backend="{job.settings.backend}"')
    return ", ".join(figures)


def _as_value(arguments: str) -> str:
    """The text of an argument list as a tuple, as a dict when there are keywords, as a pair when there are both."""
    call = ast.parse(f"f({arguments})", mode="eval").body
    assert isinstance(call, ast.Call)
    positional = ", ".join(ast.unparse(each) for each in call.args)
    positional = f"({positional},)" if len(call.args) == 1 else f"({positional})"
    by_name = ", ".join(ast.unparse(each) for each in call.keywords)
    if not call.keywords:
        return positional
    return f"({positional}, dict({by_name}))" if call.args else f"dict({by_name})"


def _file_text(sections: Sequence[Section], search: str) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # it is Python, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    subjects = [section.subject for section in sections]
    names = ", ".join(subject.target for subject in subjects)
    body = environment.get_template(_TEMPLATE).render(
        written_by=WRITTEN_BY,
        title=f"{names}: the same program as before." if len(names) < 50 else "The same programs as before.",
        sections=sections,
        future=any(subject.program.future for subject in subjects),
        standard_imports=_standard_imports(subjects, search),
        library_imports=_library_imports(sections),
        own_imports=_own_imports(subjects, late=bool(search)),
        cuda=any(subject.cuda for subject in subjects),
        search=search,
    )
    ast.parse(body)
    return body


def _standard_imports(subjects: Sequence[WrittenSubject], search: str) -> list[str]:
    found = {line for subject in subjects for line in subject.standard}
    if search:
        found |= {"import sys", "from pathlib import Path"}
    return sorted(found, key=lambda line: (line.startswith("from"), line))


def _library_imports(sections: Sequence[Section]) -> list[str]:
    subjects = [section.subject for section in sections]
    text = "\n".join(line for section in sections for line in (*section.assignments, *section.counted))
    helpers = ["assert_equivalent"]
    helpers += [name for name in ("assert_graphs", "tensors") if f"{name}(" in text]
    lines = ["import pytest"] if any(subject.module or subject.cuda for subject in subjects) else []
    if "torch." in text or any(subject.module or subject.cuda for subject in subjects):
        lines.append("import torch")
    lines.append(f"from gbfix.equivalence import {', '.join(helpers)}")
    if any(not subject.inputs for subject in subjects):
        lines += ["from hypothesis import given, settings", "from hypothesis import strategies as st"]
    return lines


def _own_imports(subjects: Sequence[WrittenSubject], *, late: bool) -> list[str]:
    """The imports of the programs under test. late: they stand below other statements."""
    blocks = sorted({block for subject in subjects for block in subject.imports})
    mark = "  # noqa: E402" if late else ""
    return [line + (mark if index == 0 else "") for block in blocks for index, line in enumerate(block)]


def _search_folder(jobs: Sequence[Job], file: Path) -> str:
    """The folder to put on sys.path so that the modules are found, relative to the test's; empty without need.

    pytest itself puts the test's own folder there, or the one around its package.
    """
    place = file.resolve().parent
    while (place / "__init__.py").is_file():
        place = place.parent
    folders = sorted({job.target.search for job in jobs if not _is_found(job, place)})
    if not folders:
        return ""
    if len(folders) > 1:
        raise CheckError(f"no test can be written: its targets lie in several folders: {', '.join(folders)}")
    return os.path.relpath(folders[0], file.resolve().parent).replace(os.sep, "/")


def _is_found(job: Job, place: Path) -> bool:
    """Whether the target's module is found from the test: beside it, or because it is installed."""
    if place == Path(job.target.search).resolve():
        return True
    name = job.target.module.partition(".")[0]
    installed = [path for path in sys.path if Path(path).name in ("site-packages", "dist-packages")]
    others = [finder for finder in sys.meta_path if finder is not PathFinder]
    specs = [PathFinder.find_spec(name, installed), *(finder.find_spec(name, None) for finder in others)]
    return any(isinstance(spec, ModuleSpec) for spec in specs)
