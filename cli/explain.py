"""`gbfix explain CODE`: what a rule does, what a graph break id of PyTorch means, why programs compile again."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from textwrap import fill, indent
from typing import TYPE_CHECKING, Annotated

import typer

from gbfix.cli.failure import one_line_failures
from gbfix.cli.terminal import Terminal, open_terminal

if TYPE_CHECKING:
    from gbfix.engine.model import Rule
    from gbfix.evidence.registry import Explanation

RECOMPILES = "recompiles"
_PASTED = re.compile(r"(?<![a-z])(?:gbf\d{3}|gb\d{4})(?!\d)", re.IGNORECASE)
"""An id or code in a longer text: a message of PyTorch, a line of a report, the address of PyTorch's page."""
WIDTH = 80
KINDS = {
    "rewrite": "Advises: no rule rewrites it, although the change of the source is a mechanical one.",
    "setting": "Names the setting or the annotation: it decides this, and there is nothing to rewrite.",
    "advice": "Advises: somebody who knows the program has to change it.",
    "internal": "Advises: this is a gap or a bug of the compiler, not of the program, with nothing to rewrite.",
}
"""What gbfix does about a break that no rule handles, by the kind of the explanation."""


def explain(
    code: Annotated[
        str,
        typer.Argument(
            metavar="CODE",
            help="A rule's code or name (GBF101, tensor-value-branch), PyTorch's id of a graph break (GB0170), "
            "or `recompiles`.",
        ),
    ],
) -> None:
    """Explain a rule, one of PyTorch's graph break ids, or the reasons for recompilation (`recompiles`)."""
    from gbfix.codemods import all_rules
    from gbfix.evidence.registry import explain_id, id_of_type

    with one_line_failures():
        terminal = open_terminal(sys.stdout)
        rules = {key.lower(): rule for rule in all_rules() for key in (rule.code, rule.name)}
        wanted = code.strip().lower()
        pasted = _PASTED.search(code)
        if wanted in rules:
            _show_rule(terminal, rules[wanted])
        elif wanted == RECOMPILES:
            _show_recompiles(terminal)
        elif explanation := explain_id(code) or explain_id(pasted[0] if pasted else id_of_type(code.strip())):
            _show_break(terminal, explanation, rules)
        elif pasted and pasted[0].lower() in rules:
            _show_rule(terminal, rules[pasted[0].lower()])
        else:
            _refuse(code, rules)


def _show_rule(terminal: Terminal, rule: Rule) -> None:
    terminal.line(f"{terminal.paint(rule.code, 'bold')} {rule.name}\n\n{rule.summary}\n\n{rule.documentation.strip()}")


def _show_break(terminal: Terminal, explanation: Explanation, rules: dict[str, Rule]) -> None:
    title = explanation.title or "(the installed PyTorch, if any, does not know this id)"
    is_exception = not explanation.id.startswith("GB")
    terminal.line(terminal.paint(explanation.id, "bold") + ("" if is_exception else f"  {title}"))
    terminal.line()
    terminal.line(_paragraph(explanation.meaning))
    _heading(terminal, "Ways out, the most transparent first")
    _numbered(terminal, explanation.ways_out)
    for name, body in (("Breaks the graph", explanation.before), ("Does not", explanation.after)):
        if body:
            _heading(terminal, name)
            terminal.line(indent(body, "    "))
    _heading(terminal, "What gbfix does")
    for rule in (rules[code.lower()] for code in explanation.rules):
        does = "rewrites it" if rule.rewrites else "says what to do"
        terminal.line(_paragraph(f"{rule.code} {rule.name} {does}: {rule.summary}", "  ", "         "))
    if not explanation.rules:
        terminal.line(_paragraph(KINDS[explanation.kind], "  "))
    if explanation.link:
        _heading(terminal, "PyTorch's page")
        terminal.line(f"  {explanation.link}")


def _show_recompiles(terminal: Terminal) -> None:
    from gbfix.evidence.recompile_kinds import RECOMPILE_KINDS

    terminal.line(
        _paragraph(
            "Compiled code is kept together with its guards: the conditions under which it may be used again. When a "
            "call fulfils the guards of no code that was kept, PyTorch compiles once more; after 8 times (the "
            "recompile limit, GB0039) the function runs in Python for new values. `gbfix trace` lists the guards that "
            "failed, by these kinds."
        )
    )
    for name, kind in RECOMPILE_KINDS.items():
        _heading(terminal, name.replace("_", " "))
        terminal.line(_paragraph(kind.cause, "  "))
        terminal.line(_paragraph(f"Price: {kind.price}", "  "))
        _numbered(terminal, kind.ways_out)


_LETTERS_LIKE_DIGITS = str.maketrans("oil", "011")


def _refuse(wanted: str, rules: dict[str, Rule]) -> None:
    from difflib import get_close_matches

    from gbfix.engine.model import ConfigurationError
    from gbfix.evidence.registry import known_ids

    spellings = {key: f"{rule.code} ({rule.name})" for key, rule in rules.items()}
    spellings.update({name.lower(): name for name in (*known_ids(), RECOMPILES)})
    typed = wanted.strip().lower()
    as_number = typed.translate(_LETTERS_LIKE_DIGITS)
    near = [as_number] if as_number in spellings else get_close_matches(typed, spellings, n=1)
    if _PASTED.fullmatch(wanted.strip()):  # any other number is as near as the next
        hint = "`gbfix rules` lists the rules; ids of a newer PyTorch are known where that PyTorch is installed"
    else:
        hint = f"did you mean {spellings[near[0]]}?" if near else "`gbfix rules` lists the rules"
    raise ConfigurationError(f"no rule and no graph break id of PyTorch is called {wanted!r}; {hint}")


def _heading(terminal: Terminal, text: str) -> None:
    terminal.line()
    terminal.line(terminal.paint(text, "bold"))


def _numbered(terminal: Terminal, texts: Iterable[str]) -> None:
    for number, text in enumerate(texts, 1):
        terminal.line(_paragraph(text, f"  {number}. ", "     "))


def _paragraph(text: str, first: str = "", rest: str | None = None) -> str:
    """Filled to 80 columns; names and addresses are never cut."""
    later = first if rest is None else rest
    return fill(
        text, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )
