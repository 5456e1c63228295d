import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, config: dict) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.config = config
        self.layers = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
        self.layer_drop = config["layer_drop"]

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, tuple]:
        states = ()
        for layer in self.layers:
            states += (x,)
            to_drop = False
            if self.training:
                chance = torch.rand([])
                if chance < self.layer_drop:
                    to_drop = True
            if to_drop:
                outputs = (None,)
            else:
                outputs = (layer(x),)
                x = outputs[0]
        return x, states


modules = {rate: torch.compile(Encoder({"layer_drop": rate})) for rate in (0, 0.4)}


def f(x, rate, training):
    torch.manual_seed(1)
    modules[rate].train(training)
    return modules[rate](x), torch.rand(1)
