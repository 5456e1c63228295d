"""A clock, the process, the interpreter's frames or another program, asked within a compiled function.

`time.time()`, `datetime.now()`, `os.getpid()`, `uuid.uuid4()`, `inspect.currentframe()`, `globals()` and the like end
the graph: Dynamo cannot put the answer into it, since the next call would get the same one (GB0007 "Attempted to call
function marked as skipped", GB0059, GB0156).

Before:

    def f(x: torch.Tensor):
        y = x * 2.0
        rank = os.getpid()
        return y + 1.0, rank

After:

    def f(x: torch.Tensor):
        rank = os.getpid()
        y = x * 2.0
        return y + 1.0, rank

Under `@torch.compile`, a number moves out of the function: `f` asks, and passes it to `_f_graph`, which is compiled. A
clock is then read at another moment, which is said as an assumption. Two readings measure the time between, and stay:

    # Before                                 # After
    @torch.compile                           @torch.compile
    def step(x):                             def step(x):
        started = time.perf_counter()            return x @ x
        y = x @ x
        print(time.perf_counter() - started) started = time.perf_counter()
        return y                             y = step(x)
                                             print(time.perf_counter() - started)

Two clocks around computation measure, on an accelerator, how long it takes to hand the work over, not how long the work
takes: `torch.cuda.synchronize()` before the second one, or `torch.cuda.Event`, measures the work.

Stays away, with the way out, from calls that may not run or run several times, whose arguments are not there at the
start, and from frames, names and other programs. A number as an argument is compiled again for its second value and is
free from then on; a text would be compiled for every value, and only moves to the start.

Source: PyTorch's GB0007, GB0059, GB0156.
"""

from __future__ import annotations

from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._early import moved_finding, moves
from gbfix.codemods._host_calls import Reads
from gbfix.codemods._host_sites import HostSite, host_sites
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Rule

NAME = ("GBF320", "host-value-in-region")
_PASS_IN = (
    "call it before the compiled function and pass the result in (a number as torch.tensor(value), when it changes at "
    "every call); what only goes into the result, put there after the compiled function has returned"
)
_ADVICE = {
    Reads.CLOCK: (
        "read the clock in the caller, before and after the call of the compiled function; on an accelerator, "
        "torch.cuda.synchronize() before the second reading, or torch.cuda.Event, measures the work and not its launch"
    ),
    Reads.PROCESS: _PASS_IN,
    Reads.FRAME: "ask in the caller: compiled code has no frames of the functions that it was made of",
    Reads.NAMES: "read what you need by its name, or look it up before the compiled function and pass it in",
    Reads.COMMAND: "run the program in the caller, before or after the compiled function",
    Reads.SLEEP: "wait in the caller",
}
_CLAIMS = {
    Reads.CLOCK: "the clock is read at the same moment",
    Reads.SLEEP: "it waits at the same moment",
}


def find(view: FileView) -> Iterator[Finding]:
    """The calls of one file that ask the world outside."""
    for site in host_sites(view, _ADVICE):
        message = f"call of {site.call.name} within a compiled function"
        moved = moves(view).get(site.call.node)
        yield _refused(site, message) if moved is None else moved_finding(site, NAME, message, moved)


def _refused(site: HostSite, message: str) -> Finding:
    call = site.call
    claim = _CLAIMS.get(call.reads, "nothing between here and the caller changes what is read")
    reason = f"{site.text} reads {call.reads.value}"
    if call.reads is Reads.SLEEP:
        reason = f"{site.text} stands between the operations of a graph"
    refused = RefusedError(claim, reason, call.node.lineno, _ADVICE[call.reads])
    return site.refusal(NAME, message, refused)


RULE = Rule(*NAME, "a clock, the process or the interpreter asked within a compiled function", __doc__, find)
