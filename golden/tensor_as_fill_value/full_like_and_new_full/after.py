import torch as th


@th.compile
@th.no_grad()
def f(x: th.Tensor, mask: th.Tensor):
    highest = x.amax()
    y = th.empty_like(x).fill_(highest)
    z = x.new_empty((2, 3)).fill_(highest)  # of another size
    w = th.full_like(input=x, fill_value=x.sum() * 2.0) + y
    flags = th.empty_like(x).fill_((mask > 0).any())
    return y, z, w * flags
