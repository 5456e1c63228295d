"""Evidence as data: what one run of a program, or its saved trace, showed.

`Evidence` is one versioned JSON document (see `store`). Files are written relative to the folder `root` with "/" when
they lie in it, else absolute. Nothing here has behaviour, and nothing imports torch.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gbfix.analysis.observations import Observation, ValueSpec

VERSION = 1


@dataclass(frozen=True, order=True)
class Place:
    """A line of source; columns are 0-based characters, the end exclusive, None when no record gave them."""

    file: str
    line: int
    function: str = ""
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None


@dataclass(frozen=True)
class Process:
    """One process of the run. rank: None outside distributed runs. complete: it shut down in order."""

    pid: int
    rank: int | None = None
    argv: tuple[str, ...] = ()
    python: str = ""
    torch: str = ""
    settings: dict[str, str] = field(default_factory=dict)
    complete: bool = False


@dataclass(frozen=True)
class ArgumentsSeen:
    """The arguments that an entry was called with, and how many recorded calls had exactly these facts.

    grad_enabled: False when gradients were off in all of them, as far as the lines of the entry tell. integers: of some
    of the calls, the elements of their small integer tensors by path ("ids", "batch[ids]"), where they were kept.
    """

    values: dict[str, ValueSpec]
    calls: int = 1
    grad_enabled: bool = True
    integers: tuple[dict[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True)
class Entry:
    """A function given to torch.compile. compiled_at: the compile call. calls: all calls made, compiled or reused.

    graphs, operations: sums over the frames that its calls compiled; a recompilation adds its own. saved: where its
    module was saved before its first call, empty where it was not.
    """

    function: str
    defined: Place | None = None
    compiled_at: Place | None = None
    backend: str = ""
    fullgraph: bool = False
    dynamic: str = ""
    calls: int = 0
    graphs: int = 0
    operations: int = 0
    arguments: tuple[ArgumentsSeen, ...] = ()
    saved: str = ""


@dataclass(frozen=True)
class Cost:
    """What a site or fragment costs once the program is warm.

    steady: False when the program ended before calls that compile nothing were seen; the other fields are then 0.
    hits_per_call: how often it ran per call of its entry. calls: calls of the entry in the whole run.
    seconds_per_call: time in the fragments that start there, without those called from them.

    Of a break, each run of a fragment that ends there is a hit, or each run of a resume function that starts there,
    whichever are more. Of several functions around the site that were compiled the innermost counts. No event shows a
    frame that runs in Python: when no compiled function stands around it, one hit per call of its entry is taken, which
    is exact for the entry's own function and a guess for a helper. Of a recompile, the runs of its code object.
    Entries that share a site, and processes without a rank, add up; ranks are averaged over those that have the site.
    """

    steady: bool = False
    hits_per_call: float = 0.0
    calls: int = 0
    seconds_per_call: float = 0.0

    @property
    def hits(self) -> float:
        """Hits in the whole run, when every call was like those counted."""
        return self.hits_per_call * self.calls


@dataclass(frozen=True)
class Fragment:
    """One compilation of a code object. id: Dynamo's, such as "3/0". resumes: the line after which it goes on."""

    id: str
    place: Place
    process: int
    entry: str = ""
    resumes: int | None = None
    operations: int = 0
    graph: bool = False
    """True when a graph came out of it; False when Dynamo gave the frame up or found nothing to compile."""
    skipped: str = ""
    """Why the frame runs in Python from now on, empty when it does not."""
    cost: Cost = Cost()


@dataclass(frozen=True)
class Break:
    """A site where Dynamo cut a graph, with all events folded into it.

    place: the innermost frame outside PyTorch and the standard library. project: the innermost frame in the user's
    own project when that is another one. stack: from the outermost frame to the innermost one that was reported.
    gb: PyTorch's id, the first of several, empty when there is none. others: further ids of the same events.
    kind: PyTorch's type text. calls: calls of compiled entries that saw it. first_shape: it happened when its frame
    was compiled for the first time, not only after a recompilation. skipped_frame: the whole frame runs in Python.
    fragments: how many resume functions start there.
    """

    place: Place
    gb: str = ""
    kind: str = ""
    others: tuple[str, ...] = ()
    explanation: str = ""
    source: str = ""
    project: Place | None = None
    stack: tuple[Place, ...] = ()
    entries: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    events: int = 1
    calls: int = 1
    skipped_frame: bool = False
    first_shape: bool = True
    fullgraph: bool = False
    """True when it was seen under fullgraph=True, where it is an error."""
    fragments: int = 0
    cost: Cost = Cost()


@dataclass(frozen=True)
class Recompile:
    """Calls for which no cached graph of a code object could be reused, one row per guard that failed.

    place: the code object compiled again. guard: the text of the check that failed. source_name: the value it looks
    at ("x", "self.step"). dimension: of a size or stride. kind: "size", "rank", "dtype", "stride", "requires_grad",
    "device", "value", "type", "identity", "length", "keys", "global_state", "aliasing", "shape_expression" or "other".
    values: those seen, in order, as text. owner: the line that reads the guarded value, None when Dynamo does not say.
    limit_hit: Dynamo gave up on the code object after too many.
    """

    place: Place
    guard: str
    kind: str = "other"
    source_name: str = ""
    values: tuple[str, ...] = ()
    owner: Place | None = None
    source: str = ""
    entries: tuple[str, ...] = ()
    ranks: tuple[int, ...] = ()
    count: int = 1
    limit_hit: bool = False
    cost: Cost = Cost()
    dimension: int | None = None


@dataclass(frozen=True)
class Change:
    """What a traced function changes that outlives it, in words.

    place: the function. raises: its graph holds a check that raises, after which the change would not be made.
    """

    place: Place
    change: str
    raises: bool = False


@dataclass(frozen=True)
class Evidence:
    """Everything that one run showed. problems: what is missing and why, in words for people.

    mode: "run" (under gbfix trace), "torch_trace" (TORCH_TRACE files) or "torch_logs" (saved log text).
    complete: every process that compiled something shut down in order. exit_status: of the program, None when it was
    not run. hashes: SHA-256 of each source file named here, as it was at the time of the run; empty for one that has
    changed meanwhile.
    unwatched: lines with runs that nobody observed, so that their observations do not cover the run. settled: lines of
    which only the first runs were observed, since these showed nothing new in the end.
    changes: what the traced functions change that outlives them; None when nobody looked. behind: lines before which
    such a change may have happened in their compiled call. in_python: lines that a function led to which Dynamo gave
    up.
    """

    root: str
    version: int = VERSION
    mode: str = "run"
    command: tuple[str, ...] = ()
    exit_status: int | None = None
    complete: bool = True
    problems: tuple[str, ...] = ()
    processes: tuple[Process, ...] = ()
    entries: tuple[Entry, ...] = ()
    fragments: tuple[Fragment, ...] = ()
    breaks: tuple[Break, ...] = ()
    recompiles: tuple[Recompile, ...] = ()
    observations: tuple[Observation, ...] = ()
    unwatched: tuple[Place, ...] = ()
    settled: tuple[Place, ...] = ()
    changes: tuple[Change, ...] | None = None
    behind: tuple[Place, ...] = ()
    in_python: tuple[Place, ...] = ()
    hashes: dict[str, str] = field(default_factory=dict)
