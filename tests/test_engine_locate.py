from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Sequence

import pytest
from replacing import edited, span_of

from gbfix.analysis.source import SourceFile, parse
from gbfix.engine import blocks, edit, imports, suppress
from gbfix.engine.edit import EditError, apply_fixes
from gbfix.engine.model import Fix, Replacement, Span


@pytest.mark.parametrize(
    ("text", "old", "after"),
    [
        ("x = 1\ny = 2\n", "y = 2", "x = 1\nnew()\n"),
        ("x = 1;\n", "x = 1", "new()\n"),
        ("x = 1 ;\n", "x = 1 ;", "new()\n"),
        ("if v: z = x;\nw\n", "if v: z = x;", "new()\nw\n"),
        ("if v:\n    z = (\n        x\n    )\nw\n", "if v:\n    z = (\n        x\n    )", "new()\nw\n"),
        ("if v:\n    a\n    b\n", "a\n    b", "if v:\n    new()\n"),
        ("@a\n@b\ndef f(): pass\n", "a\n@b\ndef f(): pass", "new()\n"),
        ("@a\n@b\ndef f(): pass\n", "@a\n@b\ndef f(): pass", "new()\n"),
        ("@ a\nclass A: pass\n", "a\nclass A: pass", "new()\n"),
        ("async def f(): pass\n", "async def f(): pass", "new()\n"),
        ("try:\n    a\nfinally:\n    b\n", "try:\n    a\nfinally:\n    b", "new()\n"),
        ("match a:\n    case 1:\n        b\n", "match a:\n    case 1:\n        b", "new()\n"),
        ("match a:\n    case 1: b\n", "b", "match a:\n    case 1: new()\n"),
        ("é, ü = 1, 2; ö = x\n", "ö = x", "é, ü = 1, 2; new()\n"),
        ("é = 'ü' if x else y\n", "'ü' if x else y", "é = new()\n"),
        ("x = a[b, c]\n", "c", "x = a[b, new()]\n"),
        ("(x)\n", "(x)", "new()\n"),
        ("x = 1 \\\n  + y\n", "1 \\\n  + y", "x = new()\n"),
    ],
)
def test_spans_of_statements_and_expressions(text: str, old: str, after: str) -> None:
    assert edited(text, (old, "new()")) == after


@pytest.mark.parametrize("module", [blocks, edit, imports, suppress], ids=lambda module: module.__name__)
def test_every_statement_of_a_real_file_is_found(module: types.ModuleType) -> None:
    source = parse("file.py", inspect.getsource(module))
    nodes = [node for node in ast.walk(source.tree) if isinstance(node, ast.stmt)]
    for layer in _apart(source, nodes):
        replacements = tuple(Replacement(source.span(node), "REPLACED_HERE") for node in layer)
        after = apply_fixes(source.text, [Fix("", replacements)])
        assert after.count("REPLACED_HERE") == len(layer)


@pytest.mark.parametrize("module", [blocks, edit, imports, suppress], ids=lambda module: module.__name__)
def test_every_call_and_comparison_of_a_real_file_is_found(module: types.ModuleType) -> None:
    source = parse("file.py", inspect.getsource(module))
    nodes = [
        node
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call | ast.Compare | ast.BoolOp | ast.IfExp | ast.Tuple | ast.Attribute)
        and not any(isinstance(parent, ast.JoinedStr | ast.Subscript) for parent in source.ancestors(node))
    ]
    for layer in _apart(source, nodes):
        replacements = tuple(Replacement(source.span(node), "REPLACED_HERE") for node in layer)
        after = apply_fixes(source.text, [Fix("", replacements)])
        assert after.count("REPLACED_HERE") == len(layer)


def _apart(source: SourceFile, nodes: Sequence[ast.AST]) -> list[list[ast.AST]]:
    """The nodes in groups without overlaps."""
    layers: list[list[ast.AST]] = []
    for node in nodes:
        span = source.span(node)
        for layer in layers:
            if not any(span.overlaps(source.span(other)) for other in layer):
                layer.append(node)
                break
        else:
            layers.append([node])
    return layers


TEXT = "x = 1\ny = 2\nif a:\n    z\n    w\nu\n"


@pytest.mark.parametrize(
    "old", ["x =", "x = 1\ny", "1\ny = 2", "y = 2\nif a:", "w\nu", "a:\n    z", "if a:\n    z", "\ny = 2"]
)
def test_a_span_that_fits_nothing_is_an_edit_error(old: str) -> None:
    with pytest.raises(EditError, match=r"line \d+: the edit covers neither"):
        edited(TEXT, (old, "new()"))


def test_a_span_outside_the_text_is_an_edit_error() -> None:
    with pytest.raises(EditError, match="line 99"):
        apply_fixes(TEXT, [Fix("", (Replacement(Span(99, 0, 99, 5), "new()"),))])


def test_overlapping_edits_are_an_edit_error_with_their_lines() -> None:
    inner, outer = span_of(TEXT, "w"), span_of(TEXT, "if a:\n    z\n    w")
    fixes = [Fix("", (Replacement(span, "new()"),)) for span in (inner, outer)]
    with pytest.raises(EditError, match="overlap, at line 3 and at line 5"):
        apply_fixes(TEXT, fixes)
    with pytest.raises(EditError, match="overlap"):
        apply_fixes(TEXT, [fixes[0], fixes[0]])


def test_an_edit_inside_an_f_string_is_an_edit_error() -> None:
    text = 'x = f"{a if b else c}"\n'
    with pytest.raises(EditError, match="line 1: the edit is inside an f-string"):
        edited(text, ("a if b else c", "new()"))
    assert edited(text, ('f"{a if b else c}"', "new()")) == "x = new()\n"
