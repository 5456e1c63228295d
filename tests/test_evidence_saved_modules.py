"""A module that a program compiles is saved before its first call, and a check gets it back with its classes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from gbfix.cli.check_entries import Entries
from gbfix.equivalence.model import CheckError
from gbfix.equivalence.saved_modules import load_module
from gbfix.evidence.launch import observed_environment
from gbfix.evidence.model import Evidence
from gbfix.evidence.reader import journal_notes, read_evidence
from gbfix.evidence.saved_modules import BUILT

SCRIPT = """import torch


class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(2, width)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.linear(x)


def main():
    class Inner(Net):
        pass

    for net in (Net(3).eval(), Inner(3)):
        step = torch.compile(net, backend="eager")
        step(torch.ones(1, 2))
        step(torch.ones(1, 2))


if __name__ == "__main__":
    main()
"""


def traced(folder: Path, text: str = SCRIPT) -> Evidence:
    script = folder / "script_with_a_net.py"
    script.write_text(text)
    for name in ("journals", "modules"):
        (folder / name).mkdir()
    environment = observed_environment(os.environ, journals=folder / "journals", modules=folder / "modules")
    subprocess.run([sys.executable, str(script)], env=environment, check=True)
    return read_evidence(journal_notes(folder / "journals"), root=folder)


def test_a_module_is_loaded_as_it_was_before_its_first_call(tmp_path: Path) -> None:
    evidence = traced(tmp_path)
    first, second = evidence.entries
    assert Path(first.saved).parent == tmp_path / "modules"
    assert second.saved == ""  # nothing finds its class again
    entries = Entries(evidence, lambda _file: None)
    target = entries.target(entries.functions()[0]).target
    assert target is not None
    assert (target.name, target.saved) == ("script_with_a_net:Net", first.saved)
    assert target.script == str(tmp_path / "script_with_a_net.py")
    loaded = load_module(target.saved, target.script)
    assert type(loaded).__module__ == "script_with_a_net"
    assert (loaded.calls, loaded.training) == (0, False)
    assert loaded(torch.ones(1, 2)).shape == (1, 3)
    sys.modules.pop("script_with_a_net")


def test_a_file_that_cannot_be_loaded_says_so(tmp_path: Path) -> None:
    (tmp_path / "broken.pt").write_bytes(b"no")
    with pytest.raises(CheckError, match="the module that the run saved cannot be loaded"):
        load_module(str(tmp_path / "broken.pt"), "")


PARAMETRIZED = """import torch


class Config:
    width = 3


class Net(torch.nn.Module):
    def __init__(self, config, bias=True, *, scale=1.0):
        super().__init__()
        self.config, self.scale = config, scale
        self.linear = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(2, config.width, bias=bias))
        self.register_buffer("seen", torch.zeros(1))

    def forward(self, x):
        return self.linear(x) * self.scale


class Unknown(Net):
    def __init__(self, width):
        super().__init__(Config())


if __name__ == "__main__":
    for net in (Net(Config(), scale=2.0), Unknown(3)):
        net.linear.eval()
        net.seen += 4
        print(net(torch.ones(1, 2)).tolist())
        torch.compile(net, backend="eager")(torch.ones(1, 2))
"""


def test_a_module_that_cannot_be_pickled_is_built_anew_from_its_attributes(tmp_path: Path) -> None:
    evidence = traced(tmp_path, PARAMETRIZED)
    first, second = evidence.entries
    assert first.saved.endswith(BUILT)
    assert second.saved == ""  # nothing tells its width
    script = str(tmp_path / "script_with_a_net.py")
    loaded = load_module(first.saved, script)
    again = load_module(first.saved, script)
    assert torch.equal(loaded(torch.ones(1, 2)), again(torch.ones(1, 2)))
    assert (loaded.scale, loaded.seen.item(), loaded.training, loaded.linear.training) == (2.0, 4.0, True, False)
    sys.modules.pop("script_with_a_net")


def test_another_class_than_the_one_that_was_saved_says_so(tmp_path: Path) -> None:
    (first, _) = traced(tmp_path, PARAMETRIZED).entries
    script = tmp_path / "script_with_a_net.py"
    script.write_text(PARAMETRIZED.replace('"seen"', '"heard"'))
    with pytest.raises(CheckError, match="Net cannot be built anew from its attributes: RuntimeError"):
        load_module(first.saved, str(script))
    sys.modules.pop("script_with_a_net")
