"""What must be true for marks of sizes to be right and of use, and the words for what a run showed."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gbfix.analysis.project import FileView, Project
from gbfix.codemods._follow import Missed
from gbfix.codemods._recompiled import Recompiled
from gbfix.codemods._size_uses import computes_for_every_size
from gbfix.engine.model import Discharge, Obligation

if TYPE_CHECKING:
    from gbfix.codemods._marked_calls import MarkedStatement, Plan

IS_TENSOR = "the argument is a tensor"
IN_PYTHON = "the call is made in Python"
IS_DYNAMIC = "the size can be dynamic"
EVERY_CALL = "every call of it is marked"

PROVED, OBSERVED, ASSUMED = Discharge.PROVED, Discharge.OBSERVED, Discharge.ASSUMED
_LIMITS = ("recompile_limit", "cache_size_limit")


def about_the_statement(statement: MarkedStatement, one: Recompiled) -> list[Obligation]:
    """The mark is not traced, and stands before a tensor."""
    line = statement.node.lineno
    in_python = Obligation(IN_PYTHON, PROVED, "no compiled function of the given files reaches it", line)
    names = " and ".join(varying.text for varying in one.varying)
    if not statement.is_certain:
        reason = f"what is called here may be something else than {one.name}, and take something else"
        return [in_python, Obligation(IS_TENSOR, ASSUMED, reason, line)]
    if all(varying.is_tensor for varying in one.varying):
        kinds = "kind of call" if len(one.calls) == 1 else f"{len(one.calls)} kinds of calls"
        reason = f"{names} always had a plain tensor in the {kinds} that the run recorded"
        return [in_python, Obligation(IS_TENSOR, OBSERVED, reason, one.line)]
    reason = f"the run does not show that {names} is a plain tensor in every call; a mark of anything else raises"
    return [in_python, Obligation(IS_TENSOR, ASSUMED, reason, one.line)]


def about_the_function(home: FileView, one: Recompiled, plan: Plan) -> list[Obligation]:
    """The marks are of use: the function does not fix the size, and no call goes without."""
    if one.function is not None and computes_for_every_size(home, one.function, one.varying):
        reason = "every operation is element by element or over the whole tensor"
        dynamic = Obligation(IS_DYNAMIC, PROVED, reason, one.line)
    else:
        reason = "the source does not show it; where the program fixes the size, the mark has no effect"
        dynamic = Obligation(IS_DYNAMIC, ASSUMED, reason, one.line)
    if not plan.missed:
        return [dynamic, Obligation(EVERY_CALL, PROVED, "the given files show all of them")]
    return [dynamic, Obligation(EVERY_CALL, ASSUMED, in_words(plan.missed), plan.missed[0].line)]


def in_words(missed: Sequence[Missed]) -> str:
    """The reasons, with the lines of all but the first, which stands elsewhere."""
    first, *others = dict.fromkeys(missed)
    return "; ".join([first.text, *(f"{one.text} (line {one.line})" for one in others)])


def told(one: Recompiled) -> str:
    """How often a function is compiled, and what that would become."""
    without = f"{one.compiles} compilations"
    saved = one.compiles - one.expected
    return f"{without}, {one.expected} with a mark" if saved > 0 and one.varying else without


def causes(project: Project, one: Recompiled) -> str:
    """What else makes PyTorch compile every size for itself, or give up on it."""
    found = []
    if one.entry is not None and one.entry.dynamic is False:
        found.append("dynamic=False compiles every size for itself")
    if one.row.limit_hit:
        found.append("the recompile limit was reached, after which it runs in Python")
        found += _set_limits(project)
    return "".join(f"; {cause}" for cause in found)


def _set_limits(project: Project) -> Iterator[str]:
    """Where the project sets the limit itself."""
    for path, source in sorted(project.files.naming(*_LIMITS)):
        names = project.names_of(path)
        for node in source.nodes:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    name = names.qualified(target) or ""
                    if name.startswith("torch._dynamo.config.") and name.endswith(_LIMITS):
                        yield f"{path}:{node.lineno} sets it: {source.segment(node)}"
