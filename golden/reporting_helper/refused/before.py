import torch

COUNT = 0


def report(x: torch.Tensor) -> None:
    print("call", COUNT, tuple(x.shape), flush=True)


@torch.compile
def counts(x: torch.Tensor) -> torch.Tensor:
    global COUNT
    y = x.sin()
    report(y)
    COUNT = COUNT + 1
    return y.cos()


@torch.compile
def in_loop(x: torch.Tensor) -> torch.Tensor:
    for _ in range(2):
        x = x.sin()
        report(x)
    return x.cos()


def entry(x):
    return counts(x), in_loop(x)
