"""The source of an operator that runs checks, and of its call in their place."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from gbfix.analysis.source import SourceFile
from gbfix.codemods import _boundary_text as text
from gbfix.codemods._operator_inputs import Inputs
from gbfix.codemods._text import LINE_LENGTH, call, in_style_of, indentation_of, reindented
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Span

_LOOSE = ast.BoolOp | ast.IfExp | ast.Lambda


@dataclass(frozen=True)
class OperatorText:
    """Checks that follow each other, as an operator with these inputs.

    halves: of a single check, what its test asks of Python first, and the rest, both empty where all of it is one.
    """

    source: SourceFile
    checks: Sequence[ast.stmt]
    torch: str
    halves: tuple[Sequence[ast.expr], Sequence[ast.expr]]
    inputs: Inputs

    @property
    def span(self) -> Span:
        """Where the checks stand."""
        first, last = self.source.span(self.checks[0]), self.source.span(self.checks[-1])
        return Span(first.line, first.column, last.end_line, last.end_column)

    def definition(self, name: str, below: ast.stmt) -> str:
        """The operator, behind the statement that it is defined below."""
        head = f"def {name}({', '.join(self.inputs.signature)}) -> None:"
        if len(head) > LINE_LENGTH:
            head = f"def {name}(\n" + "".join(f"    {one},\n" for one in self.inputs.signature) + ") -> None:"
        lines = [
            self.source.segment(below),
            "",
            "",
            f"@{self.torch}.library.custom_op(",
            f'    __name__.replace(".", "_") + "::{name.strip("_")}",',
            "    mutates_args=(),",
            f"    tags=({self.torch}.Tag.cudagraph_unsafe,),",
            ")",
            head,
            reindented("\n".join(self._inside(check) for check in self.checks), "", "    "),
            "",
            "",
            f"{name}.register_fake(lambda {', '.join(self.inputs.types)}: None)",
            "# An operator that returns nothing would be left out of the graph as dead code.",
            f"{name}.register_effect({self.torch}.library.EffectType.ORDERED)",
        ]
        return in_style_of(self.source, "\n".join(lines))

    def call(self, name: str) -> str:
        """The call of the operator, and the checks as they are for what runs without torch.compile."""
        static, _ = self.halves
        width = len(indentation_of(self.source, self.checks[0])) + (8 if static else 4)
        made = call(name, self.inputs.arguments, "", width)
        if static:
            asked = " and ".join(_operand(part, self.source.segment(part)) for part in static)
            made = f"if {asked}:\n{reindented(made, '', '    ')}"
        compiling = f"{self.torch}.compiler.is_compiling()"
        if f"{self.torch}.jit" in self.source.text:
            compiling = f"not {self.torch}.jit.is_scripting() and {compiling}"
        alone = len(self.checks) == 1 and isinstance(self.checks[0], ast.If)
        kept = self._kept()
        otherwise = f"el{kept}" if alone else f"else:\n{reindented(kept, '', '    ')}"
        return f"if {compiling}:\n{reindented(made, '', '    ')}\n{otherwise}"

    def _kept(self) -> str:
        """The checks as they stand, at indentation zero."""
        span, indentation = self.span, indentation_of(self.source, self.checks[0])
        lines = list(self.source.lines[span.line - 1 : span.end_line])
        lines[-1] = lines[-1][: span.end_column]
        return reindented("\n".join(lines)[len(indentation) :], indentation, "")

    def _inside(self, check: ast.stmt) -> str:
        """The statement as the operator runs it."""
        static, rest = self.halves
        if not static or not isinstance(check, ast.If):
            return text.edited(self.source, check, self._edits(check))
        parts = [_operand(part, text.edited(self.source, part, self._edits(part))) for part in rest]
        edits = {node: new for one in check.body for node, new in self._edits(one).items()}
        return text.edited(self.source, check, {**edits, check.test: " and ".join(parts)})

    def _edits(self, node: ast.AST) -> Mapping[ast.AST, str]:
        inside = set(ast.walk(node))
        return {part: new for part, new in self.inputs.edits.items() if part in inside}


def _operand(part: ast.expr, shown: str) -> str:
    """The text of a part of a condition, which was perhaps in parentheses."""
    return f"({shown})" if isinstance(part, _LOOSE) or "\n" in shown else shown
