"""Showing that a rewritten program is the same program: inputs, observation, comparison, counts, timing, tests to keep.

A check has a command (`gbfix.cli`), for each target a host, and for each version and mode a process, which alone runs
the program. The modules by what they are for, the way into each group first:

Data: `model` (job, observation, verdict), `example` (a call as a recipe).
In the command: `pool` and `ray_cluster` (hosts), `store` (verdicts on disk), `keys` (when one can be used again).
The host: `host`, `work`, `check` (one target), `search`, `learning`, `comparing`, `exercised`, `processes` (their end).
Its versions: `versions` (two in step), `subject` (one, from outside), `starting`, `line` (between the processes).
What is known of calls: `signatures`, `recorded`, `annotations`, `forms`, `sizes`.
Examples: `strategies`, `generated`, `given` (by the user), `inputs` (what all are), `drawn_calls`, `elements`.
Changes to a call: `features`, `tensor_features`, `feature`, `suggestions`, `named_numbers`, `condition_numbers`.
From recipe to arguments and source: `recipes`, `tensor_recipes`, `tensor_source`.
The process of a version: `serving`, `program`, `loading`, `compiling`, `modules` and `saved_modules` (what to call),
`reach`, `conditions`, `changed_statements`.
A call: `observation`, `promises`, `state`, `messages`, `exceptions`, `gradients`, `randomness`, `modes`, `steady_text`.
A value as data: `describe`, `tensor_facts`, `parts`, `identity`.
Two observations: `compare`, `compare_outcomes`, `compare_values`, `ulp`.
Counting and timing: `counts`, `compile_records`, `bench`, `stopwatch`.
The script that shows a difference: `reproduce`, `script_call`, `script_look`, `script_parts`, `script_text`.
A test of the project as a target: `pytest_runs`, `pytest_reach`, `pytest_process`, `pytest_report`, `pytest_items`.
A test that is written: `write_test`, `written_subject`, `input_text`, `counted_calls`, `parameters`, `python_text`,
    and of these for the old version: `old_program`, `top_level`.
For tests that people write: `public` (offered here), `graph_counts`, `tensor_strategy`, `calls`, `in_process`,
    `pytest_plugin` (the same as fixtures).
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
