"""The rules themselves: codes, names, and documentation that is true."""

from __future__ import annotations

import importlib
import pkgutil
import re
import textwrap
from pathlib import Path

import pytest

import gbfix.codemods
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Finding, Rule
from gbfix.engine.passes import fix_text

ROOT = Path(__file__).parent.parent
RULES = all_rules()

FRAMES = {
    "tensor-value-branch": "(x: torch.Tensor):\n{}\n    return y",
    "tensor-value-return": "(x: torch.Tensor):\n{}",
    "tensor-value-ternary": "(x: torch.Tensor):\n{}\n    return y",
    "mixed-condition-branch": "(x: torch.Tensor):\n{}\n    return x",
    "guarded-masked-fill": "(x: torch.Tensor, mask: torch.Tensor):\n{}\n    return x",
    "branch-around-call": "(self, x: torch.Tensor):\n{}\n    return x",
    "item-in-arithmetic": "(x: torch.Tensor):\n{}\n    return y",
    "tensor-as-index": "(x: torch.Tensor, scores: torch.Tensor):\n{}\n    return y",
    "repeated-item": "(x: torch.Tensor, y: torch.Tensor, starts: torch.Tensor):\n{}\n    return y",
    "math-on-item": "(x: torch.Tensor):\n    import math\n\n{}\n    return y",
    "branch-with-unsafe-side": "(x: torch.Tensor, n: torch.Tensor):\n{}\n    return y",
}
"""The function around the documented lines of each rule with a rewrite, or all that is around them."""

FRAMES["random-draw-in-region"] = "import random\n\nimport torch\n\n\n{}\n"
FRAMES["host-value-in-region"] = "import os\n\nimport torch\n\n\n{}\n\n\ng = torch.compile(f)\n"
FRAMES["logging-in-region"] = "import logging\n\nimport torch\n\nlogger = logging.getLogger()\n\n\n{}\n"
FRAMES["warning-in-region"] = "import warnings\n\nimport torch\n\n\n{}\n"
FRAMES["context-manager-in-region"] = "import threading\n\nimport torch\n\nlock = threading.Lock()\n\n\n{}\n"
FRAMES["import-by-call"] = (
    "import importlib\n\nimport torch\n\n\n@torch.compile\ndef f(x):\n    {}\n    return x + module.pi\n"
)
FRAMES["counter-attribute"] = "import torch\n\n\n{}\n\n\nnet = torch.compile(Net())\n"
FRAMES["metric-accumulation"] = "import torch\n\n\n{}\n"
FRAMES["reporting-helper"] = "import logging\n\nimport torch\n\nlogger = logging.getLogger()\n\n\n{}\n"
FRAMES["print-in-region"] = "(x: torch.Tensor):\n{}"
FRAMES["constant-host-call"] = "import torch\nimport zlib\n\n\n{}\n"
FRAMES["index-computation"] = (
    "import torch\n\n\n{}\n\n\n@torch.compile(fullgraph=False)\n"
    "def f(grid: torch.Tensor):\n    return positions(grid)\n"
)
FRAMES["number-in-buffer"] = "import torch\n\n\n{}\n\n\nmodel = torch.compile(Padded(3, 1))\n"
FRAMES["shape-text-as-key"] = "(x: torch.Tensor, y: torch.Tensor, layers: list):\n    found = {{}}\n{}\n    return y"
_COPIES = "import copy\nimport torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n"
FRAMES |= {
    "copied-tensor": _COPIES + "{1}\n    return z\n",
    "copied-container": _COPIES + "{1}\n    return others\n",
    "tensor-as-fill-value": "(x: torch.Tensor):\n{}\n    return y",
    "size-computed-with-tensors": "(x: torch.Tensor):\n{}\n    return y",
    "requires-grad-inside": "(x: torch.Tensor):\n{}\n    return y",
    "default-device": "(x: torch.Tensor):\n{}\n    return y",
    "sorted-tensors": "(x: torch.Tensor):\n{}\n    return y, z",
    "class-in-function": "import torch\n\n\n{}\n",
    "check-message": "(x: torch.Tensor):\n{}\n    return x + 1",
}

