"""`gbfix rules`: what gbfix knows about."""

from __future__ import annotations

import typer

from gbfix.cli.failure import one_line_failures


def rules() -> None:
    """List every rule with its code and name."""
    from gbfix.codemods import all_rules

    with one_line_failures():
        known = all_rules()
        width = max((len(rule.name) for rule in known), default=0)
        for rule in known:
            typer.echo(f"{rule.code}  {rule.name:{width}}  {rule.summary}")
