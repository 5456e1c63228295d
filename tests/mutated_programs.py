"""Golden cases with something changed: other operators and numbers, statements put in, blocks put around statements.

They reach every rule that finds something in source alone, with what stands around a site in places where nobody put
it by hand.
"""

from __future__ import annotations

import ast
from functools import cache
from itertools import groupby
from pathlib import Path

from generated_expressions import COMPARISONS, NUMBERS, Draw, Style
from generated_inputs import VARIATIONS
from generated_programs import HEADER, GeneratedProgram, used_by
from generated_statements import Lines, Statements, _indented
from hypothesis import strategies as st

GOLDEN = Path(__file__).parent.parent / "golden"
AROUND = (
    "if STATE:",
    "with torch.no_grad():",
    "for _round in range(1):",
    "for _round in range(2):",
    "try:",
    "while True:",
)
ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
MOST_CALLS = 5
WAYS = ("as it is",) * 8 + VARIATIONS
"""How arguments are varied: most stay as they are."""


@cache
def cases() -> tuple[Path, ...]:
    """The folders of the golden cases, in order."""
    return tuple(sorted(path.parent for path in GOLDEN.glob("*/*/before.py") if (path.parent / "inputs.py").exists()))


@st.composite
def mutants(draw: st.DrawFn) -> GeneratedProgram:
    """A golden case with some changes."""
    return mutant_from(draw)


def mutant_from(draw: Draw) -> GeneratedProgram:
    """A changed golden case by a function that draws numbers; unchanged where the changes give no Python."""
    make = Statements(draw, Style())
    case = make.pick(make.pick(_by_rule()))  # rules of one case as often as those of many
    before = (case / "before.py").read_bytes().decode().replace("\r\n", "\n")
    text = before
    for _ in range(make.below(4)):
        changed = _changed(text, make)
        if _is_python(changed):
            text = changed
    setup = (case / "inputs.py").read_text()
    entry = next(line.split("=")[1].strip(" \"'") for line in setup.splitlines() if line.startswith("ENTRY"))
    calls = tuple(
        f"(varied(list(inputs())[{index}], {make.pick(WAYS)!r}), {{}})" for index in range(_number_of_calls(case))
    )
    return GeneratedProgram(text, calls, entry, setup, is_observed=make.chance(3))


@cache
def _by_rule() -> tuple[tuple[Path, ...], ...]:
    return tuple(tuple(found) for _, found in groupby(cases(), key=lambda case: case.parent))


@cache
def _number_of_calls(case: Path) -> int:
    namespace: dict[str, object] = {}
    exec(compile((case / "inputs.py").read_text(), "inputs.py", "exec"), namespace)
    inputs = namespace["inputs"]
    assert callable(inputs)
    return min(len(list(inputs())), MOST_CALLS)


def _changed(text: str, make: Statements) -> str:
    tree = ast.parse(text)
    kind = make.below(10)
    if kind < 4:
        return _with_statement(text, tree, make)
    if kind < 6:
        return _with_block(text, tree, make)
    if kind < 8:
        return _with_other_operator(text, tree, make)
    return _with_other_number(text, tree, make)


def _with_statement(text: str, tree: ast.Module, make: Statements) -> str:
    """A generated statement in front of one of a function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.args.args]
    if not functions:
        return text
    function = make.pick(functions)
    places = [node for node in ast.walk(function) if isinstance(node, ast.stmt) and node is not function]
    place = make.pick(places)
    arguments = [one.arg for one in function.args.args if one.arg not in ("self", "cls")]
    stored = [
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.lineno < place.lineno
    ]
    make.names.tensors = list(dict.fromkeys([*arguments, *stored])) or ["x"]
    make.names.numbers, make.names.flags = ["n"], ["flag"]
    lines = make.statement()
    rows = text.split("\n")
    row = rows[place.lineno - 1]
    if row[: place.col_offset].strip():
        return text
    new = [row[: place.col_offset] + part for part in _rows(lines)]
    return _with_header("\n".join([*rows[: place.lineno - 1], *new, *rows[place.lineno - 1 :]]), tree)


def _with_block(text: str, tree: ast.Module, make: Statements) -> str:
    """A block around one statement of a function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    if not functions:
        return text
    place = make.pick(make.pick(functions).body)
    rows = text.split("\n")
    first, last = place.lineno - 1, place.end_lineno or place.lineno
    before = rows[first][: place.col_offset]
    if before.strip():
        return text
    head = make.pick(AROUND)
    inner = [f"    {row}" if row.strip() else row for row in rows[first:last]]
    end = {"try:": [f"{before}finally:", f"{before}    STATE['calls'] += 1"], "while True:": [f"{before}    break"]}
    return _with_header("\n".join([*rows[:first], before + head, *inner, *end.get(head, []), *rows[last:]]), tree)


def _with_other_operator(text: str, tree: ast.Module, make: Statements) -> str:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.BinOp)]
    if not nodes:
        return text
    node = make.pick(nodes)
    if isinstance(node, ast.Compare):
        return _between(text, node.left, node.comparators[0], f" {make.pick(COMPARISONS)} ")
    if type(node.op) in ARITHMETIC:
        return _between(text, node.left, node.right, f" {make.pick('+-*/')} ")
    return text


def _with_other_number(text: str, tree: ast.Module, make: Statements) -> str:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and type(node.value) in (int, float)]
    if not nodes:
        return text
    node = make.pick(nodes)
    return _replaced(text, node, make.pick((*NUMBERS, "float('nan')", "True")))


def _between(text: str, left: ast.expr, right: ast.expr, new: str) -> str:
    """The text with something else between two operands on one line; unchanged where brackets stand between them."""
    rows = text.split("\n")
    row = rows[left.lineno - 1]
    old = row[left.end_col_offset : right.col_offset]
    if left.end_lineno != right.lineno or left.lineno != right.lineno or not row.isascii() or set(old) & set("()"):
        return text
    rows[left.lineno - 1] = row[: left.end_col_offset] + new + row[right.col_offset :]
    return "\n".join(rows)


def _replaced(text: str, node: ast.expr, new: str) -> str:
    rows = text.split("\n")
    row = rows[node.lineno - 1]
    if node.lineno != node.end_lineno or not row.isascii():
        return text
    rows[node.lineno - 1] = row[: node.col_offset] + new + row[node.end_col_offset :]
    return "\n".join(rows)


def _with_header(text: str, tree: ast.Module) -> str:
    """The text with the names that generated statements use, behind its last import."""
    if HEADER in text:
        return text
    imports = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    if not imports:
        return text
    rows, last = text.split("\n"), imports[-1].end_lineno or 0
    return "\n".join([*rows[:last], "n, flag = 2, True", HEADER, *used_by(text), *rows[last:]])


def _rows(lines: Lines) -> list[str]:
    return [row[4:] for row in _indented(lines)]


def _is_python(text: str) -> bool:
    try:
        compile(text, "program.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
