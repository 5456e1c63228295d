import zlib
from ctypes import c_int as number

import torch


@torch.compile
def f(x):
    y = x + 1.0
    # the salt
    z = y * (zlib.crc32(b"salt") % 7) + 1.0  # taken modulo seven
    return z - number(-3).value
