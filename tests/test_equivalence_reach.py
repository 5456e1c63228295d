"""Which conditions of the original a rewrite touches, and what their evaluations note."""

from __future__ import annotations

import ast
import asyncio
from textwrap import dedent
from typing import Any

import pytest
import torch

from gbfix.equivalence import conditions as of_source
from gbfix.equivalence import reach
from gbfix.equivalence.model import Condition

FILE = "/p/program.py"


def _changed(original: str, rewritten: str) -> list[tuple[str, str]]:
    found = of_source.changed_conditions(dedent(original), dedent(rewritten), FILE)
    return [(each.text, each.needs) for each in found]


def _all(source: str) -> tuple[Condition, ...]:
    return tuple(of_source.condition_of(test.node, source, FILE) for test in of_source.tests_of(ast.parse(source)))


def _run(source: str, call: str) -> tuple[Any, list[tuple[str, bool]], list[float | None]]:
    """The value of an expression in a program, and what its conditions noted."""
    source = dedent(source)
    conditions = _all(source)
    names: dict[str, Any] = {"torch": torch, "__name__": "program"}
    exec(reach.compiler(conditions)(source, FILE), names)
    reach.start()
    value = eval(call, names)
    notes = reach.taken()
    return value, [(conditions[each.index].text, each.outcome) for each in notes], [each.distance for each in notes]


# -- which ones ----------------------------------------------------------------------------------

IF = """\
import torch

def f(x, flag):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    if flag:
        y = y * 2
    return y
"""


def test_a_test_that_was_rewritten_needs_both_sides() -> None:
    rewritten = IF.replace(
        "    if x.sum() > 0:\n        y = x + 1\n    else:\n        y = x - 1\n",
        "    y = torch.where(x.sum() > 0, x + 1, x - 1)\n",
    )
    assert _changed(IF, rewritten) == [("x.sum() > 0", "both")]


def test_one_that_only_controls_a_change_needs_the_side_of_the_change() -> None:
    assert _changed(IF, IF.replace("y * 2", "y * 3")) == [("flag", "true")]
    assert _changed(IF, IF.replace("x - 1", "x - 2")) == [("x.sum() > 0", "false")]
    both = IF.replace("x - 1", "x - 2").replace("x + 1", "x + 2")
    assert _changed(IF, both) == [("x.sum() > 0", "both")]


def test_an_insertion_belongs_to_the_block_that_it_is_indented_for() -> None:
    last = "        y = y * 2\n"
    assert _changed(IF, IF.replace(last, f"{last}        print(y)\n")) == [("flag", "true")]
    assert _changed(IF, IF.replace(last, f"{last}    print(y)\n")) == []
    assert _changed(IF, IF.replace("    if flag", "    print(y)\n    if flag")) == []


def test_what_touches_nothing() -> None:
    assert _changed(IF, IF) == []
    assert _changed(IF, IF.replace("import torch\n", "import torch\nimport math\n")) == []
    assert _changed(IF, IF.replace("        y = x + 1\n", "        # a comment\n\n        y = x + 1\n")) == []
    assert _changed(IF, "not python (") == []
    assert _changed("import os\nif os.sep:\n    x = 1\n", "import os\nif os.sep:\n    x = 2\n") == []


def test_a_condition_that_was_moved_is_not_touched() -> None:
    original = """\
    def f(x, flag):
        if flag:
            x = x + 1
        print(x)
        return x
    """
    rewritten = """\
    def f(x, flag):
        print(x)
        if flag:
            x = x + 1
        return x
    """
    assert _changed(original, rewritten) == []


def test_the_static_half_that_stays_only_lets_the_rest_be_reached() -> None:
    original = """\
    def f(x, flag):
        if flag and x.isinf().any():
            x = x.clamp(max=1)
        return x
    """
    rewritten = """\
    def f(x, flag):
        if flag:
            x = torch.where(x.isinf().any(), x.clamp(max=1), x)
        return x
    """
    assert _changed(original, rewritten) == [("flag and x.isinf().any()", "both"), ("flag", "true")]


