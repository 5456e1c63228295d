"""The scratch environments: PyTorch and the libraries of a table, without gbfix."""

from __future__ import annotations

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

TORCH = "torch==2.13.0"
SECONDS = 3600.0
"""No installation may take longer."""


class NoEnvironmentError(Exception):
    """An environment could not be made; the text says why."""


@dataclass(frozen=True)
class Specification:
    """What is installed. alone: without what it asks for, which would bring another PyTorch."""

    name: str
    packages: tuple[str, ...]
    alone: tuple[str, ...] = ()


RECORD = Specification("record", ("transformers==4.52.4", "numpy", "scipy", "pillow"))
_PACKAGES = ("transformers==5.24.0", "numpy", "scipy", "pillow", "importlib_metadata", "requests", "httpx")
# transformers imports torchvision where it is, and that of another PyTorch cannot be imported without some help.
TODAY = Specification("today", _PACKAGES)
DIFFUSERS = Specification("diffusers", _PACKAGES, ("diffusers==0.42.1",))
TORCHVISION = Specification("torchvision", ("numpy", "pillow"), ("torchvision==0.28.0",))
OF_SUITE = {"record": RECORD, "today": TODAY, "diffusers": DIFFUSERS, "torchvision": TORCHVISION}


def python_of(suite: str, work: Path) -> Path:
    """The Python of a suite's environment, which is made unless it is there and complete.

    Raises NoEnvironmentError when something cannot be installed.
    """
    wanted = OF_SUITE[suite]
    folder = work / "environments" / wanted.name
    complete = folder.with_suffix(".complete")
    python = folder / "bin" / "python"
    if complete.exists() and complete.read_text() == repr(wanted) and python.exists():
        return python
    complete.unlink(missing_ok=True)
    print(f"environment {wanted.name}: {', '.join((TORCH, *wanted.packages, *wanted.alone))}", file=sys.stderr)
    venv.EnvBuilder(with_pip=True, clear=True).create(folder)
    constraints = folder / "constraints.txt"
    constraints.write_text(f"{TORCH}\n")
    _install(python, TORCH, "numpy")
    # The constraint keeps every requirement from replacing torch.
    _install(python, "--constraint", str(constraints), *wanted.packages)
    if wanted.alone:
        _install(python, "--no-deps", *wanted.alone)
    complete.write_text(repr(wanted))
    return python


def _install(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *arguments]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise NoEnvironmentError(f"pip install {' '.join(arguments)}: took longer than {SECONDS:.0f} s") from error
    if ended.returncode:
        raise NoEnvironmentError(f"pip install {' '.join(arguments)}: {ended.stderr.strip()[-1000:]}")
