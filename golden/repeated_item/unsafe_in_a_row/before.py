import torch


@torch.compile
def f(x: torch.Tensor, grid: torch.Tensor, lengths: torch.Tensor, scale: float):
    y = x * scale
    t, h, w = (
        grid[0].item() // 1,  # frames
        grid[1].item() // 2,
        int(grid[2]) // 2,
    )
    parts = [torch.split(one, lengths.tolist()) for one in (y, y + 1.0)]
    counts = [float(grid[0]) for _ in range(2)]
    grid = grid + 1
    y = y[: grid[1].item()] * grid[0].item()
    lazy = sum(grid[0].item() + grid[1].item() for _ in range(2))
    grid[0] = grid[1].item() + grid[2].item()
    return torch.arange(t * h * w), y, [a + b for a, b in zip(*parts)], counts, lazy, grid
