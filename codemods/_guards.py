"""Finds the checks of a file that raise for the value of a tensor, and moves them to the edge of their function."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from gbfix.analysis.flow import Flow, State, flow_of, reads_tensor
from gbfix.analysis.names import Names
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode, SourceFile, parse
from gbfix.analysis.values import Kind
from gbfix.codemods import _obligations as duty
from gbfix.codemods._boundary import ADVICE, Departure, Moved, to_edge
from gbfix.codemods._boundary_text import body_text
from gbfix.codemods._guard_operators import Check, in_operators
from gbfix.codemods._host_sites import uncompiled_parts
from gbfix.codemods._obligations import shorten
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import indentation_of, reindented
from gbfix.codemods._tree import is_elif
from gbfix.codemods._whole_tensor_checks import whole_tensor_checks
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span

GUARD = ("GBF109", "guard-that-raises")
ASSERT = ("GBF110", "assert-with-computed-message")

ERROR_KEPT = "nobody relies on the kind and the moment of the error"

_SAME = frozenset({"torch.equal", "torch.allclose", "torch.Tensor.equal", "torch.Tensor.allclose"})


@lru_cache(maxsize=2)
def guard_findings(view: FileView) -> tuple[Finding, ...]:
    """Every check on a tensor that raises, in the compiled functions of a file, in source order."""
    found: list[Finding] = []
    for compiled in view.compiled:
        if not isinstance(compiled.function.node, ast.Lambda):
            found += _FunctionGuards(view, compiled).findings()
    found += whole_tensor_checks(view, GUARD)
    return tuple(sorted(found, key=lambda finding: (finding.span, finding.code)))


def findings_of(view: FileView, rule: tuple[str, str]) -> Iterator[Finding]:
    """The findings of one rule."""
    return (finding for finding in guard_findings(view) if finding.code == rule[0])


def is_guard(names: Names, statement: ast.If) -> bool:
    """True for an `if` one side of which ends by raising, and is no further test."""
    return _raises(names, statement.body[-1]) or raises_otherwise(statement)


def _raises(names: Names, statement: ast.stmt) -> bool:
    """True for `raise`, and for asserts of False."""
    match statement:
        case ast.Raise() | ast.Assert(test=ast.Constant(value=False)):
            return True
        case ast.Expr(value=ast.Call(func=function, args=[ast.Constant(value=False), *_])):
            return names.qualified(function) == "torch._assert"
        case _:
            return False


def raises_otherwise(statement: ast.If) -> bool:
    """True when it is the `else` that raises."""
    return bool(statement.orelse) and isinstance(statement.orelse[-1], ast.Raise)


@dataclass(frozen=True)
class Site:
    """A check: its statement, its code, and the test that decides."""

    statement: ast.stmt
    rule: tuple[str, str]
    test: ast.expr


class _FunctionGuards:
    """The checks of one compiled function."""

    def __init__(self, view: FileView, compiled: CompiledFunction) -> None:
        self._view = view
        self._source = view.source
        self._compiled = compiled
        self._function = compiled.function
        self._flow = flow_of(view, compiled.function)

    def findings(self) -> list[Finding]:
        """One finding a check; those that move together share a fix."""
        node = self._function.node
        if isinstance(node, ast.Lambda):
            return []
        skipped = uncompiled_parts(self._view, node)
        sites = [site for site in self._sites(node.body) if site.statement not in skipped]
        checks = [Check(s.statement, s.rule, self._header(s), self._message(s)) for s in sites]
        return in_operators(self._flow, self._compiled, checks, self._moved(node, sites), needs_value)

    def _moved(self, node: ast.FunctionDef | ast.AsyncFunctionDef, sites: Sequence[Site]) -> list[Finding]:
        """The checks at the edge of the function, or why they are not."""
        own = [site for site in sites if site.statement in node.body]
        inner = [site for site in sites if site not in own and not self._ends_here(site)]
        found = [self._refusal(site, self._inner_refusal(site)) for site in inner]
        own, two_sided = [s for s in own if not _has_other_side(s)], [s for s in own if _has_other_side(s)]
        found += [finding for site in two_sided for finding in self._with_other_side(site)]
        if self._view.project.preferences.in_graph_asserts:
            asserted = [site for site in sites if self._can_be_asserted(site)]
            kept = [f for f in found if f.span not in {self._header(site) for site in asserted}]
            found = kept + [self._asserted(site) for site in asserted]
            own = [site for site in own if site not in asserted]
        for index, site in enumerate(own):
            try:
                together = own[index:]
                moved = to_edge(self._flow_for(together), self._departures(together))
            except RefusedError as refused:
                found.append(self._refusal(site, refused))
                continue
            if moved is not None:
                found += [self._finding(one, moved) for one in together]
            break
        return found

    # -- finding ---------------------------------------------------------------------------

    def _sites(self, body: Sequence[ast.stmt]) -> Iterator[Site]:
        for statement in body:
            state = self._flow.before.get(statement)
            if state is None or isinstance(statement, FunctionNode | ast.ClassDef):
                continue
            site = self._site(statement, state)
            if site is not None:
                yield site
            raising = "orelse" if isinstance(statement, ast.If) and raises_otherwise(statement) else "body"
            for name in ("body", "orelse", "finalbody", "handlers", "cases"):
                block = getattr(statement, name, [])
                if site is not None and name == raising:
                    continue
                if name in ("handlers", "cases"):
                    for part in block:
                        yield from self._sites(part.body)
                else:
                    yield from self._sites(block)

    def _site(self, statement: ast.stmt, state: State) -> Site | None:
        match statement:
            case ast.If(test=test) if is_guard(self._view.names, statement) and needs_value(self._flow, state, test):
                return Site(statement, GUARD, test)
            case ast.Assert(test=test, msg=message) if needs_value(self._flow, state, test):
                breaks = not isinstance(message, ast.Constant | None) or not _captured_in_assert(self._view.names, test)
                return Site(statement, ASSERT, test) if breaks else None
            case ast.Expr(value=ast.Call() as call) if self._is_checker(call):
                return Site(statement, GUARD, call)
            case _:
                return None

    def _is_checker(self, call: ast.Call) -> bool:
        """True for a call of a function of this file that checks tensors, and does nothing else."""
        binding = self._view.names.single_definition(call.func)
        if binding is None or not isinstance(binding.node, ast.FunctionDef) or binding.node.decorator_list:
            return False
        if any(isinstance(argument, ast.Starred) for argument in call.args):
            return False
        callee = self._source.function_of_node[binding.node]
        if callee is self._function:
            return False
        flow = flow_of(self._view, callee)
        return _only_checks(binding.node.body) and any(
            isinstance(part, ast.If | ast.Assert)
            and part in flow.before
            and needs_value(flow, flow.before[part], part.test)
            for part in ast.walk(binding.node)
        )

    # -- deciding --------------------------------------------------------------------------

    def _departures(self, sites: Sequence[Site]) -> list[Departure]:
        """The checks, and the assignments that read their numbers out of tensors, in source order."""
        found = {site.statement: self._departure(site) for site in sites}
        for site in sites:
            for name in sorted({part.id for part in ast.walk(site.test) if isinstance(part, ast.Name)}):
                reading = self._reading_of(name, site.statement)
                if reading is not None and reading not in found:
                    state = self._flow.before[reading]
                    found[reading] = Departure(reading, tuple(self._read_out(reading.value, state)), stops=True)
        return sorted(found.values(), key=lambda departure: departure.node.lineno)

    def _reading_of(self, name: str, before: ast.stmt) -> ast.Assign | None:
        """The assignment that gives a name its number, when that breaks the graph. Raises RefusedError."""
        bindings = self._view.names.local_bindings(self._function.node).get(name, [])
        statements = [b.statement for b in bindings if isinstance(b.statement, ast.Assign)]
        for statement in statements:
            state = self._flow.before.get(statement)
            if state is None or not self._flow.evaluate(statement.value, state)[1].effects.reads:
                continue
            inside = isinstance(self._function.node, ast.FunctionDef) and statement in self._function.node.body
            users = [
                load
                for load in self._view.names.loads.get(name, [])
                if self._view.names.scope_of(load) is self._function.node
            ]
            checks = {
                before,
                *(
                    s
                    for s in ast.walk(self._function.node)
                    if isinstance(s, ast.If | ast.Assert)
                    and s.lineno >= before.lineno
                    and (isinstance(s, ast.Assert) or is_guard(self._view.names, s))
                ),
            }
            only_checked = all(any(parent in checks for parent in self._source.ancestors(load)) for load in users)
            if len(bindings) == 1 and inside and only_checked:
                return statement
            raise RefusedError(
                "the value is only read by the check",
                f"{name} is read out of a tensor, and used elsewhere",
                statement.lineno,
                "keep the tensor, and check that",
            )
        return None

    def _departure(self, site: Site) -> Departure:
        """The check with the tensors that decide computed where it stands."""
        statement = site.statement
        if site.test is getattr(statement, "value", None):
            return Departure(statement, (), stops=True)
        read = {part.id for part in ast.walk(site.test) if isinstance(part, ast.Name)}
        if any(self._reading_of(name, statement) is not None for name in read):
            return Departure(statement, (), stops=True)
        state = self._flow.before[statement]
        wanted = "passed" if isinstance(statement, ast.Assert) else "failed"
        return Departure(statement, tuple(self._computed(site.test, state, wanted)), stops=True)

    def _computed(self, test: ast.expr, state: State, wanted: str) -> Iterator[tuple[ast.expr, str]]:
        """The part of a test that is a tensor of its own; conditions of several parts stay as they are."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                yield from self._computed(inner, state, "failed" if wanted == "passed" else "passed")
            case ast.BoolOp(values=[first, *_]):
                yield from ((part, "value") for part in ast.walk(first) if isinstance(part, ast.NamedExpr))
            case ast.Name() | ast.Attribute():
                return
            case _ if self._reads(test, state):
                yield from self._read_out(test, state)
            case _:
                yield test, wanted

    def _read_out(self, test: ast.expr, state: State) -> Iterator[tuple[ast.expr, str]]:
        """The tensors that are read by `.item()`, `int()` and the like, but for mere names."""
        for part in ast.walk(test):
            if isinstance(part, ast.NamedExpr):
                yield part, "value"
                return
        for part in ast.walk(test):
            match part:
                case ast.Call(func=ast.Attribute(value=inner, attr="item"), args=[]):
                    pass
                case ast.Call(func=ast.Name(id="int" | "float" | "bool"), args=[inner]):
                    pass
                case _:
                    continue
            nested = self._reads(inner, state)
            if not isinstance(inner, ast.Name | ast.Attribute) and not nested:
                yield inner, "value"

    def _ends_here(self, site: Site) -> bool:
        """True for a check at the end of a branch that returns a ready value: nothing is left to be traced there."""
        node: ast.AST = site.statement
        for parent in self._source.ancestors(node):
            if parent is self._function.node:
                break
            if not isinstance(parent, ast.If):
                return False
        around = self._source.parents[node]
        block = next(b for b in (around.body, around.orelse) if node in b) if isinstance(around, ast.If) else []
        after = block[block.index(site.statement) + 1 :] if block else []
        last = after[-1] if after else None
        ready = isinstance(last, ast.Return) and isinstance(last.value, ast.Name | ast.Constant | None)
        names = self._view.names
        return ready and all(
            (isinstance(one, ast.If) and is_guard(names, one)) or isinstance(one, ast.Assert) for one in after[:-1]
        )

    def _reads(self, test: ast.expr, state: State) -> bool:
        return bool(self._flow.evaluate(test, state)[1].effects.reads) or reads_numbers(self._view.names, test)

    def _flow_for(self, sites: Sequence[Site]) -> Flow:
        """The facts to decide with. torch.equal may find that shapes differ: then no shape that a run showed counts."""
        tests = [site.test for site in sites]
        if not any(isinstance(part, ast.Attribute) and part.attr == "equal" for t in tests for part in ast.walk(t)):
            return self._flow
        return flow_of(self._view.project.without_observations().view(self._source.path), self._function)

    def _can_be_asserted(self, site: Site) -> bool:
        """True for `if tensor: raise E("constant")`, without another side."""
        match site.statement:
            case ast.If(body=[ast.Raise(exc=ast.Call(args=[ast.Constant(value=str())], keywords=[]))], orelse=[]):
                test = site.test.operand if isinstance(site.test, ast.UnaryOp) else site.test
                state = self._flow.before[site.statement]
                return self._flow.evaluate(test, state)[0].kind is Kind.TENSOR and not self._reads(test, state)
            case _:
                return False

    def _asserted(self, site: Site) -> Finding:
        """The check as an assert of the graph, which the user asked for."""
        raised = site.statement.body[0] if isinstance(site.statement, ast.If) else None
        assert isinstance(raised, ast.Raise)
        assert isinstance(raised.exc, ast.Call)
        try:
            torch, new_import = torch_name(self._view, site.statement)
        except RefusedError as refused:
            return self._refusal(site, refused)
        if isinstance(site.test, ast.UnaryOp) and isinstance(site.test.op, ast.Not):
            condition = self._source.segment(site.test.operand)
        else:
            condition = f"{torch}.logical_not({self._source.segment(site.test)})"
        kind, text = self._source.segment(raised.exc.func), self._source.segment(raised.exc.args[0])
        source = f"{torch}._assert_async({condition}, {text})"
        reason = f"{kind} becomes RuntimeError, on an accelerator only when it comes to the check"
        obligations = (
            Obligation(ERROR_KEPT, Discharge.ASSUMED, reason, raised.lineno),
            *duty.fullgraph_obligations(self._compiled.fullgraph, site.statement.lineno),
        )
        indentation = indentation_of(self._source, site.statement)
        replacement = Replacement(self._source.span(site.statement), reindented(source, indentation, ""))
        fix = Fix("assert it in the graph", (replacement,), ("torch",) if new_import else ())
        where = (self._function.qualname, self._compiled.reason)
        return Finding(*site.rule, self._header(site), self._message(site), *where, obligations, fix)

    def _with_other_side(self, site: Site) -> Iterator[Finding]:
        """A check with an `else`: what that holds follows the check, where the check can then be moved."""
        assert isinstance(site.statement, ast.If)
        source = one_sided(self._source, site.statement)
        span = self._source.span(site.statement)
        lines = self._source.lines
        indentation = indentation_of(self._source, site.statement)
        if lines[span.line - 1][: span.column].strip() or lines[span.end_line - 1][span.end_column :].strip():
            line = site.statement.lineno
            refused = RefusedError("the check has lines of its own", "something else is on them", line, ADVICE)
            yield self._refusal(site, refused)
            return
        edited = [*lines[: span.line - 1], reindented(source, "", indentation), *lines[span.end_line :]]
        view = self._view.project.with_file(parse(self._source.path, "\n".join(edited))).view(self._source.path)
        for compiled in view.compiled:
            if compiled.function.node.lineno != self._function.node.lineno:
                continue
            for finding in _FunctionGuards(view, compiled).findings():
                if finding.span.line == span.line:
                    fix = Fix("let the other side follow the check", (Replacement(span, source),))
                    kept = fix if finding.fix is not None else None
                    yield replace(finding, span=self._header(site), message=self._message(site), fix=kept)

    def _inner_refusal(self, site: Site) -> RefusedError:
        around = next(iter(self._source.ancestors(site.statement)))
        names = {ast.For: "for", ast.While: "while", ast.With: "with", ast.Try: "try", ast.If: "if"}
        name = names.get(type(around), type(around).__name__.lower())
        advice = {
            "try": "its handler has to run where it does: move the `try` out of the compiled function with it",
            "for": "collect the flags in a tensor, and check once behind the loop",
            "while": "collect the flags in a tensor, and check once behind the loop",
        }.get(name, ADVICE)
        return RefusedError(
            "it can be moved to the end of the function", f"it stands inside a `{name}`", site.statement.lineno, advice
        )

    # -- making findings -------------------------------------------------------------------

    def _finding(self, site: Site, moved: Moved) -> Finding:
        fullgraph = self._compiled.fullgraph
        line = site.statement.lineno
        obligations = (*moved.obligations, *duty.fullgraph_obligations(fullgraph, line))
        fix = Fix(moved.title, moved.replacements)
        where = (self._function.qualname, self._compiled.reason)
        return Finding(*site.rule, self._header(site), self._message(site), *where, obligations, fix)

    def _refusal(self, site: Site, refused: RefusedError) -> Finding:
        where = (self._function.qualname, self._compiled.reason)
        message, header = self._message(site), self._header(site)
        return Finding(*site.rule, header, message, *where, (refused.obligation,), advice=refused.advice or ADVICE)

    def _message(self, site: Site) -> str:
        text = shorten(self._source.segment(site.test), 60)
        return f"assert on the value of {text}" if site.rule is ASSERT else f"check that raises for the value of {text}"

    def _header(self, site: Site) -> Span:
        span, end = self._source.span(site.statement), self._source.span(site.test)
        return Span(span.line, span.column, end.end_line, end.end_column)


