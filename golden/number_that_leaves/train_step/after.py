import torch


@torch.compile
def _step_graph(x: torch.Tensor, y: torch.Tensor, count: int, *, name: str):
    # the loss
    loss = (x - y).square().mean()
    error = (x - y).abs().max()
    worst = x.amax()
    result = (x + y).sum()
    result_2 = x * 2.0
    return loss, error, worst, result, result_2


def step(x: torch.Tensor, y: torch.Tensor, count: int = 0, *, name: str = "train"):
    """One step."""
    loss, error, worst, result, result_2 = _step_graph(x, y, count, name=name)
    error = error.item()  # for the log
    worst = float(worst)
    if count % 2 == 0:
        print(name, "loss", loss.item(), "error", error)
    # what is given back
    return {"loss": loss, "error": error, "worst": worst, "sum": result.item(), "more": result_2}


def f(x, y):
    return [step(x, y, count, name="again") for count in range(5)] + [step(x, y)]
