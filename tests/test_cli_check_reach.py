from __future__ import annotations

import pytest

from gbfix.cli.check_reach import called_names, is_own, own_part

MODEL = """import torch
from helper import scale as scaled
from helper import unused_one

TABLE = {"first": by_table}


def by_table(x):
    return x


def step(x):
    def inner(y):
        return scaled(y)
    return getattr(inner, "by_text")(x)


def by_text(x):
    return TABLE[x]


class Base(torch.nn.Module):
    def forward(self, x):
        return self.encode(x)

    def encode(self, x):
        return x

    def never(self, x):
        return x


class Net(Base):
    def __init__(self):
        self.block = Block()


class Block(torch.nn.Module):
    size = default_size

    def forward(self, x):
        return decode(x)


class Other(torch.nn.Module):
    def forward(self, x):
        return hidden(x)
"""
HELPER = "def scale(x):\n    return deep(x)\n"


@pytest.mark.parametrize(
    ("start", "inside", "outside"),
    [
        ("step", {"inner", "scaled", "scale", "deep", "by_text", "TABLE", "by_table"}, {"Net", "unused_one", "encode"}),
        ("Net", {"Base", "encode", "Block", "decode", "default_size"}, {"step", "never", "Other", "hidden", "scale"}),
        ("by_table", {"by_table"}, {"TABLE", "step"}),
    ],
)
def test_names_are_followed_wherever_they_stand(start: str, inside: set[str], outside: set[str]) -> None:
    found = called_names([MODEL, HELPER, "def broken(:\n"], [start])
    assert inside <= found
    assert not outside & found


def test_a_name_that_a_function_binds_is_its_own() -> None:
    text = "def f(x):\n    g = x\n    return g\ndef k(h):\n    h = 1\n    return self.h\ndef g(): pass\ndef h(): pass\n"
    assert called_names([text], ["f"]) == {"f"}
    assert called_names([text], ["k"]) == {"k", "self", "h"}


@pytest.mark.parametrize(
    ("qualname", "own"),
    [
        ("", True),
        ("step", True),
        ("step.<locals>.inner", True),
        ("C.step", True),
        ("other", False),
        ("other.<locals>.step", False),
        ("Net.forward", True),
        ("Net.__init__", True),
        ("Other.forward", False),
        ("Net.encode", False),
    ],
)
def test_whose_function_it_is(qualname: str, own: bool) -> None:
    assert is_own(qualname, frozenset({"step", "Net", "forward"})) is own


BEFORE = """import a
SIZE = 1

def f(x):
    return 1

class C:
    def m(self):
        def inner():
            return 1
        return inner()

@one
def g(x):
    return 1
"""
NAMES = frozenset({"f", "m"})


def test_changes_of_other_functions_are_left_out() -> None:
    after = BEFORE.replace("return 1", "return 2")
    assert own_part(BEFORE, after, NAMES) == after.replace("def g(x):\n    return 2", "def g(x):\n    return 1")
    assert own_part(BEFORE, after.replace("@one", "@two"), frozenset({"f"})).count("return 2") == 1
    assert own_part(BEFORE, BEFORE.replace("@one", "@two"), frozenset({"g"})) == BEFORE.replace("@one", "@two")
    assert own_part(BEFORE, after, frozenset()) == BEFORE


def test_what_stands_outside_of_functions_is_everybodys() -> None:
    after = BEFORE.replace("SIZE = 1", "SIZE = 2").replace("return 1", "return 2")
    assert own_part(BEFORE, after, frozenset()) == BEFORE.replace("SIZE = 1", "SIZE = 2")


def test_imports_come_with_a_change_but_are_none() -> None:
    after = BEFORE.replace("import a\n", "import a\nimport b\n# why\n\n").replace("return 1", "return 2")
    assert own_part(BEFORE, after, frozenset()) == BEFORE
    assert "import b" in own_part(BEFORE, after, NAMES)


def test_new_functions_and_line_ends() -> None:
    after = BEFORE + "\ndef new(x):\n    return 3\n"
    assert own_part(BEFORE, after, NAMES) == BEFORE
    assert own_part(BEFORE, after, frozenset({"new"})) == after
    crlf = BEFORE.replace("\n", "\r\n")
    assert own_part(crlf, crlf.replace("return 1", "return 2"), frozenset({"g"})).endswith("return 2\r\n")


def test_a_text_that_does_not_parse_is_taken_as_it_is() -> None:
    assert own_part(BEFORE, "def f(:\n", NAMES) == "def f(:\n"
    assert own_part("def f(:\n", BEFORE, NAMES) == BEFORE
