"""What Python does by itself with numbers, texts and containers, and the tensors that it needs for that."""

from __future__ import annotations

import ast
from dataclasses import field

from gbfix.analysis.flow import Flow
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.values import Kind
from gbfix.codemods._messages import message_of
from gbfix.engine.dataclass import dataclass

_BUILTINS = frozenset(
    {"abs", "bool", "dict", "float", "format", "int", "isinstance", "len", "list", "max", "min", "print", "repr"}
    | {"round", "str", "sum", "tuple", "type"}
)
_METHODS = frozenset(
    {"add_scalar", "append", "extend", "format", "get", "hex", "insert", "isEnabledFor", "items", "join", "keys"}
    | {"set_description", "set_postfix", "setdefault", "update", "write"}
)
_ASK = frozenset({"isinstance", "len", "print", "repr", "str", "type"})
_MODULES = ("math.", "time.")
_READERS = frozenset({"item", "tolist"})
_SAME_VALUES = frozenset({"detach", "cpu"})
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass
class HostWork:
    """What one statement needs to be run by Python alone.

    computed: what tensors compute for it, to be evaluated before. reads: the tensors of which it reads numbers.
    python: the names and expressions that are taken for Python values without being known as that.
    """

    computed: list[ast.expr] = field(default_factory=list)
    reads: list[ast.expr] = field(default_factory=list)
    python: list[ast.expr] = field(default_factory=list)


class NotHostError(Exception):
    """The statement computes with tensors where that cannot be done before, or does what is not known."""


