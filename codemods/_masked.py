"""Finds what a file computes from the elements that a mask selects, and decides what becomes of each place."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from functools import lru_cache

from gbfix.analysis.flow import State, flow_of
from gbfix.analysis.literals import shorten
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import FunctionNode
from gbfix.analysis.tree import names_in, stored_names
from gbfix.codemods._counts import count_in, counted
from gbfix.codemods._ctc_targets import padded, targets_in
from gbfix.codemods._mask_assign import assigned, assignment_in
from gbfix.codemods._named_selections import own_expressions
from gbfix.codemods._open_sizes import open_size_in
from gbfix.codemods._reductions import reduced, reduction_in
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._selection_draft import Draft
from gbfix.codemods._selections import SelectionReader
from gbfix.codemods._sites import torch_name
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement

REDUCTION = ("GBF501", "masked-reduction")
COUNT = ("GBF502", "masked-count")
ASSIGNMENT = ("GBF503", "masked-assignment")
OPEN = ("GBF505", "data-dependent-shape")
TARGETS = ("GBF507", "selected-targets")

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)
_SETTING = "capture_dynamic_output_shape_ops"
_TITLES = {
    REDUCTION: "reduce all elements, with torch.where for those that are not selected",
    COUNT: "count with torch.count_nonzero",
    ASSIGNMENT: "compute all new values and choose with torch.where",
    TARGETS: "pad the targets, the selected elements of each row first",
}


@lru_cache(maxsize=2)
def masked_findings(view: FileView) -> tuple[Finding, ...]:
    """Every use of a selection, and every size that depends on values, in the compiled functions of a file."""
    found: list[Finding] = []
    if _SETTING in view.source.text:
        return ()
    for compiled in view.compiled:
        if compiled.fullgraph:
            continue  # Dynamo takes open sizes into the graph then.
        found += FunctionSelections(view, compiled).findings()
    if found and view.project.torch.captures("x[mask]"):  # asked last: the answer may take a run of torch
        return ()
    return tuple(sorted(found, key=lambda finding: (finding.span, finding.code)))


def findings_of(view: FileView, rule: tuple[str, str]) -> Iterator[Finding]:
    """The findings of one rule."""
    return (finding for finding in masked_findings(view) if finding.code == rule[0])


class FunctionSelections:
    """The selections of one compiled function."""

    def __init__(self, view: FileView, compiled: CompiledFunction) -> None:
        self.view = view
        self.compiled = compiled
        self.flow = flow_of(view, compiled.function)
        self.reader = SelectionReader(self.flow)
        self.drafts: list[Draft] = []

    def findings(self) -> list[Finding]:
        """The findings of the function; a place inside another one that is fixed, or explained, has none of its own."""
        node = self.compiled.function.node
        if isinstance(node, ast.Lambda):
            self._expression(node.body, self.flow.entry)
        for statement, state in self.flow.before.items():
            if not self._assignment(statement, state):
                for expression in own_expressions(statement):
                    self._expression(expression, state)
        self._settle_names()
        return [self._finding(draft) for draft in self.drafts]

    # -- finding ---------------------------------------------------------------------------

    def _assignment(self, statement: ast.stmt, state: State) -> bool:
        self.reader.used = {}
        site = assignment_in(self.reader, statement, state)
        if site is None:
            return False
        message = f"assignment of as many values as {self._text(site.mask)} selects"
        self.drafts.append(self._draft(ASSIGNMENT, statement, message, lambda: assigned(self.reader, site, state)))
        return True

    def _expression(self, node: ast.expr, state: State) -> None:
        """The places in an expression, outermost first."""
        if isinstance(node, FunctionNode):
            return
        self.reader.used = {}
        counting = count_in(self.reader, node, state)
        if counting is not None:
            message = f"number of elements that {self._text(counting.mask)} selects"
            self.drafts.append(self._draft(COUNT, node, message, lambda: counted(self.reader, counting, state)))
            return
        self.reader.used = {}
        reduction = reduction_in(self.reader, node, state)
        if reduction is not None:
            message = f"{reduction.name} of as many elements as a mask selects"
            self.drafts.append(self._draft(REDUCTION, node, message, lambda: reduced(self.reader, reduction, state)))
            return
        targets = targets_in(self.reader, node, state)
        if targets is not None:
            message = f"as many targets of a loss as {self._text(targets.selection.mask)} selects"
            self.drafts.append(self._draft(TARGETS, node, message, lambda: padded(self.reader, targets, state)))
            self.drafts[-1].used = {}  # it is replaced where it stands
            return
        advice = open_size_in(self.reader, node, state)
        if advice is not None:
            reason = f"the size of {self._text(node)} depends on the values of a tensor"
            refused = RefusedError("the size does not depend on values", reason, node.lineno, advice)
            self.drafts.append(Draft(OPEN, node, f"size of {self._text(node)} depends on values", refused=refused))
            return
        if isinstance(node, _COMPREHENSIONS) and stored_names([node]) & names_in(_results(node)):
            self._expression(node.generators[0].iter, state)
            return  # what its own names hold is not known
        for child in ast.iter_child_nodes(node):
            part = child.value if isinstance(child, ast.keyword) else child
            if isinstance(part, ast.comprehension):
                self._expression(part.iter, state)
            elif isinstance(part, ast.expr):
                self._expression(part, state)

    def _draft(
        self,
        rule: tuple[str, str],
        node: ast.expr | ast.stmt,
        message: str,
        make: Callable[[], tuple[list[Replacement], list[Obligation]]],
    ) -> Draft:
        draft = Draft(rule, node, message)
        try:
            draft.replacements, draft.obligations = make()
        except RefusedError as refused:
            draft.refused = refused
        draft.used = dict(self.reader.used)
        return draft

    # -- names -----------------------------------------------------------------------------

    def _settle_names(self) -> None:
        """A definition goes when every use of its name is rewritten; where one is not, none is."""
        changed = True
        while changed:
            changed = False
            covered = {node for draft in self.drafts if draft.refused is None for node in draft.used}
            for draft in self.drafts:
                for definition in draft.used.values() if draft.refused is None else ():
                    left = [node for node in self.reader.named.loads(definition) if node not in covered]
                    if left:
                        self._refuse_name(draft, left[0])
                        changed = True
                        break
        self._delete_definitions()

    def _refuse_name(self, draft: Draft, other: ast.Name) -> None:
        reason = f"{other.id} is also used in another way, so that the selection would stay"
        draft.refused = RefusedError(
            "the selection is only used in ways that are rewritten", reason, other.lineno, "rewrite that use, too"
        )

    def _delete_definitions(self) -> None:
        """Put the drafts that share a definition together, and take the definition away."""
        merged: list[Draft] = []
        gone = {id(d) for draft in self.drafts if draft.refused is None for d in draft.used.values()}
        by_definition: dict[ast.Assign, Draft] = {}
        for draft in self.drafts:
            if draft.refused is not None:
                merged.append(draft)
                continue
            definitions = list(dict.fromkeys(draft.used.values()))
            first = next((by_definition[d] for d in definitions if d in by_definition), None)
            for definition in definitions:
                if definition not in by_definition:
                    draft.replacements.append(Replacement(self.view.source.span(definition), ""))
                by_definition[definition] = first or draft
            if first is None:
                merged.append(draft)
            else:
                first.replacements += draft.replacements
                first.obligations += draft.obligations
        # What defines such a name is no place of its own any more.
        self.drafts = [draft for draft in merged if not (draft.rule == OPEN and self._inside(draft.node, gone))]

    def _inside(self, node: ast.AST, statements: set[int]) -> bool:
        return any(id(parent) in statements for parent in self.view.source.ancestors(node))

    # -- making findings -------------------------------------------------------------------

    def _finding(self, draft: Draft) -> Finding:
        source = self.view.source
        name, new_import = torch_name(self.view, draft.node)
        span = source.span(draft.node)
        about = (*draft.rule, span, draft.message, self.compiled.function.qualname, self.compiled.reason)
        if draft.refused is not None:
            return Finding(*about, (draft.refused.obligation,), advice=draft.refused.advice)
        proof = Obligation("torch is PyTorch", Discharge.PROVED, f"{name} is imported")
        obligations = (proof, *dict.fromkeys(draft.obligations))
        fix = Fix(_TITLES[draft.rule], tuple(draft.replacements), ("torch",) if new_import else ())
        return Finding(*about, obligations, fix)

    def _text(self, node: ast.AST) -> str:
        return shorten(self.view.source.segment(node), 50)


def _results(node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> list[ast.expr]:
    """What a comprehension computes in each round."""
    tests = [test for generator in node.generators for test in generator.ifs]
    return [node.key, node.value, *tests] if isinstance(node, ast.DictComp) else [node.elt, *tests]
