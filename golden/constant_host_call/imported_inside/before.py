import torch


def scale():
    import decimal

    return float(decimal.Decimal("0.75"))


@torch.compile
def f(x):
    from hashlib import md5

    y = x + 1.0
    return y * scale(), md5(b"a").hexdigest()
