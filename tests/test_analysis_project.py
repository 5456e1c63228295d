from __future__ import annotations

import pytest

from gbfix.analysis.project import load
from gbfix.analysis.source import parse

MAIN = "import torch\nfrom helper import scale\n\n@torch.compile(fullgraph=True)\ndef f(x):\n    return scale(x)\n"
HELPER = "def unused(x):\n    return x\n\ndef scale(x):\n    if x.sum() > 0:\n        x = x * 2\n    return x\n"


def test_an_edited_file_keeps_what_is_compiled_in_it() -> None:
    project = load([parse("main.py", MAIN), parse("helper.py", HELPER)])
    edited = project.with_file(parse("helper.py", "import torch\n\n" + HELPER.replace("x * 2", "torch.add(x, x)")))
    (before,), (after,) = project.view("helper.py").compiled, edited.view("helper.py").compiled
    assert (before.function.name, after.function.name) == ("scale", "scale")
    assert after.function.node.lineno == before.function.node.lineno + 2
    assert after.fullgraph is True
    assert edited.view("main.py").compiled == project.view("main.py").compiled


def test_a_function_that_the_edit_removed_is_not_compiled() -> None:
    project = load([parse("main.py", MAIN), parse("helper.py", HELPER)])
    assert project.with_file(parse("helper.py", "scale = None\n")).view("helper.py").compiled == ()


def test_functions_of_one_name_keep_their_order() -> None:
    text = "import torch\ndef f(x):\n    return x\n@torch.compile\ndef f(x):\n    return x + 1\n"
    project = load([parse("main.py", text)])
    (compiled,) = project.with_file(parse("main.py", "\n" + text)).view("main.py").compiled
    assert compiled.function.node.lineno == 6


def test_scopes_of_the_edited_file_are_read_anew() -> None:
    project = load([parse("main.py", MAIN), parse("helper.py", HELPER)])
    main, helper = project.names_of("main.py"), project.names_of("helper.py")
    edited = project.with_file(parse("helper.py", HELPER + "\ny = 1\n"))
    assert edited.names_of("main.py") is main
    assert edited.names_of("helper.py") is not helper


def test_an_unknown_path_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        load([]).view("main.py")
