from __future__ import annotations

import pytest
from facts import Program

from gbfix.analysis.values import Category, Kind


def test_branches_are_joined() -> None:
    program = Program("""
        def f(x: torch.Tensor, flag):
            if flag:
                y = x + 1.0
            else:
                y = x * 2.0
            return y
    """)
    held = program.held("y")
    assert held.kind is Kind.TENSOR
    assert held.shape == program.held("x").shape


def test_a_name_bound_on_one_side_only_is_not_known() -> None:
    program = Program("""
        def f(x: torch.Tensor, flag):
            if flag:
                y = x + 1.0
            return x
    """)
    assert "y" not in program.state.values


def test_a_loop_forgets_what_its_body_changes() -> None:
    program = Program("""
        def f(x: torch.Tensor, y: torch.Tensor):
            z = x
            for _ in range(3):
                z = z + y  # here
            return z
    """)
    held = program.held("z")
    assert held.kind is Kind.TENSOR
    assert held.shape != program.held("x").shape


def test_a_dtype_test_refines_its_branch_only() -> None:
    text = """
        def f(x: torch.Tensor):
            if x.dtype == torch.float16:
                y = x + 1{inside}
            return x{after}
    """
    inside = Program(text.format(inside="  # here", after="")).held("x").dtype
    after = Program(text.format(inside="", after="  # here")).held("x").dtype
    assert inside is not None
    assert inside.term == "float16"
    assert inside.category is Category.FLOAT
    assert after is not None
    assert after.category is None


def test_an_optional_tensor_is_one_after_the_test() -> None:
    program = Program("""
        def f(m: torch.Tensor | None):
            if m is not None:
                return m.sum()  # here
    """)
    assert not program.held("m").assumed


@pytest.mark.parametrize("annotation", ["torch.Tensor", "'torch.Tensor'", "torch.FloatTensor", "nn.Parameter"])
def test_annotations_prove_tensors(annotation: str) -> None:
    held = Program(f"def f(x: {annotation}):\n    return x\n").held("x")
    assert held.kind is Kind.TENSOR
    assert not held.assumed


@pytest.mark.parametrize("annotation", ["torch.Tensor | None", "'torch.Tensor | None'", "torch.Tensor"])
def test_optional_annotations_assume_a_tensor(annotation: str) -> None:
    held = Program(f"def f(x: {annotation} = None):\n    return x\n").held("x")
    assert {a.claim for a in held.assumed} == {"x is not None"}


@pytest.mark.parametrize(
    "between",
    [
        "other = y",
        "other = y[0]",
        "box = [y]",
        "keep(y)",
        "self.kept = y",
        "other = y.view(-1)",
        "g = lambda: y",
    ],
)
def test_a_tensor_that_others_can_reach_is_not_private(between: str) -> None:
    program = Program(f"""
        def f(self, x: torch.Tensor):
            y = x * 2.0
            {between}
            return y
    """)
    assert not program.held("y").fresh


@pytest.mark.parametrize("between", ["z = y + 1.0", "n = y.shape[0]", "pass", "ok = y.dtype == torch.float16"])
def test_reading_keeps_it_private(between: str) -> None:
    program = Program(f"""
        def f(self, x: torch.Tensor):
            y = x * 2.0
            {between}
            return y
    """)
    assert program.held("y").fresh


@pytest.mark.parametrize("write", ["w.copy_(x)", "w[0] = x.sum()", "w.requires_grad_()", "unknown(w, x)", "w += x"])
def test_a_write_adds_to_what_gradients_reach(write: str) -> None:
    program = Program(f"""
        def f(x: torch.Tensor):
            w = torch.zeros_like(x)
            {write}
            return w
    """)
    assert program.held("w").sources


@pytest.mark.parametrize(
    ("decorators", "off"),
    [
        ("@torch.no_grad()", True),
        ("@torch.compile\n@torch.inference_mode()", True),
        ("@torch.no_grad()\n@unknown", False),
        ("@torch.inference_mode(False)", False),
        ("@torch.enable_grad()", False),
        ("@torch.compile", False),
    ],
)
def test_decorators_and_gradients(decorators: str, off: bool) -> None:
    program = Program(f"{decorators}\ndef f(x: torch.Tensor):\n    return x\n")
    assert program.state.gradients_off is off


@pytest.mark.parametrize(
    ("manager", "off"),
    [
        ("torch.no_grad()", True),
        ("torch.no_grad(), torch.autocast('cpu')", True),
        ("torch.no_grad(), unknown()", False),
        ("torch.set_grad_enabled(flag)", False),
    ],
)
def test_contexts_and_gradients(manager: str, off: bool) -> None:
    program = Program(f"""
        def f(x: torch.Tensor, flag):
            with {manager}:
                y = x * 2.0  # here
            return y
    """)
    assert program.state.gradients_off is off


def test_a_context_that_may_swallow_an_exception_leaves_names_unknown() -> None:
    program = Program("""
        import contextlib

        def f(x: torch.Tensor):
            with contextlib.suppress(ValueError):
                y = x + 1.0
            return x
    """)
    assert "y" not in program.state.values


def test_names_of_other_functions_are_not_tracked() -> None:
    program = Program("""
        def f(x: torch.Tensor):
            y = x + 1.0
            def change():
                nonlocal y
                y = None
            change()
            return y  # here
    """)
    outer = next(f for f in program.source.functions if f.qualname == "f")
    from gbfix.analysis.flow import Flow

    flow = Flow(program.flow.context.view, outer)
    last = outer.node.body[-1]  # type: ignore[union-attr,index]
    assert "y" not in flow.before[last].values
