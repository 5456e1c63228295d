"""Whether something runs the functions of a file in a way that an operator for side effects does not take part in."""

from __future__ import annotations

import re
from functools import lru_cache

from gbfix.analysis.project import FileView, Project
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Discharge, Obligation

NOT_TRANSFORMED = "no transform or dispatch mode runs it"
_TRANSFORMS = (
    r"functorch|\btorch\.func\b|\bvmap\b|\bjvp\b|\bvjp\b|\bjacrev\b|\bjacfwd\b|\bhessian\b|\bautograd\.functional\b"
    r"|\bcheckpoint\s*\(|\bcheckpoint_sequential\b|\btorch\.cond\b|\bwhile_loop\b|\bassociative_scan\b|\bflex_attention\b"
    r"|\btorch\.jit\b|\btorch\.export\b|\btorch\.onnx\b|\bsymbolic_trace\b|\bmake_fx\b|\bFlopCounterMode\b"
    r"|\bTorchDispatchMode\b|\bFakeTensorMode\b|\bswap_module\b"
)
UNTRANSFORMED = "no transform of torch.func runs it compiled"
_OF_FUNCTIONS = (
    r"functorch|\btorch\.func\b|\bvmap\b|\bjvp\b|\bvjp\b|\bjacrev\b|\bjacfwd\b|\bhessian\b|\bautograd\.functional\b"
)
_SETTING = "_logging_functions"
_SETTINGS = r"\b(?:reorderable|ignore)_logging_functions\b"


def transform_obligation(view: FileView, line: int) -> Obligation:
    """vmap, checkpoint, torch.cond and the like do not know the in-graph print and raise. Raises RefusedError."""
    here = re.search(_TRANSFORMS, view.source.text)
    if here is not None:
        word = here.group().rstrip("( ")
        where = view.source.text.count("\n", 0, here.start()) + 1
        reason = f"{word} is used in this file, and does not know the in-graph print"
        raise RefusedError(
            NOT_TRANSFORMED, reason, where, f"move what uses {word} to another file if it never runs this"
        )
    others = _files_with_transforms(view.project)
    if others:
        reason = f"{others[0]} uses one, which does not know the in-graph print"
        return Obligation(NOT_TRANSFORMED, Discharge.ASSUMED, reason, line)
    return Obligation(NOT_TRANSFORMED, Discharge.PROVED, "none of the given files uses one", line)


def operator_obligation(view: FileView, line: int) -> Obligation:
    """Operators of one's own have no rule for batches, and none for the gradients of torch.func."""
    for path in sorted(view.project.files):
        if re.search(_OF_FUNCTIONS, view.project.files.text(path)):
            if view.project.runs_again:  # and whether it ends as before is looked at
                reason = f"{path} uses one, and an operator there is an error of the run with the fix"
                return Obligation(UNTRANSFORMED, Discharge.PROVED, reason, line)
            reason = f"{path} uses one, and an operator is an error there"
            return Obligation(UNTRANSFORMED, Discharge.ASSUMED, reason, line)
    return Obligation(UNTRANSFORMED, Discharge.PROVED, "none of the given files uses one", line)


@lru_cache(maxsize=4)
def _files_with_transforms(project: Project) -> tuple[str, ...]:
    files = project.files
    return tuple(path for path in sorted(files) if re.search(_TRANSFORMS, files.text(path)))


@lru_cache(maxsize=4)
def print_is_configured(project: Project) -> bool:
    """True when the program itself tells Dynamo what to do about its messages."""
    files = project.files
    return any(files.holds(path, _SETTING) and re.search(_SETTINGS, files.text(path)) for path in files)