class HostReader:
    """Reads statements of one function."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._view = flow.context.view
        self._names = flow.context.names
        self._found = HostWork()
        self._state = flow.entry

    def read(self, statement: ast.stmt) -> HostWork:
        """What the statement needs. Raises NotHostError."""
        self._found = HostWork()
        self._statement(statement, sometimes=False)
        return self._found

    def _statement(self, statement: ast.stmt, *, sometimes: bool) -> None:
        state = self._flow.before.get(statement)
        if state is None:
            raise NotHostError
        self._state = state
        match statement:
            case ast.Pass() | ast.Return(value=None):
                return
            case ast.Return(value=ast.expr() as value) | ast.Expr(value=value):
                self._expression(value, sometimes)
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._target(target)
                self._expression(value, sometimes)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._target(target)
                self._expression(value, sometimes)
            case ast.AugAssign(target=target, value=value):
                self._target(target)
                self._python_value(target)
                self._python_value(value)
                self._expression(value, sometimes)
            case ast.If(test=test, body=body, orelse=orelse):
                self._no_tensor(test)
                self._expression(test, sometimes)
                for inner in [*body, *orelse]:
                    self._statement(inner, sometimes=True)
            case _:
                raise NotHostError

    def _target(self, target: ast.expr) -> None:
        match target:
            case ast.Name() | ast.Attribute(value=ast.Name()):
                return
            case ast.Tuple(elts=parts) if all(isinstance(part, ast.Name) for part in parts):
                return
            case _:
                raise NotHostError

    # -- expressions -------------------------------------------------------------------------

    def _expression(self, node: ast.expr, sometimes: bool) -> None:
        """`sometimes`: it is not evaluated each time, or stands where nothing can be put in its place."""
        match node:
            case ast.Constant() | ast.Name():
                return
            case ast.Tuple() | ast.List() | ast.Set() | ast.Dict() | ast.Starred() | ast.keyword():
                self._children(node, sometimes)
            case ast.JoinedStr() | ast.FormattedValue():
                self._children(node, True)
            case ast.Lambda() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                raise NotHostError
            case _ if isinstance(node, _COMPREHENSIONS):
                raise NotHostError
            case ast.Call():
                self._call(node, sometimes)
            case _ if self._is_tensor(node):
                self._compute(node, sometimes)
            case ast.Attribute(value=inner):
                self._expression(inner, sometimes)
            case ast.BoolOp(values=[first, *others]):
                self._no_tensor(first)
                self._expression(first, sometimes)
                for other in others:
                    self._no_tensor(other)
                    self._expression(other, True)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self._no_tensor(test)
                self._expression(test, sometimes)
                self._expression(body, True)
                self._expression(orelse, True)
            case ast.BinOp():
                self._python_value(node)
                self._children(node, sometimes)
            case ast.UnaryOp() | ast.Subscript() | ast.Compare():
                self._no_tensor(node)
                self._children(node, sometimes)
            case _:
                raise NotHostError

    def _children(self, node: ast.AST, sometimes: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                self._expression(child, sometimes)

    def _is_tensor(self, node: ast.expr) -> bool:
        value, evaluation = self._flow.evaluate(node, self._state)
        return value.kind is Kind.TENSOR and not evaluation.effects.reads

    def _compute(self, node: ast.expr, sometimes: bool) -> None:
        """Let tensors compute something before the statement."""
        inside = list(ast.walk(node))
        if sometimes or any(isinstance(part, FunctionNode | ast.NamedExpr) for part in inside):
            raise NotHostError
        if self._flow.evaluate(node, self._state)[1].effects.reads:
            raise NotHostError
        self._found.computed.append(node)

    def _no_tensor(self, node: ast.expr) -> None:
        """What is certainly computed with tensors belongs into the graph."""
        if self._flow.evaluate(node, self._state)[0].kind is Kind.TENSOR:
            raise NotHostError

    def _python_value(self, node: ast.expr) -> None:
        """Note that arithmetic is none that a graph could round in another way."""
        self._no_tensor(node)
        if self._flow.evaluate(node, self._state)[0].kind is Kind.MAYBE and not self._is_number(node):
            self._found.python.append(node)

    def _is_number(self, node: ast.expr) -> bool:
        """True for an attribute of `self` that the project only sets to constant numbers, and adds numbers to."""
        if isinstance(node, ast.BinOp):
            return self._is_number(node.left) and self._is_number(node.right)
        if self._flow.evaluate(node, self._state)[0].kind is Kind.NUMBER:
            return True
        if not isinstance(node, ast.Attribute) or not self._flow.context.is_self(node.value):
            return False
        stores = [
            source.parents[part]
            for _, source in self._view.project.files.naming(node.attr)
            for part in source.nodes
            if isinstance(part, ast.Attribute) and part.attr == node.attr and not isinstance(part.ctx, ast.Load)
        ]
        return bool(stores) and all(map(_sets_number, stores))

    def _call(self, node: ast.Call, sometimes: bool) -> None:
        func = node.func
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        if isinstance(func, ast.Attribute) and func.attr in _READERS | _SAME_VALUES and not arguments:
            if func.attr in _READERS:
                self._found.reads.append(func.value)
            self._receiver(func.value, sometimes)
            return
        reads = self._reading_builtin(node)
        if reads is not None:
            self._found.reads.append(reads)
            self._receiver(reads, sometimes)
            return
        if self._is_host_call(node):
            for argument in arguments:
                self._expression(argument, sometimes)
            return
        if not self._is_tensor(node):
            raise NotHostError
        self._compute(node, sometimes)

    def _receiver(self, node: ast.expr, sometimes: bool) -> None:
        """A tensor that is read, or handed on as it is: the whole of what computes it goes before."""
        match node:
            case ast.Name():
                return
            case ast.Attribute(value=ast.Name()) if not self._is_tensor(node.value):
                return
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[], keywords=[]) if name in _SAME_VALUES:
                self._receiver(inner, sometimes)
            case _:
                self._compute(node, sometimes)

    def _reading_builtin(self, node: ast.Call) -> ast.expr | None:
        """The tensor of `float(t)`, `int(t)` and `bool(t)`."""
        match node:
            case ast.Call(func=ast.Name(id="float" | "int" | "bool" as name) as func, args=[argument], keywords=[]):
                is_read = self._names.is_builtin(func, name) and self._is_tensor(argument)
                return argument if is_read else None
            case _:
                return None

    def _is_host_call(self, node: ast.Call) -> bool:
        func = node.func
        if message_of(self._view, node) is not None:
            return True
        if isinstance(func, ast.Name):
            plain = func.id in _BUILTINS and self._names.is_builtin(func, func.id)
            tensors = any(self._is_tensor(argument) for argument in node.args)
            return plain and (func.id in _ASK or not tensors)
        if (self._names.qualified(func) or "").startswith(_MODULES):
            return not any(self._is_tensor(argument) for argument in node.args)
        return isinstance(func, ast.Attribute) and func.attr in _METHODS  # no tensor has one of these


def _sets_number(statement: ast.AST) -> bool:
    match statement:
        case ast.Assign(value=ast.Constant(value=int() | float())):
            return True
        case ast.AugAssign(value=ast.Constant(value=int() | float())):
            return True
        case ast.AugAssign(value=ast.Call(func=ast.Attribute(attr="item"), args=[])):
            return True
        case _:
            return False
