"""Modules that a run of the program saved (see `gbfix.evidence.saved_modules`), loaded with the classes of a version.

Runs in the process of a version.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from gbfix.equivalence.model import CheckError


def load_module(path: str, script: str) -> torch.nn.Module:
    """The module in a file, on the CPU. script: what ran as `__main__`, whose classes are now those of its module.

    Raises CheckError when it cannot be loaded.
    """
    try:
        loaded = torch.load(path, map_location="cpu", weights_only=False, pickle_module=_pickle_of(script))
    except Exception as error:
        text = " ".join(str(error).split())
        raise CheckError(f"the module that the run saved cannot be loaded: {type(error).__name__}: {text}") from error
    if isinstance(loaded, dict):
        loaded = _built(loaded)
    assert isinstance(loaded, torch.nn.Module)
    return loaded


def _built(saved: Mapping[str, Any]) -> torch.nn.Module:
    """A new module of the class of this version, with the parameters and modes of the one that was saved."""
    try:
        module: torch.nn.Module = saved["class"](**saved["arguments"])
        module.load_state_dict(saved["state"])
    except Exception as error:
        text = " ".join(str(error).split())
        name = saved["class"].__qualname__
        raise CheckError(f"{name} cannot be built anew from its attributes: {type(error).__name__}: {text}") from error
    for name, inner in module.named_modules():
        inner.training = saved["modes"].get(name, inner.training)
    return module


def _pickle_of(script: str) -> ModuleType:
    folder, name = str(Path(script).parent), Path(script).stem

    class Unpickler(pickle.Unpickler):
        def find_class(self, module: str, attribute: str, /) -> object:
            if module == "__main__":
                module = name
                if folder not in sys.path:
                    sys.path.insert(0, folder)
            return super().find_class(module, attribute)

    own = ModuleType("saved")
    own.__dict__.update(vars(pickle), Unpickler=Unpickler, __name__="saved")
    return own
