"""An integer that a module keeps in a buffer, and computes sizes with.

A buffer is a tensor, so that sizes computed with it are tensors, too: a branch on one, or `pad` and slices that need
numbers, read it and end the graph (GB0170, GB0124), and every module of the class with another number does so anew. The
integer that the buffer was made of, kept beside it, costs nothing.

Before:

    class Padded(torch.nn.Module):
        def __init__(self, kernel: int, stride: int) -> None:
            super().__init__()
            size = torch.tensor(kernel - stride, dtype=torch.int64)
            self.total = torch.nn.Buffer(size, persistent=False)

        def forward(self, x: torch.Tensor):
            if x.shape[-1] <= self.total:
                x = x * 2.0
            return torch.nn.functional.pad(x, (self.total // 2, self.total - 1))

After:

    class Padded(torch.nn.Module):
        def __init__(self, kernel: int, stride: int) -> None:
            super().__init__()
            size_number = int(kernel - stride)
            size = torch.tensor(size_number, dtype=torch.int64)
            self.total = torch.nn.Buffer(size, persistent=False)
            self.total_number = size_number

        def forward(self, x: torch.Tensor):
            if x.shape[-1] <= self.total_number:
                x = x * 2.0
            return torch.nn.functional.pad(x, (self.total_number // 2, self.total_number - 1))

The number is followed through names, tuples and methods of the class to where it is compared, or is a size, a bound
or a padding. `torch.ceil(a / b + 1).to(torch.int64)` is computed in float32, and gives what the division of integers
gives below 2**22: that is asked there, and beyond it the statements stay as they were.

Stays away, with the reason, when the number meets a tensor or is handed to anything else, when something of the file
sets the buffer to another tensor, and when the tensor is not made of one integer as int64. The buffer stays, for
whoever reads it. What it relies on and cannot prove: that the buffer keeps its number; a persistent one may get another
from a state dict.

Source: torch.nn.Buffer (GB0170, GB0124).
"""

from __future__ import annotations

from gbfix.codemods._number_buffers import NUMBER, number_findings
from gbfix.engine.model import Rule

RULE = Rule(*NUMBER, "an integer kept in a buffer, with which sizes are computed", __doc__, number_findings)
