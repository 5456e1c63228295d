"""Why a compiled function is compiled again: each kind of guard that can fail, its cause and what helps.

A guard is a condition under which compiled code may be reused. The keys are those of `Recompile.kind` in `model`.
Source: PyTorch's programming model of recompilation; how often each kind compiles was measured with torch 2.13.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class RecompileKind:
    """One kind of guard.

    name: what was met, in a few words. cause: what differed between two calls. price: how many compilations that makes.
    ways_out: what helps, the most transparent first, each with its price. One that begins with "Nothing has to be
    done" says when the recompilation may stay.
    """

    name: str
    cause: str
    price: str
    ways_out: tuple[str, ...]


RECOMPILE_KINDS = {
    "size": RecompileKind(
        "another size",
        "A tensor had another size in one dimension than in the calls before.",
        "The second size compiles once more and makes the dimension dynamic; later sizes are free, but sizes 0 and 1 "
        "compile once each.",
        (
            "Nothing has to be done for ordinary sizes: the second compilation serves all later ones.",
            "torch._dynamo.mark_dynamic(x, dim) on the tensor before the first call compiles once. It raises a "
            "ConstraintViolationError when the program fixes that size after all; maybe_mark_dynamic never raises.",
            "mark_unbacked(x, dim) from torch._dynamo.decorators also covers sizes 0 and 1, but a branch on that size "
            "then breaks the graph or, under fullgraph=True, is an error.",
            "Pad to a few fixed sizes in the caller, for instance in the data loader.",
        ),
    ),
    "shape_expression": RecompileKind(
        "another outcome of a comparison of sizes",
        "The program compares sizes or computes with them (a branch, a modulus, a reshape), and the result differed.",
        "One compilation for each outcome of the comparison.",
        (
            "Nothing has to be done when there are few outcomes: each is compiled once and kept.",
            "Take the branch on the size in the caller, or write the function so that one path serves all sizes.",
        ),
    ),
    "rank": RecompileKind(
        "another number of dimensions",
        "A tensor had another number of dimensions.",
        "One compilation for each number of dimensions.",
        ("Bring the tensor to one number of dimensions in the caller, with unsqueeze or reshape.",),
    ),
    "dtype": RecompileKind(
        "another dtype",
        "A tensor had another dtype.",
        "One compilation for each dtype.",
        (
            "Nothing has to be done when each dtype is meant: each is compiled once.",
            "Otherwise convert in the caller; an integer or float64 batch is often an oversight of the data loader.",
        ),
    ),
    "stride": RecompileKind(
        "another memory layout",
        "A tensor had another memory layout: transposed, sliced, or channels-last in some calls only.",
        "One compilation for each layout.",
        ("Call contiguous() in the caller, which copies when the layout differs.",),
    ),
    "requires_grad": RecompileKind(
        "with and without gradients",
        "A tensor required a gradient in some calls and not in others.",
        "One compilation for each of the two.",
        (
            "Nothing has to be done for training and evaluation: two compilations serve both.",
            "Otherwise call detach() in the caller, where no gradient is needed.",
        ),
    ),
    "device": RecompileKind(
        "another device",
        "A tensor was on another device, or of another kind of storage (the dispatch keys differ).",
        "One compilation for each device.",
        ("Move the tensors to one device in the caller, before the first call.",),
    ),
    "value": RecompileKind(
        "another value",
        "A Python value that the program reads was another one: an argument, an attribute, a global or a closure "
        "variable. Strings, booleans, numbers used in range() and integers held in modules, tuples or "
        "globals are compared exactly.",
        "A number as plain argument: the second value compiles once more, later ones are free. All values that are "
        "compared exactly: one compilation each, until the recompile limit (8) makes the function run in Python.",
        (
            "Pass a number that changes as a tensor without dimensions: one compilation serves all values.",
            "Make a counter that a module changes in forward a buffer: register_buffer(name, torch.tensor(0), "
            "persistent=False). Readers outside then get a tensor, and without persistent=False the state_dict grows.",
            "torch._dynamo.config.allow_unspec_int_on_nn_module = True treats integers of modules like arguments: two "
            "compilations.",
            "Hand a global that changes to the function as an argument.",
        ),
    ),
    "type": RecompileKind(
        "another type",
        "A value was of another Python type, for instance None, or a Parameter where a Tensor had been.",
        "One compilation for each type.",
        ("Pass the same type in every call; a Parameter and a Tensor are two types.",),
    ),
    "identity": RecompileKind(
        "another object",
        "Another object was found where one particular object had been: a function, lambda, enum member or module "
        "made anew for a call.",
        "One compilation for each object, until the recompile limit (8) makes the function run in Python.",
        (
            "Make the function or lambda once, at module level or in __init__, instead of in every call.",
            "Compile the container of several equal modules instead of each of them: one compilation serves all.",
        ),
    ),
    "length": RecompileKind(
        "another length",
        "A list, tuple or dict had another number of items.",
        "One compilation for each length.",
        (
            "Stack the tensors of the list into one tensor with a leading dimension, which can become dynamic.",
            "Pad the list to a fixed length in the caller.",
        ),
    ),
    "keys": RecompileKind(
        "other keys",
        "A dict or set had other keys.",
        "One compilation for each set of keys.",
        ("Pass the same keys in every call; hand over only those that the function reads.",),
    ),
    "global_state": RecompileKind(
        "another setting",
        "A setting of PyTorch or of a module was another one: grad mode, autocast, default dtype, number of threads, "
        "or train() against eval().",
        "One compilation for each combination.",
        ("Nothing has to be done for training and evaluation: each is compiled once and kept.",),
    ),
    "aliasing": RecompileKind(
        "shared arguments",
        "Two arguments were the same tensor in some calls and different ones in others.",
        "One compilation for each pattern of shared tensors.",
        ("Pass a clone() from the caller, which copies, or never pass one tensor under two names.",),
    ),
    "other": RecompileKind(
        "another condition",
        "A condition of another kind no longer held; the text of the guard says which.",
        "One compilation for each outcome.",
        ("Look for the value that the guard names, and keep it the same between calls.",),
    ),
}
"""In the order in which `gbfix explain recompiles` shows them."""
