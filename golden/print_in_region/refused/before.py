import sys

import torch


@torch.compile
def f(x: torch.Tensor, text: str) -> torch.Tensor:
    y = x * 2
    if y.sum() > 0:
        print("positive")
    print("no new line", end="")
    print("separated", text, sep=text)
    print("errors", file=sys.stderr)
    print("now", flush=True)
    print(*[text, text])
    print([y.shape, y])
    print(y.sum().item() * 2)
    print(f"{y.add_(1).sum()} {y.add_(1).sum()}")
    sys.stdout.write(text)
    return y
