"""A program is loaded with the texts of one version, in a process of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from subjects import number, target, vector, written

from gbfix.equivalence.loading import load_object
from gbfix.equivalence.model import CheckError, Mode, Settings, Target
from gbfix.equivalence.subject import Subject


def _loaded(folder: Path, aim: Target, texts: dict[str, str], ask: str) -> Any:
    """The value of an expression about the loaded `module`, or "CheckError: text", from a fresh process."""
    driver = f"""\
    import json, sys, inspect, linecache, traceback
    from gbfix.equivalence.loading import load, load_object, substitute
    from gbfix.equivalence.model import CheckError, Target
    substitute({texts!r})
    try:
        module = load({aim!r}, {list(texts)!r})
        print(json.dumps({ask}))
    except CheckError as error:
        print(json.dumps("CheckError: " + str(error)))
    """
    ran = subprocess.run(
        [sys.executable, "-c", dedent(driver)], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_the_text_takes_the_place_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, "def f():\n    return 'on disk'\n")
    text = "# moved down\n\ndef f():\n    return 'given'\n\ndef g():\n    raise ValueError\n"
    ask = """{
        "value": module.f(), "file": module.__file__, "code": module.f.__code__.co_filename, "name": module.__name__,
        "source": inspect.getsource(module.f), "line": linecache.getline(module.__file__, 7),
        "loader": module.__loader__.get_source("program"), "data": module.__loader__.get_data(module.__file__).decode(),
    }"""
    assert _loaded(tmp_path, target(path, "f"), {str(path): text}, ask) == {
        "value": "given",
        "file": str(path),
        "code": str(path),
        "name": "program",
        "source": "def f():\n    return 'given'\n",
        "line": "    raise ValueError\n",
        "loader": text,
        "data": text,
    }
    assert not (tmp_path / "__pycache__").exists()


def test_bytecode_of_the_file_is_not_taken_for_the_text(tmp_path: Path) -> None:
    path = written(tmp_path, "def f():\n    return 'on disk'\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    subprocess.run([sys.executable, "-c", "import program"], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "__pycache__").exists()
    assert _loaded(tmp_path, target(path, "f"), {str(path): "def f():\n    return 'given'\n"}, "module.f()") == "given"
    assert _loaded(tmp_path, target(path, "f"), {}, "module.f()") == "on disk"


def test_a_package_with_relative_imports(tmp_path: Path) -> None:
    written(tmp_path, "from .helper import helped\n", "package/__init__.py")
    helper = written(tmp_path, "def helped():\n    return 'on disk'\n", "package/helper.py")
    path = written(tmp_path, "from .. import helped\n\ndef f():\n    return helped()\n", "package/inner/model.py")
    written(tmp_path, "", "package/inner/__init__.py")
    aim = target(path, "f", module="package.inner.model", search=tmp_path)
    given = {str(helper): "def helped():\n    return 'given'\n"}
    assert _loaded(tmp_path, aim, given, "[module.f(), module.__name__]") == ["given", "package.inner.model"]


def test_a_file_through_a_symbolic_link(tmp_path: Path) -> None:
    path = written(tmp_path / "real", "def f():\n    return 'on disk'\n")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    aim = Target("program:f", str(path), "program", str(tmp_path / "link"), "f")
    given = {str(path): "def f():\n    return 'given'\n"}
    assert _loaded(tmp_path, aim, given, "module.f()") == "given"


def test_files_that_no_name_leads_to(tmp_path: Path) -> None:
    text = "def f():\n    return __name__\n"
    odd = written(tmp_path, text, "my-model.py")
    assert _loaded(tmp_path, target(odd, "f"), {}, "module.f()") == "my-model"
    like_a_library = written(tmp_path, text, "json.py")
    assert _loaded(tmp_path / "..", target(like_a_library, "f"), {}, "module.f()") == "json_checked"


def test_the_main_block_is_not_run(tmp_path: Path) -> None:
    path = written(tmp_path, "x = 1\nif __name__ == '__main__':\n    x = 2\n")
    assert _loaded(tmp_path, target(path, "x"), {}, "module.x") == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("x = 1\nraise ValueError('a\\nb')\n", "program.py:2: ValueError: a b"),
        ("def f(:\n    pass\n", "program.py:1: SyntaxError: "),
        ("import no_such_module\n", "program.py:1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("import sys\nsys.exit(2)\n", "program.py:2: SystemExit: 2"),
        ("import json\njson.loads('{')\n", "program.py:2: JSONDecodeError: "),
        ("\n\ndef g():\n    assert False\n\ng()\n", "program.py:4: AssertionError"),
    ],
)
def test_errors_of_the_program_say_where(tmp_path: Path, text: str, says: str) -> None:
    path = written(tmp_path, "")
    said = _loaded(tmp_path, target(path, "f"), {str(path): text}, "0")
    assert said.startswith(f"CheckError: {tmp_path}/{says}")


def test_an_error_in_an_imported_file_names_that_file(tmp_path: Path) -> None:
    written(tmp_path, "def f():\n    return 1 / 0\n", "helper.py")
    path = written(tmp_path, "import helper\nhelper.f()\n")
    said = _loaded(tmp_path, target(path, "f"), {}, "0")
    assert said == f"CheckError: {tmp_path}/helper.py:2: ZeroDivisionError: division by zero"


def test_pytorch_itself_cannot_be_checked() -> None:
    import torch.nn.functional

    file = str(Path(torch.nn.functional.__file__).resolve())
    aim = Target("torch.nn.functional:relu", file, "torch.nn.functional", str(Path(file).parents[3]), "relu")
    with _version(aim) as one, pytest.raises(CheckError, match="belongs to torch, which runs the checks"):
        one.setup()


def _version(aim: Target, texts: dict[str, str] | None = None) -> closing[Subject]:
    return closing(Subject(aim, texts or {}, Mode.EAGER, Settings()))


def _says(path: Path, attribute: str, factory: str = "") -> str:
    with _version(target(path, attribute, factory=factory)) as one, pytest.raises(CheckError) as raised:
        one.setup()
    return str(raised.value)


TARGETS = """\
import torch

