"""Switches of the process that a call can leave behind: reading them, and putting them back."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

import torch

_DEVICES = ("cpu", "cuda")
_ATTENTION = ("flash", "mem_efficient", "math", "cudnn")
"""Kernels of scaled_dot_product_attention."""


def modes() -> dict[str, str]:
    """The switches as they are now, by name."""
    found = {
        "grad_enabled": str(torch.is_grad_enabled()),
        "inference_mode": str(torch.is_inference_mode_enabled()),
        "default_dtype": str(torch.get_default_dtype()),
        "default_device": str(torch.get_default_device()),
        "deterministic": f"{torch.are_deterministic_algorithms_enabled()}"
        f"{', warn only' if torch.is_deterministic_algorithms_warn_only_enabled() else ''}",
        "float32_matmul_precision": _matmul_precision(),
        "anomaly_detection": str(torch.is_anomaly_enabled()),
        "autocast_cache": str(torch.is_autocast_cache_enabled()),
        "print_options": str(torch._tensor_str.PRINT_OPTS),
    }
    cudnn = torch.backends.cudnn
    found |= {f"cudnn.{name}": str(getattr(cudnn, name)) for name in ("enabled", "benchmark", "deterministic")}
    found["attention"] = ", ".join(name for name in _ATTENTION if getattr(torch.backends.cuda, f"{name}_sdp_enabled")())
    for device in _DEVICES:
        enabled = torch.is_autocast_enabled(device)
        found[f"autocast {device}"] = str(torch.get_autocast_dtype(device)) if enabled else "off"
    return found


@contextlib.contextmanager
def kept() -> Iterator[None]:
    """Put the switches back at the end of the block, but inference mode, the default device and those of kernels."""
    grad, dtype, precision = torch.is_grad_enabled(), torch.get_default_dtype(), _matmul_precision()
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    cache, printing = torch.is_autocast_cache_enabled(), dataclasses.replace(torch._tensor_str.PRINT_OPTS)
    autocast = {device: (torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in _DEVICES}
    try:
        yield
    finally:
        torch.set_grad_enabled(grad)
        torch.set_default_dtype(dtype)
        torch.set_autocast_cache_enabled(cache)
        torch._tensor_str.PRINT_OPTS = printing
        if _matmul_precision() != precision:
            torch.set_float32_matmul_precision(precision)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
        for device, (enabled, kind) in autocast.items():
            torch.set_autocast_enabled(device, enabled)
            torch.set_autocast_dtype(device, kind)


def _matmul_precision() -> str:
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:  # The program uses the newer switches, `fp32_precision`, which do not mix with this one.
        return "not known"
