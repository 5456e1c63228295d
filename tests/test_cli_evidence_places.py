from __future__ import annotations

from pathlib import Path

from evidence_sample import evidence

from gbfix.cli.evidence_places import absolute_path, files_of, is_library, is_pytorch
from gbfix.evidence.model import Break, Entry, Evidence, Place

PACKAGES = "/venv/lib/python3.11/site-packages"


def _sample(root: Path) -> Evidence:
    stack = (Place("train.py", 9), Place(f"{PACKAGES}/torch/nn/modules/module.py", 1), Place(f"{PACKAGES}/lib/a.py", 3))
    site = Break(Place(f"{PACKAGES}/lib/a.py", 3), project=Place("train.py", 9), stack=stack)
    logging = Break(Place("/usr/lib/python3.11/logging/__init__.py", 5))
    return evidence(root, breaks=(site, logging), entries=(Entry("f", defined=Place("model.py", 2)),))


def test_files_that_rules_may_look_at(tmp_path: Path) -> None:
    assert files_of(_sample(tmp_path)) == (f"{PACKAGES}/lib/a.py", "model.py", "train.py")


def test_whose_a_file_is(tmp_path: Path) -> None:
    made = _sample(tmp_path)
    assert not is_library(made, Place("train.py", 1))
    assert not is_library(made, Place("/home/me/other/train.py", 1))
    assert is_library(made, Place(f"{PACKAGES}/lib/a.py", 3))
    assert is_library(made, Place("venv/lib/python3.11/site-packages/lib/a.py", 3))
    assert is_pytorch(made, Place(f"{PACKAGES}/torch/_dynamo/external_utils.py", 67))
    assert not is_pytorch(made, Place(f"{PACKAGES}/torchvision/ops.py", 1))


def test_a_file_of_the_evidence_on_this_machine(tmp_path: Path) -> None:
    made = _sample(tmp_path)
    assert absolute_path(made, "train.py") == tmp_path / "train.py"
    assert absolute_path(made, "/elsewhere/a.py") == Path("/elsewhere/a.py")
