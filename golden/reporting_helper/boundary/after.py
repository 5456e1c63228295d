import torch

CALLS = 0


class Meter:
    @torch.compiler.disable(reason="only reports")
    def show(self, x: torch.Tensor) -> None:
        """Says what x is."""
        print("call", CALLS, tuple(x.shape))
        print("mean", x.mean())

    @torch.compile
    def counts(self, x: torch.Tensor) -> torch.Tensor:
        global CALLS
        y = x.sin()
        self.show(y)
        CALLS = CALLS + 1
        return y.cos()


def entry(x):
    return Meter().counts(x)
