"""The scripts that show differences, run with plain Python: status 1 where the versions differ, 0 where they do not."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from gbfix.equivalence.example import Constant, Container, Example, Given, Listed, Recipe, TensorRecipe
from gbfix.equivalence.model import Difference, Job, Mode, Parameter, Settings, Target
from gbfix.equivalence.reproduce import program
from gbfix.equivalence.script_text import as_literal

X = TensorRecipe("float32", (2, 3), Listed((1.0, float("nan"), -0.0, 3.0, 4.0, 5.0)))
GRAD = TensorRecipe("float32", (3,), Listed((1.0, -2.0, 0.0)), requires_grad=True)
PARAMETERS = (Parameter("x", "POSITIONAL_ONLY"), Parameter("y", "POSITIONAL_OR_KEYWORD"))


@dataclass(frozen=True)
class Pair:
    """Two bodies of `step(x, /, y=None)`, how they differ, and what the script has to print of it."""

    aspect: str
    where: str
    original: str
    rewritten: str
    shows: tuple[str, ...]
    x: Recipe = X
    y: Recipe = field(default_factory=lambda: Constant(None))
    before: str = ""
    mode: Mode = Mode.EAGER
    differs: tuple[str, str] = ("one", "other")


PAIRS = {
    "value": Pair("value", "result", "return x + 1", "return x + 1.5", ("-result[0, 0] = 2.0", "+result[0, 0] = 2.5")),
    "sign of zero": Pair("value", "result", "return x * 1", "return x + 0", ("-result[0, 2] = -0.0",)),
    "number": Pair("value", "result['n']", "return {'n': 1}", "return {'n': 2}", ("-result['n'] = 1",)),
    "second call": Pair(
        "value",
        "result (second call)",
        "seen.append(1); return x * len(seen)",
        "seen.append(1); return x",
        ("-result[0, 0] = 2.0", "+result[0, 0] = 1.0"),
        before="seen = []",
    ),
    "dtype": Pair("dtype", "result", "return x", "return x.double()", ("-result: torch.float32",)),
    "shape": Pair("shape", "result", "return x", "return x[None]", ("-result: [2, 3]", "+result: [1, 2, 3]")),
    "strides": Pair(
        "strides",
        "result",
        "return x + 1",
        "return (x.t().contiguous() + 1).t()",
        ("-result: [3, 1]", "+result: [1, 2]"),
    ),
    "requires_grad": Pair("requires_grad", "result", "return x * 1", "return x.detach() * 1", (), x=GRAD),
    "type": Pair("type", "result[0]", "return [1.0]", "return [x]", ("-result[0]: float", "+result[0]: Tensor")),
    "keys": Pair("keys", "result", "return {'a': 1}", "return {'b': 1}", ("-result: ['a']",)),
    "identity": Pair("identity", "result", "return x", "return x.clone()", ("-result is the same object as x",)),
    "memory": Pair("memory", "result", "return x[0]", "return x[0].clone()", ("-result shares memory with x",)),
    "argument": Pair("value", "argument x", "x.add_(1)", "x.add(1)", ("-x[0, 0] = 2.0", "+x[0, 0] = 1.0")),
    "argument by name": Pair(
        "value", "argument y[0]", "y[0] = 7", "y[0] = 8", ("-y[0] = 7",), y=Container("list", (("0", Constant(1)),))
    ),
    "global": Pair(
        "type",
        "state global count",
        "global count; count += 1",
        "pass",
        ("-count = 1", "+count = 0"),
        before="count = 0",
    ),
    "gradient": Pair(
        "gradient",
        "gradient of x",
        "return torch.where(x > 0, torch.where(x > 0, x, 1.0).sqrt(), 0.0)",
        "return torch.where(x > 0, x.sqrt(), 0.0)",
        ("-gradient of x[1] = 0.0", "+gradient of x[1] = nan"),
        x=TensorRecipe("float32", (2,), Listed((4.0, 0.0)), requires_grad=True),
    ),
    "no gradient": Pair(
        "gradient", "gradient", "return x * 2", "return x.detach()", ("+no result requires gradients",), x=GRAD
    ),
    "unused": Pair(
        "gradient",
        "gradient of x",
        "return x * 2",
        "return (x * 2).detach() + 0 * y",
        ("+gradient of x: None",),
        GRAD,
        GRAD,
    ),
    "backward": Pair(
        "backward",
        "backward",
        "return x.exp()",
        "z = x.exp(); z.detach().zero_(); z.add_(1); return z",
        ("-the backward pass returns", "+the backward pass raises RuntimeError"),
        x=GRAD,
    ),
    "random": Pair("random", "random torch", "return x", "torch.rand(1); return x", ("random generator torch is at",)),
    "python's random": Pair(
        "random", "random python", "random.random()", "pass", ("random generator python is at",), before="import random"
    ),
    "messages": Pair(
        "messages",
        "messages [1]",
        "print('a', 1); log.info('b')",
        "log.info('b'); print('a', 1)",
        (r"stdout: 'a 1\n'", "-log model INFO: 'b'"),
        before="import logging\nlog = logging.getLogger('model')",
    ),
    "written below Python": Pair(
        "messages",
        "messages [0]",
        "os.write(1, b'a')",
        "os.write(1, b'b')",
        ("-b'a'", "+b'b'"),
        before="import os",
        differs=("stdout fd: 'a'", "stdout fd: 'b'"),
    ),
    "warning": Pair(
        "messages",
        "messages [0]",
        "warnings.warn('careful')",
        "warnings.warn('careful', FutureWarning)",
        ("-warning UserWarning: 'careful'", "+warning FutureWarning: 'careful'"),
        before="import warnings",
    ),
    "exception": Pair(
        "exception", "call", "raise ValueError('no\\nway')", "return x", (r"-raises ValueError: 'no\nway'", "+returns")
    ),
    "cause": Pair(
        "exception",
        "call",
        "try: {}['k']\n    except KeyError as error: raise ValueError('no') from error",
        "raise ValueError('no')",
        ("-raises ValueError: 'no' from KeyError", "+raises ValueError: 'no'"),
    ),
    "mode": Pair("modes", "mode grad_enabled", "return x", "torch.set_grad_enabled(False)", ("-grad mode: True",)),
    "ended": Pair("ended", "the process", "return x", "import os; os._exit(3)", ("+the process ends with status 3",)),
    "compiled": Pair(
        "value",
        "result",
        "return torch.compiler.is_compiling()",
        "return False",
        ("-result = True", "+result = False"),
        mode=Mode.COMPILED,
    ),
    "compiles itself": Pair(
        "value",
        "result",
        "return inner(x)",
        "return False",
        ("-result = True", "+result = False"),
        before="@torch.compile(mode='max-autotune')\ndef inner(x):\n    return torch.compiler.is_compiling()",
        mode=Mode.COMPILED,
    ),
    "not compiled": Pair(
        "value",
        "result",
        "return inner(x)",
        "return True",
        ("-result = False", "+result = True"),
        before="@torch.compile\ndef inner(x):\n    return torch.compiler.is_compiling()",
    ),
}


def _run(root: Path, script: str) -> tuple[int, str]:
    file = root / "elsewhere" / "shows_it.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text(script, encoding="utf-8")
    ended = subprocess.run([sys.executable, "-I", str(file)], capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout + ended.stderr


RUNNER = """\
import os, runpy, sys
import torch

