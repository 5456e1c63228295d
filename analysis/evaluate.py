"""Evaluates an expression to what is known of its value, collecting what running it does.

Used at one program point with the environment that holds there (see `gbfix.analysis.flow`).
"""

from __future__ import annotations

import ast
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gbfix.analysis import values as v
from gbfix.analysis.effects import Effects, Note, Requirement, Write
from gbfix.analysis.operators import (
    AUTOCAST_FLOAT32,
    AUTOCAST_HALF,
    CASTS,
    CONTIGUOUS_MODULES,
    CONTIGUOUS_RESULTS,
    EVIDENCE_METHODS,
    FACTORIES,
    FLOATING_MODULES,
    FUNCTIONS_ONLY,
    LIKE_FACTORIES,
    MAY_WRITE_BY_POSITION,
    METADATA_ATTRIBUTES,
    METADATA_METHODS,
    METADATA_WRITERS,
    OPERATORS,
    RANDOM_FACTORIES,
    STATELESS_MODULES,
    TUPLES_BY_DIMENSION,
    VIEW_ATTRIBUTES,
    Dtype,
    Gradient,
    Need,
    Operator,
    Shape,
)
from gbfix.analysis.values import Assumption, Category, DType, Kind, Value

if TYPE_CHECKING:
    from gbfix.analysis.flow import Context

Environment = Mapping[str, Value]

_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
}
_COMPARISON = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne"}
_NAMESPACES = ("torch.", "torch.nn.functional.", "torch.special.", "torch.linalg.", "torch.Tensor.")
_TENSOR_KEYWORDS = frozenset({"other", "min", "max", "mask", "value", "input", "weight", "bias"})
_NOT_FINITE = frozenset({"math.inf", "torch.inf", "math.nan", "torch.nan"})
_NUMBER_CONSTANTS = {"torch.pi", "torch.inf", "torch.nan", "torch.e", "math.pi", "math.inf", "math.nan", "math.e"}
_TORCH_STATIC = frozenset(
    f"torch.{name}"
    for name in [
        "is_tensor",
        "is_floating_point",
        "is_complex",
        "is_grad_enabled",
        "is_autocast_enabled",
        "is_inference_mode_enabled",
        "compiler.is_compiling",
        "compiler.is_dynamo_compiling",
        "jit.is_scripting",
        "jit.is_tracing",
        "get_default_dtype",
        "device",
        "promote_types",
        "result_type",
        "can_cast",
        "numel",
        "cuda.is_available",
        "finfo",
        "iinfo",
        "Size",
        "broadcast_shapes",
    ]
)
_PURE_BUILTINS = frozenset(
    {
        "len",
        "isinstance",
        "hasattr",
        "type",
        "id",
        "range",
        "tuple",
        "list",
        "dict",
        "str",
        "repr",
        "issubclass",
        "callable",
    }
)


