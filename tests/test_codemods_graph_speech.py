from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from gbfix.codemods._graph_speech import MAKER, maker_source

PROGRAM = """import torch


{maker}


@{name}
def say(size: int) -> None:
    print("size", size)


@torch.compile
def step(x: torch.Tensor, weight: torch.Tensor):
    shape = (x.shape[-1],)
    y = torch.nn.functional.layer_norm(x + torch.arange(x.shape[-1]), shape, weight)
    say(x.shape[0])
    return y, torch.nn.functional.layer_norm(y * 2 + torch.arange(x.shape[-1]), shape, weight)


print(step(torch.ones(2, 8), torch.ones(8))[1].shape)
"""


def test_inductor_runs_what_is_said_between_operations_that_it_fuses(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.format(maker=maker_source(MAKER, "torch"), name=MAKER))
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout.splitlines() == ["size 2", "torch.Size([2, 8])"], done.stderr[-2000:]
