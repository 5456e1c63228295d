"""Messages go to the edge of a compiled function as they were said, or stay with the reason."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest
import torch

from gbfix.analysis.observations import Observation, ValueSpec
from gbfix.analysis.observed import by_line
from gbfix.analysis.preferences import Messages, Preferences
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods._reports import report_findings
from gbfix.engine.model import Discharge, Finding, Safety
from gbfix.engine.passes import fix_text

HEAD = """\
import logging
import warnings

import torch

logger = logging.getLogger("case")
COUNT = 0


def bump():
    global COUNT
    COUNT += 1


@torch.compile
"""


def program(body: str, parameters: str = "x: torch.Tensor, n: int") -> str:
    return HEAD + f"def f({parameters}):\n" + textwrap.indent(textwrap.dedent(body).strip("\n"), "    ") + "\n"


def findings(text: str, messages: Messages = Messages.AUTO) -> list[Finding]:
    project = load([parse("program.py", text)], preferences=Preferences(messages=messages))
    return list(report_findings(project.view("program.py")))


def fixed(body: str) -> str:
    after = fix_text(program(body), findings, unsafe=True).after
    return textwrap.dedent(after.partition("def f(")[2].partition("\n")[2]).rstrip("\n")


def only(body: str) -> Finding:
    (found,) = findings(program(body))
    return found


def lines(text: str) -> str:
    return textwrap.dedent(text).strip("\n")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            """
            y = x.sin()
            if n > 1: return y
            logger.info("%s", y)
            if n: return y.cos()
            return y.exp()
            """,
            """
            y = x.sin()
            if n > 1: return y
            if n:
                result = y.cos()
                logger.info("%s", y)
                return result
            result = y.exp()
            logger.info("%s", y)
            return result
            """,
            id="one-line suites",
        ),
        pytest.param(
            """
            y = x.sin(); logger.info("%s", y); z = y.cos()
            return z.exp()
            """,
            """
            y = x.sin(); z = y.cos()
            result = z.exp()
            logger.info("%s", y)
            return result
            """,
            id="statements on one line",
        ),
        pytest.param(
            """
            y = x.sin()
            logger.info(
                "%s and %s",
                y.mean(),  # of all
                n,
            )
            y = y.cos()
            n = n + 1
            return y * n
            """,
            """
            y = x.sin()
            # of all
            reported_y = y.mean()
            reported_n = n
            y = y.cos()
            n = n + 1
            result = y * n
            logger.info(
                "%s and %s",
                reported_y,  # of all
                reported_n,
            )
            return result
            """,
            id="several lines",
        ),
        pytest.param(
            """
            y = x.sin()
            v = y.view(-1)
            logger.info("%s", y if n else y.t())
            v.mul_(2)
            return y.cos()
            """,
            """
            y = x.sin()
            v = y.view(-1)
            reported_n = (y if n else y.t()).clone()
            v.mul_(2)
            result = y.cos()
            logger.info("%s", reported_n)
            return result
            """,
            id="copied choice",
        ),
        pytest.param(
            """
            y = x.sin()
            logger.info("%s", y)
            del y
            return x.cos()
            """,
            """
            y = x.sin()
            reported_y = y
            del y
            result = x.cos()
            logger.info("%s", reported_y)
            return result
            """,
            id="deleted",
        ),
    ],
)
def test_message_says_the_same_at_the_end(before: str, after: str) -> None:
    assert fixed(before) == lines(after)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            'y = x.sin()\nlogger.info("%s %s", y, n.total)\nn.total.add_(1)\nreturn y.cos()',
            "what n.total holds may be written before the message is said",
        ),
        ('y = x.sin()\nlogger.info("%d", m := n)\nreturn y.cos() * m', "it gives m a value"),
        ('y = x.sin()\nlogger.info("%s", locals())\nreturn y.cos()', "locals() may"),
        (
            'y = x.sin()\nmatch n:\n    case 1:\n        logger.info("%d", n)\nreturn y.cos()',
            "it stands in a `match`",
        ),
        (
            'y = x.sin()\nlogger.info("y")\nyield y.cos()',
            "the function runs in steps, between which others see the message",
        ),
        (
            'y = x.sin()\nlogger.info("%s", y)\ntry:\n    return y.cos()\nfinally:\n    n = 0',
            "the function ends inside a `try`",
        ),
    ],
)
def test_message_stays(body: str, reason: str) -> None:
    found = only(body)
    assert found.safety is Safety.REFUSED
    assert found.obligations[0].reason == reason
    assert found.advice


@pytest.mark.parametrize(
    ("body", "claim"),
    [
        ('y = x.sin()\nlogger.info("%s %d", y, COUNT)\nbump()\nreturn y.cos()', "the message says the same"),
        ('y = x.sin()\nlogger.info("%s", y)\nreturn y @ x', "nothing between the message and its new place raises"),
        (
            'y = x.sin()\nlogger.info("%s", y)\nassert n\nreturn y.cos()',
            "nothing between the message and its new place raises",
        ),
        ('y = x.sin()\nlogger.info("%f", y.item())\nx.zero_()\nreturn y.cos()', "making the message does not raise"),
        ('y = x.sin()\nwarnings.warn(f"{y.ndim}")\nx.zero_()\nreturn y', "nobody turns the warning into an error"),
    ],
)
def test_what_could_be_otherwise_is_assumed(body: str, claim: str) -> None:
    assert claim in {o.claim for o in only(body).obligations if o.discharge is Discharge.ASSUMED}


def test_a_message_that_asks_for_a_mode_stays_in_it() -> None:
    found = only('y = x.sin()\nwith torch.no_grad():\n    logger.info("%s", torch.is_grad_enabled())\nreturn y.cos()')
    assert found.obligations[0].reason == "is_grad_enabled asks for a mode that has ended by then"


def test_a_method_that_a_subclass_overrides_may_do_anything() -> None:
    classes = "class A:\n    def say(self, x):\n        logger.info(x)\n\n    @torch.compile\n"
    run = "    def f(self, x: torch.Tensor):\n        y = x.sin()\n        self.say(y)\n        return y.cos()\n"
    other = "\n\nclass B(A):\n    def say(self, x):\n        x.add_(1)\n"
    head = HEAD.removesuffix("@torch.compile\n")
    assert len(findings(head + classes + run)) == 1
    assert not findings(head + classes + run + other)


def test_a_method_that_a_subclass_of_another_file_overrides_may_do_anything() -> None:
    head = HEAD.removesuffix("@torch.compile\n")
    base = "class A:\n    def say(self, x):\n        logger.info(x)\n\n    @torch.compile\n"
    base += "    def f(self, x: torch.Tensor):\n        y = x.sin()\n        self.say(y)\n        return y.cos()\n"
    other = "from program import A\n\n\nclass B(A):\n    def say(self, x):\n        x.add_(1)\n"
    project = load([parse("program.py", head + base), parse("other.py", other)])
    assert not report_findings(project.view("program.py"))


def test_a_run_does_not_show_that_a_call_came_to_its_end() -> None:
    text = program('y = x.sin()\nlogger.info("%s", y)\nreturn n.head(y)')
    line = text.split("\n").index('    logger.info("%s", y)') + 1
    seen = Observation("program.py", line, "f", values={"n": ValueSpec("module", "torch.nn.modules.linear.Linear")})
    project = load([parse("program.py", text)], observed={"program.py": by_line([seen])})
    (found,) = report_findings(project.view("program.py"))
    (raising,) = (o for o in found.obligations if o.claim == "nothing between the message and its new place raises")
    assert raising.discharge is Discharge.ASSUMED


@pytest.mark.parametrize(
    "body",
    [
        'logger.info("begins")\nreturn x.sin()',
        'y = x.sin()\nlogger.info("%s", y)\nreturn y',
        'y = x.sin()\nif not torch.compiler.is_compiling():\n    logger.info("eager")\nreturn y.cos()',
        'y = x.sin()\nlog = {"info": 1}\nlog.get("info")\nreturn y.cos()',
    ],
)
def test_what_costs_nothing_is_no_finding(body: str) -> None:
    assert not findings(program(body))


def chosen(messages: Messages, body: str) -> str:
    def find(text: str) -> list[Finding]:
        return findings(text, messages)

    return fix_text(program(body), find, unsafe=True).after


def test_dropping_a_message_is_chosen_by_name_and_never_safe() -> None:
    body = 'y = x.sin()\nfor i in range(n):\n    logger.info("%d", i)\nreturn y.cos()'
    assert "is_compiling" not in chosen(Messages.AUTO, body)
    dropped = chosen(Messages.DROP, body)
    assert '        if not torch.compiler.is_compiling():\n            logger.info("%d", i)\n' in dropped
    (found,) = findings(program(body), Messages.DROP)
    assert found.safety is Safety.UNSAFE
    assert found.fix is not None
    assert "changes what is seen" in found.fix.title


def test_a_graph_makes_no_log_record() -> None:
    body = 'y = x.sin()\nlogger.info("%s", y)\nreturn y.cos()'
    assert chosen(Messages.IN_GRAPH, body) == program(body)
    assert chosen(Messages.OUTSIDE, body) == chosen(Messages.AUTO, body) != program(body)


REPORTS = 'def report(x):\n    logger.info("%s", x.shape)\n    logger.info("%s", x.mean())\n\n\n'


def reporting(options: str, messages: Messages) -> str:
    body = "y = x.sin()\nfor i in range(n):\n    report(y)\nreturn y.cos()"
    text = program(body).replace("@torch.compile\n", f"{REPORTS}@torch.compile{options}\n")

    def find(current: str) -> list[Finding]:
        return findings(current, messages)

    return fix_text(text, find).after


@pytest.mark.parametrize("messages", [Messages.AUTO, Messages.BOUNDARY])
def test_a_reporting_function_is_not_compiled_where_its_call_cannot_move(messages: Messages) -> None:
    assert '@torch.compiler.disable(reason="only reports")\ndef report(x):' in reporting("", messages)
    assert "disable" not in reporting("(fullgraph=True)", messages)


def test_a_reporting_function_stays_compiled_where_only_its_call_may_move() -> None:
    assert "disable" not in reporting("", Messages.OUTSIDE)


MESSAGES = """
y = x.sin()
# what it is
logger.info(
    "%s %s",
    y.shape,  # its shape
    f"{n}",
)
# and more
if logger.isEnabledFor(10):
    logger.debug("%s", [x.ndim for _ in range(n)])
