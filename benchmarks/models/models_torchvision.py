"""The row of torchvision 0.28."""

from __future__ import annotations

import torch
from subjects import Inputs, Make, Subject
from torch import nn
from torchvision.models.detection import ssdlite320_mobilenet_v3_large


def ssdlite() -> Subject:
    """The training step of a detector on images of several sizes."""
    torch.manual_seed(0)
    model = ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)

    def training(batch: int, length: int, source: torch.Generator) -> Inputs:
        images = [torch.rand(3, 80 + length + 16 * number, 128, generator=source) for number in range(batch)]
        boxes = torch.tensor([[5.0, 5.0, 60.0, 60.0], [10.0, 20.0, 50.0, 70.0]])
        targets = [{"boxes": boxes.clone(), "labels": torch.tensor([1, 2])} for _ in images]
        return {"images": images, "targets": targets}

    def degenerate_box(_model: nn.Module, inputs: Inputs) -> None:
        inputs["targets"][-1]["boxes"][1, 2:] = inputs["targets"][-1]["boxes"][1, :2]

    def no_boxes(_model: nn.Module, inputs: Inputs) -> None:
        target = inputs["targets"][-1]
        target["boxes"], target["labels"] = target["boxes"][:0], target["labels"][:0]

    return Subject(model, None, training, {"degenerate box": degenerate_box, "no boxes": no_boxes})


ROWS: dict[str, Make] = {"ssdlite": ssdlite}
