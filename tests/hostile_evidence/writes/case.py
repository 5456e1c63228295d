"""Names that hold something else by the time an arm reads them, directly or because two names share one object."""

import types

import torch


@torch.compile(backend="eager")
def fixed(x, batch):
    """The one that can be fixed: nothing changes what the dictionary holds."""
    t = batch["x"].sum()
    if x.sum() > 0:
        z = batch["x"] * 2
    else:
        z = x * 2
    return z, t


@torch.compile(backend="eager")
def dictionary_is_rebound_in_an_arm(x, batch, other):
    if x.sum() > 0:
        batch = other
        z = batch["x"] * 2
    else:
        z = batch["x"] * 3
    return z


@torch.compile(backend="eager")
def _object_is_rebound_in_an_arm(x, config, other):
    if x.sum() > 0:
        config = other
        z = config.scale * 2
    else:
        z = config.scale * 3
    return z


def object_is_rebound_in_an_arm(x, first, second):
    return _object_is_rebound_in_an_arm(x, types.SimpleNamespace(scale=first), types.SimpleNamespace(scale=second))


@torch.compile(backend="eager")
def tensor_is_rebound_by_the_condition(x, y):
    if (y := y.double()).sum() > 0:
        z = y * 2
    else:
        z = x * 2
    return z


@torch.compile(backend="eager")
def dictionary_is_rebound_by_the_condition(x, batch, other):
    if (batch := other)["x"].sum() > 0:
        z = batch["x"] * 2
    else:
        z = x * 2
    return z


def change_item(batch):
    batch["x"] = batch["x"].double()
    return batch["x"]


@torch.compile(backend="eager")
def item_is_set_by_the_condition(x, batch):
    if change_item(batch).sum() > 0:
        z = batch["x"] * 2
    else:
        z = x * 2
    return z


class Holder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.ones(3)
        self.config = types.SimpleNamespace(scale=torch.ones(3))
        self.items = [torch.ones(3)]
        self.cache = {"k": torch.ones(3)}
        self.child = torch.nn.Module()
        self.child.scale = torch.ones(3)
        self.register_buffer("buffer", torch.ones(3))

    def change(self, x):
        self.scale = self.scale.double()
        return x

    @torch.compile(backend="eager")
    def attribute_by_the_condition(self, x):
        if self.change(x).sum() > 0:
            z = self.scale * 2
        else:
            z = x * 2
        return z

    @torch.compile(backend="eager")
    def attribute_of_an_attribute(self, x):
        old = self.config.scale
        self.config.scale = old.double()
        if x.sum() > 0:
            z = self.config.scale * 2
        else:
            z = x * 2
        return z

    @torch.compile(backend="eager")
    def item_of_a_list(self, x):
        self.items[0] = self.items[0].double()
        if x.sum() > 0:
            z = self.items[0] * 2
        else:
            z = x * 2
        return z

    @torch.compile(backend="eager")
    def item_of_a_dictionary(self, x):
        self.cache["k"] = self.cache["k"].double()
        if x.sum() > 0:
            z = self.cache["k"] * 2
        else:
            z = x * 2
        return z

    @torch.compile(backend="eager")
    def attribute_of_a_child(self, x):
        old = self.child.scale
        self.child.scale = old.double()
        if x.sum() > 0:
            z = self.child.scale * 2
        else:
            z = x * 2
        return z

    @torch.compile(backend="eager")
    def buffer_of_the_module(self, x):
        old = self.buffer
        self.buffer = old.double()
        if x.sum() > 0:
            z = self.buffer * 2
        else:
            z = x * 2
        return z


def held(x, method):
    return getattr(Holder(), method)(x)


GLOBAL = torch.ones(3)


def change_global():
    global GLOBAL
    GLOBAL = GLOBAL.double()


@torch.compile(backend="eager")
def _global_is_set(x):
    t = GLOBAL * 1
    change_global()
    if x.sum() > 0:
        z = GLOBAL * 2
    else:
        z = x * 2
    return z, t


def global_is_set(x):
    global GLOBAL
    GLOBAL = torch.ones(3)
    return _global_is_set(x)


@torch.compile(backend="eager")
def _two_names_of_a_list(x, a, b):
    a[0] = a[0].double()
    if x.sum() > 0:
        z = b[0] * 2
    else:
        z = x * 2
    return z


def two_names_of_a_list(x):
    shared = [torch.ones(3)]
    return _two_names_of_a_list(x, shared, shared)


@torch.compile(backend="eager")
def _list_is_also_an_attribute(x, config, a):
    t = config.items[0] * 1
    a[0] = a[0].double()
    if x.sum() > 0:
        z = config.items[0] * 2
    else:
        z = x * 2
    return z, t


def list_is_also_an_attribute(x):
    shared = [torch.ones(3)]
    return _list_is_also_an_attribute(x, types.SimpleNamespace(items=shared), shared)


@torch.compile(backend="eager")
def _other_name_is_reshaped(x, y, w):
    x.unsqueeze_(0)
    if x.sum() > 0:
        z = y * 2
    else:
        z = w * 2
    return z


def other_name_is_reshaped(x, w):
    x = x.clone()
    return _other_name_is_reshaped(x, x, w)


@torch.compile(backend="eager")
def _other_name_is_reshaped_and_restored(x, y):
    x.unsqueeze_(0)
    if x.sum() > 0:
        z = y * 2
    else:
        z = y.reshape(3) * 3
    return z


def other_name_is_reshaped_and_restored(x):
    x = x.clone()
    return _other_name_is_reshaped_and_restored(x, x)


@torch.compile(backend="eager")
def _other_name_needs_gradients(x, y):
    x.requires_grad_()
    if x.sum() > 0:
        z = y * 2
    else:
        z = y.detach() * 3
    return z


def other_name_needs_gradients(x):
    x = x.clone()
    return _other_name_needs_gradients(x, x).requires_grad


@torch.compile(backend="eager")
def _selected_tensor_is_written_under_another_name(x, y, w, c):
    if c.sum() > 0:
        z = x
    else:
        z = y
    w.add_(1)
    return z * 2


def selected_tensor_is_written_under_another_name(c):
    x = torch.zeros(3)
    return _selected_tensor_is_written_under_another_name(x, torch.zeros(3), x, c)


def entry(name, *arguments):
    return globals()[name](*arguments)
