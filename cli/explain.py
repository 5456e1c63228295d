"""`gbfix explain CODE`: what a rule finds, why it matters, and what it does about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gbfix.cli.failure import one_line_failures

if TYPE_CHECKING:
    from gbfix.engine.model import Rule


def explain(
    code: Annotated[
        str, typer.Argument(metavar="CODE", help="A rule's code or name, such as GBF101 or tensor-value-branch.")
    ],
) -> None:
    """Print the documentation of one rule."""
    with one_line_failures():
        rule = _find(code)
        typer.echo(f"{rule.code} {rule.name}\n\n{rule.summary}\n\n{rule.documentation.strip()}")


def _find(wanted: str) -> Rule:
    from difflib import get_close_matches

    from gbfix.codemods import all_rules
    from gbfix.engine.model import ConfigurationError

    known = {key.lower(): rule for rule in all_rules() for key in (rule.code, rule.name)}
    if wanted.lower() in known:
        return known[wanted.lower()]
    near = get_close_matches(wanted.lower(), known, n=1)
    hint = f"did you mean {known[near[0]].code} ({known[near[0]].name})?" if near else "`gbfix rules` lists them"
    raise ConfigurationError(f"no rule is called {wanted!r}; {hint}")
