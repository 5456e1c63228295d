import torch


@torch.compile(backend="eager")
def chosen(h: torch.Tensor, w: torch.Tensor, ok: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    condition = ok.all() != 0
    other_h = torch.zeros_like(h)
    other_w = w.mean() + torch.zeros_like(w)
    h = torch.where(condition, h, torch.where(ok, h, other_h))
    w = torch.where(condition, w, torch.where(ok, w, other_w))
    return h + 1, w + 1
