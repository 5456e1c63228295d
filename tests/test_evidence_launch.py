"""Starting programs: every check runs a real child process under a real parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gbfix.engine.model import GbfixError
from gbfix.evidence.journal import read_journal
from gbfix.evidence.launch import BOOTSTRAP, observed_environment, resolve_command

PARENT = """
import os, sys
from pathlib import Path
from gbfix.evidence.launch import observed_environment, resolve_command, run_program

status = run_program(resolve_command(sys.argv[2:]), observed_environment(os.environ, journals=Path(sys.argv[1])))
print(f"parent: {status.code} {status.signal}", file=sys.stderr)
sys.exit(status.code)
"""

LOOK_AROUND = """
import json, os, sys

main = sys.modules["__main__"]
spec = None if main.__spec__ is None else main.__spec__.name
print(json.dumps({
    "argv": sys.argv, "cwd": os.getcwd(), "name": __name__, "file": main.__dict__.get("__file__"), "path": sys.path,
    "spec": spec, "package": main.__package__, "flags": str(sys.flags), "orig_argv": sys.orig_argv,
    "sitecustomize": "sitecustomize" in sys.modules, "gbfix": [m for m in sys.modules if m.startswith("gbfix")],
    "stdin": sys.stdin.read(), "importable": __import__("importlib.util").util.find_spec("gbfix") is not None,
    "group": os.getpgrp() == os.getpgid(os.getppid()), "names": sorted(globals()),
}))
"""

SLEEPER = """
import sys, time
try:
    print("ready", flush=True)
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(7)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with some scripts; journals are next to it."""
    work = tmp_path / "work"
    Path(work, "package").mkdir(parents=True)
    (tmp_path / "journals").mkdir()
    Path(work, "look.py").write_text(LOOK_AROUND)
    Path(work, "package", "__main__.py").write_text(LOOK_AROUND)
    Path(work, "package", "part.py").write_text(LOOK_AROUND)
    Path(work, "sleeper.py").write_text(SLEEPER)
    return work


def start(folder: Path, words: Sequence[str], **options: Any) -> subprocess.Popen[str]:
    """A parent that runs the command, with pipes as its standard streams."""
    return subprocess.Popen(
        [sys.executable, "-c", PARENT, str(folder.parent / "journals"), *words],
        **{"cwd": folder, "text": True, **dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE), **options},
    )


def finish(folder: Path, *words: str, stdin: str = "") -> tuple[int, str, str]:
    """Exit status of the parent, and what was printed."""
    parent = start(folder, words)
    stdout, stderr = parent.communicate(stdin)
    return parent.returncode, stdout, stderr


def notes(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Command line -> notes, of each process that took some."""
    journals = [list(read_journal(file)) for file in (folder.parent / "journals").iterdir()]
    return {" ".join(journal[0]["argv"][1:]): journal for journal in journals}


@pytest.mark.parametrize(
    "words",
    [
        ["look.py", "a", "--b", "-c"],
        ["-m", "package.part", "--option"],
        ["-m", "package", "x"],
        ["package", "y"],
        ["-c", LOOK_AROUND, "z"],
        [sys.executable, "-u", "-W", "ignore", "look.py"],
        ["-I", "look.py"],
    ],
)
def test_the_program_sees_what_it_would_see_without(folder: Path, words: list[str]) -> None:
    direct = words if words[0] == sys.executable else [sys.executable, *words]
    plain = subprocess.run(direct, cwd=folder, input="typed\n", text=True, capture_output=True, check=True)
    status, stdout, stderr = finish(folder, *words, stdin="typed\n")
    assert (status, stderr) == (0, "parent: 0 \n")
    assert json.loads(stdout) == json.loads(plain.stdout)
    assert json.loads(stdout)["stdin"] == "typed\n"


