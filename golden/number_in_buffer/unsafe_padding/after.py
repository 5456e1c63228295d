import torch
import torch.nn.functional as F
from torch import nn


class Conv(nn.Module):
    def __init__(self, kernel: int, stride: int = 1, dilation: int = 1, causal: bool = True) -> None:
        super().__init__()
        self.causal = causal
        self.conv = nn.Conv1d(1, 1, kernel, stride, dilation=dilation)
        size = self.conv.kernel_size[0]
        # for sizes
        stride_number = int(self.conv.stride[0])
        stride = torch.tensor(stride_number, dtype=torch.int64)
        size_number = int((size - 1) * dilation + 1)
        size = torch.tensor(size_number, dtype=torch.int64)
        self.stride = nn.Buffer(stride, persistent=False)
        self.stride_number = stride_number
        self.size = nn.Buffer(size, persistent=False)
        self.size_number = size_number
        self.register_buffer("total", size - stride, persistent=False)
        self.total_number = size_number - stride_number
        self.unused = nn.Buffer(torch.tensor(7), persistent=False)

    def _extra(self, x: torch.Tensor) -> torch.Tensor:
        length = x.shape[-1]
        if 0 < self.stride_number < 4194304 and abs(length - self.size_number + self.total_number) < 4194304:
            frames = (-(-(length - self.size_number + self.total_number) // self.stride_number) + 1) - 1
        else:
            frames = (length - self.size + self.total) / self.stride + 1
            frames = torch.ceil(frames).to(torch.int64) - 1
        ideal = frames * self.stride_number + self.size_number - self.total_number
        return ideal - length

    @staticmethod
    def _pad(x: torch.Tensor, paddings: tuple[int, int], mode: str = "zero"):
        length = x.shape[-1]
        left, right = paddings
        if mode != "reflect":
            return F.pad(x, paddings, mode)
        most = max(left, right)
        extra = 0
        if length <= most:
            extra = most - length + 1
            x = F.pad(x, (0, extra))
        padded = F.pad(x, paddings, mode)
        end = padded.shape[-1] - extra
        return padded[..., :end]

    def forward(self, x: torch.Tensor):
        extra = self._extra(x)
        if self.causal:
            x = self._pad(x, (self.total_number, extra), mode="reflect")
        else:
            right = self.total_number // 2
            left = self.total_number - right
            x = self._pad(x, (left, right + extra), mode="reflect")
        return self.conv(x), x


torch.manual_seed(0)
first, second = Conv(7, 3), Conv(4, 2, 2, causal=False)


@torch.compile
def f(x: torch.Tensor):
    return first(x), second(x)
