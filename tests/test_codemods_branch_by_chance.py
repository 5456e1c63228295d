import math
from pathlib import Path

import pytest
import torch

from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.branch_by_chance import RULE
from gbfix.engine.model import Finding, Safety
from gbfix.engine.passes import fix_text

CASE = Path(__file__).parent.parent / "golden" / "branch_by_chance" / "layer_drop"


def found_in(body: str) -> list[Finding]:
    lines = "\n".join("    " + line for line in body.split("\n"))
    text = f"import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, rate: float, g: torch.Generator):\n{lines}\n"
    return list(RULE.find(load([parse("f.py", text)]).view("f.py")))


@pytest.mark.parametrize("rate", [0.0, -0.0, -1.0, 0.3, 1.0, 2, True, math.nan, math.inf, torch.tensor(0.5)])
def test_answers_and_random_numbers_stay(rate: object) -> None:
    def run(text: str) -> list[object]:
        names: dict[str, object] = {}
        exec(text.replace("@torch.compile", ""), names)
        found: list[object] = []
        for seed in range(5):
            torch.manual_seed(seed)
            found += [names["f"](torch.arange(2.0), rate, True).tolist(), torch.get_rng_state().tolist()]  # type: ignore[operator]
        return found

    assert run((CASE / "before.py").read_text()) == run((CASE / "after.py").read_text())


@pytest.mark.parametrize(
    "body",
    [
        "d = torch.rand(2)\nif d < rate:\n    return x",
        "d = torch.rand([])\nd.sub_(1)\nif d < rate:\n    return x",
        "d = torch.rand([])\nd.data.sub_(1)\nif d < rate:\n    return x",
        "d = torch.rand([])\nd -= 1\nif d < rate:\n    return x",
        "d = torch.rand([])\nx.append(d)\nif d < rate:\n    return x",
        "d = torch.rand([])\ne = d\ne -= 1\nif d < rate:\n    return x",
        "d = torch.rand([])\nd = x.sum()\nif d < rate:\n    return x",
        "d = torch.rand([], dtype=x.dtype)\nif d < rate:\n    return x",
        "d = torch.randn([])\nif d < rate:\n    return x",
        "if torch.rand([]) < rate:\n    return x",
        "d = torch.rand([])\nif d <= rate:\n    return x",
        "d = torch.rand([])\nif d < rate * 2:\n    return x",
        "d = torch.rand([])\nif d < 0.5:\n    return x",
        "d = torch.rand([])\nif d < x:\n    return x",
        "d = torch.rand([])\nkept = d < rate\nreturn kept",
        "d = torch.rand([])\nkept = rate is None or d < rate\nreturn kept",
        "d = torch.rand([])\nif 0 < d < rate:\n    return x",
        "d = torch.rand([])\nif rate > 0 and d < rate:\n    return x",
        "d = torch.rand([])\nif rate > 0:\n    if d < rate:\n        return x",
        "d = torch.rand([])\nif rate:\n    if d < rate:\n        return x",
        "return [y for y in x if torch.rand([]) < rate]",
    ],
)
def test_nothing_is_found(body: str) -> None:
    assert not found_in(body)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("d < rate", "rate > 0.0 and d < rate"),
        ("rate > d", "rate > 0.0 and rate > d"),
        ("d >= rate", "rate <= 0.0 or d >= rate"),
        ("rate <= d", "rate <= 0.0 or rate <= d"),
        ("not d < rate", "not (rate > 0.0 and d < rate)"),
        ("x.ndim or d < rate", "x.ndim or (rate > 0.0 and d < rate)"),
        ("(d < rate) and x.ndim", "(rate > 0.0 and d < rate) and x.ndim"),
    ],
)
def test_rate_is_asked_first(condition: str, expected: str) -> None:
    text = (
        "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor, rate: float):\n"
        f"    d = torch.rand([], device=x.device)\n    while {condition}:\n        pass\n"
    )

    def find(current: str) -> list[Finding]:
        return list(RULE.find(load([parse("f.py", current)]).view("f.py")))

    result = fix_text(text, find)
    assert f"while {expected}:" in result.after
    assert [finding.safety for finding in result.applied] == [Safety.SAFE]
