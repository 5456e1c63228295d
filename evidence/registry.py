"""What each graph break id of PyTorch means, and what can be done about it, without importing torch.

The texts are gbfix's own (`graph_breaks.json`). In that file an id names its `family` where several share the usual
ways out; its own ways out come first. `retired` marks ids that no code of torch 2.13 reports any more.

Titles and historical names come from the registry of the installed torch (`_dynamo/graph_break_registry.json`, from
2.8 on). There the value of an id is a list, the newest wording first, and ids keep their meaning between versions.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

PAGES = "https://meta-pytorch.github.io/compile-graph-break-site/gb/"
"""Where torch 2.13 sends its users, one page per id."""

_RETIRED = "PyTorch 2.13 no longer reports this id: newer versions compile such code or report another id for it."


@dataclass(frozen=True)
class Explanation:
    """One way in which Dynamo ends a graph.

    id: GB and four digits, or the name of an exception that has no id. title: PyTorch's short name of it, empty when
    the installed torch does not say. ways_out: the most transparent first, each with its price. kind: "rewrite" (a
    mechanical change of the source), "setting" (a flag or annotation), "advice" or "internal" (a gap or bug of
    Dynamo). rules: codes of the gbfix rules that handle it. link: PyTorch's page, empty for exceptions.
    before, after: body of a function of a tensor x that breaks in this way, and of one that does not; may be empty.
    """

    id: str
    title: str
    meaning: str
    ways_out: tuple[str, ...]
    kind: str
    rules: tuple[str, ...] = ()
    link: str = ""
    before: str = ""
    after: str = ""

    @property
    def rule(self) -> str:
        """The first of the rules, empty without one."""
        return self.rules[0] if self.rules else ""


def explain_id(gb: str) -> Explanation | None:
    """The explanation of "GB0059", "gb59", "59", or of an exception without an id such as "UserError".

    None when neither gbfix nor the installed torch knows it. An id that only torch knows is quoted from its registry.
    """
    id_ = _normal(gb)
    own = _own()["ids"].get(id_)
    installed = _installed().get(id_, [])
    title = installed[0]["Gb_type"] if installed else ""
    link = f"{PAGES}{id_.lower()}.html" if re.fullmatch(r"GB\d{4}", id_) else ""
    if own is None:
        return _quoted(id_, installed[0], link) if installed else None
    family = _own()["families"].get(own.get("family"), [])
    ways = [*own.get("ways_out", []), *family, *([_RETIRED] if own.get("retired") else [])]
    return Explanation(
        id=id_,
        title=title,
        meaning=own["meaning"],
        ways_out=tuple(ways),
        kind=own["kind"],
        rules=tuple(own.get("rules", [])),
        link=link,
        before=own.get("before", ""),
        after=own.get("after", ""),
    )


def known_ids() -> tuple[str, ...]:
    """Every id that `explain_id` can explain, sorted; names of exceptions after the ids."""
    known = {*_own()["ids"], *_installed()}
    return tuple(sorted(known, key=lambda id_: (not id_.startswith("GB"), id_)))


def explain_own() -> tuple[Explanation, ...]:
    """Every explanation that gbfix has itself, whatever torch is installed; names of exceptions after the ids."""
    known = [replace(found, title="") for id_ in _own()["ids"] if (found := explain_id(id_)) is not None]
    return tuple(sorted(known, key=lambda found: (not found.id.startswith("GB"), found.id)))


def id_of_type(type_text: str) -> str:
    """The id of a type text of PyTorch, of this or an older version; empty when the installed torch has none.

    Two texts belong to two ids each (torch 2.13). The later id counts, as in torch's own messages.
    """
    return _ids_by_type().get(type_text, "")


def _normal(text: str) -> str:
    number = re.fullmatch(r"(?:GB)?(\d{1,4})", text.strip(), re.IGNORECASE)
    if number:
        return f"GB{int(number[1]):04d}"
    names: dict[str, str] = {id_.lower(): id_ for id_ in _own()["ids"]}
    return names.get(text.strip().lower(), text.strip())


@cache
def _own() -> dict[str, Any]:
    text = Path(__file__).with_name("graph_breaks.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


@cache
def _installed() -> dict[str, list[dict[str, Any]]]:
    """The registry of the torch that this interpreter would import; empty without torch or before torch 2.8."""
    found = importlib.util.find_spec("torch")
    for folder in (found.submodule_search_locations if found else None) or ():
        path = Path(folder, "_dynamo", "graph_break_registry.json")
        if path.is_file():
            return dict(json.loads(path.read_text(encoding="utf-8")))
    return {}


@cache
def _ids_by_type() -> dict[str, str]:
    return {entry["Gb_type"]: id_ for id_, entries in _installed().items() for entry in entries}


def _quoted(id_: str, entry: dict[str, Any], link: str) -> Explanation:
    """What torch itself says; parts in braces are filled in by its messages."""
    explanation = " ".join(str(entry.get("Explanation", "")).split())
    quotation = f'PyTorch says: "{explanation}"' if explanation else "PyTorch's registry gives no explanation either."
    hints = tuple(f'PyTorch hints: "{hint}"' for hint in _sentences(entry.get("Hints", [])))
    meaning = f"gbfix has no explanation of its own for this id of the installed PyTorch. {quotation}"
    return Explanation(id_, entry["Gb_type"], meaning, hints, "advice", link=link)


def _sentences(parts: Iterable[str]) -> list[str]:
    """Hints as whole sentences: in the registry a part that ends in a space goes on in the next one."""
    whole = [""]
    for part in parts:
        whole[-1] += part
        if not part.endswith(" "):
            whole.append("")
    return [" ".join(text.split()) for text in whole if text.strip()]
