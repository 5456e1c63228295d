"""From source texts to findings and edited texts. Knows no printing, no options and no disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from functools import cache
from pathlib import Path

from gbfix.analysis.capabilities import KNOWN, Torch
from gbfix.analysis.files import Files
from gbfix.analysis.preferences import DEFAULT, Preferences, other_ways
from gbfix.analysis.project import FileView, Project, load
from gbfix.analysis.source import SourceFile, check_syntax, parse
from gbfix.analysis.spotted import may_compile
from gbfix.cli.failure import internal_error
from gbfix.cli.inputs import Inputs
from gbfix.cli.names import display_name
from gbfix.cli.outcome import Accept, Entry, FileOutcome, Outcome, accept_all
from gbfix.cli.positions import moved
from gbfix.cli.seen import NOTHING_SEEN, Seen
from gbfix.engine.dataclass import dataclass
from gbfix.engine.deep import with_deep_stack
from gbfix.engine.files import SourceText
from gbfix.engine.garbage import without_garbage_collection
from gbfix.engine.model import Finding, GbfixError, Rule, Safety
from gbfix.engine.observed import with_observed
from gbfix.engine.paths import printable
from gbfix.engine.suppress import read_suppressions

CUT_OFF = (
    "the search for compiled code was cut off: what lies further from the places that compile was not looked at; "
    "name fewer paths, or run gbfix trace"
)


@dataclass
class Memory:
    """What was found so far, for runs over the same sources with the same knowledge that differ in what they accept.

    Rules take most of the time, and find the same in the same text.
    """

    project: Project | None = None
    findings: dict[tuple[str, str, Preferences], tuple[Finding, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Request:
    """What to do with the sources."""

    rules: tuple[Rule, ...]
    edit: bool
    """False only looks: no fix is made and no diff computed."""
    unsafe: bool = False
    assume_compiled: bool = False
    preferences: Preferences = DEFAULT
    """What the user chose where a rule has more than one way."""
    report_unused: bool = True
    """False where not every rule runs: a comment may be there for one that does not."""
    seen: Seen = NOTHING_SEEN
    """What a run showed, with files by their names."""
    torch: Torch = KNOWN
    """What the PyTorch of the program captures by itself."""
    review: Callable[[str, Finding], Finding] | None = None
    """Gives a finding, at its lines in the file as it is, with what else is known of its obligations; told the file."""
    is_refused: Callable[[str, Finding], bool] | None = None
    """Tells, asked as `review` is, whether a fix turned out to be wrong: the finding then gets another one."""
    memory: Memory | None = None
    accept: Accept = accept_all
    advance: Callable[[str], None] = lambda _name: None
    """Told the name of each file when its turn comes."""


def run(inputs: Inputs, request: Request) -> Outcome:
    """Look at all sources together; a problem with one of them is recorded and the others go on."""
    with without_garbage_collection():
        return with_deep_stack(lambda: _run(inputs, request))


def _run(inputs: Inputs, request: Request) -> Outcome:
    problems = list(inputs.problems)
    sources = _sound(inputs.sources, problems)
    compiling = frozenset(name for name, source in sources.items() if may_compile(source.text))
    files = Files(sources, lambda name: sources[name].text.encode("utf-8", "surrogatepass"), compiling=compiling)
    together = _together(files, request, problems)
    outcomes: list[FileOutcome] = []
    compiled_functions = 0
    for name, source in sources.items():
        request.advance(name)
        if together is not None and request.seen is NOTHING_SEEN and not may_tell(together, name, source.text):
            outcomes.append(FileOutcome(source, source.text, (), ()))
            continue
        try:
            project = together or load_for([files[name]], request)
            compiled_functions += len(project.compiled[name])
            outcomes.append(file_outcome(project, source, project.files[name], request))
        except GbfixError as error:
            problems.append(naming(name, error))
        except Exception as error:
            problems.append(internal_error(name, error))
    notes = (CUT_OFF,) if together is not None and together.search.is_cut_off else ()
    return Outcome(tuple(outcomes), tuple(problems), compiled_functions, notes=notes)


def may_tell(project: Project, name: str, text: str) -> bool:
    """True for a file that rules may find something in without a run, or whose suppressions may be unused."""
    compiling = project.files.compiling or frozenset()
    return name in compiling or "gbfix:" in text or bool(project.compiled[name])


def _sound(sources: Iterable[SourceText], problems: list[str]) -> dict[str, SourceText]:
    """The sources that are Python, by the names in messages."""
    sound: dict[str, SourceText] = {}
    for source in sources:
        name = display_name(source.path)
        try:
            check_syntax(name, source.text)
            sound[name] = source
        except GbfixError as error:
            problems.append(str(error))
    return sound


def _together(files: Files, request: Request, problems: list[str]) -> Project | None:
    """All files as one project; None, with a problem, when a bug keeps them from being looked at together."""
    if request.memory is not None and request.memory.project is not None:
        return request.memory.project
    project = load_for(files, request)
    try:
        _ = project.compiled
        if request.memory is not None:
            request.memory.project = project
    except Exception as error:
        problems.append(internal_error("the search across files (each is now looked at alone)", error))
        return None
    return project


def load_for(files: Iterable[SourceFile] | Files, request: Request) -> Project:
    """Files as one project, with what the request knows of them."""
    return load(
        files,
        request.assume_compiled,
        request.seen.observed,
        request.seen.fakes,
        preferences=request.preferences,
        recompiles=request.seen.recompiles,
        changes=request.seen.changes,
        runs_again=request.seen.runs_again,
        torch=request.torch,
    )


def file_outcome(project: Project, source: SourceText, file: SourceFile, request: Request) -> FileOutcome:
    """What came of one file of a project. Raises SourceError for a suppression comment that cannot be read."""

    @cache
    def find(text: str) -> tuple[Finding, ...]:
        # Putting in an equal file would have the compiled functions of the whole project searched again.
        current = project if text == file.text else project.with_file(parse(file.path, text))
        found = _with_other_ways(current, file, text, request, _find_in(current, file.path, request))
        return tuple(_reviewed(finding, text, file, request) for finding in found)

    suppressions = read_suppressions(source.text)
    found = find(source.text)
    unused = suppressions.unused(found) if request.report_unused else ()
    findings = [finding for finding in found if not suppressions.silences(finding)]
    if not request.edit or all(finding.fix is None for finding in findings):
        remaining = tuple(Entry(finding) for finding in findings)
        return FileOutcome(source, source.text, (), remaining, unused)
    # LibCST is slow to load, and needed only where there is a fix.
    from gbfix.cli.edited import edited

    outcome = edited(source, find, unsafe=request.unsafe, accept=request.accept)
    return replace(outcome, unused_suppressions=unused)


def _with_other_ways(
    project: Project, file: SourceFile, text: str, request: Request, found: Sequence[Finding]
) -> tuple[Finding, ...]:
    """The findings, those whose fix is refused with the next best that is not, if there is one."""
    is_refused = request.is_refused
    if is_refused is None:
        return tuple(found)

    def refused(finding: Finding) -> bool:
        return is_refused(file.path, moved(finding, text, file.text))

    @cache
    def found_with(way: Preferences) -> tuple[Finding, ...]:
        return _find_in(replace(project, preferences=way), file.path, request)

    def best(finding: Finding) -> Finding:
        if finding.safety is Safety.REFUSED or not refused(finding):
            return finding
        for way in other_ways(request.preferences):
            for other in found_with(way):
                if other.span == finding.span and other.safety is not Safety.REFUSED and not refused(other):
                    return other
        return finding

    return tuple(map(best, found))


def _find_in(project: Project, path: str, request: Request) -> tuple[Finding, ...]:
    """The findings in one file, from memory where they are known."""
    if request.memory is None:
        return _search(project, path, request)
    known = request.memory.findings
    key = (path, project.files[path].text, project.preferences)
    if key not in known:
        known[key] = _search(project, path, request)
    return known[key]


def _search(project: Project, path: str, request: Request) -> tuple[Finding, ...]:
    """The findings in one file; with evidence, each obligation says whether it is proved or was observed."""

    def find(view: FileView) -> tuple[Finding, ...]:
        return _in_order(finding for rule in request.rules for finding in rule.find(view))

    view = project.view(path)
    found = find(view)
    if not project.observed.get(path):
        return found
    unseen = project.without_observations().view(path)
    seen = {finding.span.line: observed.told for finding in found if (observed := view.observed(finding.span.line))}
    return with_observed(found, find(unseen), seen, request.seen.document)


def _reviewed(finding: Finding, text: str, file: SourceFile, request: Request) -> Finding:
    if request.review is None:
        return finding
    reviewed = request.review(file.path, moved(finding, text, file.text))
    lines = [obligation.line for obligation in finding.obligations]
    lines += [finding.span.line] * (len(reviewed.obligations) - len(lines))
    obligations = (replace(one, line=line) for one, line in zip(reviewed.obligations, lines, strict=True))
    return replace(finding, obligations=tuple(obligations), advice=reviewed.advice)


def _in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(findings, key=lambda finding: (finding.span, finding.code)))


def naming(name: str, error: GbfixError) -> str:
    """The text of a problem, with the file."""
    text, name = str(error), printable(Path(name))
    return text if text.startswith(name) else f"{name}: {text}"
