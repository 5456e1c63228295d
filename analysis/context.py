"""Where an evaluation stands: the function, its file, and the names around it."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property

from gbfix.analysis import values as v
from gbfix.analysis.evaluate import Evaluation
from gbfix.analysis.members import class_members
from gbfix.analysis.names import Binding, Names
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function, SourceFile
from gbfix.analysis.tree import stored_names
from gbfix.analysis.values import Kind, Value
from gbfix.engine.dataclass import dataclass

_INLINE_DEPTH = 4


@dataclass(eq=False)
class Context:
    """Where an evaluation stands: the function, its file, and what surrounds them."""

    view: FileView
    function: Function
    salt: Hashable = ()
    depth: int = 0

    @property
    def source(self) -> SourceFile:
        """The file."""
        return self.view.source

    @property
    def names(self) -> Names:
        """The scopes of the file."""
        return self.view.names

    @cached_property
    def local_names(self) -> frozenset[str]:
        """The names that the function itself binds, parameters included."""
        scope = self.function.node
        return frozenset(self.names.local_bindings(scope)) - frozenset(self.names.declared_outer(scope))

    def is_local(self, name: str) -> bool:
        """True when the function binds the name itself."""
        return name in self.local_names

    @cached_property
    def _is_static(self) -> bool:
        decorators = getattr(self.function.node, "decorator_list", [])
        return any(isinstance(node, ast.Name) and node.id == "staticmethod" for node in decorators)

    def is_self(self, node: ast.expr) -> bool:
        """True for the receiver parameter of a method."""
        return (
            self.function.owner is not None
            and not self._is_static
            and isinstance(node, ast.Name)
            and bool(self.function.parameters)
            and node.id == self.function.parameters[0].arg
        )

    def member(self, node: ast.Attribute) -> Value | None:
        """What `self.name` holds when `__init__` is the only place of the class that sets it."""
        if not self.is_self(node.value) or self.function.owner is None:
            return None
        return class_members(self.view, self.function.owner).get(node.attr)

    def generation(self, node: ast.expr) -> Hashable:
        """A token that two readings of the same text share when they certainly read the same values.

        Two places of one `if` tree share it, since its arms exclude each other and what writes is refused, unless the
        tree itself sets a name or an attribute that the text reads.
        """
        own: ast.AST | None = None
        current: ast.AST = node
        for parent in self.source.ancestors(node):
            if isinstance(current, ast.stmt):
                own = own or current
                if not isinstance(parent, ast.If):
                    break
            current = parent
        read = {
            n.id if isinstance(n, ast.Name) else n.attr
            for n in ast.walk(node)
            if isinstance(n, ast.Name | ast.Attribute)
        }
        if own is not None and isinstance(current, ast.If) and read & self._stored_in(current):
            current = own
        return (getattr(current, "lineno", 0), getattr(current, "col_offset", 0), self.salt)

    def _stored_in(self, tree: ast.If) -> frozenset[str]:
        """The names and the attributes that a branch sets."""
        if tree not in self._stores:
            attributes = {
                n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)
            }
            self._stores[tree] = stored_names([tree]) | attributes
        return self._stores[tree]

    @cached_property
    def _stores(self) -> dict[ast.If, frozenset[str]]:
        return {}

    def sets_in_init(self, attribute: str) -> bool:
        """True when the `__init__` of the class sets an attribute of self, under no condition."""
        owner = self.function.owner
        inits = [f.node for f in self.source.functions if f.owner is owner and f.name == "__init__"] if owner else []
        return any(
            isinstance(target, ast.Attribute) and target.attr == attribute
            for init in inits
            if not isinstance(init, ast.Lambda)
            for statement in init.body
            if isinstance(statement, ast.Assign)
            for target in statement.targets
        )

    def defines(self, attribute: str) -> bool:
        """True when a class of the file has a method or property of this name, or reads attributes by a method."""
        methods = {f.name for f in self.source.functions if f.owner is not None}
        return attribute in methods or "__getattr__" in methods or "__getattribute__" in methods

    def outer_name(self, node: ast.Name) -> Value:
        """The facts about a global, builtin or closure name."""
        bindings = self.names.bindings(node.id, node)
        if not bindings:
            return v.OTHER
        if all(
            isinstance(b.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) or b.qualified for b in bindings
        ):
            return Value(Kind.OTHER, class_name=self.names.qualified(node))
        if len(bindings) == 1:
            known = self._single_outer(bindings[0], node)
            if known is not None:
                return known
        token = v.term("closure", node.id, self.generation(node))
        return v.opaque_tensor(token, None, kind=Kind.MAYBE)

    def _single_outer(self, binding: Binding, node: ast.Name) -> Value | None:
        if isinstance(binding.node, ast.arg):
            return None
        statement = binding.statement
        at_module = self.source.parents.get(statement) is self.source.tree
        if (
            at_module
            and isinstance(statement, ast.Assign)
            and len(statement.targets) == 1
            and self.depth < _INLINE_DEPTH
        ):
            inner = Context(self.view, self.function, ("module", statement.lineno), self.depth + 1)
            found = Evaluation(inner, {}).value(statement.value)
            # Its elements, and whether it requires a gradient, may have been changed since.
            return replace(found, fresh=False, sources=frozenset({node.id}))
        return None

    def inline(self, evaluation: Evaluation, call: ast.Call) -> Value | None:
        """The result of calling a plain function of this file, by evaluating its body; None for other functions."""
        binding = self.names.single_definition(call.func)
        if binding is None or not isinstance(binding.node, ast.FunctionDef) or self.depth >= _INLINE_DEPTH:
            return None
        callee = self.source.function_of_node[binding.node]
        arguments = _bind_arguments(binding.node, call)
        if arguments is None or binding.node.decorator_list or callee is self.function or self._captures(callee):
            return None
        inner = Context(self.view, callee, (*_as_tuple(self.salt), call.lineno, call.col_offset), self.depth + 1)
        environment = {name: replace(evaluation.value(node), fresh=False) for name, node in arguments.items()}
        return _run_straight(inner, binding.node.body, environment, evaluation)

    def _captures(self, callee: Function) -> bool:
        """True when the callee is defined inside a function, where its closure may change."""
        return self.source.enclosing_function(callee.node) is not None


class _ModuleContext(Context):
    """The top level of a file, where no name is local."""

    local_names = frozenset[str]()


def module_context(view: FileView) -> Context:
    """Where the top level of a file is evaluated."""
    nothing = ast.parse("lambda: None", mode="eval").body
    assert isinstance(nothing, ast.Lambda)
    return _ModuleContext(view, Function("<module>", nothing, None))


def _as_tuple(salt: Hashable) -> tuple[Hashable, ...]:
    return salt if isinstance(salt, tuple) else (salt,)


def _bind_arguments(callee: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr] | None:
    arguments = callee.args
    if (
        arguments.vararg
        or arguments.kwarg
        or arguments.posonlyargs
        or any(isinstance(a, ast.Starred) for a in call.args)
    ):
        return None
    names = [a.arg for a in [*arguments.args, *arguments.kwonlyargs]]
    if len(call.args) > len(arguments.args) or any(k.arg not in names for k in call.keywords):
        return None
    bound = dict(zip((a.arg for a in arguments.args), call.args, strict=False))
    bound.update({k.arg: k.value for k in call.keywords if k.arg is not None})
    return bound if set(bound) == set(names) else None


def _run_straight(
    inner: Context, body: Sequence[ast.stmt], environment: dict[str, Value], outer: Evaluation
) -> Value | None:
    """Evaluate assignments and one final return; anything else is not plain."""
    effects = []
    for statement in body:
        evaluation = Evaluation(inner, environment, outer.gradients_off)
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                continue
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                environment = {**environment, name: evaluation.value(value)}
                effects.append(evaluation.effects)
            case ast.Return(value=ast.expr() as value):
                result = evaluation.value(value)
                for collected in [*effects, evaluation.effects]:
                    outer.effects.add(collected)
                return replace(result, fresh=False)
            case _:
                return None
    return None
