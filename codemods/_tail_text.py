"""The source of a compiled function and of the plain one around it, into which a function with a tail is cut."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from gbfix.analysis.tree import names_in
from gbfix.codemods import _boundary_text as text
from gbfix.codemods._tail_search import Tail, read_by
from gbfix.codemods._tails import needed_by
from gbfix.codemods._text import LINE_LENGTH, in_style_of, indentation_of, on_its_own, reindented, unused_name
from gbfix.codemods._tree import all_names
from gbfix.engine.model import Fix, Replacement


class TailWriter:
    """Writes the compiled head and the plain function of one tail."""

    def __init__(self, tail: Tail) -> None:
        self._tail = tail
        self._flow = tail.flow
        self._source = tail.flow.context.source
        node = tail.flow.context.function.node
        assert isinstance(node, ast.FunctionDef)
        self._function = node
        self._taken = set(all_names(self._source.tree))
        self._head_edits: dict[ast.AST, str] = {}
        self._tail_edits: dict[ast.AST, str] = {}
        self._computed: list[str] = []
        self._given: list[str] = []
        self._moved: list[str] = []

    def fix(self) -> Fix:
        """The edit."""
        self._move_late()
        self._compute_before()
        head, tail = self._texts()
        source, function = self._source, self._function
        graph = text.graph_name(source, function, frozenset(self._taken))
        needed = [name for name in needed_by(self._tail) if name not in self._given]
        given = [*needed, *self._given]
        returned = f"return {', '.join(given)}" if given else ""
        head = "\n".join(part for part in (head, *self._computed, returned) if part)
        parameters = self._parameters(head)
        is_method = self._flow.context.function.owner is not None
        receiver = f"{parameters[0][1]}." if is_method else ""
        call = f"{receiver}{graph}({', '.join(passed for _, passed in parameters[is_method:])})"
        signature = self._signature(graph, [shown for shown, _ in parameters])
        inner = [f"{', '.join(given)} = {call}" if given else call, *self._moved, tail]
        if ast.get_docstring(function, clean=False) is not None:
            first = function.body[0]
            inner.insert(0, reindented(source.segment(first), indentation_of(source, first), ""))
        site = self._tail.site
        lines = [site.decorator, signature, _inner(head), *([""] if is_method else ["", ""])]
        lines += [*site.kept, text.header(source, function), *map(_inner, inner)]
        replacement = Replacement(source.span(function), in_style_of(source, "\n".join(lines)))
        replacements = sorted((replacement, *site.edits), key=lambda one: one.span)
        return Fix("leave the compiled function before the number is read", tuple(replacements))

    def _texts(self) -> tuple[str, str]:
        head = list(self._tail.head)
        written = text.body_text(self._source, head, self._head_edits) if head else ""
        return written, text.body_text(self._source, list(self._tail.statements), self._tail_edits)

    def _move_late(self) -> None:
        """Keep the tensor where a number was read, and read it where the plain function begins."""
        for statement in self._tail.late:
            read = read_by(statement)
            name = statement.targets[0].id  # type: ignore[attr-defined]
            state = self._flow.before[statement]
            fresh = self._flow.evaluate(read, state)[0].fresh and not isinstance(read, ast.Name)
            source = on_its_own(self._one_line(read))
            # float() of a tensor that requires a gradient warns, which a detached one does not.
            detached = "" if isinstance(self._source.parents[read], ast.Call) else ".detach()"
            kept = source if fresh else f"{source if _is_atom(read) else f'({source})'}{detached}.clone()"
            self._head_edits[statement] = f"{name} = {kept}"
            self._moved.append(text.edited(self._source, statement, {read: name}))

    def _compute_before(self) -> None:
        for statement, work in zip(self._tail.statements, self._tail.work, strict=True):
            for node in work.computed:
                name = self._name_for(statement)
                self._computed.append(f"{name} = {on_its_own(self._one_line(node))}")
                self._tail_edits[node] = name
                self._given.append(name)

    def _name_for(self, statement: ast.stmt) -> str:
        """The name that the statement gives the number, where nothing else has it; a new one elsewhere."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)]):
                uses = [p for p in ast.walk(self._function) if isinstance(p, ast.Name) and p.id == name]
                uses += [p for p in self._flow.context.function.parameters if p.arg == name]  # type: ignore[misc]
                first = min(uses, key=lambda part: (part.lineno, part.col_offset))
                if first is statement.targets[0] and name not in self._given:
                    return name
                wanted = f"{name}_tensor"
            case _:
                wanted = "result" if isinstance(statement, ast.Return) else "value"
        found = unused_name(wanted, frozenset(self._taken))
        self._taken.add(found)
        return found

    def _one_line(self, node: ast.expr) -> str:
        statement = next(p for p in self._source.ancestors(node) if isinstance(p, ast.stmt))
        return reindented(self._source.segment(node), indentation_of(self._source, statement), "")

    def _parameters(self, head: str) -> list[tuple[str, str]]:
        """How the compiled function says each parameter that it needs, and what it is given."""
        arguments, source = self._function.args, self._source
        if arguments.vararg or arguments.kwarg or arguments.kwonlyargs or arguments.posonlyargs:
            return [("", text.arguments(self._function))]
        read = names_in([ast.parse(head)])
        receiver = arguments.args[:1] if self._flow.context.function.owner is not None else []
        return [(source.segment(one), one.arg) for one in arguments.args if one in receiver or one.arg in read]

    def _signature(self, graph: str, shown: Sequence[str]) -> str:
        if shown == [""]:
            return text.signature(self._source, self._function, graph)
        flat = f"def {graph}({', '.join(shown)}):"
        if len(flat) <= LINE_LENGTH:
            return flat
        return f"def {graph}(\n" + "".join(f"    {one},\n" for one in shown) + "):"


def _is_atom(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript)


def _inner(source: str) -> str:
    return reindented(source, "", "    ")
