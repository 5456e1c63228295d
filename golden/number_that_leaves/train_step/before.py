import torch


@torch.compile
def step(x: torch.Tensor, y: torch.Tensor, count: int = 0, *, name: str = "train"):
    """One step."""
    # the loss
    loss = (x - y).square().mean()
    error = (x - y).abs().max().item()  # for the log
    worst = float(x.amax())
    if count % 2 == 0:
        print(name, "loss", loss.item(), "error", error)
    # what is given back
    return {"loss": loss, "error": error, "worst": worst, "sum": (x + y).sum().item(), "more": x * 2.0}


def f(x, y):
    return [step(x, y, count, name="again") for count in range(5)] + [step(x, y)]
