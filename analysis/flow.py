"""What every name holds before each statement of a function.

An abstract execution of the body: branches are joined, loops run until their facts stop changing.
A name that may be unbound, or that an inner function writes, is not known.
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from gbfix.analysis import values as v
from gbfix.analysis.annotations import parameter_value
from gbfix.analysis.asked import asked
from gbfix.analysis.callers import Callers, callers_of
from gbfix.analysis.context import Context, module_context
from gbfix.analysis.effects import Write
from gbfix.analysis.evaluate import Evaluation
from gbfix.analysis.gradients import gradient_mode
from gbfix.analysis.observed import Observed
from gbfix.analysis.operators import EVIDENCE_METHODS, LIKE_FACTORIES, OPERATORS, TAKES_SEQUENCE
from gbfix.analysis.project import FileView
from gbfix.analysis.source import Function, FunctionNode
from gbfix.analysis.tree import names_in, stored_names
from gbfix.analysis.values import Assumption, Kind, Value
from gbfix.engine.dataclass import dataclass

_LOOP_ROUNDS = 6


@dataclass(frozen=True)
class State:
    """The facts at one program point.

    values: what names hold. established: the keys of requirements that have been met. gradients_off: no operation
    records a gradient here, whoever called; seen_off: this is only what a run showed, and an unknown call may end it.
    paths: the keys of `values` that are no names, but an attribute or item that was observed (`self.scale`,
    `batch['x']`); they are forgotten as soon as anything may have changed them.
    """

    values: Mapping[str, Value]
    established: frozenset[Hashable] = frozenset()
    gradients_off: bool = False
    seen_off: bool = False
    paths: frozenset[str] = frozenset()

    def bind(self, name: str, value: Value) -> State:
        """The state after an assignment."""
        gone = {path for path in self.paths if root_of(path) == name}
        state = self.without(gone) if gone else self
        return replace(state, values={**state.values, name: value})

    def without(self, names: Iterable[str]) -> State:
        """The state in which some names are not known."""
        gone = set(names)
        gone |= {path for path in self.paths if root_of(path) in gone}
        kept = {name: value for name, value in self.values.items() if name not in gone}
        return replace(self, values=kept, paths=self.paths - gone)

    def without_paths(self) -> State:
        """The state after something that may change attributes and items."""
        return self.without(self.paths) if self.paths else self


def flow_of(view: FileView, function: Function) -> Flow:
    """The states of a function as its callers show it, computed once for all rules that read the same view."""
    if function not in view.flows:
        view.flows[function] = Flow(view, function)
    return view.flows[function]


class Flow:
    """The states of one function: `before[statement]` is what holds when the statement starts."""

    def __init__(self, view: FileView, function: Function, *, ask_callers: bool = True) -> None:
        """Run the function; `ask_callers` looks at what its callers pass, which runs them without asking theirs."""
        self._ask_callers = ask_callers
        self.context = Context(view, function)
        self.before: dict[ast.stmt, State] = {}
        self._untracked = self._written_by_inner_functions()
        # A plain call of it changes the mode inside a `with torch.no_grad()` as well.
        self._switches_gradients = any(
            "set_grad_enabled" in (node.id if isinstance(node, ast.Name) else node.attr)
            for node in ast.walk(function.node)
            if isinstance(node, ast.Name | ast.Attribute)
        )
        self._captured = self._read_by_inner_functions()
        self._has_observations = bool(view.project.observed.get(view.source.path))
        self._hidden = 0
        self.entry = State(self._parameters(), gradients_off=self._off_by_decorator())
        node = function.node
        if not isinstance(node, ast.Lambda):
            self._block(node.body, self.entry)

    def evaluate(self, node: ast.expr, state: State) -> tuple[Value, Evaluation]:
        """The facts about an expression where `state` holds."""
        evaluation = Evaluation(self.context, state.values, state.gradients_off)
        return asked(evaluation, node, self.context.source.parents.get(node)), evaluation

    def _off_by_decorator(self) -> bool:
        """True when the decorator nearest to the function that can change the mode turns gradients off."""
        for decorator in reversed(getattr(self.context.function.node, "decorator_list", [])):
            if isinstance(decorator, ast.Name) and decorator.id in ("staticmethod", "classmethod"):
                continue
            mode = gradient_mode(self.context.names, decorator)
            if mode is not None:
                return mode == "off" and not self._switches_gradients
        return False

    # -- setting out -----------------------------------------------------------------------

    def _parameters(self) -> dict[str, Value]:
        evidence = self._evidence
        found: dict[str, Value] = {}
        arguments = self.context.function.node.args
        for argument in self.context.function.parameters:
            name = argument.arg
            if argument in (arguments.vararg, arguments.kwarg):
                found[name] = v.OTHER
            elif self.context.is_self(ast.Name(name)):
                found[name] = Value(Kind.OTHER, class_name="self")
            else:
                value = parameter_value(self.context, argument)
                if value.kind is Kind.MAYBE and name in self._callers.tensors:
                    value = replace(value.assuming(self._what_callers_leave_open(argument)), kind=Kind.TENSOR)
                elif value.kind is Kind.MAYBE and name in evidence:
                    value = replace(value.assuming([evidence[name]]), kind=Kind.TENSOR)
                found[name] = value
        return {name: value for name, value in found.items() if name not in self._untracked}

    @cached_property
    def _callers(self) -> Callers:
        if not self._ask_callers:
            return Callers()
        return callers_of(self.context.view, self.context.function, _value_in)

    def _what_callers_leave_open(self, argument: ast.arg) -> list[Assumption]:
        """Other files may call a public function with something else."""
        if self._callers.complete:
            return []
        calls = "the one call" if self._callers.count == 1 else f"the {self._callers.count} calls"
        claim = f"every caller passes a tensor for {argument.arg}, as {calls} in the given files do"
        return [Assumption(claim.replace(" do", " does") if self._callers.count == 1 else claim, argument.lineno)]

    @cached_property
    def _evidence(self) -> dict[str, Assumption]:
        """Names that the body uses as a tensor, by a method that tensors have or by a function of torch."""
        found: dict[str, Assumption] = {}
        for node in ast.walk(self.context.function.node):
            if not isinstance(node, ast.Call):
                continue
            func = node.func
            qualified = self.context.names.qualified(func) or ""
            if qualified.startswith("torch."):
                named = qualified.rpartition(".")[2]
                takes_tensor = (named in OPERATORS or named in LIKE_FACTORIES) and named not in TAKES_SEQUENCE
                suggested = _operand_names(node.args[0]) if node.args and takes_tensor else []
            elif isinstance(func, ast.Attribute) and func.attr in EVIDENCE_METHODS:
                suggested = _operand_names(func.value)
            else:
                continue
            for name in suggested:
                found.setdefault(name, Assumption(f"{name} is a tensor", node.lineno))
        return found

    def _written_by_inner_functions(self) -> frozenset[str]:
        found: set[str] = set()
        for node in ast.walk(self.context.function.node):
            if isinstance(node, ast.Nonlocal):
                found.update(node.names)
        scope = self.context.function.node
        return frozenset(found) | frozenset(self.context.names.declared_outer(scope))

    def _read_by_inner_functions(self) -> frozenset[str]:
        inner = [
            n
            for n in ast.walk(self.context.function.node)
            if isinstance(n, FunctionNode) and n is not self.context.function.node
        ]
        return frozenset(names_in(inner))

    # -- execution -------------------------------------------------------------------------

    def _block(self, body: Sequence[ast.stmt], state: State | None) -> State | None:
        """Run statements; None stands for "not reached"."""
        hidden = self._hidden
        for statement in body:
            if state is None:
                break
            seen = self._seen_to_hold(statement, state)
            self.before[statement] = seen
            after = self._statement(statement, seen)
            state = _without_observations(after, seen, state)
            if isinstance(statement, ast.If) and self._returns_on_one_side(statement, seen):
                self._hidden += 1
        self._hidden = hidden
        return state

    @cached_property
    def _first_on_line(self) -> dict[int, ast.stmt]:
        return first_on_lines(self.context.function.node)

    def _seen_to_hold(self, statement: ast.stmt, state: State) -> State:
        """The state with what a run showed where the statement starts; paths hold for this statement.

        What was seen inside a side of a branch on a tensor, or behind one that returns, holds for the runs that came
        there. A rewrite of the branch would use it for all runs, so it is left out.
        """
        observed = self.context.view.observed(statement.lineno)
        if observed is None or observed.function != self.context.function.name:
            return state
        if self._hidden or self._first_on_line.get(statement.lineno) is not statement:
            return state
        values = dict(state.values)
        for name in observed.names():
            root = root_of(name)
            if root not in self._untracked and (root in values or not self.context.is_local(root)):
                values[name] = observed.value(name, values.get(name))
        if isinstance(statement, ast.For):
            values |= self._seen_at_first_round(statement, observed, values)
        off_for_sure = state.gradients_off and not state.seen_off
        return replace(
            state,
            values=values,
            gradients_off=off_for_sure or observed.gradients_off,
            seen_off=observed.gradients_off and not off_for_sure,
            paths=frozenset(name for name in values if not name.isidentifier()),
        )

    def _seen_at_first_round(
        self, statement: ast.For, observed: Observed, values: Mapping[str, Value]
    ) -> dict[str, Value]:
        """What the names of the iterable held: later rounds, which are observed as well, may not have them any more."""
        needed = (names_in([statement.iter]) & values.keys()) - {*observed.names()} - self._untracked
        first = tuple(one for one in observed.observations if needed <= one.values.keys())
        if not needed or not first:
            return {}
        at_first = replace(observed, observations=first)
        return {name: at_first.value(name, values.get(name)) for name in needed & {*at_first.names()}}

    def _returns_on_one_side(self, statement: ast.If, state: State) -> bool:
        """True when the statements behind the branch run for one outcome of a tensor only."""
        if not self._has_observations:  # nothing has to be hidden then
            return False
        sides = (statement.body, statement.orelse)
        leaves = any(isinstance(part, ast.Return) for side in sides for top in side for part in ast.walk(top))
        return leaves and reads_tensor(self, state, statement.test)

    def _statement(self, statement: ast.stmt, state: State) -> State | None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                state, found = self._run(value, state)
                for target in targets:
                    state = self._bind(target, value, found, state, aliased=len(targets) > 1)
                return state
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                state, found = self._run(value, state)
                return self._bind(target, value, found, state)
            case ast.AugAssign(target=target, value=value):
                return self._augmented(target, value, state)
            case ast.Expr(value=value):
                return self._run(value, state, kept=False)[0]
            case ast.Return(value=value):
                if value is not None:
                    self._run(value, state)
                return None
            case ast.Raise(exc=raised, cause=cause):
                for value in (raised, cause):
                    state = self._run(value, state)[0] if value is not None else state
                return None
            case ast.Break() | ast.Continue():
                return None
            case ast.If():
                return self._if(statement, state)
            case ast.For() | ast.AsyncFor() | ast.While():
                return self._loop(statement, state)
            case ast.With(items=items, body=body) | ast.AsyncWith(items=items, body=body):
                around = state.gradients_off
                for item in items:
                    state = self._run(item.context_expr, state)[0]
                    mode = gradient_mode(self.context.names, item.context_expr)
                    state = replace(state, gradients_off=state.gradients_off if mode is None else mode == "off")
                    if self._switches_gradients:
                        state = replace(state, gradients_off=False)
                    if item.optional_vars is not None:
                        state = self._unknown_target(item.optional_vars, state)
                end = self._block(body, state)
                end = replace(end, gradients_off=around) if end is not None else None
                state = replace(state, gradients_off=around)
                if all(self._propagates(item.context_expr) for item in items):
                    return end
                # An unknown context manager may swallow an exception from anywhere in its body.
                return _merge(end, self._anywhere_in(body, state), ("with", statement.lineno))
            case ast.Try():
                return self._try(statement, state)
            case ast.Match(subject=subject, cases=cases):
                state = self._run(subject, state)[0]
                return self._match(cases, state, statement)
            case ast.Assert(test=test):
                return self._run(test, state, kept=False)[0]
            case ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal() | ast.Pass():
                return state.without(stored_names([statement]))
            case _:
                return self._anywhere_in([statement], state)

    def _propagates(self, manager: ast.expr) -> bool:
        """True for context managers of torch, which let exceptions through."""
        callee = manager.func if isinstance(manager, ast.Call) else manager
        return (self.context.names.qualified(callee) or "").startswith("torch.")

    def _run(self, value: ast.expr, state: State, *, kept: bool = True) -> tuple[State, Value]:
        """The state after evaluating an expression, and its value; one that is not kept is shared with nobody."""
        found, evaluation = self.evaluate(value, state)
        effects = evaluation.effects
        if effects.impure and state.seen_off:
            state = replace(state, gradients_off=False, seen_off=False)
        state = replace(state, established=state.established | effects.certain)
        state = self._after_writes(value, effects.writes, state)
        for name, bound, certainly in effects.bound:
            state = state.bind(name, replace(bound, fresh=False)) if certainly else state.without([name])
        state = state.without(stored_names([value]) - {name for name, _, _ in effects.bound})
        new = found.fresh and not isinstance(value, ast.Name)
        private = new or found.kind is Kind.NUMBER or (found.class_name or "").startswith("tensor.")
        if effects.impure or (kept and not private):
            state = self._shared(value, state)
        if isinstance(value, ast.Name):
            found = replace(found, fresh=False)
        return state, found

    def _after_writes(self, value: ast.expr, writes: Sequence[Write], state: State) -> State:
        """What is left of the facts when a tensor has been written to, and with it all that may share its memory."""
        if not writes:
            return state
        state = state.without_paths()
        touched = names_in([value])
        place = v.term("written", value.lineno, value.col_offset)
        return self._written(touched, place, anything=Write.ANYTHING in writes, state=state)

    def _written(self, touched: set[str], place: v.Term, *, anything: bool, state: State) -> State:
        changed = {}
        for name, held in state.values.items():
            if not held.tensor_like or (held.fresh and name not in touched):
                continue
            after = replace(held, sources=frozenset({v.term(place, name)}))
            if anything:
                other = v.opaque_tensor(v.term(place, name), None)
                after = replace(
                    after, shape=other.shape, dtype=other.dtype, layout=other.layout, devices=other.devices, one=False
                )
            changed[name] = after
        return replace(state, values={**state.values, **changed})

    def _anywhere_in(self, body: Sequence[ast.AST], state: State) -> State:
        """What holds when any part of some statements may have run: after an exception, a `break`, a class body."""
        read = names_in(body)
        line = min((getattr(top, "lineno", 0) for top in body), default=0)
        state = state.without_paths().without(stored_names(body))
        state = self._written(read, v.term("anywhere", line), anything=True, state=state)
        private = {name: replace(held, fresh=False) for name, held in state.values.items() if name in read}
        return replace(state, values={**state.values, **private})

    def _shared(self, value: ast.expr, state: State) -> State:
        """Tensors handed to something unknown, named twice, viewed or put in a container are not private any more."""
        touched = names_in([value])
        changed = {
            name: replace(held, fresh=False) for name, held in state.values.items() if name in touched and held.fresh
        }
        return replace(state, values={**state.values, **changed})

    def _bind(self, target: ast.expr, node: ast.expr, found: Value, state: State, aliased: bool = False) -> State:
        match target:
            case ast.Name(id=name):
                if name in self._untracked:
                    return state
                if aliased or name in self._captured:
                    found = replace(found, fresh=False)
                if found.kind is Kind.MAYBE and name in self._evidence:
                    found = replace(found.assuming([self._evidence[name]]), kind=Kind.TENSOR)
                return state.bind(name, found)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                parts = node.elts if isinstance(node, ast.Tuple | ast.List) and len(node.elts) == len(targets) else None
                before = state
                for index, part in enumerate(targets):
                    if parts is not None and not isinstance(part, ast.Starred):
                        value = replace(self.evaluate(parts[index], before)[0], fresh=False)
                        state = self._bind(part, parts[index], value, state)
                    else:
                        state = self._unknown_target(part, state)
                return state
            case _:
                state = self._shared(node, state).without_paths()
                if any(isinstance(part, ast.Call) for part in ast.walk(target)):
                    return self._anywhere_in([target], state)
                if isinstance(target, ast.Attribute) and target.attr not in ("data", "grad", "requires_grad"):
                    return state
                touched = names_in([target])
                place = v.term("written", target.lineno, target.col_offset)
                anything = isinstance(target, ast.Attribute) and target.attr in ("data", "grad", "requires_grad")
                return self._written(touched, place, anything=anything, state=state)

    def _unknown_target(self, target: ast.expr, state: State) -> State:
        if any(isinstance(part, ast.Call) for part in ast.walk(target)):
            state = self._anywhere_in([target], state)
        for name in stored_names([target]):
            token = v.term("unpacked", name, target.lineno, target.col_offset)
            state = self._bind(ast.Name(name), target, v.opaque_tensor(token, None, kind=Kind.MAYBE), state)
        return state

    def _augmented(self, target: ast.expr, value: ast.expr, state: State) -> State:
        state, found = self._run(value, state)
        if not isinstance(target, ast.Name):
            touched = names_in([target])
            place = v.term("written", target.lineno, target.col_offset)
            return self._written(touched, place, anything=False, state=self._shared(value, state).without_paths())
        if target.id in self._untracked or target.id not in state.values:
            return state
        held = state.values[target.id]
        if held.tensor_like:
            # In place: shape, dtype and device stay those of the target, and others may see the write.
            place = v.term("written", target.lineno, target.col_offset)
            state = self._written(set(), place, anything=False, state=state) if not held.fresh else state
            return state.bind(target.id, replace(held, sources=v.union_sources([held, found])))
        if held.kind is Kind.NUMBER and found.kind is Kind.NUMBER:
            return state.bind(target.id, v.number("float" if "float" in (held.number, found.number) else None))
        token = v.term("augmented", target.id, target.lineno)
        return state.bind(target.id, v.opaque_tensor(token, None, kind=Kind.MAYBE))

    def _if(self, statement: ast.If, state: State) -> State | None:
        decided_by_tensor = self._has_observations and reads_tensor(self, state, statement.test)
        state = self._run(statement.test, state, kept=False)[0]
        self._hidden += decided_by_tensor
        then = self._block(statement.body, self.refine(statement.test, state, True))
        otherwise = self._block(statement.orelse, self.refine(statement.test, state, False))
        self._hidden -= decided_by_tensor
        return _merge(then, otherwise, ("if", statement.lineno, statement.col_offset))

    def refine(self, test: ast.expr, state: State, outcome: bool) -> State:
        """What a static test tells about a name: its dtype, that it is a tensor, that it is not None."""
        match test:
            case ast.UnaryOp(op=ast.Not(), operand=inner):
                return self.refine(inner, state, not outcome)
            case ast.BoolOp(op=ast.And(), values=parts) if outcome:
                for part in parts:
                    state = self.refine(part, state, True)
                return state
            case ast.BoolOp(op=ast.Or(), values=parts) if not outcome:
                for part in parts:
                    state = self.refine(part, state, False)
                return state
            case ast.Compare(
                left=ast.Attribute(value=ast.Name(id=name), attr="dtype"), ops=[ast.Eq()], comparators=[right]
            ) if outcome:
                qualified = self.context.names.qualified(right) or ""
                dtype = v.concrete_dtype(qualified.removeprefix("torch.")) if qualified.startswith("torch.") else None
                held = state.values.get(name)
                if dtype is not None and held is not None and held.tensor_like:
                    return state.bind(name, replace(held, dtype=dtype))
                return state
            case ast.Compare(left=ast.Name(id=name), ops=[ast.IsNot()], comparators=[ast.Constant(value=None)]) if (
                outcome
            ):
                return self._not_none(name, state)
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Is()], comparators=[ast.Constant(value=None)]) if (
                not outcome
            ):
                return self._not_none(name, state)
            case ast.Call(func=func, args=[ast.Name(id=name), *rest]):
                tests_tensor = self.context.names.qualified(func) == "torch.is_tensor" or (
                    self.context.names.is_builtin(func, "isinstance")
                    and len(rest) == 1
                    and self.context.names.qualified(rest[0]) == "torch.Tensor"
                )
                held = state.values.get(name)
                if not tests_tensor or held is None or not held.tensor_like:
                    return state
                return state.bind(name, replace(held, kind=Kind.TENSOR, assumed=frozenset()) if outcome else v.OTHER)
            case _:
                return state

    def _not_none(self, name: str, state: State) -> State:
        held = state.values.get(name)
        if held is None or not held.assumed:
            return state
        kept = frozenset(a for a in held.assumed if a.claim != f"{name} is not None")
        return state.bind(name, replace(held, assumed=kept))

    def _loop(self, statement: ast.For | ast.AsyncFor | ast.While, state: State) -> State | None:
        if not isinstance(statement, ast.While):
            state = self._run(statement.iter, state)[0]
        stored = stored_names([statement])
        head = state
        for _ in range(_LOOP_ROUNDS):
            start = self._loop_start(statement, head)
            end = self._block(statement.body, start)
            merged = _merge(state, end, ("loop", statement.lineno, statement.col_offset)) or state
            # A `continue` or `break` leaves from the middle: what the body stores is only known through the merge.
            if _leaves_early(statement.body):
                merged = self._anywhere_in(statement.body, merged)
            if merged == head:
                break
            head = merged
        else:
            head = State(state.without(stored).values)
            self._block(statement.body, self._loop_start(statement, head))
        leaving = self._loop_start(statement, head) if isinstance(statement, ast.While) else head
        after = self._block(statement.orelse, leaving)
        # A `break` passes by the else.
        if not _leaves_early(statement.body):
            return after
        return _merge(after, self._anywhere_in(statement.body, head), ("break", statement.lineno))

    def _loop_start(self, statement: ast.For | ast.AsyncFor | ast.While, head: State) -> State:
        """What holds when the body starts; `before` of a while is what its test sees in every round."""
        if isinstance(statement, ast.While):
            head = self._seen_to_hold(statement, head)
            self.before[statement] = head
            return self._run(statement.test, head, kept=False)[0]
        return self._loop_target(statement, head)

    def _loop_target(self, statement: ast.For | ast.AsyncFor, state: State) -> State:
        iterated = self.evaluate(statement.iter, state)[0]
        counts = isinstance(statement.iter, ast.Call) and self.context.names.is_builtin(statement.iter.func, "range")
        if counts and isinstance(statement.target, ast.Name) and statement.target.id not in self._untracked:
            return state.bind(statement.target.id, v.number("int"))
        if iterated.kind is Kind.TENSOR and isinstance(statement.target, ast.Name):
            token = v.term("row", statement.lineno, statement.col_offset)
            return state.bind(statement.target.id, v.opaque_tensor(token, None).assuming(iterated.assumed))
        return self._unknown_target(statement.target, state)

    def _try(self, statement: ast.Try, state: State) -> State | None:
        interrupted = self._anywhere_in([*statement.body, *statement.orelse], state)
        ends = [self._block(statement.orelse, self._block(statement.body, state))]
        for handler in statement.handlers:
            start = self._anywhere_in([handler.type], interrupted) if handler.type is not None else interrupted
            ends.append(self._block(handler.body, start.without([handler.name or ""])))
        merged: State | None = None
        for end in ends:
            merged = _merge(merged, end, ("try", statement.lineno))
        if not statement.finalbody:
            return merged
        handled = self._anywhere_in(statement.handlers, interrupted)
        after = self._block(statement.finalbody, _merge(merged, handled, ("finally", statement.lineno)) or handled)
        return after if merged is not None else None

    def _match(self, cases: Sequence[ast.match_case], state: State, statement: ast.stmt) -> State | None:
        ends: list[State | None] = [state]
        for case in cases:
            inner = state.without(stored_names([case.pattern]))
            if case.guard is not None:
                inner = self._run(case.guard, inner)[0]
            ends.append(self._block(case.body, inner))
        merged: State | None = None
        for end in ends:
            merged = _merge(merged, end, ("match", statement.lineno))
        return merged


def _value_in(view: FileView, node: ast.expr) -> Value:
    """The facts about an argument at a call, without looking at who calls the caller."""
    caller = view.source.enclosing_function(node)
    if caller is None:
        return Evaluation(module_context(view), {}).value(node)
    statement = next((parent for parent in view.source.ancestors(node) if isinstance(parent, ast.stmt)), None)
    flow = Flow(view, caller, ask_callers=False)
    state = flow.before.get(statement) if statement is not None else None
    return flow.evaluate(node, state)[0] if state is not None else v.UNKNOWN


def _operand_names(node: ast.expr) -> list[str]:
    """The name that a name, an arithmetic expression or a comparison with constants computes with."""
    match node:
        case ast.Name(id=name):
            return [name]
        case ast.BinOp(left=left, right=ast.Constant()) | ast.Compare(left=left, comparators=[ast.Constant()]):
            return _operand_names(left)
        case ast.BinOp(left=ast.Constant(), right=right):
            return _operand_names(right)
        case ast.UnaryOp(operand=operand):
            return _operand_names(operand)
        case _:
            return []


def _merge(first: State | None, second: State | None, token: Hashable) -> State | None:
    if first is None or second is None:
        return first if second is None else second
    shared = first.values.keys() & second.values.keys()
    joined = {name: v.join(first.values[name], second.values[name], v.term(token, name)) for name in shared}
    return State(
        {name: joined[name] for name in first.values if name in shared},
        first.established & second.established,
        first.gradients_off and second.gradients_off,
        first.seen_off or second.seen_off,
        first.paths & second.paths,
    )


def reads_tensor(flow: Flow, state: State, test: ast.expr) -> bool:
    """True when the truth of `test` needs the values of a tensor, as far as the source shows."""
    match test:
        case ast.BoolOp(values=parts):
            return any(reads_tensor(flow, state, part) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=inner) | ast.NamedExpr(value=inner):
            return reads_tensor(flow, state, inner)
        case _:
            value = flow.evaluate(test, state)[0]
            if value.kind is Kind.NUMBER and value.scalar_of is not None:
                value = value.scalar_of
            return value.kind is Kind.TENSOR


def first_on_lines(node: ast.AST) -> dict[int, ast.stmt]:
    """By line, the outermost statement that begins there first; those of inner functions are left out."""
    found: dict[int, ast.stmt] = {}

    def visit(parent: ast.AST) -> None:
        for child in ast.iter_child_nodes(parent):
            if isinstance(child, ast.stmt):
                found.setdefault(child.lineno, child)
            if not isinstance(child, FunctionNode):
                visit(child)

    visit(node)
    return found


def root_of(path: str) -> str:
    """The name that a path such as `self.scale` or `batch['x']` begins with."""
    return path.partition(".")[0].partition("[")[0]


def _without_observations(after: State | None, seen: State, before: State) -> State | None:
    """The state after a statement, without what only holds inside it: observed paths and the observed gradient mode."""
    if after is None or seen is before:
        return after
    kept = after.without(after.paths - before.paths)
    return replace(kept, gradients_off=before.gradients_off and after.gradients_off, seen_off=before.seen_off)


def _leaves_early(body: Sequence[ast.stmt]) -> bool:
    return any(isinstance(node, ast.Break | ast.Continue) for statement in body for node in ast.walk(statement))
