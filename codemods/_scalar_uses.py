"""What a Python number that was read out of a tensor is used for, followed through arithmetic and names."""

from __future__ import annotations

import ast
from dataclasses import field
from itertools import pairwise

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.literals import constant_place, is_nonzero_constant, number_of
from gbfix.analysis.tree import names_in
from gbfix.analysis.values import Kind, Value
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_reads import statement_of
from gbfix.codemods._scalar_sinks import OUTSIDE, says, sink, until_statement
from gbfix.engine.dataclass import dataclass

_CLAIM = "the number is only used in tensor arithmetic"
_STEPS = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_COMPARED = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)
_CHECKS = frozenset({"torch._check", "torch._check_value", "torch._check_index", "torch._check_type", "torch._assert"})
MATH = frozenset({"sqrt", "exp", "log", "log2", "log10", "log1p", "expm1", "sin", "cos", "tan", "tanh", "atan"})
"""Functions that math and torch call the same, of one number; those of math raise where torch gives NaN or infinity."""


@dataclass(frozen=True)
class Meeting:
    """A number meets a tensor, as in `x * s`.

    top: the number's expression there; operator: what is computed; right: the number is the right operand.
    """

    top: ast.expr
    tensor: ast.expr
    value: Value
    operator: type[ast.AST]
    right: bool
    line: int


@dataclass
class Uses:
    """Everything that becomes of one number.

    floating: its arithmetic makes it a float, or may do so if unsure. steps: it is computed with. indexed: tensors
    that it is an index of. elements: what is taken of a list.
    """

    meetings: list[Meeting] = field(default_factory=list)
    floating: bool = False
    unsure: bool = False
    steps: bool = False
    divisors: list[ast.expr] = field(default_factory=list)
    numerators: list[ast.expr] = field(default_factory=list)
    functions: list[ast.Call] = field(default_factory=list)
    augmented: list[ast.AugAssign] = field(default_factory=list)
    names: set[str] = field(default_factory=set)
    indexed: list[ast.Subscript] = field(default_factory=list)
    elements: list[int] = field(default_factory=list)


class ForeignError(Exception):
    """The number is asked, said or raised: rules for branches, messages and guards take care of that."""


