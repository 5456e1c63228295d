"""Fixing one text: find, edit, and find again until nothing changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from gbfix.engine.edit import EditError, apply_fixes
from gbfix.engine.lines import text_of
from gbfix.engine.model import Discharge, Finding, Fix, GbfixError, Obligation, Result, Safety
from gbfix.engine.overlap import without_overlaps
from gbfix.engine.suppress import read_suppressions

MAXIMUM_PASSES = 50
"""More passes than any chain of fixes needs: a text that still changes then is changed in circles."""

_Identity = tuple[str, str, str]
"""What a finding keeps when lines above it move: code, function, and the text of its site without indentation."""


def fix_text(
    text: str,
    find: Callable[[str], Sequence[Finding]],
    *,
    unsafe: bool = False,
    accept: Callable[[Finding, str], bool] | None = None,
) -> Result:
    """Apply the fixes that `find` proposes for the text, pass by pass, until none is left.

    Safe fixes are applied, and unsafe ones too when `unsafe`. `accept` is asked before each with the text that the
    finding's lines refer to; a fix it declines is not offered again. A fix whose edit cannot be made becomes a refusal
    in `Result.findings` and does not keep back others. Raises GbfixError when the rules undo each other's fixes, and
    whatever `find`, `accept`, reading suppressions or parsing the text raises.
    """
    suppressions = read_suppressions(text)
    found = tuple(find(text))
    original = [finding for finding in found if not suppressions.silences(finding)]
    run = _Run(text, unsafe, accept)
    findings: Sequence[Finding] = original
    while run.make_pass(findings):
        findings = _unsuppressed(run.text, find)
    return Result(
        before=text,
        after=run.text,
        findings=_with_refusals(original, text, run.refusals),
        applied=tuple(run.applied),
        unused_suppressions=suppressions.unused(found),
    )


def refused(finding: Finding, error: EditError) -> Finding:
    """The finding as a refusal, since its edit cannot be made; an earlier refusal of that kind is taken back."""
    violated = Obligation("the edit could be made", Discharge.VIOLATED, str(error), finding.span.line)
    kept = tuple(obligation for obligation in finding.obligations if obligation.claim != violated.claim)
    return replace(finding, obligations=(*kept, violated))


class _Run:
    """The text as it changes, and what was decided so far."""

    def __init__(self, text: str, unsafe: bool, accept: Callable[[Finding, str], bool] | None) -> None:
        self.text = text
        self.applied: list[Finding] = []
        self.refusals: dict[_Identity, Finding] = {}
        self._allowed = {Safety.SAFE, Safety.UNSAFE} if unsafe else {Safety.SAFE}
        self._accept = accept
        self._declined: set[_Identity] = set()
        self._seen = {text}

    def make_pass(self, findings: Sequence[Finding]) -> bool:
        """Apply what can be applied at the same time; False when there was nothing."""
        # A fix that is declined or fails gives way to those it overlapped with.
        while candidates := self._candidates(findings):
            accepted = [finding for finding in candidates if self._is_accepted(finding)]
            applied = self._apply(accepted)
            if applied:
                self._check_progress(applied)
                return True
        return False

    def _candidates(self, findings: Sequence[Finding]) -> tuple[Finding, ...]:
        open_findings = (finding for finding in findings if finding.safety in self._allowed and self._is_open(finding))
        return without_overlaps(open_findings)

    def _is_open(self, finding: Finding) -> bool:
        identity = _identity(finding, self.text)
        return identity not in self._declined and identity not in self.refusals

    def _is_accepted(self, finding: Finding) -> bool:
        if self._accept is None or self._accept(finding, self.text):
            return True
        self._declined.add(_identity(finding, self.text))
        return False

    def _apply(self, findings: Sequence[Finding]) -> Sequence[Finding]:
        try:
            self.text, applied = apply_fixes(self.text, _fixes(findings)), findings
        except EditError:
            applied = self._applicable(findings)
            self.text = apply_fixes(self.text, _fixes(applied))
        self.applied.extend(applied)
        return applied

    def _applicable(self, findings: Sequence[Finding]) -> Sequence[Finding]:
        """The findings that can be applied together, taken one by one; the others become refusals."""
        applicable: list[Finding] = []
        for finding in findings:
            try:
                apply_fixes(self.text, _fixes([*applicable, finding]))
            except EditError as error:
                self.refusals[_identity(finding, self.text)] = refused(finding, error)
            else:
                applicable.append(finding)
        return applicable

    def _check_progress(self, applied: Sequence[Finding]) -> None:
        if self.text in self._seen or len(self._seen) > MAXIMUM_PASSES:
            codes = ", ".join(sorted({finding.code for finding in applied}))
            raise GbfixError(
                f"line {applied[0].span.line}: two rules undo each other, or a fix changes nothing, so that "
                f"no end is reached; ignore one of: {codes}"
            )
        self._seen.add(self.text)


def _unsuppressed(text: str, find: Callable[[str], Sequence[Finding]]) -> list[Finding]:
    suppressions = read_suppressions(text)
    return [finding for finding in find(text) if not suppressions.silences(finding)]


def _fixes(findings: Iterable[Finding]) -> list[Fix]:
    return [finding.fix for finding in findings if finding.fix is not None]


def _with_refusals(
    findings: Sequence[Finding], text: str, refusals: Mapping[_Identity, Finding]
) -> tuple[Finding, ...]:
    """The findings of the original text, refused where their edit failed; failures that came up later are added."""
    by_identity = [(_identity(finding, text), finding) for finding in findings]
    merged = [
        replace(finding, obligations=refusals[identity].obligations) if identity in refusals else finding
        for identity, finding in by_identity
    ]
    later = refusals.keys() - {identity for identity, _ in by_identity}
    ordered = sorted(merged, key=lambda finding: (finding.span, finding.code))
    return (*ordered, *(refusal for identity, refusal in refusals.items() if identity in later))


def _identity(finding: Finding, text: str) -> _Identity:
    site = "\n".join(line.strip() for line in text_of(finding.span, text).split("\n"))
    return finding.code, finding.function, site
