import torch
import decimal
import hashlib


_DECIMAL_DECIMAL = float(decimal.Decimal('0.75'))


def scale():
    import decimal

    return _DECIMAL_DECIMAL


_HASHLIB_MD5 = hashlib.md5(b'a').hexdigest()


@torch.compile
def f(x):
    from hashlib import md5

    y = x + 1.0
    return y * scale(), _HASHLIB_MD5
