"""The modules that a program compiles, saved before their first call: a check loads what nobody could build.

Only where the environment names a folder for them. Standard library only; torch is what the program imported.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from gbfix.evidence.compiled import module_of

FOLDER = "GBFIX_MODULES"
"""Names the environment variable with the folder."""
MOST_BYTES = 512 * 2**20
"""Parameters and buffers of a larger module are not written."""
BUILT = ".init.pt"
"""The ending of a file that says how to build a module anew, beside the one that holds it as it is."""


def save_module(subject: object, entry: int) -> str | None:
    """Save the module that a call of `subject` runs; the path, or None where it is no module or cannot be saved.

    It is saved as it is, and as what its class is called with: many modules cannot be pickled, those with parametrized
    weights among them, and a rewrite of `__init__` asks for one that is built anew.
    """
    folder = os.environ.get(FOLDER)
    module: Any = module_of(subject) if folder else None
    if not folder or module is None:
        return None
    path = Path(folder, f"{os.getpid()}-{entry}.pt")
    try:
        tensors = [*module.parameters(), *module.buffers()]
        if sum(tensor.numel() * tensor.element_size() for tensor in tensors) > MOST_BYTES:
            return None
    except Exception:  # methods of the program
        return None
    anew = built_beside(path)
    is_saved, is_described = _save(lambda: module, path), _save(lambda: _built(module), anew)
    return str(path) if is_saved else str(anew) if is_described else None


def built_beside(path: Path) -> Path:
    """Where it stands how to build anew the module that is saved in a file, which may be that one itself."""
    return Path(str(path).removesuffix(BUILT)).with_suffix(BUILT)


def _save(content: Callable[[], object], path: Path) -> bool:
    try:
        sys.modules["torch"].save(content(), path)
    except Exception:  # a class in a function, a hook, a lock: many things cannot be saved
        path.unlink(missing_ok=True)
        return False
    return True


def _built(module: Any) -> dict[str, object]:  # noqa: ANN401
    """The class, the arguments that are attributes of the same name, and what makes the new module like this one.

    Raises AttributeError where an argument is no attribute.
    """
    held = {**vars(module), **vars(module)["_modules"]}
    arguments = {}
    for parameter in inspect.signature(type(module)).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            if parameter.name in held:
                arguments[parameter.name] = held[parameter.name]
            elif parameter.default is parameter.empty:
                raise AttributeError(parameter.name)
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            raise AttributeError(parameter.name)
    modes = {name: inner.training for name, inner in module.named_modules()}
    return {"class": type(module), "arguments": arguments, "state": module.state_dict(), "modes": modes}
