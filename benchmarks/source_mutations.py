"""Programs that nobody wrote: real sources, changed at random in lines, tokens, expressions and statements.

`mutated(seeds, random)` gives the same text for the same seeds and the same state of `random`. Most results are Python
still, so that what is tried is the work on programs and not the refusal of files.
"""

from __future__ import annotations

import ast
import io
import textwrap
import tokenize
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

_ATTEMPTS = 12
_ODD = [
    "\f",
    "\t",
    "\v",
    "\\\n",
    ";",
    " ",
    "\u00a0",
    "é",
    "ﬁ",
    "𝑥",
    "🙂",
    "\u2028",
    "#",
    "'",
    '"""',
    "\x1a",
    "(",
    ")",
    ":",
    "\ufeff",
]
_AROUND_STATEMENTS = [
    "class W:",
    "class W(torch.nn.Module):",
    "def inner(x):",
    "async def inner(x):",
    "@torch.compile\ndef inner(x):",
    "@torch.compile(fullgraph=True)\nasync def inner(x):",
    "with torch.no_grad():",
    "for i in range(2):",
    "async for i in x:",
    "while x.sum() > 0:",
    "if x.sum() > 0:",
    "if True:",
    "try:{}\nexcept Exception as error:\n    raise",
    "try:{}\nfinally:\n    pass",
    "for i in x:{}\nelse:\n    x = x + 1",
    "match x:\n    case torch.Tensor():{}\n    case _:\n        pass",
]
_AROUND_EXPRESSIONS = [
    "({})",
    "[{}][0]",
    "({},)[0]",
    "(not {})",
    "(-{})",
    "(lambda: {})()",
    "({} if x.sum() > 0 else {})",
    "(x if {} else x + 1)",
    "({}).item()",
    "float({})",
    "bool({})",
    "(value := {})",
    "[{} for i in range(2)]",
    "{{'a': {}}}['a']",
    "f'{{{}}}'",
    "print({})",
    "torch.where({}, x, x)",
    "(await {})",
    "(yield {})",
    "(x[{}])",
    "({} and {})",
    "(0 < {} < 1)",
    "(\n    {}  # here\n)",
]


def mutated(seeds: Sequence[str], random: Random) -> str:
    """One seed after one to four changes, some of which take parts of other seeds."""
    text = random.choice(seeds)
    for _ in range(random.choice([1, 1, 2, 2, 3, 4])):
        text = _changed(text, seeds, random)
    if random.random() < 0.1:
        text = _with_other_layout(text, random)
    return text


