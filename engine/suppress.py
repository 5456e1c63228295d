"""Comments that silence findings: `# gbfix: ignore[GBF101]`.

Such a comment stands on the first line of a statement (any physical line of it, when the line is continued) or on a
comment line directly above it. It names codes, prefixes of codes or rule names, or nothing for all rules. A list of
names may be followed by a reason: `# gbfix: ignore[GBF101] the copy is wanted`. `# gbfix: ignore-file` is for the
whole file.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable

from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Finding, SourceError
from gbfix.engine.select import ALL, matches

_DIRECTIVE = r"#\s*gbfix:\s*(?P<rest>[^#]*)"
_IGNORE = r"(?P<scope>ignore-file|ignore)(?:\s*\[(?P<selectors>[^\[\]]*)\](?:\s.*)?)?\s*"
_SELECTOR = r"ALL|GBF\d*|(?!gbf\d)[a-z][a-z0-9]*(-[a-z0-9]+)*"
_LAYOUT = frozenset({tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER})


@dataclass(frozen=True)
class Suppression:
    """One comment: where it stands, the lines it silences (end exclusive, None for the whole file), and for whom."""

    line: int
    lines: range | None
    selectors: tuple[str, ...]

    def silences(self, finding: Finding) -> bool:
        """True when the finding starts in the silenced lines and a selector fits its rule."""
        in_reach = self.lines is None or finding.span.line in self.lines
        return in_reach and any(matches(selector, finding.code, finding.name) for selector in self.selectors)


@dataclass(frozen=True)
class Suppressions:
    """The suppression comments of one file."""

    entries: tuple[Suppression, ...] = ()

    def silences(self, finding: Finding) -> bool:
        """True when one of the comments silences the finding."""
        return any(entry.silences(finding) for entry in self.entries)

    def unused(self, findings: Iterable[Finding]) -> tuple[int, ...]:
        """The lines of the comments that silence none of these findings (given with the silenced ones)."""
        found = tuple(findings)
        return tuple(entry.line for entry in self.entries if not any(entry.silences(finding) for finding in found))


def read_suppressions(text: str) -> Suppressions:
    """Read the suppression comments of a file.

    Raises SourceError, with the line, for a comment after `gbfix:` that is none of the known forms: to pass over a
    misspelt one would edit code that was meant to be left alone. A rule that does not exist silences nothing.
    """
    if "gbfix:" not in text:
        return Suppressions()
    reader = _Reader()
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            reader.read(token)
    except SyntaxError as error:
        raise SourceError(f"line {error.lineno or 1}: not valid Python: {error.msg}") from error
    except tokenize.TokenError as error:
        message, (line, _) = error.args
        raise SourceError(f"line {line}: not valid Python: {message}") from error
    return reader.result()


class _Reader:
    """Goes through the tokens of a file and gives each comment the lines of the statement it stands at or above."""

    def __init__(self) -> None:
        self._entries: list[Suppression] = []
        self._waiting: list[tuple[int, tuple[str, ...]]] = []
        self._statement_start: int | None = None
        self._last_comment_line = 0

    def read(self, token: tokenize.TokenInfo) -> None:
        line = token.start[0]
        if token.type == tokenize.COMMENT:
            self._read_comment(token.string, line)
        elif token.type == tokenize.NEWLINE:
            self._end_statement(line)
        elif token.type not in _LAYOUT and self._statement_start is None:
            if line != self._last_comment_line + 1:
                self._end_of_comments()
            self._statement_start = line

    def result(self) -> Suppressions:
        self._end_of_comments()
        return Suppressions(tuple(sorted(self._entries, key=lambda entry: entry.line)))

    def _read_comment(self, comment: str, line: int) -> None:
        if self._statement_start is None and line != self._last_comment_line + 1:
            self._end_of_comments()
        self._last_comment_line = line
        for directive in re.finditer(_DIRECTIVE, comment):
            scope, selectors = _parse(directive["rest"].rstrip(), line)
            if scope == "ignore-file":
                self._entries.append(Suppression(line, None, selectors))
            else:
                self._waiting.append((line, selectors))

    def _end_statement(self, line: int) -> None:
        start = line if self._statement_start is None else self._statement_start
        self._settle(range(start, line + 1))
        self._statement_start = None

    def _end_of_comments(self) -> None:
        self._settle(range(0))

    def _settle(self, lines: range) -> None:
        self._entries.extend(Suppression(line, lines, selectors) for line, selectors in self._waiting)
        self._waiting.clear()


def _parse(rest: str, line: int) -> tuple[str, tuple[str, ...]]:
    found = re.fullmatch(_IGNORE, rest)
    selectors = None if found is None else found["selectors"]
    names = (ALL,) if selectors is None else tuple(part.strip() for part in selectors.split(","))
    if found is None or not all(re.fullmatch(_SELECTOR, name) for name in names):
        raise SourceError(
            f"line {line}: cannot read the comment `# gbfix: {rest}`; "
            "write `# gbfix: ignore[GBF101]`, `# gbfix: ignore` or `# gbfix: ignore-file`"
        )
    return found["scope"], names
