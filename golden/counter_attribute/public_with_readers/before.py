import torch


class Read(torch.nn.Module):
    """A module that counts its calls."""

    def __init__(self):
        super().__init__()
        self.seen = 0  # calls so far
        self.scale = torch.nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor):
        self.seen += 1
        return x.float() * self.seen * self.scale

    def reset(self):
        self.seen = 0


def f(x):
    read = Read()
    compiled = torch.compile(read)
    results = [compiled(x) for _ in range(4)]
    print("seen", read.seen, f"{read.seen:03d}", getattr(read, "seen"), compiled.seen)
    read.reset()
    read.seen += 5
    results.append(compiled(x))
    return results, read.seen == 6, type(read.seen), 1 / read.seen, sorted(read.state_dict())