def test_the_environment_keeps_its_own_sitecustomize(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = folder / "own"
    own.mkdir()
    Path(own, "sitecustomize.py").write_text("import builtins\nbuiltins.from_own = __file__\n")
    script = "import sys, sitecustomize; print(from_own == sitecustomize.__file__, sys.path[1])"
    monkeypatch.setenv("PYTHONPATH", str(own))
    assert finish(folder, "-c", script) == (0, f"True {own}\n", "parent: 0 \n")
    Path(own, "sitecustomize.py").write_text("raise ValueError('its own')\n")
    plain = subprocess.run([sys.executable, "-c", ""], text=True, capture_output=True, check=True).stderr
    assert finish(folder, "-c", "")[2] == 2 * plain + "parent: 0 \n"  # the parent has that environment, too
    assert "its own" in plain


def test_a_child_that_python_starts_is_observed_as_well(folder: Path) -> None:
    script = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'pass', 'inner'], check=True)"
    assert finish(folder, "-c", script)[0] == 0
    assert sorted(command.split()[-1] for command in notes(folder)) == ["check=True)", "inner"]


@pytest.mark.parametrize(
    ("code", "status", "message"),
    [
        ("import sys; sys.exit(3)", 3, ""),
        ("import sys; sys.exit('said why')", 1, "said why"),
        ("raise LookupError('lost')", 1, "LookupError: lost"),
        ("import os; os._exit(4)", 4, ""),
        ("import os; os.kill(os.getpid(), 9)", 137, "parent: 137 SIGKILL"),
        ("import os; os.kill(os.getpid(), 15)", 143, "parent: 143 SIGTERM"),
        ("import os; os.abort()", 134, "parent: 134 SIGABRT"),
    ],
)
def test_exit_statuses(folder: Path, code: str, status: int, message: str) -> None:
    found, stdout, stderr = finish(folder, "-c", code)
    assert (found, stdout) == (status, "")
    assert message in stderr
    assert "evidence" not in stderr  # no frame of ours in a traceback


def test_the_journal_of_a_killed_program_is_kept_and_has_no_end(folder: Path) -> None:
    finish(folder, "-c", "import os; os.kill(os.getpid(), 9)")
    finish(folder, "-c", "raise SystemExit(5)")
    kinds = {command: [note["kind"] for note in journal] for command, journal in notes(folder).items()}
    assert sorted(kinds.values()) == [["process"], ["process", "end"]]


def ready(parent: subprocess.Popen[str]) -> None:
    assert parent.stdout is not None
    assert parent.stdout.readline() == "ready\n"


@pytest.mark.parametrize(
    ("number", "status", "said"),
    [(signal.SIGTERM, 143, "parent: 143 SIGTERM"), (signal.SIGHUP, 129, "SIGHUP"), (signal.SIGUSR1, 138, "SIGUSR1")],
)
def test_signals_for_gbfix_alone_are_passed_on(folder: Path, number: int, status: int, said: str) -> None:
    parent = start(folder, ["sleeper.py"])
    ready(parent)
    parent.send_signal(number)
    _, stderr = parent.communicate()
    assert parent.returncode == status
    assert said in stderr


@pytest.mark.parametrize("whole_group", [True, False])
def test_an_interrupt_reaches_the_program_once_and_gbfix_goes_on(folder: Path, whole_group: bool) -> None:
    parent = start(folder, ["sleeper.py"], start_new_session=True)
    ready(parent)
    if whole_group:
        os.killpg(parent.pid, signal.SIGINT)
    else:
        parent.send_signal(signal.SIGINT)
    stdout, stderr = parent.communicate()
    assert (parent.returncode, stdout, stderr) == (7, "interrupted\n", "parent: 7 \n")


