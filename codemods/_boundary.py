"""Moves statements to the edge of a compiled function, behind everything that is traced.

A statement that Dynamo cannot capture splits the graph where it stands. As the last thing of the function it costs no
graph, and in a wrapper that is not compiled there is no break at all. `to_edge` takes statements of the function's own
block ("departures") there, in their order, in one of two ways:

outside: where the function is decorated with exactly `torch.compile`, the traced part becomes `_f_graph`, which
returns the result and what the departures read, and `f` is a plain wrapper that calls it and runs them.

in place: elsewhere, the result is computed first, then come the departures, then `return`.

What a departure reads is read where it stood: expressions given in `computed` are evaluated there and get a name; a
name that gets another value in between is saved; a tensor that is written in between is cloned. Nothing else is copied.

Obligations, besides those of the caller: what runs in between says nothing, writes nothing that outlives the function,
and draws no random numbers where the departure may stop it (`stops`), says nothing where it only speaks, and cannot
raise or warn. A departure is not moved out of a `try`, a loop, or a generator.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterable, Sequence
from functools import cached_property

from gbfix.analysis.effects import Note
from gbfix.analysis.flow import Flow
from gbfix.analysis.liveness import is_read_after
from gbfix.analysis.source import FunctionNode, SourceFile
from gbfix.analysis.tree import names_in, stored_names
from gbfix.analysis.values import UNKNOWN, Kind
from gbfix.codemods import _boundary_text as text
from gbfix.codemods._boundary_rest import Rest, read_expressions, read_rest
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import in_style_of, indentation_of, on_its_own, reindented, unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation, Replacement

NO_FAILURE = "the statements after it cannot fail or warn"
ONLY_COMPUTES = "the statements after it only compute"
SAYS_NOTHING = "the statements after it say nothing"
ADVICE = "move it to the end of the function, or into the caller"

_METADATA = frozenset({"shape", "dtype", "device", "ndim", "size", "dim", "numel", "layout", "stride"})
_MOST_RETURNS = 3


@dataclass(frozen=True)
class Departure:
    """A statement that leaves the traced part.

    computed: expressions of it that are evaluated where it stood, with the names wanted for them. stops: it may raise,
    so that what comes before it now must leave no trace; False for one that only says something.
    """

    node: ast.stmt
    computed: tuple[tuple[ast.expr, str], ...] = ()
    stops: bool = False


@dataclass(frozen=True)
class Moved:
    """The edit, and what it relies on. outside: into a wrapper, so that no break is left."""

    title: str
    replacements: tuple[Replacement, ...]
    obligations: tuple[Obligation, ...]
    outside: bool


def to_edge(flow: Flow, departures: Sequence[Departure]) -> Moved | None:
    """The departures at the edge of their function; None when they are there already and have to stay.

    They are statements of one block, the function's own, in source order. Raises RefusedError.
    """
    return _Mover(flow, departures).moved()


def compiling_decorator(flow: Flow) -> ast.expr | None:
    """The decorator of the function when it is the only one and exactly `torch.compile`, with or without options."""
    node = flow.context.function.node
    if not isinstance(node, ast.FunctionDef) or len(node.decorator_list) != 1:
        return None
    decorator = node.decorator_list[0]
    if isinstance(decorator, ast.Call):
        if decorator.args or any(keyword.arg in (None, "model") for keyword in decorator.keywords):
            return None
        called: ast.expr = decorator.func
    else:
        called = decorator
    return decorator if flow.context.names.qualified(called) == "torch.compile" else None


class _Mover:
    def __init__(self, flow: Flow, departures: Sequence[Departure]) -> None:
        self._flow = flow
        self._source = flow.context.source
        self._departures = departures
        self._nodes = [departure.node for departure in departures]
        self._first = self._nodes[0]
        self._function = self._check_place()
        self._body = _reached(self._function.body)
        index = self._body.index(self._first)
        self._following = [s for s in self._body[index + 1 :] if s not in self._nodes]
        self._rest = read_rest(flow, self._body[index + 1 :], self._nodes)
        for departure in departures[1:]:  # their tests are made before the first of them stops the function
            read_expressions(flow, departure.node, [node for node, _ in departure.computed], self._rest)
        self._behind = {node: self._read_behind(node) for node in self._nodes}
        self._taken = all_names(self._source.tree)

    def _read_behind(self, node: ast.stmt) -> Rest:
        index = self._body.index(node)
        return read_rest(self._flow, self._body[index + 1 :], self._nodes)

    @cached_property
    def _set_for_each_other(self) -> frozenset[str]:
        """The names that departures assign, and that nothing but departures reads or sets."""
        assigned = {
            t.id for n in self._nodes if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
        }
        inside = {part for node in self._nodes for part in ast.walk(node)}
        used = [p for p in ast.walk(self._function) if isinstance(p, ast.Name) and p.id in assigned and p not in inside]
        parameters = {argument.arg for argument in self._flow.context.function.parameters}
        return frozenset(assigned - {part.id for part in used} - parameters)

    def _changed_between(self, first: ast.stmt, last: ast.stmt) -> set[str]:
        """The names that get another value, or are written, between two departures."""
        body = self._body
        rest = read_rest(self._flow, body[body.index(first) : body.index(last)], self._nodes)
        return rest.stored | rest.touched

    def moved(self) -> Moved | None:
        """The edit with what it relies on. Raises RefusedError."""
        stops = [departure for departure in self._departures if departure.stops]
        obligations = [*self._obligations(bool(stops)), self._names_known()]
        for obligation in obligations:
            if obligation.discharge is Discharge.VIOLATED:
                raise RefusedError(obligation.claim, obligation.reason, obligation.line, ADVICE)
        if self._can_split():
            with contextlib.suppress(RefusedError):
                return Moved("move it out of the compiled function", self._outside(), tuple(obligations), outside=True)
            self._taken = all_names(self._source.tree)
        if self._at_edge():
            return None
        return Moved("move it behind the result", self._in_place(), tuple(obligations), outside=False)

    # -- may it move? ----------------------------------------------------------------------

    def _check_place(self) -> ast.FunctionDef:
        node = self._flow.context.function.node
        claim, line = "it can be moved to the end of the function", self._first.lineno
        if not isinstance(node, ast.FunctionDef):
            raise RefusedError(claim, "the function is a lambda or asynchronous", line, ADVICE)
        if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(node)):
            raise RefusedError(claim, "the function is a generator", line, ADVICE)
        if not all(departure in node.body for departure in self._nodes):
            around = self._source.parents[next(d for d in self._nodes if d not in node.body)]
            name = type(around).__name__.lower()
            raise RefusedError(claim, f"it stands inside a `{name}`", line, ADVICE)
        return node

    def _obligations(self, stops: bool) -> list[Obligation]:
        rest, line = self._rest, self._first.lineno
        claim = ONLY_COMPUTES if stops else SAYS_NOTHING
        wrong = [*rest.says, *rest.writes, *rest.random] if stops else rest.says
        found = []
        if wrong:
            found.append(_violated(claim, wrong[0]))
        elif rest.unknown:
            found.append(Obligation(claim, Discharge.ASSUMED, rest.unknown[0].text, rest.unknown[0].line))
        else:
            found.append(Obligation(claim, Discharge.PROVED, "known operations, which leave nothing behind", line))
        guarded = {name for d in self._departures if d.stops for name in _loaded([d.node])}
        relying = [note for note, names in rest.fails if names & guarded]
        if rest.raises:
            found.append(_violated(NO_FAILURE, rest.raises[0]))
        elif relying:
            note = relying[0]
            found.append(_violated(NO_FAILURE, Note(f"the check may protect what follows: {note.text}", note.line)))
        elif rest.requirements or rest.fails:
            note = Note(rest.requirements[0].text, rest.requirements[0].line) if rest.requirements else rest.fails[0][0]
            found.append(Obligation(NO_FAILURE, Discharge.ASSUMED, note.text, note.line))
        elif rest.unknown:
            found.append(Obligation(NO_FAILURE, Discharge.ASSUMED, rest.unknown[0].text, rest.unknown[0].line))
        else:
            found.append(Obligation(NO_FAILURE, Discharge.PROVED, "what they need has been met before", line))
        return found

    def _names_known(self) -> Obligation:
        claim = "everything it reads has a value there"
        for departure in self._departures:
            state = self._flow.before.get(departure.node)
            bound = self._bound_inside(departure)
            for name in sorted(bound - self._set_for_each_other):
                if is_read_after(self._source, self._flow.context.function, [departure.node], name):
                    reason = f"it sets {name}, which is read later"
                    raise RefusedError("nothing reads what it sets", reason, departure.node.lineno, ADVICE)
            self._check_set_before_read(departure, bound)
            given = stored_names([node for node, _ in departure.computed])
            for name in sorted(self._read_by(departure) - bound - given - self._set_for_each_other):
                if self._flow.context.is_local(name) and (state is None or name not in state.values):
                    return Obligation(claim, Discharge.VIOLATED, f"{name} may have none", departure.node.lineno)
        return Obligation(claim, Discharge.PROVED, "it is set on every path to this line", self._first.lineno)

    def _check_set_before_read(self, departure: Departure, bound: set[str]) -> None:
        """Raise RefusedError for a name that a departure may read before it sets it."""
        state = self._flow.before.get(departure.node)
        for name in sorted(bound - self._set_for_each_other):
            if state is None or name not in state.values:
                continue
            blocks = [b for b in (getattr(departure.node, "body", []), getattr(departure.node, "orelse", [])) if b]
            mentions = [next((s for s in block if name in names_in([s])), None) for block in blocks]
            if name in names_in([getattr(departure.node, "test", departure.node)]) or not all(
                first is None or (isinstance(first, ast.Assign) and name not in _loaded([first.value]))
                for first in mentions
            ):
                reason = f"it reads {name}, and gives it another value"
                raise RefusedError("it reads the same values", reason, departure.node.lineno, ADVICE)

    # -- what it reads -----------------------------------------------------------------------

    def _moving_parts(self, departure: Departure) -> list[ast.AST]:
        """The nodes of a departure that are evaluated at the edge."""
        gone = {part for node, _ in departure.computed for part in ast.walk(node)}
        return [part for part in ast.walk(departure.node) if part not in gone]

    def _read_by(self, departure: Departure) -> set[str]:
        return {p.id for p in self._moving_parts(departure) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Load)}

    def _bound_inside(self, departure: Departure) -> set[str]:
        gone = {part for node, _ in departure.computed for part in ast.walk(node)}
        computed = stored_names([node for node, _ in departure.computed])
        stored = {
            part.id
            for part in ast.walk(departure.node)
            if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load) and part not in gone
        }
        return stored | (stored_names([departure.node]) - computed - {p.id for p in gone if isinstance(p, ast.Name)})

    def _changing(self, departure: Departure) -> dict[str, str]:
        """The names that a departure reads and that hold something else at the edge, with what to save of each."""
        state = self._flow.before[departure.node]
        found = {}
        for name in sorted(self._read_by(departure) - self._bound_inside(departure) - self._set_for_each_other):
            if not self._flow.context.is_local(name):
                continue
            held = state.values.get(name, UNKNOWN)
            if self._is_written(name, departure):
                if held.kind is not Kind.TENSOR:
                    reason = f"{name} may be changed by what follows, and is not known to be a tensor"
                    raise RefusedError("it reads the same values", reason, departure.node.lineno, ADVICE)
                found[name] = f"{name}.clone()"
            elif name in self._behind[departure.node].stored:
                found[name] = name
        self._check_functions(departure)
        for part in self._moving_parts(departure):
            if isinstance(part, ast.Attribute) and part.attr in self._behind[departure.node].attributes:
                reason = f"{self._source.segment(part)} may be set by what follows"
                raise RefusedError("it reads the same values", reason, part.lineno, ADVICE)
        return found

    def _check_functions(self, departure: Departure) -> None:
        """Raise RefusedError for a function of this function that reads what gets another value."""
        behind = self._behind[departure.node]
        inner = [p for p in ast.walk(self._function) if isinstance(p, FunctionNode) and p is not self._function]
        for function in inner:
            changed = sorted(_loaded([function]) & (behind.stored | behind.touched))
            if changed and self._read_by(departure) and function not in self._moving_parts(departure):
                reason = f"a function defined here reads {changed[0]}, which changes"
                raise RefusedError("it reads the same values", reason, function.lineno, ADVICE)

    def _is_written(self, name: str, departure: Departure) -> bool:
        held = self._flow.before[departure.node].values.get(name, UNKNOWN)
        if held.kind is Kind.NUMBER or (held.class_name or "").startswith("tensor."):
            return False
        rest = self._behind[departure.node]
        if name not in rest.touched and (held.fresh or not rest.reaches_others or not held.tensor_like):
            return False
        parents = [self._source.parents[p] for p in self._moving_parts(departure) if _is_name(p, name)]
        return not all(isinstance(parent, ast.Attribute) and parent.attr in _METADATA for parent in parents)

    # -- in place ----------------------------------------------------------------------------

    def _at_edge(self) -> bool:
        """True when only the return of a ready value, or nothing, follows."""
        match self._following:
            case []:
                return True
            case [ast.Return(value=value)]:
                return value is None or isinstance(value, ast.Name | ast.Constant)
            case _:
                return False

    def _in_place(self) -> tuple[Replacement, ...]:
        replacements, moved = [], []
        for departure in self._departures:
            lines, edits = self._saved_for_here(departure)
            replacements.append(self._replacement(departure.node, "\n".join(lines)))
            moved.append(text.edited(self._source, departure.node, edits))
        last = self._following[-1]
        returns = self._rest.returns
        if len(returns) > _MOST_RETURNS:
            reason = f"the function returns at {len(returns)} places after it"
            raise RefusedError("the function ends at few places", reason, returns[0].lineno, ADVICE)
        self._check_ways(returns)
        result = self._fresh("result")
        for node in returns:
            replacements.append(self._replacement(node, "\n".join(_before_return(self._source, node, moved, result))))
        if not _never_falls_through(last):
            if returns and last in returns:
                raise AssertionError("a return that falls through")
            if any(set(ast.walk(last)) & {node} for node in returns):
                reason = "some ways through the last statement return and some do not"
                raise RefusedError("the function ends at few places", reason, last.lineno, ADVICE)
            whole = reindented(self._source.segment(last), indentation_of(self._source, last), "")
            replacements.append(self._replacement(last, "\n".join([whole, *moved])))
        return tuple(replacements)

    def _check_ways(self, returns: Iterable[ast.Return]) -> None:
        for node in returns:
            for parent in self._source.ancestors(node):
                if parent is self._function:
                    break
                if not isinstance(parent, ast.If):
                    reason = f"a `return` inside a `{type(parent).__name__.lower()}`"
                    raise RefusedError("the function ends at few places", reason, node.lineno, ADVICE)

    def _saved_for_here(self, departure: Departure) -> tuple[list[str], dict[ast.AST, str]]:
        """The lines that keep what a departure reads under names of their own, and what it reads instead."""
        lines, edits = self._computed(departure)
        for name, saved in self._changing(departure).items():
            fresh = self._fresh(f"{name}_before")
            lines.append(f"{fresh} = {saved}")
            edits |= {part: fresh for part in self._moving_parts(departure) if _is_name(part, name)}
        return lines, edits

    def _computed(self, departure: Departure) -> tuple[list[str], dict[ast.AST, str]]:
        lines, edits = [], dict[ast.AST, str]()
        for node, wanted in departure.computed:
            name = self._fresh(wanted)
            indentation = indentation_of(self._source, departure.node)
            value = on_its_own(reindented(self._source.segment(node), indentation, ""))
            lines.append(f"{name} = ({value})" if isinstance(node, ast.NamedExpr) else f"{name} = {value}")
            edits[node] = name
        return lines, edits

    # -- outside -----------------------------------------------------------------------------

    def _can_split(self) -> bool:
        """True when the function is compiled by its only decorator, and is one that can be called through a wrapper."""
        function, names = self._function, self._flow.context.names
        if compiling_decorator(self._flow) is None or self._flow.context.function.owner is not None:
            return False
        if self._source.span(function.body[0]).line == function.lineno:
            return False
        loads = names.loads.get(function.name, [])
        inside = set(ast.walk(function))
        if any(load in inside or isinstance(self._source.parents[load], ast.Attribute) for load in loads):
            return False  # it calls itself, or is more than something to call
        all_returns = [part for part in _own_nodes(function) if isinstance(part, ast.Return)]
        last = function.body[-1]
        at_end = all_returns == [last] or (not all_returns and not isinstance(last, ast.Raise))
        return at_end and not any(isinstance(part, ast.Nonlocal | ast.Global) for part in _own_nodes(function))

    def _outside(self) -> tuple[Replacement, ...]:
        source, function = self._source, self._function
        graph = text.graph_name(source, function, frozenset(self._taken))
        edits: dict[ast.AST, str] = {}
        received: dict[str, str] = {}  # what the wrapper calls it, and what the traced part returns for it
        since: dict[str, ast.stmt] = {}  # the first departure that reads a name
        moved = []
        for departure in self._departures:
            lines, changes = self._computed(departure)
            received |= {name: name for name in changes.values()}
            saved = self._changing(departure)
            for name in self._needed(departure, saved):
                if name in since and name in self._changed_between(since[name], departure.node):
                    reason = f"{name} changes between the statements that move"
                    raise RefusedError("it reads the same values", reason, departure.node.lineno, ADVICE)
                if name in since:
                    continue
                since[name], received[name] = departure.node, name
                if name in saved:
                    received[name] = self._fresh(f"{name}_before")
                    lines.append(f"{received[name]} = {saved[name]}")
            edits[departure.node] = "\n".join(lines)
            moved.append(text.edited(source, departure.node, changes))
        body = list(function.body)
        documentation = body.pop(0) if ast.get_docstring(function, clean=False) is not None and len(body) > 1 else None
        last = body[-1]
        given, returned = list(received), [received[name] for name in received]
        result = self._fresh("result")
        has_result = isinstance(last, ast.Return) and last.value is not None
        if isinstance(last, ast.Return) and last.value is not None:
            value = on_its_own(reindented(source.segment(last.value), indentation_of(source, last), ""))
            value = (
                f"({value})" if isinstance(last.value, ast.Tuple) and not value.startswith("(") and returned else value
            )
            given, returned = [result, *given], [value, *returned]
        ending = f"return {', '.join(returned)}" if returned else ""
        if isinstance(last, ast.Return):
            edits[last] = ending
        traced = text.body_text(source, body, edits)
        if ending and not isinstance(last, ast.Return):
            traced = f"{traced}\n{ending}"
        call = f"{graph}({text.arguments(function)})"
        decorator = "@" + source.segment(function.decorator_list[0])
        wrapper = []
        if documentation is not None:
            wrapper.append(reindented(source.segment(documentation), indentation_of(source, documentation), ""))
        wrapper += [
            f"{', '.join(given)} = {call}" if given else call,
            *moved,
            *([f"return {result}"] if has_result else []),
        ]
        lines = [decorator, text.signature(source, function, graph), _inner(traced), "", ""]
        lines += [text.header(source, function), *(_inner(part) for part in wrapper)]
        return (self._replacement(function, "\n".join(lines)),)

    def _needed(self, departure: Departure, saved: Iterable[str]) -> list[str]:
        """The names that a departure reads and that the wrapper does not have by itself."""
        parameters = {argument.arg for argument in self._flow.context.function.parameters}
        own = parameters - stored_names(self._function.body)
        read = self._read_by(departure) - self._bound_inside(departure) - self._set_for_each_other
        return sorted(name for name in read if self._flow.context.is_local(name) and (name in saved or name not in own))

    def _replacement(self, node: ast.AST, source: str) -> Replacement:
        return Replacement(self._source.span(node), in_style_of(self._source, source) if source else "")

    def _fresh(self, wanted: str) -> str:
        name = unused_name(wanted, frozenset(self._taken))
        self._taken.add(name)
        return name


def _violated(claim: str, note: Note) -> Obligation:
    return Obligation(claim, Discharge.VIOLATED, note.text, note.line)


def _loaded(nodes: Iterable[ast.AST]) -> set[str]:
    return {p.id for node in nodes for p in ast.walk(node) if isinstance(p, ast.Name) and isinstance(p.ctx, ast.Load)}


def _is_name(part: ast.AST, name: str) -> bool:
    return isinstance(part, ast.Name) and part.id == name


def _own_nodes(function: ast.FunctionDef) -> list[ast.AST]:
    """The nodes of a function without those of functions inside it."""
    found: list[ast.AST] = []
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        found.append(node)
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            pending.extend(ast.iter_child_nodes(node))
    return found


def _reached(body: Sequence[ast.stmt]) -> Sequence[ast.stmt]:
    """The statements of a function up to the first that always leaves it; nobody comes to what follows."""
    end = next((index for index, statement in enumerate(body) if _never_falls_through(statement)), len(body))
    return body[: end + 1]


def _never_falls_through(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return bool(statement.orelse) and all(_never_falls_through(b[-1]) for b in (statement.body, statement.orelse))
    return isinstance(statement, ast.Return | ast.Raise)


def _before_return(source: SourceFile, node: ast.Return, moved: list[str], result: str) -> list[str]:
    if node.value is None or isinstance(node.value, ast.Name | ast.Constant):
        return [*moved, source.segment(node)]
    value = on_its_own(reindented(source.segment(node.value), indentation_of(source, node), ""))
    return [f"{result} = {value}", *moved, f"return {result}"]


def _inner(text_: str) -> str:
    return reindented(text_, "", "    ")
