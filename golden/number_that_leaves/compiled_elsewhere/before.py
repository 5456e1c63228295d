import logging

import torch

logger = logging.getLogger("steps")


class Trainer:
    def __init__(self, every=2):
        self.steps = 0
        self.every = every
        self.running = 0.0
        self.history = []
        self.step = torch.compile(self.training_step, dynamic=None)

    def training_step(self, x: torch.Tensor):
        """One step."""
        self.steps += 1
        loss = x.float().square().sum()
        self.running += loss.item()
        self.history.append(loss.item())
        if self.steps % 2 == 0:
            logger.warning("step %d: %.3f", self.steps, loss.item())
        return loss


class Net:
    @torch.compile
    def score(self, x: torch.Tensor):
        # the best
        return (x * 2.0).amax().item()


@torch.no_grad()
@torch.compile()
def evaluate(x: torch.Tensor, w: torch.Tensor):
    correct = (x * w > 0).sum().item()
    return correct / len(x)


def largest(x: torch.Tensor):
    y = torch.stack([x, x]).exp()
    return y, y.sum().item()


compiled = torch.compile(largest)


def f(x, w):
    trainer = Trainer()
    losses = [trainer.step(x) for _ in range(4)]
    known = trainer.steps, trainer.running, trainer.history
    return losses, known, Net().score(x), evaluate(x, w), compiled(x), torch.is_grad_enabled()
