"""`gbfix explain CODE`: what a rule finds, why it matters, and what it does about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from gbfix.cli.failure import one_line_failures

if TYPE_CHECKING:
    from gbfix.engine.model import Rule


def explain(
    code: Annotated[
        str,
        typer.Argument(
            metavar="CODE", help="A rule's code or name (GBF101, tensor-value-branch), or PyTorch's id (GB0170)."
        ),
    ],
) -> None:
    """Print the documentation of one rule, or which rules deal with one of PyTorch's GB ids."""
    with one_line_failures():
        if re.fullmatch(r"GB\d{4}", code, re.IGNORECASE):
            typer.echo(_graph_break(code.upper()))
            return
        rule = _find(code)
        typer.echo(f"{rule.code} {rule.name}\n\n{rule.summary}\n\n{rule.documentation.strip()}")


def _graph_break(number: str) -> str:
    """What gbfix does about a graph break by the id that PyTorch gives it."""
    from gbfix.codemods import all_rules

    known = [rule for rule in all_rules() if number in rule.documentation]
    where = f"PyTorch describes {number} in its graph break registry, under the name of that id"
    if not known:
        return f"{number}: no rule of gbfix deals with it. {where}."
    lines = [f"  {rule.code}  {rule.name}: {rule.summary}" for rule in known]
    return "\n".join([f"{number}: gbfix deals with it in these rules. {where}.", *lines])


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
