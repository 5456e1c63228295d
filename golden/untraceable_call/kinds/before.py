import numpy as np
import torch


@torch.compiler.disable(reason="a bug of the backend")
def helper(x):
    return x * 2.0


@torch.compile
def f(x: torch.Tensor):
    y = np.interp((x + 1.0).numpy(), np.array([0.0, 3.0]), np.array([0.0, 1.0]))
    z = helper(torch.from_numpy(y))
    torch._dynamo.graph_break()
    return z
