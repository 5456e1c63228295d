"""Finds the numbers that compiled functions read out of tensors, and decides what becomes of each.

The rules of the scalar family share this reading; each takes the findings of its own code.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache

from gbfix.analysis.flow import flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.values import INT64, Category
from gbfix.codemods import _scalar_dtypes as dtypes
from gbfix.codemods import _scalar_duties as duty
from gbfix.codemods._all_any import questions_of
from gbfix.codemods._counter import Counter
from gbfix.codemods._metrics import ADVICE, METRIC, SUMMED, accumulation, metric_fix, metric_obligations
from gbfix.codemods._obligations import refusal, shorten
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_reads import Read, captures_scalars, reads_of
from gbfix.codemods._scalar_sinks import CAPTURE, OUTSIDE
from gbfix.codemods._scalar_truths import truths_of
from gbfix.codemods._scalar_uses import ForeignError, UseFollower, Uses
from gbfix.codemods._sites import torch_name
from gbfix.codemods._tails import tails_of
from gbfix.codemods._text import indentation_of, render
from gbfix.codemods.number_handed_on import handed_findings
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement, Span

ARITHMETIC = ("GBF201", "item-in-arithmetic")
INDEX = ("GBF202", "tensor-as-index")
MATH = ("GBF203", "math-on-item")
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Subscript)


@lru_cache(maxsize=2)
def scalar_findings(view: FileView) -> tuple[Finding, ...]:
    """Every number read out of a tensor in the compiled functions of a file, in source order, each with one code."""
    if captures_scalars(view):
        return ()
    found: list[Finding] = []
    for compiled in view.compiled:
        if compiled.fullgraph is not True:  # the whole graph is captured, numbers included
            found += FunctionScalars(view, compiled).findings()
    if found and view.project.torch.captures("item"):  # asked last: the answer may take a run of torch
        return ()
    return tuple(sorted(found, key=lambda finding: (finding.span, finding.code)))


def findings_of(view: FileView, rule: tuple[str, str]) -> Iterator[Finding]:
    """The findings of one rule."""
    return (finding for finding in scalar_findings(view) if finding.code == rule[0])


class FunctionScalars:
    """The numbers of one compiled function."""

    def __init__(self, view: FileView, compiled: CompiledFunction) -> None:
        self.view = view
        self.source = view.source
        self.compiled = compiled
        self.flow = flow_of(view, compiled.function)

    def findings(self) -> Iterator[Finding]:
        """One finding for each reading whose uses are this family's business."""
        tail = tails_of(self.view).get(self.compiled.function)
        handed = {finding.span for finding in handed_findings(self.view)}
        for read in reads_of(self.flow):
            if (tail is not None and tail.holds(read.node)) or self.source.span(read.node) in handed:
                continue
            uses = Uses()
            place = accumulation(self.source, read.node)
            if place is not None:
                yield self._metric(read, place)
                continue
            try:
                follower = UseFollower(self.flow)
                uses = follower.uses
                if read.listed:
                    follower.follow_list(read.node)
                elif read.implicit and isinstance(self.source.parents[read.node], ast.Call):
                    follower.follow_function(read.node)
                else:
                    follower.follow(read.node)
                yield self._decide(read, uses)
            except ForeignError:
                continue
            except RefusedError as refused:
                yield self._finding(read, uses, [refused.obligation], None, refused.advice or OUTSIDE)
        for node, needed in truths_of(self.flow):
            if tail is not None and tail.holds(node):
                continue
            message = f"{shorten(' '.join(self.source.segment(node).split()), 60)} reads the value of a tensor"
            where = self.source.span(node)
            told = (needed.obligation,)
            names = (self.compiled.function.qualname, self.compiled.reason)
            yield Finding(*ARITHMETIC, where, message, *names, told, None, needed.advice)

        yield from self._questions()

    def _questions(self) -> Iterator[Finding]:
        """What branches ask about each element, which becomes a question about the whole tensor."""
        for call, text, needed in questions_of(self.flow):
            span = self.source.span(call)
            message = f"{shorten(' '.join(self.source.segment(call).split()), 60)} asks each element of a tensor"
            fix = Fix("ask the whole tensor", (Replacement(span, text),)) if text else None
            advice = "" if text else "compare the whole tensor, and ask it with .all() or .any()"
            names = (self.compiled.function.qualname, self.compiled.reason)
            yield Finding(*ARITHMETIC, span, message, *names, (needed,), fix, advice)

    def _metric(self, read: Read, place: ast.AugAssign | ast.Call) -> Finding:
        """A number that is added to what other calls gave."""
        try:
            owner, target = self.compiled.function.owner, getattr(place, "target", None)
            if owner is None or not isinstance(target, ast.Attribute):
                raise RefusedError(
                    SUMMED, "it is kept in a container, or not in a method's object", place.lineno, ADVICE
                )
            fix, used = metric_fix(Counter(self.view, owner, target.attr), self.compiled, read, place)
            obligations = duty.read_obligations(self.flow, read, Uses())
            obligations = duty.worst_of_each([*metric_obligations(read, obligations), used])
            refused = refusal(obligations, ADVICE)
            if refused is not None:
                raise refused
            self._check_handlers(read, obligations)
        except RefusedError as refused:
            return self._finding(read, Uses(), [refused.obligation], None, refused.advice or ADVICE, METRIC)
        return self._finding(read, Uses(), obligations, fix, "", METRIC)

    def _decide(self, read: Read, uses: Uses) -> Finding:
        obligations = duty.read_obligations(self.flow, read, uses)
        for meeting in uses.meetings:
            obligations += duty.meeting_obligations(self.flow, read, uses, meeting)
        obligations = duty.worst_of_each(obligations)
        refused = refusal(obligations, f"{OUTSIDE}; {CAPTURE}")
        if refused is not None:
            raise refused
        self._check_handlers(read, obligations)
        name, new_import = torch_name(self.view, read.node)
        replacements = self._replacements(read, uses, name)
        fix = Fix("keep the number a tensor", replacements, ("torch",) if new_import else ())
        proof = "the import is added" if new_import else f"{name} is imported"
        return self._finding(
            read, uses, [Obligation("torch is PyTorch", Discharge.PROVED, proof), *obligations], fix, ""
        )

    def _check_handlers(self, read: Read, obligations: list[Obligation]) -> None:
        """Inside a `try`, what raised for some values ran a handler."""
        advice = "move it out of the `try`"
        for parent in self.source.ancestors(read.node):
            if parent is self.compiled.function.node:
                return
            for o in obligations if isinstance(parent, ast.Try) and parent.handlers else ():
                if o.discharge is Discharge.ASSUMED and o.claim != duty.DEVICE:
                    raise RefusedError(o.claim, f"a handler is near, and {o.reason}", o.line, advice)

    # -- writing ---------------------------------------------------------------------------

    def _replacements(self, read: Read, uses: Uses, torch: str) -> tuple[Replacement, ...]:
        edits = {read.node: self._tensor_text(read, uses, torch)}
        for call in uses.functions:
            edits[call.func] = f"{torch}.{(self.view.names.qualified(call.func) or '').removeprefix('math.')}"
        for node in uses.numerators:
            edits[node] = f"{torch}.tensor({self.source.segment(node)}, dtype={torch}.float64)"
        casts = [dtypes.cast_at(self.flow, torch, read, uses, meeting) for meeting in uses.meetings]
        missing = None if dtypes.is_integral(read, uses) else dtypes.cast_is_missing(uses.meetings, casts)
        if missing is not None:
            text = shorten(self.source.segment(missing.tensor))
            raise RefusedError(dtypes.DTYPE, f"{text} may have no dimension", missing.line, f"give {text} a name")
        for meeting, cast in zip(uses.meetings, casts, strict=True):
            if cast:
                inner = self._with_edits(meeting.top, edits)
                simple = isinstance(meeting.top, _ATOMS)
                edits[meeting.top] = f"{inner}{cast}" if simple else f"({inner}){cast}"
        for subscript in uses.indexed:
            edits[subscript] = f"{self._with_edits(subscript, edits)}[{_place(subscript)}]"
        spans = {node: self.source.span(node) for node in edits}
        outer = [n for n in edits if not any(o is not n and _contains(spans[o], spans[n]) for o in edits)]
        return tuple(sorted((Replacement(spans[n], edits[n]) for n in outer), key=lambda r: r.span))

    def _with_edits(self, node: ast.expr, edits: dict[ast.expr, str]) -> str:
        """The text of an expression on one line, with the edits inside it made. Raises RefusedError."""
        if node in edits:
            return edits.pop(node)
        span = self.source.span(node)
        if span.line != span.end_line:
            raise RefusedError(
                "the expression stands on one line", "it spans lines, and its dtype has to be given", span.line, ""
            )
        text = self.source.segment(node)
        inside = [(self.source.span(n), n) for n in edits if _contains(span, self.source.span(n))]
        for place, inner in sorted(inside, key=lambda pair: pair[0], reverse=True):
            new = edits.pop(inner)
            text = text[: place.column - span.column] + new + text[place.end_column - span.column :]
        return text

    def _tensor_text(self, read: Read, uses: Uses, torch: str) -> str:
        """The tensor without dimensions that stands for the number, shared with nobody."""
        text = render(self.source, read.tensor, {}, indentation_of(self.source, read.tensor)) or ""
        if not isinstance(read.tensor, _ATOMS):
            text = f"({text})"
        # What has a name may be written under it before the number is used.
        dtype, fresh = read.value.dtype, read.value.fresh and isinstance(read.tensor, ast.Call | ast.BinOp)
        if uses.indexed and read.implicit:
            return text  # read at once, and only as an index
        if read.listed:
            fresh = False
        elif read.index is not None:
            text, fresh = f"{text}[{read.index}]", False
        elif not read.value.is_scalar:
            text += ".reshape(())"
        carries = dtype is None or dtype.category not in (Category.INT, Category.BOOL)
        if carries and not text.endswith(".detach()"):
            text += ".detach()"
        if dtypes.is_integral(read, uses):
            if fresh:
                return text if dtype == INT64 else f"{text}.to({torch}.int64)"
            return f"{text}.to({torch}.int64, copy=True)"
        return f"{text}.double()" if fresh else f"{text}.to({torch}.float64, copy=True)"

    def _rule(self, read: Read, uses: Uses) -> tuple[str, str]:
        subscript = read.implicit and not isinstance(self.source.parents[read.node], ast.Call)
        if uses.indexed or subscript:
            return INDEX
        return MATH if uses.functions or read.implicit else ARITHMETIC

    def _finding(
        self,
        read: Read,
        uses: Uses,
        obligations: list[Obligation],
        fix: Fix | None,
        advice: str,
        rule: tuple[str, str] | None = None,
    ) -> Finding:
        text = " ".join(self.source.segment(read.tensor).split())
        return Finding(
            *(rule or self._rule(read, uses)),
            self.source.span(read.node),
            f"number read out of {shorten(text, 60)}",
            self.compiled.function.qualname,
            self.compiled.reason,
            tuple(obligations),
            fix,
            advice,
        )


def _place(subscript: ast.Subscript) -> str:
    """The index that takes out the one element of the dimension that a tensor of one index leaves."""
    parts = subscript.slice.elts if isinstance(subscript.slice, ast.Tuple) else [subscript.slice]
    return ", ".join(":" if isinstance(part, ast.Slice) else "0" for part in parts).removesuffix(", :")


def _contains(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
