from __future__ import annotations

import ast
import textwrap

import pytest

from gbfix.analysis.liveness import is_read_after, is_read_by_others
from gbfix.analysis.source import parse


def read_after(text: str, name: str = "y", ask: str = "after") -> bool:
    source = parse("program.py", textwrap.dedent(text))
    function = source.functions[0]
    statement = next(
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.stmt) and "# here" in source.lines[node.lineno - 1]
    )
    if ask == "others":
        return is_read_by_others(source, function, statement, name)
    return is_read_after(source, function, [statement], name)


READ = [
    "def f(x):\n    y = x  # here\n    return y\n",
    "def f(x):\n    y = x  # here\n    y += 1\n",
    "def f(x):\n    if x:\n        y = x  # here\n    return y\n",
    "def f(x):\n    for i in x:\n        print(y)\n        y = x  # here\n",
    "def f(x):\n    while y:\n        y = x  # here\n",
    "def f(x):\n    global y\n    y = x  # here\n",
    "def f(x):\n    y = x  # here\n    return lambda: y\n",
    "def f(x):\n    y = x  # here\n    locals()\n",
    "def f(x):\n    y = x  # here\n    del y\n",
    "def f(x):\n    try:\n        y = x  # here\n        return 1\n    finally:\n        print(y)\n",
    "def f(x):\n    for i in x:\n        y = x  # here\n        if i: break\n        y = 1\n    return y\n",
    "def f(x):\n    y = x  # here\n    if x:\n        y = 1\n    return y\n",
    "def f(x):\n    y = x  # here\n    for y in []:\n        pass\n    return y\n",
]
NOT_READ = [
    "def f(x):\n    y = x  # here\n    return x\n",
    "def f(x):\n    y = x  # here\n    y = 2\n    return y\n",
    "def f(x):\n    y = x  # here\n    if x:\n        y = 1\n    else:\n        y = 2\n    return y\n",
    "def f(x):\n    if x:\n        y = x  # here\n        return 1\n    return y\n",
]


@pytest.mark.parametrize("text", READ)
def test_read_later(text: str) -> None:
    assert read_after(text)


@pytest.mark.parametrize("text", NOT_READ)
def test_not_read_later(text: str) -> None:
    assert not read_after(text)


def test_handlers_and_inner_functions_read_without_following() -> None:
    assert read_after(
        "def f(x):\n    try:\n        y = x  # here\n    except ValueError:\n        print(y)\n", ask="others"
    )
    assert not read_after("def f(x):\n    y = x  # here\n    return y\n", ask="others")