FRAMES["guard-that-raises"] = "import torch\n\n\n{}\n"
FRAMES["moved-buffer"] = "import torch\n\n\n{}\n"
FRAMES["size-as-flag"] = "(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, x: torch.Tensor):\n{}\n    return y"
FRAMES["compile-per-call"] = "import torch\n\n\n{}\n"
FRAMES["branch-by-chance"] = "(self, x: torch.Tensor):\n{}\n    return x"
FRAMES["guarded-scaling"] = "(parameters, x: torch.Tensor, limit: float):\n    norm = x.norm()\n{}\n    return norm"
FRAMES["number-handed-on"] = "import torch\n\n\n{}\n"
FRAMES["listed-values"] = "(x: torch.Tensor, y: torch.Tensor, z: torch.Tensor):\n{}\n    return x"
FRAMES["number-that-leaves"] = "import torch\n\n\n{}\n"
FRAMES["assert-with-computed-message"] = "import torch\n\n\n{}\n"
FRAMES |= {
    "masked-reduction": "(x: torch.Tensor):\n{}",
    "selected-targets": (
        "(scores: torch.Tensor, labels: torch.Tensor, input_lengths):\n    import torch.nn.functional as F\n\n{}"
    ),
    "masked-loop": "(x: torch.Tensor):\n{}\n    return x",
    "masked-count": "(x: torch.Tensor):\n    mask = x > 0\n{}",
    "masked-assignment": "(x: torch.Tensor):\n    mask = x > 0\n    y = x.clone()\n{}\n    return y",
}

NEED_A_RUN = {"varying-size", "late-reading"}
"""Rules about recompiles, which only a run shows; their own tests make the documented rewrite."""


def findings(text: str) -> list[Finding]:
    view = load([parse("program.py", text)]).view("program.py")
    return [finding for rule in RULES for finding in rule.find(view)]


def name_of(rule: Rule) -> str:
    return rule.name


def block_after(word: str, documentation: str) -> str:
    found = re.search(rf"^{word}:\n\n((?:    .*\n|\n)+)", documentation, re.MULTILINE)
    assert found is not None, f"no {word} in the documentation"
    return textwrap.dedent(found.group(1)).strip("\n")


def program(rule: Rule, lines: str) -> str:
    body = textwrap.indent(lines, "    ")
    if FRAMES[rule.name].startswith("import"):
        return FRAMES[rule.name].format(lines, body)
    return "import torch\n\n\n@torch.compile\ndef f" + FRAMES[rule.name].format(body) + "\n"


def test_codes_and_names_are_unique_and_well_formed() -> None:
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(re.fullmatch(r"GBF\d{3}", rule.code) for rule in RULES)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)+", rule.name) for rule in RULES)


def test_a_rule_lives_in_the_file_of_its_name() -> None:
    names = {m.name for m in pkgutil.iter_modules(gbfix.codemods.__path__) if not m.name.startswith("_")}
    assert names == {rule.name.replace("-", "_") for rule in RULES}
    for name in names:
        assert importlib.import_module(f"gbfix.codemods.{name}").RULE.name == name.replace("_", "-")


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_documentation_says_what_why_and_when_not(rule: Rule) -> None:
    assert rule.summary.strip()
    assert "todo" not in rule.documentation.lower()
    for word in ("Before", "Source: "):
        assert word in rule.documentation
    assert re.search(r"GB\d{4}", rule.documentation) or rule.code.startswith("GBF4")
    assert any(said in rule.documentation for said in ("Stays away", "never rewritten", "changes nothing"))


@pytest.mark.parametrize("rule", [rule for rule in RULES if rule.name in FRAMES], ids=name_of)
def test_documented_rewrite_is_what_happens(rule: Rule) -> None:
    before, after = (program(rule, block_after(word, rule.documentation)) for word in ("Before", "After"))
    result = fix_text(before, findings, unsafe=True)
    assert result.after == after
    assert {finding.name for finding in result.applied} == {rule.name}


def test_every_rule_with_a_rewrite_has_a_documented_one() -> None:
    documented = {rule.name for rule in RULES if re.search(r"^After:", rule.documentation, re.MULTILINE)}
    assert documented - NEED_A_RUN == set(FRAMES) - NEED_A_RUN


def test_rules_are_found_in_the_order_of_their_codes() -> None:
    assert [rule.code for rule in RULES] == sorted(rule.code for rule in RULES)


def test_finding_is_pure() -> None:
    text = (ROOT / "golden" / "tensor_value_branch" / "if_else" / "before.py").read_text()
    assert findings(text) == findings(text)
