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

    Counted.count += 1
    return Local().apply(x)


class Later:
    pass
