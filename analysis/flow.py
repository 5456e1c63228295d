"""What every name holds before each statement of a function.

An abstract execution of the body: branches are joined, loops run until their facts stop changing.
A name that may be unbound, or that an inner function writes, is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from gbfix.analysis import values as v
from gbfix.analysis.effects import Write
from gbfix.analysis.evaluate import Evaluation
from gbfix.analysis.names import Binding, Names
from gbfix.analysis.operators import EVIDENCE_METHODS
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function, FunctionNode, SourceFile
from gbfix.analysis.values import Assumption, Kind, Value

_LOOP_ROUNDS = 6
_INLINE_DEPTH = 4


@dataclass(frozen=True)
class State:
    """The facts at one program point.

    values: what names hold. established: the keys of requirements that have been met. gradients_off: no operation
    records a gradient here, whoever called.
    """

    values: Mapping[str, Value]
    established: frozenset[Hashable] = frozenset()
    gradients_off: bool = False

    def bind(self, name: str, value: Value) -> State:
        """The state after an assignment."""
        return replace(self, values={**self.values, name: value})

    def without(self, names: Iterable[str]) -> State:
        """The state in which some names are not known."""
        gone = set(names)
        return replace(self, values={name: value for name, value in self.values.items() if name not in gone})


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

    def is_self(self, node: ast.expr) -> bool:
        """True for the receiver parameter of a method."""
        return (
            self.function.owner is not None
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
            self._stores[tree] = _stored_names([tree]) | attributes
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


def parameter_value(context: Context, argument: ast.arg) -> Value:
    """What the annotation of a parameter says; without one it may be a tensor, and nothing shows it."""
    token = v.term("parameter", argument.arg, context.salt)
    kind, assumed = _annotation_kind(context, argument.annotation, argument.arg)
    if kind is Kind.TENSOR and _defaults_to_none(context.function.node.args, argument):
        assumed |= {Assumption(f"{argument.arg} is not None", argument.lineno)}
    if kind in (Kind.TENSOR, Kind.MAYBE):
        return v.opaque_tensor(token, argument.arg, kind=kind).assuming(assumed)
    return Value(kind, number=_number_annotation(argument.annotation) if kind is Kind.NUMBER else None)


def _defaults_to_none(arguments: ast.arguments, argument: ast.arg) -> bool:
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(positional), reversed(arguments.defaults), strict=False)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    return any(a is argument and isinstance(d, ast.Constant) and d.value is None for a, d in pairs)


def _annotation_kind(context: Context, annotation: ast.expr | None, name: str) -> tuple[Kind, frozenset[Assumption]]:
    nothing = frozenset[Assumption]()
    if annotation is None:
        return Kind.MAYBE, nothing
    node = _parse_string(annotation)
    options = _union_members(node)
    kinds = {_simple_annotation(context, option) for option in options}
    if kinds == {Kind.TENSOR}:
        return Kind.TENSOR, nothing
    if kinds == {Kind.TENSOR, None}:
        return Kind.TENSOR, frozenset({Assumption(f"{name} is not None", annotation.lineno)})
    if kinds == {Kind.NUMBER}:
        return Kind.NUMBER, nothing
    if kinds <= {Kind.OTHER, None}:
        return Kind.OTHER, nothing
    return Kind.MAYBE, nothing


def _parse_string(annotation: ast.expr) -> ast.expr:
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value, mode="eval").body
        except SyntaxError:
            return annotation
    return annotation


def _union_members(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return [*_union_members(left), *_union_members(right)]
        case ast.Subscript(value=ast.Name(id="Optional") | ast.Attribute(attr="Optional"), slice=inner):
            return [*_union_members(inner), ast.Constant(None)]
        case ast.Subscript(value=ast.Name(id="Union") | ast.Attribute(attr="Union"), slice=ast.Tuple(elts=parts)):
            return [member for part in parts for member in _union_members(part)]
        case _:
            return [node]


_TENSOR_ANNOTATIONS = frozenset(
    {
        "Tensor",
        "FloatTensor",
        "LongTensor",
        "HalfTensor",
        "DoubleTensor",
        "BoolTensor",
        "IntTensor",
        "ByteTensor",
        "BFloat16Tensor",
    }
)


def _simple_annotation(context: Context, node: ast.expr) -> Kind | None:
    """The kind that an annotation without unions names; None stands for the annotation None."""
    if isinstance(node, ast.Constant) and node.value is None:
        return None
    dotted = _qualified_annotation(context, node)
    if dotted.startswith("torch.") and dotted.rpartition(".")[2] in _TENSOR_ANNOTATIONS:
        return Kind.TENSOR
    if dotted.startswith("numpy."):
        return Kind.OTHER
    if dotted in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        return Kind.TENSOR
    if isinstance(node, ast.Name) and node.id in ("int", "float", "bool"):
        return Kind.NUMBER
    if isinstance(node, ast.Name) and node.id in ("str", "bytes", "list", "dict", "tuple", "set"):
        return Kind.OTHER
    if isinstance(node, ast.Subscript) and not dotted.startswith("typing.Annotated"):
        return Kind.OTHER
    return Kind.MAYBE


def _qualified_annotation(context: Context, node: ast.expr) -> str:
    """The dotted name of an annotation. One parsed out of a string has no place: its first name is the module's."""
    if node in context.source.parents:
        return context.names.qualified(node) or ""
    dotted = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    first, _, rest = dotted.partition(".")
    bindings = context.names.local_bindings(context.source.tree).get(first, [])
    qualified = {b.qualified for b in bindings}
    base = qualified.pop() if len(qualified) == 1 else None
    return "" if base is None else f"{base}.{rest}".rstrip(".")


