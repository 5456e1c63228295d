import torch
from torch import nn


def overlap(inputs: torch.Tensor, count):
    return (inputs.sigmoid() - 0.5).abs().sum() / count


class Loss(nn.Module):
    def boxes(self, out, count):
        loss = nn.functional.l1_loss(out, out * 2, reduction="none")
        return {"boxes": loss.sum() / count}

    def size(self, out, count):
        return {"size": out.sum()}

    def masks(self, out, count):
        return {"masks": overlap(out, count)}

    def get(self, name, out, count):
        table = {"boxes": self.boxes, "size": self.size, "masks": self.masks}
        return table[name](out, count)

    def forward(self, out, targets: list):
        count = sum(len(target) for target in targets)
        count = torch.as_tensor([count], dtype=torch.float, device=out.device)
        count = torch.clamp(count / 2, min=1).item()
        losses = {}
        for name in ("boxes", "size", "masks"):
            losses.update(self.get(name, out, count))
        return losses


model = torch.compile(Loss())