class UseFollower:
    """Follows one number from where it is read."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.context = flow.context
        self.source = flow.context.source
        self.uses = Uses()

    def follow(self, node: ast.expr) -> Uses:
        """The uses of the number that `node` gives. Raises RefusedError and ForeignError."""
        self._climb(node)
        return self.uses

    def follow_function(self, argument: ast.expr) -> Uses:
        """The uses of `math.f(t)`, whose argument is read without a word."""
        call = self.source.parents[argument]
        assert isinstance(call, ast.Call)
        self._called(argument, call, call.func)
        return self.uses

    def follow_list(self, node: ast.expr) -> Uses:
        """The uses of the elements of `t.tolist()`, each taken by a constant."""
        parent = self.source.parents[node]
        match parent:
            case ast.Assign(targets=[ast.Name(id=name)]):
                for load in self._loads(name, parent):
                    taken = self.source.parents[load]
                    place = constant_place(taken.slice) if isinstance(taken, ast.Subscript) else None
                    if place is None or not isinstance(taken, ast.Subscript) or not isinstance(taken.ctx, ast.Load):
                        raise self._refused(load, taken)
                    self.uses.elements.append(place)
                    self._climb(taken)
            case _:
                raise self._refused(node, parent)
        return self.uses

    def _state(self, node: ast.AST) -> State:
        statement = statement_of(self.context, node)
        state = self.flow.entry if statement is None else self.flow.before.get(statement)
        return state if state is not None else self.flow.entry

    def _climb(self, node: ast.expr) -> None:
        parent = self.source.parents[node]
        match parent:
            case ast.BinOp(left=left, op=op, right=right):
                self._binary(node, parent, op, left, right)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd()):
                self.uses.steps = True
                self._climb(parent)
            case ast.Compare(left=left, ops=[op], comparators=[right]) if isinstance(op, _COMPARED):
                other = left if node is right else right
                found = self.flow.evaluate(other, self._state(node))[0]
                if found.kind is not Kind.TENSOR:
                    raise self._refused(node, parent)
                self._meet(node, other, found, type(op), node is right)
            case ast.Subscript(value=base, slice=index) if index is node:
                self._index(node, parent, base)
            case ast.Tuple() if isinstance(self.source.parents[parent], ast.Subscript):
                subscript = self.source.parents[parent]
                assert isinstance(subscript, ast.Subscript)
                self._index(node, subscript, subscript.value)
            case ast.Call(func=function, args=[argument], keywords=[]) if argument is node:
                self._called(node, parent, function)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                self._named(name, parent)
            case ast.AugAssign(target=ast.Name() as target, op=op) if isinstance(op, _STEPS):
                held = self._state(node).values.get(target.id)
                if held is None or not held.tensor_like:
                    raise self._refused(node, parent)
                self._meet(node, target, held, type(op), right=True)
            case _:
                raise self._refused(node, parent)

    def _binary(self, node: ast.expr, parent: ast.BinOp, op: ast.operator, left: ast.expr, right: ast.expr) -> None:
        is_right = node is right
        other = left if is_right else right
        if not isinstance(op, _STEPS):
            raise self._refused(node, parent)
        found = self.flow.evaluate(other, self._state(node))[0]
        if found.tensor_like:
            self._meet(node, other, found, type(op), is_right)
            return
        if found.kind is not Kind.NUMBER:
            raise self._refused(node, parent)
        self.uses.steps = True
        # A bool among the operands counts as an integer, in Python and for an integer tensor alike.
        whole = found.number in ("int", "bool", "int at most")
        self.uses.floating |= not whole or isinstance(op, ast.Div)
        self.uses.unsure |= not whole and found.number != "float"
        if isinstance(op, ast.Div):
            if is_right:
                self.uses.divisors.append(node)
                self._numerator(other)
            elif not is_nonzero_constant(other):
                self.uses.divisors.append(other)
        self._climb(parent)

    def _numerator(self, node: ast.expr) -> None:
        """`c / t` is computed as c times the reciprocal of a tensor, which rounds twice; only 1 / t is the same."""
        number = number_of(node)
        if number is None:
            raise RefusedError(
                "a tensor divides as a number does",
                f"{self.source.segment(node)} is divided by it, and a tensor would round twice",
                node.lineno,
                "divide a tensor: torch.full_like(s, a) / s in place of a / s",
            )
        if abs(number) != 1:
            self.uses.numerators.append(node)

    def _called(self, node: ast.expr, call: ast.Call, function: ast.expr) -> None:
        names = self.context.names
        qualified = names.qualified(function) or ""
        if qualified.startswith("math.") and qualified[len("math.") :] in MATH:
            self.uses.functions.append(call)
            self.uses.floating = self.uses.steps = True
            self._climb(call)
        elif names.is_builtin(function, "abs"):
            self.uses.steps = True
            self._climb(call)
        elif names.is_builtin(function, "float"):
            raise RefusedError(_CLAIM, "float(...) wants a number", call.lineno, "leave the float(...) out")
        else:
            raise self._refused(node, call)

    def _named(self, name: str, statement: ast.stmt) -> None:
        if name not in self.uses.names:
            self.uses.names.add(name)
            for load in self._loads(name, statement):
                self._climb(load)

    def _loads(self, name: str, statement: ast.stmt) -> list[ast.Name]:
        """Every reading of a name that the statement alone sets, all of them in this function."""
        names, scope = self.context.names, self.context.function.node
        owner, bindings = names.lookup(name, statement)
        if owner is not scope or len(bindings) != 1 or self._reads_scopes():
            raise RefusedError(
                "every value of the name is known", f"{name} is also set elsewhere", statement.lineno, OUTSIDE
            )
        found = [load for load in names.loads.get(name, []) if names.lookup(name, load)[0] is owner]
        for load in found:
            if names.scope_of(load) is not owner:
                raise RefusedError(_CLAIM, f"an inner function reads {name}", load.lineno, OUTSIDE)
        return found

    def _reads_scopes(self) -> bool:
        return not {"locals", "vars", "eval", "exec"}.isdisjoint(names_in([self.context.function.node]))

    def _index(self, node: ast.expr, subscript: ast.Subscript, base: ast.expr) -> None:
        """`x[s]` takes a view; the same element by a tensor of one index is a copy."""
        found = self.flow.evaluate(base, self._state(node))[0]
        if not found.tensor_like:
            raise self._refused(node, subscript)
        if not isinstance(subscript.ctx, ast.Load):
            text = self.source.segment(node)
            advice = f"write to {self.source.segment(base)}[{text}.reshape(1)] with {text} kept a tensor"
            raise RefusedError("nothing is written through the index", f"{text} says what is set", node.lineno, advice)
        others = subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else []
        if any(other is not node and not isinstance(other, ast.Slice) for other in others):
            reason = f"{self.source.segment(subscript)} has more than one index"
            raise RefusedError("one index is a tensor", reason, node.lineno, "index one dimension after the other")
        self.uses.indexed.append(subscript)
        self.uses.meetings.append(Meeting(node, base, found, ast.Subscript, True, node.lineno))

    def _meet(self, top: ast.expr, tensor: ast.expr, value: Value, operator: type[ast.AST], right: bool) -> None:
        if operator is ast.Div and not right:
            raise RefusedError(
                "a tensor divides as a number does",
                f"a number divided by {self.source.segment(tensor)} is computed by its reciprocal",
                top.lineno,
                f"write {self.source.segment(tensor)}.reciprocal() * the number, which is what PyTorch computes",
            )
        self.uses.meetings.append(Meeting(top, tensor, value, operator, right, top.lineno))

    def _refused(self, node: ast.expr, parent: ast.AST) -> Exception:
        chain = [node, *until_statement(self.source.ancestors(node))]
        for inner, outer in pairwise(chain):
            if isinstance(outer, ast.JoinedStr | ast.Assert | ast.Raise):
                return ForeignError()
            if isinstance(outer, ast.If | ast.While | ast.IfExp) and inner is outer.test:
                return ForeignError()
            if isinstance(outer, ast.Expr) and isinstance(outer.value, ast.Call) and says(outer.value):
                return ForeignError()
            if isinstance(outer, ast.Call) and (self.context.names.qualified(outer.func) or "") in _CHECKS:
                return ForeignError()
        text = " ".join(self.source.segment(node).split())
        reason, advice = sink(text, parent)
        if any(isinstance(outer, ast.For | ast.While) for outer in self.source.ancestors(node)):
            advice += ". In a loop, read all elements before it with one tolist(): one break in place of many"
        return RefusedError(_CLAIM, reason, node.lineno, advice)
