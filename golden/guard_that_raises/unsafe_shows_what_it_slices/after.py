import torch


@torch.library.custom_op(
    __name__.replace(".", "_") + "::check_in_extent",
    mutates_args=(),
    tags=(torch.Tag.cudagraph_unsafe,),
)
def _check_in_extent(boxes: torch.Tensor) -> None:
    if not (boxes[:, 2:] >= boxes[:, :2]).all():
        raise ValueError(f"boxes must be in corner format, but got {boxes}")


_check_in_extent.register_fake(lambda boxes: None)
# An operator that returns nothing would be left out of the graph as dead code.
_check_in_extent.register_effect(torch.library.EffectType.ORDERED)


def extent(boxes):
    if torch.compiler.is_compiling():
        _check_in_extent(boxes)
    elif not (boxes[:, 2:] >= boxes[:, :2]).all():
        raise ValueError(f"boxes must be in corner format, but got {boxes}")
    return boxes[:, 2:] - boxes[:, :2]


def halves(batch):
    return extent(batch["first"]), extent(batch["second"])


@torch.compile
def f(batch):
    first, second = halves(batch)
    return first + second
