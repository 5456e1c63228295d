import torch


class Compared(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def forward(self, x: torch.Tensor):
        self.count += 1
        return x * 2.0 if self.count > 3 else x


class Decayed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._age = 0

    def forward(self, x: torch.Tensor):
        self._age += 1
        return x * 0.9**self._age


class Reset(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self._n = 0

    def reset(self):
        self._n = 0

    def forward(self, x: torch.Tensor):
        self._n += 1
        return x * 2.0


nets = [torch.compile(net) for net in (Compared(), Decayed(), Reset())]


def f(x):
    return [net(x) for net in nets]
