"""A tensor as plain data: its elements bit for bit, and what else there is to see of it."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterable

import torch

from gbfix.equivalence.model import TensorFacts


def digest(data: bytes) -> str:
    """A short text that differs when the bytes do."""
    return hashlib.sha256(data).hexdigest()[:16]


def tensor_facts(tensor: torch.Tensor, limit: int) -> tuple[TensorFacts, str]:
    """A tensor bit for bit, and what else there is to say of it ("digest", the scale of a quantized one), or ""."""
    with torch.no_grad():
        data, text = _elements(tensor)
        if len(data) > limit:
            data, text = digest(_with_one_nan(tensor, data)).encode(), "digest"
        return TensorFacts(
            str(tensor.dtype).removeprefix("torch."),
            _numbers(tensor.size),
            _numbers(tensor.stride),
            str(tensor.device),
            tensor.requires_grad,
            data,
            str(tensor.layout).removeprefix("torch."),
            tensor.is_leaf,
            tensor.is_inference(),
        ), text


def _with_one_nan(tensor: torch.Tensor, data: bytes) -> bytes:
    """The bytes with every NaN the same, since no digest can ignore its payload."""
    if tensor.layout != torch.strided or not (tensor.is_floating_point() or tensor.is_complex()):
        return data
    missing = tensor.isnan()
    return raw_bytes(tensor.masked_fill(missing, float("nan"))) if bool(missing.any()) else data


def _elements(tensor: torch.Tensor) -> tuple[bytes, str]:
    try:
        if tensor.device.type == "meta":
            return b"", ""
        if hasattr(tensor, "__tensor_flatten__"):
            names, _context = tensor.__tensor_flatten__()
            inner = [getattr(tensor, name) for name in names]
            sizes = ", ".join(f"{name} {list(one.shape)}" for name, one in zip(names, inner, strict=True))
            return b"".join(_elements(one)[0] for one in inner), f"made of {sizes}"
        if tensor.is_quantized:
            scale = f"{tensor.qscheme()}"
            if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
                scale += f" {tensor.q_scale()!r} {tensor.q_zero_point()}"
            else:
                scale += f" {tensor.q_per_channel_scales().tolist()} {tensor.q_per_channel_zero_points().tolist()}"
            return raw_bytes(tensor.int_repr()), scale
        if tensor.is_nested:
            pieces = list(tensor.unbind())
            return b"".join(map(raw_bytes, pieces)), f"sizes {[tuple(piece.shape) for piece in pieces]}"
        if tensor.layout == torch.sparse_coo:
            stored = f"{tensor._nnz()} stored, {'' if tensor.is_coalesced() else 'not '}coalesced"
            return raw_bytes(tensor.detach().to_dense()), stored
        if tensor.layout != torch.strided:
            return raw_bytes(tensor.detach().to_dense()), ""
        return raw_bytes(tensor), ""
    except Exception as error:  # A subclass without memory of its own (fake, functional): nothing to see in it.
        return b"", f"elements cannot be read: {type(error).__name__}"


def _numbers(read: Callable[[], Iterable[int]]) -> tuple[int, ...]:
    try:
        return tuple(int(number) for number in read())
    except Exception:  # Sparse tensors have no strides, nested ones no plain sizes.
        return ()


def raw_bytes(tensor: torch.Tensor) -> bytes:
    """The elements of a dense tensor in row-major order, in the machine's byte order, whatever the dtype."""
    plain = tensor.detach().resolve_conj().resolve_neg().cpu().contiguous()
    length = plain.numel() * plain.element_size()
    if not length:
        return b""
    address = plain.data_ptr()
    if not address:
        raise ValueError("a tensor without memory")
    return ctypes.string_at(address, length)
