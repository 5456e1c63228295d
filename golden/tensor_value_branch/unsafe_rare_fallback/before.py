import torch


@torch.compile(backend="eager")
def chosen(h: torch.Tensor, w: torch.Tensor, ok: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if not ok.all():
        other_h, other_w = torch.zeros_like(h), w.mean() + torch.zeros_like(w)
        h = torch.where(ok, h, other_h)
        w = torch.where(ok, w, other_w)
    return h + 1, w + 1
