"""What the analysis says about an expression in a small program, for tests."""

from __future__ import annotations

import ast
import textwrap
from dataclasses import replace

from gbfix.analysis.evaluate import Evaluation
from gbfix.analysis.fakes import Fakes
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.observations import Observation
from gbfix.analysis.observed import by_line
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.analysis.values import Value

HEADER = "import math\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n"


class Program:
    """A function, the last one of the text, and the facts at its marked statement.

    The statement with the comment `# here` is the point; without one, the last statement of the body.
    """

    def __init__(self, text: str, *observations: Observation, fakes: Fakes | None = None) -> None:
        """`observations` are about the marked line, whatever line they name."""
        self.source = parse("program.py", HEADER + textwrap.dedent(text))
        line = next((i for i, text in enumerate(self.source.lines, 1) if "# here" in text), 0)
        observed = {"program.py": by_line(replace(o, line=line) for o in observations)}
        view = load([self.source], observed=observed, fakes=fakes).view("program.py")
        functions = [f for f in self.source.functions if not isinstance(f.node, ast.Lambda)]
        self.function = functions[-1]
        self.flow = Flow(view, self.function)

    @property
    def statement(self) -> ast.stmt:
        """The marked statement."""
        lines = self.source.lines
        found = [s for s in self.flow.before if "# here" in lines[s.lineno - 1]]
        assert not isinstance(self.function.node, ast.Lambda)
        return found[0] if found else self.function.node.body[-1]

    @property
    def state(self) -> State:
        """What holds before the marked statement."""
        return self.flow.before[self.statement]

    def held(self, name: str) -> Value:
        """The facts about a name."""
        return self.state.values[name]

    def evaluate(self) -> tuple[Value, Evaluation]:
        """The facts about the value of the marked statement, an assignment, expression or return."""
        value = self.statement.value
        assert isinstance(value, ast.expr)
        return self.flow.evaluate(value, self.state)


def value_of(expression: str, parameters: str = "x: torch.Tensor, y: torch.Tensor", before: str = "pass") -> Value:
    """The facts about an expression in a function with these parameters, after one statement."""
    return Program(f"def f({parameters}):\n    {before}\n    return {expression}\n").evaluate()[0]


def effects_of(
    expression: str, parameters: str = "x: torch.Tensor, y: torch.Tensor", before: str = "pass"
) -> Evaluation:
    """What running an expression does."""
    return Program(f"def f({parameters}):\n    {before}\n    return {expression}\n").evaluate()[1]
