"""What names hold at the lines that matter, from Dynamo's own knowledge while it traces them.

Dynamo interprets a function symbolically before it compiles it, and knows each value's metadata at each line. Reading
that costs nothing once the function is compiled, and by the guards it holds for every later call that reuses the
graph. Frames that Dynamo gives up are watched while they run, see `watch`.
"""

from __future__ import annotations

import functools
import linecache
import re
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any

from gbfix.evidence import entries
from gbfix.evidence.begun import BEHIND, Begun
from gbfix.evidence.candidates import Candidate
from gbfix.evidence.describe import (
    Unrealized,
    class_names,
    describe,
    describe_variable,
    instance_dict,
    source_text,
    unwrap,
)
from gbfix.evidence.ending import at_end
from gbfix.evidence.facts import Facts
from gbfix.evidence.frame_values import aliases, function_name, mutable, object_identity, outline
from gbfix.evidence.imports import after_import
from gbfix.evidence.journal import Journal
from gbfix.evidence.lasting import lasting_changes, may_raise
from gbfix.evidence.lookup import MISSING, MODULE_STORES, attribute, is_recorded_global
from gbfix.evidence.recorder import working_folder
from gbfix.evidence.sources import Sources
from gbfix.evidence.stack import resumed
from gbfix.evidence.starts import Open, open_locals
from gbfix.evidence.watch import Watcher, is_generator

CONTAINERS = ("list", "tuple", "dict")
NO_VALUE = ("NullVariable", "DeletedVariable", "UnknownVariable")
GENERATED_NAMES = ("___", "__nested_", "__is_tracing_")
"""Locals that Dynamo adds to resume functions begin with these."""
STORES = re.compile(r"\._(?:parameters|buffers|modules)\['(\w+)'\]|\.__dict__\['(\w+)'\]")
"""How a source names an attribute of a module or object: read as the plain `.name` that the program wrote."""


def install(journal: Journal) -> None:
    """Observe values in this process from the moment that it imports Dynamo."""
    facts = Facts(journal)
    observer = Observer(facts, Sources(working_folder()), journal)
    at_end(facts.flush)
    at_end(observer.watcher.finish)
    at_end(observer.finish)
    entries.listen(observer.watcher)
    after_import("torch._dynamo.symbolic_convert", observer.attach)
    after_import("torch._dynamo.output_graph", observer.attach_graphs)
    after_import("torch._dynamo.convert_frame", observer.watcher.attach)


@dataclass
class Pending:
    """An observation whose facts are settled when the trace ends: only then is it known what became guarded."""

    code: CodeType
    line: int
    grad_enabled: bool
    how: str
    values: dict[str, dict[str, object]] = field(default_factory=dict)
    variables: dict[str, Any] = field(default_factory=dict)
    unrealized: dict[str, list[Unrealized]] = field(default_factory=dict)
    real: dict[str, tuple[Any, str]] = field(default_factory=dict)
    """By name, what was read from a real object or a global, and the start of the texts of its guards."""
    guarded_by: dict[str, str] = field(default_factory=dict)
    """By path, the start of the texts of the guards that hold where it leads; Dynamo knows what is there."""
    identities: dict[str, set[tuple[str, int]]] = field(default_factory=dict)
    unmentioned: list[str] = field(default_factory=list)
    at_break: bool = False


@dataclass
class Trace:
    """One attempt of Dynamo to trace a frame with all it inlines. current: the innermost translator running."""

    current: Any = None
    resumes: Candidate | None = None
    """The statement in which a resume function goes on, until its first instruction of the program was reached."""
    in_prologue: bool = False
    """Whether contexts such as no_grad are still being entered again, before a resume function goes on."""
    pending: list[Pending] = field(default_factory=list)
    last: dict[int, Candidate | None] = field(default_factory=dict)
    """By translator, the candidate whose lines are being traced, so that a header of several lines counts once."""
    grad_enabled: dict[int, bool] = field(default_factory=dict)
    """By translator, the gradient mode when its current line began: what it calls may be in another one."""


