"""Showing that a rewritten program is the same program: inputs, observation, comparison, counts, timing, tests to keep.

Data: `model` (job, observation, verdict), `example` (recipes of arguments)
Inputs: `recipes` (from recipe to tensor, and to source text), `strategies` (Hypothesis), `annotations`
In the process of one version: `loading`, `compiling`, `reach` (which side of a branch ran), `observation`, `describe`,
    `counts`, `bench`, `subject` (the process, and the other end of the line to it)
Comparing: `compare`, `check` (one target: search, shrink, verdict), `reproduce` (the script that shows a difference)
Around it: `pool` (targets side by side), `store` (verdicts on disk), `write_test`, `ray_cluster`
For tests written by hand: `public` (re-exported here), `pytest_plugin`
"""
