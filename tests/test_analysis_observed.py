"""What a run showed becomes facts at its line, and only there."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from facts import Program

from gbfix.analysis import sizes
from gbfix.analysis.moved_observations import moved
from gbfix.analysis.observations import Observation, TensorSpec, ValueSpec
from gbfix.analysis.observed import by_line
from gbfix.analysis.values import CONTIGUOUS, NONE, SCALAR_SHAPE, Kind, Value
from gbfix.evidence.fake import FakeOperations


def tensor(
    *shape: int | str,
    dtype: str = "float32",
    stride: tuple[int | str, ...] | None = None,
    device: str = "cpu",
    requires_grad: bool = False,
    type_name: str = "torch.Tensor",
) -> ValueSpec:
    steps = stride if stride is not None else tuple(range(len(shape), 0, -1))[: len(shape)]
    if stride is None and all(isinstance(size, int) for size in shape):
        steps, step = (), 1
        for size in reversed(shape):
            steps, step = (step, *steps), step * int(size)
    return ValueSpec("tensor", type_name, TensorSpec(dtype, shape, steps, device, requires_grad))


def number(value: float) -> ValueSpec:
    kind = type(value).__name__
    return ValueSpec(kind, kind, value=repr(value))


def seen(count: int = 1, grad_enabled: bool = True, function: str = "f", **values: ValueSpec) -> Observation:
    return Observation("program.py", 1, function, count=count, grad_enabled=grad_enabled, values=values)


PLAIN = """
    def f(x, y):
        return x + y  # here
