import asyncio

import torch


@torch.compile
async def choose(x: torch.Tensor) -> torch.Tensor:
    if x.sum() > 0:
        y = await asyncio.sleep(0, x * 2.0)
    else:
        y = x + 1.0
    return y


def f(x):
    return asyncio.run(choose(x))
