import torch


@torch.compile
def f(x: torch.Tensor, grid: torch.Tensor, lengths: torch.Tensor, scale: float):
    y = x * scale
    grid_values = grid[:3].tolist()
    t, h, w = (
        grid_values[0] // 1,  # frames
        grid_values[1] // 2,
        int(grid_values[2]) // 2,
    )
    lengths_values = lengths.tolist()
    parts = [torch.split(one, lengths_values) for one in (y, y + 1.0)]
    counts = [float(grid_values[0]) for _ in range(2)]
    grid = grid + 1
    grid_values_2 = grid[:3].tolist()
    y = y[: grid_values_2[1]] * grid_values_2[0]
    lazy = sum(grid[0].item() + grid[1].item() for _ in range(2))
    grid[0] = grid_values_2[1] + grid_values_2[2]
    return torch.arange(t * h * w), y, [a + b for a, b in zip(*parts)], counts, lazy, grid
