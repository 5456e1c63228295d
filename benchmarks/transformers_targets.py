"""Factories and inputs with which `transformers_check.py` has `gbfix check` call two encoder layers.

Tiny layers with random weights; nothing is downloaded.
"""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import torch
from hypothesis.strategies import SearchStrategy
from torch import nn
from transformers_layers import BATCH, LENGTH, WIDTH, Case, build

from gbfix.equivalence import tensors


def detr() -> nn.Module:
    """An encoder layer of DETR in single precision."""
    return build(Case("detr", torch.float32, training=True, values="ordinary"))


def bart() -> nn.Module:
    """An encoder layer of BART in half precision."""
    return build(Case("bart", torch.float16, training=True, values="ordinary"))


def detr_calls() -> SearchStrategy[dict[str, Any]]:
    """Hidden states of any values."""
    return _calls(torch.float32)


def bart_calls() -> SearchStrategy[dict[str, Any]]:
    """The same in half precision."""
    return _calls(torch.float16)


def _calls(dtype: torch.dtype) -> SearchStrategy[dict[str, Any]]:
    hidden = tensors(BATCH, LENGTH, WIDTH, dtype=dtype, requires_grad=None)
    return st.fixed_dictionaries({"hidden_states": hidden, "attention_mask": st.none()})
