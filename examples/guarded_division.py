"""A branch that keeps a division away from zero: the division must not run on the other side.

With a plain Python number, `1 // steps` raises for 0. Running both sides and selecting one afterwards would make
the guarded side fail, so the branch has to stay a branch.
"""

import torch


@torch.compile(backend="eager")
@torch.no_grad()
def average_step(x: torch.Tensor, steps: int) -> torch.Tensor:
    if x.sum().item() > 0:
        y = x * (12 // steps)
    else:
        y = x + 1.0
    return y


if __name__ == "__main__":
    print(average_step(torch.arange(4.0), 3))
    print(average_step(-torch.arange(4.0), 0))
