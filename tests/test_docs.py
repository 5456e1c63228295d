"""The pages in docs/ are those that the rules give."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from gbfix.codemods import all_rules
from gbfix.evidence.registry import explain_own

DOCS = Path(__file__).parent.parent / "docs"


def _generate() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_fresh() -> None:
    assert _generate().stale() == [], "run `python docs/generate.py`"


def test_pages_that_changed_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    generate = _generate()
    monkeypatch.setattr(generate, "DOCS", tmp_path)
    generate.main()
    assert generate.stale() == []

    (tmp_path / "rules" / "tensor-value-branch.md").write_text("old")
    (tmp_path / "rules" / "gone.md").write_text("of no rule")
    (tmp_path / "graph-breaks.md").unlink()

    assert generate.stale() == ["graph-breaks.md", "rules/gone.md", "rules/tensor-value-branch.md"]


def test_rules_that_ids_name_exist_and_every_rule_has_a_page() -> None:
    codes = {rule.code for rule in all_rules()}
    assert {code for each in explain_own() for code in each.rules} <= codes
    assert all((DOCS / "rules" / f"{rule.name}.md").exists() for rule in all_rules())


def test_every_rule_about_breaks_is_named_by_an_id() -> None:
    about_breaks = {rule.code for rule in all_rules() if not rule.code.startswith("GBF4")}
    assert about_breaks <= {code for each in explain_own() for code in each.rules}
