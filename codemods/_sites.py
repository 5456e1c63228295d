"""What the rewrites of an `if` and of a conditional expression share: choosing between the pieces of two sides."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from gbfix.analysis import values as v
from gbfix.analysis.effects import Effects
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.liveness import is_read_after, is_read_by_others
from gbfix.analysis.project import FileView
from gbfix.analysis.tree import names_in
from gbfix.codemods._arms import CALL, RETURN, Arm, ArmReader, Piece
from gbfix.codemods._messages import message_in
from gbfix.codemods._obligations import Choice, Selection, shorten
from gbfix.codemods._predicate import Predicate, PredicateBuilder
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import call, unused_name
from gbfix.codemods._tree import all_names, starred
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Replacement, Span

ADVICE = "compute both values with tensor operations, or keep the break on purpose with torch._dynamo.graph_break()"


@dataclass
class Draft:
    """New source in the making: lines, choices made on the way, and what they rely on."""

    lines: list[str] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    edits: list[Replacement] = field(default_factory=list)
    selects: int = 0
    hoist: bool = False
    targets: list[str] = field(default_factory=list)
    captured: list[ast.expr] = field(default_factory=list)
    apart: list[str] = field(default_factory=list)


class Site:
    """A branch being rewritten; subclasses say where its sides come from."""

    def __init__(self, flow: Flow, node: ast.If | ast.IfExp, statement: ast.stmt | None, state: State) -> None:
        self.flow = flow
        self.source = flow.context.source
        self.node = node
        self.statement = statement
        self.state = state
        self.torch, _ = torch_name(flow.context.view, node)
        self.taken = all_names(self.source.tree)
        self.draft = Draft()

    def where(self) -> tuple[Draft, Span]:
        """The rewrite with torch.where and the span it replaces. Raises RefusedError."""
        raise NotImplementedError

    def cond(self) -> tuple[Draft, Span]:
        """The rewrite with torch.cond and the span it replaces. Raises RefusedError."""
        raise NotImplementedError

    def written_later(self) -> list[str]:
        """The names that code which may run after the branch writes in place."""
        names = set()
        for part in self._later():
            match part:
                case ast.AugAssign(target=ast.Name(id=name)):
                    names.add(name)
                case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                    names.add(name)
                case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attribute)) if attribute.endswith("_"):
                    names.add(name)
        return sorted(names)

    def touched_later(self) -> list[str]:
        """The names that code which may run after the branch hands to a call that may write them."""
        names: set[str] = set()
        for part in self._later():
            if not isinstance(part, ast.Call):
                continue
            statement = next((p for p in self.source.ancestors(part) if isinstance(p, ast.stmt)), None)
            state = self.flow.before.get(statement) if statement is not None else None
            if state is not None and self.flow.evaluate(part, state)[1].effects.writes:
                names |= names_in([part])
        return sorted(names)

    def only_computed_with(self, name: str) -> bool:
        """True when the value that a name gets here is only ever an operand of operations that make new tensors.

        Then nobody can tell which object it is. Something written in place later may be what one side names, so
        nothing but such operations may follow at all, in this function.
        """
        function = self.flow.context.function
        if is_read_by_others(self.source, function, self._statement(), name) or not self._only_operations_follow():
            return False
        reads = [part for part in self._following() if isinstance(part, ast.Name) and part.id == name]
        loads = [part for part in reads if isinstance(part.ctx, ast.Load)]
        return name.isidentifier() and bool(loads) and all(self._is_operand(part) for part in loads)

    def _following(self) -> Iterator[ast.AST]:
        """The nodes behind the statement of the branch; it stands in no loop (see `_only_operations_follow`)."""
        statement = self._statement()
        inside = set(ast.walk(statement))
        for part in ast.walk(self.flow.context.function.node):
            if getattr(part, "lineno", 0) >= statement.lineno and part not in inside:
                yield part

    def _only_operations_follow(self) -> bool:
        """True when all later statements of the function assign or return the results of operations on tensors."""
        statement, function = self._statement(), self.flow.context.function.node
        parents = list(self.source.ancestors(statement))
        if function not in parents:  # a lambda inside the statement, in whose function others follow
            return False
        around = parents[: parents.index(function)]
        if not all(isinstance(parent, ast.If) for parent in around):
            return False
        if any(isinstance(part, ast.Yield | ast.YieldFrom | ast.Await) for part in ast.walk(function)):
            return False
        later = [part for part in self._following() if isinstance(part, ast.stmt)]
        return all(self._is_operation(part) for part in later)

    def _is_operation(self, statement: ast.stmt) -> bool:
        state = self.flow.before.get(statement)
        match statement:
            case ast.Assign(targets=targets, value=value) if all(isinstance(target, ast.Name) for target in targets):
                return state is not None and self._is_plain(value, state)
            case ast.Return(value=ast.expr() as value) | ast.Expr(value=value):
                return state is not None and self._is_plain(value, state)
            case ast.If(test=test):
                return state is not None and self._is_plain(test, state)
            case _:
                return isinstance(statement, ast.Pass)

    def _is_plain(self, node: ast.expr, state: State) -> bool:
        """True for an expression of tensors, numbers and known operations: no code of the program can run in it."""
        return self.flow.evaluate(node, state)[1].effects.pure and all(
            self._is_known(part, state) for part in ast.walk(node) if isinstance(part, ast.expr)
        )

    def _is_known(self, node: ast.expr, state: State) -> bool:
        if self.flow.context.names.qualified(node) is not None:
            return True
        match node:
            case ast.Name() | ast.Attribute() | ast.Subscript():
                parent = self.source.parents[node]
                if isinstance(node, ast.Attribute) and isinstance(parent, ast.Call) and parent.func is node:
                    return True  # a method: its receiver and what it does are asked about elsewhere
                value = self.flow.evaluate(node, state)[0]
                metadata = (value.class_name or "").startswith("tensor.")
                return metadata or (value.kind in (v.Kind.TENSOR, v.Kind.NUMBER) and not value.assumed)
            case _:
                return isinstance(
                    node, ast.Call | ast.BinOp | ast.UnaryOp | ast.Compare | ast.Constant | ast.Tuple | ast.Slice
                )

    def _statement(self) -> ast.stmt:
        """The statement that the branch is, or stands in."""
        return next(p for p in [self.node, *self.source.ancestors(self.node)] if isinstance(p, ast.stmt))

    def _is_operand(self, node: ast.Name) -> bool:
        """True when what reads the name makes a new tensor of it, and does nothing else."""
        parent = self.source.parents[node]
        if isinstance(parent, ast.Attribute):  # the receiver of a method
            parent = self.source.parents[parent]
        statement = next((p for p in self.source.ancestors(node) if isinstance(p, ast.stmt)), None)
        state = self.flow.before.get(statement) if statement is not None else None
        if state is None or not isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Compare | ast.Call):
            return False
        value, evaluation = self.flow.evaluate(parent, state)
        return value.kind is v.Kind.TENSOR and not value.assumed and value.fresh and evaluation.effects.pure

    def _later(self) -> Iterator[ast.AST]:
        """The nodes of the function behind the branch, and all of them when it stands in a loop."""
        loops = ast.For | ast.AsyncFor | ast.While
        looping = any(isinstance(parent, loops) for parent in self.source.ancestors(self.node))
        for part in ast.walk(self.flow.context.function.node):
            # From the branch itself on: a call that both sides make runs after the selection now.
            if looping or getattr(part, "lineno", 0) >= self.node.lineno:
                yield part

    def fresh(self, wanted: str) -> str:
        """A name that the file does not use yet."""
        name = unused_name(re.sub(r"\W+", "_", wanted), frozenset(self.taken))
        self.taken.add(name)
        return name

    def predicate(self, test: ast.expr, state: State, statement: ast.stmt | None) -> Predicate:
        """The tensor form of a test."""
        return PredicateBuilder(self.flow, state, self.torch, statement).build(test)

    def select(
        self, condition: str, first: Piece, second: Piece, choice: Choice, target: str, reader: ArmReader, prefix: str
    ) -> Piece:
        """One piece that is `first` where the condition holds and `second` elsewhere.

        Looks inside tuples, and inside calls of the same function: what both sides share is kept as it is.
        """
        if first.source == second.source and not first.effects.random and not first.effects.impure:
            return first
        inner = self._inside_both(condition, first, second, choice, target, reader, prefix)
        if inner is not None:
            return inner
        first, second = self._held(first, target), self._held(second, target)
        choice.first.add(first.effects)
        choice.second.add(second.effects)
        choice.selections.append(Selection(target, first, second))
        self.draft.selects += 1
        source = call(f"{self.torch}.where", [condition, first.source, second.source], prefix, reader.width)
        effects = Effects()
        effects.add(first.effects)
        effects.add(second.effects)
        return Piece(source, _selected_value(first, second), first.line, effects)

    def _held(self, piece: Piece, target: str) -> Piece:
        """A piece that is the name of a tensor still in use under that name is no new object."""
        if not isinstance(piece.node, ast.Name) or piece.node.id == target or not piece.value.fresh:
            return piece
        name = piece.node.id
        statement = next((p for p in self.source.ancestors(piece.node) if isinstance(p, ast.stmt)), None)
        if statement is None:
            return replace(piece, value=replace(piece.value, fresh=False))
        uses = [part for part in ast.walk(statement) if isinstance(part, ast.Name) and part.id == name]
        if len(uses) == 1 and not is_read_after(self.source, self.flow.context.function, [statement], name):
            return piece
        return replace(piece, value=replace(piece.value, fresh=False))

    def _inside_both(
        self, condition: str, first: Piece, second: Piece, choice: Choice, target: str, reader: ArmReader, prefix: str
    ) -> Piece | None:
        match first.node, second.node:
            case (ast.Tuple(elts=ones) as one, ast.Tuple(elts=others)) if len(ones) == len(others) and not starred(
                ones + others
            ):
                parts = [
                    self.select(condition, reader.part(first, a), reader.part(second, b), choice, target, reader, "")
                    for a, b in zip(ones, others, strict=True)
                ]
                text = ", ".join(part.source for part in parts) + ("," if len(parts) == 1 else "")
                bare = not first.source.lstrip().startswith("(") or one.elts[0].col_offset == one.col_offset
                return Piece(text if bare and prefix else f"({text})", v.OTHER, first.line)
            case (ast.Call() as one, ast.Call() as other) if target == CALL or not (
                first.effects.pure and second.effects.pure
            ):
                return self._inside_call(condition, first, second, one, other, choice, target, reader)
            case _ if target == CALL:
                raise RefusedError(
                    "both sides make the same call",
                    f"{shorten(first.source)} and {shorten(second.source)} do not",
                    first.line,
                    "make the same call on both sides, or move the call out of the compiled region",
                )
            case _:
                return None

    def _inside_call(
        self,
        condition: str,
        first: Piece,
        second: Piece,
        one: ast.Call,
        other: ast.Call,
        choice: Choice,
        target: str,
        reader: ArmReader,
    ) -> Piece | None:
        reason = _difference_of_calls(one, other)
        if reader.text(one.func, first.renames) != reader.text(other.func, second.renames):
            reason = f"{shorten(self.source.segment(one.func))} and {shorten(self.source.segment(other.func))} differ"
        if reason:
            if target == CALL:
                advice = "make the same call on both sides, or move the call out of the compiled region"
                raise RefusedError("both sides make the same call", reason, one.lineno, advice)
            return None
        texts: list[str] = []
        pairs = [
            *zip(one.args, other.args, strict=True),
            *((a.value, b.value) for a, b in zip(one.keywords, other.keywords, strict=True)),
        ]
        names: list[str | None] = [*(None for _ in one.args), *(k.arg for k in one.keywords)]
        for name, (a, b) in zip(names, pairs, strict=True):
            left, right = reader.part(first, a), reader.part(second, b)
            if _is_buffer(one, len(texts), name):
                left, right = self._as_buffer(left), self._as_buffer(right)
            if left.source == right.source:
                text = left.source
            else:
                text = self.select(condition, left, right, choice, "an argument", reader, "").source
            texts.append(text if name is None else f"{name}={text}")
        self._note_on_call(pairs, choice, one)
        function = reader.text(one.func, first.renames)
        return Piece(call(function, texts, "", reader.width), first.value, first.line)

    def _as_buffer(self, piece: Piece) -> Piece:
        """The piece as a tensor: register_buffer raises for anything else but None."""
        if piece.value.kind is not v.Kind.MAYBE:
            return piece
        observed = self.flow.context.view.observed(self.node.lineno)
        own = observed is not None and observed.function == self.flow.context.function.name
        seen = observed.tensor_anywhere(piece.source) if observed is not None and own else None
        if seen is not None:
            return replace(piece, value=seen)
        value = replace(piece.value, kind=v.Kind.TENSOR)
        return replace(piece, value=value.assuming([v.Assumption(f"{piece.source} is not None", piece.line)]))

    def _note_on_call(self, pairs: Sequence[tuple[ast.expr, ast.expr]], choice: Choice, node: ast.Call) -> None:
        """The call and its shared arguments run between the condition and the selection of its other arguments."""
        shared = [a for a, b in pairs if self.source.segment(a) == self.source.segment(b)]
        plain = ast.Name | ast.Attribute | ast.Constant
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        while isinstance(owner, ast.Attribute):
            owner = owner.value
        if not isinstance(owner, ast.Name) or not all(isinstance(part, plain) for part in shared):
            self.draft.hoist = True
        carries = any(s.first.value.sources | s.second.value.sources for s in choice.selections)
        if _may_show_text(node) and carries and not choice.gradients_off:
            reason = f"{shorten(self.source.segment(node.func))} may show the grad_fn, which torch.where makes another"
            choice.assumptions.append(("no grad_fn is shown", reason, node.lineno))

    def combine(
        self,
        condition: str,
        first: Arm,
        second: Arm,
        choice: Choice,
        live: Sequence[str],
        fallback: Mapping[str, Piece],
        reader: ArmReader,
    ) -> dict[str, Piece]:
        """The pieces of every live target, chosen between two sides."""
        for arm in (first, second):
            for name in [name for name in arm.outcome if name not in live]:
                # Nobody reads it, but computing it may raise, as it did before.
                reader.materialise(name, arm, {})
        choice.first.add(first.effects)
        choice.second.add(second.effects)
        choice.assumptions += [*first.assumptions, *second.assumptions]
        found: dict[str, Piece] = {}
        for target in live:
            one = first.outcome.get(target) or fallback.get(target)
            other = second.outcome.get(target) or fallback.get(target)
            if one is None or other is None:
                missing = (
                    "returns" if target == RETURN else "makes the call" if target == CALL else f"gives {target} a value"
                )
                advice = f"give {target} a value before the branch"
                if target in (RETURN, CALL):
                    advice = "do it on both sides, or move the branch out of the compiled region"
                if target == CALL and self._only_says_something():
                    advice = (
                        "return the value that the branch tests, and say it when the compiled function has returned"
                    )
                raise RefusedError(
                    "both sides give the same names a value",
                    f"only one side {missing}",
                    self.node.lineno,
                    advice,
                )
            prefix = "return " if target == RETURN else "" if target == CALL else f"{target} = "
            found[target] = self.select(condition, one, other, choice, target, reader, prefix)
        return found

    def _only_says_something(self) -> bool:
        view = self.flow.context.view
        called = [part for part in ast.walk(self.node) if isinstance(part, ast.Expr)]
        return bool(called) and all(message_in(view, statement) is not None for statement in called)


def _may_show_text(node: ast.Call) -> bool:
    """True for calls that print or log, by the names such functions have."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    return name in (
        "print",
        "debug",
        "info",
        "warning",
        "warn",
        "error",
        "critical",
        "exception",
        "log",
        "write",
        "pprint",
    )


