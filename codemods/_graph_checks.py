"""Puts checks that raise into an operator of their own, which the graph calls where they stood.

The operator runs the same statements, on the tensors that the graph has computed by then: the exception, its text and
what Python asks of the tensors stay as they are. It returns nothing and is registered as having an effect, so that no
compiler takes it for dead code. Without torch.compile the statements run where they always did.

What is different is how a call ends that fails: within the graph. What the graph or the code around it was to write
(buffers, attributes, the gradient mode after a `with`) may be missing then, a handler in compiled code was traced and
is gone, and a backend that reorders operations may do later ones first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from gbfix.analysis.flow import Flow, State
from gbfix.analysis.project import FileView
from gbfix.analysis.source import SourceFile
from gbfix.codemods._operator_inputs import InputReader, Inputs
from gbfix.codemods._operator_text import OperatorText
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import unused_name
from gbfix.codemods._transforms import operator_obligation
from gbfix.codemods._tree import all_names
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Fix, Obligation, Replacement

PROBE = "operator that raises"
UNDONE = "what compiled code does around the error does not matter"
NO_GRAD_FN = "no grad_fn is shown"
_CLAIM = "the graph can raise"
_OF_A_PLACE = frozenset({"super", "__class__", "locals", "vars", "dir", "eval", "exec"})
"""Names that mean something else in another function."""
_LEAVING = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
_HOLDING = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.NamedExpr, ast.Delete)


def check_around(source: SourceFile, function: ast.AST, check: ast.stmt) -> None:
    """What stands around is traced: at run time no handler hears of the error, and no `with` ends. RefusedError."""
    for parent in source.ancestors(check):
        if parent is function:
            return
        if isinstance(parent, ast.Try | ast.With | ast.AsyncWith):
            kind = "try" if isinstance(parent, ast.Try) else "with"
            reason = f"it stands inside a `{kind}`, which the graph would not end"
            raise RefusedError(_CLAIM, reason, parent.lineno, f"move it out of the `{kind}`")


def undone(view: FileView, checks: Sequence[ast.stmt]) -> Obligation:
    """That a call which fails leaves everything as it would: a run shows whether there is anything to leave.

    Source: side effects and the mutation of inputs come after the graph (torch/_dynamo/side_effects.py).
    """
    line = checks[0].lineno
    seen = [one for check in checks if (one := view.observed(check.lineno)) is not None]
    changes = view.project.changes
    alone = len(seen) == len(checks) and all(one.stands_free for one in seen)
    free = alone and all(one.is_followed for one in seen)
    looked = changes is not None  # else nobody noted what comes before it, either
    if free and looked and (changes == () or all(one.comes_first for one in seen)):
        whole = "no compiled function of the run changes" if changes == () else "nothing in front of the check changes"
        reason = f"{whole} what outlives it, and no `with` or `try` is around the check"
        return Obligation(UNDONE, Discharge.PROVED, reason, line)
    if alone and looked and view.project.runs_again:
        reason = "in the run with the fix no graph with a check changes what outlives it"
        whole = f"no `with` or `try` is around the check; {reason}"
        return Obligation(UNDONE, Discharge.PROVED, whole, line, awaits_run=True)
    reason = "the graph ends with the error, without handlers and what it was still to write, or later than the check"
    if changes is not None and not free:
        reason += "; a `with` or `try` is around it, or around a call that leads here, or Dynamo gave up a caller"
    elif changes:
        reason += f"; in the run {changes[0]}"
    return Obligation(UNDONE, Discharge.ASSUMED, reason, line)


@dataclass(frozen=True)
class Operator:
    """The fix for consecutive checks, and what it relies on."""

    fix: Fix
    obligations: tuple[Obligation, ...]


def as_operator(flow: Flow, checks: Sequence[ast.stmt], needs_value: Callable[[State, ast.expr], bool]) -> Operator:
    """The checks, which follow each other, in one operator. Raises RefusedError."""
    return _Writer(flow, checks, needs_value).operator()


class _Writer:
    def __init__(self, flow: Flow, checks: Sequence[ast.stmt], needs_value: Callable[[State, ast.expr], bool]) -> None:
        self._flow, self._checks = flow, checks
        self._view, self._source = flow.context.view, flow.context.source
        self._line = checks[0].lineno
        self._torch, self._import = self._place()
        self._static, self._rest = self._split(checks[0], needs_value) if len(checks) == 1 else ([], [])

    def operator(self) -> Operator:
        """The edit with what it relies on. Raises RefusedError."""
        if not self._view.project.torch.captures(PROBE):
            reason = "the installed PyTorch does not capture an operator that returns nothing"
            raise RefusedError(_CLAIM, reason, self._line, "install PyTorch 2.13")
        reader = InputReader(self._flow, self._torch)
        for check in self._checks:
            self._check_statement(check)
            own = _stored(check)
            state = self._refined(check)
            self._check_own_names(own, state)
            for part in self._read_parts(check):
                reader.read(part, state, own, self._test(check))
        if not reader.inputs.tensors:
            raise RefusedError(_CLAIM, "it reads no tensor of the function", self._line, "ask for a tensor")
        name = unused_name(f"_check_in_{self._flow.context.function.name.strip('_')}", frozenset(self._taken()))
        written = OperatorText(self._source, self._checks, self._torch, (self._static, self._rest), reader.inputs)
        definition = Replacement(self._source.span(self._import), written.definition(name, self._import))
        fix = Fix("raise from within the graph", (definition, Replacement(written.span, written.call(name))))
        return Operator(fix, tuple(self._obligations(reader.inputs)))

    def _taken(self) -> set[str]:
        return all_names(self._source.tree) | {function.name for function in self._source.functions}

    # -- may it? -----------------------------------------------------------------------------

    def _place(self) -> tuple[str, ast.stmt]:
        """What the file calls torch, and the import below which the operator is defined."""
        body = self._source.tree.body
        definitions = (s.lineno for s in body if isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef))
        first = next(definitions, len(self._source.lines) + 1)
        torch, missing = torch_name(self._view, self._checks[0])
        imports = [s for s in body if isinstance(s, ast.Import | ast.ImportFrom) and s.lineno < first]
        ours = [s for s in imports if isinstance(s, ast.Import) and _imports_torch(s, torch)]
        alone = [s for s in imports if ours and not missing and s.lineno >= ours[0].lineno and self._is_alone(s)]
        if not alone:
            reason = f"no `import {torch}` stands above the first definition"
            advice = "import torch at the top"
            raise RefusedError("torch is imported at the top of the file", reason, self._line, advice)
        return torch, alone[-1]

    def _is_alone(self, statement: ast.stmt) -> bool:
        span = self._source.span(statement)
        before = self._source.lines[span.line - 1][: span.column]
        return not (before + self._source.lines[span.end_line - 1][span.end_column :]).strip()

    def _check_statement(self, check: ast.stmt) -> None:
        """Only what a function elsewhere can do as well: ask, compute and raise."""
        check_around(self._source, self._flow.context.function.node, check)
        if self._flow.entry.gradients_off and not self._flow.entry.seen_off:
            reason = "a decorator turns gradients off, which would stay so after the error"
            raise RefusedError(_CLAIM, reason, self._flow.context.function.node.lineno, "check in the caller")
        span, lines = self._source.span(check), self._source.lines
        before, after = lines[span.line - 1][: span.column], lines[span.end_line - 1][span.end_column :].strip()
        if before.strip() or (after and not after.startswith("#")):
            raise RefusedError(_CLAIM, "something else is on its lines", check.lineno, "give it lines of its own")
        if isinstance(check, ast.If) and check.orelse:
            raise RefusedError(_CLAIM, "it has another side", check.lineno, "let what the `else` holds follow it")
        for part in ast.walk(check):
            if isinstance(part, (*_LEAVING, *_HOLDING)):
                line = getattr(part, "lineno", check.lineno)
                raise RefusedError(_CLAIM, "it does more than ask and raise", line, "compute before the check")
            self._check_writes(part)
            self._check_place_of(part)
            self._check_exception(part, check)
        effects = self._flow.evaluate(self._test(check), self._refined(check))[1].effects
        for note in [*effects.random, *effects.impure]:
            raise RefusedError("the check only asks", note.text, note.line, "compute it before the check")

    def _check_writes(self, part: ast.AST) -> None:
        is_store = isinstance(part, ast.Attribute | ast.Subscript) and not isinstance(part.ctx, ast.Load)
        in_place = isinstance(part, ast.Attribute) and part.attr.endswith("_") and not part.attr.endswith("__")
        if is_store or in_place or isinstance(part, ast.AugAssign):
            line = getattr(part, "lineno", self._line)
            raise RefusedError("the check writes nothing", "it may write in place", line, "compute before the check")

    def _check_place_of(self, part: ast.AST) -> None:
        """Nothing may say, or depend on, where it stands: a message names its function, `__name` that of its class."""
        name = part.id if isinstance(part, ast.Name) else part.attr if isinstance(part, ast.Attribute) else ""
        is_private = name.startswith("__") and not name.endswith("__")
        says = isinstance(part, ast.Expr) and not (
            isinstance(part.value, ast.Call) and self._view.names.qualified(part.value.func) == "torch._assert"
        )
        if name in _OF_A_PLACE or is_private or says:
            line = getattr(part, "lineno", self._line)
            raise RefusedError(_CLAIM, "it depends on the function that it stands in", line, "do it before the check")

    def _check_exception(self, part: ast.AST, check: ast.stmt) -> None:
        """An exception that holds a tensor would hold another one."""
        match part:
            case ast.Raise(exc=ast.Call(args=held)):
                pass
            case ast.Assert(msg=ast.expr() as message):
                held = [message]
            case _:
                return
        for argument in held:
            if not isinstance(argument, ast.Constant | ast.JoinedStr):
                value = self._flow.evaluate(argument, self._refined(check))[0]
                if value.tensor_like:
                    reason = f"{ast.unparse(argument)} is part of the exception"
                    raise RefusedError("the exception holds no tensor", reason, check.lineno, "give it a text")

    def _check_own_names(self, own: frozenset[str], state: State) -> None:
        for name in sorted(own):
            if name in state.values:
                reason = f"it gives {name} another value"
                raise RefusedError("nothing reads what it sets", reason, self._line, f"use a new name for {name}")

    # -- reading -----------------------------------------------------------------------------

    def _test(self, check: ast.stmt) -> ast.expr:
        assert isinstance(check, ast.If | ast.Assert)
        return check.test

    def _split(
        self, check: ast.stmt, needs_value: Callable[[State, ast.expr], bool]
    ) -> tuple[list[ast.expr], list[ast.expr]]:
        """The Python half of `a is not None and a.max() > 3`, and what is asked of tensors."""
        test, state = self._test(check), self._flow.before[check]
        if not isinstance(check, ast.If) or not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
            return [], []
        static: list[ast.expr] = []
        for part in test.values:
            if needs_value(state, part) or self._flow.evaluate(part, state)[1].effects.impure:
                break
            static.append(part)
            state = self._flow.refine(part, state, True)
        return static, test.values[len(static) :] if static else []

    def _refined(self, check: ast.stmt) -> State:
        state = self._flow.before[check]
        for part in self._static:
            state = self._flow.refine(part, state, True)
        return state

    def _read_parts(self, check: ast.stmt) -> list[ast.AST]:
        if self._static and isinstance(check, ast.If):
            return [*self._rest, *check.body]
        return [check]

    # -- what it relies on -------------------------------------------------------------------

    def _obligations(self, inputs: Inputs) -> list[Obligation]:
        found = [
            Obligation("torch is PyTorch", Discharge.PROVED, f"{self._torch} is imported"),
            *dict.fromkeys(inputs.obligations),
            Obligation(
                "the check only asks", Discharge.PROVED, "known operations, which leave nothing behind", self._line
            ),
            *self._shown(inputs),
            operator_obligation(self._view, self._line),
        ]
        return [*found, undone(self._view, self._checks)]

    def _shown(self, inputs: Inputs) -> list[Obligation]:
        """What the text of the exception shows of a tensor."""
        values = [one for check in self._checks for one in ast.walk(check) if isinstance(one, ast.FormattedValue)]
        calls = [
            one
            for check in self._checks
            for one in ast.walk(check)
            if isinstance(one, ast.Call)
            and getattr(one.func, "attr", getattr(one.func, "id", "")) in ("format", "str", "repr")
        ]
        shown = {part.id for one in [*values, *calls] for part in ast.walk(one) if isinstance(part, ast.Name)}
        carrying = sorted(n for n, value in inputs.tensors.items() if n in shown and value.sources)
        if carrying and not all(self._flow.before[check].gradients_off for check in self._checks):
            reason = f"{carrying[0]} may require a gradient, which an operator does not show"
            return [Obligation(NO_GRAD_FN, Discharge.ASSUMED, reason, self._line)]
        return [Obligation(NO_GRAD_FN, Discharge.PROVED, "no tensor with a gradient is part of the text", self._line)]


def _stored(check: ast.stmt) -> frozenset[str]:
    """The names that a statement sets itself."""
    return frozenset(
        part.id for part in ast.walk(check) if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load)
    )


def _imports_torch(statement: ast.Import, name: str) -> bool:
    return any(alias.name == "torch" and (alias.asname or "torch") == name for alias in statement.names)
