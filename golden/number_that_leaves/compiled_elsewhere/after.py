import logging

import torch

logger = logging.getLogger("steps")


class Trainer:
    def __init__(self, every=2):
        self.steps = 0
        self.every = every
        self.running = 0.0
        self.history = []
        self.step = self.training_step

    @torch.compile(dynamic=None)
    def _training_step_graph(self, x: torch.Tensor):
        self.steps += 1
        loss = x.float().square().sum()
        return loss

    def training_step(self, x: torch.Tensor):
        """One step."""
        loss = self._training_step_graph(x)
        self.running += loss.item()
        self.history.append(loss.item())
        if self.steps % 2 == 0:
            logger.warning("step %d: %.3f", self.steps, loss.item())
        return loss


class Net:
    @torch.compile
    def _score_graph(self, x: torch.Tensor):
        result = (x * 2.0).amax()
        return result

    def score(self, x: torch.Tensor):
        result = self._score_graph(x)
        # the best
        return result.item()


@torch.compile()
def _evaluate_graph(x: torch.Tensor, w: torch.Tensor):
    correct = (x * w > 0).sum()
    return correct


@torch.no_grad()
def evaluate(x: torch.Tensor, w: torch.Tensor):
    correct = _evaluate_graph(x, w)
    correct = correct.item()
    return correct / len(x)


@torch.compile
def _largest_graph(x: torch.Tensor):
    y = torch.stack([x, x]).exp()
    result = y.sum()
    return y, result


def largest(x: torch.Tensor):
    y, result = _largest_graph(x)
    return y, result.item()


compiled = largest


def f(x, w):
    trainer = Trainer()
    losses = [trainer.step(x) for _ in range(4)]
    known = trainer.steps, trainer.running, trainer.history
    return losses, known, Net().score(x), evaluate(x, w), compiled(x), torch.is_grad_enabled()