for file in sys.argv[1:]:
    process = os.fork()
    if process == 0:
        output = os.open(f"{file}.out", os.O_WRONLY | os.O_CREAT)
        os.dup2(output, 1)
        os.dup2(output, 2)
        status = 0
        try:
            runpy.run_path(file, run_name="__main__")
        except SystemExit as end:
            status = end.code
        sys.stdout.flush()
        os._exit(status)
    _, ended = os.waitpid(process, 0)
    open(f"{file}.status", "w").write(str(os.waitstatus_to_exitcode(ended)))
"""
SAME = ("value", "gradient", "messages", "memory", "random", "compiled", "global")
"""Those whose original is also compared with itself."""


def _text(body: str, before: str) -> str:
    return f"import torch\n\n{before}\n\n\ndef step(x, /, y=None):\n    {body}\n"


def _job(root: Path, original: str, rewritten: str, attribute: str = "step", **settings: Any) -> Job:
    file = root / "model.py"
    target = Target(f"model:{attribute}", str(file), "model", str(root), attribute)
    return Job(target, {str(file): original}, {str(file): rewritten}, settings=Settings(**settings))


def _script(root: Path, pair: Pair, rewritten: str) -> str:
    job = _job(root, _text(pair.original, pair.before), _text(rewritten, pair.before))
    example = Example((("x", pair.x), ("y", pair.y)))
    return program(job, example, Difference(pair.aspect, pair.where, *pair.differs, pair.mode), PARAMETERS)


MODULE = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        return self.layer(x) * 1.0 if self.training else x

    def other(self, x):
        return x * 1.0


def make():
    return Net()


ready = Net()
"""


@dataclass(frozen=True)
class Called:
    """What is called of `MODULE`, how the rewritten text differs, and what the script has to print of it."""

    attribute: str
    factory: str
    where: str
    change: tuple[str, str]
    shows: str


CALLED = {
    "class": Called("Net", "", "result", ("1.0 if", "2.0 if"), "result[0, 0] = nan"),
    "method": Called("Net.other", "", "result", ("x * 1.0", "x * 3.0"), "+result[0, 0] = 3.0"),
    "factory": Called("Net", "make", "state self.calls", ("+= 1", "+= 2"), "-self.calls = 1"),
    "factory of a module": Called(
        "Net", "model:make", "gradient of self.layer.weight", ("1.0 if", "2.0 if"), "of self.layer.bias[0] = "
    ),
    "object": Called("ready", "", "state self.calls", ("+= 1", "+= 2"), "+self.calls = 2"),
}


