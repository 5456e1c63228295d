import inspect
import os
import time as clock
import uuid
from datetime import datetime
from time import perf_counter as tick

import torch

DEBUG = {}


class time:
    @staticmethod
    def time():
        return 0.0


@torch.compile
def f(x):
    started = clock.time()
    y = x + 1.0
    DEBUG["elapsed"] = tick() - started
    z = y if x.shape[0] > 9 else y * (0 * os.getpid() + 1)
    frame = inspect.currentframe() is None
    names = len(globals()) > 0
    later = datetime.now().year > 2000
    if not torch.compiler.is_compiling() and uuid.uuid4() is None:
        z = z + 1.0
    mine = time.time()
    import socket

    z = z + 0 * len(socket.gethostname())
    home = os.environ.get("HOME", "")
    return z, frame, names, later, mine, home
