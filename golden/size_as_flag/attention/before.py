import torch
import torch.nn.functional as F


@torch.compile(dynamic=True)
def f(q: torch.Tensor, mask: torch.Tensor | None = None):
    q = q.cos()
    is_causal = mask is None and q.shape[-2] > 1
    y = F.scaled_dot_product_attention(q, q, q, attn_mask=mask, is_causal=is_causal).sin()
    return y + F.scaled_dot_product_attention(
        q,
        y,
        y,
        is_causal=(
            q.size(-2) >
            3
        ),
    ).tan()
