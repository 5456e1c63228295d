import torch


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.doubled = torch.nn.Identity()
        self.doubled.register_forward_hook(lambda module, arguments, result: result * 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.doubled.forward(x) + 1