@dataclass
class Evaluation:
    """One evaluation: `value(node)` gives the facts, `effects` collects what running it does."""

    context: Context
    environment: Environment
    gradients_off: bool = False

    def __post_init__(self) -> None:
        self.effects = Effects()
        self._conditions = 0

    # -- entry -----------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """The facts about the value of an expression; what running it does is added to `effects`."""
        match node:
            case ast.Constant(value=constant):
                return _constant(constant)
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call():
                return self._call(node)
            case ast.BinOp():
                return self._pointwise(_BINARY.get(type(node.op), ""), [node.left, node.right], node)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare():
                return self._compare(node)
            case ast.BoolOp(values=parts):
                return self._join([self.value(parts[0]), *(self._sometimes(part) for part in parts[1:])], node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.value(test)
                return self._join([self._sometimes(body), self._sometimes(orelse)], node)
            case ast.NamedExpr(target=target, value=inner):
                found = self.value(inner)
                self.effects.bound.append((target.id, found, self._conditions == 0))
                self._impure(f"{_shorten(self.text(node))} binds a name", node)
                return replace(found, fresh=False)
            case ast.Subscript():
                return self._subscript(node)
            case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
                for part in parts:
                    self.value(part)
                return v.OTHER
            case ast.Starred(value=inner):
                return self.value(inner)
            case ast.Slice(lower=lower, upper=upper, step=step):
                for bound in (lower, upper, step):
                    if bound is not None:
                        self.value(bound)
                return v.OTHER
            case ast.JoinedStr():
                return self._formatted(node)
            case ast.Lambda():
                return v.OTHER
            case ast.Dict(keys=keys, values=parts):
                for key in keys:
                    if key is not None:
                        self.value(key)
                for part in parts:
                    self.value(part)
                return v.OTHER
            case _:
                self._impure(f"{_shorten(self.text(node))} is a form that gbfix does not follow", node, Write.ANYTHING)
                return self.opaque(node)

    def text(self, node: ast.expr) -> str:
        """The source of a node, for messages and terms."""
        return self.context.source.segment(node)

    def opaque(self, node: ast.expr, kind: Kind = Kind.MAYBE) -> Value:
        """A value of which nothing is known but that this place computes it, not even how it was derived."""
        token = v.term("at", node.lineno, node.col_offset, node.end_col_offset, self.context.salt)
        hazard = v.Hazard(True, f"how {_shorten(self.text(node))} is derived is not known", node.lineno)
        return replace(v.opaque_tensor(token, None, kind=kind), hazard=hazard)

    # -- names and attributes --------------------------------------------------------------

    def _name(self, node: ast.Name) -> Value:
        known = self.environment.get(node.id)
        if known is not None:
            if known.hazard is not None and self.context.depth == 0:
                self.effects.upstream[node.id] = known
            return known
        if self.context.is_local(node.id):
            self._require(("bound", *self._here(node)), f"{node.id} has a value on every path to this line", node)
            return self.opaque(node)
        return self.context.outer_name(node)

    def _attribute(self, node: ast.Attribute) -> Value:
        qualified = self.context.names.qualified(node)
        if qualified is not None:
            return _library_constant(qualified)
        member = self.context.member(node)
        if member is not None:
            return member
        base = self.value(node.value)
        if base.class_name in ("finfo", "iinfo"):
            edge = node.attr if node.attr in ("max", "min") else ""
            kind = "float" if base.class_name == "finfo" else "int"
            return Value(Kind.NUMBER, number=kind, inside=base.inside, edge=edge)
        if base.tensor_like and node.attr in METADATA_ATTRIBUTES:
            if node.attr in ("ndim", "itemsize", "nbytes"):
                return v.number("int")
            if node.attr.startswith("is_") or node.attr == "requires_grad":
                return v.number("bool")
            return Value(Kind.OTHER, class_name=f"tensor.{node.attr}", assumed=base.assumed)
        if base.kind is Kind.TENSOR and node.attr in VIEW_ATTRIBUTES:
            if node.attr != "data":
                text = f"{self.text(node)} neither raises nor warns (two dimensions)"
                self._require(("attribute", node.attr, base.shape), text, node)
            shape = frozenset({v.term("attribute", node.attr, base.shape)})
            sources = frozenset[v.Term]() if node.attr == "data" else base.sources
            return replace(
                base, shape=shape, layout=v.term("attribute", node.attr, base.layout), fresh=False, sources=sources
            )
        if base.kind is Kind.OTHER and base.class_name not in (None, "self", "None"):
            return v.OTHER
        if not self.context.is_self(node.value) or not self.context.sets_in_init(node.attr):
            self._require(("attribute", *self._here(node)), f"{self.text(node)} exists", node)
        if self.context.defines(node.attr):
            self._impure(f"reading {self.text(node)} may run a method", node)
        token = v.term("attribute", self.text(node), self.context.generation(node))
        return v.opaque_tensor(token, None, kind=Kind.MAYBE)

    # -- operators -------------------------------------------------------------------------

    def _unary(self, node: ast.UnaryOp) -> Value:
        if isinstance(node.op, ast.Not):
            inner = self.value(node.operand)
            if inner.kind is Kind.TENSOR:
                self._reads(node)
            return Value(Kind.NUMBER, number="bool", scalar_of=inner if inner.kind is Kind.TENSOR else inner.scalar_of)
        name = {ast.USub: "neg", ast.UAdd: "positive", ast.Invert: "bitwise_not"}[type(node.op)]
        return self._pointwise(name, [node.operand], node)

    def _compare(self, node: ast.Compare) -> Value:
        operands = [node.left, *node.comparators]
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            for operand in operands:
                self.value(operand)
            return v.number("bool")
        if len(node.ops) == 1 and type(node.ops[0]) in _COMPARISON:
            result = self._pointwise(_COMPARISON[type(node.ops[0])], operands, node)
            if result.kind is Kind.OTHER:
                return v.number("bool")
            return replace(result, number="bool") if result.kind is Kind.NUMBER else result
        found = [self.value(operands[0]), self.value(operands[1]), *(self._sometimes(part) for part in operands[2:])]
        if any(value.tensor_like for value in found):
            self._reads(node)
            return Value(Kind.NUMBER, number="bool", scalar_of=next(value for value in found if value.tensor_like))
        return Value(Kind.NUMBER, number="bool", scalar_of=next((f.scalar_of for f in found if f.scalar_of), None))

    def _pointwise(self, name: str, operands: Sequence[ast.expr], node: ast.expr) -> Value:
        found = [self.value(operand) for operand in operands]
        operator = OPERATORS.get(name)
        if any(value.tensor_like for value in found) and operator is not None:
            return self._apply(name, operator, operands, found, node)
        if all(value.kind is Kind.NUMBER for value in found):
            return self._arithmetic(name, operands, found, node)
        if not (name in ("eq", "ne") and all(value.kind in (Kind.OTHER, Kind.NUMBER) for value in found)):
            self._require(("operands", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
        return v.OTHER if all(value.kind in (Kind.OTHER, Kind.NUMBER) for value in found) else self.opaque(node)

    def _arithmetic(self, name: str, operands: Sequence[ast.expr], found: Sequence[Value], node: ast.expr) -> Value:
        if name in ("div", "floor_divide", "remainder", "pow", "") and not _nonzero_constant(operands[-1]):
            self._require(("divisor", *self._here(operands[-1])), f"{self.text(operands[-1])} is not zero", node)
        kinds = {value.number for value in found}
        scalar_of = next((value.scalar_of for value in found if value.scalar_of is not None), None)
        kind = "float" if "float" in kinds or name == "div" else "int" if kinds <= {"int", "bool"} else None
        inside = _still_inside(name, operands, found)
        return Value(Kind.NUMBER, number=kind, scalar_of=scalar_of, inside=inside)

    def _apply(
        self,
        name: str,
        operator: Operator,
        operands: Sequence[ast.expr],
        found: Sequence[Value],
        node: ast.expr,
        options: str = "",
    ) -> Value:
        """The result of a known operation; `found` are the operands' values, the first one the receiver."""
        if not all(value.tensor_like or value.kind is Kind.NUMBER for value in found):
            return self._of_something_else(node)
        first = found[0]
        tensors = [value for value in found if value.tensor_like]
        self._needs(name, operator, operands, found, node, options)
        if operator.random:
            self.effects.random.append(Note(f"{_shorten(self.text(node))} draws random numbers", node.lineno))
        own_hazard = self._hazard(name, operator, operands, found, node)
        kind = Kind.TENSOR if any(value.kind is Kind.TENSOR for value in found) else Kind.MAYBE
        key = v.term(name, tuple(value.shape for value in tensors), options)
        if operator.shape is Shape.POINTWISE or operator.shape is Shape.LIKE:
            shape = v.broadcast(tensors if operator.shape is Shape.POINTWISE else tensors[:1])
            layout = v.dense_layout(tensors if operator.shape is Shape.POINTWISE else tensors[:1])
        elif name in TUPLES_BY_DIMENSION and options:
            return replace(self.opaque(node), assumed=_assumptions(found))
        elif operator.shape is Shape.REDUCE and not options:
            shape, layout = v.SCALAR_SHAPE, "scalar"
        elif operator.shape is Shape.DATA:
            return replace(self.opaque(node, kind), assumed=_assumptions(found))
        else:
            shape = frozenset({key})
            layout = v.term("view" if operator.aliases else "dense", key, tuple(value.layout for value in tensors))
        if name in CONTIGUOUS_RESULTS:
            layout = v.CONTIGUOUS
        dtype = self._result_dtype(name, operator, found, options)
        stopped = operator.gradient is Gradient.STOPPED or (self.gradients_off and not operator.aliases)
        if (
            operator.shape is Shape.LIKE
            and name not in ("detach", "positive", *CONTIGUOUS_RESULTS)
            and (operator.aliases or options)
        ):
            layout = v.term("layout", name, layout, options)
        return Value(
            kind,
            shape=shape,
            dtype=dtype,
            layout=first.layout if name in ("detach", "positive") else layout,
            devices=frozenset().union(*(value.devices for value in tensors if not value.is_scalar)) or first.devices,
            one=shape == v.SCALAR_SHAPE,
            fresh=not operator.aliases,
            sources=frozenset() if stopped else v.union_sources(found),
            hazard=None if stopped else v.worst([*(value.hazard for value in found), own_hazard]),
            assumed=_assumptions(found),
        )

    def _of_something_else(self, node: ast.expr) -> Value:
        """An operation with an operand that is neither a tensor nor a number: it may raise, or be anything."""
        self._require(("operands", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
        return self.opaque(node)

    def _result_dtype(self, name: str, operator: Operator, found: Sequence[Value], options: str) -> DType:
        """The dtype of a result; what autocast may change gets a term of its own."""
        dtype = self._plain_dtype(name, operator, found, options)
        if dtype.category in (Category.BOOL, Category.INT) or dtype.term == "float64":
            return dtype
        if name in AUTOCAST_HALF or (name in AUTOCAST_FLOAT32 and dtype.term != "float32"):
            return DType(v.term("autocast", name in AUTOCAST_HALF, dtype.term), dtype.category, dtype.inexact)
        return dtype

    def _plain_dtype(self, name: str, operator: Operator, found: Sequence[Value], options: str) -> DType:
        tensors = [value for value in found if value.tensor_like]
        own = tensors[0].dtype or DType(v.term("dtype", name))
        match operator.dtype:
            case Dtype.PROMOTE if name == "where":
                return v.promote(found[1:])
            case Dtype.PROMOTE:
                return v.promote(found)
            case Dtype.SAME:
                return own
            case Dtype.FLOATING:
                return v.floating(v.promote(found[: operator.operands]))
            case Dtype.BOOL:
                return v.BOOL
            case Dtype.TRUTH:
                return v.BOOL if own.category in (Category.BOOL, Category.FLOAT) else DType(v.term("truth", own.term))
            case Dtype.INT64:
                return v.INT64
            case Dtype.MAGNITUDE:
                real = own.category is not None and own.category is not Category.COMPLEX
                return own if real else DType(v.term("magnitude", own.term), inexact=own.inexact)
            case Dtype.SUM:
                if "dtype" in options:
                    return DType(v.term(name, own.term, options))
                if own.category in (Category.FLOAT, Category.COMPLEX) or own.inexact:
                    return own
                return v.INT64 if own.category is not None else DType(v.term("sum", own.term))
            case _:
                category = own.category if own.category is Category.FLOAT and "dtype" not in options else None
                return DType(
                    v.term(name, tuple(value.dtype.term for value in tensors if value.dtype), options), category
                )

    def _needs(
        self,
        name: str,
        operator: Operator,
        operands: Sequence[ast.expr],
        found: Sequence[Value],
        node: ast.expr,
        options: str,
    ) -> None:
        tensors = [(operand, value) for operand, value in zip(operands, found, strict=True) if value.tensor_like]
        shapes = {value.shape for _, value in tensors if not value.is_scalar}
        devices = {value.devices for _, value in tensors if not value.is_scalar}
        unsure = any(value.kind is Kind.MAYBE for _, value in tensors)
        if len(tensors) > 1 and operator.shape is Shape.POINTWISE and (len(shapes) > 1 or len(devices) > 1 or unsure):
            together = " and ".join(dict.fromkeys(self.text(operand) for operand, _ in tensors))
            key = ("together", frozenset().union(*(value.shape or frozenset() for _, value in tensors)))
            self._require(key, f"{_shorten(together)} can be combined (shapes that broadcast, one device)", node)
        elif unsure and len(tensors) == 1:
            self._require(("tensor", tensors[0][1].shape), f"{self.text(tensors[0][0])} is a tensor or a number", node)
        if name == "pow" and (_number_of(operands[-1]) or -1) >= 0:
            return
        if options and Need.FITS not in operator.needs:
            self._need(Need.FITS, name, operands, tensors, node, options)
        for need in sorted(operator.needs, key=lambda n: n.name):
            self._need(need, name, operands, tensors, node, options)

    def _need(
        self,
        need: Need,
        name: str,
        operands: Sequence[ast.expr],
        tensors: Sequence[tuple[ast.expr, Value]],
        node: ast.expr,
        options: str,
    ) -> None:
        if need is Need.DIVISOR:
            floats = any(value.dtype and value.dtype.category is Category.FLOAT for _, value in tensors)
            if not floats and not _nonzero_constant(operands[-1]):
                self._require(
                    ("divisor", *self._here(operands[-1])), f"{self.text(operands[-1])} is not an integer zero", node
                )
            return
        if need is Need.IN_RANGE:
            tensor = tensors[0]
            for operand in operands[1:]:
                self._in_range(operand, tensor, node)
            return
        if need is Need.FITS:
            key = (
                "fits",
                name,
                tuple(value.shape for _, value in tensors),
                tuple(value.dtype for _, value in tensors),
                options,
            )
            self._require(key, f"the operands of {_shorten(self.text(node))} fit together", node)
            return
        for operand, value in tensors:
            dtype = value.dtype
            category = dtype.category if dtype else None
            if need in (Need.NOT_EMPTY, Need.SEVERAL):
                if need is Need.SEVERAL or not value.one:
                    self._require((need.name, value.shape), f"{self.text(operand)} is {need.value}", node)
            elif need in (Need.NOT_BOOL, Need.FLOATING) and dtype is not None and dtype.inexact:
                continue
            elif category is None or not _MEETS[need](category):
                self._require((need.name, dtype.term if dtype else None), f"{self.text(operand)} is {need.value}", node)

    def _in_range(self, operand: ast.expr, tensor: tuple[ast.expr, Value], node: ast.expr) -> None:
        """A Python number that becomes an element must fit: 1e9 in a half tensor raises."""
        value = self.value(operand)
        dtype = tensor[1].dtype
        if value.kind is not Kind.NUMBER or dtype is None or value.inside == dtype.term:
            return
        number = _number_of(operand)
        if number is None and (self.context.names.qualified(operand) in _NOT_FINITE or _is_text_of_infinity(operand)):
            number = 0.0 if dtype.floor in (Category.FLOAT, Category.COMPLEX) else None
        wide = dtype.term in ("float32", "float64", "bfloat16")
        limit = 3e38 if wide else 65504.0 if dtype.floor in (Category.FLOAT, Category.COMPLEX) else 127.0
        low = -limit if limit > 127 else 0.0
        if number is None or not low <= number <= limit:
            key = ("in range", dtype.term, *self._here(operand))
            self._require(key, f"{self.text(operand)} fits the dtype of {self.text(tensor[0])}", node)

    def _hazard(
        self, name: str, operator: Operator, operands: Sequence[ast.expr], found: Sequence[Value], node: ast.expr
    ) -> v.Hazard | None:
        """What the operation's own derivative may make of a zero gradient; also collected in `effects`."""
        if operator.gradient not in (Gradient.FINITE, Gradient.SINGULAR):
            return None
        if self.gradients_off or v.union_sources(found) == frozenset():
            return None
        if name in ("mul", "multiply") and any(_moderate_constant(operand) for operand in operands):
            return None
        divides = name in ("div", "divide", "true_divide") and _nonzero_constant(operands[-1])
        if divides and _moderate_constant(operands[-1]):
            return None
        level = operator.gradient
        if name == "pow" and (_number_of(operands[-1]) or 0) >= 1:
            level = Gradient.FINITE
        return self._add_hazard(level, node)

    def _add_hazard(self, level: Gradient, node: ast.expr) -> v.Hazard:
        text = f"the derivative of {_shorten(self.text(node))} is {_DERIVATIVE[level]}"
        hazard = v.Hazard(level is Gradient.SINGULAR, text, node.lineno)
        self.effects.hazards.append(hazard)
        return hazard

    # -- calls -----------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        qualified = self.context.names.qualified(node.func)
        if qualified is not None:
            known = self._library_call(qualified, node)
            if known is not None:
                return known
        if isinstance(node.func, ast.Attribute) and qualified is None:
            member = self.context.member(node.func)
            if member is not None and member.kind is Kind.MODULE:
                return self._module_call(member, node)
            known = self._method_call(node.func, node)
            if known is not None:
                return known
        if isinstance(node.func, ast.Name) and self.context.names.is_builtin(node.func, node.func.id):
            known = self._builtin_call(node.func.id, node)
            if known is not None:
                return known
        if qualified is not None and qualified.startswith("numpy."):
            self._impure(f"what {_shorten(self.text(node.func))}(...) does is not known", node, Write.ANYTHING)
            return Value(Kind.OTHER, class_name="numpy")
        inlined = self.context.inline(self, node)
        if inlined is not None:
            return inlined
        for argument in _arguments(node):
            self.value(argument)
        self._impure(f"what {_shorten(self.text(node.func))}(...) does is not known", node, Write.ANYTHING)
        return self.opaque(node)

    def _module_call(self, module: Value, node: ast.Call) -> Value:
        found = [self.value(argument) for argument in _arguments(node)]
        name = (module.class_name or "").rpartition(".")[2]
        known = (module.class_name or "").startswith("torch.nn.") and name in STATELESS_MODULES
        weights = self.text(node.func)
        if not known:
            self._impure(f"what the module {weights} does is not known to be free of state", node, Write.ANYTHING)
        self.effects.heavy.append(Note(f"{weights}(...) is a whole module", node.lineno))
        facts = tuple((value.shape, value.dtype, value.layout, value.devices) for value in found)
        token = v.term("module", weights, self.context.generation(node), facts)
        self._require(("fits", token), f"the input of {_shorten(self.text(node))} fits the module", node)
        result = v.opaque_tensor(token, weights, fresh=known, kind=Kind.TENSOR if known else Kind.MAYBE)
        if not known:
            return result
        gradient = STATELESS_MODULES[name]
        safe = gradient is Gradient.SAFE or self.gradients_off
        own = None if safe else self._add_hazard(gradient, node)
        sources = v.union_sources(found)
        return replace(
            result,
            layout=v.CONTIGUOUS if name in CONTIGUOUS_MODULES else v.term("dense", (token,)),
            dtype=DType(v.term("dtype", token), Category.FLOAT if name in FLOATING_MODULES else None),
            sources=frozenset() if self.gradients_off else sources | {weights},
            hazard=None if self.gradients_off else v.worst([*(value.hazard for value in found), own]),
            assumed=_assumptions(found),
        )

    def _library_call(self, qualified: str, node: ast.Call) -> Value | None:
        name = qualified.rpartition(".")[2]
        if qualified in ("torch.finfo", "torch.iinfo"):
            return self._finfo(name, node)
        if qualified in _TORCH_STATIC:
            for argument in _arguments(node):
                self.value(argument)
            if name in ("device", "promote_types", "result_type", "can_cast", "numel", "Size", "broadcast_shapes"):
                self._require(("static", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
            return v.OTHER
        if qualified.startswith("math."):
            found = [self.value(argument) for argument in _arguments(node)]
            self._require(("math", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
            return Value(Kind.NUMBER, number="float", scalar_of=next((f for f in found if f.tensor_like), None))
        namespace = qualified[: -len(name)]
        if qualified == "torch.Tensor.item":
            return None
        if namespace == "torch." and name in LIKE_FACTORIES and node.args:
            return self._like_factory(name, node)
        if namespace == "torch." and name in FACTORIES:
            return self._factory(name, node)
        if namespace not in _NAMESPACES or name not in OPERATORS or not node.args:
            return None
        return self._operation(name, node.args[0], node.args[1:], node, proves=True)

    def _finfo(self, name: str, node: ast.Call) -> Value:
        dtype: DType | None = None
        for argument in _arguments(node):
            self.value(argument)
            dtype = self._dtype_named(argument)
        wanted = Category.FLOAT if name == "finfo" else Category.INT
        if dtype is None:
            self._require(("static", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
        elif dtype.category is not wanted:
            kind = Need.FLOATING if name == "finfo" else Need.INTEGRAL
            self._require((kind.name, dtype.term), f"the dtype in {_shorten(self.text(node))} is {kind.value}", node)
        return Value(Kind.OTHER, class_name=name, inside=dtype.term if dtype is not None else None)

    def _dtype_named(self, node: ast.expr) -> DType | None:
        """The dtype that an expression such as `torch.float16` or `x.dtype` names."""
        qualified = self.context.names.qualified(node)
        if qualified is not None:
            return v.concrete_dtype(qualified.removeprefix("torch.")) if qualified.startswith("torch.") else None
        if isinstance(node, ast.Attribute) and node.attr == "dtype":
            owner = self.value(node.value)
            return owner.dtype if owner.tensor_like else None
        return None

    def _method_call(self, func: ast.Attribute, node: ast.Call) -> Value | None:
        receiver = self.value(func.value)
        name = func.attr
        if not receiver.tensor_like:
            if (
                receiver.kind is Kind.OTHER
                and receiver.class_name in ("tensor.shape", "str")
                and name in ("numel", "index", "count")
            ):
                return v.number("int")
            return None
        if receiver.kind is Kind.MAYBE:
            if name not in EVIDENCE_METHODS or self.context.is_self(func.value):
                return None
            receiver = replace(
                receiver.assuming([Assumption(f"{self.text(func.value)} is a tensor", node.lineno)]), kind=Kind.TENSOR
            )
        if name in METADATA_METHODS:
            for argument in _arguments(node):
                self.value(argument)
            if name in ("size", "stride") and node.args:
                self._require(("index", *self._here(node)), f"{self.text(node)} exists", node)
            elif name in ("size", "stride"):
                return Value(Kind.OTHER, class_name="tensor.shape")
            return v.number("int")
        if name == "item" and not node.args:
            self._reads(node)
            return Value(Kind.NUMBER, number=_scalar_type(receiver), scalar_of=receiver, assumed=receiver.assumed)
        if name in CASTS and not node.args:
            if name != "bool":
                self._need(Need.REAL, name, [func.value], [(func.value, receiver)], node, "")
            return self._cast(receiver, CASTS[name])
        if name.endswith("_") and not name.endswith("__"):
            writes = Write.ANYTHING if name in METADATA_WRITERS else Write.DATA
            self._impure(f"{_shorten(self.text(node))} writes in place", node, writes)
            for argument in _arguments(node):
                self.value(argument)
            if writes is Write.ANYTHING:
                return self.opaque(node, Kind.TENSOR)
            return replace(receiver, fresh=False)
        if name in OPERATORS and name != "where" and name not in FUNCTIONS_ONLY:
            return self._operation(name, func.value, node.args, node, receiver=receiver)
        return None

    def _operation(
        self,
        name: str,
        first: ast.expr,
        rest: Sequence[ast.expr],
        node: ast.Call,
        *,
        receiver: Value | None = None,
        proves: bool = False,
    ) -> Value:
        """A call of a known operation. A function of torch proves that its first argument is a tensor."""
        operator = OPERATORS[name]
        start = receiver if receiver is not None else self.value(first)
        if proves and start.kind is Kind.MAYBE and name != "where":
            self._require(("tensor", start.shape), f"{self.text(first)} is a tensor", node)
            start = replace(start, kind=Kind.TENSOR)
        if not start.tensor_like:
            return self._of_sequence(name, node)
        operands, found, options = self._arguments_of(name, first, start, rest, node)
        self._notes_on(name, options, node)
        if name == "dropout" and "training=False" in options:
            return replace(start, fresh=False)
        if name == "masked_fill":
            if _mask_fits(found):
                operator = replace(operator, needs=operator.needs - {Need.FITS})
            found[1] = replace(found[1], dtype=found[0].dtype) if len(found) > 1 and found[1].tensor_like else found[1]
        return self._apply(name, operator, operands, found, node, ", ".join(options))

    def _arguments_of(
        self, name: str, first: ast.expr, start: Value, rest: Sequence[ast.expr], node: ast.Call
    ) -> tuple[list[ast.expr], list[Value], list[str]]:
        """The operands of an operation with their values, and the text of its options."""
        operator = OPERATORS[name]
        operands, found, options = [first], [start], list[str]()
        for argument in rest:
            value = self.value(argument)
            if len(operands) < operator.operands and not isinstance(argument, ast.Starred):
                operands.append(argument)
                found.append(value)
            else:
                options.append(self._option(argument))
        for keyword in node.keywords:
            value = self.value(keyword.value)
            if keyword.arg in _TENSOR_KEYWORDS and operator.shape is not Shape.REDUCE:
                operands.append(keyword.value)
                found.append(value)
            else:
                options.append(f"{keyword.arg}={self._option(keyword.value)}")
        return operands, found, options

    def _notes_on(self, name: str, options: Sequence[str], node: ast.Call) -> None:
        """What some options of an operation do besides: write in place, write into `out`, warn."""
        words = {option.partition("=")[0]: option.partition("=")[2] for option in options}
        text = _shorten(self.text(node))
        by_position = [option for option in options if "=" not in option and _number_in(option) is None]
        if words.get("inplace", "False") != "False" or (name in MAY_WRITE_BY_POSITION and by_position):
            self._impure(f"{text} may write in place", node, Write.DATA)
        if "out" in words or "max_norm" in words or "None" in words:
            self._impure(f"{text} may write into an argument", node, Write.ANYTHING)
        if name in ("softmax", "log_softmax", "softmin") and not options:
            self._impure(f"{text} warns about its missing dim", node)

    def _of_sequence(self, name: str, node: ast.Call) -> Value:
        """A torch function whose first argument is a sequence of tensors (`torch.cat`), or no tensor at all."""
        for argument in _arguments(node):
            self.value(argument)
        self._require(("fits", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
        if OPERATORS[name].random:
            self.effects.random.append(Note(f"{_shorten(self.text(node))} draws random numbers", node.lineno))
        hazard = self._add_hazard(Gradient.SINGULAR, node)
        return replace(self.opaque(node, Kind.TENSOR), fresh=True, hazard=hazard)

    def _option(self, node: ast.expr) -> str:
        """The text of an option; one that is not a constant carries its place, so that two never agree by chance."""
        return self.text(node) if _is_literal(node) else f"{self.text(node)}@{self.context.generation(node)}"

    def _cast(self, receiver: Value, name: str) -> Value:
        dtype = v.concrete_dtype(name)
        sources = receiver.sources if dtype is not None and dtype.category is Category.FLOAT else frozenset[v.Term]()
        return replace(
            receiver,
            kind=Kind.TENSOR,
            dtype=dtype,
            layout=v.term("cast", name, receiver.layout),
            fresh=False,
            sources=sources,
        )

    def _like_factory(self, name: str, node: ast.Call) -> Value:
        like = self.value(node.args[0])
        if not like.tensor_like:
            return self._of_something_else(node)
        if like.kind is Kind.MAYBE:
            self._require(("tensor", like.shape), f"{self.text(node.args[0])} is a tensor", node)
            like = replace(like, kind=Kind.TENSOR)
        for argument in _arguments(node)[1:]:
            self.value(argument)
        if name == "full_like":
            for fill in _arguments(node)[1:2]:
                self._in_range(fill, (node.args[0], like), node)
        if name in RANDOM_FACTORIES:
            self.effects.random.append(Note(f"{_shorten(self.text(node))} draws random numbers", node.lineno))
        words = {keyword.arg for keyword in node.keywords}
        dtype = self._dtype_option(node) or (
            DType(v.term(name, self._option(node))) if "dtype" in words else like.dtype
        )
        return Value(
            Kind.TENSOR,
            shape=like.shape,
            dtype=dtype,
            layout=v.term("layout", self.text(node)) if words else v.dense_layout([like]),
            devices=frozenset({("device", self.text(node))}) if "device" in words else like.devices,
            one=like.one,
            fresh=True,
            sources=frozenset({self.text(node)}) if "requires_grad" in words else frozenset(),
            assumed=like.assumed,
        )

    def _factory(self, name: str, node: ast.Call) -> Value:
        for argument in _arguments(node):
            self.value(argument)
        if name in RANDOM_FACTORIES:
            self.effects.random.append(Note(f"{_shorten(self.text(node))} draws random numbers", node.lineno))
        if not all(_is_literal(argument) for argument in node.args):
            self._require(("sizes", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
        words = {keyword.arg for keyword in node.keywords}
        scalar = name == "tensor" and node.args and isinstance(node.args[0], ast.Constant)
        size = self._option(node.args[0]) if len(node.args) == 1 else ",".join(self._option(a) for a in node.args)
        result = v.opaque_tensor(
            v.term(name, size), None, fresh=name not in ("as_tensor", "from_numpy"), kind=Kind.TENSOR
        )
        device = "device" in words
        return replace(
            result,
            shape=v.SCALAR_SHAPE if scalar else result.shape,
            layout="scalar" if scalar else result.layout,
            one=bool(scalar),
            dtype=self._dtype_option(node) or _factory_dtype(name, node, words),
            devices=frozenset({("device", self.text(node))}) if device else frozenset({"default device"}),
            sources=frozenset({self.text(node)}) if "requires_grad" in words else frozenset(),
        )

    def _dtype_option(self, node: ast.Call) -> DType | None:
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                qualified = self.context.names.qualified(keyword.value) or ""
                if qualified.startswith("torch."):
                    return v.concrete_dtype(qualified[len("torch.") :])
                if isinstance(keyword.value, ast.Attribute) and keyword.value.attr == "dtype":
                    return self.value(keyword.value.value).dtype
        return None

    def _builtin_call(self, name: str, node: ast.Call) -> Value | None:
        found = [self.value(argument) for argument in _arguments(node)]
        if name in ("bool", "int", "float") and len(found) == 1:
            inner = found[0]
            if inner.kind is Kind.TENSOR:
                self._reads(node)
            harmless = _is_text_of_infinity(node) or (name == "bool" and inner.kind is Kind.NUMBER)
            if not harmless:
                self._require(("builtin", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
            return Value(
                Kind.NUMBER,
                number=name,
                scalar_of=inner if inner.kind is Kind.TENSOR else inner.scalar_of,
                assumed=inner.assumed,
            )
        if name in ("len", "id"):
            if name == "len":
                self._require(("builtin", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
            return v.number("int")
        if name in ("isinstance", "hasattr", "callable", "issubclass"):
            return v.number("bool")
        if name in ("abs", "min", "max", "round", "sum", "pow", "divmod") and all(f.kind is Kind.NUMBER for f in found):
            self._require(("builtin", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
            return v.number()
        if name in _PURE_BUILTINS:
            self._require(("builtin", *self._here(node)), f"{_shorten(self.text(node))} does not raise", node)
            if name in ("str", "repr") and any(f.tensor_like for f in found):
                self._impure(f"{_shorten(self.text(node))} reads a tensor's values", node)
            return v.OTHER
        if name == "print":
            self._impure(f"{_shorten(self.text(node))} prints", node)
            return v.NONE
        return None

    # -- other forms -----------------------------------------------------------------------

    def _subscript(self, node: ast.Subscript) -> Value:
        base = self.value(node.value)
        self.value(node.slice)
        if base.kind is Kind.OTHER and base.class_name == "tensor.shape":
            self._require(("index", *self._here(node)), f"{self.text(node)} exists", node)
            return v.number("int") if not isinstance(node.slice, ast.Slice) else v.OTHER
        if not base.tensor_like:
            self._require(("index", *self._here(node)), f"{self.text(node)} exists", node)
            return v.opaque_tensor(
                v.term("subscript", self.text(node), self.context.generation(node)), None, kind=Kind.MAYBE
            )

        if base.kind is Kind.MAYBE or not _constant_index(node.slice):
            self._require(("index", *self._here(node)), f"{self.text(node)} exists", node)
            return self.opaque(node, Kind.TENSOR if base.kind is Kind.TENSOR else Kind.MAYBE).assuming(base.assumed)
        text = self.text(node.slice)
        if not (isinstance(node.slice, ast.Constant) and node.slice.value in (None, ...)):
            self._require(("index", base.shape, text), f"{self.text(node)} is in range", node)
        return replace(
            base,
            shape=frozenset({v.term("index", base.shape, text, _rank_change(node.slice))}),
            layout=v.term("index", base.layout, text),
            one=False,
            fresh=False,
        )

    def _formatted(self, node: ast.JoinedStr) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                inner = self.value(part.value)
                if inner.tensor_like:
                    self._impure(f"{_shorten(self.text(node))} formats a value that may be a tensor", node)
        return v.OTHER

    def _sometimes(self, node: ast.expr) -> Value:
        """The value of a part that may not run."""
        self._conditions += 1
        found = self.value(node)
        self._conditions -= 1
        return found

    def _join(self, found: Sequence[Value], node: ast.expr) -> Value:
        result = found[0]
        for other in found[1:]:
            result = v.join(result, other, v.term("choice", node.lineno, node.col_offset, self.context.salt))
        return replace(result, fresh=False)

    def _here(self, node: ast.expr) -> tuple[Hashable, ...]:
        """A key for a condition on names, which holds only while they keep their values."""
        return (self.text(node), self.context.generation(node))

    def _require(self, key: Hashable, text: str, node: ast.expr) -> None:
        self.effects.requirements.append(Requirement(key, text, node.lineno))
        if self._conditions == 0:
            self.effects.certain.add(key)

    def _impure(self, reason: str, node: ast.expr, writes: Write | None = None) -> None:
        self.effects.impure.append(Note(reason, node.lineno))
        if writes is not None:
            self.effects.writes.append(writes)

    def _reads(self, node: ast.expr) -> None:
        self.effects.reads.append(Note(f"{_shorten(self.text(node))} reads a tensor's value", node.lineno))


_MEETS = {
    Need.NOT_BOOL: lambda c: c is not Category.BOOL,
    Need.FLOATING: lambda c: c in (Category.FLOAT, Category.COMPLEX),
    Need.REAL: lambda c: c is not Category.COMPLEX,
    Need.INTEGRAL: lambda c: c in (Category.BOOL, Category.INT),
}
_DERIVATIVE = {
    Gradient.FINITE: "finite only for finite operands",
    Gradient.SINGULAR: "infinite for some ordinary operands",
}


def _mask_fits(found: Sequence[Value]) -> bool:
    """True when a masked_fill has a bool mask of its tensor's own shape, so that only its value could make it raise."""
    if len(found) < 3 or found[2].kind is not Kind.NUMBER:
        return False
    tensor, mask = found[:2]
    bools = mask.dtype is not None and mask.dtype.category is Category.BOOL
    return bools and tensor.shape == mask.shape and tensor.devices == mask.devices


def _still_inside(name: str, operands: Sequence[ast.expr], found: Sequence[Value]) -> v.Term:
    """The dtype term whose finite range still holds the result: `finfo(d).max - 1000`, `-limit`, `limit / 2`."""
    inside, edge = found[0].inside, found[0].edge
    if inside is None:
        return None
    if name in ("neg", "positive"):
        return inside
    constant = _number_of(operands[-1])
    if constant is None or len(found) != 2:
        return None
    moves_in = (name == "sub" and edge == "max") or (name == "add" and edge == "min")
    if moves_in and 0 <= constant <= 65504:
        return inside
    if (name == "mul" and abs(constant) <= 1) or (name == "div" and abs(constant) >= 1):
        return inside
    return None


def _constant(constant: object) -> Value:
    if isinstance(constant, bool | int | float):
        return v.number(type(constant).__name__)
    return v.NONE if constant is None else v.OTHER


def _library_constant(qualified: str) -> Value:
    if qualified in _NUMBER_CONSTANTS:
        return v.number("float")
    return Value(Kind.OTHER, class_name=qualified)


def _scalar_type(receiver: Value) -> str | None:
    category = receiver.dtype.category if receiver.dtype else None
    return {Category.BOOL: "bool", Category.INT: "int", Category.FLOAT: "float"}.get(category) if category else None


def _factory_dtype(name: str, node: ast.Call, words: set[str | None]) -> DType:
    if "dtype" in words:
        return DType(v.term(name, "dtype", ast.dump(node)))
    if name in ("zeros", "ones", "empty", "rand", "randn", "eye", "linspace"):
        return DType("default dtype", Category.FLOAT)
    if name in ("randint", "randperm"):
        return v.INT64
    first = node.args[0] if node.args else None
    if name == "tensor" and isinstance(first, ast.Constant):
        kinds = {bool: v.BOOL, int: v.INT64, float: DType("default dtype", Category.FLOAT)}
        return kinds.get(type(first.value), DType(v.term(name, ast.dump(node))))
    return DType(v.term(name, ast.dump(node)))


def _arguments(node: ast.Call) -> list[ast.expr]:
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _assumptions(found: Iterable[Value]) -> frozenset[Assumption]:
    return frozenset().union(*(value.assumed for value in found))


def _number_of(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e300:
        return None
    return float(value)


def _nonzero_constant(node: ast.expr) -> bool:
    return bool(_number_of(node))


def _moderate_constant(node: ast.expr) -> bool:
    """True for a constant that float32 holds as a finite number other than zero, or as zero itself."""
    number = _number_of(node)
    return number is not None and (number == 0 or 1e-37 <= abs(number) <= 1e37)


def _is_text_of_infinity(node: ast.expr) -> bool:
    """True for `float("inf")`, `float("-inf")` and `float("nan")`."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return _is_text_of_infinity(inner)
        case ast.Call(func=ast.Name(id="float"), args=[ast.Constant(value=str(text))], keywords=[]):
            return text.strip().lower() in ("inf", "-inf", "+inf", "nan")
        case _:
            return False


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _number_in(text: str) -> float | None:
    try:
        return _number_of(ast.parse(text, mode="eval").body)
    except SyntaxError:
        return None


def _constant_index(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=constant):
            return constant is None or constant is Ellipsis or type(constant) is int
        case ast.Slice(lower=lower, upper=upper, step=step):
            return all(part is None or _number_of(part) is not None for part in (lower, upper, step))
        case ast.Tuple(elts=parts):
            return all(_constant_index(part) for part in parts)
        case _:
            return _number_of(node) is not None


def _rank_change(node: ast.expr) -> int:
    """How many dimensions a constant index adds: None adds one, an integer takes one away."""
    if isinstance(node, ast.Tuple):
        return sum(_rank_change(part) for part in node.elts)
    if isinstance(node, ast.Constant) and node.value is None:
        return 1
    return 0 if _number_of(node) is None else -1


def _shorten(text: str, limit: int = 60) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 3] + "..."
