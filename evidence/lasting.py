"""What a frame that Dynamo traces changes for good: what would be missing when its graph ended with an error.

Dynamo sets attributes and changes lists and dicts after the graph has run (its side effects), and a backend may write
inputs that the graph changes in place at the end, too. What is made within the frame is not told: nobody else has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_NEW = ("AttributeMutationNew", "ValueMutationNew")
_CHECKS = ("check_in_", "_assert_async")
_PLAIN = (bool, int, str, bytes)
_NORMS = ("batch_norm", "instance_norm")
"""Functions that update running statistics, which no version counter of a fake tensor shows."""


def lasting_changes(output: Any) -> Iterator[str]:  # noqa: ANN401
    """In words, what the frame of an OutputGraph has changed so far (2.6 to 2.14)."""
    effects = output.side_effects
    for variable, stored in effects.store_attr_mutations.items():
        changed = [name for name, value in stored.items() if not _is_put_back(variable, name, value)]
        if changed and _is_older(variable):
            yield f"{_type(variable)}.{changed[0]} is set"
    for variable in effects.id_to_variable.values():
        if _is_older(variable) and not effects.store_attr_mutations.get(variable) and effects.is_modified(variable):
            yield f"a {_type(variable)} is changed"
    if effects.tensor_hooks:
        yield "a hook is registered"
    for node in output.graph.nodes:
        if node.op == "placeholder" and getattr(node.meta.get("example_value"), "_version", 0) > 0:
            yield "an input of the graph is written"
        elif node.op == "call_function" and _updates_statistics(node):
            yield "running statistics are updated"


def may_raise(output: Any) -> bool:  # noqa: ANN401
    """Whether the graph of an OutputGraph holds a check that raises: an assert, or the operator that a fix makes."""
    names = (str(node.target) for node in output.graph.nodes if node.op == "call_function")
    return any(check in name for name in names for check in _CHECKS)


def _is_older(variable: Any) -> bool:  # noqa: ANN401
    """Whether the object was there before the frame began; the dict of its own `**options` came with the call."""
    mutation = getattr(variable, "mutation_type", None)
    is_own = getattr(getattr(variable, "source", None), "is_varkw", False)
    return mutation is not None and type(mutation).__name__ not in _NEW and not is_own


def _is_put_back(variable: Any, name: str, value: Any) -> bool:  # noqa: ANN401
    """Whether an attribute has the constant again that it had before the frame, as after `try: ... finally:`."""
    real = vars(variable).get("value")
    try:
        held, put = vars(real)[name], value.as_python_constant()
    except (TypeError, KeyError, AttributeError, NotImplementedError):
        return False
    return type(held) is type(put) and (held is put or (isinstance(held, _PLAIN) and held == put))


def _type(variable: Any) -> str:  # noqa: ANN401
    real = vars(variable).get("value")
    return type(variable).__name__ if real is None else type(real).__name__


def _updates_statistics(node: Any) -> bool:  # noqa: ANN401
    """Whether a normalisation has running statistics, and is not known to use them alone."""
    if not any(norm in getattr(node.target, "__name__", "") for norm in _NORMS):
        return False
    held = [*node.args[1:3], node.kwargs.get("running_mean")]
    training = node.kwargs.get("training", node.args[5] if len(node.args) > 5 else True)
    return training is not False and any(type(one).__name__ == "Node" for one in held)