def _number_annotation(annotation: ast.expr | None) -> str | None:
    node = _parse_string(annotation) if annotation is not None else None
    name = node.id if isinstance(node, ast.Name) else None
    return name if name in (None, "bool") else f"{name} at most"


def class_members(view: FileView, owner: ast.ClassDef) -> dict[str, Value]:
    """The attributes that only `__init__` sets, each once and not under a condition, with what they hold."""
    cache = view.class_members
    if owner not in cache:
        cache[owner] = _class_members(view, owner)
    return cache[owner]


def _class_members(view: FileView, owner: ast.ClassDef) -> dict[str, Value]:
    stores: dict[str, int] = {}
    for part in (owner, *_subclasses(view, owner)):
        for node in ast.walk(part):
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
                stores[node.attr] = stores.get(node.attr, 0) + 1
    found: dict[str, Value] = {}
    for function in view.source.functions:
        if function.owner is not owner or function.name != "__init__" or isinstance(function.node, ast.Lambda):
            continue
        context = Context(view, function, ("init", owner.lineno))
        for statement in function.node.body:
            match statement:
                case ast.Assign(targets=[ast.Attribute(attr=name) as target], value=value) if context.is_self(
                    target.value
                ):
                    if stores.get(name) == 1:
                        found[name] = _member_value(context, name, value)
                case ast.Expr(
                    value=ast.Call(
                        func=ast.Attribute(attr="register_buffer") as func,
                        args=[ast.Constant(value=str(name)), held, *_],
                    )
                ):
                    empty = isinstance(held, ast.Constant)
                    if context.is_self(func.value) and name not in stores and not empty:
                        found[name] = v.opaque_tensor(v.term("self", name), None, kind=Kind.TENSOR)
    return found


def _subclasses(view: FileView, owner: ast.ClassDef) -> list[ast.ClassDef]:
    """The classes of the file that derive from a class, directly or not."""
    classes = [node for node in ast.walk(view.source.tree) if isinstance(node, ast.ClassDef)]
    names = {owner.name}
    found: list[ast.ClassDef] = []
    growing = True
    while growing:
        more = [
            c for c in classes if c not in found and any(isinstance(b, ast.Name) and b.id in names for b in c.bases)
        ]
        found += more
        names |= {c.name for c in more}
        growing = bool(more)
    return found