def _has_other_side(site: Site) -> bool:
    return isinstance(site.statement, ast.If) and bool(site.statement.orelse)


def one_sided(source: SourceFile, node: ast.If) -> str:
    """The text of a check, followed by what its other side holds."""

    def block(statements: Sequence[ast.stmt]) -> str:
        text = body_text(source, statements, {})
        return "if" + text.removeprefix("elif") if is_elif(source, statements[0]) else text

    if isinstance(node.body[-1], ast.Raise):
        test, raising, other = source.segment(node.test), node.body, node.orelse
    else:
        test, raising, other = f"not ({source.segment(node.test)})", node.orelse, node.body
    if isinstance(node.body[-1], ast.Raise) is False and isinstance(node.test, ast.Name | ast.Call | ast.Attribute):
        test = f"not {source.segment(node.test)}"
    return f"if {test}:\n{reindented(block(raising), '', '    ')}\n{block(other)}"


def needs_value(flow: Flow, state: State, test: ast.expr) -> bool:
    """True when the truth of a test needs the values of a tensor: also through torch.equal and torch.allclose."""
    if reads_tensor(flow, state, test):
        return True
    _, evaluation = flow.evaluate(test, state)
    return bool(evaluation.effects.reads) or any(
        isinstance(part, ast.Call) and _compares_whole(flow, state, part) for part in ast.walk(test)
    )


