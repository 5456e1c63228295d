"""Versions in processes of their own, and every way in which such a process can come to an end."""

from __future__ import annotations

import gc
import os
import time
from pathlib import Path

import pytest
import torch
from subjects import number, subject, target, vector, written

from gbfix.equivalence import starting
from gbfix.equivalence.example import Example
from gbfix.equivalence.model import CheckError, Mode, Settings
from gbfix.equivalence.subject import Subject, SubjectEnded

SHORT = Settings(call_seconds=1.0)

PROGRAM = """\
import ctypes, multiprocessing, os, signal, socket, sys, threading, time
import torch

calls = 0

def plain(x):
    return x + 1

def stateful(x):
    global calls
    calls += 1
    return x + calls

def crash(x):
    os.kill(os.getpid(), signal.SIGSEGV)

def real_crash(x):
    ctypes.string_at(0)

def leave(x):
    os._exit(3)

def leave_with_zero(x):
    os._exit(0)

def system_exit(x):
    sys.exit(4)

def interrupt(x):
    raise KeyboardInterrupt

def hang(x):
    while True:
        time.sleep(1)

def slow(x):
    time.sleep(1.2)

@torch.compile
def decorated(x):
    if x.sum() > 0 and len(x) > 1:
        return x + 1
    elif x.sum() == 0:
        return x
    while x.min() < -5:
        x = x / 2
    return x if x.max() > -2 else -x

def busy(x):
    while True:
        pass

def deaf(x):
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.kill(os.getpid(), signal.SIGSTOP)

def kill_group(x):
    os.kill(0, signal.SIGKILL)

def out_of_memory(x):
    return bytearray(1 << 50)

def out_of_memory_in_torch(x):
    return torch.empty(1 << 50)

def killed(x):
    os.kill(os.getpid(), signal.SIGKILL)

def close_all(x):
    os.closerange(3, 4096)

def close_some(x):
    os.closerange(3, 256)
    return x + 1

def close_and_reopen(x):
    os.closerange(3, 4096)
    for index in range(500):
        os.open(os.environ["SCRATCH"], os.O_CREAT | os.O_RDWR)

def spoil(x):
    for number in range(3, 1024):
        try:
            socket.socket(fileno=os.dup(number)).send(b"\\xff" * 100)
        except OSError:
            pass
    return x + 1

def fork_and_return(x):
    os.fork()
    return x + 1

def leave_a_child(x):
    if os.fork() == 0:
        time.sleep(1000)
    with open(os.environ["SCRATCH"], "w") as file:
        file.write(str(os.getpgrp()))
    os._exit(5)

def start_thread(x):
    threading.Thread(target=time.sleep, args=(1000,)).start()
    return x + 1

def work(queue):
    queue.put(41)

def child_process(x):
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=work, args=(queue,))
    process.start()
    value = queue.get()
    process.join()
    return value + x

def replace_output(x):
    sys.stdout = sys.stderr = None
    return x + 1

def close_output(x):
    os.close(1)
    os.close(2)
    return x + 1

def change_folder(x):
    os.chdir("/")
    return x + 1

def read_input(x):
    return sys.stdin.read()

def environment(x):
    return sorted(name for name in os.environ if name.startswith("GBFIX_"))

def yields(x):
    print("begins")
    yield x
    yield x + 1

async def later(x):
    return x + 1

async def yields_later(x):
    yield x

def large(x):
    return torch.zeros(3_000_000)

class Local:
    def __reduce__(self):
        raise TypeError("no")

def unpicklable(x):
    return Local()

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)
        self.register_buffer("count", torch.zeros(()))
    def forward(self, x):
        self.count += 1
        return self.linear(x)
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SCRATCH", str(tmp_path / "scratch"))
    monkeypatch.setenv("GBFIX_VALUES", "1")
    return written(tmp_path, PROGRAM)


def _how(path: Path, attribute: str, settings: Settings) -> str:
    one = subject(path, attribute, settings=settings)
    try:
        with pytest.raises(SubjectEnded) as ended:
            one.observe(number(1))
    finally:
        one.close()
    return ended.value.how


@pytest.mark.parametrize(
    ("attribute", "how"),
    [
        ("crash", "was killed by SIGSEGV"),
        ("real_crash", "was killed by SIGSEGV"),
        ("leave", "exited with status 3 (os._exit)"),
        ("leave_with_zero", "exited with status 0 (os._exit)"),
        ("interrupt", "raised KeyboardInterrupt"),
        ("hang", "did not answer within 1 s"),
        ("busy", "did not answer within 1 s"),
        ("deaf", "did not answer within 1 s"),
        ("kill_group", "was killed by SIGKILL, as the system does when memory runs out"),
        ("killed", "was killed by SIGKILL, as the system does when memory runs out"),
        ("out_of_memory", "out of memory"),
        ("out_of_memory_in_torch", "out of memory"),
        ("close_all", "closed its line to gbfix"),
        ("close_some", "closed file descriptors that gbfix uses"),
        ("close_and_reopen", "closed its line to gbfix"),
        ("spoil", "wrote into its line to gbfix"),
    ],
)
def test_how_a_process_ends(program: Path, attribute: str, how: str) -> None:
    assert _how(program, attribute, SHORT if "did not answer" in how else Settings()) == how


def test_versions_for_a_gpu_are_started_where_nothing_asked_for_one(
    program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "start_method", lambda _device: "forkserver")
    one = subject(program, "plain", Mode.COMPILED)
    observation = one.observe(vector(1.0))
    one.close()
    assert observation.raised is None
    assert observation.graphs == 1
    assert _how(program, "leave", Settings()) == "exited with status 3 (os._exit)"
    assert _how(program, "crash", Settings()) == "was killed by SIGSEGV"
    assert _how(program, "hang", SHORT) == "did not answer within 1 s"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="PyTorch finds no CUDA device here")
def test_a_version_on_a_gpu_after_the_host_has_asked_for_one(program: Path) -> None:
    assert torch.cuda.device_count()
    one = subject(program, "plain", Mode.COMPILED, Settings(device="cuda"))
    observation = one.observe(vector(1.0))
    one.close()
    assert observation.raised is None
    assert observation.result is not None
    assert observation.result.tensor is not None
    assert observation.result.tensor.device.startswith("cuda")


def test_a_limit_of_memory(program: Path) -> None:
    path = written(program.parent, "import torch\ndef fill(x):\n    return torch.ones(20_000_000_000)\n", "fill.py")
    assert _how(path, "fill", Settings(memory=16 << 30)) == "out of memory"


def test_a_child_that_is_left_behind_neither_holds_the_line_nor_lives_on(program: Path) -> None:
    assert _how(program, "leave_a_child", Settings(call_seconds=20)) == "exited with status 5 (os._exit)"
    group = int((program.parent / "scratch").read_text())
    until = time.monotonic() + 5
    while time.monotonic() < until and _lives(group):
        time.sleep(0.05)
    assert not _lives(group)


@pytest.mark.parametrize(
    "attribute",
    [
        "fork_and_return",
        "start_thread",
        "replace_output",
        "close_output",
        "change_folder",
        "read_input",
        "environment",
        "large",
        "unpicklable",
        "child_process",
    ],
)
def test_what_a_process_survives(program: Path, attribute: str) -> None:
    one = subject(program, attribute)
    try:
        for _ in range(2):
            observation = one.observe(number(1))
            assert observation.raised is None, observation.raised
            assert observation.result is not None
            assert observation.again is not None
        if attribute == "read_input":
            assert observation.result.text == "''"
        if attribute == "environment":
            assert observation.result.items == ()
        if attribute == "child_process":
            assert observation.result.text == "42"
    finally:
        one.close()


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    ("attribute", "kind", "values"),
    [("yields", "generator", ["1", "2"]), ("later", "coroutine", "2"), ("yields_later", "async generator", ["1"])],
)
def test_what_a_call_promises_is_run(program: Path, mode: Mode, attribute: str, kind: str, values: object) -> None:
    one = subject(program, attribute, mode)
    observation = one.observe(number(1))
    one.close()
    assert observation.result is not None
    (_, first), (_, second) = observation.result.items
    assert first.text == repr(kind)
    assert values == ([item.text for _, item in second.items] if second.items else second.text)
    assert [event.text for event in observation.events] == (["begins\n"] if attribute == "yields" else [])


def test_each_of_the_two_calls_has_the_whole_limit(program: Path) -> None:
    one = subject(program, "slow", settings=Settings(call_seconds=2.0))
    assert one.observe(number(1)).raised is None
    one.close()


def test_sides_of_the_conditions_that_the_other_version_changed(program: Path) -> None:
    start = PROGRAM.index("    if x.sum() > 0 and")
    rewritten = PROGRAM[:start] + "    return x\n\n" + PROGRAM[PROGRAM.index("def busy") :]
    aim = target(program, "decorated")
    one = Subject(aim, {}, Mode.EAGER, Settings(), other_texts={str(program): rewritten}, measure=True)
    branches = one.setup().branches
    assert [each.text for each in branches] == [
        "x.sum() > 0 and len(x) > 1",
        "x.sum() > 0",
        "x.sum() == 0",
        "x.min() < -5",
        "x.max() > -2",
    ]
    noted = []
    for numbers in [(1.0, 2.0), (3.0,), (0.0, 0.0), (-8.0, -1.0), (-3.0,)]:
        observation = one.observe(vector(*numbers))
        noted.append([(taken.index, taken.outcome, taken.distance) for taken in observation.branches])
        assert observation.again is not None
        assert observation.again.branches == observation.branches
    one.close()
    assert noted == [
        [(1, True, 3.0), (0, True, None)],
        [(1, True, 3.0), (0, False, None), (2, False, 3.0), (3, False, 8.0), (4, True, 5.0)],
        [(1, False, 0.0), (0, False, None), (2, True, 0.0)],
        [
            *[(1, False, 9.0), (0, False, None), (2, False, 9.0)],
            *[(3, True, 3.0), (3, False, 1.0), (4, True, 1.5)],
        ],
        [(1, False, 3.0), (0, False, None), (2, False, 3.0), (3, False, 2.0), (4, False, 1.0)],
    ]


def test_an_exit_within_the_call_is_an_exception(program: Path) -> None:
    one = subject(program, "system_exit")
    observation = one.observe(number(1))
    assert observation.raised is not None
    assert (observation.raised.type, observation.raised.text) == ("SystemExit", "4")
    one.close()


def test_a_version_that_ended_is_refused_until_it_is_started_again(program: Path) -> None:
    one = subject(program, "leave")
    with pytest.raises(SubjectEnded):
        one.observe(number(1))
    with pytest.raises(SubjectEnded, match="exited with status 3"):
        one.observe(number(1))
    one.close()
    again = subject(program, "plain")
    assert again.observe(number(1)).result.text == "2"  # type: ignore[union-attr]
    again.close()


def test_two_versions_share_nothing_and_work_at_the_same_time(program: Path) -> None:
    pair = subject(program, "stateful"), subject(program, "stateful")
    first = pair[0].observe(number(0))
    assert [first.result.text, first.again.result.text] == ["1", "2"]  # type: ignore[union-attr]
    for one in pair:
        one.send(number(0))
    assert [one.receive().result.text for one in pair] == ["3", "1"]
    for one in pair:
        one.close()


def test_what_cannot_be_loaded(program: Path) -> None:
    broken = written(
        program.parent, "import torch\n\n\ndef f(x):\n    return 1\n\nraise ValueError('no')\n", "broken.py"
    )
    one = subject(broken, "f")
    with pytest.raises(CheckError, match=r"broken.py:7: ValueError: no"):
        one.setup()
    with pytest.raises(CheckError, match=r"broken.py:7"):
        one.observe(number(1))
    one.close()


def test_an_end_while_loading(program: Path) -> None:
    one = subject(written(program.parent, "import os\nos._exit(7)\n", "ends.py"), "f")
    with pytest.raises(SubjectEnded, match="exited with status 7"):
        one.setup()
    one.close()


def test_what_the_target_is(program: Path) -> None:
    text = """\
    from __future__ import annotations
    import torch
    from typing import Optional
    Tensor = torch.Tensor

    def f(x: Tensor, mask: Optional[Tensor], *rest: int, scale: float = 2.0, other=object(), **more): ...
    """
    one = subject(written(program.parent, text, "typed.py"), "f")
    setup = one.setup()
    assert [(each.name, each.kind, each.required, each.default) for each in setup.parameters] == [
        ("x", "POSITIONAL_OR_KEYWORD", True, None),
        ("mask", "POSITIONAL_OR_KEYWORD", True, None),
        ("rest", "VAR_POSITIONAL", False, None),
        ("scale", "KEYWORD_ONLY", False, "2.0"),
        ("other", "KEYWORD_ONLY", False, None),
        ("more", "VAR_KEYWORD", False, None),
    ]
    assert [each.annotation for each in setup.parameters[:4]] == [
        "torch.Tensor",
        "Optional[torch.Tensor]",
        "int",
        "float",
    ]
    assert not setup.module
    one.close()


def test_a_module_is_new_for_each_example_and_the_same_for_both_of_its_calls(program: Path) -> None:
    one = subject(program, "Net")
    assert one.setup().module
    first, second, other = (one.observe(vector(1.0, 2.0, module_seed=seed, training=True)) for seed in (0, 0, 1))
    assert first.result == second.result
    assert first.state == second.state
    assert first.result != other.result
    assert first.again is not None
    assert first.again.state != first.state  # the buffer counts
    one.close()


def test_both_modes_agree_on_a_module(program: Path) -> None:
    eager, compiled = subject(program, "Net"), subject(program, "Net", Mode.COMPILED)
    example = vector(1.0, 2.0)
    assert eager.observe(example).result == compiled.observe(example).result
    eager.close()
    compiled.close()


def test_a_forgotten_version_ends(program: Path) -> None:
    one = subject(program, "plain")
    one.setup()
    pid = one._process.pid
    folder = one._folder
    del one
    gc.collect()
    assert pid is not None
    assert not _lives(pid)
    assert not os.path.exists(folder)


def test_timing_requests_are_answered(program: Path) -> None:
    from gbfix.equivalence.stopwatch import ColdStart, Round, Started

    one = Subject(target(program, "plain"), {}, Mode.COMPILED, Settings())
    one.send(ColdStart(vector(1.0), str(program.parent / "cache")))
    started = one.receive()
    assert isinstance(started, Started)
    one.send(Round(2))
    assert one.receive() > 0
    one.close()


def test_an_example_that_does_not_fit_is_no_end(program: Path) -> None:
    one = subject(program, "plain")
    observation = one.observe(Example())
    assert observation.raised is not None
    assert observation.raised.type == "TypeError"
    assert one.observe(number(2)).result.text == "3"  # type: ignore[union-attr]
    one.close()


def _lives(process: int) -> bool:
    try:
        os.killpg(process, 0)
    except ProcessLookupError:
        return False
    return True
