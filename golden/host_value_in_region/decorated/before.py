import os
import socket

import torch


@torch.compile
def with_number(x: torch.Tensor):
    y = x * 2.0
    rank = os.getpid()
    return y + 1.0, rank == os.getpid()


@torch.compile
def with_text(x: torch.Tensor):
    y = x * 2.0
    host = socket.gethostname().upper()
    return y + len(host) * 0, host


def f(x):
    return with_number(x), with_text(x)
