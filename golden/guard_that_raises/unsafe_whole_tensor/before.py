import torch


class Net(torch.nn.Module):
    def check(self, ok: torch.Tensor, text: str = ""):
        if torch.compiler.is_compiling():
            torch._check_tensor_all(ok)
        else:
            torch._check_tensor_all(ok, lambda: text)

    @torch.compile
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch._check_tensor_all(x > 0, message=lambda: "low")
        torch._check_tensor_all(x < 9, lambda: f"above {x.max()}")
        self.check(x < 5, "high")
        return x * torch.rand(2)


def f(x):
    torch.manual_seed(0)
    return Net()(x)
