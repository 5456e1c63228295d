"""Which changed statements a check has to come by, and that their runs are noted."""

from __future__ import annotations

from textwrap import dedent

import pytest

from gbfix.equivalence import reach
from gbfix.equivalence.changed_statements import changed_places

FILE = "/p/program.py"
ORIGINAL = """\
import torch

def f(x, flag):
    '''Says and doubles.'''
    y = x + 1
    print(y)
    for _ in range(2):
        y = (
            y * 2
        )
    if flag:
        print("flag")
    return y

class C:
    def g(self, x):
        return x
"""


def _changed(rewritten: str) -> list[tuple[int, int, str]]:
    return [(each.line, each.end_line, each.needs) for each in changed_places(ORIGINAL, rewritten, FILE)]


def test_a_changed_statement_has_to_run() -> None:
    assert _changed(ORIGINAL.replace("print(y)", "print(str(y))")) == [(6, 6, "run")]
    assert _changed(ORIGINAL.replace("y * 2", "y * 3")) == [(8, 10, "run")]


def test_what_a_condition_controls_is_left_to_it() -> None:
    assert _changed(ORIGINAL.replace('"flag"', '"FLAG"')) == [(11, 11, "true")]


def test_text_and_lines_outside_of_functions_do_not_run() -> None:
    assert _changed(ORIGINAL.replace("Says", "Tells")) == []
    assert _changed(ORIGINAL.replace("import torch", "import torch, math")) == []
    assert _changed("not python (") == []


def test_of_a_function_with_another_decorator_or_parameter_the_first_statement_has_to_run() -> None:
    assert _changed(ORIGINAL.replace("    def g", "    @torch.no_grad()\n    def g")) == [(17, 17, "run")]
    assert _changed(ORIGINAL.replace("(x, flag)", "(x, flag, *rest)")) == [(5, 5, "run")]


@pytest.mark.parametrize(("flag", "ran"), [(True, [0, 1, 1, 2]), (False, [0, 1, 1])])
def test_each_run_is_noted(flag: bool, ran: list[int]) -> None:
    rewritten = ORIGINAL.replace("print(y)", "print()").replace("y * 2", "y * 3").replace('"flag"', '"FLAG"')
    places = changed_places(ORIGINAL, rewritten, FILE)
    order = {place: number for number, place in enumerate(sorted(places, key=lambda each: each.line))}
    names: dict[str, object] = {}
    exec(reach.compiler(places)(dedent(ORIGINAL), FILE), names)
    function = names["f"]
    assert callable(function)

    reach.start()
    assert function(1, flag) == 8

    assert [order[places[taken.index]] for taken in reach.taken() if taken.outcome] == ran