def _module_script(root: Path, called: Called) -> str:
    job = _job(root, MODULE, MODULE.replace(*called.change), called.attribute, dtype="float64")
    job = replace(job, target=replace(job.target, factory=called.factory))
    example = Example((("x", replace(X, dtype="float64")),), training=True, module_seed=5)
    aspect = "gradient" if called.where.startswith("gradient") else "value"
    return program(job, example, Difference(aspect, called.where, "one", "other"))


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all scripts, what they printed and how they ended; they ran in forks of a process with torch."""
    folder = tmp_path_factory.mktemp("scripts")
    for number, pair in enumerate(PAIRS.values()):
        (folder / f"{number}.py").write_text(_script(folder, pair, pair.rewritten), encoding="utf-8")
    for name in SAME:
        pair = PAIRS[name]
        (folder / f"same_{name}.py").write_text(_script(folder, pair, pair.original), encoding="utf-8")
    for number, called in enumerate(CALLED.values()):
        (folder / f"called_{number}.py").write_text(_module_script(folder, called), encoding="utf-8")
    files = [str(file) for file in folder.glob("*.py")]
    subprocess.run([sys.executable, "-I", "-c", RUNNER, *files], check=True)
    return folder


def _ended(folder: Path, name: str) -> tuple[int, str]:
    output = (folder / f"{name}.py.out").read_text(encoding="utf-8")
    return int((folder / f"{name}.py.status").read_text()), output


@pytest.mark.parametrize("name", PAIRS)
def test_the_script_shows_the_difference(name: str, ran: Path) -> None:
    status, output = _ended(ran, str(list(PAIRS).index(name)))
    assert status == 1, output
    for line in PAIRS[name].shows:
        assert line in output


@pytest.mark.parametrize("name", SAME)
def test_the_script_of_equal_versions_ends_with_0(name: str, ran: Path) -> None:
    status, output = _ended(ran, f"same_{name}")
    assert status == 0, output
    assert "the versions do not differ here" in output


# -- what is called ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CALLED)
def test_modules_are_built_like_in_the_check(name: str, ran: Path) -> None:
    status, output = _ended(ran, f"called_{list(CALLED).index(name)}")
    assert status == 1, output
    assert CALLED[name].shows in output


def test_unchanged_modules_of_a_package_come_from_the_project(tmp_path: Path) -> None:
    package = tmp_path / "project" / "package"
    (package / "inner").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "inner" / "__init__.py").write_text("LIMIT = 4")
    (package / "helper.py").write_text("def helper(x):\n    return x + 1\n")
    text = "from .helper import helper\nfrom . import inner\n\n\ndef step(x):\n    return helper(x) * inner.LIMIT\n"
    (package / "model.py").write_text(text)
    file, other = str(package / "model.py"), str(package / "inner" / "__init__.py")
    target = Target("package.model:step", file, "package.model", str(tmp_path / "project"), "step")
    job = Job(target, {file: text, other: "LIMIT = 4"}, {file: text, other: "LIMIT = 5"})
    script = program(job, Example((("x", Constant(1)),)), Difference("value", "result", "8", "10"))
    status, output = _run(tmp_path, script)
    assert status == 1, output
    assert "-result = 8" in output
    assert "+result = 10" in output


def test_arguments_of_the_users_own(tmp_path: Path) -> None:
    data = io.BytesIO()
    torch.save(((torch.ones(2), 3), {}), data)
    job = replace(_job(tmp_path, _text("return y", ""), _text("return y + 1", "")), inputs="tests.inputs:calls")
    example = Example(given=Given(data.getvalue(), "ones and three"))
    script = program(job, example, Difference("value", "result", "3", "4"))
    assert "ones and three" in script
    assert "tests.inputs:calls" in script
    status, output = _run(tmp_path, script)
    assert (status, "-result = 3" in output) == (1, True), output


# -- texts ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "plain\n",
        "",
        "no end",
        "a '''' b\n",
        "back\\slash\n",
        "ends in \\",
        "ends in '",
        "windows\r\nline\r\n",
        "form\x0cfeed\u2028\n",
        "ä €\n",
        "\ud800 alone\n",
    ],
)
def test_a_literal_is_the_text(text: str) -> None:
    assert ast.literal_eval(as_literal(text)) == text


def test_a_long_text_stands_at_the_end_and_what_changed_at_the_beginning(tmp_path: Path) -> None:
    long = "".join(f"NAME_{number} = {number}\n" for number in range(500))
    script = _script(tmp_path, replace(PAIRS["value"], before=long), "return x + 1.5")
    assert script.index("#-    return x + 1\n#+    return x + 1.5\n") < script.index("def arguments")
    assert script.index("NAME_77 = 77") > script.index("def arguments")
    compile(script, "script", "exec")


def test_the_beginning_says_what_differs(tmp_path: Path) -> None:
    script = _script(tmp_path, PAIRS["compiled"], "return False")
    documentation = ast.get_docstring(ast.parse(script))
    assert documentation is not None
    assert "model:step differ in this: value, result, compiled with the backend eager" in documentation
    assert "x=float32[2, 3] [1.0, nan, -0.0" in documentation