def test_ctrl_c_on_a_terminal_reaches_the_program_once(folder: Path) -> None:
    # A program that takes its time to end would be hurt by a second interrupt.
    Path(folder, "slow.py").write_text(SLEEPER.replace("    sys.exit(7)", "    time.sleep(2)\n    sys.exit(7)"))
    master, terminal = os.openpty()
    attach = "import fcntl, os, sys, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    parent = subprocess.Popen(
        [sys.executable, "-c", attach + PARENT, str(folder.parent / "journals"), "slow.py"],
        cwd=folder,
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    ready(parent)
    os.write(master, b"\x03")
    stdout, stderr = parent.communicate()
    os.close(master)
    os.close(terminal)
    assert (parent.returncode, stdout, stderr) == (7, "interrupted\n", "parent: 7 \n")


def test_signals_that_were_ignored_stay_ignored_for_both(folder: Path) -> None:
    ignoring = "import signal\nsignal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    parent = subprocess.Popen(
        [sys.executable, "-c", ignoring + PARENT, str(folder.parent / "journals"), "sleeper.py"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    ready(parent)
    parent.send_signal(signal.SIGHUP)
    time.sleep(0.2)
    assert parent.poll() is None
    parent.terminate()
    parent.communicate()
    assert parent.returncode == 143


def test_descriptors_of_the_shell_are_handed_on(folder: Path) -> None:
    read, write = os.pipe()
    script = f"import os; os.write({write}, b'through')"
    parent = start(folder, ["-c", script], pass_fds=(write,))
    parent.communicate()
    os.close(write)
    assert os.read(read, 100) == b"through"
    os.close(read)


def test_what_words_mean(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    python = sys.executable
    assert resolve_command(["look.py", "a", "-b"]) == (python, "look.py", "a", "-b")
    assert resolve_command(["-m", "module", "x"]) == (python, "-m", "module", "x")
    assert resolve_command(["-c", "code"]) == (python, "-c", "code")
    assert resolve_command(["package"]) == (python, "package")
    assert resolve_command(["sh", "-c", "x.py"]) == ("sh", "-c", "x.py")
    assert resolve_command([python, "missing.py"]) == (python, "missing.py")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command given"),
        (["missing.py"], "missing.py: no such script in "),
        (["notebook.ipynb"], "jupyter nbconvert --to script notebook.ipynb"),
        (["no-such-program-anywhere"], "no such program on the PATH; if it is a Python module write: -m no-such"),
        (["./no/such"], "./no/such: no such program"),
        (["TORCH_LOGS=recompiles", "look.py"], "before gbfix: TORCH_LOGS=recompiles gbfix trace -- CMD"),
        (["."], ".: is a folder without a __main__.py"),
        (["./data"], "./data: is not an executable program; to run it with Python write: python ./data"),
    ],
)
def test_words_that_mean_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str) -> None:
    monkeypatch.chdir(folder)
    Path("data").write_text("print(1)\n")
    with pytest.raises(GbfixError) as caught:
        resolve_command(words)
    assert message in str(caught.value)


def test_a_program_that_the_system_refuses_is_named(folder: Path) -> None:
    Path(folder, "broken").write_bytes(b"\x00\x01 no program")
    Path(folder, "broken").chmod(0o755)
    status, _, stderr = finish(folder, "./broken")
    assert status == 1
    assert stderr.splitlines()[-1] == "gbfix.engine.model.GbfixError: ./broken: cannot be started: Exec format error"


def test_the_environment_of_a_program(tmp_path: Path) -> None:
    base = {"PYTHONPATH": "mine", "OTHER": "kept", "GBFIX_VALUES": "0"}
    found = observed_environment(base, journals=tmp_path)
    assert found == {
        "PYTHONPATH": f"{BOOTSTRAP}{os.pathsep}mine",
        "OTHER": "kept",
        "GBFIX_JOURNAL": str(tmp_path.resolve()),
    }
    assert observed_environment({}, overlay=tmp_path, values=False) == {
        "PYTHONPATH": str(BOOTSTRAP),
        "GBFIX_OVERLAY": str(tmp_path.resolve()),
        "GBFIX_VALUES": "0",
    }