class Observer:
    """Notes what Dynamo's translators know at candidate lines."""

    def __init__(self, facts: Facts, sources: Sources, journal: Journal) -> None:
        self._facts = facts
        self._sources = sources
        self._journal = journal
        self._threads = threading.local()
        self._failed = False
        self._changes: set[tuple[str, int, str, bool]] = set()
        self._begun = Begun()
        self._reached: set[tuple[str, int, str]] = set()
        self._in_blocks: set[tuple[str, int]] = set()
        """Lines that were reached within a `with` or `try`, also by an attempt that ended before the block did."""
        self.watcher = Watcher(facts, sources, self._quietly)

    def attach(self, module: ModuleType) -> None:
        """Follow the translators of `torch._dynamo.symbolic_convert`.

        Wraps `starts_line` and `run` of the common base class and `_return` of frames (2.6 to 2.14), and
        `log_graph_break`, a function of the module up to 2.9 and a method from 2.10.
        """
        base: Any = module.InstructionTranslatorBase
        base.starts_line = self._wrap_starts_line(base.starts_line)
        base.run = self._wrap_run(base.run)
        module.InstructionTranslator._return = self._wrap_return(module.InstructionTranslator._return)
        owners: tuple[Any, ...] = (base, module.InstructionTranslator, module)
        for owner in owners:
            if "log_graph_break" in vars(owner):
                owner.log_graph_break = self._wrap_log_graph_break(owner.log_graph_break)

    def attach_graphs(self, module: ModuleType) -> None:
        """Look at the graphs of `torch._dynamo.output_graph` (2.6 to 2.14) before they are compiled and cleaned up."""
        module.OutputGraph.compile_subgraph = self._wrap_compile_subgraph(module.OutputGraph.compile_subgraph)

    def _wrap_compile_subgraph(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def compile_subgraph(output: Any, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
            self._quietly(self._note_changes, output)
            return original(output, *arguments, **named)

        return compile_subgraph

    def _wrap_return(self, original: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
        """Look at frames without operations as well, which Dynamo gives up when they return."""

        @functools.wraps(original)
        def leave(translator: Any, instruction: Any) -> None:  # noqa: ANN401
            self._quietly(self._note_changes, translator.output)
            original(translator, instruction)

        return leave

    def finish(self) -> None:
        """Note that nothing was missed, unless a part of ours failed."""
        if not self._failed:
            self._journal.write("looked")

    def _wrap_starts_line(self, original: Callable[[Any, int], None]) -> Callable[[Any, int], None]:
        @functools.wraps(original)
        def starts_line(translator: Any, line: int) -> None:  # noqa: ANN401
            original(translator, line)
            if not self._failed:
                self._quietly(self._line_starts, translator, line)

        return starts_line

    def _wrap_run(self, original: Callable[[Any], None]) -> Callable[[Any], None]:
        @functools.wraps(original)
        def run(translator: Any) -> None:  # noqa: ANN401
            if getattr(translator, "parent", None) is not None:
                original(translator)  # an inlined call: when it raises, it stays the innermost translator
                self._trace().current = translator.parent
                return
            previous, trace = self._trace(), Trace()
            self._threads.trace = trace
            self._quietly(self._frame_starts, translator)
            restarts = False
            try:
                original(translator)
            except Exception as error:
                restarts = "RestartAnalysis" in class_names(error)
                raise
            finally:
                self._threads.trace = previous
                self._quietly(self._frame_ends, translator, trace, restarts)

        return run

    def _wrap_log_graph_break(self, original: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(original)
        def log_graph_break(*arguments: Any, **named: Any) -> None:  # noqa: ANN401
            self._quietly(self._graph_breaks)
            original(*arguments, **named)

        return log_graph_break

    def _quietly(self, action: Callable[..., None], *arguments: Any) -> None:  # noqa: ANN401
        """Run a part of ours; one that fails is told and the last: the program must not notice."""
        if self._failed:
            return
        try:
            action(*arguments)
        except Exception as error:
            self._failed = True
            self._journal.write("problem", message=f"values are no longer observed: {type(error).__name__}: {error}")

    def _trace(self) -> Trace:
        return getattr(self._threads, "trace", None) or Trace()

    def _line_starts(self, translator: Any, line: int) -> None:  # noqa: ANN401
        trace = self._trace()
        trace.current = translator
        trace.grad_enabled[id(translator)] = _grad_enabled()
        if trace.in_prologue:
            trace.in_prologue = not _ends_prologue(translator)
            return
        if trace.resumes is not None:  # the resume function guards what the rest of the frame reads
            trace.pending.append(_read(translator, trace.resumes, "resumed"))
            trace.last[id(translator)], trace.resumes = trace.resumes, None
        candidate = self._sources.lines(translator.f_code.co_filename).get(line)
        if candidate is not None and any(map(_in_block, _callers(translator))):
            self._in_blocks.add((translator.f_code.co_filename, candidate.line))
        if candidate is not None and trace.last.get(id(translator)) is not candidate:
            self.watcher.remember(translator.f_code)
            trace.pending.append(_read(translator, candidate, "traced"))
            self._note_reached(translator, candidate)
        trace.last[id(translator)] = candidate

    def _frame_starts(self, translator: Any) -> None:  # noqa: ANN401
        code: CodeType = translator.f_code
        continued = resumed(code.co_name)
        trace = self._trace()
        trace.resumes = self._sources.lines(code.co_filename).get(continued[1]) if continued else None
        trace.in_prologue = continued is not None
        self._begun.trace(code)

    def _graph_breaks(self) -> None:
        """Observe the innermost line of the program that was being traced, unless it was observed as it started."""
        trace = self._trace()
        if trace.current is not None:
            self._note_changes(trace.current.output)
        translators = [one for one in _callers(trace.current) if self._sources.is_observed(one.f_code.co_filename)]
        self._observe_break(trace, translators[0] if translators else None)
        if translators:  # a function that is compiled here may also be called from outside compiled code
            self.watcher.add(translators[0].f_code, given_up=False)
        for inlined in translators:  # the call that could not be traced is made by Python, see is_generator
            if is_generator(inlined.f_code):
                self.watcher.add(inlined.f_code)

    def _observe_break(self, trace: Trace, translator: Any) -> None:  # noqa: ANN401
        if translator is None or trace.last.get(id(translator)) is not None:
            return
        candidate = self._sources.add(translator.f_code.co_filename, translator.lineno)
        if candidate is not None:
            self.watcher.remember(translator.f_code)
            pending = _read(translator, candidate, "traced")
            pending.at_break = True
            self._note_reached(translator, candidate)
            pending.grad_enabled = trace.grad_enabled.get(id(translator), pending.grad_enabled)
            trace.pending.append(pending)
            trace.last[id(translator)] = candidate

    def _frame_ends(self, translator: Any, trace: Trace, restarts: bool) -> None:  # noqa: ANN401
        """Note what was seen. An attempt that starts again will see the same, up to the break that made it restart."""
        for pending in trace.pending:
            if not restarts or pending.at_break:
                self._note(translator, pending)

    def _note_changes(self, output: Any) -> None:  # noqa: ANN401
        """Note once what a frame has changed that outlives it."""
        code: CodeType = output.root_tx.f_code
        changes = list(lasting_changes(output))
        raises = bool(changes) and may_raise(output)
        for change in changes:
            self._begun.changes(code)
            place = (code.co_filename, code.co_firstlineno, change, raises)
            if place not in self._changes:
                self._changes.add(place)
                file, line = place[:2]
                told = {"function": function_name(code), "change": change, "raises": raises}
                self._journal.write("change", file=file, line=line, **told)

    def _note_reached(self, translator: Any, candidate: Candidate) -> None:  # noqa: ANN401
        """Note once for a line that more may have happened before it in the call than was traced."""
        file = translator.f_code.co_filename
        codes = [one.f_code for one in _callers(translator)]
        changed = (file, candidate.line, BEHIND) in self._reached or any(lasting_changes(translator.output))
        calls = [_source(one) for one in list(_callers(translator))[1:]]
        how = self._begun.reached((file, candidate.line), codes, calls, changed=changed)
        if how and (file, candidate.line, how) not in self._reached:
            self._reached.add((file, candidate.line, how))
            self._journal.write("reached", file=file, line=candidate.line, how=how)

    def _note(self, translator: Any, pending: Pending) -> None:  # noqa: ANN401
        unguarded = _settle(translator.output, pending)
        facts: dict[str, object] = {
            "function": function_name(pending.code),
            "how": pending.how,
            "grad_enabled": pending.grad_enabled,
            "values": pending.values,
            "aliases": aliases({name: pending.identities[name] for name in mutable(pending.values)}),
            "unguarded": unguarded,
            "in_block": (pending.code.co_filename, pending.line) in self._in_blocks,
        }
        locals_of_start = open_locals(unguarded, pending.variables) if pending.how == "traced" else {}
        waiting = Open(pending.code.co_filename, pending.line, facts, locals_of_start, frozenset(pending.unmentioned))
        if locals_of_start:
            self.watcher.complete_at_start(translator.f_code, waiting)
        else:
            waiting.note(self._facts)


def _read(translator: Any, candidate: Candidate, how: str) -> Pending:  # noqa: ANN401
    pending = Pending(translator.f_code, candidate.line, _grad_enabled(), how)
    effects = translator.output.side_effects
    for name, found in translator.symbolic_locals.items():
        variable = _contents(found, effects)
        if name.isidentifier() and not name.startswith(GENERATED_NAMES) and variable is not None:
            _add(pending, name, variable, effects, mentioned=name in candidate.names)
    for name in candidate.names:
        value = translator.f_globals.get(name, MISSING)
        if name not in pending.values and name not in translator.symbolic_globals and is_recorded_global(value):
            pending.values[name] = describe(value)
            pending.real[name] = (value, f"G[{name!r}]")
            pending.identities[name] = {object_identity(value)}
    for path in candidate.paths:
        _add_path(pending, path, translator)
    return pending


def _contents(variable: Any, effects: Any) -> Any:  # noqa: ANN401
    """The tracker of a local: of what is in its cell when inner functions share it; None when it has no value."""
    names = class_names(unwrap(variable))
    if any(name in names for name in NO_VALUE):
        return None
    if "CellVariable" not in names:
        return variable
    return _mutations(effects, variable).get("cell_contents", variable.pre_existing_contents)


def _mutations(effects: Any, variable: Any) -> Mapping[str, Any]:  # noqa: ANN401
    """The attributes that the traced code set on an object: Dynamo puts them off until the graph has run."""
    found: Mapping[str, Any] = effects.store_attr_mutations.get(variable) or {}
    return found


def _add(pending: Pending, name: str, variable: Any, effects: Any, *, mentioned: bool = True) -> None:  # noqa: ANN401
    unrealized: list[Unrealized] = []
    facts = describe_variable(variable, depth=2 if mentioned else 0, unrealized=unrealized)
    others = [_tracked(effects, unwrap(one.variable)._cache.value) for one in unrealized]
    if any(other is not None and "TensorVariable" not in class_names(unwrap(other)) for other in others):
        return  # another name for an object that the traced code can change: no guard holds that it is one
    pending.values[name] = facts
    if not mentioned:
        pending.unmentioned.append(name)
    pending.variables[name] = variable
    pending.identities[name] = _identities(variable)
    if unrealized:
        pending.unrealized[name] = unrealized


def _add_path(pending: Pending, path: str, translator: Any) -> None:  # noqa: ANN401
    first, *rest = path.split(".")
    effects = translator.output.side_effects
    variable, (real, text) = pending.variables.get(first), pending.real.get(first, (MISSING, ""))
    for name in rest:
        if variable is not None:
            variable = unwrap(variable)
            mutated = _mutations(effects, variable)
            if name in mutated:
                variable, text = mutated[name], ""
                continue
            real, source = _real(variable)
            text = text or source
        if _is_in_changed_store(effects, real, name):
            return
        real, text = attribute(real, name), f"{text}.{name}"
        if real is MISSING:
            return
        variable = _tracked(effects, real)
    if variable is not None:
        if not any(name in class_names(unwrap(variable)) for name in NO_VALUE):
            _add(pending, path, variable, effects)
            if text:
                pending.guarded_by[path] = text
    elif real is not MISSING:
        pending.values[path] = describe(real)
        pending.real[path] = (real, text)
        pending.identities[path] = {object_identity(real)}


def _tracked(effects: Any, real: object) -> Any:  # noqa: ANN401
    """The tracker of an object that the traced code can change: what it did is not done to the real one yet."""
    return effects.id_to_variable.get(id(real))


def _is_in_changed_store(effects: Any, real: object, name: str) -> bool:  # noqa: ANN401
    """Whether a module keeps an attribute in a dict of parameters, buffers or submodules that the traced code set."""
    held = instance_dict(real)
    stores = (_tracked(effects, held[store]) for store in MODULE_STORES if store in held and name not in held)
    return any(store is not None and effects.is_modified(store) for store in stores)


def _real(variable: Any) -> tuple[Any, str]:  # noqa: ANN401
    """The real object that a tracker stands for, with the text of its source in guards; MISSING when there is none."""
    names = class_names(variable)
    if "LazyVariableTracker" in names:
        return variable._cache.value, source_text(variable._cache.source)
    if "NNModuleVariable" in names or "UserDefinedObjectVariable" in names:
        return vars(variable).get("value", MISSING), source_text(vars(variable).get("source"))
    return MISSING, ""


def _callers(translator: Any) -> Iterator[Any]:  # noqa: ANN401
    """A translator and those that inline it, the innermost first."""
    while translator is not None:
        yield translator
        translator = getattr(translator, "parent", None)


def _in_block(translator: Any) -> bool:  # noqa: ANN401
    """Whether a `with` or `try` is around the current instruction; from Python 3.11 a `try` is in its table alone."""
    entry = getattr(translator.current_instruction, "exn_tab_entry", None)
    return bool(translator.block_stack) or entry is not None


def _source(translator: Any) -> str:  # noqa: ANN401
    """The lines of the current instruction."""
    file, places = translator.f_code.co_filename, translator.current_instruction.positions
    first = getattr(places, "lineno", None) or translator.lineno
    last = getattr(places, "end_lineno", None) or first
    return "".join(linecache.getline(file, line) for line in range(first, last + 1))


def _grad_enabled() -> bool:
    torch: Any = sys.modules["torch"]
    return bool(torch.is_grad_enabled())


def _ends_prologue(translator: Any) -> bool:  # noqa: ANN401
    """Whether a resume function jumps to where it goes on: the last of what Dynamo puts in front (2.6 to 2.14)."""
    return str(translator.current_instruction.opname).startswith("JUMP")


def _plain_text(source: Any) -> str:  # noqa: ANN401
    return STORES.sub(lambda found: "." + (found[1] or found[2]), source_text(source))


def _settle(output: Any, pending: Pending) -> list[str]:  # noqa: ANN401
    """Complete the facts with what Dynamo knows at the end of the trace; the names that no guard holds."""
    fakes = {_plain_text(tracked.source): tracked.fake for tracked in output.tracked_fakes}
    guards = {_plain_text(guard) for guard in output.guards}
    unguarded = [name for name, waiting in pending.unrealized.items() if not _refresh(waiting)]
    for name, (_, text) in pending.real.items():
        if text in fakes:  # sizes that are dynamic by now are symbols in it
            tensor, kind = describe(fakes[text]).get("tensor"), pending.values[name]
            kind.update({"tensor": tensor} if tensor is not None and "tensor" in kind else {})
    for name, text in [*pending.guarded_by.items(), *((name, text) for name, (_, text) in pending.real.items())]:
        if not any(guard == text or guard.startswith(text + ".") for guard in guards):
            unguarded.append(name)
        elif name in pending.real and pending.values[name]["kind"] in CONTAINERS:  # its items may not be guarded
            pending.values[name] = {key: fact for key, fact in pending.values[name].items() if key != "items"}
    for name, variable in pending.variables.items():
        pending.identities[name] |= _identities(variable)
    for name in pending.unmentioned:
        pending.values[name] = outline(pending.values[name])
    return sorted(set(unguarded))


def _refresh(waiting: list[Unrealized]) -> bool:
    """Whether Dynamo has looked at all of them by now."""
    return all([one.refresh() for one in waiting])  # noqa: C419 (each of them, also after the first that fails)


def _identities(variable: Any) -> set[tuple[str, int]]:  # noqa: ANN401
    """What tells the object of a tracker; of a tensor that was passed in, both the real one and the fake one."""
    variable = unwrap(variable)
    if "LazyVariableTracker" in class_names(variable):
        return {object_identity(variable._cache.value)}
    if "TensorVariable" in class_names(variable):
        meta = variable.proxy.node.meta
        known = (meta.get("example_value", variable), _alive(getattr(meta.get("grapharg"), "_example", None)))
        return {object_identity(value) for value in known if value is not None}
    real, _ = _real(variable)
    return {("variable", id(variable)) if real is MISSING else object_identity(real)}


def _alive(example: Any) -> Any:  # noqa: ANN401
    """The tensor that a GraphArg was made for: it holds a weak reference to it (torch 2.13, variables/builder.py)."""
    return example() if class_names(example) & {"TensorWeakRef", "ReferenceType"} else example
