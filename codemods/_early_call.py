"""Whether a call that asks the world outside can be made at the start of its function, and in which form."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gbfix.analysis.flow import Flow
from gbfix.analysis.literals import shorten
from gbfix.analysis.names import Names
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.tree import stored_names
from gbfix.analysis.values import Kind
from gbfix.codemods._host_calls import HostCall, Reads, host_call, made_by
from gbfix.codemods._host_sites import HostSite
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.dataclass import dataclass

ADVICE = "call it before the compiled function and pass the result in"
_STAYING = frozenset({"os.putenv", "os.unsetenv", "torch.set_num_threads"})
"""Those that change something, and those that say what happened until then."""
_MOMENTARY = ("torch.cuda.", "resource.")
_WRITES_ARGUMENT = frozenset({"random.shuffle", "random.Random.shuffle"})
_BUILTINS = ("int", "float", "str", "len", "abs", "round", "bool")
_NUMBERS = frozenset(
    {f"time.{name}" for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time")}
    | {f"time.{name}_ns" for name in ("time", "perf_counter", "monotonic", "process_time", "thread_time")}
    | {f"os.{name}" for name in ("getpid", "getppid", "cpu_count")}
    | {"threading.get_ident", "threading.get_native_id", "torch.get_num_threads"}
)
_NUMBER_DRAWS = [
    "random",
    "gauss",
    "normalvariate",
    "lognormvariate",
    "betavariate",
    "expovariate",
    "gammavariate",
    "paretovariate",
    "triangular",
    "vonmisesvariate",
    "weibullvariate",
    "getrandbits",
]


@dataclass(frozen=True)
class EarlyCall:
    """A call that can be made at the start.

    node: the expression that is evaluated there. edited: what it replaces, the whole statement for an assignment to
    `name`. splits: something is computed before it. unknown: a reason why what is read may change before it, or "".
    """

    call: HostCall
    node: ast.expr
    statement: ast.stmt
    name: str
    is_assignment: bool
    splits: bool
    unknown: str = ""

    @property
    def edited(self) -> ast.AST:
        """The node whose place the name takes, or the statement that is gone."""
        return self.statement if self.is_assignment else self.node

    @property
    def reads(self) -> Reads:
        """What it reads."""
        return self.call.reads


def early_call(site: HostSite, flow: Flow, body: Sequence[ast.stmt], early: Sequence[EarlyCall]) -> EarlyCall:
    """The call of a site as it can be made at the start of its function. Raises RefusedError."""
    statement = _own_statement(site, body)
    names, source = site.view.names, site.view.source
    call = site.call
    if call.name in _STAYING or call.name.startswith(_MOMENTARY) or call.name in _WRITES_ARGUMENT:
        raise RefusedError(
            "it only reads", f"{site.text} is about this moment, or changes something", _line(site), ADVICE
        )
    node: ast.expr = call.node
    _check_arguments(site, flow, body)
    while (parent := source.parents[node]) is not statement and _asks_only(names, parent, node):
        assert isinstance(parent, ast.expr)
        node = parent
    _check_runs_once(site, node, statement)
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part.id in stored_names(body):
            text = f"{part.id} is set in the function"
            raise RefusedError("its arguments are there at the start", text, _line(site), ADVICE)
    if any(node is one.node for one in early):
        return next(one for one in early if one.node is node)
    target = _target(statement, node)
    is_assignment = target is not None and _only_binding(flow, statement, target)
    before = body[: body.index(statement)]
    computed = [s for s in before if not any(s is one.statement and one.is_assignment for one in early)]
    inside = None if is_assignment else _computed_inside(names, flow, statement, node, early)
    return EarlyCall(
        call,
        node,
        statement,
        target if is_assignment and target else _wanted_name(call),
        is_assignment,
        bool(computed) or inside is not None,
        ""
        if inside is None or _is_known(names, flow, statement, inside)
        else f"{shorten(ast.unparse(inside))} runs before",
    )


def is_plain_number(call: EarlyCall) -> bool:
    """True for a value that a graph takes as a number: a text or list would be compiled anew at every call."""
    node, name = call.node, call.call.name
    if node is not call.call.node:
        is_field = isinstance(node, ast.Attribute) and node.attr in ("year", "month", "day", "hour", "minute", "second")
        return is_field and name.startswith("datetime.")
    prefix, _, last = name.rpartition(".")
    if last == "choice" and prefix in ("random", "random.Random") and call.call.node.args:
        options = call.call.node.args[0]
        parts = options.elts if isinstance(options, ast.List | ast.Tuple) else []
        return bool(parts) and all(isinstance(p, ast.Constant) and type(p.value) in (int, float) for p in parts)
    return name in _NUMBERS or (prefix in ("random", "random.Random") and last in _NUMBER_DRAWS)


def draws_before(
    names: Names, body: Sequence[ast.stmt], call: EarlyCall, early: Sequence[EarlyCall]
) -> RefusedError | None:
    """Why a draw cannot come first: another one that stays comes before it."""
    moved = {part for one in early for part in ast.walk(one.node)}
    for statement in body[: body.index(call.statement) + 1]:
        for part in ast.walk(statement):
            if not isinstance(part, ast.Call) or part in moved or part is call.call.node:
                continue
            if (part.lineno, part.col_offset) > (call.node.lineno, call.node.col_offset):
                continue
            drawing = (names.qualified(part.func) or "").startswith("random.")
            owner = part.func.value if isinstance(part.func, ast.Attribute) else part.func
            if drawing or made_by(names, owner) == "random.Random":
                text = f"{shorten(ast.unparse(part))} comes before it, and stays"
                return RefusedError("the numbers are drawn in the same order", text, call.node.lineno, ADVICE)
    return None


def _line(site: HostSite) -> int:
    return site.call.node.lineno


def _own_statement(site: HostSite, body: Sequence[ast.stmt]) -> ast.stmt:
    if site.statement in body and not isinstance(site.statement, ast.While | FunctionNode | ast.ClassDef):
        return site.statement
    around = site.view.source.parents[site.statement] if site.statement not in body else site.statement
    name = "lambda" if not body else type(around).__name__.lower()
    raise RefusedError("it runs once in each call", f"it stands inside a `{name}`", _line(site), ADVICE)


def _check_runs_once(site: HostSite, node: ast.expr, statement: ast.stmt) -> None:
    child: ast.AST = node
    for parent in site.view.source.ancestors(node):
        conditional = (
            (isinstance(parent, ast.IfExp) and child is not parent.test)
            or (isinstance(parent, ast.BoolOp) and child is not parent.values[0])
            or (isinstance(parent, ast.Compare) and child in parent.comparators[1:])
            or isinstance(parent, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)
        )
        if conditional:
            text = f"it stands in a part of {shorten(ast.unparse(parent))} that may not run, or more than once"
            raise RefusedError("it runs once in each call", text, _line(site), ADVICE)
        if parent is statement:
            return
        child = parent


def _check_arguments(site: HostSite, flow: Flow, body: Sequence[ast.stmt]) -> None:
    """What the call is given must be there at the start, and nothing may have changed it since."""
    call = site.call.node
    for part in [p for a in [*call.args, *(k.value for k in call.keywords)] for p in ast.walk(a)]:
        if isinstance(part, ast.Call):
            if not any(site.view.names.is_builtin(part.func, name) for name in _BUILTINS):
                text = f"{shorten(ast.unparse(part))} is called for it"
                raise RefusedError("its arguments are there at the start", text, _line(site), ADVICE)
        elif isinstance(part, ast.Attribute | ast.Subscript):
            text = f"{shorten(ast.unparse(part))} may change before it"
            raise RefusedError("its arguments are there at the start", text, _line(site), ADVICE)
        elif isinstance(part, ast.Name) and not _is_library(site.view.names, part):
            if part.id in stored_names(body):
                raise RefusedError(
                    "its arguments are there at the start", f"{part.id} is set in between", _line(site), ADVICE
                )
            state = flow.before.get(site.statement)
            held = flow.evaluate(part, state)[0] if state is not None else None
            if held is None or held.kind is not Kind.NUMBER:
                text = f"{part.id} may be a tensor, or change before it"
                raise RefusedError("its arguments are there at the start", text, _line(site), ADVICE)


def _is_library(names: Names, node: ast.Name) -> bool:
    return names.qualified(node) is not None or any(names.is_builtin(node, name) for name in _BUILTINS)


def _asks_only(names: Names, parent: ast.AST, child: ast.expr) -> bool:
    """True when the expression around a call belongs to the question: a field or method of the answer, `int(...)`."""
    match parent:
        case ast.Attribute(value=value):
            return value is child
        case ast.Call(func=func, args=[], keywords=[]):
            return func is child
        case ast.Call(func=ast.Name() as func, args=[argument], keywords=[]):
            return argument is child and any(names.is_builtin(func, name) for name in _BUILTINS)
        case ast.BinOp(left=left, right=right):
            other = right if left is child else left
            return isinstance(other, ast.Constant)
        case _:
            return False


def _target(statement: ast.stmt, node: ast.expr) -> str | None:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is node:
            return name
        case _:
            return None


def _only_binding(flow: Flow, statement: ast.stmt, name: str) -> bool:
    """True when nothing else in the function gives the name a value, so that nothing reads an older one."""
    context = flow.context
    bindings = context.names.local_bindings(context.function.node).get(name, [])
    return context.is_local(name) and [b.statement for b in bindings] == [statement]


def _computed_inside(
    names: Names, flow: Flow, statement: ast.stmt, node: ast.expr, early: Sequence[EarlyCall]
) -> ast.expr | None:
    """Something that the statement computes before it comes to the call."""
    del flow
    moved = {part for one in early for part in ast.walk(one.node)}
    start = (node.lineno, node.col_offset)
    for part in ast.walk(statement):
        if isinstance(part, ast.Call | ast.BinOp | ast.Compare | ast.Subscript) and part not in moved:
            end = (part.end_lineno or 0, part.end_col_offset or 0)
            known_call = isinstance(part, ast.Call) and host_call(names, part) is not None
            if end <= start and not known_call:
                return part
    return None


def _is_known(names: Names, flow: Flow, statement: ast.stmt, node: ast.expr) -> bool:
    """True for operators on tensors and functions of torch, which change nothing outside."""
    state = flow.before.get(statement)
    if state is None or (
        isinstance(node, ast.Call) and not (names.qualified(node.func) or "torch.").startswith("torch.")
    ):
        return False
    return not flow.evaluate(node, state)[1].effects.impure


def _wanted_name(call: HostCall) -> str:
    if call.reads is Reads.DRAW:
        return "drawn"
    if call.reads is Reads.CLOCK:
        return "now"
    return call.name.rpartition(".")[2].removeprefix("get") or "found"
