"""Turns the test of a branch into a tensor that `torch.where` and `torch.cond` accept.

What Python does with a test on a tensor, and what must be said instead:
truthiness (`if t:` is `t != 0`, NaN true), `not` (swapped sides, or logical_not; never a flipped comparison,
which differs for NaN), `and`/`or` (logical_and/logical_or, with every part now evaluated), chained comparison, and
`.item()`, `bool()`, `float()` (dropped; the comparison then happens in the tensor's dtype, so the other operand
must be exact there).
"""

from __future__ import annotations

import ast
import math
from collections.abc import Hashable, Sequence
from dataclasses import field

from gbfix.analysis.effects import Effects
from gbfix.analysis.evaluate import Evaluation
from gbfix.analysis.flow import Flow, State, reads_tensor
from gbfix.analysis.literals import literal_number
from gbfix.analysis.values import SCALAR_SHAPE, Category, Kind, Value
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import indentation_of, on_its_own, render, trailing_comment
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Replacement

_OPERATORS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}


@dataclass
class Predicate:
    """A test as a tensor expression.

    source: a bool tensor with one element. inverted: the sides change places. leaves: the tensor values it is
    made of, with their text and line. effects: of everything evaluated; late: of the parts that short circuits
    used to skip. hoisted: statements to run before. edits: changes of earlier definitions that the source relies
    on. assumptions: claim, reason and line of what nothing proves. first: the keys of what its first part requires.
    """

    source: str = ""
    inverted: bool = False
    leaves: list[tuple[str, Value, int]] = field(default_factory=list)
    effects: Effects = field(default_factory=Effects)
    late: Effects = field(default_factory=Effects)
    hoisted: list[str] = field(default_factory=list)
    edits: list[Replacement] = field(default_factory=list)
    assumptions: list[tuple[str, str, int]] = field(default_factory=list)
    first: frozenset[Hashable] = frozenset()


