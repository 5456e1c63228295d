from __future__ import annotations

import ast

import pytest

from gbfix.analysis.gradients import gradient_mode
from gbfix.analysis.names import Names
from gbfix.analysis.source import parse

HEADER = "import contextlib\nimport torch\nfrom torch import no_grad as quiet\nfrom lib import timed\n"


@pytest.mark.parametrize(
    ("manager", "mode"),
    [
        ("torch.no_grad()", "off"),
        ("torch.no_grad", "off"),
        ("quiet()", "off"),
        ("torch.inference_mode()", "off"),
        ("torch.inference_mode(False)", "unknown"),
        ("torch.inference_mode(mode=flag)", "unknown"),
        ("torch.enable_grad()", "unknown"),
        ("torch.set_grad_enabled(False)", "unknown"),
        ("torch.autocast('cuda')", None),
        ("torch.compile(fullgraph=True)", None),
        ("contextlib.nullcontext()", None),
        ("timed", "unknown"),
        ("self.lock", "unknown"),
    ],
)
def test_only_what_is_known_leaves_the_mode_alone_or_turns_it_off(manager: str, mode: str | None) -> None:
    source = parse("program.py", HEADER + f"with {manager}: pass\n")
    statement = source.tree.body[-1]
    assert isinstance(statement, ast.With)
    assert gradient_mode(Names(source), statement.items[0].context_expr) == mode
