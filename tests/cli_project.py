"""A scratch git repository and the real `gbfix` process, for the tests of the command line."""

from __future__ import annotations

import os
import subprocess
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SAFE = """import torch


@torch.compile
@torch.no_grad()
def f(x: torch.Tensor):
    if x.sum() > 0:
        z = x * 2.0
    else:
        z = x + 1.0
    return z
"""
"""A program whose branch can be rewritten safely."""

UNSAFE = SAFE.replace("x: torch.Tensor", "x")
"""The same where x is only assumed to be a tensor."""

REFUSED = SAFE.replace("x * 2.0", "x * torch.rand(2)")
"""The same where one side draws random numbers, so that it must not run when the other side is taken."""

CLEAN = """import torch


@torch.compile
def f(x: torch.Tensor):
    return x + 1.0
"""
"""A program with nothing to find."""


@dataclass(frozen=True)
class Done:
    """A finished process."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Project:
    """A folder with files, and commands that run in it."""

    root: Path

    def write(self, name: str, text: str | bytes) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    def read(self, name: str) -> str:
        return (self.root / name).read_bytes().decode()

    def git(self, *arguments: str, stdin: bytes = b"") -> Done:
        return self._run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments], stdin, {})

    def commit(self) -> None:
        self.git("add", "--all")
        assert self.git("commit", "--quiet", "--message", "x").code == 0

    def gbfix(
        self, *arguments: str, stdin: str | bytes = b"", folder: str = ".", env: dict[str, str] | None = None
    ) -> Done:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        return self._run([str(Path(sysconfig.get_path("scripts")) / "gbfix"), *arguments], data, env or {}, folder)

    def _run(self, command: Sequence[str], stdin: bytes, env: dict[str, str], folder: str = ".") -> Done:
        environment = {**os.environ, **env}
        done = subprocess.run(
            command, cwd=self.root / folder, input=stdin, capture_output=True, env=environment, timeout=300, check=False
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())
