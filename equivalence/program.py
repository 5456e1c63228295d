"""One version of a program in one mode, loaded: what it is, and what its calls show.

Runs in the process of the version, see `serving`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch._dynamo

from gbfix.equivalence import reach
from gbfix.equivalence.compiling import Compiler, CountingBackend
from gbfix.equivalence.counts import count
from gbfix.equivalence.example import Example
from gbfix.equivalence.loading import load, substitute, text_of
from gbfix.equivalence.model import CheckError, Condition, Counts, Mode, Observation, Parameter, Settings, Setup, Target
from gbfix.equivalence.modules import Callee, Callees, parameters_of, seed_generators
from gbfix.equivalence.observation import observe_call
from gbfix.equivalence.recipes import build


@dataclass(frozen=True)
class Version:
    """What to load. See `subject.Subject` for the fields."""

    target: Target
    texts: Mapping[str, str]
    mode: Mode
    settings: Settings
    other_texts: Mapping[str, str] = field(default_factory=dict)
    measure: bool = False


class Program:
    """A version, loaded on first use. before_call: told before each call of the target.

    Every example begins with an empty compile cache, so that examples do not depend on each other, and is called twice,
    so that the second call meets what the first compiled and left behind.
    """

    def __init__(self, version: Version, before_call: Callable[[], None] = lambda: None) -> None:
        self.version = version
        backend = CountingBackend(version.settings.backend) if version.mode is Mode.COMPILED else None
        self.compiler = Compiler(backend)
        self._before_call = before_call
        self._module: ModuleType | None = None
        self._callees: Callees | None = None
        self._parameters: tuple[Parameter, ...] = ()
        self._compiles_itself: bool | None = None
        self._conditions = self._prepare()

    def load(self) -> None:
        """Load the program afresh. Raises CheckError with file, line, type and text for an error in it."""
        target, settings = self.version.target, self.version.settings
        self.compiler.forget()
        seed_generators(settings.seed)
        self._module = load(target, self.version.texts)
        if self.compiler.backend is not None:
            self.compiler.backend.look_up()
        self._callees = Callees(self._module, target, settings, self.compiler)

    def setup(self) -> Setup:
        """What the version is. compiles_itself: only what is known without calling it."""
        callee = self._loaded().make(Example())
        self._parameters = parameters_of(callee)
        return Setup(
            parameters=self._parameters,
            module=isinstance(callee.owner, torch.nn.Module),
            compiles_itself=self._is_compiled(callee) or bool(self._compiles_itself),
            branches=self._conditions,
            torch=str(torch.__version__),
        )

    def observe(self, example: Example) -> Observation:
        """Two calls with fresh arguments, of a fresh module where the target is one. Raises CheckError."""
        if self.compiler.backend is not None and self._compiles_itself is None:
            self._find_out(example)
        torch._dynamo.reset()  # in eager mode, too: PyTorch compiles on its own account, such as for torch.cond
        callee = self._loaded().make(example)
        function = self._compiled_form(callee)
        first = self._observe(function, callee, example)
        return replace(first, again=self._observe(function, callee, example))

    def counts(self, examples: Sequence[Example]) -> Counts:
        """Graphs, breaks and recompiles. Only in compiled mode, and once per process."""

        def make_call(fullgraph: bool) -> Callable[[Example], object]:
            self.compiler.fullgraph = fullgraph
            if self._compiles_itself is None:
                self._find_out(examples[0])
            problem = self._load_anew()
            if problem and fullgraph:  # it may be loading that calls what is compiled
                self.compiler.fullgraph = False
                self._load_anew()
                self.compiler.fullgraph = True
            function = self.called_for(examples[0])
            if problem and fullgraph:
                whole = self.compiler.in_one_graph(function)
                problem = "" if whole is not None else problem
                function = whole or function

            def call(example: Example) -> object:
                if problem and fullgraph and self.compiler.compiled:  # what it compiled is for default mode
                    raise RuntimeError(f"the program cannot be loaded twice: {problem}")
                args, kwargs = self.arguments(example)
                with torch.set_grad_enabled(example.grad_enabled):
                    return function(*args, **kwargs)

            return call

        return count(make_call, examples, root=Path.cwd())

    def called_for(self, example: Example) -> Callable[..., object]:
        """What to call in the mode of the version: a function, or a module built for the example."""
        if self.compiler.backend is not None and self._compiles_itself is None:
            self._find_out(example)
        return self._compiled_form(self._loaded().make(example))

    def arguments(self, example: Example) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """New arguments for a call."""
        self._loaded()
        return build(example, self._parameters, self.version.settings.device)

    # -- compiling -------------------------------------------------------------------------------

    def _is_compiled(self, callee: Callee) -> bool:
        """It is known to be compiled by the program itself: the result of torch.compile, or given to it."""
        owner = callee.owner
        if isinstance(owner, torch.nn.Module) and callee.function is owner and owner._compiled_call_impl is not None:
            return True
        return self.compiler.result_for(callee.function) is not None

    def _find_out(self, example: Example) -> None:
        """Call the target once to see whether it comes to a torch.compile of the program's own."""
        backend = self.compiler.backend
        callee = self._loaded().make(example)
        if backend is None or self._is_compiled(callee) or not self._may_compile_itself():
            self._compiles_itself = False
            return
        torch._dynamo.reset()
        before = backend.graphs
        tried = self._observe(callee.function, callee, example)
        if backend.graphs > before:
            self._compiles_itself = True
        elif tried.raised is None:
            self._compiles_itself = False

    def _may_compile_itself(self) -> bool:
        if self.compiler.compiled:
            return True
        try:
            return "compile" in inspect.getsource(self._module)  # type: ignore[arg-type]
        except (OSError, TypeError):
            return True

    def _compiled_form(self, callee: Callee) -> Callable[..., Any]:
        if self.compiler.backend is None or self._compiles_itself:
            return callee.function
        made: Callable[..., Any] | None = self.compiler.result_for(callee.function)
        if made is not None:
            return made
        return callee.function if self._is_compiled(callee) else self.compiler.compile_target(callee.function)

    # -- calling ---------------------------------------------------------------------------------

    def _observe(self, function: Callable[..., Any], callee: Callee, example: Example) -> Observation:
        args, kwargs = self.arguments(example)
        backend, settings = self.compiler.backend, self.version.settings
        graphs = backend.graphs if backend is not None else 0
        self._before_call()
        reach.start()
        observation = observe_call(
            function,
            args,
            kwargs,
            names=_names(self._parameters, len(args)),
            owner=callee.owner,
            module_globals=vars(self._module),
            seed=settings.seed,
            gradients=example.grad_enabled,
            grad_enabled=example.grad_enabled,
        )
        return replace(
            observation,
            branches=reach.taken(),
            graphs=backend.graphs - graphs if backend is not None else 0,
        )

    def _load_anew(self) -> str:
        """Load once more, or go on with what is loaded where the program does something that can be done only once.

        Gives what was wrong, such as an operator that is registered already.
        """
        modules, compiled = dict(sys.modules), list(self.compiler.compiled)
        try:
            self.load()
            self.setup()
        except CheckError as error:
            if self._callees is None:
                raise
            sys.modules.update(modules)
            self.compiler.compiled[:] = compiled
            return str(error)
        return ""

    def _loaded(self) -> Callees:
        if self._callees is None:
            self.load()
            self.setup()
        assert self._callees is not None
        return self._callees

    # -- before anything is loaded ---------------------------------------------------------------

    def _prepare(self) -> tuple[Condition, ...]:
        """Set the texts and the compiler in place; gives the conditions that are measured."""
        texts = dict(self.version.texts)
        conditions: tuple[Condition, ...] = ()
        compilers = {}
        if self.version.measure:
            for path in sorted({*texts, *self.version.other_texts}):
                original, rewritten = (text_of(path, given) for given in (texts, self.version.other_texts))
                found = reach.changed_places(original, rewritten, path)
                if found:
                    texts[path] = original
                    compilers[path] = reach.compiler(found, first=len(conditions))
                    conditions += found
        substitute(texts, compilers)
        self.compiler.install()
        return conditions


def _names(parameters: Sequence[Parameter], positional: int) -> list[str]:
    """Names of positional arguments; what goes into *args is numbered."""
    names: list[str] = []
    for each in parameters:
        if each.kind in ("POSITIONAL_ONLY", "POSITIONAL_OR_KEYWORD"):
            names.append(each.name)
        elif each.kind == "VAR_POSITIONAL":
            names += [f"{each.name}[{index}]" for index in range(positional - len(names))]
    names += [f"argument {index}" for index in range(len(names), positional)]
    return names[:positional]