def _is_buffer(node: ast.Call, position: int, name: str | None) -> bool:
    """True for the argument of `module.register_buffer` that is a tensor or None."""
    registers = isinstance(node.func, ast.Attribute) and node.func.attr == "register_buffer"
    return registers and (name == "tensor" or (name is None and position == 1))


def _difference_of_calls(one: ast.Call, other: ast.Call) -> str:
    """Why two calls are not the same but for the values of their arguments; empty when they are."""
    if not isinstance(one.func, ast.Name | ast.Attribute):
        return "what is called is not a name"
    words = [[keyword.arg for keyword in call_.keywords] for call_ in (one, other)]
    if starred(one.args + other.args) or None in words[0] + words[1]:
        return "star arguments hide what is passed"
    if words[0] != words[1]:
        return "the keywords differ"
    return "the number of arguments differs" if len(one.args) != len(other.args) else ""


def name_piece(name: str, source: str, value: v.Value, line: int) -> Piece:
    """The piece for the value a name already has, under the name it has in the new code."""
    effects = Effects(upstream={name: value} if value.hazard is not None else {})
    return Piece(source, value, line, effects, atomic=True)


def _selected_value(first: Piece, second: Piece) -> v.Value:
    """The facts about a selected value: those its sides share."""
    joined = v.join(first.value, second.value, v.term("selected", first.source, second.source, first.line))
    return replace(joined, fresh=True, sources=first.value.sources | second.value.sources)


