"""Showing that a rewritten program is the same program: inputs, observation, comparison, counts, timing, tests to keep.

Data: `model` (job, observation, verdict), `example` (recipes of arguments)
Inputs: `recipes` (from recipe to tensor, and to source text), `strategies` (Hypothesis), `annotations`
In the process of one version: `loading`, `compiling`, `reach` (which side of a branch ran), `observation`, `describe`,
    `counts`, `bench`, `subject` (the process, and the other end of the line to it)
Comparing: `compare`, `check` (one target: search, shrink, verdict), `reproduce` (the script that shows a difference)
Around it: `pool` (targets side by side), `store` (verdicts on disk), `write_test`, `ray_cluster`
For tests written by hand: `public` (re-exported here), `pytest_plugin`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gbfix.equivalence.graph_counts import assert_graphs
    from gbfix.equivalence.public import assert_equivalent
    from gbfix.equivalence.tensor_strategy import tensors

__all__ = ["assert_equivalent", "assert_graphs", "tensors"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from gbfix.equivalence import public  # imports torch, which most of this package does without

    globals().update({each: getattr(public, each) for each in __all__})
    return globals()[name]