"""


def test_a_name_is_a_tensor_without_any_assumption() -> None:
    held = Program(PLAIN, seen(x=tensor(2, 3), y=number(2.0))).held("x")
    assert held.kind is Kind.TENSOR
    assert not held.assumed
    assert held.dtype is not None
    assert held.dtype.term == "float32"
    assert held.layout == CONTIGUOUS
    assert held.devices == {"cpu"}
    assert not held.one


def test_a_number_says_its_type() -> None:
    held = Program(PLAIN, seen(x=tensor(2), y=number(3))).held("y")
    assert (held.kind, held.number) == (Kind.NUMBER, "int")


def test_none_is_known() -> None:
    assert Program(PLAIN, seen(x=ValueSpec("none", "NoneType"), y=number(3))).held("x") == NONE


def test_a_name_that_is_not_always_the_same_kind_is_nothing_known() -> None:
    held = Program(PLAIN, seen(x=tensor(2), y=number(3)), seen(x=number(1), y=number(3))).held("x")
    assert held.kind is Kind.MAYBE


def test_a_name_that_was_missing_once_is_not_touched() -> None:
    held = Program(PLAIN, seen(x=tensor(2), y=number(3)), seen(y=number(3))).held("x")
    assert held.kind is Kind.MAYBE


def test_what_no_guard_holds_is_not_known() -> None:
    items = ValueSpec("list", "list", items=(("0", tensor(2)),))
    guarded = seen(x=tensor(2), y=items)
    program = Program(PLAIN, guarded, replace(guarded, unguarded=("y",)))
    assert program.held("x").kind is Kind.TENSOR
    assert program.held("y").kind is Kind.MAYBE
    assert "y[0]" not in program.state.values


def test_a_tensor_subclass_is_no_plain_tensor() -> None:
    held = Program(PLAIN, seen(x=tensor(2, type_name="mine.Quantity"), y=number(3))).held("x")
    assert held.kind is Kind.MAYBE


def test_an_observation_of_another_function_does_not_count() -> None:
    held = Program(PLAIN, seen(function="g", x=tensor(2), y=number(3))).held("x")
    assert held.kind is Kind.MAYBE


def result(*observations: Observation, text: str = PLAIN) -> Value:
    return Program(text, *observations, fakes=FakeOperations()).evaluate()[0]


def test_shapes_broadcast_in_every_run() -> None:
    one = result(seen(x=tensor(2, 3), y=tensor(3)), seen(x=tensor(5, 3), y=tensor(3)))
    other = result(seen(x=tensor(2, 3), y=tensor(2, 1)), seen(x=tensor(5, 3), y=tensor(5, 1)))
    assert one.shape == other.shape
    assert one.layout == CONTIGUOUS


def test_dtypes_promote() -> None:
    dtype = result(seen(x=tensor(2, dtype="float16"), y=tensor(2, dtype="bfloat16"))).dtype
    assert dtype is not None
    assert dtype.term == "float32"


def test_no_gradient_flows_when_nothing_requires_one() -> None:
    assert result(seen(x=tensor(2), y=tensor(2))).sources == frozenset()
    assert result(seen(x=tensor(2, requires_grad=True), y=tensor(2))).sources == {"x"}


def test_gradients_are_off_where_every_run_had_them_off() -> None:
    specs = {"x": tensor(2, requires_grad=True), "y": tensor(2)}
    assert Program(PLAIN, seen(grad_enabled=False, **specs)).state.gradients_off
    assert not Program(PLAIN, seen(grad_enabled=False, **specs), seen(**specs)).state.gradients_off


def test_one_element() -> None:
    assert Program(PLAIN, seen(x=tensor(1, 1), y=tensor())).held("x").one
    assert Program(PLAIN, seen(x=tensor(1, 1), y=tensor())).held("y").shape == SCALAR_SHAPE
    assert not Program(PLAIN, seen(x=tensor(1), y=tensor()), seen(x=tensor(2), y=tensor())).held("x").one


def test_attributes_and_items_are_known_by_what_reads_them() -> None:
    text = """
        class Net(nn.Module):
            def forward(self, batch):
                return self.scale * batch["x"] + batch["sizes"][0]  # here
    """
    batch = ValueSpec("dict", "dict", items=(("x", tensor(2, 3)), ("sizes", ValueSpec("list", "list"))))
    values = {"batch": batch, "self.scale": tensor(3)}
    program = Program(text, Observation("program.py", 1, "Net.forward", values=values))
    assert program.held("self.scale").kind is Kind.TENSOR
    assert program.held("batch['x']").kind is Kind.TENSOR
    product = program.statement
    assert "batch['sizes']" in program.state.values
    assert product in program.flow.before


def test_paths_hold_for_their_statement_only() -> None:
    text = """
        class Net(nn.Module):
            def forward(self, x):
                y = x * self.scale  # here
                self.update()
                return y * self.scale
    """
    program = Program(text, Observation("program.py", 1, "forward", values={"x": tensor(3), "self.scale": tensor(3)}))
    states = list(program.flow.before.values())
    assert ["self.scale" in state.values for state in states] == [True, False, False]


def test_what_an_operation_gives_is_asked_of_pytorch() -> None:
    text = """
        def f(x):
            return x.transpose(0, 1).mean(dim=-1, keepdim=True)  # here
    """
    found = result(seen(x=tensor(4, 8)), seen(x=tensor(2, 8)), text=text)
    assert found.shape is not None
    assert [sizes.entries(shape) for shape in found.shape] == [(None, ((8, 1),))]
    assert found.dtype is not None
    assert found.dtype.term == "float32"


def test_an_operation_that_raises_gives_nothing() -> None:
    text = """
        def f(x, y):
            return torch.cat((x, y)).reshape(3, 5)  # here
    """
    assert sizes.ranks(result(seen(x=tensor(4), y=tensor(5)), text=text).shape or ()) == set()


def test_the_dtype_that_autocast_may_change_stays_open() -> None:
    text = """
        def f(x, w):
            return torch.nn.functional.linear(x, w)  # here
    """
    found = result(seen(x=tensor(4, 8), w=tensor(5, 8)), text=text)
    assert sizes.sample(found.shape or ()) == (4, 5)
    assert found.dtype is not None
    assert found.dtype.term != "float32"


def test_an_index_that_always_fits_raises_nothing() -> None:
    text = """
        def f(x):
            return x[0, 1:]  # here
    """
    program = Program(text, seen(x=tensor(2, 3)), fakes=FakeOperations())
    assert not program.evaluate()[1].effects.requirements
    beyond = Program(text.replace("[0,", "[7,"), seen(x=tensor(2, 3)), fakes=FakeOperations())
    assert beyond.evaluate()[1].effects.requirements


def test_lines_move_with_an_edit_below_and_above_it() -> None:
    observed = by_line([Observation("f.py", line, "f") for line in (1, 2, 3, 4)])
    before, after = "a\nb\nc\nd", "a\nB1\nB2\nc\nd"
    assert {line: o.observations[0].line for line, o in moved(observed, before, after).items()} == {1: 1, 4: 3, 5: 4}


def test_a_line_between_two_edits_is_dropped() -> None:
    observed = by_line([Observation("f.py", line, "f") for line in (1, 2, 3)])
    assert set(moved(observed, "a\nb\nc", "A\nb\nC")) == set()
    assert set(moved(observed, "a\nb\nc", "a\nb\nc")) == {1, 2, 3}


def test_functions_between_two_edits_keep_what_was_observed_in_them() -> None:
    kept = "@compiled\ndef f(x):\n    return x\n\n\nclass C:\n    def f(self):\n        return 1\n    def g(self):\n"
    before = f"a = 1\n{kept}        return 2\nb = 1"
    after = f"import c\na = 2\n{kept}        return 3\nb = 2"
    observed = by_line([Observation("f.py", line, "f") for line in range(1, 12)])
    places = {line: o.observations[0].line for line, o in moved(observed, before, after).items()}
    assert places == {3: 2, 4: 3, 5: 4, 9: 8, 10: 9}


def test_a_function_that_stands_twice_is_dropped() -> None:
    twice = "def f(x):\n    return x\ndef f(x):\n    return x\n"
    observed = by_line([Observation("f.py", line, "f") for line in range(1, 6)])
    assert set(moved(observed, f"a\n{twice}b", f"A\n{twice}B")) == set()


def test_what_holds_in_the_middle_of_a_statement_is_left_out() -> None:
    whole, rest = Observation("f.py", 3, "f"), Observation("f.py", 3, "f", how="resumed")
    assert by_line([whole, rest])[3].observations == (whole,)


def test_a_name_that_was_something_else_where_dynamo_resumed_is_not_known() -> None:
    whole = seen(x=tensor(3), y=tensor(3))
    for other, kind in [
        (tensor(3), Kind.TENSOR),
        (tensor("s0"), Kind.TENSOR),
        (tensor(5), Kind.MAYBE),
        (tensor(3, dtype="float64"), Kind.MAYBE),
        (tensor(3, requires_grad=True), Kind.MAYBE),
        (tensor(3, 1), Kind.MAYBE),
        (number(2), Kind.MAYBE),
    ]:
        program = Program(PLAIN, whole, replace(seen(y=other), how="resumed"))
        assert (program.held("y").kind, program.held("x").kind) == (kind, Kind.TENSOR)


def test_only_resumed_lines_tell_nothing() -> None:
    rest = Observation("f.py", 3, "f", how="resumed")
    assert by_line([rest]) == {}


def test_lines_that_two_functions_share_are_left_out() -> None:
    assert by_line([Observation("f.py", 3, "f"), Observation("f.py", 3, "g")]) == {}
    around, inside = Observation("f.py", 3, "f"), Observation("f.py", 3, "f.<locals>.<lambda>")
    assert by_line([inside, around]) == by_line([around])


NESTED = """
    def f(x, y):
        if x.sum() > 0:
            if y.sum() > 0:  # here
                z = y * 2
            else:
                z = y * 3
        else:
            z = x * 2
        return z
