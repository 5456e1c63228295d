from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest
from overlaid import Overlaid, lines

SEEN = """
import json, os, sys
import sys as _sys  # original
names = ("__name__", "__file__", "__spec__", "__package__", "__cached__", "__doc__")
print(json.dumps({
    "globals": [(name, type(value).__name__) for name, value in list(globals().items())],
    "values": {name: globals()[name] for name in names},
    "loader": [__loader__.name, __loader__.path],
    "main": sys.modules["__main__"].__dict__ is globals(),
    "argv": sys.argv,
    "orig_argv": sys.orig_argv,
    "path": sys.path,
    "hooks": [str(type(hook)) for hook in sys.path_hooks],
    "cached": sorted(path for path in sys.path_importer_cache if path.endswith("seen.py")),
    "flags": str(sys.flags),
    "warnings": sys.warnoptions,
    "X": sys._xoptions,
    "cwd": os.getcwd(),
    "environment": sorted(name for name in os.environ if "PYTHON" in name),
    "stdin": sys.stdin.read(),
}))
"""


@pytest.fixture
def project(tmp_path: Path) -> Overlaid:
    return Overlaid(Path(os.path.realpath(tmp_path)))


@pytest.mark.parametrize(
    "words",
    [
        ["seen.py", "--option", "a b"],
        ["./folder/../folder/seen.py"],
        ["folder/link.py"],
        ["-u", "-B", "-O", "-X", "dev", "-X", "mine=1", "-W", "error::UserWarning", "seen.py", "-x"],
        pytest.param(
            ["-P", "seen.py"], marks=pytest.mark.skipif(sys.version_info < (3, 11), reason="-P is new in 3.11")
        ),
    ],
    ids=["arguments", "path", "link", "options", "safe-path"],
)
def test_the_program_sees_what_it_would_see(project: Overlaid, words: list[str]) -> None:
    project.write("seen.py", SEEN)
    project.write("folder/seen.py", SEEN)
    (project.root / "folder/link.py").symlink_to("../seen.py")
    plain = json.loads(lines(project.python(*words, stdin="typed\n", overlay=False))[0])
    project.overlay("seen.py", "folder/seen.py")
    (line,) = lines(project.python(*words, stdin="typed\n"))
    assert json.loads(line) == plain
    assert len(project.loaded()) == 1


def test_from_another_folder_by_an_absolute_path(project: Overlaid) -> None:
    path = project.write("src/seen.py", SEEN)
    (project.root / "elsewhere").mkdir()
    plain = json.loads(lines(project.python(str(path), folder="elsewhere", overlay=False))[0])
    project.overlay("src/seen.py")
    assert json.loads(lines(project.python(str(path), folder="elsewhere"))[0]) == plain
    assert project.loaded() == {"src/seen.py"}


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("sys.exit(3)", 3),
        ("sys.exit('words')", 1),
        ("raise SystemExit", 0),
        ("1 / 0", 1),
        ("raise KeyboardInterrupt", -signal.SIGINT),
        ("os.kill(os.getpid(), 15)", -signal.SIGTERM),
        ("os._exit(9)", 9),
        ("raise ValueError('outer') from KeyError('inner')", 1),
        ("sys.excepthook = lambda *error: print('mine', error[0].__name__, error[2].tb_lineno)\n1 / 0", 1),
    ],
)
def test_every_end_is_as_without_the_overlay(project: Overlaid, end: str, code: int) -> None:
    project.write("end.py", f"import os, sys\nprint('original', flush=True)\n{end}\n")
    plain = project.python("end.py", overlay=False)
    (copy,) = project.overlay("end.py", change=lambda before: before.replace(b"original", b"the copy"))
    done = project.python("end.py")
    assert done.code == plain.code == code
    assert done.out == plain.out.replace("original", "the copy")
    assert done.err == plain.err.replace(str(project.root / "end.py"), str(copy))


