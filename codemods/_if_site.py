"""Rewrites an `if` statement on a tensor, with what follows an early return."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence

from gbfix.analysis.flow import Flow, State, reads_tensor
from gbfix.analysis.liveness import is_read_after, is_read_by_others
from gbfix.analysis.tree import names_in
from gbfix.codemods._arms import CALL, RETURN, Arm, ArmReader, Piece
from gbfix.codemods._obligations import Choice, shorten
from gbfix.codemods._preparations import check_apart, used_only_here
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import (
    ADVICE,
    Draft,
    Site,
    cond_side,
    name_piece,
    parts_of,
)
from gbfix.codemods._ternary_site import ternary_piece
from gbfix.codemods._text import call, indentation_of, on_its_own, reindented
from gbfix.codemods._tree import all_names, always_returns, captured_in
from gbfix.engine.model import Span


class IfSite(Site):
    """An `if` statement, with the statements after it where a side returns early."""

    def __init__(self, flow: Flow, node: ast.If, rest: list[ast.stmt], state: State) -> None:
        super().__init__(flow, node, node, state)
        self.node: ast.If = node
        self.rest = rest
        self.covered: list[ast.stmt] = [node]
        self.python, self.test, self.operator = self._split(node.test)
        self.body, self.orelse = self._sides()
        self.inner_state = self._refined(state)

    def where(self) -> tuple[Draft, Span]:
        """The rewrite with torch.where, with the condition in a name of its own when it is used more than once."""
        draft = self._where("")
        if draft.hoist or len(draft.targets) > 1 or self._uses(draft) > 1:
            self.taken = all_names(self.source.tree)
            draft = self._where(self.fresh("condition"))
        return draft, self._span()

    def _refined(self, state: State) -> State:
        """What holds where the Python half of the condition has let the tensor half decide."""
        for part in self.python:
            state = self.flow.refine(part, state, self.operator == "and")
        return state

    def _uses(self, draft: Draft) -> int:
        return sum(line.count(draft.choices[0].predicate.source) for line in draft.lines)

    def _split(self, test: ast.expr) -> tuple[list[ast.expr], ast.expr, str]:
        """The Python parts of a condition, its tensor part, and the operator between them."""
        if not isinstance(test, ast.BoolOp):
            return [], test, ""
        tensors = [part for part in test.values if reads_tensor(self.flow, self.state, part)]
        python = [part for part in test.values if part not in tensors]
        if not python:
            return [], test, ""
        tensor = tensors[0] if len(tensors) == 1 else ast.copy_location(ast.BoolOp(test.op, tensors), tensors[0])
        return python, tensor, "and" if isinstance(test.op, ast.And) else "or"

    def _sides(self) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The statements of both sides. What follows an early return belongs to the side that does not return."""
        body, orelse = list(self.node.body), list(self.node.orelse)
        if always_returns(body) and not always_returns(orelse):
            self.covered += self.rest
            return body, orelse + self.rest
        if orelse and always_returns(orelse) and not always_returns(body):
            self.covered += self.rest
            return body + self.rest, orelse
        return body, orelse

    def _span(self) -> Span:
        first = self.source.span(self.node)
        last = self.source.span(self.covered[-1])
        return Span(first.line, first.column, last.end_line, last.end_column)

    def _read_sides(self) -> tuple[Choice, Arm, Arm, ArmReader]:
        """Start a draft with the condition of this branch and both its sides, the one for a true predicate first."""
        self.draft = Draft()
        predicate = self.predicate(self.test, self.inner_state, self.node)
        choice = Choice(predicate, established=self.inner_state.established, gradients_off=self.state.gradients_off)
        self.draft.choices.append(choice)
        self.draft.edits += predicate.edits
        reader = self._reader("_true")
        first = reader.read(self.body, {}, prepares=True)
        second = self._reader("_false").read(self.orelse, {}, prepares=True)
        self._check_preparations(first, second)
        if predicate.inverted:
            first, second = second, first
        return choice, first, second, reader

    def _check_preparations(self, first: Arm, second: Arm) -> None:
        """What a side prepares comes behind the condition, and the other side does not see it."""
        self.draft.hoist = self.draft.hoist or bool(first.prepared or second.prepared)
        for arm, own in ((first, self.body), (second, self.orelse)):
            for attribute in arm.prepared:
                check_apart(self.flow, attribute, own)
                self._note_apart(attribute)

    def _note_apart(self, attribute: ast.Attribute) -> None:
        """What a check need not compare: that the attribute is there, and what was the same object as it."""
        if not used_only_here(self.flow, attribute, self.node):
            return
        self.draft.apart.append(attribute.attr)
        for part in (part for statement in [*self.body, *self.orelse] for part in ast.walk(statement)):
            match part:
                case ast.Call(func=ast.Attribute(attr="register_buffer"), args=[ast.Constant(value=str() as name), *_]):
                    self.draft.apart.append(name)
                case ast.Attribute(value=ast.Name(), ctx=ast.Store()):
                    self.draft.apart.append(part.attr)

    def _where(self, hoisted: str) -> Draft:
        choice, first, second, reader = self._read_sides()
        predicate = choice.predicate
        live = self._live([*first.outcome, *second.outcome])
        self.draft.targets = live
        fallback = self._fallback(live, first, second)
        pieces = self.combine(hoisted or predicate.source, first, second, choice, live, fallback, reader)
        lines = list(predicate.hoisted)
        if hoisted:
            lines.append(f"{hoisted} = {on_its_own(predicate.source)}")
        lines += [
            *first.lines,
            *second.lines,
            *assignments(pieces, {**second.annotations, **first.annotations}),
        ]
        self.draft.lines = self._around(lines)
        return self.draft

    def cond(self) -> tuple[Draft, Span]:
        """The rewrite with torch.cond: each side one lambda."""
        self.taken = all_names(self.source.tree)
        choice, first, second, reader = self._read_sides()
        predicate = choice.predicate
        if first.lines or second.lines or len(self.draft.choices) > 1:
            raise RefusedError(
                "each side is one expression", "a side needs several statements", self.node.lineno, ADVICE
            )
        live = self._live([*first.outcome, *second.outcome])
        if not live:
            raise RefusedError("the condition decides something", "neither side is used", self.node.lineno, ADVICE)
        if CALL in live:
            raise RefusedError("both sides only compute", "a side is a call for its effect", self.node.lineno, ADVICE)
        self.draft.targets = live
        fallback = self._fallback(live, first, second)
        self.combine(predicate.source, first, second, choice, live, fallback, reader)
        sides = []
        for arm in (first, second):
            pieces = [arm.outcome.get(name) or fallback[name] for name in live]
            parts = [part for piece in pieces for part in parts_of(piece, reader)]
            if not all(part.effects.pure for part in parts):
                raise RefusedError("both sides only compute", "a side makes a call", self.node.lineno, ADVICE)
            sides.append(cond_side(parts, tuple_=len(live) > 1 or len(parts) != len(pieces)))
            self.draft.captured += [n for piece in pieces if piece.node is not None for n in captured_in(piece.node)]
        target = "return" if live == [RETURN] else ", ".join(live) + " ="
        text = call(f"{self.torch}.cond", [predicate.source, *sides], target + " ", reader.width)
        self.draft.lines = self._around([*predicate.hoisted, f"{target} {text}"])
        return self.draft, self._span()

    def _around(self, lines: list[str]) -> list[str]:
        """The new lines inside the Python half of the condition, where there is one."""
        if not self.python:
            return lines
        self._check_python_half()
        condition = f" {self.operator} ".join(self._python_text(part) for part in self.python)
        inner = [reindented(line, "", "    ") for line in lines]
        skipped = list(self.node.orelse if self.operator == "and" else self.node.body)
        if self.covered[1:] and not always_returns(skipped):
            skipped += self.rest
        self._check_short(skipped)
        verbatim = self._verbatim(skipped) if skipped else []
        if self.operator == "and":
            return [f"if {condition}:", *inner, *(["else:", *verbatim] if verbatim else [])]
        return [f"if {condition}:", *verbatim, "else:", *inner]

    def _check_python_half(self) -> None:
        """The Python parts are now asked first, and the skipped side is written twice."""
        predicate = self.draft.choices[0].predicate
        values = list(getattr(self.node.test, "values", []))
        first_tensor = next(i for i, part in enumerate(values) if part not in self.python)
        for part in values[first_tensor:]:
            if part not in self.python:
                continue
            value, evaluation = self.flow.evaluate(part, self.state)
            if not evaluation.effects.pure:
                note = [*evaluation.effects.impure, *evaluation.effects.random][0]
                raise RefusedError(
                    "the Python half can be asked first", note.text, note.line, "compute it before the branch"
                )
            if value.tensor_like:
                text = self.source.segment(part)
                predicate.assumptions.append(
                    (f"{text} is a Python value", "it is now asked before the tensor", part.lineno)
                )
            for requirement in evaluation.effects.requirements:
                if requirement.key not in self.state.established:
                    predicate.assumptions.append(
                        ("the Python half can be asked first", requirement.text, requirement.line)
                    )

    def _check_short(self, skipped: Sequence[ast.stmt]) -> None:
        """What runs when the Python half decides alone stands twice in the new code."""
        if len(skipped) > 3 or any(isinstance(s, ast.If) for s in skipped):
            raise RefusedError(
                "the side that both halves share is short",
                "it would have to be written twice",
                self.node.lineno,
                "put the Python condition in an `if` of its own",
            )

    def _python_text(self, part: ast.expr) -> str:
        text = self.source.segment(part)
        return (
            f"({text})"
            if isinstance(part, ast.BoolOp | ast.IfExp | ast.NamedExpr | ast.Lambda) or "\n" in text
            else text
        )

    def _verbatim(self, statements: Sequence[ast.stmt]) -> list[str]:
        indentation = indentation_of(self.source, statements[0])
        found = []
        for statement in statements:
            if "\n" in self.source.segment(statement) and not isinstance(statement, ast.Assign | ast.Return | ast.Expr):
                raise RefusedError(
                    "the side that both halves share is short", "it holds a block", statement.lineno, ADVICE
                )
            found.append(reindented(self.source.segment(statement), indentation, "    "))
        return found

    def _live(self, targets: Sequence[str]) -> list[str]:
        unique = list(dict.fromkeys(targets))
        returns = RETURN in unique
        if returns:
            return [t for t in unique if t in (RETURN, CALL) or "." in t or self._read_by_others(t)]
        return [t for t in unique if t == CALL or "." in t or self._read_later(t)]

    def _read_later(self, name: str) -> bool:
        return is_read_after(self.source, self.flow.context.function, self.covered, name)

    def _fallback(self, live: Sequence[str], first: Arm, second: Arm) -> dict[str, Piece]:
        """What the names that only one side sets hold on the other."""
        both = first.outcome.keys() & second.outcome.keys()
        return {name: self._current(name) for name in live if name not in both and name not in (RETURN, CALL)}

    def _read_by_others(self, name: str) -> bool:
        return is_read_by_others(self.source, self.flow.context.function, self.node, name)

    def _current(self, name: str) -> Piece:
        """The value a name has before the branch."""
        if "." in name:
            raise RefusedError(
                "both sides give the same names a value",
                f"only one side sets {name}",
                self.node.lineno,
                "set it on both sides",
            )
        value = self.inner_state.values.get(name)
        if value is None:
            raise RefusedError(
                "every name has a value on both sides",
                f"{name} may have no value before the branch, and only one side gives it one",
                self.node.lineno,
                f"give {name} a value before the branch",
            )
        return name_piece(name, name, value, self.node.lineno)

    def _reader(self, suffix: str) -> ArmReader:

        def must_rename(name: str) -> bool:
            return self._read_later(name) or not self._private_to_one_block(name)

        def nested(statement: ast.If, rest: list[ast.stmt], arm: Arm, renames: dict[str, str]) -> None:
            self._nested(statement, rest, arm, renames, reader)

        def ternary(node: ast.IfExp, state: State, renames: Mapping[str, str], arm: Arm) -> Piece | None:
            return self._nested_ternary(node, state, renames, arm, reader)

        reader = ArmReader(
            self.flow, self.node, must_rename, lambda n: self.fresh(n + suffix), nested, ternary, self._refined
        )
        return reader

    def _private_to_one_block(self, name: str) -> bool:
        """True when one statement of the branch sets the name and only statements after it in its block read it."""
        uses = [
            part for top in self.covered for part in ast.walk(top) if isinstance(part, ast.Name) and part.id == name
        ]
        stores = [use for use in uses if not isinstance(use.ctx, ast.Load)]
        if len(stores) != 1:
            return False
        setter = next(parent for parent in self.source.ancestors(stores[0]) if isinstance(parent, ast.stmt))
        block = next(b for _, b in ast.iter_fields(self.source.parents[setter]) if isinstance(b, list) and setter in b)
        readers = {part for later in block[block.index(setter) + 1 :] for part in ast.walk(later)}
        return all(use in readers for use in uses if use is not stores[0])

    def _nested(self, node: ast.If, rest: list[ast.stmt], arm: Arm, renames: dict[str, str], reader: ArmReader) -> None:
        """A branch inside a side: its choice becomes part of the side."""
        state = reader.state_at(node)
        if not reads_tensor(self.flow, state, node.test):
            raise RefusedError(
                "both sides only compute",
                f"`if {shorten(self.source.segment(node.test))}` is a Python branch inside a side",
                node.lineno,
                "move the Python branch out, around the branch on the tensor",
            )
        if isinstance(node.test, ast.BoolOp) and not all(reads_tensor(self.flow, state, p) for p in node.test.values):
            raise RefusedError(
                "the tensor part of the condition stands apart from the Python part",
                f"`{shorten(self.source.segment(node.test))}` mixes both inside a side",
                node.lineno,
                "put the Python condition in an `if` of its own",
            )
        for name in [n for n in arm.outcome if n in names_in([node])]:
            reader.materialise(name, arm, renames)
        if names_in([node.test]) & set(renames):
            raise RefusedError(
                "names can be replaced",
                "a nested condition reads a name that the side sets",
                node.lineno,
                "nest the branch less deeply",
            )
        body, orelse = list(node.body), list(node.orelse)
        statements: list[ast.stmt] = [node]
        if always_returns(body) and not always_returns(orelse):
            orelse, statements = orelse + rest, [node, *rest]
        elif orelse and always_returns(orelse) and not always_returns(body):
            body, statements = body + rest, [node, *rest]
        predicate = self.predicate(node.test, state, node)
        if predicate.edits or predicate.hoisted:
            raise RefusedError(
                "a nested condition stands by itself",
                "it changes other statements",
                node.lineno,
                "test the tensor itself",
            )
        choice = Choice(predicate, established=state.established, gradients_off=state.gradients_off)
        self.draft.choices.append(choice)
        first, second = reader.read(body, renames), reader.read(orelse, renames)
        if predicate.inverted:
            first, second = second, first
        targets = list(dict.fromkeys([*first.outcome, *second.outcome]))
        live = [t for t in targets if t in (RETURN, CALL) or "." in t or self._nested_live(t, statements, targets)]
        fallback: dict[str, Piece] = {}
        for name in live:
            if name in arm.outcome:
                fallback[name] = arm.outcome[name]
            elif name in state.values:
                fallback[name] = name_piece(name, renames.get(name, name), state.values[name], node.lineno)
        pieces = self.combine(predicate.source, first, second, choice, live, fallback, reader)
        arm.lines += [*first.lines, *second.lines]
        arm.effects.add(predicate.effects)
        arm.effects.add(first.effects)
        arm.effects.add(second.effects)
        for name, piece in pieces.items():
            arm.outcome.pop(name, None)
            arm.outcome[name] = piece
            renames.pop(name, None)
        arm.returns = arm.returns or RETURN in pieces

    def _nested_live(self, name: str, statements: Sequence[ast.stmt], targets: Sequence[str]) -> bool:
        function = self.flow.context.function
        if RETURN in targets:
            return is_read_by_others(self.source, function, statements[0], name)
        return is_read_after(self.source, function, statements, name)

    def _nested_ternary(
        self, node: ast.IfExp, state: State, renames: Mapping[str, str], arm: Arm, reader: ArmReader
    ) -> Piece | None:
        return ternary_piece(self, node, state, renames, arm, reader)


