from __future__ import annotations

import textwrap

import pytest

from gbfix.analysis.capabilities import Torch
from gbfix.analysis.preferences import Messages, Preferences
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods.print_in_region import RULE
from gbfix.engine.model import Discharge, Finding, Safety
from gbfix.engine.passes import fix_text

HEADER = "import sys\nimport torch\nfrom sys import stdout\n"
PRINT = "torch._higher_order_ops.print"


def program(message: str, parameters: str = "x: torch.Tensor, n: int, s: str, v") -> str:
    body = textwrap.indent(f"y = x.sum()\n{message}", "    ")
    return f"{HEADER}\n\n@torch.compile\ndef f({parameters}):\n{body}\n    return x\n"


def findings(text: str, messages: Messages = Messages.IN_GRAPH, **others: str) -> list[Finding]:
    files = [parse("main.py", text), *(parse(f"{name}.py", other) for name, other in others.items())]
    return list(RULE.find(load(files, preferences=Preferences(messages=messages)).view("main.py")))


def rewritten(message: str) -> str:
    """What the last statement before the return becomes, unsafe fixes included."""

    def find(current: str) -> list[Finding]:
        return list(RULE.find(load([parse("main.py", current)]).view("main.py")))

    result = fix_text(program(message), find, unsafe=True)
    assert result.changed, [o.reason for finding in result.findings for o in finding.obligations]
    return result.after.split("y = x.sum()\n")[1].removesuffix("    return x\n").strip()


def refused(message: str) -> str:
    [finding] = findings(program(message))
    assert finding.safety is Safety.REFUSED
    assert finding.advice
    return finding.obligations[0].claim


def discharge(message: str, claim: str) -> Discharge:
    [finding] = findings(program(message))
    return next(o.discharge for o in finding.obligations if o.claim == claim)


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("print()", '""'),
        ("print('a')", '"a"'),
        ("print('a', 1, None, True, 1.5)", '"a 1 None True 1.5"'),
        ("print('a', 'b', sep='-', end='!\\n')", '"a-b!"'),
        ("print('a', sep=None, end=None, file=None, flush=False)", '"a"'),
        ("print('a', file=sys.stdout)", '"a"'),
        ("print('{} %s', n)", '"{{}} %s {!s}", n'),
        ("print(x)", '"{!s}", x'),
        ("print(f'{x}')", '"{}", x'),
        ("print(f'{x!r} {n:5d} {n!s:>4}')", '"{!r} {:5d} {!s:>4}", x, n, n'),
        ("print(f'{n=} {y=:.3f} {{}}')", '"n={!r} y={:.3f} {{}}", n, y'),
        ("print(f'{y:.{n}f}')", '"{:.{}f}", y, n'),
        ("print(f'{y:{8}.{3}f}')", '"{:8.3f}", y'),
        ("print(f'a {\"b\" + str(x)} c')", '"a b{!s} c", x'),
        ("print('a' + str(x) + f'{n}')", '"a{!s}{}", x, n'),
        ("print('%d of %5.2f%% %-4s| %r' % (n, y, n, x))", '"{:d} of {:5.2f}% {!s:<4}| {!r}", n, y, n, x'),
        ("print('%s' % x)", '"{!s}", x'),
        ("print('{} {}'.format(x, n))", '"{} {}", x, n'),
        ("print('{1} {0} {b:>5}'.format(x, n, b=n))", '"{} {} {:>5}", n, x, n'),
        ("print('-'.join(['a', str(x), f'{n}']))", '"a-{!s}-{}", x, n'),
        ("print(repr(x), ascii(x), format(y, '.1f'))", '"{!r} {!a} {:.1f}", x, x, y'),
        ("print(y.item())", '"{}", y'),
        ("print(f'{y.item():.3f} {float(y):.1e}')", '"{:.3f} {:.1e}", y, y.double()'),
        ("print(int(x.argmax()), bool(x.any()))", '"{} {}", x.argmax(), x.any().bool()'),
        ("print(x.float().sum(0, keepdim=True).item())", '"{}", x.float().sum(0, keepdim=True).reshape(())'),
        ("print(x.shape, x.dtype, x.size())", '"{} {} {}", str(x.shape), str(x.dtype), str(x.size())'),
        ("print(x.shape[0], len(x), x.shape[1:])", '"{!s} {!s} {}", x.shape[0], len(x), str(x.shape[1:])'),
        ("print([1, n], '=' * 9)", "\"{} {!s}\", str([1, n]), '=' * 9"),
        ("print(type(x).__name__)", '"{!s}", type(x).__name__'),
        ("print(s)", '"{!s}", s'),
        ("print(v)", '"{!s}", v'),
        ("sys.stdout.write('a\\n')", '"a"'),
        ("sys.stdout.write(f'{y:.2f}\\n')", '"{:.2f}", y'),
    ],
)
def test_the_text_becomes_a_format_string(message: str, arguments: str) -> None:
    assert rewritten(message) == f"{PRINT}({arguments})"


