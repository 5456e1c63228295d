from __future__ import annotations

from gbfix.evidence.messages import read_message, reason_of_artifact, stack_of_artifact
from gbfix.evidence.stack import StackFrame

LINK = " For more details about this graph break, please visit: https://example.org/gb/gb{}.html"
LOOP = f"""\
Failed to trace builtin operator
  Explanation: Dynamo does not know print.
    It goes on.
  Hint: Do not.

  Developer debug context: print

{LINK.format("0059")}

*** While handling this graph break, another graph break occurred: ***

graph break in loop
  Explanation: It is in a loop. Skipping the frame and falling back to eager, as graph breaks in loops are unsupported.

  Developer debug context: f

{LINK.format("7000")}
"""
STACK = '  File "/p/a.py", line 9, in f\n    helper(x)\n  File "/p/a.py", line 3, in helper\n    print("x")\n'


def test_several_ids_in_one_message_the_first_is_the_cause() -> None:
    message = read_message(LOOP)
    assert (message.gb, message.others) == ("GB0059", ("GB7000",))
    assert message.kind == "Failed to trace builtin operator"
    assert message.explanation == "Dynamo does not know print.\nIt goes on."
    assert message.skips_frame


def test_an_artifact_of_torch_2_13() -> None:
    text = (
        "Graph break in user code at /p/a.py:3\n"
        "Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):\n\n"
        "Call to print\n  Explanation: No.\n  Hint: Do not.\n\n  Developer debug context: p\n\n"
        f"{LINK.format('0059')}\n\n"
        "Stack variable source attribution:\n  x originated from:\n\n"
        f'User code traceback:\n{STACK}\nTraceback (most recent call last):\n  File "/t/torch/x.py", line 1, in y\n'
    )
    message = read_message(reason_of_artifact(text))
    assert (message.kind, message.gb, message.skips_frame) == ("Call to print", "GB0059", False)
    assert stack_of_artifact(text) == (
        StackFrame("/p/a.py", 9, "f", "helper(x)"),
        StackFrame("/p/a.py", 3, "helper", 'print("x")'),
    )


def test_an_artifact_of_torch_2_6_has_one_line_and_neither_type_nor_link() -> None:
    text = (
        "Graph break in user code at /p/a.py:3\nReason: Unsupported: builtin: print [ConstantVariable] False\n"
        f"User code traceback:\n{STACK}\nNoneType: None\n"
    )
    message = read_message(reason_of_artifact(text))
    assert (message.kind, message.gb) == ("builtin: print [ConstantVariable] False", "GB0059")
    assert stack_of_artifact(text)[-1].line == 3


def test_an_id_from_the_type_text_when_there_is_no_link() -> None:
    text = "Graph break in user code at /p/a.py:3\nReason: Data-dependent branching\n  Explanation: It depends.\n"
    assert read_message(reason_of_artifact(text)).gb == "GB0170"


def test_a_frame_that_is_given_up_tells_why_only_in_the_traceback() -> None:
    text = (
        "Graph break: torch.compile cannot properly resume from this graph break, which results in a skip.\n"
        "torch.compile will skip tracing the frame f (/p/a.py line 8) and fall back to eager.\n"
        f"The graph break occurred in the following user code:\n{STACK}\nTraceback (most recent call last):\n"
        '  File "/t/torch/x.py", line 1, in y\n    raise Unsupported(msg)\n'
        f"torch._dynamo.exc.Unsupported: Call to print\n  Explanation: No.\n\n{LINK.format('0059')}\n\n"
        f"from user code:\n{STACK}"
    )
    message = read_message(reason_of_artifact(text))
    assert (message.kind, message.gb, message.skips_frame) == ("Call to print", "GB0059", True)
    assert [frame.line for frame in stack_of_artifact(text)] == [9, 3]


def test_what_skips_the_rest_of_a_function() -> None:
    for preamble in (
        "Encountered graph break that we cannot resume from. Compiling up to the previous resumable state, then "
        "skipping the rest of the function. Graph break encountered:\n\n",
        "Failed to handle graph break gracefully. Skipping the function and falling back to eager. Graph break "
        "encountered:\n\n",
    ):
        message = read_message(f"{preamble}Call to print\n  Explanation: No.\n")
        assert (message.kind, message.skips_frame) == ("Call to print", True)


def test_a_position_without_a_stack() -> None:
    text = "Graph break (user stack suppressed due to duplicate graph break) in user code at /p/a b.py:3\nReason: x"
    assert stack_of_artifact(text) == (StackFrame("/p/a b.py", 3, ""),)
    assert stack_of_artifact("nothing of the kind") == ()


def test_a_text_that_nobody_knows_keeps_its_words_and_has_no_id() -> None:
    message = read_message("Something quite new happened\nhere")
    assert (message.kind, message.gb, message.others) == ("Something quite new happened", "", ())
    assert message.explanation == "Something quite new happened\nhere"
