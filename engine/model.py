"""The words of gbfix as data: findings, obligations, fixes and results.

Everything here is frozen and has no behaviour beyond derived properties, so that a finding can be
printed, compared, serialised and sorted without running anything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from enum import Enum
from typing import TYPE_CHECKING

from gbfix.engine.dataclass import dataclass

if TYPE_CHECKING:
    from gbfix.analysis.project import FileView


class GbfixError(Exception):
    """A problem that the user can act on; its text is the whole message, without a traceback."""


class SourceError(GbfixError):
    """A file that cannot be read as Python; the text names the file, the line and what to do."""


class ConfigurationError(GbfixError):
    """A setting, rule code or option that does not exist or has the wrong type."""


class WriteError(GbfixError):
    """A file that cannot be written safely; nothing of it was changed."""


@dataclass(frozen=True, order=True)
class Span:
    """A stretch of source: 1-based lines, 0-based columns in characters, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def start(self) -> tuple[int, int]:
        """The first position."""
        return (self.line, self.column)

    @property
    def end(self) -> tuple[int, int]:
        """The position after the last character."""
        return (self.end_line, self.end_column)

    def overlaps(self, other: Span) -> bool:
        """True when both cover at least one common position."""
        return self.start < other.end and other.start < self.end


class Discharge(str, Enum):
    """How an obligation was met."""

    PROVED = "proved"
    OBSERVED = "observed"
    CHECKED = "checked"
    ASSUMED = "assumed"
    VIOLATED = "violated"


class Safety(str, Enum):
    """What the obligations of a finding allow."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    REFUSED = "refused"


@dataclass(frozen=True)
class Obligation:
    """One thing that must be true for a fix to keep the program's meaning.

    `claim` says the thing, `reason` why it holds, is assumed or fails; `line` is where the reason
    stands in the source, 0 when it is about the whole file. `awaits_run`: it holds of a run yet to come, that with the
    fix, which has to be looked at.
    """

    claim: str
    discharge: Discharge
    reason: str
    line: int = 0
    awaits_run: bool = False


@dataclass(frozen=True)
class Replacement:
    r"""New source for one expression, or for whole consecutive statements of one block.

    `source` is written as if at indentation zero, lines joined by "\n", without a trailing
    newline; an empty `source` deletes the statements (a block left empty gets `pass`). Comments inside the
    span that `source` does not repeat are kept by the engine as lines above the new statement.
    """

    span: Span
    source: str


@dataclass(frozen=True)
class Fix:
    """An edit for a finding: all replacements are made, or none."""

    title: str
    replacements: tuple[Replacement, ...]
    imports: tuple[str, ...] = ()
    """Modules that the new source needs under their own name, such as "torch"."""

    @property
    def span(self) -> Span:
        """The smallest span around every replacement."""
        first = min(r.span.start for r in self.replacements)
        last = max(r.span.end for r in self.replacements)
        return Span(*first, *last)


@dataclass(frozen=True)
class Finding:
    """A site and the rule that knows about it, with a fix or the reasons for a refusal."""

    code: str
    name: str
    span: Span
    message: str
    """What was found, in one line: "branch on the value of x.sum()"."""
    function: str
    """Qualified name of the function that holds the site."""
    region: str
    """Why that function is taken as compiled: "@torch.compile (line 3)"."""
    obligations: tuple[Obligation, ...] = ()
    fix: Fix | None = None
    advice: str = ""
    """For a refusal: what the user could do."""
    apart: tuple[str, ...] = ()
    """Attributes that the fix makes, or makes earlier, or keeps as objects of their own, as its obligations say."""

    @property
    def safety(self) -> Safety:
        """Safe when nothing is assumed, unsafe when something is, refused without a fix or when violated."""
        discharges = {o.discharge for o in self.obligations}
        if self.fix is None or Discharge.VIOLATED in discharges:
            return Safety.REFUSED
        return Safety.UNSAFE if Discharge.ASSUMED in discharges else Safety.SAFE


@dataclass(frozen=True)
class Rule:
    """One rewrite: what it finds, and the documentation that `gbfix explain` prints.

    `find` is pure: it reads a file in its project and yields findings in source order. `rewrites` is False for a rule
    that only advises: its findings never have a fix.
    """

    code: str
    name: str
    summary: str
    documentation: str
    find: Callable[[FileView], Iterable[Finding]]
    rewrites: bool = True


@dataclass(frozen=True)
class Result:
    """What the engine did to one source text.

    `findings` are those of the original text that selection and suppressions left, each as it
    stood before any edit; `applied` are the fixes that made it into `after`, pass by pass.
    """

    before: str
    after: str
    findings: tuple[Finding, ...] = ()
    applied: tuple[Finding, ...] = ()
    unused_suppressions: tuple[int, ...] = field(default=())
    """Lines of suppression comments that silenced nothing."""

    @property
    def changed(self) -> bool:
        """True when at least one fix was applied."""
        return self.before != self.after