class Net(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = torch.nn.Linear(width, 1)
    def forward(self, x, scale=2.0):
        return self.linear(x) * scale
    def twice(self, y):
        return self.forward(y) * 2

class Small(torch.nn.Module):
    def forward(self, x):
        return x + 1
    def other(self, z):
        return z - 1
    class Inner(torch.nn.Module):
        def forward(self, x):
            return x * 7

class Plain:
    def __init__(self, start=5):
        self.value = start
    def method(self, x):
        self.value += 1
        return x + self.value
    @staticmethod
    def static(x):
        return x * 2
    @classmethod
    def of_class(cls, x):
        return cls.__name__, x

class Needs:
    def __init__(self, a, b, c=1): ...
    def method(self, x): ...

model = Small()
number = 3

def build():
    return Net(2)

def build_function():
    offset = 10
    return lambda x: x + offset

def fails():
    raise ValueError("no weights here")

def takes(x):
    return x
"""


@pytest.fixture
def targets(tmp_path: Path) -> Path:
    return written(tmp_path, TARGETS)


@pytest.mark.parametrize(
    ("attribute", "factory", "parameters", "is_module"),
    [
        ("Net", "build", ["x", "scale"], True),
        ("Net.forward", "program:build", ["x", "scale"], True),
        ("Net.twice", "build", ["y"], True),
        ("Small", "", ["x"], True),
        ("Small.forward", "", ["x"], True),
        ("Small.other", "", ["z"], True),
        ("Small.Inner", "", ["x"], True),
        ("Plain.method", "", ["x"], False),
        ("Plain.static", "", ["x"], False),
        ("Plain.of_class", "", ["x"], False),
        ("model", "", ["x"], True),
        ("model.other", "", ["z"], True),
        ("build_function", "build_function", ["x"], False),
    ],
)
def test_what_can_be_a_target(
    targets: Path, attribute: str, factory: str, parameters: list[str], is_module: bool
) -> None:
    with _version(target(targets, attribute, factory=factory)) as one:
        setup = one.setup()
        assert [each.name for each in setup.parameters] == parameters
        assert setup.module == is_module
        if parameters == ["x"]:
            assert one.observe(vector(1.0, 2.0)).raised is None


def test_an_object_is_new_for_each_example(targets: Path) -> None:
    with _version(target(targets, "Plain.method")) as one:
        first, second = one.observe(number(0)), one.observe(number(0))
    assert [first.result.text, first.again.result.text, second.result.text] == ["6", "7", "6"]  # type: ignore[union-attr]


def test_what_cannot_be_a_target(targets: Path) -> None:
    assert "has no missing (program:missing)" in _says(targets, "missing")
    assert "Net takes arguments (width); name a factory" in _says(targets, "Net")
    assert "Needs takes arguments (a, b); name a factory" in _says(targets, "Needs.method")
    assert "program:number is of type int, which cannot be called" in _says(targets, "number")
    assert "fails() failed with ValueError: no weights here" in _says(targets, "Net", "fails")
    assert "has no gone" in _says(targets, "Net", "gone")


def test_the_random_numbers_drawn_while_loading_are_alike(tmp_path: Path) -> None:
    path = written(
        tmp_path, "import random, torch\nw = torch.randn(3)\nr = random.random()\ndef f(x):\n    return w, r\n"
    )
    results = []
    for _ in range(2):
        with _version(target(path, "f")) as one:
            results.append(one.observe(number(0)).result)
    assert results[0] == results[1]


def test_a_factory_in_another_module_and_a_substituted_file(tmp_path: Path) -> None:
    path = written(tmp_path, "import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x\n")
    text = path.read_text().replace("return x", "return x + 41")
    written(tmp_path, "from program import Net\ndef build():\n    return Net()\n", "factories.py")
    with _version(target(path, "Net", factory="factories:build"), {str(path): text}) as one:
        assert one.observe(number(1)).result.text == "42"  # type: ignore[union-attr]


def test_a_module_that_the_host_has_imported_is_loaded_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    path = written(tmp_path, "def f(x):\n    return 'on disk'\n", "known_to_the_host.py")
    written(tmp_path, "from known_to_the_host import f\ndef g(x):\n    return f(x)\n", "also_known.py")
    load_object("also_known:g", str(tmp_path))
    text = "def f(x):\n    return 'given'\ndef h(x):\n    import also_known\n    return also_known.g(x)\n"
    with _version(target(path, "h"), {str(path): text}) as one:
        assert one.observe(number(1)).result.text == "'given'"  # type: ignore[union-attr]


def test_a_named_object(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    written(tmp_path, "class A:\n    b = 5\n", "named_inputs.py")
    written(tmp_path, "1 / 0\n", "broken_inputs.py")
    assert load_object("named_inputs:A.b", str(tmp_path)) == 5
    for name, says in [
        ("named_inputs", "is not of the form module:name"),
        ("named_inputs:c", "has no c"),
        ("broken_inputs:x", "broken_inputs.py:1: ZeroDivisionError: division by zero"),
        ("no_inputs:x", "ModuleNotFoundError: No module named 'no_inputs'"),
    ]:
        with pytest.raises(CheckError, match=re.escape(says)):
            load_object(name, str(tmp_path))