class PredicateBuilder:
    """Builds the predicate of one test at one statement."""

    def __init__(self, flow: Flow, state: State, torch_name: str, statement: ast.stmt | None) -> None:
        self.flow = flow
        self.state = state
        self.torch = torch_name
        self.statement = statement
        self.source = flow.context.source
        self.predicate = Predicate()
        self._root: ast.expr | None = None
        self._names: dict[ast.expr, str] = {}
        self._states: dict[ast.expr, State] = {}

    def build(self, test: ast.expr) -> Predicate:
        """The predicate of `test`. Raises RefusedError when it cannot be said exactly as a tensor."""
        self._root = test
        self._note_warnings(test, self.state)
        while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            self.predicate.inverted = not self.predicate.inverted
            test = test.operand
        self.predicate.source = self._truth(test)
        return self.predicate

    def _truth(self, node: ast.expr) -> str:
        """A bool tensor with one element that is true when Python takes `node` as true."""
        match node:
            case ast.BoolOp(op=op, values=parts):
                name = "logical_and" if isinstance(op, ast.And) else "logical_or"
                return self._all_parts(name, parts)
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return f"{self.torch}.logical_not({self._truth(inner)})"
            case ast.Compare():
                return self._comparison(node)
            case ast.NamedExpr(target=target, value=inner):
                return self._walrus(target, inner)
            case ast.Call(func=ast.Name(id="bool" | "float"), args=[inner], keywords=[]) if self._builtin(node):
                return self._truth(inner)
            case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]) if self._builtin(node):
                return self._truth(self._integral(inner))
            case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
                return self._truth(inner)
            case _:
                return self._leaf(node)

    def _note_warnings(self, node: ast.expr, state: State) -> None:
        """float() and int() of a tensor that requires a gradient warn once; `.item()` does not."""
        for part in ast.walk(node):
            if not (isinstance(part, ast.Call) and len(part.args) == 1 and self._builtin(part)):
                continue
            value = self.flow.evaluate(part.args[0], state)[0]
            if getattr(part.func, "id", "") in ("float", "int") and value.sources and not state.gradients_off:
                reason = f"{self._text(part)} warns when the tensor requires a gradient"
                self.predicate.assumptions.append(("nobody relies on a warning", reason, part.lineno))

    def _all_parts(self, name: str, parts: Sequence[ast.expr]) -> str:
        texts = []
        for index, part in enumerate(parts):
            if not reads_tensor(self.flow, self.state, part):
                raise RefusedError(
                    "the tensor part of the condition stands apart from the Python part",
                    f"{self._text(part)} is not a tensor and stands beside tensors",
                    part.lineno,
                    "put the Python conditions in an `if` of their own around the tensor condition",
                )
            if index and any(isinstance(inner, ast.NamedExpr) for inner in ast.walk(part)):
                raise RefusedError(
                    "evaluating the condition does nothing else",
                    f"{self._text(part)} binds a name only when it is reached",
                    part.lineno,
                    "bind the name before the branch",
                )
            texts.append(self._truth(part))
            if not index and not self.predicate.first:
                self.predicate.first = self.predicate.effects.keys()
            if index:
                self.predicate.late.add(self._evaluate(part)[1].effects)
        result = texts[0]
        for text in texts[1:]:
            result = f"{self.torch}.{name}({result}, {text})"
        return result

    def _comparison(self, node: ast.Compare) -> str:
        operands = [node.left, *node.comparators]
        for middle in operands[1:-1]:
            effects = self._evaluate(middle)[1].effects
            if not effects.pure:
                raise self._impure(effects)
        if len(operands) > 2 and not self.predicate.first:
            self.predicate.first = frozenset().union(*(self._evaluate(o)[1].effects.keys() for o in operands[:2]))
        for later in operands[2:]:
            self.predicate.late.add(self._evaluate(later)[1].effects)
        texts = [
            self._one_comparison(left, op, right, node)
            for left, op, right in zip(operands, node.ops, operands[1:], strict=False)
        ]
        result = texts[0]
        for text in texts[1:]:
            result = f"{self.torch}.logical_and({result}, {text})"
        return result

    def _one_comparison(self, left: ast.expr, op: ast.cmpop, right: ast.expr, node: ast.Compare) -> str:
        if isinstance(op, ast.In | ast.NotIn):
            return self._membership(left, right, negated=isinstance(op, ast.NotIn))
        if type(op) not in _OPERATORS:
            raise RefusedError(
                "the condition is a comparison of values", f"{self._text(node)} compares identity", node.lineno, ""
            )
        first, first_read = self._operand(left)
        second, second_read = self._operand(right)
        first, second = self._bound_before(first), self._bound_before(second)
        values = [self._evaluate(part)[0] for part in (first, second)]
        tensors = [(part, value) for part, value in zip((first, second), values, strict=True) if value.tensor_like]
        if not tensors:
            raise self._not_tensor(node)
        texts = [self._comparand(first), self._comparand(second)]
        if first_read or second_read:
            self._exact(texts, (first, second), (first_read, second_read), values)
        self._record(node, (first, second), values)
        text = f"{texts[0]} {_OPERATORS[type(op)]} {texts[1]}"
        return self._one_element(text, values, comparison=True)

    def _bound_before(self, node: ast.expr) -> ast.expr:
        """The value of a walrus, whose name is bound by a statement before."""
        if not isinstance(node, ast.NamedExpr):
            return node
        self.predicate.hoisted.append(f"{node.target.id} = {on_its_own(self._verbatim(node.value))}")
        self._names[node.value] = node.target.id
        return node.value

    def _operand(self, node: ast.expr) -> tuple[ast.expr, bool]:
        """The tensor inside `.item()` or `float()`, and whether there was such a read; `node` itself otherwise."""
        match node:
            case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]) if self._is_tensor(inner):
                return inner, True
            case ast.Call(func=ast.Name(id="float"), args=[inner], keywords=[]) if self._builtin(
                node
            ) and self._is_tensor(inner):
                return inner, True
            case ast.Call(func=ast.Name(id="float" | "bool" | "int"), args=[inner], keywords=[]) if self._builtin(node):
                deeper, read = self._operand(inner)
                if read and not (isinstance(node.func, ast.Name) and node.func.id == "float"):
                    return self._integral(deeper), True
                return (
                    (deeper, True)
                    if read
                    else (self._integral(inner) if self._is_tensor(inner) else node, self._is_tensor(inner))
                )
            case ast.Name():
                definition = self._definition(node)
                return (definition, True) if definition is not None else (node, False)
            case _:
                value = self._evaluate(node)[0]
                if value.kind is Kind.NUMBER and value.scalar_of is not None:
                    raise RefusedError(
                        "the condition only compares what it reads out of tensors",
                        f"{self._text(node)} computes with a number read out of a tensor",
                        node.lineno,
                        "keep the value a tensor (`.detach()` instead of `.item()`) and compare that",
                    )
                return node, False

    def _exact(
        self, texts: list[str], parts: tuple[ast.expr, ast.expr], reads: tuple[bool, bool], values: Sequence[Value]
    ) -> None:
        """Make a comparison of what used to be Python numbers exact.

        `.item()` compared in double precision; the tensor compares in its own dtype, to which the other
        operand is rounded. Constants of eight significant bits are exact in every floating dtype.
        """
        constants = [literal_number(part) for part in parts]
        for index, part in enumerate(parts):
            other = 1 - index
            if not reads[index]:
                if values[index].tensor_like:
                    self.predicate.assumptions.append(
                        (
                            f"{self._text(part)} is a Python number",
                            "it was compared with a number read out of a tensor",
                            part.lineno,
                        )
                    )
                continue
            dtype = values[index].dtype
            category = dtype.category if dtype else None
            constant = constants[other]
            small = constant is not None and (0 <= constant <= 127 or category is Category.FLOAT)
            if constant is not None and small and _short_mantissa(constant):
                continue
            text = _parenthesised(texts[index], parts[index])
            against = values[other].dtype
            whole = isinstance(constant, int) and abs(constant) < 2**63
            if reads[other]:
                whole = against is not None and against.category in (Category.BOOL, Category.INT)
            if category in (Category.BOOL, Category.INT) and whole:
                texts[index] = f"{text}.long()"
                continue
            if not _exact_in_double(category, constant):
                raise RefusedError(
                    "the comparison is exact",
                    f"{self._text(parts[other if category is Category.FLOAT else index])} may be an integer "
                    "that no floating number holds",
                    parts[index].lineno,
                    "compare the tensor without reading it",
                )
            texts[index] = f"{text}.double()"

    def _membership(self, left: ast.expr, right: ast.expr, *, negated: bool) -> str:
        choices = right.elts if isinstance(right, ast.Tuple | ast.List) else []
        constants = [literal_number(choice) for choice in choices]
        if not choices or any(constant is None for constant in constants):
            raise RefusedError(
                "membership is tested in constants",
                f"{self._text(right)} is not a tuple of numbers",
                right.lineno,
                "compare with each value by `==` and join the results with torch.logical_or",
            )
        effects = self._evaluate(left)[1].effects
        if not effects.pure:
            raise self._impure(effects)
        result = ""
        for choice in choices:
            part = self._one_comparison(
                left, ast.Eq(), choice, ast.Compare(left, [ast.Eq()], [choice], lineno=left.lineno)
            )
            result = part if not result else f"{self.torch}.logical_or({result}, {part})"
        return f"{self.torch}.logical_not({result})" if negated else result

    def _walrus(self, target: ast.Name, inner: ast.expr) -> str:
        value = self._evaluate(inner)[0]
        if value.kind is not Kind.TENSOR:
            raise self._not_tensor(inner)
        self.predicate.hoisted.append(f"{target.id} = {on_its_own(self._verbatim(inner))}")
        self._record(inner, (inner,), (value,))
        return self._one_element(self._as_bool(target.id, value), (value,))

    def _leaf(self, node: ast.expr) -> str:
        definition = self._definition(node) if isinstance(node, ast.Name) else None
        if definition is not None:
            assert isinstance(node, ast.Name)
            value = self._evaluate(definition)[0]
            self._record(definition, (definition,), (value,))
            return self._one_element(self._as_bool(node.id, value), (value,))
        value = self._evaluate(node)[0]
        if value.kind is not Kind.TENSOR:
            raise self._not_tensor(node)
        self._record(node, (node,), (value,))
        text = self._verbatim(node)
        return self._one_element(self._as_bool(_parenthesised(text, node), value, text), (value,))

    def _as_bool(self, operand: str, value: Value, plain: str = "") -> str:
        if value.dtype is not None and value.dtype.category is Category.BOOL:
            return plain or operand
        return f"{operand} != 0"

    def _one_element(self, text: str, values: Sequence[Value], comparison: bool = False) -> str:
        shapes = [value.shape for value in values if value.tensor_like]
        if all(shape == SCALAR_SHAPE for shape in shapes):
            return text
        simple = text.endswith(")") and not comparison and " " not in text
        return f"{text}.reshape(())" if simple else f"({text}).reshape(())"

    # -- names that hold a number read out of a tensor ---------------------------------------

    def _definition(self, node: ast.Name) -> ast.expr | None:
        """The tensor behind a name bound to `t.item()`, `bool(t)` or `float(t)`, if the read can leave the definition.

        That is so when the definition stands earlier in the same block, every use of the name lies
        in this test, and nothing in between writes to a tensor.
        """
        value = self._evaluate(node)[0]
        if value.kind is not Kind.NUMBER or value.scalar_of is None or self.statement is None:
            return None
        found = self._reaching_assignment(node.id)
        if found is None:
            raise RefusedError(
                "the tensor behind the condition is known",
                f"{node.id} was read out of a tensor in a place that cannot be followed",
                node.lineno,
                "keep it a tensor and test the tensor",
            )
        assignment, inner, between = found
        self._only_used_here(node.id, assignment)
        self._nothing_written(inner, assignment, between)
        if not any(edit.span == self._edit_of(assignment, node.id, inner).span for edit in self.predicate.edits):
            self.predicate.edits.append(self._edit_of(assignment, node.id, inner))
        self._names[inner] = node.id
        self._states[inner] = self.flow.before[assignment]
        self._note_warnings(assignment.value, self.flow.before[assignment])
        return inner

    def _edit_of(self, assignment: ast.Assign, name: str, inner: ast.expr) -> Replacement:
        text = self._original(inner)
        if text == name:
            return Replacement(self.source.span(assignment), "")
        comment = trailing_comment(self.source, assignment.value)
        return Replacement(self.source.span(assignment), f"{name} = {on_its_own(text)}{comment}")

    def _reaching_assignment(self, name: str) -> tuple[ast.Assign, ast.expr, list[ast.stmt]] | None:
        assert self.statement is not None
        parent = self.source.parents[self.statement]
        for _, block in ast.iter_fields(parent):
            if not (isinstance(block, list) and self.statement in block):
                continue
            between: list[ast.stmt] = []
            for earlier in reversed(block[: block.index(self.statement)]):
                match earlier:
                    case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                        inner = self._read_inside(value, earlier)
                        return None if inner is None else (earlier, inner, between)
                if any(
                    isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)
                    for n in ast.walk(earlier)
                ):
                    return None
                between.append(earlier)
        return None

    def _read_inside(self, value: ast.expr, assignment: ast.Assign) -> ast.expr | None:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[], keywords=[]):
                return inner
            case ast.Call(func=ast.Name(id="bool" | "float"), args=[inner], keywords=[]) if self._builtin(value):
                return self._read_inside(inner, assignment) or inner
            case ast.Call(func=ast.Name(id="int"), args=[inner], keywords=[]) if self._builtin(value):
                inner = self._read_inside(inner, assignment) or inner
                self._states[inner] = self.flow.before[assignment]
                return self._integral(inner)
            case _:
                return None

    def _only_used_here(self, name: str, assignment: ast.Assign) -> None:
        """The name now holds a tensor, so nobody else may read it."""
        assert self._root is not None
        inside = {*ast.walk(self._root), *ast.walk(assignment.value)}
        others = [
            part
            for part in ast.walk(self.flow.context.function.node)
            if isinstance(part, ast.Name) and part.id == name and isinstance(part.ctx, ast.Load) and part not in inside
        ]
        declared = name in self.flow.context.names.declared_outer(self.flow.context.function.node)
        if others or declared:
            line = others[0].lineno if others else assignment.lineno
            raise RefusedError(
                "the number read out of the tensor is used by this condition only",
                f"{name} is also used in line {line}" if others else f"{name} belongs to another scope",
                line,
                "keep the tensor under a name of its own and test that",
            )

    def _nothing_written(self, inner: ast.expr, assignment: ast.Assign, between: Sequence[ast.stmt]) -> None:
        """A new tensor cannot change in between; a name or a view can."""
        value = self.flow.evaluate(inner, self.flow.before[assignment])[0]
        new = value.fresh and not isinstance(inner, ast.Name | ast.Attribute | ast.Subscript)
        if between and not new:
            raise RefusedError(
                "nothing writes to the tensor between the read and the condition",
                f"what {self._text(inner)} holds may change after line {assignment.lineno}",
                assignment.lineno,
                "move the condition up to the read",
            )

    # -- small things ------------------------------------------------------------------------

    def _integral(self, node: ast.expr) -> ast.expr:
        value = self._evaluate(node)[0]
        category = value.dtype.category if value.dtype else None
        if category not in (Category.BOOL, Category.INT):
            raise RefusedError(
                "int() of the tensor keeps its value",
                f"int({self._text(node)}) cuts off the fraction and raises for NaN",
                node.lineno,
                "compare the tensor itself, or use torch.trunc where the fraction must go",
            )
        return node

    def _record(self, node: ast.expr, parts: Sequence[ast.expr], values: Sequence[Value]) -> None:
        for part, value in zip(parts, values, strict=True):
            if value.tensor_like:
                self.predicate.leaves.append((self._text(part), value, node.lineno))
            effects = self._evaluate(part)[1].effects
            if effects.impure:
                raise self._impure(effects)
            self.predicate.effects.add(effects)

    def _impure(self, effects: Effects) -> RefusedError:
        note = [*effects.impure, *effects.random][0]
        return RefusedError(
            "evaluating the condition does nothing else",
            note.text,
            note.line,
            "compute it in a statement of its own first",
        )

    def _not_tensor(self, node: ast.expr) -> RefusedError:
        if isinstance(node, ast.Call):
            compared = {"torch.equal": "(a == b).all()", "torch.allclose": "torch.isclose(a, b).all()"}
            dense = compared.get(self.flow.context.names.qualified(node.func) or "")
            if dense is not None:
                reason = f"{self._text(node)} gives a Python bool"
                advice = f"where both have the same shape, {dense} gives a tensor"
                return RefusedError("the condition is a tensor", reason, node.lineno, advice)
        return RefusedError(
            "the condition is a tensor",
            f"{self._text(node)} is not known to be a tensor",
            node.lineno,
            "annotate it as torch.Tensor",
        )

    def _is_tensor(self, node: ast.expr) -> bool:
        return self._evaluate(node)[0].kind is Kind.TENSOR

    def _builtin(self, node: ast.Call) -> bool:
        return isinstance(node.func, ast.Name) and self.flow.context.names.is_builtin(node.func, node.func.id)

    def _evaluate(self, node: ast.expr) -> tuple[Value, Evaluation]:
        return self.flow.evaluate(node, self._states.get(node, self.state))

    def _text(self, node: ast.expr) -> str:
        if node not in self.source.parents:
            return ast.unparse(node)
        return " ".join(self.source.segment(node).split())

    def _verbatim(self, node: ast.expr) -> str:
        if node in self._names:
            return self._names[node]
        return self._original(node)

    def _original(self, node: ast.expr) -> str:
        return render(
            self.source, node, {}, indentation_of(self.source, self.statement or node)
        ) or self.source.segment(node)

    def _comparand(self, node: ast.expr) -> str:
        return _parenthesised(self._verbatim(node), node, loose=True)