@pytest.mark.parametrize(
    ("message", "claim"),
    [
        ("print('a', end='')", "the text ends with a new line"),
        ("print('a', sep=s)", "sep= is constant"),
        ("print('a', flush=True)", "nothing waits for the text"),
        ("print('a', file=sys.stderr)", "it goes to standard output"),
        ("print('a', file=stdout)", "it goes to standard output"),
        ("stdout.write('a\\n')", "it goes to standard output"),
        ("sys.stdout.write('a')", "the text ends with a new line"),
        ("sys.stdout.write(s)", "what is written is text"),
        ("v = sys.stdout.write('a\\n')", "its result is not used"),
        ("print(*v)", "the arguments are known"),
        ("print([x])", "what is printed is a tensor, a number or text"),
        ("print({x})", "what is printed is a tensor, a number or text"),
        ("print(f'{x.add_(1)} {x.add_(1)}')", "nothing changes while the text is put together"),
        ("print('%c' % n)", "the text can be written as a format string"),
        ("print('%.3d' % n)", "the text can be written as a format string"),
        ("print('%(a)s' % v)", "the text can be written as a format string"),
        ("print('%s %s' % x)", "the text can be written as a format string"),
        ("print('{0.shape}'.format(x))", "the text can be written as a format string"),
        ("print('{1} {0}'.format(x.add_(1), x.add_(1)))", "the text can be written as a format string"),
        ("print('%d' % y)", "the text is exactly the same"),
        ("print(int(y))", "the text is exactly the same"),
        ("print(f'{y.item()!s:>9}')", "the text is exactly the same"),
        ("print(y.item() * 2)", "what is printed is a tensor, a number or text"),
        ("if y > 0:\n    print('a')", "the print does not depend on a tensor"),
        ("while y > 0:\n    print('a')", "the print does not depend on a tensor"),
        ("v = print('a') if y > 0 else None", "the print does not depend on a tensor"),
        ("y > 0 and print('a')", "the print does not depend on a tensor"),
    ],
)
def test_what_cannot_be_printed_the_same_is_refused(message: str, claim: str) -> None:
    assert refused(message) == claim


@pytest.mark.parametrize(
    "message",
    [
        "if not torch.compiler.is_compiling():\n    print('a')",
        "if torch.compiler.is_compiling():\n    pass\nelse:\n    print('a')",
        "if n > 1 and not torch.compiler.is_compiling():\n    print('a')",
        "def later():\n    print('a')",
        "print = sys.exit\nprint('a')",
        "return x\nprint('a')",
    ],
)
def test_what_is_never_printed_while_compiling_is_left_alone(message: str) -> None:
    assert findings(program(message)) == []


@pytest.mark.parametrize(
    "message",
    [
        "for i in range(3):\n    print(i)",
        "try:\n    print('a')\nexcept ValueError:\n    print('b')\nfinally:\n    print('c')",
        "with torch.no_grad():\n    print('a')",
        "v = [print('a') for _ in x]",
        "if n > 0:\n    print('a')",
        "n > 0 or print('a')",
        "assert print('a') is None",
    ],
)
def test_prints_are_found_wherever_they_stand(message: str) -> None:
    found = findings(program(message))
    assert found
    assert all(finding.safety is Safety.SAFE for finding in found)


@pytest.mark.parametrize(
    ("message", "discharged"),
    [
        ("print(x)", Discharge.ASSUMED),
        ("print(f'{y}')", Discharge.PROVED),
        ("print(x.detach())", Discharge.PROVED),
        ("print(x > 0)", Discharge.PROVED),
        ("print(torch.zeros(2))", Discharge.PROVED),
        ("with torch.no_grad():\n    print(x * 2)", Discharge.PROVED),
        ("with torch.no_grad():\n    print(x)", Discharge.ASSUMED),
        ("with torch.no_grad():\n    print(x.add_(1))", Discharge.ASSUMED),
    ],
)
def test_a_tensor_that_may_carry_a_gradient_shows_its_grad_fn(message: str, discharged: Discharge) -> None:
    [finding] = findings(program(message))
    found = [o.discharge for o in finding.obligations if o.claim == "no grad_fn is shown"]
    assert (found or [Discharge.PROVED]) == [discharged]


def test_a_number_needs_exactly_one_element() -> None:
    assert discharge("print(x.item())", "the number that is printed comes from one element") is Discharge.ASSUMED
    assert discharge("print(y.item())", "the number that is printed comes from one element") is Discharge.PROVED
    assert discharge("print(f'{x:.3f}')", "the number that is printed comes from one element") is Discharge.ASSUMED


def test_what_nothing_is_known_of_is_assumed_to_be_printable() -> None:
    assert discharge("print(v)", "what is printed is a tensor, a number or text") is Discharge.ASSUMED


def test_transforms_do_not_know_the_print() -> None:
    claim = "no transform or dispatch mode runs it"
    text = program("print('a')")
    assert findings(text + "\ng = torch.vmap(f)\n")[0].obligations[0].claim == claim
    [finding] = findings(text, other="from torch.utils.checkpoint import checkpoint\ncheckpoint(len)\n")
    assert next(o.discharge for o in finding.obligations if o.claim == claim) is Discharge.ASSUMED


