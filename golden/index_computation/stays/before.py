import torch


def one_break(grid: torch.Tensor):
    return torch.cat([torch.arange(size) for size in grid.tolist()])


def heavy(x: torch.Tensor, mask: torch.Tensor, weight: torch.Tensor):
    kept = x[mask]
    rows = kept @ weight
    return rows, mask.nonzero()


def shared(grid: torch.Tensor):
    sizes = []
    note = lambda: sizes  # noqa: E731
    found = torch.repeat_interleave(grid, grid)
    sizes = grid.tolist()
    return found, note()


@torch.compile(fullgraph=False)
def f(x: torch.Tensor, grid: torch.Tensor, mask: torch.Tensor):
    return one_break(grid), heavy(x, mask, x.T), shared(grid)


@torch.compile(fullgraph=True)
def g(grid: torch.Tensor):
    return torch.repeat_interleave(grid, grid), grid.nonzero()
