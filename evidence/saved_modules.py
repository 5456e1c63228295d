"""The modules that a program compiles, saved before their first call: a check loads what nobody could build.

Only where the environment names a folder for them. Standard library only; torch is what the program imported.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from gbfix.evidence.compiled import module_of

FOLDER = "GBFIX_MODULES"
"""Names the environment variable with the folder."""
MOST_BYTES = 512 * 2**20
"""Parameters and buffers of a larger module are not written."""


def save_module(subject: object, entry: int) -> str | None:
    """Save the module that a call of `subject` runs; the path, or None where it is no module or cannot be saved."""
    folder = os.environ.get(FOLDER)
    module: Any = module_of(subject) if folder else None
    if not folder or module is None:
        return None
    path = Path(folder, f"{os.getpid()}-{entry}.pt")
    try:
        tensors = [*module.parameters(), *module.buffers()]
        if sum(tensor.numel() * tensor.element_size() for tensor in tensors) > MOST_BYTES:
            return None
        sys.modules["torch"].save(module, path)
    except Exception:  # a class in a function, a hook, a lock: many modules cannot be saved
        path.unlink(missing_ok=True)
        return None
    return str(path)
