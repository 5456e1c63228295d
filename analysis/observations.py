"""What names held when a line ran in an observed run: data for rules, filled in from evidence on disk.

Facts about runs that happened, not about all runs: an obligation that needs them is `observed`, never `proved`.
"""

from __future__ import annotations

from dataclasses import field

from gbfix.engine.dataclass import dataclass

Size = int | str
"""A size or stride: a number, or an expression such as "2*s0", each symbol of which stands for one number all through
its observation. One with "?" in front has symbols that are no sizes of tensors, and may be anything."""


@dataclass(frozen=True)
class TensorSpec:
    """The facts of one tensor; `dtype` and `device` as torch prints them, without "torch."."""

    dtype: str
    shape: tuple[Size, ...]
    stride: tuple[Size, ...]
    device: str = "cpu"
    requires_grad: bool = False


@dataclass(frozen=True)
class ValueSpec:
    """The facts of one value.

    kind: "tensor", "bool", "int", "float", "complex", "str", "none", "list", "tuple", "dict", "module" or "object".
    type: the dotted name of its class. value: the repr of a Python scalar or text, empty when the run did not fix it
    (a symbolic number). items: what a container holds, by index or key as text; for a module its `training` flag.
    """

    kind: str
    type: str = ""
    tensor: TensorSpec | None = None
    value: str = ""
    items: tuple[tuple[str, ValueSpec], ...] = ()
    length: int | None = None
    """How many items a container holds, listed or not; of a text only where `value` shows just its beginning."""


@dataclass(frozen=True)
class Observation:
    """What names held each of the `count` times that a line was about to run with exactly these facts.

    how: "traced" when Dynamo followed the line (its guards then hold for every call that reused the graph), "eager"
    when the line ran in Python, "resumed" where Dynamo went on within the statement after a break: what the statement
    did before the break has happened then. values: by name, or by dotted path such as "self.scale"; of a name that the
    statement does not mention only kind, type and tensor facts. aliases: names that were the same object or shared
    storage. file: as `Evidence.breaks` write it.
    """

    file: str
    line: int
    function: str
    how: str = "traced"
    count: int = 1
    grad_enabled: bool = True
    values: dict[str, ValueSpec] = field(default_factory=dict)
    aliases: tuple[tuple[str, ...], ...] = ()
    unguarded: tuple[str, ...] = ()
    """Of a traced observation, the names whose facts no guard holds, because Dynamo had no need to look at them.

    They are true of the call that was traced; later calls that reused the graph may differ. What the rest of the frame
    reads after a break is guarded by the resume function, which observes the line once more.
    """
    in_block: bool = False
    """Of a traced observation, whether it was within a `with` or `try`, also one of the functions that call this."""