def _keeps_its_input(call: ast.Call) -> bool:
    """True when a module is made without an option that makes it write: `inplace=True`, `max_norm=`."""
    if any(keyword.arg in (None, "inplace", "max_norm") for keyword in call.keywords):
        return False
    return not any(isinstance(a, ast.Starred) or (isinstance(a, ast.Constant) and a.value is True) for a in call.args)


def _member_value(context: Context, name: str, value: ast.expr) -> Value:
    token = v.term("self", name)
    if isinstance(value, ast.Call):
        qualified = context.names.qualified(value.func) or ""
        if qualified in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
            return v.opaque_tensor(token, f"self.{name}", kind=Kind.TENSOR)
        if qualified.startswith("torch.nn."):
            return Value(Kind.MODULE, class_name=qualified if _keeps_its_input(value) else None)
        return v.opaque_tensor(token, None, kind=Kind.MAYBE)
    # A number set here may have been replaced by a tensor from outside.
    return v.opaque_tensor(token, None, kind=Kind.MAYBE)


class Flow:
    """The states of one function: `before[statement]` is what holds when the statement starts."""

    def __init__(self, view: FileView, function: Function) -> None:
        self.context = Context(view, function)
        self.before: dict[ast.stmt, State] = {}
        self._untracked = self._written_by_inner_functions()
        # A plain call of it changes the mode inside a `with torch.no_grad()` as well.
        self._switches_gradients = any(
            "set_grad_enabled" in (node.id if isinstance(node, ast.Name) else node.attr)
            for node in ast.walk(function.node)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        self._captured = self._read_by_inner_functions()
        self.entry = State(self._parameters(), gradients_off=self._off_by_decorator())
        node = function.node
        if not isinstance(node, ast.Lambda):
            self._block(node.body, self.entry)

    def evaluate(self, node: ast.expr, state: State) -> tuple[Value, Evaluation]:
        """The facts about an expression where `state` holds."""
        evaluation = Evaluation(self.context, state.values, state.gradients_off)
        return evaluation.value(node), evaluation

    def _off_by_decorator(self) -> bool:
        """True when the decorator nearest to the function that can change the mode turns gradients off."""
        for decorator in reversed(getattr(self.context.function.node, "decorator_list", [])):
            if isinstance(decorator, ast.Name) and decorator.id in ("staticmethod", "classmethod"):
                continue
            mode = gradient_mode(self.context.names, decorator)
            if mode is not None:
                return mode == "off" and not self._switches_gradients
        return False

    # -- setting out -----------------------------------------------------------------------

    def _parameters(self) -> dict[str, Value]:
        evidence = self._evidence
        found: dict[str, Value] = {}
        arguments = self.context.function.node.args
        for argument in self.context.function.parameters:
            name = argument.arg
            if argument in (arguments.vararg, arguments.kwarg):
                found[name] = v.OTHER
            elif self.context.is_self(ast.Name(name)):
                found[name] = Value(Kind.OTHER, class_name="self")
            else:
                value = parameter_value(self.context, argument)
                if value.kind is Kind.MAYBE and name in evidence:
                    value = replace(value.assuming([evidence[name]]), kind=Kind.TENSOR)
                found[name] = value
        return {name: value for name, value in found.items() if name not in self._untracked}

    @cached_property
    def _evidence(self) -> dict[str, Assumption]:
        """Names that the body uses as a tensor, by a method that tensors have or by a function of torch."""
        found: dict[str, Assumption] = {}
        for node in ast.walk(self.context.function.node):
            if not isinstance(node, ast.Call):
                continue
            func = node.func
            if (self.context.names.qualified(func) or "").startswith("torch."):
                suggested = _operand_names(node.args[0]) if node.args else []
            elif isinstance(func, ast.Attribute) and func.attr in EVIDENCE_METHODS:
                suggested = _operand_names(func.value)
            else:
                continue
            for name in suggested:
                found.setdefault(name, Assumption(f"{name} is a tensor", node.lineno))
        return found

    def _written_by_inner_functions(self) -> frozenset[str]:
        found: set[str] = set()
        for node in ast.walk(self.context.function.node):
            if isinstance(node, ast.Nonlocal):
                found.update(node.names)
        scope = self.context.function.node
        return frozenset(found) | frozenset(self.context.names.declared_outer(scope))

    def _read_by_inner_functions(self) -> frozenset[str]:
        inner = [
            n
            for n in ast.walk(self.context.function.node)
            if isinstance(n, FunctionNode) and n is not self.context.function.node
        ]
        return frozenset(n.id for function in inner for n in ast.walk(function) if isinstance(n, ast.Name))

    # -- execution -------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt], state: State | None) -> State | None:
        """Run statements; None stands for "not reached"."""
        for statement in body:
            if state is None:
                return None
            self.before[statement] = state
            state = self._statement(statement, state)
        return state

    def _statement(self, statement: ast.stmt, state: State) -> State | None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                state, found = self._run(value, state)
                for target in targets:
                    state = self._bind(target, value, found, state, aliased=len(targets) > 1)
                return state
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                state, found = self._run(value, state)
                return self._bind(target, value, found, state)
            case ast.AugAssign(target=target, value=value):
                return self._augmented(target, value, state)
            case ast.Expr(value=value):
                return self._run(value, state, kept=False)[0]
            case ast.Return(value=value):
                if value is not None:
                    self._run(value, state)
                return None
            case ast.Raise() | ast.Break() | ast.Continue():
                return None
            case ast.If():
                return self._if(statement, state)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(statement, state)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                around = state.gradients_off
                for item in items:
                    state = self._run(item.context_expr, state)[0]
                    mode = gradient_mode(self.context.names, item.context_expr)
                    state = replace(state, gradients_off=state.gradients_off if mode is None else mode == "off")
                    if self._switches_gradients:
                        state = replace(state, gradients_off=False)
                    if item.optional_vars is not None:
                        state = state.without(_stored_names([item.optional_vars]))
                end = self._block(body, state)
                end = replace(end, gradients_off=around) if end is not None else None
                state = replace(state, gradients_off=around)
                if all(self._propagates(item.context_expr) for item in items):
                    return end
                # An unknown context manager may swallow an exception from anywhere in its body.
                return _merge(end, state.without(_stored_names(body)), ("with", statement.lineno))
            case ast.Try():
                return self._try(statement, state)
            case ast.Match(subject=subject, cases=cases):
                state = self._run(subject, state)[0]
                return self._match(cases, state, statement)
            case ast.Assert(test=test):
                return self._run(test, state, kept=False)[0]
            case (
                ast.Delete()
                | ast.Import()
                | ast.ImportFrom()
                | ast.FunctionDef()
                | ast.AsyncFunctionDef()
                | ast.ClassDef()
            ):
                return state.without(_stored_names([statement]))
            case _:
                return state.without(_stored_names([statement]))

    def _propagates(self, manager: ast.expr) -> bool:
        """True for context managers of torch, which let exceptions through."""
        callee = manager.func if isinstance(manager, ast.Call) else manager
        return (self.context.names.qualified(callee) or "").startswith("torch.")

    def _run(self, value: ast.expr, state: State, *, kept: bool = True) -> tuple[State, Value]:
        """The state after evaluating an expression, and its value; one that is not kept is shared with nobody."""
        found, evaluation = self.evaluate(value, state)
        effects = evaluation.effects
        state = replace(state, established=state.established | effects.certain)
        state = self._after_writes(value, effects.writes, state)
        for name, bound, certainly in effects.bound:
            state = state.bind(name, replace(bound, fresh=False)) if certainly else state.without([name])
        state = state.without(_stored_names([value]) - {name for name, _, _ in effects.bound})
        new = found.fresh and not isinstance(value, ast.Name)
        private = new or found.kind is Kind.NUMBER or (found.class_name or "").startswith("tensor.")
        if effects.impure or (kept and not private):
            state = self._shared(value, state)
        if isinstance(value, ast.Name):
            found = replace(found, fresh=False)
        return state, found

    def _after_writes(self, value: ast.expr, writes: Sequence[Write], state: State) -> State:
        """What is left of the facts when a tensor has been written to, and with it all that may share its memory."""
        if not writes:
            return state
        touched = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
        place = v.term("written", value.lineno, value.col_offset)
        return self._written(touched, place, anything=Write.ANYTHING in writes, state=state)

    def _written(self, touched: set[str], place: v.Term, *, anything: bool, state: State) -> State:
        changed = {}
        for name, held in state.values.items():
            if not held.tensor_like or (held.fresh and name not in touched):
                continue
            after = replace(held, sources=held.sources | {place})
            if anything:
                other = v.opaque_tensor(v.term(place, name), None)
                after = replace(after, shape=other.shape, layout=other.layout, one=False)
            changed[name] = after
        return replace(state, values={**state.values, **changed})

    def _shared(self, value: ast.expr, state: State) -> State:
        """Tensors handed to something unknown, named twice, viewed or put in a container are not private any more."""
        touched = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
        changed = {
            name: replace(held, fresh=False) for name, held in state.values.items() if name in touched and held.fresh
        }
        return replace(state, values={**state.values, **changed})

    def _bind(self, target: ast.expr, node: ast.expr, found: Value, state: State, aliased: bool = False) -> State:
        match target:
            case ast.Name(id=name):
                if name in self._untracked:
                    return state
                if aliased or name in self._captured:
                    found = replace(found, fresh=False)
                if found.kind is Kind.MAYBE and name in self._evidence:
                    found = replace(found.assuming([self._evidence[name]]), kind=Kind.TENSOR)
                return state.bind(name, found)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = node.elts if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(targets) else None
                before = state
                for index, part in enumerate(targets):
                    if parts is not None and not isinstance(part, ast.Starred):
                        value = replace(self.evaluate(parts[index], before)[0], fresh=False)
                        state = self._bind(part, parts[index], value, state)
                    else:
                        state = self._unknown_target(part, state)
                return state
            case _:
                state = self._shared(node, state)
                if isinstance(target, ast.Attribute) and target.attr not in ("data", "grad", "requires_grad"):
                    return state
                touched = {n.id for n in ast.walk(target) if isinstance(n, ast.Name)}
                place = v.term("written", target.lineno, target.col_offset)
                anything = isinstance(target, ast.Attribute) and target.attr in ("data", "grad", "requires_grad")
                return self._written(touched, place, anything=anything, state=state)

    def _unknown_target(self, target: ast.expr, state: State) -> State:
        for name in _stored_names([target]):
            token = v.term("unpacked", name, target.lineno, target.col_offset)
            state = self._bind(ast.Name(name), target, v.opaque_tensor(token, None, kind=Kind.MAYBE), state)
        return state

    def _augmented(self, target: ast.expr, value: ast.expr, state: State) -> State:
        state, found = self._run(value, state)
        if not isinstance(target, ast.Name):
            return self._bind(target, value, found, state)
        if target.id in self._untracked or target.id not in state.values:
            return state
        held = state.values[target.id]
        if held.tensor_like:
            # In place: shape, dtype and device stay those of the target, and others may see the write.
            place = v.term("written", target.lineno, target.col_offset)
            state = self._written(set(), place, anything=False, state=state) if not held.fresh else state
            return state.bind(target.id, replace(held, sources=v.union_sources([held, found])))
        if held.kind is Kind.NUMBER and found.kind is Kind.NUMBER:
            return state.bind(target.id, v.number("float" if "float" in (held.number, found.number) else None))
        token = v.term("augmented", target.id, target.lineno)
        return state.bind(target.id, v.opaque_tensor(token, None, kind=Kind.MAYBE))

    def _if(self, statement: ast.If, state: State) -> State | None:
        state = self._run(statement.test, state, kept=False)[0]
        then = self._block(statement.body, self.refine(statement.test, state, True))
        otherwise = self._block(statement.orelse, self.refine(statement.test, state, False))
        return _merge(then, otherwise, ("if", statement.lineno, statement.col_offset))

    def refine(self, test: ast.expr, state: State, outcome: bool) -> State:
        """What a static test tells about a name: its dtype, that it is a tensor, that it is not None."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self.refine(inner, state, not outcome)
            case ast.BoolOp(op=ast.And(), values=parts) if outcome:
                for part in parts:
                    state = self.refine(part, state, True)
                return state
            case ast.BoolOp(op=ast.Or(), values=parts) if not outcome:
                for part in parts:
                    state = self.refine(part, state, False)
                return state
            case ast.Compare(
                left=ast.Attribute(value=ast.Name(id=name), attr="dtype"), ops=[ast.Eq()], comparators=[right]
            ) if outcome:
                qualified = self.context.names.qualified(right) or ""
                dtype = v.concrete_dtype(qualified.removeprefix("torch.")) if qualified.startswith("torch.") else None
                held = state.values.get(name)
                if dtype is not None and held is not None and held.tensor_like:
                    return state.bind(name, replace(held, dtype=dtype))
                return state
            case ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]) if (
                outcome
            ):
                return self._not_none(name, state)
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]) if (
                not outcome
            ):
                return self._not_none(name, state)
            case ast.Call(func=func, args=[ast.Name(id=name), *rest]) if outcome:
                tests_tensor = self.context.names.qualified(func) == "torch.is_tensor" or (
                    self.context.names.is_builtin(func, "isinstance")
                    and len(rest) == 1
                    and self.context.names.qualified(rest[0]) == "torch.Tensor"
                )
                held = state.values.get(name)
                if tests_tensor and held is not None and held.tensor_like:
                    return state.bind(name, replace(held, kind=Kind.TENSOR, assumed=frozenset()))
                return state
            case _:
                return state

    def _not_none(self, name: str, state: State) -> State:
        held = state.values.get(name)
        if held is None or not held.assumed:
            return state
        kept = frozenset(a for a in held.assumed if a.claim != f"{name} is not None")
        return state.bind(name, replace(held, assumed=kept))

    def _loop(self, statement: ast.For | ast.AsyncFor | ast.While, state: State) -> State | None:
        if not isinstance(statement, ast.While):
            state = self._run(statement.iter, state)[0]
        stored = _stored_names([statement])
        head = state
        for _ in range(_LOOP_ROUNDS):
            start = self._loop_start(statement, head)
            end = self._block(statement.body, start)
            merged = _merge(state, end, ("loop", statement.lineno, statement.col_offset)) or state
            # A `continue` or `break` leaves from the middle: what the body stores is only known through the merge.
            if _leaves_early(statement.body):
                merged = merged.without(stored)
            if merged == head:
                break
            head = merged
        else:
            head = State(state.without(stored).values)
            self._block(statement.body, self._loop_start(statement, head))
        leaving = self._loop_start(statement, head) if isinstance(statement, ast.While) else head
        after = self._block(statement.orelse, leaving)
        # A `break` passes by the else.
        return _merge(after, head, ("break", statement.lineno)) if _leaves_early(statement.body) else after

    def _loop_start(self, statement: ast.For | ast.AsyncFor | ast.While, head: State) -> State:
        """What holds when the body starts; `before` of a while is what its test sees in every round."""
        if isinstance(statement, ast.While):
            self.before[statement] = head
            return self._run(statement.test, head, kept=False)[0]
        return self._loop_target(statement, head)

    def _loop_target(self, statement: ast.For | ast.AsyncFor, state: State) -> State:
        iterated = self.evaluate(statement.iter, state)[0]
        counts = isinstance(statement.iter, ast.Call) and self.context.names.is_builtin(statement.iter.func, "range")
        if counts and isinstance(statement.target, ast.Name) and statement.target.id not in self._untracked:
            return state.bind(statement.target.id, v.number("int"))
        if iterated.kind is Kind.TENSOR and isinstance(statement.target, ast.Name):
            token = v.term("row", statement.lineno, statement.col_offset)
            return state.bind(statement.target.id, v.opaque_tensor(token, None).assuming(iterated.assumed))
        return self._unknown_target(statement.target, state)

    def _try(self, statement: ast.Try, state: State) -> State | None:
        stored = _stored_names(statement.body)
        body = self._block(statement.body, state)
        body = self._block(statement.orelse, body)
        ends = [body]
        for handler in statement.handlers:
            ends.append(self._block(handler.body, state.without(stored | _stored_names([handler]))))
        merged: State | None = None
        for end in ends:
            merged = _merge(merged, end, ("try", statement.lineno))
        if statement.finalbody:
            start = merged if merged is not None else state.without(stored)
            after = self._block(statement.finalbody, start.without(stored) if statement.handlers else start)
            return after if merged is not None else None
        return merged

    def _match(self, cases: Sequence[ast.match_case], state: State, statement: ast.stmt) -> State | None:
        ends: list[State | None] = [state]
        for case in cases:
            inner = state.without(_stored_names([case.pattern]))
            if case.guard is not None:
                inner = self._run(case.guard, inner)[0]
            ends.append(self._block(case.body, inner))
        merged: State | None = None
        for end in ends:
            merged = _merge(merged, end, ("match", statement.lineno))
        return merged


def _operand_names(node: ast.expr) -> list[str]:
    """The names that an arithmetic expression or comparison computes with."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.BinOp(left=left, right=right) | ast.Compare(left=left, comparators=[right]):
            return [*_operand_names(left), *_operand_names(right)]
        case ast.UnaryOp(operand=operand):
            return _operand_names(operand)
        case _:
            return []


def _merge(first: State | None, second: State | None, token: Hashable) -> State | None:
    if first is None or second is None:
        return first if second is None else second
    shared = first.values.keys() & second.values.keys()
    joined = {name: v.join(first.values[name], second.values[name], v.term(token, name)) for name in shared}
    return State(
        {name: joined[name] for name in first.values if name in shared},
        first.established & second.established,
        first.gradients_off and second.gradients_off,
    )


def gradient_mode(names: Names, manager: ast.expr) -> str | None:
    """What a context manager or decorator does to gradient recording: "off", "unknown", or None for nothing.

    One that is not known to leave the mode alone may do anything.
    """
    callee = manager.func if isinstance(manager, ast.Call) else manager
    arguments = isinstance(manager, ast.Call) and bool(manager.args or manager.keywords)
    qualified = names.qualified(callee) or ""
    if qualified in _GRADIENTS_OFF:
        return "unknown" if arguments else "off"
    if qualified.startswith(_KEEPS_GRADIENT_MODE):
        return None
    return "unknown"


_GRADIENTS_OFF = frozenset(
    {"torch.no_grad", "torch.autograd.no_grad", "torch.inference_mode", "torch.autograd.inference_mode"}
)
_KEEPS_GRADIENT_MODE = (
    "torch.compile",
    "torch.autocast",
    "torch.amp.",
    "torch.cuda.amp.autocast",
    "torch.profiler.",
    "torch.autograd.profiler.",
    "torch.nn.attention.",
    "contextlib.nullcontext",
    "functools.wraps",
    "typing.",
)


def _stored_names(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """Every name that the nodes may bind, in any scope."""
    found: set[str] = set()
    for top in nodes:
        for node in ast.walk(top):
            match node:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    found.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    found.add(name)
                case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                    found.update(alias.asname or alias.name.split(".")[0] for alias in aliases)
                case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    found.add(name)
                case ast.MatchMapping(rest=str(name)):
                    found.add(name)
                case _:
                    continue
    return frozenset(found)


def _leaves_early(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Break | ast.Continue) for statement in body for node in ast.walk(statement))
