import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        # how often
        self.register_buffer("_calls", torch.tensor(0), persistent=False)
        self._left = 100
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor):
        self._calls += 1
        self._left = self._left - 1 if x is None else self._left
        return x * self.weight


class Other:
    def __init__(self):
        self._calls = 5

    def more(self):
        return self._calls + 1


def f(x):
    net = Net()
    compiled = torch.compile(net)
    results = [compiled(x) for _ in range(5)]
    return results, sorted(net.state_dict()), Other().more()