def test_operands_and_values() -> None:
    original = """\
    def f(a, b, c):
        y = a or b or c
        z = a if b else c
        assert a, b
        return [i for i in c if i > a], y, z
    """
    rewritten = """\
    def f(a, b, c):
        return 1
    """
    assert [text for text, _ in _changed(original, rewritten)] == ["a", "b", "b", "a", "i > a"]


def test_elif_while_match_and_methods() -> None:
    original = """\
    class Net:
        def forward(self, x):
            if x > 0:
                return 1
            elif x < 0:
                return 2
            while x.any():
                x = x - 1
            match x:
                case 1 if self.flag:
                    pass
            async def inner():
                if x: pass
            return (lambda y: y if y > 2 else 3)(x)
    """
    assert [text for text, _ in _changed(original, "class Net: pass\n")] == [
        "x > 0",
        "x < 0",
        "x.any()",
        "self.flag",
        "x",
        "y > 2",
    ]


def test_lambdas_outside_of_functions() -> None:
    original = "f = lambda x: x if x > 0 else -x\nclass A:\n    g = lambda x: x or 1\n    h = 1 if A else 2\n"
    assert _changed(original, "f = g = abs\n") == [("x > 0", "both"), ("x", "both")]
    assert _run(original.split("class")[0], "f(-3)")[:2] == (3, [("x > 0", False)])


def test_a_condition_names_its_place_in_characters() -> None:
    found = of_source.changed_conditions(
        'def f(x):\n    y = "é"; z = 1 if (x >\n        2) else 3\n', "def f(x): pass\n", FILE
    )
    assert found == (Condition(FILE, 2, 23, "x > 2", "both", 3, 3),)


# -- what is noted -------------------------------------------------------------------------------


def test_both_outcomes_of_an_if_and_how_far_it_was_from_the_other() -> None:
    source = "def f(x):\n    if x.sum() > 0:\n        return 1\n    elif x[0] == 5.0:\n        return 2\n    return 3\n"
    assert _run(source, "f(torch.tensor([1.0, 2.0]))") == (1, [("x.sum() > 0", True)], [3.0])
    notes = [("x.sum() > 0", False), ("x[0] == 5.0", False)]
    assert _run(source, "f(torch.tensor([-1.0, -2.0]))") == (3, notes, [3.0, 6.0])
    assert _run(source, "f(torch.tensor([float('nan')]))") == (3, notes, [None, None])


def test_not_is_part_of_the_condition() -> None:
    source = "def f(x):\n    return 1 if not x > 2 else 2\n"
    assert _run(source, "f(3)") == (2, [("not x > 2", False)], [1.0])
    assert _run("def f(x):\n    return 1 if not not x else 2\n", "f([])") == (2, [("not not x", False)], [None])


def test_and_and_or_within_a_condition_still_stop_early() -> None:
    source = "def f(m):\n    if m is not None and m.any():\n        return 1\n    return 2\n"
    whole = "m is not None and m.any()"
    assert _run(source, "f(None)")[:2] == (2, [("m is not None", False), (whole, False)])
    assert _run(source, "f(torch.ones(2))")[:2] == (1, [("m is not None", True), (whole, True)])
    mixed = "def f(a, b, c):\n    while not (a and b) or c:\n        return 1\n    return 2\n"
    assert _run(mixed, "f(1, 1, 0)")[:2] == (
        2,
        [("a", True), ("not (a and b)", False), ("not (a and b) or c", False)],
    )


