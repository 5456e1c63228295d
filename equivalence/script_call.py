"""The part of a script that builds the arguments, loads a version, calls it and looks at it."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Sequence
from pathlib import Path

from gbfix.equivalence.example import Example
from gbfix.equivalence.model import Difference, Job, Mode, Parameter
from gbfix.equivalence.recipes import arguments_source
from gbfix.equivalence.script_look import look_at


def arguments_text(example: Example, parameters: Sequence[Parameter], device: str) -> str:
    """The functions that make the arguments."""
    statements, call = arguments_source(example, parameters, device)
    return f'''\
def arguments() -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, made anew each time."""
{_indented(statements)}
    return by_position_and_name({call})


def by_position_and_name(*args: Any, **kwargs: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    return args, kwargs
'''


def show_text(job: Job, example: Example, difference: Difference, needs_project: bool) -> str:
    """The function that calls one version and looks at it."""
    compiled = difference.mode is Mode.COMPILED
    backend = job.settings.backend if compiled else ""
    before, after = look_at(difference)
    twice = difference.where.endswith("(second call)")
    compiling = f'''\
    if not compiled:  # the program does not compile itself
        called = torch.compile(function, backend="{backend}")
'''
    path = "    sys.path.insert(0, PROJECT)\n" if needs_project else ""
    call = f"""\
lines: list[str] = []
args, kwargs = arguments()
named = {{**signature.bind(*args, **kwargs).arguments, **kwargs}}
{before}seed_generators({job.settings.seed})
torch.set_grad_enabled({example.grad_enabled})
result, error = None, None
try:
    result = called(*args, **kwargs)
except BaseException as raised:
    error = raised
text = exception_text(error)
{after}"""
    calls = f"for _ in range(2):  # the second call is the one that differs\n{_indented(call)}" if twice else call
    return f'''\
def show(files: dict[str, str], folder: Path) -> list[str]:
    """Call one version; gives what the versions differ in, line by line."""
    compiled: list[Any] = []
    compile_as("{backend}", compiled)
{path}    sys.meta_path.insert(0, Finder(folder, files, {"PROJECT" if needs_project else '""'}))
    module = importlib.import_module("{job.target.module}")
{_indented(_target(job, example))}    called = function
{compiling if compiled else ""}\
    signature = inspect.signature(function.forward if isinstance(function, torch.nn.Module) else function)
{_indented(calls)}    return lines
'''


def _indented(text: str) -> str:
    return textwrap.indent(text, "    ")


def _target(job: Job, example: Example) -> str:
    """Statements that set `function` to what is called, and `owner` to the object whose state belongs to it."""
    target, settings = job.target, job.settings
    built, rest = _built(job)
    if target.factory:
        name = target.factory.rpartition(":")[2]
        module = target.factory.rpartition(":")[0]
        place = "module" if module in ("", target.module) else f"importlib.import_module({module!r})"
        built = f"{place}.{name}"
    if not built and not target.saved:
        owner = "owner = function if isinstance(function, torch.nn.Module) else None"
        return f"function: Any = module.{target.attribute}\n{owner}\n"
    made = f"{built}()"
    if target.saved:  # loading it takes classes of the program under the names that they had in the run
        loader = 'importlib.import_module("gbfix.equivalence.saved_modules").load_module'
        made, rest = f"{loader}({target.saved!r}, {target.script!r})", ""
    dtype = f", torch.{settings.dtype}" if settings.dtype else ""
    called = "owner" if rest in ("", "forward", "__call__") else f"owner.{rest}"
    return f"""\
seed_generators({example.module_seed})
owner: Any = {made}
if isinstance(owner, torch.nn.Module):
    owner.to({settings.device!r}{dtype}).train({bool(example.training)})
function = {called}
"""


def _built(job: Job) -> tuple[str, str]:
    """The class that an attribute leads to, as an expression, and what follows it; both empty when it leads to none."""
    target = job.target
    text = job.original[target.file] if target.file in job.original else Path(target.file).read_text(encoding="utf-8")
    names = target.attribute.split(".")
    body: Sequence[ast.stmt] = ast.parse(text).body
    for depth, name in enumerate(names):
        found = next((each for each in body if isinstance(each, ast.ClassDef) and each.name == name), None)
        if found is None:
            return (f"module.{'.'.join(names[:depth])}", ".".join(names[depth:])) if depth else ("", "")
        body = found.body
    return f"module.{target.attribute}", ""
