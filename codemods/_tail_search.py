"""Finds the end of a compiled function that only Python can do, and that a plain function around it can do."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import field

from gbfix.analysis.flow import Flow, State, flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode, SourceFile
from gbfix.analysis.tree import names_in, stored_names
from gbfix.analysis.values import Category, Kind
from gbfix.codemods._between import BetweenReader
from gbfix.codemods._compile_sites import CompileSite, compile_site
from gbfix.codemods._host_statements import HostReader, HostWork, NotHostError
from gbfix.codemods._report_units import units_of
from gbfix.engine.dataclass import dataclass

_BUILTINS = frozenset({"super", "__class__", "locals", "vars", "dir", "eval", "exec", "globals"})
_ASKS_FOR_ITS_PLACE = frozenset(
    {"_getframe", "currentframe", "is_compiling", "is_dynamo_compiling", "is_torchdynamo_compiling", "stacklevel"}
)


@dataclass(frozen=True, eq=False)
class Tail:
    """The last statements of a compiled function, which need no graph, and what tensors compute for them before.

    late: statements before, each of which gives a name a number that only the tail reads. reads: the tensors of which
    numbers are read, in source order.
    """

    flow: Flow
    site: CompileSite
    head: tuple[ast.stmt, ...]
    statements: tuple[ast.stmt, ...]
    work: tuple[HostWork, ...]
    late: tuple[ast.Assign, ...] = ()
    reads: tuple[ast.expr, ...] = field(default=())

    @property
    def sites(self) -> list[ast.AST]:
        """What ends the graph: the calls that read numbers, and the statements that say something."""
        source = self.flow.context.source
        units = units_of(self.flow.context.view, self.flow.context.function)
        said = [unit.statement for unit in units if unit.statement in self.statements]
        inside = {part for statement in said for part in ast.walk(statement)}
        calls = [_call_of(source, read) for read in self.reads if read not in inside]
        return [*calls, *said]

    def holds(self, node: ast.AST) -> bool:
        """True for a node that stands in the tail, or in a statement that moves there."""
        mine = {*self.statements, *self.late}
        return any(parent in mine for parent in (node, *self.flow.context.source.ancestors(node)))


def tail_of(view: FileView, compiled: CompiledFunction) -> Tail | None:
    node = compiled.function.node
    if not isinstance(node, ast.FunctionDef) or compiled.fullgraph is True:
        return None
    flow = flow_of(view, compiled.function)
    site = compile_site(flow) if _can_be_split(flow, node) else None
    if site is None:
        return None
    body = list(node.body)
    if ast.get_docstring(node, clean=False) is not None:
        body.pop(0)
    statements, work = _host_statements(flow, body)
    head = body[: len(body) - len(statements)]
    late = _late(flow, head, statements, work)
    if any(isinstance(part, ast.Return) for statement in head for part in ast.walk(statement)):
        return None
    reads = [read for one in work for read in one.reads] + [read_by(statement) for statement in late]
    if not statements or not _leaves(flow, statements, work, late):
        return None
    reader = BetweenReader(flow, units_of(view, compiled.function))
    if not any(one.computed for one in work) and not reader.read(head, late).computes:
        return None
    reads.sort(key=lambda one: (one.lineno, one.col_offset))
    return Tail(flow, site, tuple(head), tuple(statements), tuple(work), tuple(late), tuple(reads))


def _can_be_split(flow: Flow, node: ast.FunctionDef) -> bool:
    """True when the function is compiled at one place, and neither it nor its caller looks at its frame."""
    source, function = flow.context.source, flow.context.function
    if source.span(node.body[0]).line == node.lineno or source.enclosing_function(node) is not None:
        return False
    arguments = node.args
    if function.owner is not None and (arguments.vararg or arguments.kwarg or arguments.kwonlyargs):
        return False
    parts = list(ast.walk(node))
    steps = ast.Yield | ast.YieldFrom | ast.Await | ast.Global | ast.Nonlocal
    if any(isinstance(part, steps) or _asks_for_its_place(flow, part) for part in parts):
        return False
    itself = ast.Attribute if function.owner is not None else ast.Name
    if any(isinstance(part, itself) and _word(part) == node.name for part in parts):
        return False  # it calls itself
    return not any(isinstance(part, FunctionNode | ast.ClassDef) for part in parts if part is not node)


def _asks_for_its_place(flow: Flow, node: ast.AST) -> bool:
    """True for what looks at the function that runs it, or at the names of that."""
    if isinstance(node, ast.Name) and node.id in _BUILTINS:
        return True
    if isinstance(node, ast.Name | ast.Attribute) and flow.context.names.qualified(node) == "inspect.stack":
        return True
    return _word(node) in _ASKS_FOR_ITS_PLACE


def _word(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=word) | ast.Attribute(attr=word) | ast.keyword(arg=word):
            return word
        case _:
            return None


def _host_statements(flow: Flow, body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], list[HostWork]]:
    """The longest end of a body that Python can do alone, with what each statement needs."""
    reader = HostReader(flow)
    statements: list[ast.stmt] = []
    work: list[HostWork] = []
    for statement in reversed(body):
        try:
            needed = reader.read(statement)
        except NotHostError:
            break
        later = [node for one in work for node in one.computed]
        if any(names_in([node]) & stored_names([statement]) for node in later):
            break
        if not all(_moves_up(flow, node) for node in later):
            break
        if not all(_is_first(flow, node, statement) or _moves_up(flow, node) for node in needed.computed):
            break
        statements.insert(0, statement)
        work.insert(0, needed)
    return _without_plain_start(flow, statements, work)


def _without_plain_start(
    flow: Flow, statements: list[ast.stmt], work: list[HostWork]
) -> tuple[list[ast.stmt], list[HostWork]]:
    """The statements from the first that a graph cannot do: before it, nothing is gained by leaving."""
    reporting = {unit.statement for unit in units_of(flow.context.view, flow.context.function)}
    while statements and not work[0].reads and statements[0] not in reporting and len(statements) > 1:
        statements, work = statements[1:], work[1:]
    return statements, work


def _is_first(flow: Flow, node: ast.expr, statement: ast.stmt) -> bool:
    """True when nothing that does anything is evaluated before an expression of a statement."""
    around = {node, *flow.context.source.ancestors(node)}
    beside = set(ast.walk(statement)) - around - set(ast.walk(node))
    return not any(isinstance(part, ast.Call | ast.BinOp | ast.Subscript | ast.Compare) for part in beside)


def _moves_up(flow: Flow, node: ast.expr) -> bool:
    """True for an expression that may be evaluated before what Python does in front of it.

    It computes with tensors and numbers, which nothing in between writes: containers and objects are not followed.
    """
    statement = next(p for p in flow.context.source.ancestors(node) if isinstance(p, ast.stmt))
    state, names = flow.before[statement], flow.context.names
    functions = {part.func for part in ast.walk(node) if isinstance(part, ast.Call)}
    own = [part for part in ast.walk(node) if isinstance(part, ast.Attribute) and _stays_set(flow, part, state)]
    settled = {*functions, *(part.value for part in own)}
    for part in ast.walk(node):
        if not isinstance(part, ast.Name) or names.qualified(part) is not None or part in settled:
            continue
        if flow.evaluate(part, state)[0].kind not in (Kind.TENSOR, Kind.NUMBER):
            return False
    return flow.evaluate(node, state)[1].effects.pure


def _stays_set(flow: Flow, node: ast.Attribute, state: State) -> bool:
    """True for what `self` holds and the function does not set; an object is mentioned nowhere else, either."""
    if not flow.context.is_self(node.value) or flow.context.defines(node.attr):
        return False
    mentions = [
        part
        for part in ast.walk(flow.context.function.node)
        if isinstance(part, ast.Attribute) and part.attr == node.attr
    ]
    if any(not isinstance(part.ctx, ast.Load) for part in mentions):
        return False
    return len(mentions) == 1 or flow.evaluate(node, state)[0].kind in (Kind.TENSOR, Kind.NUMBER)


def _late(
    flow: Flow, head: Sequence[ast.stmt], statements: Sequence[ast.stmt], work: Sequence[HostWork]
) -> list[ast.Assign]:
    """The statements of the head that read one number each, under a name that only the tail mentions."""
    found = []
    computed_with = names_in([node for one in work for node in one.computed])
    for index, statement in enumerate(head):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call()):
                others = [*head[:index], *head[index + 1 :]]
                used = name in computed_with or any(name in names_in([other]) for other in others)
                set_again = name in stored_names(statements)
                is_parameter = any(argument.arg == name for argument in flow.context.function.parameters)
                if not used and not set_again and not is_parameter and _reads_whole(flow, statement):
                    found.append(statement)
    return found


def _reads_whole(flow: Flow, statement: ast.Assign) -> bool:
    """True for `name = tensor.item()`, and float, int and bool of that or of a tensor."""
    try:
        work = HostReader(flow).read(statement)
    except NotHostError:
        return False
    if len(work.reads) != 1:
        return False
    value = statement.value
    dtype = flow.evaluate(work.reads[0], flow.before[statement])[0].dtype
    whole = dtype is not None and dtype.category in (Category.INT, Category.BOOL)
    if isinstance(value, ast.Call) and getattr(value.func, "id", "") == "int" and not whole:
        return False  # it fails for NaN and infinity
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and len(value.args) == 1:
        if value.args[0] is work.reads[0]:
            return True
        value = value.args[0]
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.value is work.reads[0]


def read_by(statement: ast.Assign) -> ast.expr:
    """The tensor that such a statement reads."""
    value = statement.value
    while isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.args:
        value = value.args[0]
    match value:
        case ast.Call(func=ast.Attribute(value=tensor, attr="item" | "tolist"), args=[]):
            return tensor
        case _:
            return value


def _call_of(source: SourceFile, read: ast.expr) -> ast.AST:
    """The call that reads a number out of a tensor."""
    return next(parent for parent in source.ancestors(read) if isinstance(parent, ast.Call))


def _leaves(flow: Flow, statements: Sequence[ast.stmt], work: Sequence[HostWork], late: Sequence[ast.Assign]) -> bool:
    """True when a number is read for something else than a message: the messages have rules of their own."""
    reporting = {unit.statement for unit in units_of(flow.context.view, flow.context.function)}
    return bool(late) or any(
        one.reads and statement not in reporting for statement, one in zip(statements, work, strict=True)
    )