warnings.warn("odd")
return y.cos()
"""


def test_messages_get_a_function_of_their_own() -> None:
    after = chosen(Messages.BOUNDARY, MESSAGES)
    assert (
        after.partition("    COUNT += 1\n\n\n")[2]
        == lines(
            """
        @torch.compiler.disable(reason="only reports")
        def _report_f(y, n, x):
            logger.info(
                "%s %s",
                y.shape,  # its shape
                f"{n}",
            )
            # and more
            if logger.isEnabledFor(10):
                logger.debug("%s", [x.ndim for _ in range(n)])
            warnings.warn("odd")


        @torch.compile
        def f(x: torch.Tensor, n: int):
            y = x.sin()
            # what it is
            _report_f(y, n, x)
            return y.cos()
        """
        )
        + "\n"
    )


def test_the_function_of_its_own_says_the_same(caplog: pytest.LogCaptureFixture) -> None:
    texts = []
    for text in (program(MESSAGES), chosen(Messages.BOUNDARY, MESSAGES)):
        for source in (text.replace("@torch.compile\n", ""), text.replace(".compile\n", '.compile(backend="eager")\n')):
            space: dict[str, Any] = {"__name__": "program"}
            exec(compile(source, "program.py", "exec"), space)
            caplog.clear()
            with caplog.at_level(10, "case"), pytest.warns(UserWarning, match="odd"):
                result = space["f"](torch.ones(2), 2)
            texts.append(([r.getMessage() for r in caplog.records if r.name == "case"], result.tolist()))
    assert texts == [texts[0]] * 4
    assert len(texts[0][0]) == 2


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("print(m := n)", "it gives m a value"),
        ('warnings.warn("a", stacklevel=2)', "it counts the functions that call it"),
        ('logger.info("%s", locals())', "locals depends on the function that asks"),
        ('if n: z = 1\nlogger.info("%s", z)', "z may have no value there"),
    ],
)
def test_messages_that_need_their_function_stay(body: str, reason: str) -> None:
    found = findings(program(f"y = x.sin()\n{body.replace('print', 'logger.info')}\nreturn y.cos()"), Messages.BOUNDARY)
    assert [one.obligations[0].reason for one in found] == [reason]


def test_a_function_that_is_not_compiled_is_not_called_under_fullgraph() -> None:
    text = program('y = x.sin()\nlogger.info("a")\nreturn y').replace("compile\n", "compile(fullgraph=True)\n")
    assert all(one.safety is Safety.REFUSED for one in findings(text, Messages.BOUNDARY))
