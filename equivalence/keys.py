"""What a verdict depends on, as a digest: a check with the same key would only say the same again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from gbfix.equivalence.model import VERSION, Job

_WITHOUT_INFLUENCE = {"database", "bench"}
"""Settings that change neither what is compared nor what comes of it; timing is never reused (see `store`)."""


def job_key(job: Job, others: Iterable[Path] = ()) -> str:
    """The digest of a job: both versions, target, inputs, settings, and the versions of PyTorch and gbfix.

    others: files that both versions read from disk: what the target imports, and where its inputs come from. A file
    that cannot be read counts as empty.
    """
    settings = {
        name: value for name, value in msgspec.to_builtins(job.settings).items() if name not in _WITHOUT_INFLUENCE
    }
    parts = {
        "document": VERSION,
        "gbfix": _version("gbfix"),
        "torch": _version("torch"),
        "target": job.target,
        "original": dict(sorted(job.original.items())),
        "rewritten": dict(sorted(job.rewritten.items())),
        "seen": job.seen,
        "inputs": job.inputs,
        "settings": settings,
        "others": {str(path): _digest(path) for path in sorted(set(others))},
    }
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
