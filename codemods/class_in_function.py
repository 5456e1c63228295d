"""A class that a compiled function defines each time it is called.

Dynamo does not follow a class statement (GB8977). One that uses nothing of the function is the same class each time,
and is made once, above it.

Before:

    @torch.compile
    def f(x: torch.Tensor):
        class Scale:
            factor = 3.0

        return x * Scale.factor

After:

    class Scale:
        factor = 3.0


    @torch.compile
    def f(x: torch.Tensor):
        return x * Scale.factor

Two calls then share a class. That cannot be told where no object of it leaves the function; where one may, it is
assumed that nobody asks for its class, whose full name loses `f.<locals>`.

Stays away when the class uses a name of the function, when it is not a statement of the function's own block, when its
body does more than set constants and define methods, with bases or decorators that may do something, when something
changes it, and when the module has its name already.

Source: Python data model, class definitions (GB8977).
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.analysis.source import FunctionNode
from gbfix.codemods._idioms import Site, assumed, proved, sites
from gbfix.codemods._refuse import RefusedError
from gbfix.codemods._text import indentation_of, reindented
from gbfix.codemods._top_level import top_level_statement
from gbfix.engine.model import Finding, Fix, Obligation, Replacement, Rule

CLASS_INSIDE = ("GBF607", "class-in-function")
_ADVICE = "define the class outside the compiled function, and give it what it uses as arguments"
_ENUMS = {"enum.Enum", "enum.IntEnum"}
_BASES = {*_ENUMS, "torch.nn.Module", "typing.NamedTuple", "abc.ABC"}
_DECORATORS = {"dataclasses.dataclass"}
_METHOD_DECORATORS = ("staticmethod", "property")
_CLAIM = "no object of the class leaves the function"


def _find(view: FileView) -> Iterator[Finding]:
    for site in sites(view, ast.ClassDef):
        if not view.project.torch.captures("class statement"):
            yield _finding(site)


def _finding(site: Site) -> Finding:
    made = site.node
    assert isinstance(made, ast.ClassDef)
    message = f"class {made.name} defined in a compiled function"
    try:
        _check_place(site, made)
        _check_class(site, made)
        _check_names(site, made)
        stays = _stays_inside(site, made)
    except RefusedError as refused:
        return site.refusal(CLASS_INSIDE, message, refused)
    free = proved("the class uses nothing of the function", "its names are those of the module", site.line)
    return site.finding(CLASS_INSIDE, message, (_moved(site, made), [free, stays]))


def _check_place(site: Site, made: ast.ClassDef) -> None:
    source = site.view.source
    function = source.parents[made]
    claim = "the class is defined in the function's own block, on lines of its own"
    span = source.span(made)
    before = source.lines[span.line - 1][: span.column]
    after = source.lines[span.end_line - 1][span.end_column :].strip()
    alone = isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and len(function.body) == 1
    if not isinstance(function, FunctionNode) or alone or before.strip() or (after and not after.startswith("#")):
        raise RefusedError(claim, f"{made.name} is not", site.line, _ADVICE)
    tree = source.tree
    taken = made.name in site.view.names.local_bindings(tree) or hasattr(builtins, made.name)
    loads = site.view.names.loads.get(made.name, ())
    if taken or any(site.view.names.lookup(made.name, load)[0] is tree for load in loads):
        reason = f"the module has a {made.name} already"
        raise RefusedError("the name is free in the module", reason, site.line, _ADVICE)
    classes = [part for part in ast.walk(tree) if isinstance(part, ast.ClassDef) and part.name == made.name]
    if len(classes) > 1:
        reason = f"another {made.name} may come there, too"
        raise RefusedError("the name is free in the module", reason, site.line, _ADVICE)


def _check_class(site: Site, made: ast.ClassDef) -> None:
    names = site.view.names
    claim = "making the class has no effect"
    for decorator in made.decorator_list:
        if (names.qualified(decorator) or "") not in _DECORATORS:
            raise RefusedError(claim, f"@{site.text(decorator)} may do something", decorator.lineno, _ADVICE)
    for base in made.bases:
        is_known = (names.qualified(base) or "") in _BASES or names.is_builtin(base, site.text(base))
        if not is_known:
            raise RefusedError(claim, f"the base {site.text(base)} may do something", base.lineno, _ADVICE)
    if made.keywords:
        raise RefusedError(claim, "its keywords may do something", site.line, _ADVICE)
    for statement in made.body:
        match statement:
            case ast.Pass() | ast.Expr(value=ast.Constant()) | ast.Assign(value=ast.Constant()):
                continue
            case ast.AnnAssign(value=None) | ast.AnnAssign(value=ast.Constant()):
                continue
            case ast.FunctionDef(decorator_list=decorators) if all(_is_plain(site, one) for one in decorators):
                continue
        reason = f"{site.text(statement).splitlines()[0]} may do something"
        raise RefusedError(claim, reason, statement.lineno, _ADVICE)


def _is_plain(site: Site, decorator: ast.expr) -> bool:
    return any(site.view.names.is_builtin(decorator, name) for name in _METHOD_DECORATORS)


def _check_names(site: Site, made: ast.ClassDef) -> None:
    """Every name that the class uses must mean the same above the function, and exist when the class is made."""
    names, source = site.view.names, site.view.source
    top = top_level_statement(source, made)
    inner = {made, *(part for part in ast.walk(made))}
    for part in ast.walk(made):
        if isinstance(part, ast.Nonlocal | ast.Global):
            raise RefusedError("the class uses nothing of the function", "it declares one", part.lineno, _ADVICE)
        if not isinstance(part, ast.Name):
            continue
        scope, bindings = names.lookup(part.id, part)
        if scope in inner:
            continue
        if scope is not source.tree:
            reason = f"{part.id} is one of the function's"
            raise RefusedError("the class uses nothing of the function", reason, part.lineno, _ADVICE)
        at_once = names.scope_of(part) in (made, names.scope_of(made))
        if at_once and any(getattr(one.statement, "lineno", 0) >= top.lineno for one in bindings):
            reason = f"{part.id} is defined further down"
            raise RefusedError("the class can be made above the function", reason, part.lineno, _ADVICE)


def _stays_inside(site: Site, made: ast.ClassDef) -> Obligation:
    """The obligation that nobody can tell that two calls share the class. Raises RefusedError where it is changed."""
    names, source = site.view.names, site.view.source
    parents = source.parents
    leaves: ast.AST | None = None
    scope = names.scope_of(made)
    if len(names.bindings(made.name, made)) != 1:
        raise RefusedError("the name is bound once", f"{made.name} is bound again", site.line, _ADVICE)
    for load in names.loads.get(made.name, ()):
        if names.lookup(made.name, load)[0] is not scope:
            continue
        parent = parents[load]
        if isinstance(parent, ast.Attribute):
            if not isinstance(parent.ctx, ast.Load):
                reason = f"{site.text(parent)} is assigned to"
                raise RefusedError("nothing changes the class", reason, parent.lineno, _ADVICE)
            leaves = leaves or (None if _is_constant(site, made, parent) else parent)
        elif isinstance(parent, ast.Call) and parent.func is load:
            leaves = leaves or (None if _object_stays(site, made, parent) else parent)
        else:
            leaves = leaves or parent
    if leaves is None:
        return proved(_CLAIM, "it is only asked for constants and called for its methods", site.line)
    line = getattr(leaves, "lineno", site.line)
    return assumed(_CLAIM, f"{site.text(leaves).splitlines()[0]} may", line)


def _is_constant(site: Site, made: ast.ClassDef, attribute: ast.Attribute) -> bool:
    """True for an attribute that is a number or text, or a method that is called."""
    parent = site.view.source.parents[attribute]
    if any((site.view.names.qualified(base) or "") in _ENUMS for base in made.bases):
        return isinstance(parent, ast.Attribute) and parent.attr in ("value", "name")
    if isinstance(parent, ast.Call) and parent.func is attribute:
        return _keeps_itself(site, made)
    for statement in made.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]) if name == attribute.attr:
                return True
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.Constant()) if name == attribute.attr:
                return True
    return False


def _object_stays(site: Site, made: ast.ClassDef, call: ast.Call) -> bool:
    """True when a new object is only asked for attributes, by the function and by its own methods."""
    names, parents = site.view.names, site.view.source.parents
    parent = parents[call]
    if not _keeps_itself(site, made) or made.decorator_list:
        return False
    if isinstance(parent, ast.Attribute):
        return _is_read_only(site, made, parent)
    name = parent.targets[0] if isinstance(parent, ast.Assign) and len(parent.targets) == 1 else None
    if not isinstance(name, ast.Name):
        return False
    scope = names.scope_of(name)
    loads = [one for one in names.loads.get(name.id, ()) if names.lookup(name.id, one)[0] is scope]
    return all(_is_read_only(site, made, parents[one]) for one in loads)


def _is_read_only(site: Site, made: ast.ClassDef, use: ast.AST) -> bool:
    """True for an attribute that is no method, or one that is called: a bound method holds its object."""
    if not isinstance(use, ast.Attribute):
        return False
    parent = site.view.source.parents[use]
    is_method = any(isinstance(one, ast.FunctionDef) and one.name == use.attr for one in made.body)
    is_property = any(
        isinstance(one, ast.FunctionDef) and one.name == use.attr and one.decorator_list for one in made.body
    )
    return not is_method or is_property or (isinstance(parent, ast.Call) and parent.func is use)


def _keeps_itself(site: Site, made: ast.ClassDef) -> bool:
    """True when the methods use their first parameter for its attributes only."""
    if any(not site.view.names.is_builtin(base, "object") for base in made.bases):
        return False
    parents = site.view.source.parents
    for method in made.body:
        if isinstance(method, ast.FunctionDef):
            if not method.args.args:
                return False
            first = method.args.args[0].arg
            loads = [part for part in ast.walk(method) if isinstance(part, ast.Name) and part.id in (first, "type")]
            if not all(_is_read_only(site, made, parents[load]) for load in loads):
                return False
            if any(isinstance(part, ast.Attribute) and part.attr == "__class__" for part in ast.walk(method)):
                return False
    return True


def _moved(site: Site, made: ast.ClassDef) -> Fix:
    source = site.view.source
    top = top_level_statement(source, made)
    outer, inner = source.span(top), source.span(made)
    lines = source.segment(top).split("\n")
    first, last = inner.line - outer.line, inner.end_line - outer.line
    kept = lines[:first] + _without_leading_blanks(lines[last + 1 :], lines[first - 1])
    comment = source.lines[inner.end_line - 1][inner.end_column :].rstrip()
    text = reindented(source.segment(made), indentation_of(source, made), "") + comment
    remaining = "\n".join(kept)
    return Fix("define it once, above", (Replacement(outer, f"{text}\n\n\n{remaining}"),))


def _without_leading_blanks(lines: list[str], before: str) -> list[str]:
    """The lines behind the class; the blank ones around it go, unless something else needs them."""
    if not before.strip() or before.rstrip().endswith(":"):
        while lines and not lines[0].strip():
            lines = lines[1:]
    return lines


RULE = Rule(*CLASS_INSIDE, "a class defined in a compiled function", __doc__, _find)
