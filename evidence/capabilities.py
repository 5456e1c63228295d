"""What the installed PyTorch captures, found by running the programs of `gbfix.analysis.capabilities` with it.

That takes seconds, so it is done only when a rule asks, for all programs in one process, and remembered in the user's
cache folder for this PyTorch and these programs.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from gbfix.analysis.capabilities import CAPTURED_IN_2_13, KNOWN, PROBES, Torch

_SECONDS = 300
"""How long the programs may take together; they need about ten seconds."""
_SETTINGS = ("TORCH", "PYTORCH", "INDUCTOR", "AOT")
"""How the variables begin that change what PyTorch captures or say."""


def installed_torch() -> Torch:
    """The PyTorch of this Python, which is not imported; what is known of the measured one where there is none."""
    folder = _torch_folder()
    if folder is None:
        return KNOWN
    return Torch(_version(folder), lambda probe: probe in captured(folder))


@cache
def captured(folder: Path) -> frozenset[str]:
    """The programs that PyTorch in this folder captures: remembered, else run; as known where they cannot be run."""
    # Few runs need this, and these take a while to load.
    import json

    import platformdirs
    from filelock import FileLock, Timeout

    from gbfix.engine.atomic import write_whole

    place = Path(platformdirs.user_cache_dir("gbfix", appauthor=False), f"captures-{_key(folder)}.json")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{place}.lock", timeout=_SECONDS):
            remembered = _remembered(place)
            if remembered is None:
                remembered = run_programs(PROBES)
                if remembered is not None:
                    write_whole(place, json.dumps(sorted(remembered)).encode())
    except (OSError, NotImplementedError, Timeout):  # no place to remember it, or no locks there
        remembered = run_programs(PROBES)
    return CAPTURED_IN_2_13 if remembered is None else remembered


def run_programs(programs: Mapping[str, str], seconds: float = _SECONDS) -> frozenset[str] | None:
    """The names of the programs that the installed PyTorch captures; None when they cannot be run, or not in time."""
    import json
    import subprocess
    import tempfile

    from gbfix.evidence.capability_run import CAPTURED, PROGRAMS

    environment = {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)}
    environment |= {"CUDA_VISIBLE_DEVICES": ""}  # what is captured does not depend on it, and starting it is slow
    try:
        with tempfile.TemporaryDirectory(prefix="gbfix-") as name:
            folder = Path(name)
            (folder / PROGRAMS).write_text(json.dumps(dict(programs)), encoding="utf-8")
            subprocess.run(
                [sys.executable, "-m", "gbfix.evidence.capability_run", name],
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=True,
            )
            return frozenset(json.loads((folder / CAPTURED).read_text(encoding="utf-8")))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def _torch_folder() -> Path | None:
    try:
        found = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        return None
    places = list((found.submodule_search_locations if found else None) or ())
    return Path(places[0]) if places and Path(places[0], "version.py").is_file() else None


def _version(folder: Path) -> str:
    found = re.search(r"__version__ *= *['\"]([^'\"]+)", (folder / "version.py").read_text(encoding="utf-8"))
    return found[1] if found else KNOWN.version


def _key(folder: Path) -> str:
    """Tells one installation and one set of programs from another."""
    import hashlib
    import json

    version = folder / "version.py"
    runner = Path(__file__).with_name("capability_run.py")
    parts = [sys.executable, sys.version, str(folder), str(version.stat().st_mtime_ns)]
    texts = [version.read_text(encoding="utf-8"), runner.read_text(encoding="utf-8")]
    return hashlib.sha256(json.dumps([parts, texts, dict(PROBES)]).encode()).hexdigest()[:32]


def _remembered(place: Path) -> frozenset[str] | None:
    import json

    try:
        names = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return frozenset(PROBES) & frozenset(names) if isinstance(names, list) else None
