"""What torch operations do, as a table: shape, dtype, totality, gradient, aliasing, randomness.

One table serves the method (`x.relu()`) and the function (`torch.relu(x)`,
`torch.nn.functional.relu(x)`). An operation that is not here is unknown, and unknown is never pure.
The dtype and aliasing columns are those of the PyTorch documentation; the gradient column is read from
the derivative formulas: it asks what the derivative does with an incoming gradient of zero, which is
what `torch.where` sends to the side that was not selected.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from gbfix.engine.dataclass import dataclass


class Gradient(Enum):
    """What the derivative makes of a zero gradient."""

    SAFE = "zero for every input"
    FINITE = "zero for finite inputs; inf or NaN inputs make NaN"
    SINGULAR = "NaN where the derivative is infinite, for ordinary inputs too"
    STOPPED = "no gradient flows"


class Shape(Enum):
    """How the shape of the result follows from the operands."""

    POINTWISE = "operands broadcast together"
    LIKE = "shape of the first operand"
    REDUCE = "one element without arguments, else a function of the arguments"
    CALL = "a function of the operands' shapes and the other arguments"
    DATA = "depends on values"


class Dtype(Enum):
    """How the dtype of the result follows from the operands."""

    PROMOTE = "promotion of the operands"
    SAME = "dtype of the first operand"
    FLOATING = "dtype of the first operand, floating when it is an integer"
    BOOL = "bool"
    TRUTH = "bool, but uint8 for uint8"
    SUM = "dtype of the first operand, int64 for bool and integers"
    MAGNITUDE = "dtype of the first operand, the real one for a complex one"
    INT64 = "int64"
    CALL = "a function of the operands' dtypes and the other arguments"


class Need(Enum):
    """When an operation raises for some tensor operands."""

    NOT_BOOL = "not a bool tensor"
    FLOATING = "a floating tensor"
    REAL = "not a complex tensor"
    NOT_EMPTY = "not empty"
    SEVERAL = "of more than one element"
    IN_RANGE = "a number that the dtype holds"
    DIVISOR = "a non-zero divisor, for integer tensors"
    INTEGRAL = "a bool or integer tensor"
    FITS = "of a shape that the call accepts"


@dataclass(frozen=True)
class Operator:
    """The facts about one operation.

    aliases: the result may be its first operand or a view of it. random: draws from a generator.
    operands: how many leading arguments are tensors or numbers that take part; the rest are options.
    """

    shape: Shape = Shape.POINTWISE
    dtype: Dtype = Dtype.PROMOTE
    gradient: Gradient = Gradient.SAFE
    needs: frozenset[Need] = field(default_factory=frozenset)
    aliases: bool = False
    random: bool = False
    operands: int = 1


def _table() -> dict[str, Operator]:
    found: dict[str, Operator] = {}

    def add(
        names: str,
        *needs: Need,
        shape: Shape = Shape.POINTWISE,
        dtype: Dtype = Dtype.PROMOTE,
        gradient: Gradient = Gradient.SAFE,
        aliases: bool = False,
        random: bool = False,
        operands: int = 1,
    ) -> None:
        operator = Operator(shape, dtype, gradient, frozenset(needs), aliases, random, operands)
        found.update(dict.fromkeys(names.split(), operator))

    like, reduce, call = Shape.LIKE, Shape.REDUCE, Shape.CALL
    safe, finite, singular, stopped = Gradient.SAFE, Gradient.FINITE, Gradient.SINGULAR, Gradient.STOPPED

    add("add", gradient=safe, operands=2)
    add("sub subtract", Need.NOT_BOOL, gradient=safe, operands=2)
    add("mul multiply", gradient=finite, operands=2)
    add("div divide true_divide", dtype=Dtype.FLOATING, gradient=singular, operands=2)
    add("floor_divide", Need.NOT_BOOL, Need.REAL, Need.DIVISOR, gradient=singular, operands=2)
    add("remainder fmod", Need.NOT_BOOL, Need.REAL, Need.DIVISOR, gradient=singular, operands=2)
    add("pow", Need.FITS, gradient=singular, operands=2)
    add("maximum minimum fmax fmin", Need.REAL, gradient=safe, operands=2)
    add("atan2", Need.REAL, dtype=Dtype.FLOATING, gradient=singular, operands=2)
    add(
        "gt greater ge greater_equal lt less le less_equal",
        Need.REAL,
        dtype=Dtype.BOOL,
        gradient=stopped,
        operands=2,
    )
    add("eq ne not_equal logical_and logical_or logical_xor", dtype=Dtype.BOOL, gradient=stopped, operands=2)
    add("logical_not isnan isinf isfinite", shape=like, dtype=Dtype.BOOL, gradient=stopped)
    add("isclose", Need.FITS, dtype=Dtype.BOOL, gradient=stopped, operands=2)
    add("bitwise_and bitwise_or bitwise_xor", Need.INTEGRAL, gradient=stopped, operands=2)
    add("bitwise_not", Need.INTEGRAL, shape=like, dtype=Dtype.SAME, gradient=stopped)

    add("neg negative", Need.NOT_BOOL, shape=like, dtype=Dtype.SAME, gradient=safe)
    add("positive", Need.NOT_BOOL, shape=like, dtype=Dtype.SAME, gradient=safe, aliases=True)
    add("abs absolute", Need.NOT_BOOL, shape=like, dtype=Dtype.MAGNITUDE, gradient=finite)
    add("relu relu6", Need.NOT_BOOL, Need.REAL, shape=like, dtype=Dtype.SAME, gradient=safe)
    add("leaky_relu", Need.FLOATING, Need.REAL, shape=like, dtype=Dtype.SAME, gradient=safe)
    add("sign", Need.REAL, shape=like, dtype=Dtype.SAME, gradient=safe)
    add("round floor ceil trunc", Need.NOT_BOOL, Need.REAL, shape=like, dtype=Dtype.SAME, gradient=safe)
    add("sin cos tanh sigmoid atan arctan", shape=like, dtype=Dtype.FLOATING, gradient=finite)
    add("erf", Need.REAL, shape=like, dtype=Dtype.FLOATING, gradient=finite)
    add("square", shape=like, dtype=Dtype.CALL, gradient=singular)
    add(
        "exp exp2 expm1 sqrt rsqrt log log2 log10 log1p reciprocal tan asin acos arcsin arccos acosh atanh sinh cosh",
        shape=like,
        dtype=Dtype.FLOATING,
        gradient=singular,
    )
    add(
        "gelu mish softplus elu selu celu logsigmoid hardswish hardsigmoid",
        Need.FLOATING,
        Need.REAL,
        shape=like,
        dtype=Dtype.SAME,
        gradient=finite,
    )
    add("silu", Need.FLOATING, shape=like, dtype=Dtype.SAME, gradient=finite)
    add("softmax log_softmax softmin", Need.FLOATING, Need.FITS, shape=like, dtype=Dtype.CALL, gradient=finite)
    add("cumsum", Need.FITS, shape=like, dtype=Dtype.CALL, gradient=safe)
    add("flip roll", Need.FITS, shape=like, dtype=Dtype.SAME, gradient=safe)
    add(
        "clamp clip clamp_min clamp_max",
        Need.REAL,
        Need.IN_RANGE,
        dtype=Dtype.PROMOTE,
        gradient=safe,
        operands=3,
    )
    add("nan_to_num", shape=like, dtype=Dtype.SAME, gradient=safe)
    add("masked_fill", Need.FITS, Need.IN_RANGE, dtype=Dtype.SAME, gradient=safe, operands=3)
    add("clone", shape=like, dtype=Dtype.SAME)
    add("where", dtype=Dtype.PROMOTE, gradient=safe, operands=3)

    add("sum", shape=reduce, dtype=Dtype.SUM)
    add("mean", Need.FLOATING, shape=reduce, dtype=Dtype.SAME)
    add("prod", shape=reduce, dtype=Dtype.SUM, gradient=singular)
    add("amax amin", Need.NOT_EMPTY, Need.REAL, shape=reduce, dtype=Dtype.SAME, gradient=finite)
    add("max min", Need.NOT_EMPTY, Need.REAL, shape=reduce, dtype=Dtype.SAME, gradient=finite)
    add("median nanmedian", Need.FITS, shape=reduce, dtype=Dtype.SAME, gradient=finite)
    add("std var", Need.FLOATING, Need.SEVERAL, shape=reduce, dtype=Dtype.MAGNITUDE, gradient=singular)
    add("norm", Need.FLOATING, shape=reduce, dtype=Dtype.MAGNITUDE, gradient=singular)
    add("any all", shape=reduce, dtype=Dtype.TRUTH, gradient=stopped)
    add("count_nonzero", shape=reduce, dtype=Dtype.INT64, gradient=stopped)
    add("argmax argmin", Need.NOT_EMPTY, Need.NOT_BOOL, Need.REAL, shape=reduce, dtype=Dtype.INT64, gradient=stopped)

    add("matmul mm bmm mv dot", Need.FITS, shape=call, dtype=Dtype.PROMOTE, gradient=finite, operands=2)
    add(
        "linear layer_norm rms_norm group_norm conv1d conv2d conv3d embedding",
        Need.FITS,
        shape=call,
        dtype=Dtype.CALL,
        gradient=finite,
        operands=4,
    )
    add(
        "mse_loss l1_loss smooth_l1_loss cross_entropy nll_loss binary_cross_entropy_with_logits normalize pad "
        "interpolate avg_pool1d avg_pool2d adaptive_avg_pool2d one_hot tril triu cat concat "
        "stack "
        "outer gather index_select scatter take_along_dim cumprod repeat tile "
        "baddbmm addmm addcmul addcdiv lerp dist cosine_similarity",
        Need.FITS,
        shape=call,
        dtype=Dtype.CALL,
        gradient=singular,
        operands=4,
    )

    add(
        "view reshape flatten squeeze unsqueeze transpose swapaxes permute movedim expand expand_as view_as reshape_as "
        "narrow select diagonal unflatten t",
        Need.FITS,
        shape=call,
        dtype=Dtype.SAME,
        aliases=True,
    )
    add("contiguous", shape=like, dtype=Dtype.SAME, aliases=True)
    add("detach", shape=like, dtype=Dtype.SAME, gradient=stopped, aliases=True)
    add("to type_as", shape=like, dtype=Dtype.CALL, aliases=True)
    add(
        "nonzero unique masked_select argwhere bincount repeat_interleave",
        Need.FITS,
        shape=Shape.DATA,
        dtype=Dtype.CALL,
        gradient=singular,
    )
    # Where it is not training, or for p=0, dropout may give its input back.
    add(
        "dropout alpha_dropout feature_dropout dropout1d dropout2d dropout3d",
        shape=call,
        dtype=Dtype.CALL,
        gradient=finite,
        random=True,
        aliases=True,
    )
    add("rrelu gumbel_softmax bernoulli multinomial", shape=call, dtype=Dtype.CALL, gradient=finite, random=True)
    return found


OPERATORS = _table()
"""Operations by name, for methods and for functions of torch and torch.nn.functional."""

AUTOCAST_FLOAT32 = frozenset(
    [
        "acos",
        "asin",
        "cosh",
        "cosine_similarity",
        "cross_entropy",
        "cumprod",
        "cumsum",
        "dist",
        "erfinv",
        "exp",
        "expm1",
        "group_norm",
        "kl_div",
        "l1_loss",
        "layer_norm",
        "log",
        "log10",
        "log1p",
        "log2",
        "log_softmax",
        "mse_loss",
        "nll_loss",
        "norm",
        "normalize",
        "pow",
        "prod",
        "reciprocal",
        "rsqrt",
        "sinh",
        "smooth_l1_loss",
        "softmax",
        "softmin",
        "softplus",
        "sum",
        "tan",
        "logsumexp",
        "float_power",
        "gelu",
    ]
)
"""Operations that autocast runs in float32 (torch.amp, "Autocast Op Reference")."""

AUTOCAST_HALF = frozenset(
    [
        "matmul",
        "mm",
        "bmm",
        "mv",
        "dot",
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "addmm",
        "baddbmm",
        "einsum",
        "scaled_dot_product_attention",
    ]
)
"""Operations that autocast runs in half precision, whatever their floating operands are."""

CASTS = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "bfloat16": "bfloat16",
    "long": "int64",
    "int": "int32",
    "short": "int16",
    "bool": "bool",
}
"""Methods that change the dtype and may return their receiver: `x.float()`."""

LIKE_FACTORIES = frozenset(
    {"zeros_like", "ones_like", "full_like", "empty_like", "rand_like", "randn_like", "randint_like"}
)
"""Functions whose result has the shape, dtype and device of their first argument."""

FACTORIES = frozenset(
    {
        "zeros",
        "ones",
        "full",
        "empty",
        "tensor",
        "arange",
        "linspace",
        "eye",
        "rand",
        "randn",
        "randint",
        "randperm",
    }
)
"""Functions that make a tensor from no tensor."""

RANDOM_FACTORIES = frozenset({"rand", "randn", "randint", "randperm", "rand_like", "randn_like", "randint_like"})
"""Factories that draw from the generator."""

METADATA_METHODS = frozenset(
    {
        "size",
        "dim",
        "ndimension",
        "numel",
        "nelement",
        "element_size",
        "stride",
        "is_floating_point",
        "is_complex",
        "is_contiguous",
        "storage_offset",
        "get_device",
        "is_signed",
        "is_inference",
    }
)
"""Methods that read no values: shapes, dtypes, layout. Never a graph break."""

METADATA_ATTRIBUTES = frozenset(
    {
        "shape",
        "dtype",
        "device",
        "ndim",
        "requires_grad",
        "is_cuda",
        "layout",
        "is_leaf",
        "names",
        "is_sparse",
        "is_quantized",
        "is_mps",
        "is_cpu",
        "is_meta",
        "itemsize",
        "nbytes",
    }
)
"""Attributes of a tensor that read no values."""

VIEW_ATTRIBUTES = frozenset({"T", "mT", "data"})
"""Attributes of a tensor that are tensors sharing its memory."""

EVIDENCE_METHODS = (
    frozenset(OPERATORS)
    | frozenset(CASTS)
    | {"item", "size", "dim", "numel", "requires_grad_", "backward", "cpu", "cuda", "new_zeros", "new_ones"}
)
EVIDENCE_METHODS -= {"where", "type_as", "t", "select", "repeat", "index_select", "stack", "cat", "roll"}
"""Calling one of these suggests that the receiver is a tensor. It proves nothing: other libraries have them too."""

STATELESS_MODULES = {
    "Linear": Gradient.FINITE,
    "LayerNorm": Gradient.FINITE,
    "RMSNorm": Gradient.FINITE,
    "GroupNorm": Gradient.FINITE,
    "Embedding": Gradient.FINITE,
    "Conv1d": Gradient.FINITE,
    "Conv2d": Gradient.FINITE,
    "Conv3d": Gradient.FINITE,
    "ReLU": Gradient.SAFE,
    "GELU": Gradient.FINITE,
    "SiLU": Gradient.FINITE,
    "Tanh": Gradient.FINITE,
    "Sigmoid": Gradient.FINITE,
    "Softmax": Gradient.FINITE,
    "LeakyReLU": Gradient.SAFE,
    "ELU": Gradient.FINITE,
}
"""Classes of torch.nn whose call only computes a new tensor from its input and its weights."""

TUPLES_BY_DIMENSION = frozenset({"max", "min", "median", "nanmedian"})
"""Reductions that give a pair of tensors when a dimension is named."""

MAY_WRITE_BY_POSITION = frozenset(
    [
        "relu",
        "relu6",
        "leaky_relu",
        "elu",
        "selu",
        "celu",
        "silu",
        "mish",
        "hardswish",
        "hardsigmoid",
        "dropout",
        "alpha_dropout",
        "feature_dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "rrelu",
    ]
)
"""Functions whose `inplace` may be given by position."""

CONTIGUOUS_RESULTS = frozenset(
    ["cumsum", "log_softmax", "softmax", "softmin", "logsigmoid", "masked_fill", "roll", "contiguous"]
)
"""Operations whose result is contiguous whatever the strides of their operands."""

FUNCTIONS_ONLY = frozenset(
    [
        "relu6",
        "leaky_relu",
        "gelu",
        "silu",
        "mish",
        "softplus",
        "elu",
        "selu",
        "celu",
        "logsigmoid",
        "hardswish",
        "hardsigmoid",
        "softmin",
        "linear",
        "layer_norm",
        "rms_norm",
        "group_norm",
        "conv1d",
        "conv2d",
        "conv3d",
        "embedding",
        "mse_loss",
        "l1_loss",
        "smooth_l1_loss",
        "cross_entropy",
        "nll_loss",
        "binary_cross_entropy_with_logits",
        "normalize",
        "pad",
        "interpolate",
        "avg_pool1d",
        "avg_pool2d",
        "adaptive_avg_pool2d",
        "one_hot",
        "cat",
        "concat",
        "stack",
        "cosine_similarity",
        "dropout",
        "alpha_dropout",
        "feature_dropout",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "rrelu",
        "gumbel_softmax",
    ]
)
"""Operations that tensors do not have as a method."""

TAKES_SEQUENCE = frozenset({"cat", "concat", "stack", "where"})
"""Operations whose first argument is a sequence of tensors, or a condition."""

SAVES_OPERANDS = frozenset(
    [
        "relu",
        "clamp",
        "clip",
        "clamp_min",
        "clamp_max",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "relu6",
        "leaky_relu",
        "nan_to_num",
        "masked_fill",
        "where",
    ]
)
"""Operations with a harmless derivative that need their operands for it; those of another class are taken to, too."""

METADATA_WRITERS = frozenset(
    [
        "unsqueeze_",
        "squeeze_",
        "t_",
        "transpose_",
        "swapaxes_",
        "swapdims_",
        "resize_",
        "resize_as_",
        "set_",
        "as_strided_",
        "rename_",
    ]
)
"""Methods that change the shape or strides of their receiver."""

CONTIGUOUS_MODULES = frozenset({"Linear", "LayerNorm", "RMSNorm", "Embedding", "Softmax"})
"""Classes of torch.nn whose result is contiguous."""

FLOATING_MODULES = frozenset({"Linear", "LayerNorm", "RMSNorm", "GroupNorm", "Conv1d", "Conv2d", "Conv3d"})
"""Classes of torch.nn whose result is floating (or complex), since their weights are."""
