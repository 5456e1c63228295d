"""What is seen on a real terminal (a pseudo-terminal), and that nothing of it gets into a pipe."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sysconfig
import time
from pathlib import Path

import pytest
from cli_project import SAFE, UNSAFE, Project

GBFIX = str(Path(sysconfig.get_path("scripts")) / "gbfix")


def on_terminal(project: Project, *arguments: str, columns: int = 80, keys: bytes = b"", **env: str) -> str:
    """Run gbfix on a terminal and give all that it showed."""
    process, reader = _start(project, arguments, columns, env)
    os.write(reader, keys)
    shown = _read_all(reader)
    process.wait(60)
    return shown.decode().replace("\r\n", "\n")


def _start(
    project: Project, arguments: tuple[str, ...], columns: int, env: dict[str, str]
) -> tuple[subprocess.Popen[bytes], int]:
    reader, writer = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **env}
    if "NO_COLOR" not in env:
        environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [GBFIX, *arguments],
        cwd=project.root,
        env=environment,
        stdin=writer,
        stdout=writer,
        stderr=writer,
        start_new_session=True,
    )
    os.close(writer)
    return process, reader


def _read_all(reader: int) -> bytes:
    parts = []
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:  # how Linux tells that the other side is closed
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


def test_each_hunk_stands_under_its_rule_and_obligations(project: Project) -> None:
    project.write("choose.py", SAFE)
    project.write("unsafe.py", UNSAFE)
    shown = on_terminal(project, "apply", "--dry-run", NO_COLOR="1")
    order = [
        "choose.py:7:5  GBF101",
        "  proved ",
        "@@ -",
        "+    z = torch.where(",
        "unsafe.py:7:5  GBF101",
        "  assumed ",
    ]
    places = [shown.index(part) for part in order]
    assert places == sorted(places)
    assert shown.rstrip().endswith("1 unsafe fix not applied (--unsafe applies them)")


def test_colours_only_where_they_are_wanted(project: Project) -> None:
    project.write("choose.py", SAFE)
    assert "\x1b[32m" in on_terminal(project, "apply", "--dry-run")
    assert "\x1b" not in on_terminal(project, "apply", "--dry-run", NO_COLOR="1")
    assert "\x1b" not in on_terminal(project, "apply", "--dry-run", TERM="dumb")
    piped = project.gbfix("apply", "--dry-run", env={"TERM": "xterm"})
    assert "\x1b" not in piped.out + piped.err


@pytest.mark.parametrize("columns", [40, 60, 80])
def test_words_fit_the_terminal(project: Project, columns: int) -> None:
    project.write("choose.py", SAFE)
    shown = on_terminal(project, "scan", columns=columns, NO_COLOR="1")
    rows = [line for line in shown.splitlines() if line.startswith("  ")]
    assert rows
    assert max(map(len, rows)) <= columns


def test_progress_on_a_terminal_only(project: Project) -> None:
    for number in range(30):
        project.write(f"f{number:02}.py", SAFE)
    assert "/30" in on_terminal(project, "scan")
    done = project.gbfix("scan")
    assert "/30" not in done.out + done.err


def test_interrupting_the_questions_writes_nothing(project: Project) -> None:
    project.write("choose.py", SAFE + SAFE.replace("def f", "def g"))
    process, reader = _start(project, ("apply", "--interactive"), 80, {})
    shown = b""
    while shown.count(b"Apply this fix?") < 1:
        shown += os.read(reader, 65536)
    os.write(reader, b"y\n")
    while shown.count(b"Apply this fix?") < 2:
        shown += os.read(reader, 65536)
    process.send_signal(signal.SIGINT)
    shown += _read_all(reader)
    assert process.wait(60) == 130
    assert b"interrupted; nothing was written" in shown
    assert b"Traceback" not in shown
    assert project.read("choose.py") == SAFE + SAFE.replace("def f", "def g")


def test_interrupting_the_work(project: Project) -> None:
    for number in range(300):
        project.write(f"f{number:03}.py", SAFE * 20)
    process, reader = _start(project, ("apply",), 80, {})
    shown = b""
    while b"/300" not in shown:
        shown += os.read(reader, 65536)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    shown += _read_all(reader)
    assert process.wait(60) == 130
    assert b"Traceback" not in shown
    assert all(project.read(f"f{number:03}.py") == SAFE * 20 for number in range(300))


def test_a_closed_pipe_is_no_traceback(project: Project) -> None:
    for number in range(50):
        project.write(f"f{number:02}.py", SAFE)
    done = subprocess.run(
        f"{GBFIX} apply --dry-run | head -n 1",
        shell=True,
        cwd=project.root,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("diff --git")
