"""What an equivalence check works on and what it finds, as data: job, observation, difference, verdict.

Two versions of a program are called with the same examples, each version in a process of its own. Whatever can be
observed of a call is described as an `Observation`; two of them are compared, and the comparison ends in a `Verdict`.
Nothing here does more than say what its data comes to, and nothing imports torch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from gbfix.engine.model import GbfixError
from gbfix.evidence.model import ArgumentsSeen

VERSION = 1


class CheckError(GbfixError):
    """A check that cannot be made: the target does not load, takes arguments that nothing describes, and so on."""


class Status(str, Enum):
    """What a check says of a rewrite. CLOSE only where a tolerance was asked for and used."""

    EQUAL = "equal"
    CLOSE = "close"
    DIFFERENT = "different"
    NOT_TESTED = "not tested"


class Mode(str, Enum):
    """How a version of the program runs."""

    EAGER = "eager"
    COMPILED = "compiled"


# -- what to check -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """What is called. name: as a person writes it ("model:step"). attribute: dotted, within the module.

    file: absolute, symbolic links resolved. module: the name to import it by; search: the folder that has to be on
    sys.path for that. factory: "module:function" or "function" of the same module, called without arguments, which
    gives the callable (an nn.Module or a function); empty when the attribute is the callable, or a class of
    nn.Module that can be built without arguments. saved: a file with the module as a run had it before its first
    call, in place of a factory; script: what ran as `__main__` then.
    """

    name: str
    file: str
    module: str
    search: str
    attribute: str
    factory: str = ""
    saved: str = ""
    script: str = ""


@dataclass(frozen=True)
class Tolerance:
    """|original - rewritten| <= absolute + relative * |original|, for values and gradients of floating dtypes."""

    relative: float
    absolute: float


@dataclass(frozen=True)
class Settings:
    """How to check. examples: calls in eager mode; compiled_examples: how many of them are also run compiled.

    dtype: "" for the observed ones, else the only floating dtype. seconds: the limit for the whole target;
    call_seconds: for one call, compilation included. database: the folder of Hypothesis' examples, "" for none.
    memory: bytes of address space for each version on a CPU, 0 for no limit.
    counts: count graphs, breaks and recompiles, too.
    as_recorded: what a run showed of the arguments stays so: ranks, dtypes, which sizes are equal, which gradients are
    wanted; for fixes that were planned with just that.
    apart: attributes that a fix makes earlier, or keeps as objects of their own, which it says itself: whether they are
    there, and which others are the same object, is not compared.
    """

    backend: str = "eager"
    device: str = "cpu"
    dtype: str = ""
    examples: int = 100
    compiled_examples: int = 12
    tolerance: Tolerance | None = None
    seed: int = 0
    seconds: float = 300.0
    call_seconds: float = 60.0
    memory: int = 0
    bench: bool = False
    database: str = ""
    as_recorded: bool = False
    counts: bool = True
    apart: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """One target to check, complete in itself, so that it can be sent to another process or machine.

    original, rewritten: the texts of the files that differ (or that are not what is on disk), by absolute real path;
    all other files are read from disk. seen: the arguments of recorded calls. inputs: "module:name" of a Hypothesis
    strategy of argument tuples, of a function that returns one, or of one that returns a list of argument tuples.
    fixes: the findings that make up the rewrite, as "file:line CODE", for the report.
    """

    target: Target
    original: Mapping[str, str]
    rewritten: Mapping[str, str]
    seen: tuple[ArgumentsSeen, ...] = ()
    inputs: str = ""
    settings: Settings = Settings()
    fixes: tuple[str, ...] = ()


# -- what was observed of one call ---------------------------------------------------------------


@dataclass(frozen=True)
class TensorFacts:
    """A tensor, bit for bit. data: the elements in row-major order as raw bytes of the machine's order.

    dtype and device as torch prints them, without "torch.". layout: "strided", or another of torch's; then `data`
    holds the dense elements where there are such. Of a large tensor `data` is a digest (see `describe`).
    """

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: str
    requires_grad: bool
    data: bytes
    layout: str = "strided"
    is_leaf: bool = True
    inference: bool = False


@dataclass(frozen=True)
class Described:
    """A value as plain data. type: the dotted name of its class. text: the repr of a scalar or text, exact for floats.

    kind: "tensor", "scalar", "container", "object", "module", "function" (with what it holds on to), "same" or "opaque"
    (nothing is known but the type).
    items: what it holds, by index, key or attribute as text, in order. same_as: the name of what it is the very same
    object as ("x", "self.weight", "result[0]"), empty for a new one; kind "same" stands for something already
    described under that name. shares: the names of those whose memory it shares without being the same object.
    """

    kind: str
    type: str
    tensor: TensorFacts | None = None
    text: str = ""
    items: tuple[tuple[str, Described], ...] = ()
    same_as: str = ""
    shares: tuple[str, ...] = ()


@dataclass(frozen=True)
class Event:
    """Something a person sees. kind: "stdout", "stderr", "log" or "warning". name: logger and level, or category."""

    kind: str
    text: str
    name: str = ""


@dataclass(frozen=True)
class Raised:
    """An exception. causes: the types of `__cause__` and `__context__`, outermost first; with the text after a `raise`.

    from_compiler: the compiler raised it about an operation that fails (its text then is not the program's).
    from_torch: an operation of torch (or of another library in C) raised it, not a `raise` statement of the program.
    """

    type: str
    text: str
    causes: tuple[str, ...] = ()
    from_compiler: bool = False
    from_torch: bool = False


@dataclass(frozen=True)
class BranchTaken:
    """One evaluation of a condition. index: into `Setup.branches`. distance: how far from the other outcome, >= 0."""

    index: int
    outcome: bool
    distance: float | None = None


@dataclass(frozen=True)
class Observation:
    """All that one call showed. arguments, state: after the call, also when it raised.

    state: parameters, buffers and attributes of modules, and the plain values in the globals of the target's module.
    gradients: of arguments and parameters by name, None where torch has None; empty when no result requires gradients
    or none were asked for. random: a digest for each generator ("torch", "cuda:0", "python", "numpy"). modes: switches
    of the process that outlive the call ("grad_enabled", "default_dtype", ...). graphs: compiled during the call.
    """

    result: Described | None = None
    raised: Raised | None = None
    arguments: Described | None = None
    state: Described | None = None
    gradients: Mapping[str, Described | None] = field(default_factory=dict)
    backward_raised: Raised | None = None
    events: tuple[Event, ...] = ()
    random: Mapping[str, str] = field(default_factory=dict)
    modes: Mapping[str, str] = field(default_factory=dict)
    branches: tuple[BranchTaken, ...] = ()
    graphs: int = 0
    seconds: float = 0.0
    again: Observation | None = None
    """A second call with fresh arguments made from the same recipe, which reuses what the first compiled."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of the target. kind: inspect's name of it. annotation: as text, resolved where it can be.

    default: the repr of a plain default value; None when there is none or it is no plain value.
    """

    name: str
    kind: str
    annotation: str = ""
    required: bool = True
    default: str | None = None


@dataclass(frozen=True)
class Condition:
    """A condition of the original that the rewrite touches: where it stands, and its text.

    needs: the outcomes that examples must reach for the rewritten lines to have been exercised. "both" where the
    condition itself changed; "true" or "false" where only what it controls changed; "run" for a changed statement
    that no condition controls, whose one outcome is that it ran. end_line: its last line, 0 when not known.
    controls_to: the last line of what runs for one outcome of it and changed, 0 where nothing of that did.
    """

    file: str
    line: int
    column: int
    text: str
    needs: str = "both"
    end_line: int = 0
    controls_to: int = 0


@dataclass(frozen=True)
class Setup:
    """What a version of the program is, once loaded. module: the target is an nn.Module.

    compiles_itself: calling the target reaches a torch.compile of the program's own, so that it is not compiled once
    more from outside.
    """

    parameters: tuple[Parameter, ...]
    module: bool = False
    compiles_itself: bool = False
    branches: tuple[Condition, ...] = ()
    torch: str = ""


# -- what came of it -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Difference:
    """One thing in which two observations differ.

    aspect: "value", "dtype", "shape", "strides", "device", "requires_grad", "type", "identity", "memory", "gradient",
    "random", "messages", "exception", "backward", "modes", "keys" or "ended" (crash, hang, exit). where: "result",
    "result[1]", "argument x", "gradient of self.weight", "state self.count". ulp: the largest distance in units in the
    last place of a "value" or "gradient" of equal floating dtype, None for others or where NaN or infinity is involved.
    within: inside of the tolerance that was asked for.
    """

    aspect: str
    where: str
    original: str
    rewritten: str
    mode: Mode = Mode.EAGER
    ulp: int | None = None
    within: bool = False

    @property
    def subject(self) -> str:
        """What differs, in words: "dtype of result", "gradient of x", "messages [0]"."""
        kind = self.where.split(" ")[0]
        return (
            self.where if kind.removesuffix("s") == self.aspect.removesuffix("s") else f"{self.aspect} of {self.where}"
        )


@dataclass(frozen=True)
class Counterexample:
    """Inputs for which the versions differ. call: one line for people. program: a script that shows the difference.

    depends_on_earlier_calls: it did not show in a fresh process.
    """

    call: str
    program: str
    differences: tuple[Difference, ...]
    depends_on_earlier_calls: bool = False


@dataclass(frozen=True)
class BranchReached:
    """A condition that the rewrite touches, and how many examples had each outcome; of these, with a backward pass."""

    condition: Condition
    true: int = 0
    false: int = 0
    true_with_gradients: int = 0
    false_with_gradients: int = 0

    @property
    def missing(self) -> tuple[bool, ...]:
        """The outcomes that are needed and were not reached."""
        return tuple(outcome for outcome in self._needed if not (self.true if outcome else self.false))

    @property
    def with_gradients(self) -> bool:
        """Every outcome that is needed was also reached with a backward pass."""
        return all(self.true_with_gradients if needed else self.false_with_gradients for needed in self._needed)

    @property
    def _needed(self) -> tuple[bool, ...]:
        return {"both": (True, False), "true": (True,), "run": (True,), "false": (False,)}[self.condition.needs]


@dataclass(frozen=True)
class BreakSite:
    """A graph break as `gbfix trace` reports it."""

    file: str
    line: int
    gb: str
    kind: str


@dataclass(frozen=True)
class Counts:
    """Of one version: what compiling it in default mode gave, over a first call and calls 2 and 3.

    graphs, breaks, skipped_frames: of the first call. recompiles: of call 2 (other values) and call 3 (other shapes).
    limit_hits: code objects that Dynamo gave up on. fullgraph: compiling with fullgraph=True succeeded; else
    fullgraph_error says why, in one line.
    """

    graphs: int
    breaks: tuple[BreakSite, ...] = ()
    skipped_frames: int = 0
    recompiles_values: int = 0
    recompiles_shapes: int = 0
    limit_hits: int = 0
    fullgraph: bool = False
    fullgraph_error: str = ""
    raised: str = ""
    """The exception of a call that could not be counted, empty when all went through."""


@dataclass(frozen=True)
class Timing:
    """Of one version, in seconds. cold_start: the first call, compilation included, with an empty compile cache.

    steady: medians of the rounds, in the order in which they ran. kernels: kernels (on a GPU) or operators (on a CPU)
    per call, None where the profiler gives none.
    """

    cold_start: float
    steady: tuple[float, ...]
    kernels: int | None = None


@dataclass(frozen=True)
class Bench:
    """Both versions, timed in turns. ratio: rewritten / original of the steady medians; low, high: its spread.

    within_noise: 1.0 lies between low and high.
    """

    original: Timing
    rewritten: Timing
    ratio: float
    low: float
    high: float
    within_noise: bool
    device: str = "cpu"


@dataclass(frozen=True)
class Exercised:
    """What the examples covered, for deciding which obligations were checked. Each is a number of examples.

    returned: those in which the original returned. gradients: those with a backward pass. grad_off: those without grad
    mode. non_contiguous, half, integers, aliased, empty, special (NaN, infinity): those with such an argument.
    no_floats: those without any floating-point or complex one, or that raised. compiled: run compiled, too.
    """

    examples: int = 0
    returned: int = 0
    raised: int = 0
    gradients: int = 0
    grad_off: int = 0
    non_contiguous: int = 0
    half: int = 0
    integers: int = 0
    aliased: int = 0
    empty: int = 0
    special: int = 0
    no_floats: int = 0
    compiled: int = 0


@dataclass(frozen=True)
class CountedCall:
    """A call as source (see `recipes.arguments_source`). training: the mode of a module, None for another target."""

    statements: str
    arguments: str
    training: bool | None = None


@dataclass(frozen=True)
class Verdict:
    """What a check says of one target. reason: one line, always.

    baseline: how the original compiled already differs from the original eager, empty where it does not.
    inputs: where the inputs came from ("14 recorded calls", "annotations", "tests.inputs:strategy").
    key: digest of both versions, target and settings (see `store`).
    """

    target: str
    status: Status
    reason: str
    counterexample: Counterexample | None = None
    branches: tuple[BranchReached, ...] = ()
    exercised: Exercised = Exercised()
    original: Counts | None = None
    rewritten: Counts | None = None
    bench: Bench | None = None
    baseline: str = ""
    inputs: str = ""
    fixes: tuple[str, ...] = ()
    backend: str = ""
    device: str = ""
    torch: str = ""
    seconds: float = 0.0
    key: str = ""
    largest_ulp: int | None = None
    """Of the differences that the tolerance allowed."""
    versions: str = ""
    """Which versions were compared: "original: disk; rewritten: 2 pending fixes"."""
    earlier: bool = False
    """It was found by an earlier check of the same versions, and not again."""
    counted: tuple[CountedCall, ...] = ()
    """The calls that the counts are of."""


@dataclass(frozen=True)
class CheckReport:
    """The document that `gbfix check` writes: a verdict for each target, in the order of their names."""

    root: str
    version: int = VERSION
    verdicts: tuple[Verdict, ...] = ()
