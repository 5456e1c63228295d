"""What a script has to look at to see one difference: statements before and after the call.

They may use `named` (arguments by name), `owner`, `module`, `result`, `error`, `text` (of the exception), and add to
`lines`; see `reproduce` and `script_parts`.
"""

from __future__ import annotations

import re
import textwrap

from gbfix.equivalence.model import Difference, Mode

_ENDED = "lines.append(text)\n"
_HOW_IT_ENDED = 'lines.append(text.partition(":")[0])\n'

_OF_A_TENSOR = {
    "dtype": "value.dtype",
    "shape": "list(value.shape)",
    "device": "value.device",
    "requires_grad": "value.requires_grad, value.is_leaf",
    "strides": "strides(value)",
}

_KNOWN = """\
known = []
for root in (named, {"self": owner}):
    for key in root:
        known += parts(key, root[key], set())
"""
_IDENTITY = """\
if hasattr(value, "__dict__") or isinstance(value, (list, dict)):
    same = next((other for other, each in known if each is value and other != name), "nothing known before")
    lines.append(f"{name} is the same object as {same}")
    known.append((name, value))
"""
_BYTES = """\
spans = [(name, memory(value)) for name, value in known if isinstance(value, torch.Tensor)]
"""
_MEMORY = """\
if isinstance(value, torch.Tensor):
    own = memory(value)
    others = [name for name, span in spans if max(own.start, span.start) < min(own.stop, span.stop)]
    lines.append(f"{name} shares memory with {', '.join(others) or 'nothing'}")
    spans.append((name, own))
"""
_LEAVES = """\
leaves: dict[str, Any] = {}
for root in (named, {"self": owner}):
    for key in root:
        for name, value in parts(key, root[key], set()):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                if not any(value is leaf for leaf in leaves.values()):
                    leaves[name] = value
                    if not value.is_leaf:
                        value.retain_grad()
"""
_BACKWARD = """\
held = [*parts("result", result, set()), *(each for key in named for each in parts(key, named[key], set()))]
outputs: list[Any] = []
for _, value in held:
    if isinstance(value, torch.Tensor) and value.grad_fn is not None:
        if value.dtype.is_floating_point or value.dtype.is_complex:
            if not any(value is each for each in (*outputs, *leaves.values())):
                outputs.append(value)
for leaf in leaves.values():
    leaf.grad = None
failure = None
try:
    if outputs:
        torch.autograd.backward(outputs, [cotangent(each, index) for index, each in enumerate(outputs)])
except BaseException as raised:
    failure = raised
lines.append(f"the backward pass {exception_text(failure)}" if outputs else "no result requires gradients")
"""


def look_at(difference: Difference) -> tuple[str, str]:
    """Statements for before the call, and for after it."""
    where = difference.where.removesuffix(" (second call)")
    root, _, rest = where.partition(" ")
    root = re.split(r"[.\[]", root)[0]
    aspect = difference.aspect
    if root == "messages":
        return _messages(difference)
    if root == "random":
        return "", _HOW_IT_ENDED + "lines += random_lines()\n"
    if root == "mode":
        return "", _HOW_IT_ENDED + "lines += mode_lines()\n"
    if root == "backward" or where == "gradient":
        return _LEAVES, _HOW_IT_ENDED + _BACKWARD
    if root == "gradient":
        return _LEAVES, _HOW_IT_ENDED + _BACKWARD + _gradients(rest.removeprefix("of "), aspect)
    if root in ("result", "argument", "state"):
        before = {"identity": _KNOWN, "memory": _KNOWN + _BYTES}.get(aspect, "")
        return before, _HOW_IT_ENDED + _parts(root, rest, aspect)
    return "", _ENDED


def _messages(difference: Difference) -> tuple[str, str]:
    said = 'lines += [f"{kind}: {said!r}" for kind, said in messages]\n'
    before = f"messages = Messages()\nmessages.record(compiled={difference.mode is Mode.COMPILED})\n"
    after = _HOW_IT_ENDED + said
    for number, stream in ((1, "stdout"), (2, "stderr")):
        if f"{stream} fd: " in f"{difference.original}{difference.rewritten}":  # written below Python
            before += f"file = tempfile.TemporaryFile()\nos.dup2(file.fileno(), {number})\n"
            after += "file.seek(0)\nlines.append(repr(file.read()))\n"
    return before, after


def _parts(root: str, rest: str, aspect: str) -> str:
    name, value = _place(root, rest)
    look = _facts(aspect)
    if root == "state" and aspect == "type":  # also said of what only one version changes
        look += _facts("value")
    return f'for name, value in parts("{name}", {value}, set()):\n{textwrap.indent(look, "    ")}'


def _place(root: str, rest: str) -> tuple[str, str]:
    """The name and the expression of the value in which to look."""
    if root == "result":
        return "result", "result"
    first = re.split(r"[.\[]", rest)[0]
    if root == "argument":
        return first, f"named.get({first!r})"
    if rest.startswith("global "):
        names = rest.removeprefix("global ").partition("[")[0].split(".")
        return names[0], f"vars(module).get({names[0]!r})"
    member = re.match(r"self\.(\w+)", rest)
    return (f"self.{member[1]}", f"getattr(owner, {member[1]!r}, None)") if member else ("self", "owner")


def _facts(aspect: str) -> str:
    if aspect in _OF_A_TENSOR:
        fact = _OF_A_TENSOR[aspect]
        return f'if isinstance(value, torch.Tensor):\n    lines.append(f"{{name}}: {{{fact}}}")\n'
    if aspect == "type":
        return 'lines.append(f"{name}: {type(value).__qualname__}")\n'
    if aspect == "keys":
        held = "list(value) if isinstance(value, dict) else len(value)"
        return f'if isinstance(value, (dict, list, tuple, set)):\n    lines.append(f"{{name}}: {{{held}}}")\n'
    if aspect == "identity":
        return _IDENTITY
    if aspect == "memory":
        return _MEMORY
    return "lines += value_lines(name, value)\n"


def _gradients(name: str, aspect: str) -> str:
    """Of the leaf of that name and those beside it: a gradient of -0.0 is one of 0.0 here."""
    prefix = ".".join(re.split(r"\[", name)[0].split(".")[:2])
    look = 'lines += value_lines(name, value + 0.0) if value is not None else [f"{name}: None"]\n'
    if aspect != "gradient":
        look = _facts(aspect)
    return f"""\
for key, leaf in leaves.items():
    if key.startswith("{prefix}"):
        name, value = f"gradient of {{key}}", leaf.grad
{textwrap.indent(look, " " * 8)}"""
