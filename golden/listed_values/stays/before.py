import torch


def told(x: torch.Tensor, shapes):
    for height, width in shapes:
        x = x + x[:height].sum() * f"{width}".count("2")
    return x


def halved(x: torch.Tensor, shapes):
    for height, width in shapes:
        x = x + x[:height].sum() * (width / 3)
    return x[: shapes[0, 0]]


def typed(x: torch.Tensor, shapes: torch.Tensor):
    for height, width in shapes:
        x = x + x[:height].sum() * width
    return x


class Base:
    def sizes(self, x: torch.Tensor, shapes):
        for height, width in shapes:
            x = x + x[:height].sum() * width
        return x

    def run(self, x: torch.Tensor):
        known = [(1, 2)]
        return self.sizes(x, torch.tensor(known)), self.of(x, known)

    def of(self, x: torch.Tensor, known: list[tuple[int, int]]):
        made = [(2, 3)]
        shapes = torch.tensor(made)
        return self.sizes(x, shapes)


class Other(Base):
    def sizes(self, x: torch.Tensor, shapes):
        return x * shapes.sum()


base = Base()


@torch.compile
def f(x: torch.Tensor):
    known = [(1, 2)]
    known.append((2, x.shape[0]))
    shapes = torch.tensor(known)
    y = told(x, shapes), halved(x, shapes), typed(x, shapes), base.run(x)
    known.append((3, 2))
    for height, width in shapes:
        x = x + x[:height].sum() * width
    return x, y
