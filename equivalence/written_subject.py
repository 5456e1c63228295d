"""What a written test calls: the old program that it keeps, the new one that it imports, and their arguments."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace

from gbfix.equivalence.counted_calls import seen_in
from gbfix.equivalence.input_text import argument_names, strategy_text
from gbfix.equivalence.model import CheckError, Job, Parameter, Setup, Verdict
from gbfix.equivalence.old_program import OldProgram, initialisers_differ, keep_old_program
from gbfix.equivalence.parameters import FunctionNode, parameters_of
from gbfix.equivalence.python_text import import_lines, renamed
from gbfix.equivalence.signatures import signature_of
from gbfix.equivalence.top_level import TopLevel, read_top_level

_LONGEST_NAME = 24
"""So that lines in which it stands twice are short enough."""


@dataclass(frozen=True)
class WrittenSubject:
    """One target. name: the part that names in the test have in common. old, new: the expressions to compare.

    returned: what the function with the old program returns. imports: of the program under test, each as lines.
    made: for modules, the body of a function that makes `old` and `new`; assignments: how others are made.
    strategy: the source of a Hypothesis strategy; empty where `inputs` names the user's own. arguments: the names of
    those that it makes. standard: imports of the standard library that `made` needs.
    """

    target: str
    name: str
    program: OldProgram
    returned: str
    imports: tuple[tuple[str, ...], ...]
    old: str
    new: str
    module: bool
    cuda: bool
    parameters: tuple[Parameter, ...]
    made: tuple[str, ...] = ()
    assignments: tuple[str, ...] = ()
    strategy: str = ""
    inputs: str = ""
    arguments: tuple[str, ...] = ()
    standard: tuple[str, ...] = ()


def subject_of(job: Job, verdict: Verdict, taken: set[str]) -> WrittenSubject:
    """The subject of a job. taken: names of earlier subjects in the file, to which this one's is added.

    Raises CheckError where the old version cannot be kept.
    """
    target = job.target
    if not target.attribute or "::" in target.name or "<locals>" in target.attribute:
        raise CheckError(f"{target.name}: no test can be written: the target is no name at the top of a file")
    if target.saved:
        raise CheckError(f"{target.name}: no test can be written: its module is one that a run saved; give a --factory")
    first, _, method = target.attribute.partition(".")
    old_file = read_top_level(job.original.get(target.file, ""))
    is_class = any(isinstance(each.node, ast.ClassDef) for each in old_file.bound.get(first, ()))
    factory_module, _, factory = target.factory.rpartition(":")
    own_factory = bool(factory) and factory_module in ("", target.module) and factory in old_file.bound
    root = factory if own_factory else first
    program = keep_old_program(job, [root])
    name = _free_name(first.lower() if is_class else target.attribute.replace(".", "_"), target.module, taken)
    parameters = _parameters(old_file, first, method or ("forward" if is_class else ""))
    common = _Common(job, name, program, method, parameters)
    subject = common.of_class(root, factory_module, factory, own_factory) if is_class else common.of_function(root)
    return common.with_inputs(subject, verdict)


@dataclass(frozen=True)
class _Common:
    job: Job
    name: str
    program: OldProgram
    method: str
    parameters: tuple[Parameter, ...]

    def of_function(self, root: str) -> WrittenSubject:
        """A function, or one that a factory beside it makes."""
        target, new = self.job.target, f"new_{self.name}"
        if self.method:
            raise CheckError(f"{target.name}: no test can be written: {target.attribute} is no method of a class")
        if target.factory and root == target.attribute:
            raise CheckError(f"{target.name}: no test can be written: its factory {target.factory} is in another file")
        imported = f"make_{new}" if target.factory else new
        call = "()" if target.factory else ""
        made = [f"old_{self.name} = old_{self.name}_program(){call}"]
        made += [f"{new} = {imported}()"] if target.factory else []
        return WrittenSubject(
            target=target.name,
            name=self.name,
            program=self.program,
            returned=root,
            imports=(import_lines(target.module, [renamed(root, imported)]),),
            old=f"old_{self.name}",
            new=new,
            module=False,
            cuda=self.job.settings.device.startswith("cuda"),
            parameters=self.parameters,
            assignments=tuple(made),
        )

    def of_class(self, root: str, factory_module: str, factory: str, own_factory: bool) -> WrittenSubject:
        """An nn.Module: built without arguments, by a factory beside it, or by one elsewhere, given the old classes."""
        job, target = self.job, self.job.target
        device = job.settings.device
        move = f'.to("{device}")' if device != "cpu" else ""
        make = f"make_{self.name}" if factory else f"New{root}"
        lines, standard = ["torch.manual_seed(0)", f"new = {make}(){move}"], ["import functools"]
        if factory and not own_factory:
            if initialisers_differ(job, self.program.kept):
                raise CheckError(f"{target.name}: no test can be written: its __init__ was changed, too")
            standard.append("import copy")
            lines += ["old = copy.deepcopy(new)", f"classes = old_{self.name}_program()", "for part in old.modules():"]
            lines += [f'    if type(part).__module__ == "{target.module}":']
            lines += ["        part.__class__ = classes.get(type(part).__name__, type(part))"]
            classes = [name for name in self.program.kept if self._is_class(name)]
            returned = "{" + ", ".join(f'"{name}": {name}' for name in classes) + "}"
        else:
            lines = ["torch.manual_seed(0)", f"old = old_{self.name}_program()(){move}", *lines]
            lines += ["new.load_state_dict(old.state_dict())"]
            returned = root
        source = (factory_module if factory and not own_factory else "") or target.module
        end = f".{self.method}" if self.method else ""
        return WrittenSubject(
            target=target.name,
            name=self.name,
            program=self.program,
            returned=returned,
            imports=(import_lines(source, [renamed(factory or root, make)]),),
            old=f"old{end}",
            new=f"new{end}",
            module=True,
            cuda=device.startswith("cuda"),
            parameters=self.parameters,
            made=tuple(lines),
            standard=tuple(standard),
        )

    def with_inputs(self, subject: WrittenSubject, verdict: Verdict) -> WrittenSubject:
        """The subject with what it is called with."""
        job = self.job
        if job.inputs:
            module, _, attribute = job.inputs.partition(":")
            name = f"{self.name}_inputs"
            return replace(
                subject, imports=(*subject.imports, import_lines(module, [renamed(attribute, name)])), inputs=name
            )
        setup = Setup(self.parameters, module=subject.module)
        seen = (*job.seen, *seen_in(verdict.counted, self.parameters, job.settings.device))
        signature = signature_of(setup, seen, job.settings)
        gradients = verdict.exercised.gradients > 0
        text = strategy_text(signature, self.parameters, device=job.settings.device, gradients=gradients)
        return replace(subject, strategy=text, arguments=tuple(argument_names(signature, self.parameters)))

    def _is_class(self, name: str) -> bool:
        statements = read_top_level(self.job.original[self.job.target.file]).bound.get(name, ())
        return any(isinstance(each.node, ast.ClassDef) for each in statements)


def _free_name(name: str, module: str, taken: set[str]) -> str:
    name = name[:_LONGEST_NAME].rstrip("_")
    if name in taken:
        name = f"{module.rpartition('.')[2]}_{name}"
    candidate, count = name, 2
    while candidate in taken:
        candidate, count = f"{name}_{count}", count + 1
    taken.add(candidate)
    return candidate


def _parameters(file: TopLevel, name: str, method: str) -> tuple[Parameter, ...]:
    """The parameters of a function, or of a method of a class or of a base of it in the same file."""
    for statement in reversed(file.bound.get(name, ())):
        node = statement.node
        if isinstance(node, ast.ClassDef):
            members = [each for each in node.body if isinstance(each, FunctionNode) and each.name == method]
            if members:
                return parameters_of(members[-1], method=True)
            for base in node.bases:
                if isinstance(base, ast.Name) and (found := _parameters(file, base.id, method)):
                    return found
        elif isinstance(node, FunctionNode):
            return parameters_of(node, method=False)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Call):
            for argument in node.value.args:  # step = torch.compile(_step)
                if isinstance(argument, ast.Name) and argument.id != name:
                    return _parameters(file, argument.id, method)
    return ()