def reads_numbers(names: Names, test: ast.expr) -> bool:
    """True when a part of a test turns tensors into a Python value, without being known to."""
    for part in ast.walk(test):
        if not isinstance(part, ast.Call):
            continue
        if (names.qualified(part.func) or "") in _SAME:
            return True
        if isinstance(part.func, ast.Attribute) and part.func.attr in ("equal", "allclose", "item", "tolist"):
            return True
        if isinstance(part.func, ast.Name) and part.func.id in ("int", "float", "bool", "any", "all"):
            return True
    return False


def _compares_whole(flow: Flow, state: State, call: ast.Call) -> bool:
    if (flow.context.names.qualified(call.func) or "") in _SAME:
        return True
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("equal", "allclose"):
        return False
    return flow.evaluate(call.func.value, state)[0].kind is Kind.TENSOR


def _captured_in_assert(names: Names, test: ast.expr) -> bool:
    """True for a test that becomes an assert of the graph, when its message is constant."""
    return not reads_numbers(names, test) and not any(
        isinstance(part, ast.BoolOp) or (isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not))
        for part in ast.walk(test)
    )


def _only_checks(body: Sequence[ast.stmt]) -> bool:
    """True when statements only compute locally and raise."""
    for statement in body:
        match statement:
            case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Raise() | ast.Return(value=None):
                continue
            # With a constant message an assert is one of the graph, which raises RuntimeError.
            case ast.Assert(msg=message) if not isinstance(message, ast.Constant | None):
                continue
            case ast.Return(value=ast.Constant(value=None)):
                continue
            case ast.Assign(targets=[ast.Name()], value=value) if not any(
                isinstance(part, ast.Call | ast.NamedExpr) for part in ast.walk(value)
            ):
                continue
            case ast.Assign(targets=[ast.Name()], value=ast.Call(func=ast.Attribute(attr=name))) if not name.endswith(
                "_"
            ):
                continue
            case ast.If(test=test, body=inner, orelse=orelse) if _only_checks(inner) and _only_checks(orelse):
                if any(isinstance(part, ast.NamedExpr) for part in ast.walk(test)):
                    return False
            case _:
                return False
    return True
