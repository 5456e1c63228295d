"""What Dynamo says of a graph break: its type, its ids and the stack, from the text of torch 2.6 to 2.14.

2.8 and later give the type, an explanation, hints and a link with the id; 2.7 has no link, 2.6 only one line of text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gbfix.evidence.registry import id_of_type
from gbfix.evidence.stack import StackFrame, read_stack

_ID = re.compile(r"/gb/gb(\d+)\.html")
_HEAD = re.compile(r"Graph break (?:\([^)]*\) )?in user code at (?P<file>.+):(?P<line>\d+)[ \t]*$", re.M)
_REASON = re.compile(r"^(?:Graph Break )?Reason: ?", re.M)
_STACK = re.compile(
    r"^(?:User code traceback:|The graph break occurred in the following user code:"
    r"|Graph break: skip: from user code at:|.*from user code at:)[ \t]*$",
    re.M,
)
_AFTER_STACK = re.compile(r"^(?:Traceback \(most recent call last\):|NoneType: None)", re.M)
_EXCEPTION = re.compile(r"^(?:torch\._dynamo\.exc\.)?(?:Unsupported|UserError|StepUnsupported): ", re.M)
_AFTER_MESSAGE = re.compile(r"^(?:from user code:|Set TORCHDYNAMO_VERBOSE=1|Stack variable source attribution:)", re.M)
_PREAMBLE = re.compile(
    r"\A\s*(?:Encountered graph break when attempting to trace[^\n]*|Encountered intentional debugging graph break:"
    r"|(?:Encountered graph break that we cannot resume from|Failed to handle graph break gracefully)\."
    r"[^\n]*Graph break encountered:)[ \t]*\n"
)
_EXPLANATION = re.compile(
    r"^  Explanation: (?P<text>.*?)(?=^  Hint:|^  Developer debug context:|^ For more details|\Z)", re.M | re.S
)
_SKIPS = (
    "Skipping the function and falling back to eager",
    "then skipping the rest of the function",
    "Skipping the frame and falling back to eager",
    "torch.compile will skip tracing the frame",
    "Graph break: skip:",
)
_LONGEST_EXPLANATION = 2000
_TEXTS_OF_2_6 = {
    "generic_jump ": "GB0170",
    "Data-dependent jump": "GB0170",
    "builtin: ": "GB0059",
    "Tensor.item": "GB0124",
    "Tensor.backward": "GB0123",
    "dynamic shape operator: ": "GB0036",
    "data dependent operator: ": "GB0033",
    "Logger not supported for non-export cases": "GB0291",
    "'skip function ": "GB0007",
    "Graph break due to unsupported builtin ": "GB0007",
    "'inline in skipfiles: ": "GB0008",
}
"""How frequent messages of torch 2.6 begin, which has no types, and the ids that later versions have for them.

From the texts given to `unimplemented` in torch/_dynamo of that time; not run.
"""


@dataclass(frozen=True)
class Message:
    """One reported break. gb: PyTorch's first id, empty without one; others: the further ones. kind: its type text."""

    kind: str
    gb: str = ""
    others: tuple[str, ...] = ()
    explanation: str = ""
    skips_frame: bool = False


def read_message(reason: str) -> Message:
    """The parts of a reason text; the id of a type text without a link is looked up in the installed PyTorch."""
    text = _body(reason)
    kind = next((line.strip() for line in text.splitlines() if line.strip()), "")
    found = [f"GB{number}" for number in dict.fromkeys(_ID.findall(text))]
    if not found and (known := id_of_type(kind) or _id_of_old_text(kind)):
        found = [known]
    explanation = _EXPLANATION.search(text)
    words = explanation["text"] if explanation else text
    return Message(
        kind,
        found[0] if found else "",
        tuple(found[1:]),
        "\n".join(line.strip() for line in words.strip().splitlines())[:_LONGEST_EXPLANATION],
        any(skip in reason for skip in _SKIPS),
    )


def reason_of_artifact(text: str) -> str:
    """The reason in an artifact dynamo_graph_break_reason, with the words that say whether the frame is skipped."""
    stack = _STACK.search(text)
    head = text[: stack.start()] if stack else text
    if (reason := _REASON.search(head)) is not None:
        return head[reason.end() :]
    raised = list(_EXCEPTION.finditer(text))  # a frame given up says why only in the traceback of the exception
    return f"{text[raised[-1].end() :]}\n{head}" if raised else head


def stack_of_artifact(text: str) -> tuple[StackFrame, ...]:
    """The user's frames in an artifact dynamo_graph_break_reason; without any, the position in its first line."""
    if (stack := _STACK.search(text)) is not None:
        after = _AFTER_STACK.search(text, stack.end())
        if frames := read_stack(text[stack.end() : after.start() if after else len(text)]):
            return frames
    head = _HEAD.search(text)
    return (StackFrame(head["file"], int(head["line"]), ""),) if head else ()


def _id_of_old_text(kind: str) -> str:
    return next((known for beginning, known in _TEXTS_OF_2_6.items() if kind.startswith(beginning)), "")


def _body(reason: str) -> str:
    text = _PREAMBLE.sub("", reason)
    text = _EXCEPTION.sub("", text.strip(), count=1) if _EXCEPTION.match(text.strip()) else text.strip()
    after = _AFTER_MESSAGE.search(text)
    return text[: after.start()] if after else text
