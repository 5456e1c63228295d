import torch
from torch import nn


class Encoder(nn.Module):
    @staticmethod
    def points(shapes, ratios, device):
        found = []
        for level, (height, width) in enumerate(shapes):
            rows, columns = torch.meshgrid(
                torch.linspace(0.5, height - 0.5, height, dtype=torch.float32, device=device),
                torch.linspace(0.5, width - 0.5, width, dtype=torch.float32, device=device),
                indexing="ij",
            )
            rows = rows.reshape(-1)[None] / (ratios[:, None, level, 1] * height)
            columns = columns.reshape(-1)[None] / (ratios[:, None, level, 0] * width)
            found.append(torch.stack((rows, columns), -1))
        return torch.cat(found, 1)

    def forward(self, x: torch.Tensor, shapes: torch.Tensor, sizes: list[tuple[int, int]], ratios: torch.Tensor):
        points = self.points(shapes, ratios, device=x.device)
        for _ in range(2):
            x = self.layer(x, shapes, sizes)
        return x.sum(), points

    def layer(self, x: torch.Tensor, shapes: torch.Tensor, sizes: list[tuple[int, int]]):
        return x * shapes.sum() + sum(height * width for height, width in sizes)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = Encoder()

    def proposals(self, x: torch.Tensor, mask: torch.Tensor, shapes):
        found = []
        start = 0
        for height, width in shapes:
            part = mask[:, start : (start + height * width)].view(mask.shape[0], height, width, 1)
            found.append(part.sum(1) * torch.linspace(0, width - 1, width, dtype=torch.float32)[:, None])
            start += height * width
        return x * 2.0, torch.cat(found, 1)

    def forward(self, x: torch.Tensor, mask: torch.Tensor, levels: list[torch.Tensor], ratios: torch.Tensor):
        sizes = []
        flat = []
        for level in levels:
            _, height, width = level.shape
            size = (height, width)
            sizes.append(size)
            flat.append(level.flatten(1))
        shapes = torch.as_tensor(sizes, dtype=torch.long, device=x.device)
        starts = torch.cat((shapes.new_zeros((1,)), shapes.prod(1).cumsum(0)[:-1]))
        encoded, points = self.encoder(x, shapes=shapes, sizes=sizes, ratios=ratios)
        found, proposals = self.proposals(x, ~mask, shapes)
        return encoded, points, found, proposals, starts, torch.cat(flat, 1)


model = Model()


@torch.compile
def f(x: torch.Tensor, mask: torch.Tensor, levels: list[torch.Tensor], ratios: torch.Tensor):
    return model(x, mask, levels, ratios)
