"""Loops over a tensor of integers whose elements Python needs as numbers: sizes, bounds, and what is made of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from gbfix.analysis import sizes
from gbfix.analysis.flow import Flow, flow_of
from gbfix.analysis.project import FileView
from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.values import Category
from gbfix.codemods._listed_sites import gets_list
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._repeated_items import DIMENSION, REPEATED, tensor_obligation
from gbfix.codemods._row_uses import ADVICE, RowUses, follow, iterated, targets_of
from gbfix.codemods._scalar_reads import captures_scalars
from gbfix.codemods._unwritten import unwritten
from gbfix.engine.model import Discharge, Finding, Fix, Obligation, Replacement


def row_findings(view: FileView) -> Iterator[Finding]:
    """Every loop of a compiled function over a tensor of integers that are needed as numbers."""
    if captures_scalars(view):
        return
    for compiled in view.compiled:
        if compiled.fullgraph is True or isinstance(compiled.function.node, ast.Lambda):
            continue
        flow = flow_of(view, compiled.function)
        for loop in [node for node in ast.walk(compiled.function.node) if isinstance(node, ast.For)]:
            if loop in flow.before and view.source.enclosing_function(loop) is compiled.function:
                found = _finding(view, compiled, flow, loop)
                if found is not None and not view.project.torch.captures("item"):
                    yield found


def _finding(view: FileView, compiled: CompiledFunction, flow: Flow, loop: ast.For) -> Finding | None:
    tensor, target = iterated(flow, loop)
    names = targets_of(target) if target is not None else []
    if tensor is None or not names:
        return None
    value = flow.evaluate(tensor, flow.before[loop])[0]
    if not value.tensor_like or value.dtype is None or value.dtype.category is not Category.INT:
        return None
    uses = RowUses(flow, {name.id for name in names})
    message = f"elements of {tensor.id} used as numbers"
    about = (*REPEATED, view.source.span(tensor), message, compiled.function.qualname, compiled.reason)
    try:
        follow(uses, names, loop)
        if not uses.reads or gets_list(view, compiled.function, tensor):
            return None
        line = loop.lineno
        wanted = 2 if isinstance(target, ast.Tuple) else 1
        ranks = sizes.ranks(value.shape or ())
        if ranks and ranks != {wanted}:
            return None
        shown = Discharge.PROVED if ranks else Discharge.ASSUMED
        inside = [part for part in ast.walk(loop) if isinstance(part, ast.stmt) and part is not loop]
        obligations = (
            tensor_obligation(value, tensor.id, line, ADVICE),
            Obligation(DIMENSION if wanted == 1 else "the tensor has two dimensions", shown, f"{tensor.id} has", line),
            *uses.rounding,
            unwritten(flow, tensor.id, inside, line, "in the loop", ADVICE),
        )
    except RefusedError as refused:
        return Finding(*about, (refused.obligation,), advice=refused.advice) if uses.reads else None
    new = Replacement(view.source.span(tensor), f"{tensor.id}.tolist()")
    return Finding(*about, obligations, Fix("read all elements at once, before the loop", (new,)))
