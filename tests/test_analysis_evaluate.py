from __future__ import annotations

import pytest
from facts import Program, effects_of, value_of

from gbfix.analysis import values as v
from gbfix.analysis.effects import Write
from gbfix.analysis.values import SCALAR_SHAPE, Category, Kind


@pytest.mark.parametrize("expression", ["x.sum()", "torch.any(x)", "x.isnan().any()", "(x > 0).all()", "torch.max(x)"])
def test_a_full_reduction_has_one_element(expression: str) -> None:
    value = value_of(expression)
    assert value.kind is Kind.TENSOR
    assert value.shape == SCALAR_SHAPE
    assert value.one


@pytest.mark.parametrize("expression", ["x.sum(0)", "torch.sum(x, dim=1)", "x.sum(dim=0, keepdim=True)", "x[0]", "x"])
def test_other_expressions_may_have_several(expression: str) -> None:
    assert not value_of(expression).one


@pytest.mark.parametrize(
    "expression", ["cfg.max", "cfg.max > 5", "cfg.sum", "torch.finfo(x.dtype).min", "x.shape[0]", "x.dim()"]
)
def test_spelling_alone_makes_no_tensor(expression: str) -> None:
    assert value_of(expression, "x: torch.Tensor, cfg").kind is not Kind.TENSOR


def test_a_tensor_method_on_an_unknown_name_is_an_assumption() -> None:
    value = value_of("z.sum()", "z")
    assert value.kind is Kind.TENSOR
    assert {a.claim for a in value.assumed} == {"z is a tensor"}


def test_a_function_of_torch_needs_a_tensor() -> None:
    evaluation = effects_of("torch.sin(self.a)", "self")
    assert [r.text for r in evaluation.effects.requirements] == ["self.a exists", "self.a is a tensor"]


@pytest.mark.parametrize(
    ("expression", "singular"),
    [
        ("x + y", None),
        ("x * 2.0", None),
        ("x.clamp(0, 1)", None),
        ("x * y", False),
        ("torch.sin(x)", False),
        ("x ** 2", False),
        ("x / y", True),
        ("x.sqrt()", True),
        ("x ** 0.5", True),
        ("x / 2.0", None),
    ],
)
def test_derivatives(expression: str, singular: bool | None) -> None:
    hazard = v.worst(effects_of(expression).effects.hazards)
    assert (None if hazard is None else hazard.singular) is singular


def test_a_derivative_above_the_branch_is_remembered() -> None:
    evaluation = effects_of("a + a", before="a = x.sqrt()")
    assert evaluation.effects.hazards == []
    hazard = evaluation.effects.upstream["a"].hazard
    assert hazard is not None
    assert hazard.singular


@pytest.mark.parametrize(
    ("expression", "word"),
    [
        ("print(x)", "prints"),
        ("x.add_(1)", "in place"),
        ("unknown(x)", "not known"),
        ("self.thing(x)", "not known"),
        ("F.relu(x, inplace=True)", "in place"),
        ("F.relu(x, True)", "in place"),
        ("torch.add(x, y, out=x)", "into an argument"),
        ("F.softmax(x)", "warns"),
        ("str(x)", "reads"),
        ('f"{x}"', "formats"),
        ("[i for i in x]", "does not follow"),
        ("(k := x + 1)", "binds"),
    ],
)
def test_what_does_more_than_compute(expression: str, word: str) -> None:
    effects = effects_of(expression, "self, x: torch.Tensor, y: torch.Tensor").effects
    assert any(word in note.text for note in effects.impure)


@pytest.mark.parametrize(
    "expression",
    [
        *("torch.rand(3)", "F.dropout(x)", "torch.randn_like(x)", "x.bernoulli()"),
        *("x.normal_()", "torch.zeros(3).uniform_()", "x.clone().random_(5)"),
    ],
)
def test_random_numbers(expression: str) -> None:
    assert effects_of(expression).effects.random


