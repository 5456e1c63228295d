"""A small transformer that learns to predict the next letter, trained the way many people write it.

Each step has what splits a graph or compiles it again: a counter in the model, a metric read with `.item()`, a debug
print, gradients clipped when their norm is too large, and sequences of another length at each step.
"""

import torch
import torch.nn.functional as F
from torch import nn

LETTERS = 32
STEPS = 24


class Block(nn.Module):
    """Causal self-attention and a feed-forward layer, each with a residual connection."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.proj(y.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attend(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class TinyTransformer(nn.Module):
    """Letters in, logits of the next letter out."""

    def __init__(self, width: int = 32, heads: int = 4, layers: int = 2, longest: int = 64) -> None:
        super().__init__()
        self.steps = 0
        self.letters = nn.Embedding(LETTERS, width)
        self.places = nn.Embedding(longest, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, LETTERS, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        self.steps += 1
        x = self.letters(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


@torch.compile(backend="eager")
def compute_loss(model, tokens, targets, step):
    logits = model(tokens)
    loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    accuracy = (logits.argmax(dim=-1) == targets).float().mean().item()
    if step % 10 == 0:
        print(f"step {step}: {tokens.shape[1]} letters, loss {loss.item():.4f}")
    return loss, accuracy


@torch.compile(backend="eager")
def clip_gradients(parameters, max_norm):
    total_norm = torch.linalg.vector_norm(torch.stack([p.grad.norm() for p in parameters]))
    if total_norm > max_norm:
        for p in parameters:
            p.grad.mul_(max_norm / (total_norm + 1e-6))
    return total_norm


def make_batch(generator: torch.Generator, batch_size: int = 8) -> tuple[torch.Tensor, torch.Tensor]:
    """Letters that count up by a stride of their own, of a length that is drawn for each batch."""
    length = int(torch.randint(16, 49, (), generator=generator))
    start = torch.randint(0, LETTERS, (batch_size, 1), generator=generator)
    stride = torch.randint(1, 4, (batch_size, 1), generator=generator)
    letters = (start + stride * torch.arange(length + 1)) % LETTERS
    return letters[:, :-1], letters[:, 1:]


def train(steps: int = STEPS) -> None:
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(1)
    model = TinyTransformer()
    parameters = list(model.parameters())
    optimizer = torch.optim.AdamW(parameters, lr=3e-3)
    for step in range(steps):
        tokens, targets = make_batch(generator)
        loss, accuracy = compute_loss(model, tokens, targets, step)
        optimizer.zero_grad()
        loss.backward()
        norm = clip_gradients(parameters, 0.5)
        optimizer.step()
        print(step, loss.item().hex(), accuracy.hex(), norm.item().hex())
    print(f"{model.steps} steps")


if __name__ == "__main__":
    train()
