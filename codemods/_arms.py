"""Runs the two sides of a branch symbolically: what each one computes for every target.

A side is a list of statements that only compute. The outcome of running it is one `Piece` of
source per target; statements that the target's source needs first become lines of their own, under
names that disturb nothing. Where two sides meet, `Site.combine` joins their pieces.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from gbfix.analysis.effects import Effects
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import shorten
from gbfix.analysis.tree import names_in
from gbfix.analysis.values import Kind, Value
from gbfix.codemods._preparations import EARLY, TOTAL, preparation, prepared_by
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import indentation_of, on_its_own, render, trailing_comment
from gbfix.engine.dataclass import dataclass

RETURN = "return"
"""The target that stands for the value a side returns."""
CALL = "call"
"""The target that stands for a call made for its effect, as the last statement of a side."""

_BINARY_TEXT = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.MatMult: "@",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}


@dataclass(frozen=True)
class Piece:
    """The source of one value, with its facts.

    effects: of evaluating it. node is the expression it was written as, for looking inside tuples and
    calls; None for made-up source. state and renames are those under which `node` is read.
    """

    source: str
    value: Value
    line: int
    effects: Effects = field(default_factory=Effects)
    node: ast.expr | None = None
    state: State | None = None
    renames: Mapping[str, str] = field(default_factory=dict)
    atomic: bool = False


@dataclass
class Arm:
    """The outcome of one side: lines to run first and what they do, and a piece per target."""

    lines: list[str] = field(default_factory=list)
    outcome: dict[str, Piece] = field(default_factory=dict)
    annotations: dict[str, str] = field(default_factory=dict)
    effects: Effects = field(default_factory=Effects)
    returns: bool = False
    assumptions: list[tuple[str, str, int]] = field(default_factory=list)
    prepared: list[ast.Attribute] = field(default_factory=list)


class ArmReader:
    """Reads the statements of one side."""

    def __init__(
        self,
        flow: Flow,
        anchor: ast.AST,
        must_rename: Callable[[str], bool],
        fresh_name: Callable[[str], str],
        nested: Callable[[ast.If, list[ast.stmt], Arm, dict[str, str]], None],
        ternary: Callable[[ast.IfExp, State, Mapping[str, str], Arm], Piece | None],
        refined: Callable[[State], State],
    ) -> None:
        self.flow = flow
        self.source = flow.context.source
        self.width = len(indentation_of(self.source, anchor).expandtabs(4))
        self.must_rename = must_rename
        self.fresh_name = fresh_name
        self.nested = nested
        self.ternary = ternary
        self.refined = refined

    def read(self, statements: Sequence[ast.stmt], renames: Mapping[str, str], *, prepares: bool = False) -> Arm:
        """What running the statements computes. Raises RefusedError at the first that does more than compute.

        `prepares` lets the first of them make or move an attribute, see `_preparations`.
        """
        arm = Arm()
        current = dict(renames)
        statements = self._prepare(statements, arm) if prepares else statements
        for index, statement in enumerate(statements):
            self._statement(statement, list(statements[index + 1 :]), arm, current, last=index == len(statements) - 1)
            if arm.returns:
                break
        return arm

    def _prepare(self, statements: Sequence[ast.stmt], arm: Arm) -> Sequence[ast.stmt]:
        """Take the preparations that the statements begin with; the other statements."""
        for index, statement in enumerate(statements):
            attribute = prepared_by(self.flow, statement)
            if attribute is None:
                return statements[index:]
            line, effects = preparation(self.flow, statement, attribute, self.state_at(statement))
            arm.lines.append(line)
            arm.prepared.append(attribute)
            text = f"`{shorten(self.source.segment(statement))}` runs on either side now"
            arm.assumptions.append((EARLY, text, statement.lineno))
            if effects.impure or effects.requirements:
                arm.assumptions.append((TOTAL, f"{text}, and may raise", statement.lineno))
        return []

    def _statement(
        self, statement: ast.stmt, rest: list[ast.stmt], arm: Arm, renames: dict[str, str], *, last: bool
    ) -> None:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value, statement, arm, renames)
            case ast.AnnAssign(target=ast.Name(id=name) as target, value=ast.expr() as value, annotation=annotation):
                self._assign(target, value, statement, arm, renames)
                arm.annotations[name] = self.source.segment(annotation)
            case ast.AugAssign(target=ast.Name(), value=_):
                self._augmented(statement, arm, renames)
            case ast.If():
                self.nested(statement, rest, arm, renames)
            case ast.Return(value=ast.expr() as value):
                self._settle(value, arm, renames)
                arm.outcome[RETURN] = self.piece(value, self.state_at(statement), renames, arm)
                arm.returns = True
            case ast.Expr(value=ast.Call() as value) if last:
                self._settle(value, arm, renames)
                arm.outcome[CALL] = self.piece(value, self.state_at(statement), renames, arm)
            case _:
                raise _unsupported(statement, self.source.segment(statement))

    def state_at(self, statement: ast.stmt) -> State:
        """What holds before a statement of the side. Raises RefusedError for code that is never reached."""
        state = self.flow.before.get(statement)
        if state is None:
            raise RefusedError(
                "the side can be reached", "this statement is never reached", statement.lineno, "remove the dead code"
            )
        return self.refined(state)

    def piece(self, node: ast.expr, state: State, renames: Mapping[str, str], arm: Arm) -> Piece:
        """The piece for an expression of the side."""
        if isinstance(node, ast.IfExp):
            chosen = self.ternary(node, state, renames, arm)
            if chosen is not None:
                return chosen
        return self._plain(node, state, renames)

    def part(self, piece: Piece, node: ast.expr) -> Piece:
        """The piece for an expression inside another piece."""
        assert piece.state is not None
        return self._plain(node, piece.state, piece.renames)

    def _plain(self, node: ast.expr, state: State, renames: Mapping[str, str]) -> Piece:
        value, evaluation = self.flow.evaluate(node, state)
        text = self.text(node, renames)
        return Piece(
            text, value, node.lineno, evaluation.effects, node, state, dict(renames), isinstance(node, ast.Name)
        )

    def text(self, node: ast.expr, renames: Mapping[str, str]) -> str:
        """The source of an expression under renames. Raises RefusedError when an f-string hides a renamed name."""
        statement = next((p for p in self.source.ancestors(node) if isinstance(p, ast.stmt)), node)
        text = render(self.source, node, renames, indentation_of(self.source, statement))
        if text is None:
            raise RefusedError(
                "names can be replaced",
                "a name that gets another one stands in an f-string",
                node.lineno,
                "compute it before the branch",
            )
        return text

    def _assign(
        self, target: ast.expr, value: ast.expr, statement: ast.stmt, arm: Arm, renames: dict[str, str]
    ) -> None:
        self._settle(value, arm, renames)
        state = self.state_at(statement)
        match target, value:
            case ast.Name(id=name), _:
                self._set(name, self.piece(value, state, renames, arm), arm, renames)
            case ast.Attribute(value=ast.Name()), _:
                self._set(self.source.segment(target), self.piece(value, state, renames, arm), arm, renames)
            case (ast.Tuple(elts=targets), ast.Tuple(elts=values)) if len(targets) == len(values):
                if not all(isinstance(part, ast.Name) for part in targets):
                    raise _unsupported(statement, self.source.segment(statement))
                pieces = [self.piece(part, state, renames, arm) for part in values]
                for part, piece in zip(targets, pieces, strict=True):
                    assert isinstance(part, ast.Name)
                    self._set(part.id, piece, arm, renames)
            case _:
                raise _unsupported(statement, self.source.segment(statement))

    def _set(self, name: str, piece: Piece, arm: Arm, renames: dict[str, str]) -> None:
        overwritten = arm.outcome.pop(name, None)
        if overwritten is not None:
            arm.effects.add(overwritten.effects)
        arm.outcome[name] = piece
        renames.pop(name, None)

    def _augmented(self, statement: ast.AugAssign, arm: Arm, renames: dict[str, str]) -> None:
        assert isinstance(statement.target, ast.Name)
        name = statement.target.id
        state = self.state_at(statement)
        held = state.values.get(name)
        text = self.source.segment(statement)
        operator = _BINARY_TEXT.get(type(statement.op), "?")
        if held is None or held.kind is not Kind.TENSOR or not held.fresh:
            reason = f"`{text}` writes in place into a tensor that others may hold"
            if held is None or held.kind is not Kind.TENSOR:
                reason = f"`{text}` may write in place: {name} is not known to be a new tensor"
            advice = f"write `{name} = {name} {operator} ...` if nothing else may see the change"
            raise RefusedError("no side writes in place", reason, statement.lineno, advice)
        self._settle(statement.value, arm, renames, also=name)
        load = ast.copy_location(ast.Name(name, ast.Load()), statement.target)
        expression = ast.copy_location(ast.BinOp(load, statement.op, statement.value), statement)
        value, evaluation = self.flow.evaluate(expression, state)
        if value.sources:
            reason = f"`{text}` wrote in place, which fails in backward when the old value is needed there"
            arm.assumptions.append(("nobody relies on an error in backward", reason, statement.lineno))
        if value.dtype != held.dtype or value.shape != held.shape:
            raise RefusedError(
                "the in-place operation keeps dtype and shape",
                f"`{text}` keeps the dtype and shape of {name}, `{name} {operator} ...` may not",
                statement.lineno,
                "make the operands agree before the branch",
            )
        left = renames.get(name, name)
        right = self.text(statement.value, renames)
        if not isinstance(statement.value, ast.Name | ast.Constant | ast.Call | ast.Attribute | ast.Subscript):
            right = f"({right})"
        source = f"{left} {operator} {right}"
        self._set(name, Piece(source, value, statement.lineno, evaluation.effects), arm, renames)

    def _settle(self, reading: ast.expr, arm: Arm, renames: dict[str, str], also: str = "") -> None:
        """Give every target that `reading` reads a line of its own, so that it can be read."""
        self._refuse_read_of_attribute(reading, arm)
        read = names_in([reading]) | {also}
        for name in [n for n in arm.outcome if n in read]:
            self.materialise(name, arm, renames)

    def _refuse_read_of_attribute(self, reading: ast.expr, arm: Arm) -> None:
        """An attribute that the side has set is not set yet where the new code reads it."""
        for target in [target for target in arm.outcome if "." in target]:
            base, _, attribute = target.rpartition(".")
            for node in ast.walk(reading):
                if not isinstance(node, ast.Name | ast.Attribute):
                    continue
                handed_on = isinstance(node, ast.Name) and node.id == base.partition(".")[0]
                handed_on = handed_on and not isinstance(self.source.parents.get(node), ast.Attribute)
                if handed_on or (isinstance(node, ast.Attribute) and node.attr == attribute):
                    raise RefusedError(
                        "no side reads an attribute that it sets",
                        f"{self.source.segment(node)} may read {target}, which the side has set",
                        node.lineno,
                        "give the new value a name and use that",
                    )

    def materialise(self, name: str, arm: Arm, renames: dict[str, str]) -> None:
        """Turn a target's piece into a line, under its own name where that disturbs nothing."""
        piece = arm.outcome[name]
        if piece.atomic:
            renames[name] = piece.source
            return
        local = self.fresh_name(name) if self.must_rename(name) else name
        comment = trailing_comment(self.source, piece.node) if piece.node is not None else ""
        arm.lines.append(f"{local} = {on_its_own(piece.source)}{comment}")
        arm.effects.add(piece.effects)
        arm.outcome[name] = Piece(local, piece.value, piece.line, atomic=True)
        if local != name:
            renames[name] = local


