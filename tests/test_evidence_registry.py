from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import torch

import gbfix.evidence.registry
from gbfix.codemods import all_rules
from gbfix.evidence.registry import Explanation, explain_id, id_of_type

INSTALLED: dict[str, list[dict[str, Any]]] = json.loads(
    Path(torch.__file__).with_name("_dynamo").joinpath("graph_break_registry.json").read_text(encoding="utf-8")
)
OWN = json.loads(Path(gbfix.evidence.registry.__file__).with_name("graph_breaks.json").read_text(encoding="utf-8"))
RUN_OF_WORDS = 8
"""So many words in a row that are the same in two texts are a quotation and no chance."""


def explained(id_: str) -> Explanation:
    explanation = explain_id(id_)
    assert explanation is not None
    return explanation


@pytest.fixture
def bare_python(tmp_path: Path) -> Any:
    """Run code in an interpreter that finds gbfix and, in the folder `tmp_path`, a torch or none."""
    links = Path(__file__).resolve().parent.parent / "typings"

    def run(code: str) -> str:
        environment = {**os.environ, "PYTHONPATH": f"{links}{os.pathsep}{tmp_path}"}
        command = [sys.executable, "-S", "-c", textwrap.dedent(code)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    return run


def test_every_id_of_the_installed_torch_is_explained() -> None:
    assert set(INSTALLED) <= set(OWN["ids"])


@pytest.mark.parametrize("id_", OWN["ids"])
def test_an_explanation_is_complete(id_: str) -> None:
    explanation = explained(id_)
    assert explanation.id == id_
    assert explanation.title == (INSTALLED[id_][0]["Gb_type"] if id_ in INSTALLED else "")
    assert explanation.kind in {"rewrite", "setting", "advice", "internal"}
    assert explanation.ways_out
    assert all(text.rstrip("`)").endswith((".", "?")) for text in (explanation.meaning, *explanation.ways_out))
    assert len(explanation.meaning.split()) > 5
    assert set(explanation.rules) <= {rule.code for rule in all_rules()}


def test_meanings_are_written_for_one_id_each() -> None:
    meanings = [entry["meaning"] for entry in OWN["ids"].values()]
    assert len(meanings) == len(set(meanings))


def test_every_family_is_used() -> None:
    assert {entry["family"] for entry in OWN["ids"].values() if "family" in entry} == set(OWN["families"])


def test_the_texts_are_our_own() -> None:
    quoted = {}
    for id_ in set(INSTALLED) & set(OWN["ids"]):
        theirs = [t for entry in INSTALLED[id_] for t in (entry["Explanation"], " ".join(entry["Hints"]))]
        explanation = explained(id_)
        ours = [explanation.meaning, *explanation.ways_out]
        common = {run for text in ours for run in runs_of_words(text)} & {
            r for text in theirs for r in runs_of_words(text)
        }
        if common:
            quoted[id_] = common
    assert quoted == {}


def runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.lower())
    return {tuple(words[i : i + RUN_OF_WORDS]) for i in range(len(words) - RUN_OF_WORDS + 1)}


def test_every_type_text_leads_to_its_id() -> None:
    for entries in INSTALLED.values():
        for entry in entries:
            owners = {i for i, other in INSTALLED.items() if any(e["Gb_type"] == entry["Gb_type"] for e in other)}
            assert id_of_type(entry["Gb_type"]) in owners
    assert id_of_type("no such type") == ""


def test_the_id_of_a_type_is_that_of_torch_itself() -> None:
    from torch._dynamo.exc import get_gbid_documentation_link

    for entries in INSTALLED.values():
        for entry in entries:
            link = get_gbid_documentation_link(entry["Gb_type"])
            assert link == explained(id_of_type(entry["Gb_type"])).link


def test_spellings() -> None:
    assert explain_id("GB0059") == explain_id("gb59") == explain_id("59") == explain_id(" gb0059 ")
    assert explain_id("usererror") == explain_id("UserError")
    assert explain_id("GB9999") is None
    assert explain_id("") is None


def test_branches_on_values_are_what_the_rules_handle() -> None:
    assert set(explained("GB0170").rules) >= {rule.code for rule in all_rules() if rule.code < "GBF109"}
    assert explained("GB0124").rule == "GBF101"


def test_without_torch(bare_python: Any) -> None:
    said = bare_python("""
        from gbfix.evidence.registry import explain_id, id_of_type, known_ids
        print(explain_id("GB0059").meaning)
        print(repr(explain_id("GB0059").title), repr(id_of_type("Data-dependent branching")), len(known_ids()))
    """)
    assert said == f"{explained('GB0059').meaning}\n'' '' {len(OWN['ids'])}\n"


def test_an_id_that_only_torch_knows_is_quoted(bare_python: Any, tmp_path: Path) -> None:
    entry = {"Gb_type": "New", "Context": "", "Explanation": "It is\n new.", "Hints": ["Set ", "a flag.", "Or wait."]}
    folder = tmp_path / "torch" / "_dynamo"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / "graph_break_registry.json").write_text(json.dumps({"GB9999": [entry]}))
    said = bare_python("""
        import json
        from dataclasses import asdict
        from gbfix.evidence.registry import explain_id, id_of_type
        print(json.dumps([asdict(explain_id("GB9999")), id_of_type("New"), explain_id("GB0059").title]))
    """)
    explanation, of_type, title_of_another = json.loads(said)
    assert explanation["title"] == "New"
    assert explanation["meaning"].endswith('PyTorch says: "It is new."')
    assert explanation["ways_out"] == ['PyTorch hints: "Set a flag."', 'PyTorch hints: "Or wait."']
    assert explanation["link"].endswith("/gb9999.html")
    assert (of_type, title_of_another) == ("GB9999", "")


EXAMPLES = [id_ for id_, entry in OWN["ids"].items() if "before" in entry]


@pytest.fixture(scope="module")
def ids_reported() -> dict[str, list[str]]:
    """The ids that torch names for every example, by its text: from one process that no other test has touched."""
    texts = [text for id_ in EXAMPLES for text in (explained(id_).before, explained(id_).after) if text]
    command = [sys.executable, str(Path(__file__).with_name("reported_ids.py"))]
    done = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("id_", EXAMPLES)
def test_an_example_breaks_as_it_says_and_its_rewrite_does_not(id_: str, ids_reported: dict[str, list[str]]) -> None:
    explanation = explained(id_)
    assert ids_reported[explanation.before][:1] == [id_]
    if explanation.after:
        assert ids_reported[explanation.after] == []
