"""The numbers that decide conditions: in their text, behind names in it, and in changed comparisons."""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from gbfix.equivalence.model import Condition

_SIZE_WORDS = ("shape", "size", "len", "numel")
_LARGEST_SIZE = 4096
_MOST_SIZES = 2
_MOST_WORDS = 8
_MOST_FOLLOWED = 20
"""Names behind which numbers are looked for."""


def numbers_of(
    conditions: Sequence[Condition], original: Mapping[str, str], rewritten: Mapping[str, str]
) -> tuple[float, ...]:
    """Each once: those in conditions, in changed comparisons of either version, then those that names stand for.

    A name stands for what is assigned to it anywhere in its file, its default as a parameter, or the comparisons in
    the function of that name. original, rewritten: the texts of the files that differ. 0, 1 and -1 are left out, since
    ordinary examples are around them.
    """
    direct: list[float] = []
    behind: list[float] = []
    for path in dict.fromkeys([*original, *rewritten]):
        texts = [texts[path] for texts in (original, rewritten) if path in texts]
        trees = [tree for text in texts if (tree := _parsed(text)) is not None]
        nodes = [node for each in conditions if each.file == path for node in _expression(each.text)]
        nodes += [
            node for tree, lines in zip(trees, _changed_lines(texts), strict=False) for node in _compared(tree, lines)
        ]
        direct += [number for node in nodes for number in _literals(node)]
        behind += [number for tree in trees for number in _behind_names(nodes, tree)]
    return tuple(number for number in dict.fromkeys([*direct, *behind]) if abs(number) not in (0, 1))


def sizes_among(numbers: Sequence[float], conditions: Sequence[Condition]) -> tuple[int, ...]:
    """The numbers that could be sizes, and those beside them, where a condition asks for a size."""
    if not any(word in condition.text for condition in conditions for word in _SIZE_WORDS):
        return ()
    sizes = [int(number) for number in numbers if number == int(number) and 1 < number <= _LARGEST_SIZE]
    return tuple(dict.fromkeys(size for number in sizes[:_MOST_SIZES] for size in (number, number + 1, number - 1)))


def words_of(texts: Iterable[str]) -> tuple[str, ...]:
    """The texts that files compare something with: `reduction == "sum"`, `case "sum"`, `mode in ("a", "b")`."""
    trees = [tree for text in texts if (tree := _parsed(text)) is not None]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Compare | ast.MatchValue)]
    found = [each.value for node in nodes for each in ast.walk(node) if isinstance(each, ast.Constant)]
    words = dict.fromkeys(value for value in found if isinstance(value, str))
    return tuple(list(words)[:_MOST_WORDS])


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def _expression(text: str) -> list[ast.expr]:
    try:
        return [ast.parse(text.strip(), mode="eval").body]
    except SyntaxError:
        return []


def _changed_lines(texts: Sequence[str]) -> list[set[int]]:
    """The numbers of the lines of each text that are not in the other."""
    if len(texts) != 2:
        return [set() for _ in texts]
    old, new = (text.splitlines() for text in texts)
    found: list[set[int]] = [set(), set()]
    for kind, start, end, first, last in difflib.SequenceMatcher(None, old, new, False).get_opcodes():
        if kind != "equal":
            found[0].update(range(start + 1, end + 1))
            found[1].update(range(first + 1, last + 1))
    return found


def _compared(tree: ast.Module, lines: set[int]) -> Iterator[ast.Compare]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Compare) and node.lineno in lines)


def _literals(node: ast.AST) -> Iterator[float]:
    negated = {id(each.operand) for each in ast.walk(node) if isinstance(each, ast.UnaryOp) and _is_minus(each)}
    for each in ast.walk(node):
        value = each.value if isinstance(each, ast.Constant) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            yield -value if id(each) in negated else value


def _is_minus(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.USub)


def _behind_names(nodes: Sequence[ast.AST], tree: ast.Module) -> Iterator[float]:
    values = dict[str, list[ast.AST]]()
    for name, value in _named_values(tree):
        values.setdefault(name, []).append(value)
    names = dict.fromkeys(name for node in nodes for name in _names(node))
    for name in list(names)[:_MOST_FOLLOWED]:
        for value in values.get(name, ()):
            if isinstance(value, ast.Compare):
                inner = [number for each in _names(value) for found in values.get(each, ()) for number in _alone(found)]
                yield from (*_literals(value), *inner)
            else:
                yield from _alone(value)


def _alone(value: ast.AST) -> list[float]:
    """The number, where the value is nothing but one."""
    return list(_literals(value)) if isinstance(value, ast.Constant | ast.UnaryOp) else []


def _names(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def _named_values(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """What names, attributes, parameters and keywords are given, and the comparisons of functions by their names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from ((name, node.value) for target in node.targets for name in list(_names(target))[:1])
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from ((name, node.value) for name in list(_names(node.target))[:1])
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg, node.value
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            arguments = [*node.args.posonlyargs, *node.args.args]
            given = arguments[len(arguments) - len(node.args.defaults) :]
            yield from ((each.arg, value) for each, value in zip(given, node.args.defaults, strict=True))
            only = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
            yield from ((each.arg, value) for each, value in only if value is not None)
            yield from ((node.name, each) for each in ast.walk(node) if isinstance(each, ast.Compare))
