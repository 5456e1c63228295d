import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.nn.Buffer(torch.arange(3.0))

    @torch.compile
    def forward(self, x: torch.Tensor):
        # It does not move by itself.
        self.table = self.table.to(device=x.device, dtype=x.dtype)  # a cast
        return x * self.table


NET = Net()


def f(x):
    y = NET(x)
    return y, NET.table, NET.state_dict()
