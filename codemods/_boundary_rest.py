"""What runs between a statement and the edge of the function, and what it would see or spoil of a later statement."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from dataclasses import field
from types import UnionType

from gbfix.analysis.effects import Note, Requirement
from gbfix.analysis.flow import Flow, State
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.tree import names_in, stored_names
from gbfix.analysis.values import Category, Kind
from gbfix.codemods._messages import message_of
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass

_FAILS_FOR_VALUES = frozenset(
    [
        "embedding",
        "embedding_bag",
        "gather",
        "index_select",
        "scatter",
        "scatter_add",
        "index_add",
        "index_copy",
        "take",
        "take_along_dim",
        "one_hot",
        "nll_loss",
        "cross_entropy",
        "bincount",
        "multinomial",
        "repeat_interleave",
        "inv",
        "inverse",
        "cholesky",
        "solve",
        "eigh",
        "svd",
        "qr",
        "lstsq",
        "binary_cross_entropy",
        "ctc_loss",
        "Embedding",
        "EmbeddingBag",
        "NLLLoss",
        "CrossEntropyLoss",
        "BCELoss",
    ]
)
"""Operations and modules that raise for some values of their operands, whatever the shapes."""
_DRAWING = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "Dropout1d", "Dropout2d", "Dropout3d", "RReLU")
_COUNTING = ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "LazyBatchNorm1d", "LazyBatchNorm2d")
_FAILING_KEYS = ("index", "number divisor", "number power", "DIVISOR", "math")
_THERE = sys.stdlib_module_names | {"torch"}


@dataclass
class Rest:
    """What statements do, collected from their facts.

    writes: what certainly reaches something older than them. random: draws. says: messages. unknown: what may do any
    of it. fails: ways to fail that depend on values; requirements: other conditions for not raising, unmet so far.
    raises: statements that raise. touched: names written in place; stored: names that get another value.
    reaches_others: a write may have changed tensors under other names, too.
    """

    writes: list[Note] = field(default_factory=list)
    random: list[Note] = field(default_factory=list)
    says: list[Note] = field(default_factory=list)
    unknown: list[Note] = field(default_factory=list)
    fails: list[tuple[Note, frozenset[str]]] = field(default_factory=list)
    requirements: list[Requirement] = field(default_factory=list)
    raises: list[Note] = field(default_factory=list)
    returns: list[ast.Return] = field(default_factory=list)
    touched: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    reaches_others: bool = False


def read_rest(flow: Flow, statements: Sequence[ast.stmt], skipped: Sequence[ast.stmt]) -> Rest:
    """What `statements` do, without the `skipped` ones among them.

    Raises RefusedError for a `try`, a `match` and other statements whose ways are not followed.
    """
    rest = Rest()
    for statement in statements:
        if statement not in skipped:
            _Reader(flow, rest).read(statement)
    rest.stored |= stored_names([s for s in statements if s not in skipped])
    return rest


def read_expressions(flow: Flow, statement: ast.stmt, expressions: Sequence[ast.expr], rest: Rest) -> None:
    """Add what some expressions of a statement do."""
    state = flow.before[statement]
    for expression in expressions:
        _Reader(flow, rest).read_expression(expression, state)


class _Reader:
    def __init__(self, flow: Flow, rest: Rest) -> None:
        self._flow = flow
        self._rest = rest
        self._source = flow.context.source

    def read(self, statement: ast.stmt) -> None:
        state = self._flow.before.get(statement)
        if state is None or isinstance(statement, FunctionNode | ast.ClassDef | ast.Pass):
            return
        if isinstance(statement, ast.Import | ast.ImportFrom):
            self._importing(statement)
            return
        for expression in _own_expressions(statement):
            self.read_expression(expression, state)
        match statement:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._target(target, state)
                    self._storing(target, value, state)
            case ast.AnnAssign(target=target, value=value) | ast.AugAssign(target=target, value=value):
                self._target(target, state)
                if value is not None:
                    self._storing(target, value, state)
                if isinstance(statement, ast.AugAssign) and isinstance(target, ast.Name):
                    self._in_place(target, state)
                    self._combined(target, statement, state)
            case ast.Return():
                self._rest.returns.append(statement)
            case ast.Raise() | ast.Assert():
                text = self._source.segment(statement).split("\n")[0]
                self._rest.raises.append(Note(f"{text} may come first", statement.lineno))
            case ast.If() | ast.For() | ast.While() | ast.With():
                for block in (statement.body, getattr(statement, "orelse", [])):
                    for inner in block:
                        self.read(inner)
            case ast.Delete(targets=targets):
                for target in targets:
                    if not isinstance(target, ast.Name):
                        text = f"{self._source.segment(target)} is deleted"
                        self._rest.writes.append(Note(text, target.lineno))
            case ast.Expr() | ast.Break() | ast.Continue():
                pass
            case _:
                raise RefusedError(
                    "the way to the end of the function is known",
                    f"a `{type(statement).__name__.lower()}` statement follows",
                    statement.lineno,
                    "move it out of the compiled function",
                )

    def _importing(self, statement: ast.Import | ast.ImportFrom) -> None:
        """A module may be missing, and runs when it is first imported; those of Python and torch are there."""
        if isinstance(statement, ast.ImportFrom):
            modules = ["" if statement.level else statement.module or ""]
        else:
            modules = [alias.name for alias in statement.names]
        if not all(name.split(".")[0] in _THERE for name in modules):
            text = f"{self._source.segment(statement)} does not raise"
            self._rest.requirements.append(Requirement(("imported", text), text, statement.lineno))

    def _target(self, target: ast.expr, state: State) -> None:
        match target:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self._target(part, state)
            case ast.Starred(value=inner):
                self._target(inner, state)
            case ast.Attribute(attr=attribute):
                self._rest.attributes.add(attribute)
                self._rest.writes.append(Note(f"{self._source.segment(target)} is set", target.lineno))
            case ast.Subscript():
                self._in_place(target.value, state)
            case ast.Name(id=name) if name in self._flow.context.names.declared_outer(self._flow.context.function.node):
                self._rest.writes.append(Note(f"{name} of an outer scope is set", target.lineno))

    def _storing(self, target: ast.expr, value: ast.expr, state: State) -> None:
        """What may fail when a value goes into an element: the place is missing, or the value does not fit."""
        if not isinstance(target, ast.Subscript) or _made_here(
            target.value, self._flow.context.function.node, ast.Dict
        ):
            return
        self.read_expression(target, state)
        if self._flow.evaluate(value, state)[0].kind is not Kind.NUMBER:
            text = f"{self._source.segment(target)} takes {self._source.segment(value)}"
            self._rest.requirements.append(Requirement(("stored", target), text, target.lineno))

    def _combined(self, target: ast.Name, statement: ast.AugAssign, state: State) -> None:
        """What may fail in `x += value`: nothing where both are numbers, or the value has the facts of the tensor."""
        held, value = self._flow.evaluate(target, state)[0], self._flow.evaluate(statement.value, state)[0]
        plain = isinstance(statement.op, ast.Add | ast.Sub | ast.Mult)
        same = value.kind is Kind.TENSOR and None not in (held.shape, held.dtype, held.devices)
        same = same and (value.shape, value.dtype, value.devices) == (held.shape, held.dtype, held.devices)
        is_number = value.kind is Kind.NUMBER and (held.kind is Kind.NUMBER or value.number == "int")
        if not plain or not (same or is_number):
            text = f"{self._source.segment(statement)} does not raise"
            self._rest.requirements.append(Requirement(("combined", statement), text, statement.lineno))

    def _in_place(self, target: ast.expr, state: State) -> None:
        """A write into what an expression gives: harmless when nobody else can see it."""
        held = self._flow.evaluate(target, state)[0]
        if isinstance(target, ast.Name) and held.kind is Kind.NUMBER:
            return
        self._rest.touched |= names_in([target])
        if not (isinstance(target, ast.Name) and held.fresh):
            self._rest.reaches_others = True
            text = self._source.segment(target)
            # Expanded tensors, leaves with gradients and inference tensors cannot be written to.
            self._rest.requirements.append(Requirement(("written", target), f"{text} can be written to", target.lineno))
            self._rest.writes.append(Note(f"{text}, which others may see, is written in place", target.lineno))

    def _written_by(self, node: ast.Call, receiver: ast.expr, state: State) -> None:
        """What may fail when a method writes into its tensor: nothing where that is new and floating, with numbers."""
        held = self._flow.evaluate(receiver, state)[0]
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        plain = all(self._flow.evaluate(value, state)[0].kind is Kind.NUMBER for value in given)
        floating = held.dtype is not None and held.dtype.category is Category.FLOAT
        if not (held.fresh and plain and floating):
            text = f"{self._source.segment(node)} does not raise"
            self._rest.requirements.append(Requirement(("written", node), text, node.lineno))

    def read_expression(self, node: ast.expr, state: State) -> None:
        """Add what an expression does, evaluated in a state."""
        _, evaluation = self._flow.evaluate(node, state)
        effects, rest = evaluation.effects, self._rest
        rest.random += effects.random
        rest.requirements += [r for r in effects.requirements if r.key not in state.established]
        names = frozenset(names_in([node]))
        for requirement in effects.requirements:
            key = requirement.key if isinstance(requirement.key, tuple) else ()
            if key[:1] and key[0] in _FAILING_KEYS and requirement.key not in state.established:
                rest.fails.append((Note(f"nothing else shows that {requirement.text}", requirement.line), names))
        explained = 0
        for part in ast.walk(node):
            if isinstance(part, ast.Call):
                explained += self._call(part, state, names)
            elif isinstance(part, ast.Yield | ast.YieldFrom | ast.Await):
                rest.says.append(Note("the function hands over to its caller in between", part.lineno))
            elif isinstance(part, ast.NamedExpr):
                explained += 1
            elif isinstance(part, ast.JoinedStr):
                explained += any("formats a value" in note.text for note in effects.impure)
        if len(effects.impure) > explained:
            rest.unknown += effects.impure
            rest.reaches_others = rest.reaches_others or bool(effects.writes)

    def _call(self, node: ast.Call, state: State, names: frozenset[str]) -> bool:
        """Note what a call is known to do; true when that is the whole of what makes it impure."""
        rest, context = self._rest, self._flow.context
        named = context.names.qualified(node.func) or ""
        builtin = (
            node.func.id if isinstance(node.func, ast.Name) and not context.names.bindings(node.func.id, node) else ""
        )
        if message_of(context.view, node) is not None or named == "torch._higher_order_ops.print":
            rest.says.append(Note(f"{self._source.segment(node.func)} says something", node.lineno))
            return True
        if any(isinstance(part, ast.Raise | ast.Assert) for body in self._bodies(node.func) for part in ast.walk(body)):
            rest.raises.append(Note(f"{self._source.segment(node.func)} may raise first", node.lineno))
        last = node.func.attr if isinstance(node.func, ast.Attribute) else builtin
        member = context.member(node.func) if isinstance(node.func, ast.Attribute) else None
        if member is not None and member.kind is Kind.MODULE:
            last = (member.class_name or "").rpartition(".")[2]
        if (named.startswith("torch.") or not named) and last in _FAILS_FOR_VALUES:
            rest.fails.append((Note(f"{last} fails for some values", node.lineno), names))
        if last in _DRAWING:
            rest.random.append(Note(f"{last} draws random numbers", node.lineno))
            return True
        if last in _COUNTING:
            rest.writes.append(Note(f"{last} updates its statistics", node.lineno))
            return True
        is_method = isinstance(node.func, ast.Attribute) and not named
        if is_method and last.endswith("_") and not last.endswith("__"):
            receiver = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            self._in_place(receiver, state)
            self._written_by(node, receiver, state)
            return True
        if is_method and last in ("append", "extend", "insert", "update", "add", "pop", "setdefault", "write"):
            receiver = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if self._flow.evaluate(receiver, state)[0].kind is not Kind.TENSOR and not _made_here(
                receiver, context.function.node
            ):
                rest.writes.append(Note(f"{self._source.segment(node.func)} changes an object", node.lineno))
                return True
            rest.touched |= names_in([receiver])
        return False

    def _bodies(self, function: ast.expr) -> list[ast.AST]:
        """The functions of the file that a call may run: a function of this name, or methods of this name."""
        context = self._flow.context
        binding = context.names.single_definition(function)
        if binding is not None:
            return [binding.node]
        if isinstance(function, ast.Attribute) and context.is_self(function.value):
            return [f.node for f in self._source.functions if f.owner is not None and f.name == function.attr]
        return []


def _made_here(
    node: ast.expr,
    function: ast.AST,
    kinds: type | UnionType = ast.List | ast.Dict | ast.Set | ast.ListComp,
) -> bool:
    """True for a name that the function only ever binds to new containers of some kinds."""
    if not isinstance(node, ast.Name):
        return False
    values = [
        part.value
        for part in ast.walk(function)
        if isinstance(part, ast.Assign) and any(isinstance(t, ast.Name) and t.id == node.id for t in part.targets)
    ]
    return bool(values) and all(isinstance(value, kinds) for value in values)


def _own_expressions(statement: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement evaluates itself; the statements inside it have their own."""
    for name, value in ast.iter_fields(statement):
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, ast.withitem):
                yield part.context_expr
            elif isinstance(part, ast.expr) and name not in ("target", "targets", "annotation"):
                yield part
