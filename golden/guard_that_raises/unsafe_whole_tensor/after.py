import torch


class Net(torch.nn.Module):
    def check(self, ok: torch.Tensor, text: str = ""):
        if torch.compiler.is_compiling():
            torch._assert_async(
                ok.all(),
                "Expected cond to be True, but got False. (Could this error message be improved? "
                "If so, please report an enhancement request to PyTorch.)",
            )
        else:
            torch._check_tensor_all(ok, lambda: text)

    @torch.compile
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        torch._assert_async((x > 0).all(), "low")
        torch._check_tensor_all(x < 9, lambda: f"above {x.max()}")
        self.check(x < 5, "high")
        return x * torch.rand(2)


def f(x):
    torch.manual_seed(0)
    return Net()(x)
