"""A number read out of a tensor and added to an attribute: every use of the attribute, and the sum as a tensor."""

from __future__ import annotations

import ast

from gbfix.analysis.regions import CompiledFunction
from gbfix.analysis.source import SourceFile
from gbfix.analysis.values import Category
from gbfix.codemods import _scalar_duties as duty
from gbfix.codemods._claims import INTEGERS
from gbfix.codemods._counter import USES, Counter, is_own, uses_of
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._scalar_dtypes import known_devices
from gbfix.codemods._scalar_reads import Read
from gbfix.engine.model import Discharge, Fix, Obligation, Replacement

METRIC = ("GBF205", "metric-accumulation")
SUMMED = "the number is only added to an attribute of its object"
FIRST = "the first value is zero, of the type of the number"
ADVICE = "return the tensor, detached, and add it up in the caller, outside of compiled code"
_WHOLE = ("__dict__", "vars", "asdict", "pickle", "deepcopy", "__getstate__")
_GRAPHS = ("reduce-overhead", "max-autotune", "cudagraphs")


def accumulation(source: SourceFile, node: ast.expr) -> ast.AugAssign | ast.Call | None:
    """The statement that adds a number to an attribute or an element, or the call that appends it to an attribute."""
    match source.parents[node]:
        case ast.AugAssign(target=ast.Attribute() | ast.Subscript(), op=ast.Add()) as statement:
            return statement
        case ast.Call(func=ast.Attribute(attr="append", value=ast.Attribute()), args=[argument]) as call:
            return call if argument is node else None
        case _:
            return None


def metric_fix(counter: Counter, compiled: CompiledFunction, read: Read, place: ast.AST) -> tuple[Fix, Obligation]:
    """The sum as a tensor, with what that relies on. Raises RefusedError."""
    line, source = read.node.lineno, counter.source
    if not isinstance(place, ast.AugAssign) or not isinstance(place.target, ast.Attribute):
        raise RefusedError(SUMMED, "it goes into a container, whose readers are not known", line, ADVICE)
    if compiled.function.owner is not counter.owner or not is_own(counter, place.target):
        raise RefusedError(SUMMED, "the attribute is not one of the method's own object", line, ADVICE)
    if read.listed or read.index is not None or read.implicit or place.value is not read.node:
        raise RefusedError(SUMMED, "it is not taken out of a tensor by item, float or int", line, ADVICE)
    if any(mode in source.text for mode in _GRAPHS):
        raise RefusedError(SUMMED, "CUDA graphs write over the results of the call before", line, ADVICE)
    if any(device.startswith("mps") for device in known_devices(read.value)):
        raise RefusedError(SUMMED, "the tensor is on a device without double precision", line, ADVICE)
    _check_whole_objects(counter)
    first: set[type] = set()
    reads: list[ast.Attribute] = []
    for path, node in uses_of(counter):
        if node is place.target:
            continue
        if path != source.path:
            raise RefusedError(USES, f"{path}:{node.lineno} uses an attribute of this name", node.lineno, ADVICE)
        if isinstance(node.ctx, ast.Load):
            _check_reader(counter, node)
            reads.append(node)
        else:
            first.add(_zero(counter, node))
    kind = int if read.number in ("int", "bool") else float
    if first != {kind} and not (first == {float} and _is_item(read)):
        raise RefusedError(FIRST, f"the class does not only set it to {kind(0)!r}", line, ADVICE)
    builtin = "float" if float in first else "int"
    if _is_bound(source, builtin):
        raise RefusedError(USES, f"{builtin} is another function here", line, ADVICE)
    text, target = source.segment(read.tensor), source.segment(place.target)
    if "\n" in text:
        raise RefusedError("the expression stands on one line", "it spans lines", line, "give it a name first")
    text = text if isinstance(read.tensor, ast.Name | ast.Attribute | ast.Call | ast.Subscript) else f"({text})"
    shaped = "" if read.value.is_scalar else ".reshape(())"
    summed = f"{target} = {target} + {text}{shaped}.detach().{'double' if builtin == 'float' else 'long'}()"
    edits = [Replacement(source.span(place), summed)]
    edits += [Replacement(source.span(node), f"{builtin}({source.segment(node)})") for node in reads]
    reason = "code that is not given, a pickle or a copy may read the attribute, which is now a tensor"
    fix = Fix("add up in a tensor", tuple(sorted(edits, key=lambda edit: edit.span)))
    return fix, Obligation(USES, Discharge.ASSUMED, reason, line)


