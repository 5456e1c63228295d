from __future__ import annotations

import ast
import textwrap

import pytest
from facts import Program

from gbfix.analysis.project import FileView, load
from gbfix.analysis.source import parse
from gbfix.codemods._contents import content_of
from gbfix.codemods._loggers import is_level_guard
from gbfix.codemods._messages import Message, message_in, says_something

HEADER = """
import functools, logging, sys, warnings
import logging as journal
from logging import getLogger, info as tell
from warnings import warn
import torch
from shared import log, helper, quiet
logger = logging.getLogger(__name__)
child = logger.getChild("a")
stream = sys.stdout
say = print

@functools.lru_cache(None)
def note_once(text):
    logger.warning(text)

def loud(x):
    return inner(x)

def inner(x):
    if x.shape[0] > 3:
        print("large")
    return x

def silent(x):
    def later():
        print("later")
    return torch.relu(x) + silent(x)

class Layer(torch.nn.Module):
    shared = logging.getLogger("shared")

    def __init__(self):
        super().__init__()
        self.logger = getLogger("layer")
        self.act = torch.nn.ReLU()
        self.block = Block()
        self.record = []

    def forward(self, x, unknown, given: logging.Logger, print_it):
        STATEMENT

class Block(torch.nn.Module):
    def forward(self, x):
        warnings.warn("block")
        return x
"""
SHARED = """
import logging
log = logging.getLogger("shared")
def helper(x):
    log.info("helped")
    return x
def quiet(x):
    return x + 1
"""


def made(statement: str) -> tuple[FileView, ast.stmt]:
    text = HEADER.replace("STATEMENT", textwrap.indent(statement, " " * 8).strip())
    view = load([parse("main.py", text), parse("shared.py", SHARED)]).view("main.py")
    forward = next(f for f in view.source.functions if f.qualname == "Layer.forward")
    assert isinstance(forward.node, ast.FunctionDef)
    return view, forward.node.body[-1]


def message(statement: str) -> Message | None:
    return message_in(*made(statement))


@pytest.mark.parametrize(
    ("statement", "kind", "level", "text"),
    [
        ("print('a', x)", "print", None, None),
        ("say('a')", "print", None, None),
        ("sys.stdout.write('a')", "write", None, "'a'"),
        ("sys.stderr.write('a')", "write", None, "'a'"),
        ("logging.info('a %s', x)", "logging", "info", "'a %s'"),
        ("journal.debug('a')", "logging", "debug", "'a'"),
        ("tell('a')", "logging", "info", "'a'"),
        ("logger.warn('a')", "logging", "warning", "'a'"),
        ("logger.exception('a')", "logging", "error", "'a'"),
        ("logger.log(logging.INFO, 'a')", "logging", "info", "'a'"),
        ("logger.log(30, 'a')", "logging", "warning", "'a'"),
        ("logger.log(unknown, 'a')", "logging", None, "'a'"),
        ("logger.info(msg='a')", "logging", "info", "'a'"),
        ("child.fatal('a')", "logging", "critical", "'a'"),
        ("log.error('a')", "logging", "error", "'a'"),
        ("self.logger.info('a')", "logging", "info", "'a'"),
        ("self.shared.info('a')", "logging", "info", "'a'"),
        ("Layer.shared.info('a')", "logging", "info", "'a'"),
        ("given.info('a')", "logging", "info", "'a'"),
        ("getLogger('b').info('a')", "logging", "info", "'a'"),
        ("logger.warning_once('a')", "wrapper", "warning", "'a'"),
        ("note_once('a')", "wrapper", None, "'a'"),
        ("warnings.warn('a', UserWarning)", "warning", None, "'a'"),
        ("warn(message='a')", "warning", None, "'a'"),
    ],
)
def test_messages_are_known_by_what_their_names_are_bound_to(
    statement: str, kind: str, level: str | None, text: str | None
) -> None:
    found = message(statement)
    assert found is not None
    assert (found.kind.value, found.level, found.text and ast.unparse(found.text)) == (kind, level, text)


@pytest.mark.parametrize(
    "statement",
    [
        "unknown.info('a')",
        "self.record.append('a')",
        "y = print('a')",
        "print_it('a')",
        "self.block.info('a')",
        "x.log()",
    ],
)
def test_what_is_not_bound_to_a_way_of_saying_something_is_no_message(statement: str) -> None:
    assert message(statement) is None


def test_arguments_are_kept_by_their_role() -> None:
    found = message("logger.info('%s %s', x, unknown, exc_info=True, *unknown)")
    assert found is not None
    assert [ast.unparse(argument) for argument in found.arguments] == ["x", "unknown", "*unknown"]
    exc_info = found.option("exc_info")
    assert exc_info is not None
    assert ast.unparse(exc_info) == "True"
    assert found.option("extra") is None
    assert found.starred


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("y = loud(x)", True),
        ("y = helper(x)", True),
        ("y = self.block(x)", True),
        ("y = unknown(x)", True),
        ("y = [print(i) for i in x]", True),
        ("if x.any():\n    logger.info('a')", True),
        ("y = silent(x)", False),
        ("y = quiet(x)", False),
        ("y = self.act(x) + torch.relu(x).sum().item()", False),
        ("self.record.append(len(x.shape))", False),
        ("def later(): print('a')", False),
    ],
)
def test_whether_a_statement_may_say_something(statement: str, says: bool) -> None:
    assert says_something(*made(statement)) is says


@pytest.mark.parametrize(
    ("test", "asks"),
    [
        ("logger.isEnabledFor(logging.DEBUG)", True),
        ("not self.logger.isEnabledFor(10)", True),
        ("logger.level <= logging.DEBUG", True),
        ("logger.getEffectiveLevel() < 20 and logger.isEnabledFor(10)", True),
        ("logger.isEnabledFor(10) and x.any()", False),
        ("unknown.isEnabledFor(10)", False),
        ("x.shape[0] > 3", False),
    ],
)
def test_conditions_on_levels(test: str, asks: bool) -> None:
    view, statement = made(f"if {test}:\n    pass")
    assert isinstance(statement, ast.If)
    assert is_level_guard(view, statement.test) is asks


@pytest.mark.parametrize(
    ("expression", "content"),
    [
        ("'a'", "constant"),
        ("-1.5", "constant"),
        ("x.shape", "metadata"),
        ("x.shape[0]", "metadata"),
        ("x.size(0)", "metadata"),
        ("x.dtype", "metadata"),
        ("torch.float32", "metadata"),
        ("f'{x.shape} {n:3d}'", "metadata"),
        ("[1, n]", "metadata"),
        ("x", "tensor"),
        ("x.sum()", "tensor"),
        ("x.sum().item()", "number read out of a tensor"),
        ("x.sum().item() * 2", "number read out of a tensor"),
        ("f'{x}'", "text made from tensors"),
        ("f'{x.sum().item():.3f}'", "text made from tensors"),
        ("'%s' % x", "text made from tensors"),
        ("'{} {}'.format(x, n)", "text made from tensors"),
        ("'a' + str(x)", "text made from tensors"),
        ("repr(x)", "text made from tensors"),
        ("{'a': x}", "text made from tensors"),
        ("some", "unknown"),
        ("[x, some]", "unknown"),
    ],
)
def test_what_an_argument_is_made_of(expression: str, content: str) -> None:
    program = Program(f"def f(x: torch.Tensor, n: int, some):\n    return {expression}\n")
    statement = program.statement
    assert isinstance(statement, ast.Return)
    assert statement.value is not None
    assert content_of(program.flow, program.state, statement.value).value == content