@pytest.mark.parametrize("expression", ["x.item()", "float(x)", "int(x)", "bool(x)", "not x"])
def test_reads_of_a_value(expression: str) -> None:
    assert effects_of(expression).effects.reads


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("x - 1", "x is not a bool tensor"),
        ("x.amax()", "x is not empty"),
        ("x[0]", "x[0] is in range"),
        ("x.size(1)", "x.size(1) exists"),
        ("x.masked_fill(x > 0, -1e9)", "-1e9 fits the dtype of x"),
        ("x // y", "y is not an integer zero"),
        ("1 // n", "n is not zero"),
        ("x @ y", "the operands of x @ y fit together"),
        ("x + y", "x and y can be combined (shapes that broadcast, one device)"),
        ("x.mean()", "x is a floating tensor"),
    ],
)
def test_what_an_expression_needs(expression: str, text: str) -> None:
    effects = effects_of(expression, "x: torch.Tensor, y: torch.Tensor, n: int").effects
    assert text in [requirement.text for requirement in effects.requirements]


def test_parts_that_may_not_run_establish_nothing() -> None:
    effects = effects_of("x.sum() if n > 0 else x.amax()", "x: torch.Tensor, n: int").effects
    assert effects.keys()
    assert not effects.certain & effects.keys()


def test_the_ends_of_a_dtype_stay_inside_it() -> None:
    before = "limit = torch.finfo(x.dtype).max - 1000"
    effects = effects_of("torch.clamp(x, min=-limit, max=limit)", before=before).effects
    assert not [r for r in effects.requirements if "fits the dtype" in r.text]


def test_a_helper_of_the_file_is_looked_into() -> None:
    program = Program("""
        def scale(t, factor):
            double = t * factor
            return double + 1.0

        def f(x: torch.Tensor):
            return scale(x, 2.0)
    """)
    value, evaluation = program.evaluate()
    assert evaluation.effects.pure
    assert value.kind is Kind.TENSOR
    assert value.shape == program.held("x").shape


def test_modules_that_init_builds_are_known() -> None:
    program = Program("""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.norm = nn.LayerNorm(4)

            def forward(self, x: torch.Tensor):
                h = self.norm(x)
                return h  # here
    """)
    held = program.held("h")
    assert held.kind is Kind.TENSOR
    assert held.dtype is not None
    assert held.dtype.category is Category.FLOAT
    assert held.fresh


@pytest.mark.parametrize(
    "made",
    ["nn.ReLU(inplace=True)", "nn.ReLU(True)", "nn.Embedding(3, 4, max_norm=1.0)", "nn.BatchNorm1d(4)", "nn.Dropout()"],
)
def test_modules_that_write_or_draw_are_not_pure(made: str) -> None:
    program = Program(f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = {made}

            def forward(self, x: torch.Tensor):
                return self.layer(x)
    """)
    assert program.evaluate()[1].effects.impure


def test_a_subclass_that_sets_the_attribute_makes_it_unknown() -> None:
    program = Program("""
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.act = nn.ReLU()

        class Other(Base):
            def __init__(self):
                super().__init__()
                self.act = nn.Dropout()

        def make():
            pass

        class Last(Base):
            pass

        def unused():
            return None
    """)
    base = next(f for f in program.source.functions if f.qualname == "Base.__init__")
    assert base.owner is not None
    from gbfix.analysis.members import class_members

    assert "act" not in class_members(program.flow.context.view, base.owner)


def test_in_place_methods_that_change_the_shape_write_anything() -> None:
    assert effects_of("x.unsqueeze_(0)").effects.writes == [Write.ANYTHING]
    assert effects_of("x.add_(1)").effects.writes == [Write.DATA]


@pytest.mark.parametrize(
    ("expression", "dtype", "device"),
    [
        ("x.to(y.device, y.dtype)", "y", "y"),
        ("x.to(dtype=y.dtype)", "y", "x"),
        ("x.to(y.device, non_blocking=True)", "x", "y"),
        ("x.to(torch.float64)", "float64", "x"),
        ("x.to(device)", "", ""),
        ("x.to(y)", "", ""),
        ("x.to(cfg.device)", "", ""),
        ("x.to(device=device, dtype=y.dtype)", "", ""),
    ],
)
def test_a_tensor_that_is_moved_is_where_its_arguments_say(expression: str, dtype: str, device: str) -> None:
    parameters = "x: torch.Tensor, y: torch.Tensor, device, cfg"
    moved, x, y = (value_of(text, parameters) for text in (expression, "x", "y"))
    known = {"x": x.dtype, "y": y.dtype, "float64": v.concrete_dtype("float64")}
    assert (moved.dtype == known[dtype]) if dtype else moved.dtype not in known.values()
    where = {"x": x.devices, "y": y.devices}
    assert (moved.devices == where[device]) if device else moved.devices not in where.values()
