"""Loops whose rounds depend on values, as loops of a fixed number of rounds with a flag, or as one fill of all rows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache, partial

from gbfix.analysis.flow import State, flow_of, reads_tensor
from gbfix.analysis.literals import shorten
from gbfix.analysis.liveness import is_read_after
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import parse
from gbfix.analysis.tree import names_in, stored_names
from gbfix.analysis.values import Category, Kind
from gbfix.codemods._branches import branch_findings
from gbfix.codemods._prefix_masks import prefix_in, prefixed
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._sites import torch_name
from gbfix.codemods._text import indentation_of, reindented, unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement

LOOP = ("GBF504", "masked-loop")
ROUNDS = "the rounds do not depend on a tensor"
_ADVICE = (
    "run a fixed number of rounds and keep with torch.where what is done; or keep the loop in the caller. "
    "torch.while_loop takes loops without gradients only"
)
_Made = tuple[list[Replacement], list[Obligation]]


@lru_cache(maxsize=2)
def loop_findings(view: FileView) -> tuple[Finding, ...]:
    """The loops of a file's compiled functions whose rounds depend on values."""
    found: list[Finding] = []
    for compiled in view.compiled:
        found += FunctionLoops(view, compiled).findings()
    return tuple(sorted(found, key=lambda finding: finding.span))


