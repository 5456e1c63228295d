"""Selected elements that are only the targets of `ctc_loss`, row after row: the same rows, padded to one length."""

from __future__ import annotations

import ast

from gbfix.analysis import sizes
from gbfix.analysis.flow import State
from gbfix.analysis.literals import number_of, shorten
from gbfix.analysis.values import Kind
from gbfix.codemods._mask_duties import SHAPE, TENSORS
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._selections import ADVICE, Selection, SelectionReader, text_with
from gbfix.engine.dataclass import dataclass
from gbfix.engine.model import Discharge, Obligation, Replacement

_LENGTHS = "the length of each target is the number of its selected elements"
_ROWS = "the targets have two dimensions"
_KERNEL = "the loss has the same bits for padded targets"
_LOSSES = ("torch.nn.functional.ctc_loss", "torch.ctc_loss")
_POSITIONS = {"log_probs": 0, "targets": 1, "input_lengths": 2, "target_lengths": 3}


@dataclass(frozen=True)
class Targets:
    """The call of a loss, and the selection that its targets are; node: where that is spelled."""

    call: ast.Call
    node: ast.expr
    selection: Selection


def targets_in(reader: SelectionReader, node: ast.expr, state: State) -> Targets | None:
    """The selection that an expression is, where it is only used as the targets of one loss; None otherwise."""
    selection = reader.selection(node, state) if isinstance(node, ast.Call | ast.Subscript) else None
    if selection is None:
        return None
    parent = reader.source.parents[node]
    use: ast.expr = node
    if isinstance(parent, ast.Assign) and parent.value is node:
        loads = (
            reader.named.loads(parent) if len(parent.targets) == 1 and isinstance(parent.targets[0], ast.Name) else []
        )
        if len(loads) != 1 or reader.meaning(loads[0]) is not node:
            return None
        use = loads[0]
    call = next((one for one in reader.source.ancestors(use) if isinstance(one, ast.Call)), None)
    if call is None or reader.names.qualified(call.func) not in _LOSSES or _argument(call, "targets") is not use:
        return None
    return Targets(call, node, selection)


def padded(reader: SelectionReader, found: Targets, state: State) -> tuple[list[Replacement], list[Obligation]]:
    """The selected elements moved to the front of each row. Raises RefusedError."""
    flow, source, line = reader.flow, reader.source, found.node.lineno
    base, mask = found.selection.base, found.selection.mask
    held, chosen = flow.evaluate(base, state)[0], flow.evaluate(mask, state)[0]
    texts = {part: shorten(source.segment(part)) for part in (base, mask)}
    if not isinstance(mask, ast.Name):
        raise RefusedError(_LENGTHS, f"{texts[mask]} has no name", line, f"give the mask a name; or {ADVICE}")
    if held.shape is None or held.shape != chosen.shape:
        reason = f"nothing shows that {texts[mask]} has the shape of {texts[base]}"
        raise RefusedError(SHAPE, reason, line, f"record a run with gbfix trace; or {ADVICE}")
    lengths = _argument(found.call, "target_lengths")
    if lengths is None or not _counts(reader, lengths, mask):
        reason = f"nothing shows that they are {texts[mask]}.sum(-1)"
        raise RefusedError(_LENGTHS, reason, found.call.lineno, ADVICE)
    obligations = [
        _tensor(held.kind is Kind.TENSOR and not held.assumed, texts[base], line),
        Obligation(SHAPE, Discharge.PROVED, f"it is that of {texts[base]}", line),
        Obligation(_LENGTHS, Discharge.PROVED, shorten(source.segment(reader.meaning(lengths))), found.call.lineno),
        _rows(sizes.ranks(held.shape), texts[base], line),
        _kernel(reader, found),
    ]
    template = ast.parse("_rows.gather(-1, (~_mask).byte().argsort(dim=-1, stable=True))", mode="eval").body
    places = {"_rows": base, "_mask": mask}
    new = text_with(template, {node: places[node.id] for node in ast.walk(template) if isinstance(node, ast.Name)})
    return [Replacement(source.span(found.node), new)], obligations


def _argument(call: ast.Call, name: str) -> ast.expr | None:
    position = _POSITIONS[name]
    if len(call.args) > position and not any(isinstance(one, ast.Starred) for one in call.args):
        return call.args[position]
    return next((keyword.value for keyword in call.keywords if keyword.arg == name), None)


def _counts(reader: SelectionReader, node: ast.expr, mask: ast.Name) -> bool:
    """True for the sum of the mask over its last dimension, by the name of the mask."""
    match reader.meaning(node):
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="sum"), args=args, keywords=keywords):
            summed = name
        case ast.Call(func=func, args=[ast.Name(id=name), *args], keywords=keywords) if (
            reader.names.qualified(func) == "torch.sum"
        ):
            summed = name
        case _:
            return False
    given = [*args, *(keyword.value for keyword in keywords if keyword.arg in ("dim", "axis"))]
    return summed == mask.id and len(given) == len(args) + len(keywords) == 1 and number_of(given[0]) in (-1, 1)


def _tensor(known: bool, text: str, line: int) -> Obligation:
    if known:
        return Obligation(TENSORS, Discharge.PROVED, f"{text} is one", line)
    return Obligation(TENSORS, Discharge.ASSUMED, f"nothing shows that {text} is one", line)


def _rows(ranks: set[int], text: str, line: int) -> Obligation:
    if ranks == {2}:
        return Obligation(_ROWS, Discharge.PROVED, f"{text} has", line)
    if ranks and 2 not in ranks:
        raise RefusedError(_ROWS, f"{text} has another number", line, ADVICE)
    return Obligation(_ROWS, Discharge.ASSUMED, f"nothing shows how many {text} has", line)


def _kernel(reader: SelectionReader, found: Targets) -> Obligation:
    """That targets in rows are computed as those one after the other: cuDNN takes the latter only."""
    line = found.call.lineno
    if _on_cpu(reader, found):
        return Obligation(_KERNEL, Discharge.PROVED, "the scores are on the CPU", line)
    for around in reader.source.ancestors(found.call):
        entered = [item.context_expr for item in around.items] if isinstance(around, ast.With) else []
        if any(_switches_off(reader, manager) for manager in entered):
            return Obligation(_KERNEL, Discharge.ASSUMED, "on an accelerator nobody compared them", line)
    reason = "on CUDA, cuDNN may compute it for targets one after the other"
    return Obligation(_KERNEL, Discharge.ASSUMED, reason, line)


def _on_cpu(reader: SelectionReader, found: Targets) -> bool:
    """True where the scores are known to be on the CPU, at the call or where a `with` of one statement begins."""
    scores = _argument(found.call, "log_probs")
    for around in reader.source.ancestors(found.call):
        state = reader.flow.before.get(around) if isinstance(around, ast.stmt) else None
        if state is not None and scores is not None:
            devices = reader.flow.evaluate(scores, state)[0].devices
            if devices and all(isinstance(one, str) and one.startswith("cpu") for one in devices):
                return True
            parent = reader.source.parents[around]
            if not isinstance(parent, ast.With) or len(parent.body) > 1:
                return False
    return False


def _switches_off(reader: SelectionReader, manager: ast.expr) -> bool:
    if not isinstance(manager, ast.Call) or reader.names.qualified(manager.func) != "torch.backends.cudnn.flags":
        return False
    given = [*manager.args[:1], *(keyword.value for keyword in manager.keywords if keyword.arg == "enabled")]
    return all(isinstance(one, ast.Constant) and one.value is False for one in given)
