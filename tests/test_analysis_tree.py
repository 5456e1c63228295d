from __future__ import annotations

import ast

import pytest

from gbfix.analysis.tree import names_in, stored_names


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("a = b", {"a"}),
        ("a, (b, *c) = d", {"a", "b", "c"}),
        ("a.b = c[d] = e", set()),
        ("a += b", {"a"}),
        ("f(a := b)", {"a"}),
        ("del a", {"a"}),
        ("for a in b: pass", {"a"}),
        ("with a as b: pass", {"b"}),
        ("import a.b, c as d", {"a", "d"}),
        ("from a import b as c", {"c"}),
        ("try: pass\nexcept E as a: pass", {"a"}),
        ("def f(a): b = a", {"f", "b"}),
        ("class C: a = 1", {"C", "a"}),
        ("match a:\n  case [b, *c]: pass\n  case {'k': d, **e}: pass\n  case F() as f: pass", set("bcdef")),
    ],
)
def test_every_form_that_binds_a_name(text: str, stored: set[str]) -> None:
    assert stored_names([ast.parse(text)]) == stored


def test_names_of_attributes_keywords_and_parameters_are_no_expressions() -> None:
    assert names_in(ast.parse("def f(a): return g(b.c, d=e)\nh = 1").body) == {"g", "b", "e", "h"}
