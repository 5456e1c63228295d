import zlib
from ctypes import c_int as number

import torch


_ZLIB_CRC32 = zlib.crc32(b"salt") % 7


_CTYPES_C_INT = number(-3).value


@torch.compile
def f(x):
    y = x + 1.0
    # the salt
    z = y * (_ZLIB_CRC32) + 1.0  # taken modulo seven
    return z - _CTYPES_C_INT