def _unsupported(statement: ast.stmt, text: str) -> RefusedError:
    shown = shorten(text)
    words = {
        ast.Raise: (
            "no side raises",
            "raises",
            "check before the compiled region, or return the flag and raise outside it",
        ),
        ast.Return: ("both sides return a tensor", "returns nothing", "return a tensor of the same kind on both sides"),
        ast.For: ("no side loops", "is a loop", "move the loop out of the branch, or into a helper with torch.cond"),
        ast.While: ("no side loops", "is a loop", "move the loop out of the branch"),
        ast.Break: ("no side leaves the loop", "leaves the loop", "keep a mask of what is done, and select with it"),
        ast.Continue: ("no side leaves the loop", "leaves the loop", "keep a mask of what is done, and select with it"),
        ast.AugAssign: ("no side writes in place", "writes in place", "compute a new tensor instead"),
        ast.With: ("no side changes a mode", "enters a context", "put the `with` around the branch"),
        ast.Try: ("no side handles exceptions", "handles exceptions", "move the `try` out of the compiled region"),
        ast.Assert: ("no side raises", "may raise", "assert before the compiled region"),
        ast.Expr: ("both sides only compute", "is run for its effect", "move it out of the compiled region"),
    }
    for kind, (claim, reason, advice) in words.items():
        if isinstance(statement, kind):
            return RefusedError(claim, f"`{shown}` {reason}", statement.lineno, advice)
    return RefusedError(
        "both sides only compute",
        f"`{shown}` is not an assignment that can be selected",
        statement.lineno,
        "compute both values first, then select",
    )