"""


def test_what_was_seen_inside_a_side_does_not_hold_for_all_runs() -> None:
    program = Program(NESTED, seen(x=tensor(3), y=tensor(3)))
    assert program.held("y").assumed


def test_what_was_seen_behind_a_side_that_returns_does_not_hold_for_all_runs() -> None:
    text = """
        def f(x: torch.Tensor, y):
            if x.sum() > 0:
                return x
            z = y * 2  # here
            return z
    """
    assert Program(text, seen(x=tensor(3), y=tensor(3))).held("y").kind is not Kind.TENSOR
    static = text.replace("x.sum() > 0", "x.ndim > 1")
    assert Program(static, seen(x=tensor(3), y=tensor(3))).held("y").kind is Kind.TENSOR


def test_only_the_first_statement_of_a_line_starts_where_the_line_does() -> None:
    text = """
        def f(x, y):
            y = y.double(); z = y * 2  # here
            return z
    """
    program = Program(text, seen(x=tensor(3), y=tensor(3)))
    first, second, _ = program.flow.before.values()
    assert [state.values["y"].dtype.term for state in (first, second) if state.values["y"].dtype] == [
        "float32",
        "float64",
    ]


def test_paths_go_when_anything_may_have_changed_them() -> None:
    for change in ("batch = other", "batch['x'] = y", "batch.update(y)", "y.set_(x)"):
        text = f"""
            def f(x: torch.Tensor, y: torch.Tensor, batch, other):
                if x.ndim > 1:  # here
                    {change}
                    z = batch['x']
                return x
        """
        batch = ValueSpec("dict", "dict", items=(("x", tensor(2, 3)),))
        program = Program(text, seen(x=tensor(3), y=tensor(3), batch=batch, other=batch))
        (inner,) = [state for statement, state in program.flow.before.items() if ast.unparse(statement).startswith("z")]
        assert "batch['x']" not in inner.values, change


def test_the_default_dtype_of_the_run_is_not_known() -> None:
    text = """
        def f(x, y):
            return torch.sqrt(x)  # here
    """
    dtype = result(seen(x=tensor(3, dtype="int64"), y=tensor(3)), text=text).dtype
    assert dtype is not None
    assert dtype.term != "float32"


def test_a_tensor_without_strides_is_no_plain_tensor() -> None:
    sparse = ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", (3, 3), ()))
    assert Program(PLAIN, seen(x=sparse, y=tensor(3))).held("x").kind is Kind.MAYBE


def test_strides_of_single_elements_count() -> None:
    odd, plain = tensor(1, 3, stride=(1, 1)), tensor(1, 3)
    program = Program(PLAIN, seen(x=odd, y=plain))
    assert program.held("x").layout != program.held("y").layout == CONTIGUOUS
    assert result(seen(x=odd, y=number(2))).layout != CONTIGUOUS
    assert result(seen(x=plain, y=number(2))).layout == CONTIGUOUS


def test_a_call_may_end_the_observed_gradient_mode() -> None:
    text = """
        def f(c: torch.Tensor, y: torch.Tensor, flag):
            if flag:  # here
                {call}
                z = y * 2
            return y
    """
    for call, off in (("turn_on()", False), ("w = y + 1", True)):
        program = Program(text.format(call=call), seen(grad_enabled=False, c=tensor(3), y=tensor(3), flag=number(True)))
        (inner,) = [s for statement, s in program.flow.before.items() if ast.unparse(statement) == "z = y * 2"]
        assert inner.gradients_off is off


@pytest.mark.parametrize("dtype", ["quint8", "complex32"])
def test_kinds_of_tensors_that_cannot_be_selected_are_no_plain_ones(dtype: str) -> None:
    assert Program(PLAIN, seen(x=tensor(3, dtype=dtype), y=tensor(3))).held("x").kind is Kind.MAYBE


def test_items_where_dynamo_resumed_contradict_as_well() -> None:
    def items(dtype: str) -> ValueSpec:
        return ValueSpec("list", "list", items=(("0", tensor(3, dtype=dtype)),))

    later = replace(seen(x=tensor(3), y=items("float64")), how="resumed")
    program = Program(PLAIN, seen(x=tensor(3), y=items("float32")), later)
    assert "y[0]" not in program.state.values


def test_what_is_made_once_is_known_where_it_was_seen() -> None:
    def anywhere(*observations: Observation) -> Value | None:
        return by_line(observations)[1].tensor_anywhere("s")

    later = replace(seen(s=tensor(6)), how="resumed", unguarded=("s",))
    found = anywhere(seen(x=tensor(2)), later)
    assert found is not None
    assert found.kind is Kind.TENSOR
    assert found.assumed == frozenset()
    same = anywhere(seen(s=tensor(6)), later)
    assert same is not None
    assert (same.dtype, same.shape, same.devices) == (found.dtype, found.shape, found.devices)
    assert anywhere(seen(x=tensor(2))) is None
    assert anywhere(seen(s=tensor(5)), later) is None
    assert anywhere(seen(s=number(1)), later) is None
    assert anywhere(seen(x=tensor(2)), replace(later, values={"s": tensor("s0")})) is None