def assignments(pieces: Mapping[str, Piece], annotations: Mapping[str, str]) -> list[str]:
    """The statements that give every target its piece; one tuple assignment when a piece reads an earlier target."""
    names = [name for name in pieces if name not in (RETURN, CALL)]
    for last in [pieces[target] for target in (CALL, RETURN) if target in pieces]:
        for name in [name for name in [*names, CALL] if name in pieces and pieces[name] is not last]:
            if name == CALL or _mentions(last.source, name):
                raise RefusedError(
                    "the order of evaluation does not matter",
                    f"{shorten(last.source)} is evaluated after {name} is set or called",
                    last.line,
                    "compute the result before setting it",
                )
    clash = any(_mentions(pieces[later].source, name) for i, name in enumerate(names) for later in names[i + 1 :])
    lines = []
    if clash:
        together = ", ".join(pieces[name].source for name in names)
        lines.append(f"{', '.join(names)} = {on_its_own(together)}")
    else:
        for name in names:
            annotation = f": {annotations[name]}" if name in annotations else ""
            lines.append(f"{name}{annotation} = {on_its_own(pieces[name].source)}")
    if CALL in pieces:
        lines.append(pieces[CALL].source)
    if RETURN in pieces:
        lines.append(f"return {on_its_own(pieces[RETURN].source)}")
    return lines


def _mentions(source: str, name: str) -> bool:
    """True when source text reads a name or attribute path."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", source) is not None