def _exact_in_double(category: Category | None, constant: float | int | None) -> bool:
    """True when doubles compare like Python does; None for a constant that is not known.

    From 2**53 on, several integers round to one double, and from 2**63 on PyTorch does not take them.
    """
    if category is Category.FLOAT:
        return not isinstance(constant, int) or abs(constant) <= 2**53
    return constant is not None and abs(constant) < 2**53


def _short_mantissa(constant: float | int) -> bool:
    """True for numbers that bfloat16 and float16 hold exactly: eight significant bits and a moderate exponent."""
    if isinstance(constant, int) and abs(constant) > 2**16:
        return False
    if math.isinf(constant) or math.isnan(constant):
        return False
    mantissa, exponent = math.frexp(constant)
    return constant == 0 or ((mantissa * 256).is_integer() and -13 <= exponent <= 16)


def _parenthesised(text: str, node: ast.expr, loose: bool = False) -> str:
    """The text, in parentheses when a method call or (`loose`) a comparison could take only a part of it."""
    tight = ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.Constant
    weak = tight | ast.BinOp | ast.UnaryOp
    if isinstance(node, weak if loose else tight) and not (
        isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
    ):
        return f"({text})" if "\n" in text and not isinstance(node, tight) else text
    return text if text.isidentifier() else f"({text})"
