import torch


@torch.compile
def clip(parameters, limit: float):
    norm = torch.stack([p.grad.norm() for p in parameters]).norm()
    condition = norm > limit
    # as long as allowed
    for p in parameters:
        p.grad.mul_(torch.where(condition, limit / (norm + 1e-6), 1))
    return norm


@torch.compile
def clip_those_that_are_there(model, limit: float):
    norms = [p.grad.norm() for p in model.parameters() if p.grad is not None]
    norm = torch.stack(norms).norm()
    scale = torch.where(limit / (norm + 1e-6) < 1, limit / (norm + 1e-6), 1)
    for p in model.parameters():
        if p.grad is not None:
            p.grad.detach().mul_(scale)
    return norm


@torch.compile
def clip_all(grads, limit: float):
    norm = torch.stack([g.norm() for g in grads]).norm()
    torch._foreach_mul_(grads, torch.where(norm > limit, limit / norm, 1))
    return norm


def f(x, limit):
    model = torch.nn.Linear(x.shape[0], 2)
    with torch.no_grad():
        model.weight.fill_(0.5)
        model.bias.fill_(0.25)
    model.extra = torch.nn.Parameter(torch.ones(1))
    model(x).sum().backward()
    used = [model.weight, model.bias]
    norms = [clip(used, limit), clip_those_that_are_there(model, limit * 0.5), clip_all([p.grad for p in used], 0.1)]
    return norms, [p.grad for p in model.parameters()]
