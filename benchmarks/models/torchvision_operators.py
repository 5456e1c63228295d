"""Lets a torchvision built for another PyTorch be imported: its compiled operators do not load there.

Its Python code names two operators at import. They are defined here, with a slow `nms`, before it is imported.
"""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_KEPT: list[Any] = []
"""Libraries undo their definitions when they are collected."""


def define_missing() -> None:
    """Define what torchvision's own library would, where it is installed and that library cannot be loaded."""
    found = importlib.util.find_spec("torchvision")
    if found is None or found.origin is None or _KEPT or loads(Path(found.origin).parent):
        return
    library: Any = torch.library.Library
    definitions = library("torchvision", "DEF")
    definitions.define(f"nms{SCHEMA}")
    definitions.define(f"qnms{SCHEMA}")
    implementations = library("torchvision", "IMPL", "CPU")
    implementations.impl("nms", nms)
    _KEPT.extend([definitions, implementations])
    boxes = importlib.import_module("torchvision.ops.boxes")
    boxes._assert_has_ops = lambda: None  # type: ignore[attr-defined]


def loads(folder: Path) -> bool:
    """Whether the compiled operators of this torchvision can be loaded."""
    for library in folder.glob("_C.*"):
        try:
            ctypes.CDLL(str(library))
        except OSError:
            return False
    return True


def nms(boxes: Tensor, scores: Tensor, threshold: float) -> Tensor:
    """Boxes, best first, without those that overlap a better one by more than the threshold."""
    areas = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    kept: list[int] = []
    for index in scores.argsort(descending=True).tolist():
        others = torch.tensor(kept, dtype=torch.long)
        low = torch.maximum(boxes[index, :2], boxes[others, :2])
        high = torch.minimum(boxes[index, 2:], boxes[others, 2:])
        shared = (high - low).clamp(min=0).prod(-1)
        if not bool((shared > threshold * (areas[index] + areas[others] - shared)).any()):
            kept.append(index)
    return torch.tensor(kept, dtype=torch.long)
