"""Which conditions of the original a rewrite touches, found by comparing the texts.

A condition is the test of an `if`, `while`, `assert`, conditional expression, comprehension or match guard within a
function, or an operand of `and` and `or`. One counts that lies in changed lines, and one that decides whether changed
lines run. What the rewrite kept as a condition only has to let the changed lines run.
"""

from __future__ import annotations

import ast
import difflib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from gbfix.equivalence.model import BranchReached, Condition

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


@dataclass(frozen=True)
class Test:
    """A condition in the source. when_true, when_false: the nodes that run for each outcome."""

    node: ast.expr
    function: str
    when_true: tuple[ast.AST, ...] = ()
    when_false: tuple[ast.AST, ...] = ()

    @property
    def text(self) -> str:
        """Its source in one form, whatever the spacing."""
        return ast.unparse(self.node)


def changed_conditions(original: str, rewritten: str, file: str) -> tuple[Condition, ...]:
    """The conditions of the original that the rewrite touches, from top to bottom. Both texts have to be Python.

    One that does not parse gives none.
    """
    try:
        tests, kept = tests_of(ast.parse(original)), Counter[tuple[str, str]]()
        kept.update(map(_key, _decided_as_before(tests, tests_of(ast.parse(rewritten)))))
    except (SyntaxError, ValueError):
        return ()
    changed = _Changed(original, rewritten)
    were = Counter(_key(test) for test in tests)
    found = []
    for test in tests:
        is_kept = kept[_key(test)] >= were[_key(test)]
        controlled = [node for node in (*test.when_true, *test.when_false) if changed.touches(node)]
        true, false = (any(node in controlled for node in nodes) for nodes in (test.when_true, test.when_false))
        if changed.overlaps(test.node) and not is_kept:
            true = false = True
        if true or false:
            needs = "both" if true and false else "true" if true else "false"
            last = max((getattr(node, "end_lineno", None) or 0 for node in controlled), default=0)
            found.append(replace(condition_of(test.node, original, file, needs), controls_to=last))
    return tuple(found)


def _decided_as_before(tests: Sequence[Test], now: Sequence[Test]) -> list[Test]:
    """The conditions of the rewritten text that no new condition decides about: that one may keep them from running."""
    before = set(map(_key, tests))
    new = [node for test in now if _key(test) not in before for node in (*test.when_true, *test.when_false)]
    inside = {id(part) for node in new for part in ast.walk(node)}
    return [test for test in now if id(test.node) not in inside]


def not_reached(branches: Sequence[BranchReached]) -> str:
    """Which outcomes are missing that the rewrite matters for, in words; empty when none is."""
    missing = [text for branch in branches if (text := _missing(branch))]
    what = "line" if all(branch.condition.needs == "run" for branch in branches if branch.missing) else "side"
    return f"{what} not reached: {'; '.join(missing)}" if missing else ""


def reached_in_words(branches: Sequence[BranchReached]) -> str:
    """What was reached where nothing is missing: sides of conditions, or changed lines alone."""
    if all(branch.condition.needs == "run" for branch in branches):
        return "changed lines reached"
    return "both sides reached"


def _missing(branch: BranchReached) -> str:
    place = f"line {branch.condition.line}, `{branch.condition.text}`"
    if not branch.missing:
        return ""
    if branch.condition.needs == "run":
        return f"{place} was never run"
    if not branch.true and not branch.false:
        return f"{place} was never evaluated"
    return f"{place} was never {' nor '.join(str(outcome).lower() for outcome in branch.missing)}"


def changed_lines(original: str, rewritten: str) -> frozenset[int]:
    """The lines of the original that the rewrite replaces, without comments and empty lines."""
    return frozenset(_Changed(original, rewritten).lines)


def condition_of(node: ast.expr | ast.stmt, source: str, file: str, needs: str = "both") -> Condition:
    """The condition that a node is; its column counts characters, and its text is cut from the source on one line."""
    line = source.splitlines()[node.lineno - 1] if source else ""
    column = len(line.encode()[: node.col_offset].decode(errors="replace"))
    segment = ast.get_source_segment(source, node) or ast.unparse(node)
    return Condition(file, node.lineno, column, " ".join(segment.split()), needs, node.end_lineno or node.lineno)


