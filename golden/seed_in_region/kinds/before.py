import torch


@torch.compile
def f(x):
    y = x + torch.rand(1)
    state = torch.get_rng_state()
    torch.manual_seed(0)
    z = y * 0.0 + torch.rand(1)
    own = torch.Generator()
    own.manual_seed(3)
    w = z + torch.rand(1, generator=own)
    torch.set_rng_state(state)
    return w
