"""Write the pages of this folder from the rules and from what is known of PyTorch's graph break ids.

    python docs/generate.py

A test fails while the pages are not those that this writes. `coverage.md` is written by benchmarks/coverage.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from gbfix.codemods import all_rules
from gbfix.engine.model import Rule
from gbfix.evidence.registry import Explanation, explain_own

DOCS = Path(__file__).resolve().parent
GROUPS = {
    "1": "Control flow",
    "2": "Scalars",
    "3": "Messages and other side effects",
    "4": "Recompiles",
    "5": "Shapes that depend on data",
    "6": "Idioms with a supported equivalent",
}
"""What the first digit of a code stands for."""
ANSWERS = {"setting": "annotates or sets", "advice": "advises", "internal": "advises", "rewrite": "advises"}
"""What gbfix does about an id that no rule handles, by its kind."""
_NOTE = "<!-- Written by docs/generate.py; edit the rule instead. -->"


def pages() -> Mapping[Path, str]:
    """Every page by its path below this folder."""
    rules = all_rules()
    found = {Path("rules") / f"{rule.name}.md": _rule_page(rule) for rule in rules}
    found[Path("rules/README.md")] = _index(rules)
    found[Path("graph-breaks.md")] = _breaks(rules)
    return found


def stale() -> list[str]:
    """The pages that are missing, differ, or belong to no rule any more."""
    wanted = pages()
    present = {path.relative_to(DOCS) for path in (DOCS / "rules").glob("*.md")}
    differing = [path for path, text in wanted.items() if not _has(path, text)]
    return sorted(str(path) for path in {*differing, *(present - wanted.keys())})


def main() -> None:
    """Write what has changed, and remove pages of rules that are gone."""
    (DOCS / "rules").mkdir(exist_ok=True)
    wanted = pages()
    for name in stale():
        path = Path(name)
        if path in wanted:
            (DOCS / path).write_text(wanted[path], encoding="utf-8")
        else:
            (DOCS / path).unlink()


def _has(path: Path, text: str) -> bool:
    file = DOCS / path
    return file.exists() and file.read_text(encoding="utf-8") == text


def _rule_page(rule: Rule) -> str:
    cases = f"golden/{rule.name.replace('-', '_')}"
    ids = ", ".join(f"[{e.id}](../graph-breaks.md)" for e in explain_own() if rule.code in e.rules)
    parts = [
        _NOTE,
        f"# {rule.code} {rule.name}",
        f"*{rule.summary}*",
        _markdown(rule.documentation.strip()),
        f"PyTorch's ids: {ids}." if ids else "",
        f"Programs before and after, and what is left alone: [`{cases}`](../../{cases})."
        if (DOCS.parent / cases).is_dir()
        else "",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _markdown(documentation: str) -> str:
    """The documentation, with what Markdown would take for markup escaped outside of code."""
    lines = []
    for line in documentation.split("\n"):
        is_code = line.startswith("    ")
        lines.append(line if is_code else _escaped(line))
    return "\n".join(lines)


def _escaped(line: str) -> str:
    parts = line.split("`")
    return "`".join(re.sub(r"([*_<>\[\]|])", r"\\\1", part) if n % 2 == 0 else part for n, part in enumerate(parts))


def _index(rules: tuple[Rule, ...]) -> str:
    parts = [_NOTE, "# Rules"]
    for digit, title in GROUPS.items():
        rows = [f"| [{r.code}]({r.name}.md) | {r.name} | {_cell(r.summary)} |" for r in rules if r.code[3] == digit]
        if rows:
            parts += [f"## {title}", "\n".join(["| code | name | finds |", "|---|---|---|", *rows])]
    return "\n\n".join(parts) + "\n"


def _breaks(rules: tuple[Rule, ...]) -> str:
    rows = list(_break_rows({rule.code: rule for rule in rules}))
    counted = {
        answer: sum(row[2].startswith(answer) for row in rows) for answer in ("rewrites", "annotates", "advises")
    }
    head = [
        _NOTE,
        "# PyTorch's graph breaks, and what gbfix does about each",
        f"{len(rows)} ids and exceptions: gbfix rewrites {counted['rewrites']}, annotates or names the setting for "
        f"{counted['annotates']}, and advises on {counted['advises']}. `gbfix explain GB0059` says more.",
        "\n".join(["| id | what breaks | gbfix |", "|---|---|---|", *("| " + " | ".join(row) + " |" for row in rows)]),
    ]
    return "\n\n".join(head) + "\n"


def _break_rows(rules: Mapping[str, Rule]) -> Iterator[tuple[str, str, str]]:
    for explanation in explain_own():
        yield explanation.id, _cell(explanation.meaning), _answer(explanation, rules)


def _answer(explanation: Explanation, rules: Mapping[str, Rule]) -> str:
    if explanation.rules:
        links = ", ".join(f"[{code}](rules/{rules[code].name}.md)" for code in explanation.rules)
        does = "rewrites" if any(rules[code].rewrites for code in explanation.rules) else "advises"
        return f"{does}: {links}"
    return ANSWERS[explanation.kind]


def _cell(text: str) -> str:
    return _escaped(" ".join(text.split()))


if __name__ == "__main__":
    main()