def test_operands_as_values_are_given_on_and_asked_once() -> None:
    source = """\
    class Once:
        asked = 0
        def __init__(self, truth): self.truth = truth
        def __bool__(self):
            self.asked += 1
            return self.truth

    def f(a, b, c):
        return a and b or c

    one, no, last = Once(True), Once(False), Once(True)
    """
    value, notes, _ = _run(
        source, "(f(one, no, last) is last, f(no, one, []), f(one, one, 1) is one, one.asked, no.asked)"
    )
    assert value == (True, [], True, 3, 2)
    assert notes == [
        *[("a", True), ("a and b", False)],
        *[("a", False), ("a and b", False)],
        *[("a", True), ("a and b", True)],
    ]


def test_loops_assertions_comprehensions_and_guards() -> None:
    source = """\
    def count(n):
        while n > 0:
            n -= 1
        assert n == 0, "never"
        return n
    def odd(n):
        return [i for i in range(n) if i % 2]
    def kind(x, flag):
        match x:
            case 1 if flag:
                return "yes"
        return "no"
    """
    assert _run(source, "count(2)")[1:] == (
        [("n > 0", True), ("n > 0", True), ("n > 0", False), ("n == 0", True)],
        [2.0, 1.0, 0.0, 0.0],
    )
    assert _run(source, "odd(3)")[:2] == ([1], [("i % 2", False), ("i % 2", True), ("i % 2", False)])
    assert _run(source, "kind(1, 0)")[:2] == ("no", [("flag", False)])


def test_exceptions_pass_with_the_lines_of_the_program() -> None:
    source = "def f(x):\n    y = 1\n    if x > 0:\n        return 1\n    return 2\n"
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value") as raised:
        _run(source, "f(torch.ones(2))")
    lines = [entry.lineno for entry in raised.traceback if str(entry.path) == FILE]
    assert lines == [2]  # 0-based
    with pytest.raises(AssertionError, match="seven"):
        _run("def f(x):\n    assert x == 7, 'seven'\n", "f(1)")


def test_classes_nested_functions_and_coroutines() -> None:
    source = """\
    class Net:
        def __secret(self, x):
            if x: return 1
            return 2
        def call(self, x):
            def inner():
                return "a" if (y := x) else "b"
            return self.__secret(x), inner()
    async def later(x):
        if await same(x): return 1
        return 2
    async def same(x): return x
    def yields(x):
        if (yield x): yield "sent"
    """
    assert _run(source, "Net().call(1)")[:2] == ((1, "a"), [("x", True), ("y := x", True)])
    value, _, _ = _run(source, "later(0)")
    assert asyncio.run(value) == 2
    generator, _, _ = _run(source, "yields(5)")
    assert (next(generator), generator.send(1)) == (5, "sent")


def test_names_of_the_program_do_not_clash() -> None:
    source = "def f(x, index=1, outcome=2, reach=3):\n    if x: return index, outcome, reach\n"
    assert _run(source, "f(1)")[0] == (1, 2, 3)
    assert "__gbfix" not in _run("def f(x):\n    if x: return dir()\n", "str(f(1)) + str(list(globals()))")[0]


def test_only_so_many_are_kept() -> None:
    source = "def f(n):\n    while n > 0:\n        n -= 1\n"
    assert len(_run(source, "f(20_000)")[1]) == reach.MOST


def test_other_conditions_stay_as_they_are() -> None:
    source = "def f(x, y):\n    if x > 1 and y: return 1\n    return 2\n"
    tree = reach.instrument(ast.parse(source), source, [])
    assert ast.unparse(tree) == ast.unparse(ast.parse(source))


def test_dynamo_sees_the_program_through_the_notes() -> None:
    source = "def f(x, flag):\n    if flag: return x + 1\n    return (flag or x) - 1\n"
    conditions = _all(source)
    names: dict[str, Any] = {"torch": torch}
    exec(reach.compiler(conditions)(source, FILE), names)
    torch._dynamo.reset()
    compiled = torch.compile(names["f"], backend="eager", fullgraph=True)
    assert compiled(torch.ones(1), True).item() == 2
    assert compiled(torch.ones(1), False).item() == 0
