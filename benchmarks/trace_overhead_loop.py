"""The program that trace_overhead.py runs: trains a small transformer whose forward has one graph break.

Prints the processor seconds of its phases as JSON: until the first step, in the steps that compile, and in the steps
after them.
"""

from __future__ import annotations

import argparse
import json
import time

import torch
from torch import Tensor, nn

COMPILING_STEPS = 20
BATCH, LENGTH, WIDTH, HEADS, TOKENS = 8, 32, 64, 4, 100


class Block(nn.Module):
    """Attention and a feed-forward layer, each added to its input."""

    def __init__(self) -> None:
        super().__init__()
        self.before_attention, self.before_feed = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.feed = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        """Mix the positions, then each position by itself."""
        query, key, value = (
            part.reshape(BATCH, LENGTH, HEADS, -1).transpose(1, 2)
            for part in self.qkv(self.before_attention(x)).chunk(3, -1)
        )
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(BATCH, LENGTH, WIDTH))
        fed: Tensor = self.feed(self.before_feed(x))
        return x + fed


class Model(nn.Module):
    """Predicts the next token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(TOKENS, WIDTH), nn.Linear(WIDTH, TOKENS)
        self.first, self.second = Block(), Block()

    def forward(self, tokens: Tensor) -> Tensor:
        """The scores of each next token; the check in the middle depends on data, which breaks the graph."""
        x = self.first(self.embedding(tokens))
        if not torch.isfinite(x).all():
            x = x.clamp(-1000.0, 1000.0)
        scores: Tensor = self.head(self.second(x))
        return scores


def main() -> None:
    """Train for a while and print how long the phases took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=320)
    parser.add_argument("--backend", default="eager")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)  # idle threads that wait for work would count as work
    model = Model()
    compiled = torch.compile(model, backend=options.backend)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    times = [time.process_time()]
    for step in range(COMPILING_STEPS + options.steps):
        tokens = torch.randint(0, TOKENS, (BATCH, LENGTH + 1))
        scores = compiled(tokens[:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), tokens[:, 1:].flatten())
        torch.autograd.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        if step == COMPILING_STEPS - 1:
            times.append(time.process_time())
    times.append(time.process_time())
    print(json.dumps({"start": times[0], "compile": times[1] - times[0], "steady": times[2] - times[1]}))


if __name__ == "__main__":
    main()
