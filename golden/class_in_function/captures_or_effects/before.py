import torch


class Taken:
    pass


def registered(cls):
    return cls


@torch.compile
def f(x: torch.Tensor, flag: bool):
    k = 2

    class Local:
        def apply(self, z):
            return z * k

    @registered
    class Marked:
        pass

    class Late(Later):
        pass

    class Taken:
        pass

    class Listed:
        items = []

    class Counted:
        count = 0

    if flag:
        class Inner:
            pass

    class Twice:
        value = 1

    Counted.count += 1
    return Local().apply(x)


def g(x):
    class Twice:
        value = 2

    return x * Twice.value


class Later:
    pass
