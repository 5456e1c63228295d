import itertools

import torch
import torch.nn.functional as F


def _half(index, size):
    return torch.clamp(index * 2 - size, min=0) // 2


# One position for each patch.
def positions(grid: torch.Tensor, merge: int = 1, given: torch.Tensor | None = None):
    """Rows and columns, or what is given."""
    if given is not None and (found := given + 0) is not None:
        return found
    return _positions_uncompiled(grid, merge)


@torch.compiler.disable(reason="computes indices from the values of tensors")
def _positions_uncompiled(grid, merge):
    counts = grid[:, 0] * grid[:, 1]
    rows = torch.repeat_interleave(grid[:, 0], counts)
    # The start of each image.
    starts = torch.repeat_interleave(F.pad(counts.cumsum(0)[:-1], (1, 0)), counts)
    within = torch.arange(counts.sum()) - starts  # 0 to h * w - 1
    found = []
    for height, width in grid.tolist():
        found.append(_half(torch.arange(height * width), width))
    return torch.stack([rows, within, torch.cat(found)]) * merge


@torch.compiler.disable(reason="computes indices from the values of tensors")
def _chosen_uncompiled(kinds, least):
    index = torch.nonzero(kinds > least).flatten()
    return index, kinds[index].unique()


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.merge = 2
        self.linear = torch.nn.Linear(1, 1)

    def size(self, kind: torch.Tensor):
        return kind.tolist()

    def groups(self, ids: torch.Tensor, mask: torch.Tensor):
        found = torch.zeros_like(ids)
        for row, kinds in enumerate(ids):
            kinds = kinds[mask[row]]
            for key, group in itertools.groupby(self.size(kinds), lambda kind: kind % self.merge):
                found[row, mask[row]] += key * len(list(group))
        return found

    @staticmethod
    def chosen(kinds: torch.Tensor, least: int):
        return _chosen_uncompiled(kinds, least)

    def forward(self, x: torch.Tensor, grid: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor):
        place = positions(grid, self.merge) + positions(grid, given=x.long().sum())
        return x * 2.0 + place.sum() + self.groups(ids, mask).sum(), place, self.chosen(ids, 1)


model = Model()


@torch.compile(fullgraph=False)
def f(x: torch.Tensor, grid: torch.Tensor, ids: torch.Tensor, mask: torch.Tensor):
    return model(x, grid, ids, mask)