def metric_obligations(read: Read, own: list[Obligation]) -> list[Obligation]:
    """What the sum relies on besides the reading."""
    line = read.node.lineno
    dtype = read.value.dtype
    if (dtype is None or dtype.category is not Category.FLOAT) and read.number != "float":
        own = [*own, Obligation(INTEGERS, Discharge.ASSUMED, "the sum of integers grows with every call", line)]
    if read.value.devices == {"cpu"}:
        return [*own, Obligation(duty.DEVICE, Discharge.PROVED, "it is on the CPU", line)]
    return [*own, Obligation(duty.DEVICE, Discharge.ASSUMED, "every call may have a device of its own", line)]


def _is_bound(source: SourceFile, name: str) -> bool:
    """True when a file gives the name of a builtin another meaning somewhere."""
    for node in source.nodes:
        match node:
            case ast.Name(id=found, ctx=ast.Store()) | ast.arg(arg=found) | ast.FunctionDef(name=found):
                if found == name:
                    return True
            case ast.ClassDef(name=found) | ast.alias(name=found, asname=None) | ast.alias(asname=found):
                if found in (name, "*"):
                    return True
    return False


def _check_whole_objects(counter: Counter) -> None:
    """Nothing in the project takes the attributes of objects all at once. Raises RefusedError."""
    for path, source in counter.view.project.files.naming(*_WHOLE):
        for node in source.nodes:
            name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if name in _WHOLE:
                line = getattr(node, "lineno", 0)
                raise RefusedError(USES, f"{path}:{line} takes all attributes of an object with {name}", line, ADVICE)


def _is_item(read: Read) -> bool:
    """True for `t.item()`, which a float takes in whatever its type is."""
    return isinstance(read.node, ast.Call) and isinstance(read.node.func, ast.Attribute)


def _zero(counter: Counter, node: ast.Attribute) -> type:
    """The type of the zero that a statement of the class assigns. Raises RefusedError for other writers."""
    match counter.source.parents[node]:
        case ast.Assign(targets=[target], value=ast.Constant(value=(int() | float()) as value)) if (
            target is node and is_own(counter, node) and type(value) in (int, float) and str(value) in ("0", "0.0")
        ):
            _check_outside(counter, node)
            return type(value)
    raise RefusedError(USES, f"line {node.lineno} writes an attribute of this name", node.lineno, ADVICE)


def _check_reader(counter: Counter, node: ast.Attribute) -> None:
    """A reader outside of compiled code, of an object that is known to be one of the class. Raises RefusedError."""
    source = counter.source
    _check_outside(counter, node)
    if not is_own(counter, node) and not _is_instance(counter, node.value):
        raise RefusedError(USES, f"line {node.lineno} reads it from an object of unknown class", node.lineno, ADVICE)
    for parent in source.ancestors(node):
        if isinstance(parent, ast.JoinedStr):
            raise RefusedError(
                USES, f"line {node.lineno} reads it in an f-string", node.lineno, f"name it; or {ADVICE}"
            )


def _check_outside(counter: Counter, node: ast.Attribute) -> None:
    compiled = {part for other in counter.view.compiled for part in ast.walk(other.function.node)}
    if node in compiled:
        raise RefusedError(USES, f"line {node.lineno} uses it in compiled code", node.lineno, ADVICE)


def _is_instance(counter: Counter, receiver: ast.expr) -> bool:
    """True for a name that is only ever set to a new object of the class, or to that compiled."""
    if not isinstance(receiver, ast.Name):
        return False
    source, name = counter.source, receiver.id
    parameters = (node for node in source.nodes if isinstance(node, ast.arg))
    if any(parameter.arg == name for parameter in parameters):
        return False
    stores = [n for n in source.nodes if isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load)]
    return bool(stores) and all(_is_new(counter, source.parents[store], name) for store in stores)


def _is_new(counter: Counter, statement: ast.AST, name: str) -> bool:
    if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
        return False
    value = statement.value
    if counter.view.names.qualified(value.func) == "torch.compile" and value.args:
        inner = value.args[0]
        if isinstance(inner, ast.Name):
            return inner.id == name or _is_instance(counter, inner)
        value = inner if isinstance(inner, ast.Call) else value
    return isinstance(value.func, ast.Name) and value.func.id == counter.owner.name