def tests_of(tree: ast.Module) -> list[Test]:
    """All conditions within functions, by line and column; one that holds others comes before them."""
    found = [test for function, name in _functions(tree) for test in _tests(function, name)]
    return sorted(found, key=lambda test: (test.node.lineno, test.node.col_offset, -(test.node.end_col_offset or 0)))


def is_constant(node: ast.expr) -> bool:
    """`while True` and the like, which decide nothing."""
    return isinstance(node, ast.Constant)


def _functions(tree: ast.AST, prefix: str = "", *, inside: bool = False) -> Iterator[tuple[Function, str]]:
    """inside: of a function, to which a lambda then belongs."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node, f"{prefix}{node.name}"
            yield from _functions(node, f"{prefix}{node.name}.", inside=True)
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.Lambda) and not inside:
            yield node, f"{prefix}<lambda>"
        else:
            yield from _functions(node, prefix, inside=inside)


def _tests(function: Function, name: str) -> Iterator[Test]:
    """Those of one function without those of the functions and classes defined in it."""
    pending: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else list(function.body)
    while pending:
        node = pending.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        pending += ast.iter_child_nodes(node)
        for test, when_true, when_false in _decisions(node):
            if not is_constant(test):
                yield Test(test, name, tuple(when_true), tuple(when_false))


def _decisions(node: ast.AST) -> Iterator[tuple[ast.expr, Sequence[ast.AST], Sequence[ast.AST]]]:
    """Tests that stand directly in a node, with what runs for each outcome."""
    if isinstance(node, (ast.If, ast.While)):
        yield node.test, node.body, node.orelse
    elif isinstance(node, ast.IfExp):
        yield node.test, [node.body], [node.orelse]
    elif isinstance(node, ast.Assert):
        yield node.test, [], [node.msg] if node.msg else []
    elif isinstance(node, ast.BoolOp):
        for position, operand in enumerate(node.values[:-1]):
            rest = node.values[position + 1 :]
            yield (operand, rest, []) if isinstance(node.op, ast.And) else (operand, [], rest)
    elif isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
        yield from _comprehension(node.generators, [node.elt])
    elif isinstance(node, ast.DictComp):
        yield from _comprehension(node.generators, [node.key, node.value])
    elif isinstance(node, ast.match_case) and node.guard is not None:
        yield node.guard, node.body, []


def _comprehension(
    generators: Sequence[ast.comprehension], made: Sequence[ast.AST]
) -> Iterator[tuple[ast.expr, Sequence[ast.AST], Sequence[ast.AST]]]:
    for generator in generators:
        for test in generator.ifs:
            yield test, made, []


def _key(test: Test) -> tuple[str, str]:
    return test.function, test.text


class _Changed:
    """The lines of the original that a rewrite replaces, and the places between lines where it puts something in.

    Comments and empty lines do not count.
    """

    def __init__(self, original: str, rewritten: str) -> None:
        self._old = original.splitlines()
        new = rewritten.splitlines()
        self.lines: set[int] = set()
        self._inserted: list[tuple[int, int]] = []
        """The line after which something is put in, and how far that is indented."""
        for kind, start, end, first, last in difflib.SequenceMatcher(None, self._old, new, False).get_opcodes():
            old = {number for number in range(start, end) if _is_code(self._old[number])}
            added = [line for line in new[first:last] if _is_code(line)]
            if kind == "equal" or not (old or added):
                continue
            self.lines.update(number + 1 for number in old)
            if not old:
                self._inserted.append((start, len(added[0]) - len(added[0].lstrip())))

    def overlaps(self, node: ast.AST) -> bool:
        """A changed line is one of the node's."""
        first, last = _span(node)
        return any(first <= line <= last for line in self.lines)

    def touches(self, node: ast.AST) -> bool:
        """A changed line is one of the node's, or something is put in between its lines or as a part of its block."""
        if self.overlaps(node):
            return True
        first, last = _span(node)
        is_block = isinstance(node, ast.stmt)
        return any(
            first <= line < last or (is_block and line == last and indent >= node.col_offset)  # type: ignore[attr-defined]
            for line, indent in self._inserted
        )


def _is_code(line: str) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith("#")


def _span(node: ast.AST) -> tuple[int, int]:
    first: int = node.lineno  # type: ignore[attr-defined]
    decorators: Iterable[ast.expr] = getattr(node, "decorator_list", ())
    last: int = node.end_lineno  # type: ignore[attr-defined]
    return min([first, *(each.lineno for each in decorators)]), last
