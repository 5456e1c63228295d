import os
import socket

import torch


@torch.compile
def _with_number_graph(x: torch.Tensor, *, rank, pid):
    y = x * 2.0
    return y + 1.0, rank == pid


def with_number(x: torch.Tensor):
    rank = os.getpid()
    pid = os.getpid()
    return _with_number_graph(x, rank=rank, pid=pid)


@torch.compile
def with_text(x: torch.Tensor):
    host = socket.gethostname().upper()
    y = x * 2.0
    return y + len(host) * 0, host


def f(x):
    return with_number(x), with_text(x)
