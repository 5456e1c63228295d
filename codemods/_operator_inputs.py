"""What a statement reads of its function, as parameters of an operator that runs it elsewhere.

An operator takes tensors, numbers and texts. A name is taken as it is; of an attribute or item of something else, the
whole path: `self.config.vocab_size` becomes the parameter `vocab_size`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import field

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.operators import OPERATORS
from gbfix.analysis.values import Kind, Value
from gbfix.codemods._f_strings import with_names
from gbfix.codemods._obligations import shorten
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import unused_name
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation

ONLY_READS = "making the message changes nothing"
TAKES = "an operator can take what the check reads"
_ADVICE = "give it a name that holds a tensor, a number or a text; gbfix trace shows what names hold"
_GRADIENTS = frozenset({"requires_grad", "grad", "grad_fn", "is_leaf", "data_ptr", "untyped_storage", "storage"})


@dataclass
class Inputs:
    """The parameters of an operator: their types by name, and the source of the arguments in the same order.

    edits: what becomes of the paths in the statements. tensors: the parameters that are tensors, with their values.
    """

    types: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    edits: dict[ast.AST, str] = field(default_factory=dict)
    tensors: dict[str, Value] = field(default_factory=dict)
    obligations: list[Obligation] = field(default_factory=list)

    @property
    def signature(self) -> list[str]:
        """The parameters with their types."""
        return [f"{name}: {type_}" for name, type_ in self.types.items()]


class InputReader:
    """Collects the parameters for one or more parts of a function."""

    def __init__(self, flow: Flow, torch: str) -> None:
        self.inputs = Inputs()
        self._flow = flow
        self._names = flow.context.names
        self._torch = torch
        self._taken: dict[str, str] = {}
        self._computed: frozenset[str] = frozenset()

    def read(self, part: ast.AST, state: State, own: frozenset[str], asked: ast.expr) -> None:
        """Take in what a part reads. own: names that the statement sets; asked: its test. Raises RefusedError."""
        units: dict[ast.expr, None] = {}
        self._computed |= _computed_with(asked)
        for name in _reads(part):
            scope = self._names.lookup(name.id, name)[0]
            if scope is self._flow.context.function.node:
                if name.id not in own:
                    units[self._unit(name, part, state, asked)] = None
            elif not isinstance(scope, ast.Module) and not any(node is scope for node in ast.walk(part)):
                reason = f"{name.id} belongs to a function around"
                raise RefusedError(TAKES, reason, name.lineno, "pass it to the function as an argument")
        inner = {node for unit in units for node in ast.walk(unit) if node is not unit}
        for unit in units:
            if unit not in inner:
                self._take(unit, part, state)
        self._write_texts(part)

    def _unit(self, name: ast.Name, part: ast.AST, state: State, asked: ast.expr) -> ast.expr:
        """What becomes an argument for a name: the path, the tensor or the text that it is part of."""
        found: ast.expr = name
        while (type_ := self._type(found, state)) is None and found is not part:
            parent = self._flow.context.source.parents[found]
            match parent:
                case ast.Attribute(value=inner) | ast.Subscript(value=inner, slice=ast.Constant()) if inner is found:
                    found = parent
                case _:
                    break
        return found if type_ is not None else self._around(found, part, state, asked)

    def _around(self, path: ast.expr, part: ast.AST, state: State, asked: ast.expr) -> ast.expr:
        """The tensor that is computed with something unknown, or the text that is made of it."""
        node: ast.AST = path
        while node is not part and not isinstance(node, ast.stmt):
            node = self._flow.context.source.parents[node]
            if isinstance(node, ast.BoolOp | ast.IfExp | ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.NamedExpr):
                break
            if isinstance(node, ast.JoinedStr) and self._is_said_of_what_is_asked(node, state, asked):
                return node
            if isinstance(node, ast.Compare | ast.BinOp | ast.Call) and any(node is one for one in ast.walk(asked)):
                value, evaluation = self._flow.evaluate(node, state)
                if value.kind is Kind.TENSOR and not evaluation.effects.reads:
                    return node
        reason = f"nothing shows what {shorten(ast.unparse(path))} is"
        raise RefusedError(TAKES, reason, path.lineno, _ADVICE)

    def _is_said_of_what_is_asked(self, text: ast.JoinedStr, state: State, asked: ast.expr) -> bool:
        """True for a text that can be made beforehand: of nothing but paths that the test reads as well."""
        read = {ast.unparse(part) for part in ast.walk(asked) if isinstance(part, ast.Attribute | ast.Name)}
        shown = [part for part in text.values if isinstance(part, ast.FormattedValue)]
        return all(part.format_spec is None and ast.unparse(part.value) in read for part in shown) and not any(
            self._is_tensor(part.value, self._value(part.value, state)) for part in shown
        )

    def _take(self, unit: ast.expr, part: ast.AST, state: State) -> None:
        shown = self._flow.context.source.segment(unit)
        source = ast.unparse(unit) if "\n" in shown else shown
        self._check_use(unit, state)
        if source not in self._taken:
            name = unit.id if isinstance(unit, ast.Name) else unused_name(_word(unit), self._in_use(part))
            self._taken[source] = name
            self.inputs.types[name] = type_ = self._type(unit, state) or ""
            self.inputs.arguments.append(source)
            self._oblige(source, type_, unit, state)
        if not isinstance(unit, ast.Name):
            self.inputs.edits[unit] = self._taken[source]

    def _in_use(self, part: ast.AST) -> frozenset[str]:
        return frozenset({node.id for node in ast.walk(part) if isinstance(node, ast.Name)} | set(self.inputs.types))

    def _check_use(self, unit: ast.expr, state: State) -> None:
        """An operator sees a tensor without its gradient, and gets another object."""
        parent = self._flow.context.source.parents[unit]
        if not self._is_tensor(unit, self._value(unit, state)):
            return
        is_gradient = isinstance(parent, ast.Attribute) and parent.attr in _GRADIENTS
        is_identity = isinstance(parent, ast.Compare) and any(isinstance(op, ast.Is | ast.IsNot) for op in parent.ops)
        if is_gradient or is_identity:
            reason = f"an operator does not see {ast.unparse(parent)}"
            raise RefusedError(TAKES, reason, unit.lineno, "ask for it before the check")

    def _oblige(self, source: str, type_: str, unit: ast.expr, state: State) -> None:
        value, line = self._value(unit, state), unit.lineno
        if isinstance(unit, ast.JoinedStr):
            reason = f"{shorten(source)} is made beforehand, which reads its values once more"
            found = Obligation(ONLY_READS, Discharge.ASSUMED, reason, line)
            if self._shows_compared_numbers(unit, state):
                reason = (
                    f"{shorten(source)} shows what the check compares with a tensor, and reading that changed nothing"
                )
                found = Obligation(ONLY_READS, Discharge.PROVED, reason, line)
            self.inputs.obligations.append(found)
            return
        if not self._is_tensor(unit, value):
            claim = f"{shorten(source)} is a Python value"
            found = Obligation(claim, Discharge.PROVED, "its type is known", line)
            if (value.number or "").endswith("at most"):
                found = Obligation(claim, Discharge.ASSUMED, f"only its annotation shows that it is {type_}", line)
            self.inputs.obligations.append(found)
            return
        self.inputs.tensors[self._taken[source]] = value
        claim = "the value is a tensor"
        assumed = sorted(value.assumed)
        if value.kind is Kind.MAYBE:
            found = Obligation(claim, Discharge.ASSUMED, f"{shorten(source)} is computed with as if it were one", line)
        elif assumed:
            found = Obligation(claim, Discharge.ASSUMED, assumed[0].claim, assumed[0].line or line)
        else:
            found = Obligation(claim, Discharge.PROVED, f"{shorten(source)} is one", line)
        self.inputs.obligations.append(found)

    def _shows_compared_numbers(self, text: ast.JoinedStr, state: State) -> bool:
        """True when a run came by, and a text only shows what its check compares with a tensor or computes with one.

        Dynamo traced the test, which reads the same paths, and noted what changes by that.
        """
        source, view = self._flow.context.source, self._flow.context.view
        check = next(one for one in source.ancestors(text) if isinstance(one, ast.If | ast.Assert))
        seen = view.observed(check.lineno)
        if seen is None or view.project.changes is None or not (view.project.changes == () or seen.comes_first):
            return False
        met = {ast.unparse(one) for one in self._operands(check.test, state)}
        return all(ast.unparse(part.value) in met for part in text.values if isinstance(part, ast.FormattedValue))

    def _operands(self, test: ast.expr, state: State) -> Iterator[ast.expr]:
        """What meets a tensor in a comparison or an operation, and is none."""
        for node in ast.walk(test):
            match node:
                case ast.Compare(left=left, comparators=[right]) | ast.BinOp(left=left, right=right):
                    for one, other in ((left, right), (right, left)):
                        if self._value(other, state).kind is Kind.TENSOR and isinstance(one, ast.Attribute | ast.Name):
                            yield one

    def _value(self, unit: ast.expr, state: State) -> Value:
        return self._flow.evaluate(unit, state)[0]

    def _is_tensor(self, unit: ast.expr, value: Value) -> bool:
        """True for a tensor, and for what may be one and is computed with as if it were."""
        return value.kind is Kind.TENSOR or (value.kind is Kind.MAYBE and ast.unparse(unit) in self._computed)

    def _type(self, unit: ast.expr, state: State) -> str | None:
        if isinstance(unit, ast.JoinedStr):
            return "str"
        value = self._value(unit, state)
        if self._is_tensor(unit, value):
            return f"{self._torch}.Tensor"
        number = (value.number or "").removesuffix(" at most")
        if value.kind is Kind.NUMBER and value.scalar_of is None and number in ("int", "float", "bool"):
            return number
        return "str" if value.class_name == "str" else None

    def _write_texts(self, part: ast.AST) -> None:
        """An f-string is written anew as a whole: Python before 3.12 does not say where its parts stand."""
        for node in ast.walk(part):
            if isinstance(node, ast.JoinedStr):
                inside = {one: text for one, text in self.inputs.edits.items() if any(one is p for p in ast.walk(node))}
                if inside:
                    self.inputs.edits = {k: text for k, text in self.inputs.edits.items() if k not in inside}
                    self.inputs.edits[node] = with_names(node, inside)


def _reads(part: ast.AST) -> Iterator[ast.Name]:
    """The names that a part reads, in the order of the source."""
    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load):
        yield part
    for child in ast.iter_child_nodes(part):
        yield from _reads(child)


def _computed_with(test: ast.expr) -> frozenset[str]:
    """The paths that a test slices in several dimensions, or calls an operation of tensors on."""
    found = set()
    for node in ast.walk(test):
        match node:
            case ast.Subscript(value=ast.Name() | ast.Attribute() as path, slice=ast.Tuple(elts=parts)):
                if any(isinstance(part, ast.Slice) for part in parts):
                    found.add(ast.unparse(path))
            case ast.Call(func=ast.Attribute(value=ast.Name() | ast.Attribute() as path, attr=name)):
                if name in OPERATORS:
                    found.add(ast.unparse(path))
    return frozenset(found)


def _word(unit: ast.expr) -> str:
    """A name for a parameter: `vocab_size` of `self.config.vocab_size`, `boxes` of `target["boxes"]`."""
    if isinstance(unit, ast.Attribute):
        return unit.attr
    if isinstance(unit, ast.JoinedStr):
        return "message"
    key = unit.slice.value if isinstance(unit, ast.Subscript) and isinstance(unit.slice, ast.Constant) else None
    return key if isinstance(key, str) and key.isidentifier() else "value"
