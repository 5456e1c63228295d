"""Library functions that compile, that end a compiled region, or that hand callables on.

Names and behaviour read off torch 2.13 (torch/__init__.py, torch/_dynamo/decorators.py) and tried:
`torch.compile` on top of `torch.compiler.disable` still compiles, `disable` on top of `compile` does not.
"""

from __future__ import annotations

from enum import Enum, auto

from gbfix.engine.dataclass import dataclass


class Effect(Enum):
    """What calling a library function means for the callable given to it."""

    COMPILE = auto()
    """Compiles the callable; without one, makes something that does."""
    OPTIMIZE = auto()
    """Makes something that compiles."""
    END = auto()
    """Dynamo does not trace into the callable."""
    SKIP = auto()
    """Dynamo does not trace the callable, but what it calls."""
    PARTIAL = auto()
    """Gives the callable with arguments bound."""
    PROPERTY = auto()
    """Runs the callable when an attribute is read."""
    HAND_ON = auto()
    """Gives back, or a container of, what it was given."""


@dataclass(frozen=True)
class LibraryFunction:
    """A library function with an effect on the argument at `position`, or under `keyword`."""

    effect: Effect
    position: int = 0
    keyword: str = ""


OPTIMIZER = "torch._dynamo.optimize()"
"""Stands for what `torch._dynamo.optimize(...)` gives; the callable is the last argument, after those options."""

_FUNCTIONS = {
    "torch.compile": LibraryFunction(Effect.COMPILE, keyword="model"),
    "torch._dynamo.optimize": LibraryFunction(Effect.OPTIMIZE),
    "torch._dynamo.optimize_assert": LibraryFunction(Effect.OPTIMIZE),
    OPTIMIZER: LibraryFunction(Effect.COMPILE, -1),
    "torch.compiler.disable": LibraryFunction(Effect.END, keyword="fn"),
    "torch._dynamo.disable": LibraryFunction(Effect.END, keyword="fn"),
    "torch._disable_dynamo": LibraryFunction(Effect.END, keyword="fn"),
    "torch._dynamo.decorators.skip": LibraryFunction(Effect.SKIP, keyword="fn"),
    "torch._dynamo.run": LibraryFunction(Effect.END, keyword="fn"),
    "torch._dynamo.allow_in_graph": LibraryFunction(Effect.END, keyword="fn"),
    "torch.compiler.allow_in_graph": LibraryFunction(Effect.END, keyword="fn"),
    "torch._dynamo.nonstrict_trace": LibraryFunction(Effect.END, keyword="traceable_fn"),
    "torch._dynamo.disallow_in_graph": LibraryFunction(Effect.END, keyword="fn"),
    "torch._dynamo.forbid_in_graph": LibraryFunction(Effect.END, keyword="fn"),
    "torch._dynamo.assume_constant_result": LibraryFunction(Effect.END, keyword="fn"),
    "torch.compiler.assume_constant_result": LibraryFunction(Effect.END, keyword="fn"),
    "torch.jit.script": LibraryFunction(Effect.END, keyword="obj"),
    "torch.jit.trace": LibraryFunction(Effect.END, keyword="func"),
    "torch.jit.ignore": LibraryFunction(Effect.END, keyword="fn"),
    "torch.jit.unused": LibraryFunction(Effect.END, keyword="fn"),
    "torch.library.custom_op": LibraryFunction(Effect.END, 1, "fn"),
    "torch.library.triton_op": LibraryFunction(Effect.END, 1, "fn"),
    "triton.jit": LibraryFunction(Effect.END, keyword="fn"),
    "numba.jit": LibraryFunction(Effect.END),
    "numba.njit": LibraryFunction(Effect.END),
    "functools.partial": LibraryFunction(Effect.PARTIAL, keyword="func"),
    "functools.partialmethod": LibraryFunction(Effect.PARTIAL, keyword="func"),
    "functools.cached_property": LibraryFunction(Effect.PROPERTY, keyword="func"),
    "functools.lru_cache": LibraryFunction(Effect.HAND_ON, keyword="user_function"),
    "functools.cache": LibraryFunction(Effect.HAND_ON, keyword="user_function"),
    "collections.OrderedDict": LibraryFunction(Effect.HAND_ON),
    "collections.deque": LibraryFunction(Effect.HAND_ON),
    "typing.cast": LibraryFunction(Effect.HAND_ON, 1),
    "torch.optim.swa_utils.AveragedModel": LibraryFunction(Effect.HAND_ON, keyword="model"),
}

_HANDING_ON = ("copy.", "itertools.", "torch.nn.", "torch.distributed.fsdp.")
_HANDING_NOTHING_ON = ("torch.nn.functional.", "torch.nn.init.")

HANDING_ON_BUILTINS = frozenset(
    {"list", "tuple", "set", "frozenset", "dict", "enumerate", "zip", "reversed", "sorted", "iter", "next"}
    | {"map", "filter"}
)
"""Builtins that give back elements of what they were given."""

CALLING_BUILTINS = frozenset({"map", "filter", "sorted", "min", "max", "iter"})
"""Builtins that call a function given to them."""

RETURNING_SELF = frozenset(
    {"to", "to_empty", "cuda", "cpu", "half", "float", "double", "bfloat16", "type", "eval", "train"}
    | {"requires_grad_", "apply", "share_memory"}
)
"""Methods of torch.nn.Module that return the module."""

RETURNING_ELEMENTS = frozenset({"values", "items", "get", "pop", "popitem", "copy", "setdefault"})
"""Methods of containers that return what is in them."""

RETURNING_CHILDREN = frozenset({"children", "modules", "named_children", "named_modules", "get_submodule"})
"""Methods of torch.nn.Module that return the modules in it."""


def library_function(name: str) -> LibraryFunction | None:
    """What is known of a library function, None when it neither compiles nor hands callables on."""
    known = _FUNCTIONS.get(name)
    if known is None and name.startswith(_HANDING_ON) and not name.startswith(_HANDING_NOTHING_ON):
        return LibraryFunction(Effect.HAND_ON)
    return known