def is_python(text: str) -> bool:
    """Whether Python would compile a text, as far as its syntax goes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _changed(text: str, seeds: Sequence[str], random: Random) -> str:
    """The text after one change; one that leaves no Python is kept rarely."""
    for _ in range(_ATTEMPTS):
        change = random.choice(_CHANGES)
        other = random.choice(seeds)
        result = change(text, other, random)
        if result != text and (is_python(result) or random.random() < 0.01):
            return result
    return text


def _delete_lines(text: str, _other: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    start = random.randrange(len(lines) + 1)
    del lines[start : start + random.choice([1, 1, 2, 4])]
    return "".join(lines)


def _repeat_lines(text: str, _other: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    start = random.randrange(len(lines) + 1)
    block = lines[start : start + random.choice([1, 1, 2, 6])]
    lines[start:start] = block * random.choice([1, 1, 3])
    return "".join(lines)


def _swap_lines(text: str, _other: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) < 2:
        return text
    first, second = random.randrange(len(lines)), random.randrange(len(lines))
    lines[first], lines[second] = lines[second], lines[first]
    return "".join(lines)


def _splice_lines(text: str, other: str, random: Random) -> str:
    """The head of one program and the tail of another."""
    lines, others = text.splitlines(keepends=True), other.splitlines(keepends=True)
    return "".join(lines[: random.randrange(len(lines) + 1)] + others[random.randrange(len(others) + 1) :])


def _indent_lines(text: str, _other: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    start = random.randrange(len(lines) + 1)
    for index in range(start, min(len(lines), start + random.choice([1, 2, 5]))):
        lines[index] = "    " + lines[index] if random.random() < 0.5 else lines[index].removeprefix("    ")
    return "".join(lines)


def _insert_odd(text: str, _other: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(_ODD) + text[at:]


def _change_token(text: str, other: str, random: Random) -> str:
    tokens = _tokens(text)
    if not tokens:
        return text
    start, end, kind = random.choice(tokens)
    action = random.choice(["delete", "repeat", "replace", "replace", "swap"])
    if action == "delete":
        return text[:start] + text[end:]
    if action == "repeat":
        return f"{text[:end]} {text[start:]}"
    if action == "swap":
        return _swapped(text, (start, end), random.choice(tokens)[:2])
    source = random.choice([text, other])
    same = [source[first:last] for first, last, its_kind in _tokens(source) if its_kind == kind]
    return text[:start] + random.choice(same) + text[end:] if same else text


def _swapped(text: str, one: tuple[int, int], two: tuple[int, int]) -> str:
    (a, b), (c, d) = sorted([one, two])
    return text if b > c else text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _replace_expression(text: str, other: str, random: Random) -> str:
    """An expression in place of another, which may come from the same program."""
    source = random.choice([text, other])
    places = _expressions(text)
    if not places or not _expressions(source):
        return text
    start, end = random.choice(places)
    first, last = random.choice(_expressions(source))
    part = source[first:last]
    return text[:start] + (f"({part})" if random.random() < 0.7 else part) + text[end:]


def _wrap_expression(text: str, _other: str, random: Random) -> str:
    places = _expressions(text)
    if not places:
        return text
    start, end = random.choice(places)
    inner = text[start:end]
    template = random.choice(_AROUND_EXPRESSIONS)
    for _ in range(random.choice([1, 1, 1, 2, 12])):
        grown = template.replace("{}", "\0").replace("{{", "{").replace("}}", "}").replace("\0", inner)
        if len(grown) > 2000:
            break
        inner = grown
    return text[:start] + inner + text[end:]


def _change_call(text: str, _other: str, random: Random) -> str:
    """Other arguments for a call: none, fewer, unpacked ones, ones of another call."""
    calls = [place for place in _expressions(text) if text[place[1] - 1] == ")" and "(" in text[slice(*place)]]
    if not calls:
        return text
    start, end = random.choice(calls)
    name, _, given = text[start : end - 1].partition("(")
    parts = given.split(", ")
    ways = ["", "*x", "**x", "x, *x", ", ".join(parts[1:]), ", ".join(parts[:-1]), ", ".join(reversed(parts))]
    ways += [f"{given}, x", f"{given}, value=x", f"dim=x, {given}", "x for x in x", "None", "'text'", "-1", "x=x"]
    return f"{text[:start]}{name}({random.choice(ways)}){text[end:]}"


def _wrap_statements(text: str, _other: str, random: Random) -> str:
    statements = _statements(text)
    if not statements:
        return text
    first, last, indent = random.choice(statements)
    lines = text.splitlines(keepends=True)
    body = lines[first:last]
    header, _, footer = random.choice(_AROUND_STATEMENTS).partition("{}")
    deeper = header.splitlines()[-1]
    inner = "    " * (1 + (len(deeper) - len(deeper.lstrip())) // 4)
    block = [f"{indent}{line}\n" for line in header.splitlines()]
    block += [f"{inner}{line}" if line.strip() else line for line in body]
    if not block[-1].endswith("\n"):
        block[-1] += "\n"
    block += [f"{indent}{line}\n" for line in footer.splitlines() if line]
    return "".join([*lines[:first], *block, *lines[last:]])


def _insert_statement(text: str, other: str, random: Random) -> str:
    """A statement of another program in front of one of this, or in its place."""
    places, sources = _statements(text), _statements(other)
    if not places or not sources:
        return text
    first, last, indent = random.choice(places)
    start, end, _ = random.choice(sources)
    part = textwrap.dedent("".join(other.splitlines(keepends=True)[start:end]))
    block = textwrap.indent(part if part.endswith("\n") else f"{part}\n", indent)
    lines = text.splitlines(keepends=True)
    lines[first : last if random.random() < 0.3 else first] = [block]
    return "".join(lines)


def _with_other_layout(text: str, random: Random) -> str:
    return random.choice(
        [
            lambda: text.replace("\n", "\r\n"),
            lambda: text.replace("    ", "\t"),
            lambda: text.rstrip("\n"),
            lambda: text.replace("    ", " "),
            lambda: text.replace("\n", "\r\n", text.count("\n") // 2),
            lambda: text + "\n\f\n  \n\t",
        ]
    )()


@lru_cache(maxsize=1024)
def _tokens(text: str) -> list[tuple[int, int, int]]:
    """Where the tokens begin and end, and their kinds; none for a text that cannot be taken apart."""
    starts = _line_starts(text)
    found = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
            if token.string.strip():
                start = starts[token.start[0] - 1] + token.start[1]
                found.append((start, start + len(token.string), token.type))
    except (tokenize.TokenError, SyntaxError, IndexError):
        return []
    return found


def _parsed(text: str) -> ast.Module | None:
    """The tree of a text, None for one that is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


@lru_cache(maxsize=1024)
def _expressions(text: str) -> list[tuple[int, int]]:
    """Where expressions that stand by themselves begin and end."""
    tree = _parsed(text)
    if tree is None:
        return []
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.expr)]
    return [place for node in nodes if (place := _place(node, text)) is not None]


def _place(node: ast.expr, text: str) -> tuple[int, int] | None:
    """From character to character; None where lines of the text and of the tree may differ."""
    lines = text.split("\n")
    if node.end_lineno is None or node.end_col_offset is None or node.end_lineno > len(lines):
        return None
    starts = _line_starts(text)
    try:
        start = len(lines[node.lineno - 1].encode()[: node.col_offset].decode())
        end = len(lines[node.end_lineno - 1].encode()[: node.end_col_offset].decode())
    except UnicodeDecodeError:
        return None
    return starts[node.lineno - 1] + start, starts[node.end_lineno - 1] + end


@lru_cache(maxsize=1024)
def _line_starts(text: str) -> list[int]:
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    return starts


@lru_cache(maxsize=1024)
def _statements(text: str) -> list[tuple[int, int, str]]:
    """The lines of statements, from and up to, and their indentation."""
    tree = _parsed(text)
    if tree is None:
        return []
    lines = text.splitlines()
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt) and node.end_lineno is not None and node.lineno <= len(lines):
            line = lines[node.lineno - 1]
            found.append((node.lineno - 1, node.end_lineno, line[: len(line) - len(line.lstrip())]))
    return found


_CHANGES: Sequence[Callable[[str, str, Random], str]] = (
    _delete_lines,
    _repeat_lines,
    _swap_lines,
    _splice_lines,
    _indent_lines,
    _insert_odd,
    _change_token,
    _change_token,
    _replace_expression,
    _replace_expression,
    _replace_expression,
    _wrap_expression,
    _wrap_expression,
    _change_call,
    _change_call,
    _change_call,
    _wrap_statements,
    _wrap_statements,
    _insert_statement,
    _insert_statement,
)