def test_an_error_in_the_syntax_of_the_copy(project: Overlaid) -> None:
    project.write("main.py", "print('original')\n")
    (copy,) = project.overlay("main.py", change=lambda _before: b"print(\n")
    done = project.python("main.py")
    assert (done.code, done.out) == (1, "")
    assert f'File "{copy}", line 1' in done.err
    assert "SyntaxError" in done.err


def test_a_changed_script_is_refused(project: Overlaid) -> None:
    path = project.write("main.py", "print('original')\n")
    project.overlay("main.py")
    project.write("main.py", "print('newer original')\n")
    done = project.python("main.py")
    assert (done.code, done.out) == (1, "")
    assert f"ImportError: {path} changed since its copy in the overlay was made" in done.err
    assert f"run `gbfix apply --overlay {path}` again" in done.err


def test_a_script_without_a_copy_runs_as_ever(project: Overlaid) -> None:
    project.write("seen.py", SEEN)
    project.write("other.py", "'original'\n")
    plain = json.loads(lines(project.python("seen.py", overlay=False))[0])
    project.overlay("other.py")
    assert json.loads(lines(project.python("seen.py"))[0]) == plain
    assert project.loaded() == set()


def test_code_and_standard_input_are_left_alone(project: Overlaid) -> None:
    project.write("other.py", "'original'\n")
    project.overlay("other.py")
    assert lines(project.python("-c", "print(__name__)")) == ["__main__"]
    assert lines(project.python("-", stdin="print(__name__)")) == ["__main__"]
    assert lines(project.python(stdin="print(__name__)")) == ["__main__"]


def test_source_of_the_main_program(project: Overlaid) -> None:
    project.write(
        "main.py",
        "import inspect, sys\n\nclass Main:\n    word = 'original'\n\ndef f():\n    return 'original'\n\n"
        "print(repr(inspect.getsource(Main)), repr(inspect.getsource(f)), "
        "inspect.getsource(sys.modules['__main__'])[:11], inspect.getmodule(sys._getframe()).__name__)\n",
    )
    project.overlay("main.py")
    (line,) = lines(project.python("main.py"))
    functions = repr("class Main:\n    word = 'copy'\n"), repr("def f():\n    return 'copy'\n")
    assert line == f"{functions[0]} {functions[1]} # rewritten __main__"


def test_workers_know_the_main_program(project: Overlaid) -> None:
    project.write(
        "main.py",
        "import multiprocessing\n"
        "def work(_):\n    return ['original', __name__, __file__, work.__code__.co_filename]\n"
        "if __name__ == '__main__':\n"
        "    for method in ('fork', 'spawn', 'forkserver'):\n"
        "        with multiprocessing.get_context(method).Pool(1) as pool:\n"
        "            print(*pool.map(work, [0])[0])\n",
    )
    (copy,) = project.overlay("main.py")
    main = project.root / "main.py"
    assert lines(project.python("main.py")) == [
        f"copy __main__ {main} {copy}",
        f"copy __mp_main__ {main} {copy}",
        f"copy __mp_main__ {main} {copy}",
    ]


def test_the_ranks_of_torchrun(project: Overlaid) -> None:
    project.write("site-packages/lib.py", "def say():\n    return 'original'\n")
    # One write for a line: the ranks share the pipe, and torchrun runs them with -u.
    say = "sys.stdout.write(f'original {lib.say()} {os.environ[\"RANK\"]} {sys.argv[1:]}\\n')"
    project.write("main.py", f"import os, sys, lib\n{say}\n")
    project.overlay("main.py", "site-packages/lib.py")
    launch = ["-m", "torch.distributed.run", "--nproc_per_node", "2", "--standalone"]
    done = project.python(*launch, "main.py", "--steps", "3")
    assert sorted(lines(done)) == ["copy copy 0 ['--steps', '3']", "copy copy 1 ['--steps', '3']"]