def parts_of(piece: Piece, reader: ArmReader) -> list[Piece]:
    """The elements of a tuple, or the piece itself."""
    if not isinstance(piece.node, ast.Tuple) or starred(piece.node.elts):
        return [piece]
    return [reader.part(piece, element) for element in piece.node.elts]


def cond_side(parts: Sequence[Piece], *, tuple_: bool) -> str:
    """One side of torch.cond. It may not return its inputs, nor one tensor twice, so what is not new is cloned."""
    texts: list[str] = []
    for part in parts:
        simple = part.atomic or isinstance(part.node, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
        new = part.value.fresh and not part.atomic and part.source not in texts
        texts.append(part.source if new else f"{part.source if simple else f'({part.source})'}.clone()")
    joined = ", ".join(texts) + ("," if len(texts) == 1 else "")
    return f"lambda: ({joined})" if tuple_ else f"lambda: {texts[0]}"


def torch_name(view: FileView, node: ast.AST) -> tuple[str, bool]:
    """The name under which PyTorch is known at a node, and whether an import must be added.

    Raises RefusedError when `torch` is bound to something else there.
    """
    names = view.names

    def means_torch(name: str) -> bool:
        bindings = names.bindings(name, node)
        return bool(bindings) and {b.qualified for b in bindings} == {"torch"}

    aliases = [name for name in names.local_bindings(view.source.tree) if name != "torch"]
    for name in ("torch", *aliases):
        if means_torch(name):
            return name, False
    if names.bindings("torch", node):
        raise RefusedError(
            "torch is PyTorch",
            "the name torch is bound to something else here",
            getattr(node, "lineno", 0),
            "import torch",
        )
    return "torch", True