class FunctionLoops:
    """The loops of one compiled function."""

    def __init__(self, view: FileView, compiled: CompiledFunction) -> None:
        self.view = view
        self.source = view.source
        self.compiled = compiled
        self.flow = flow_of(view, compiled.function)

    def findings(self) -> Iterator[Finding]:
        """Every loop over a number of rounds that values decide, fixed or explained."""
        for statement, state in self.flow.before.items():
            if not isinstance(statement, ast.For):
                continue
            leaving = self._break(statement)
            if leaving is not None:
                message = f"loop that ends when {shorten(self._text(leaving.test), 50)}"
                yield self._finding(statement, message, partial(self._with_flag, statement, leaving))
            elif prefix_in(self.flow, statement) is not None:
                yield self._finding(
                    statement,
                    "loop over rows with lengths",
                    partial(prefixed, self.flow, statement, state),
                )
            elif self._counts(statement, state):
                yield self._finding(
                    statement,
                    f"loop over {shorten(self._text(statement.iter), 50)}",
                    partial(self._no_bound, statement),
                )

    def _break(self, loop: ast.For) -> ast.If | None:
        """The branch on a tensor in the body of a loop that leaves it; None where there is none, or more."""
        breaks = [part for part in ast.walk(loop) if isinstance(part, ast.Break)]
        if len(breaks) != 1:
            return None
        branch = self.source.parents[breaks[0]]
        if not isinstance(branch, ast.If) or branch is not loop.body[-1] or branch not in self.flow.before:
            return None  # in the middle of a round it is a branch like others
        return branch if reads_tensor(self.flow, self.flow.before[branch], branch.test) else None

    def _counts(self, loop: ast.For, state: State) -> bool:
        """True for `range(n)` with a tensor: one that is read by `.item()` is the matter of another rule."""
        match loop.iter:
            case ast.Call(func=ast.Name(id="range") as func, args=arguments) if self.view.names.is_builtin(
                func, "range"
            ):
                return any(self.flow.evaluate(part, state)[0].kind is Kind.TENSOR for part in arguments)
            case _:
                return False

    def _no_bound(self, loop: ast.For) -> _Made:
        reason = f"{shorten(self._text(loop.iter))} has as many rounds as a value says, and no bound is known"
        raise RefusedError(ROUNDS, reason, loop.lineno, _ADVICE)

    # -- a flag ----------------------------------------------------------------------------

    def _with_flag(self, loop: ast.For, branch: ast.If) -> _Made:
        """The loop with a flag that says whether it is over, and each round chosen by it. Raises RefusedError."""
        self._check_form(loop, branch)
        value = self.flow.evaluate(branch.test, self.flow.before[branch])[0]
        known = value.kind is Kind.TENSOR and value.dtype is not None and value.dtype.category is Category.BOOL
        if not known or not value.is_scalar:
            reason = f"{self._text(branch.test)} is not known to be a bool tensor without dimensions"
            raise RefusedError("the condition is a bool tensor without dimensions", reason, branch.lineno, _ADVICE)
        text = self._flagged(loop, branch)
        from gbfix.engine.edit import apply_fixes  # loads LibCST, which looking at a program without loops never needs

        original = self.source.text
        span = self.source.span(loop)
        edited = apply_fixes(original, [Fix("", (Replacement(span, text),))])
        view = self.view.project.with_file(parse(self.source.path, edited)).view(self.source.path)
        made = next((f for f in branch_findings(view) if self._is_new(f, view, loop)), None)
        if made is None or made.fix is None:
            reason = made.obligations[0].reason if made is not None else "the round cannot be chosen by a flag"
            line = branch.lineno
            raise RefusedError("each round can be computed and kept or not", reason, line, _ADVICE)
        lines = parse(self.source.path, apply_fixes(edited, [made.fix])).lines
        grown = len(lines) - len(self.source.lines)
        first, last = span.line - 1, span.end_line + grown
        block = "\n".join(
            reindented("\n".join(lines[first:last]).lstrip(), indentation_of(self.source, loop), "").split("\n")
        )
        return [Replacement(span, block)], list(made.obligations)

    def _is_new(self, finding: Finding, view: FileView, loop: ast.For) -> bool:
        grown = len(view.source.lines) - len(self.source.lines)
        end = self.source.span(loop).end_line + grown
        return self.source.span(loop).line < finding.span.line <= end and finding.message.startswith("branch on")

    def _check_form(self, loop: ast.For, branch: ast.If) -> None:
        line = loop.lineno
        if loop.orelse or branch.orelse or len(branch.body) != 1 or len(loop.body) < 2:
            reason = "it does more than end the loop at the end of a round"
            raise RefusedError("the branch only ends the loop", reason, branch.lineno, _ADVICE)
        ranged = isinstance(loop.iter, ast.Call) and self.view.names.is_builtin(loop.iter.func, "range")
        own = ranged or isinstance(loop.iter, ast.Tuple | ast.List | ast.Attribute)
        if not own:
            reason = f"{shorten(self._text(loop.iter))} may be used up by the rounds after the end"
            raise RefusedError("further rounds only cost time", reason, line, _ADVICE)
        for name in stored_names([loop.target]):
            if is_read_after(self.source, self.compiled.function, [loop], name):
                reason = f"{name} is read after the loop, and says when it ended"
                raise RefusedError("further rounds only cost time", reason, line, _ADVICE)
        unbound = names_in([branch.test]) & stored_names(loop.body) - set(self.flow.before[loop].values)
        if unbound or names_in([branch.test]) & stored_names([loop.target]):
            reason = f"{self._text(branch.test)} has no value before the loop"
            raise RefusedError("the condition can be asked before the loop", reason, branch.lineno, _ADVICE)

    def _flagged(self, loop: ast.For, branch: ast.If) -> str:
        torch, _ = torch_name(self.view, loop)
        done = unused_name("done", frozenset(all_names(self.source.tree)))
        test = ast.unparse(branch.test)
        indentation = indentation_of(self.source, loop.body[0])
        first, last = self.source.span(loop.body[0]), self.source.span(loop.body[-2])
        body = "\n".join(self.source.lines[first.line - 1 : last.end_line])[len(indentation) :]
        return "\n".join(
            [
                f"{done} = {torch}.zeros_like({test})",
                f"for {self._text(loop.target)} in {self._text(loop.iter)}:",
                f"    if ~{done}:",
                reindented(body, indentation, "        "),
                f"        {done} = {test}",
            ]
        )

    # -- making findings -------------------------------------------------------------------

    def _finding(self, loop: ast.For, message: str, make: Callable[[], _Made]) -> Finding:
        span = self.source.span(loop)
        about = (*LOOP, span, message, self.compiled.function.qualname, self.compiled.reason)
        try:
            replacements, obligations = make()
        except RefusedError as refused:
            return Finding(*about, (refused.obligation,), advice=refused.advice)
        name, new_import = torch_name(self.view, loop)
        proof = Obligation("torch is PyTorch", Discharge.PROVED, f"{name} is imported")
        fix = Fix("run every round", tuple(replacements), ("torch",) if new_import else ())
        return Finding(*about, tuple(dict.fromkeys((proof, *obligations))), fix)

    def _text(self, node: ast.AST) -> str:
        return self.source.segment(node)