def test_fullgraph_made_it_an_error() -> None:
    [finding] = findings(program("print('a')").replace("@torch.compile", "@torch.compile(fullgraph=True)"))
    assert finding.safety is Safety.UNSAFE


def test_a_program_that_has_configured_its_messages_is_left_alone() -> None:
    configured = "torch._dynamo.config.reorderable_logging_functions.add(print)\n"
    assert findings(program("print('a')") + configured) == []


def test_other_versions_of_pytorch() -> None:
    def found(captures: set[str]) -> list[Finding]:
        project = load([parse("main.py", program("print('a')"))], torch=Torch("2.9.0", captures.__contains__))
        return list(RULE.find(project.view("main.py")))

    assert found({"print"}) == []
    [finding] = found(set())
    assert finding.obligations[0].claim == "the installed PyTorch prints from a graph"


def source_of(message: str, messages: Messages) -> str:
    """The source of the safe or unsafe fix for a message before more is computed."""
    [finding] = findings(program(message).replace("return x", "return x.cos()"), messages)
    assert finding.fix is not None, finding.obligations[0]
    return "\n".join(replacement.source for replacement in finding.fix.replacements)


def test_another_way_may_be_chosen() -> None:
    assert source_of("print('a')", Messages.OUTSIDE) == "print('a')\ny = x.sum()\n"
    assert source_of("print('a')", Messages.DROP) == "if not torch.compiler.is_compiling():\n    print('a')"
    assert PRINT in source_of("print('a')", Messages.AUTO)


@pytest.mark.parametrize("message", ["print('a', end='')", "print(y.add(1), [y])", "print(y, file=sys.stderr)"])
def test_what_the_graph_cannot_say_exactly_is_said_at_the_edge(message: str) -> None:
    assert message in source_of(message, Messages.AUTO)


def test_a_message_on_one_side_of_a_branch_on_a_tensor_goes_to_an_edge_or_stays() -> None:
    for way in Messages:
        [finding] = findings(program("if y > 0:\n    print('a')").replace("return x", "return x.cos()"), way)
        if way in (Messages.AUTO, Messages.OUTSIDE):
            assert finding.safety is Safety.SAFE
        else:
            assert finding.obligations[0].claim == "the print does not depend on a tensor"


def applied(body: str, header: str = HEADER, decorator: str = "@torch.compile") -> str:
    """What the body of a compiled function becomes."""
    text = f"{header}\n\n{decorator}\ndef f(x: torch.Tensor, y: torch.Tensor):\n{textwrap.indent(body, '    ')}\n"

    def find(current: str) -> list[Finding]:
        return list(RULE.find(load([parse("main.py", current)]).view("main.py")))

    return textwrap.dedent(fix_text(text, find).after.partition("torch.Tensor):\n")[2]).strip()


def test_a_print_whose_grad_fn_would_be_lost_goes_to_the_end() -> None:
    body = 'a = torch.relu(x)\nprint("mid", a)\nb = torch.sin(a)\nprint("late")\nreturn torch.cos(b)'
    after = 'a = torch.relu(x)\nb = torch.sin(a)\nresult = torch.cos(b)\nprint("mid", a)\nprint("late")\nreturn result'
    assert applied(body) == after


def test_a_print_under_a_condition_on_a_tensor_goes_to_the_end() -> None:
    body = 'a = torch.relu(x)\nif a.sum() > 0:\n    print("positive")\nreturn torch.sin(a)'
    after = 'a = torch.relu(x)\nresult = torch.sin(a)\nif a.sum() > 0:\n    print("positive")\nreturn result'
    assert applied(body) == after


@pytest.mark.parametrize(
    ("body", "decorator"),
    [
        ('a = torch.relu(x)\nprint("mid", a)\nreturn a + y', "@torch.compile"),
        ('a = torch.relu(x)\nprint("mid", a)\na.mul_(2)\nreturn torch.sin(a)', "@torch.compile"),
        ('a = torch.relu(x)\nprint("mid", a)\nreturn torch.sin(a)', "@torch.compile(fullgraph=True)"),
        ('for _ in range(2):\n    x = torch.relu(x)\n    print("mid", x)\nreturn torch.sin(x)', "@torch.compile"),
    ],
)
def test_a_print_that_cannot_be_moved_exactly_is_left(body: str, decorator: str) -> None:
    assert applied(body, decorator=decorator) == body


def test_a_print_at_an_edge_does_not_become_a_graph_of_its_own() -> None:
    end = 'result = torch.relu(x)\nprint(result)\nprint("done")\nreturn result'
    assert applied(end) == end
    start = 'print("begin")\nprint(x)\nreturn torch.relu(x)'
    assert applied(start) == start
    header = HEADER + "import logging\nlogger = logging.getLogger(__name__)\n"
    logged = 'result = torch.relu(x)\nlogger.info("done")\nprint("done")\nreturn result'
    assert applied(logged, header) == logged
    other_way = 'result = torch.relu(x)\nprint("done")\nlogger.info("done")\nreturn result'
    assert PRINT in applied(other_way, header)
