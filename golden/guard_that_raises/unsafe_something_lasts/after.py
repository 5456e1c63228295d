import torch


@torch.library.custom_op(
    __name__.replace(".", "_") + "::check_in_loops",
    mutates_args=(),
    tags=(torch.Tag.cudagraph_unsafe,),
)
def _check_in_loops(row: torch.Tensor) -> None:
    if (row < 0).any():
        raise ValueError("below")


_check_in_loops.register_fake(lambda row: None)
# An operator that returns nothing would be left out of the graph as dead code.
_check_in_loops.register_effect(torch.library.EffectType.ORDERED)


@torch.library.custom_op(
    __name__.replace(".", "_") + "::check_in_protects",
    mutates_args=(),
    tags=(torch.Tag.cudagraph_unsafe,),
)
def _check_in_protects(index: torch.Tensor) -> None:
    if index.max() > 4:
        raise IndexError("above")


_check_in_protects.register_fake(lambda index: None)
# An operator that returns nothing would be left out of the graph as dead code.
_check_in_protects.register_effect(torch.library.EffectType.ORDERED)


@torch.library.custom_op(
    __name__.replace(".", "_") + "::check_in_says",
    mutates_args=(),
    tags=(torch.Tag.cudagraph_unsafe,),
)
def _check_in_says(x: torch.Tensor) -> None:
    if (x < 0).any():
        raise ValueError("below")


_check_in_says.register_fake(lambda x: None)
# An operator that returns nothing would be left out of the graph as dead code.
_check_in_says.register_effect(torch.library.EffectType.ORDERED)


@torch.library.custom_op(
    __name__.replace(".", "_") + "::check_in_writes",
    mutates_args=(),
    tags=(torch.Tag.cudagraph_unsafe,),
)
def _check_in_writes(x: torch.Tensor) -> None:
    if (x < 0).any():
        raise ValueError("below")


_check_in_writes.register_fake(lambda x: None)
# An operator that returns nothing would be left out of the graph as dead code.
_check_in_writes.register_effect(torch.library.EffectType.ORDERED)


@torch.library.custom_op(
    __name__.replace(".", "_") + "::check_in_draws",
    mutates_args=(),
    tags=(torch.Tag.cudagraph_unsafe,),
)
def _check_in_draws(x: torch.Tensor) -> None:
    if (x < 0).any():
        raise ValueError("below")


_check_in_draws.register_fake(lambda x: None)
# An operator that returns nothing would be left out of the graph as dead code.
_check_in_draws.register_effect(torch.library.EffectType.ORDERED)


@torch.library.custom_op(
    __name__.replace(".", "_") + "::check_in_counts",
    mutates_args=(),
    tags=(torch.Tag.cudagraph_unsafe,),
)
def _check_in_counts(x: torch.Tensor) -> None:
    if (x < 0).any():
        raise ValueError("below")


_check_in_counts.register_fake(lambda x: None)
# An operator that returns nothing would be left out of the graph as dead code.
_check_in_counts.register_effect(torch.library.EffectType.ORDERED)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.name = "new"
        self.drop = torch.nn.Dropout(0.5)

    def counts(self, x: torch.Tensor) -> torch.Tensor:
        if torch.compiler.is_compiling():
            _check_in_counts(x)
        elif (x < 0).any():
            raise ValueError("below")
        self.name = "seen"
        return x + 1.0

    def draws(self, x: torch.Tensor) -> torch.Tensor:
        if torch.compiler.is_compiling():
            _check_in_draws(x)
        elif (x < 0).any():
            raise ValueError("below")
        return self.drop(x)

    def writes(self, x: torch.Tensor) -> torch.Tensor:
        if torch.compiler.is_compiling():
            _check_in_writes(x)
        elif (x < 0).any():
            raise ValueError("below")
        x += 1.0
        return x

    def says(self, x: torch.Tensor) -> torch.Tensor:
        if torch.compiler.is_compiling():
            _check_in_says(x)
        elif (x < 0).any():
            raise ValueError("below")
        y = x + 1.0
        torch._higher_order_ops.print("y {}", y)
        return y

    def protects(self, x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        if torch.compiler.is_compiling():
            _check_in_protects(index)
        elif index.max() > 4:
            raise IndexError("above")
        return x[index]

    def catches(self, x: torch.Tensor) -> torch.Tensor:
        try:
            if (x < 0).any():
                raise ValueError("below")
        except ValueError:
            return x - 1.0
        return x + 1.0

    def loops(self, x: torch.Tensor) -> torch.Tensor:
        for row in x:
            if torch.compiler.is_compiling():
                _check_in_loops(row)
            elif (row < 0).any():
                raise ValueError("below")
        return x + 1.0

    @torch.compile
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.catches(self.counts(self.draws(x)))
        return self.loops(self.says(self.protects(self.writes(x + 0), torch.tensor([0]))))


def f(x):
    torch.manual_seed(0)
    return Net()(x)
