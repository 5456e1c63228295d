"""Arguments that Dynamo had no need to look at before a break are read each time the compiled function starts."""

from __future__ import annotations

from typing import Any

import pytest
from observed import Observed, observe

PROGRAM = """
import gc, sys, threading, types, weakref
import torch


def compiled(function):
    return torch.compile(function, backend="eager")


@compiled
def one_side(x, y):
    if x.sum() > 0:  # LINE one_side
        return x + 1
    return x + y


def helper(a, b):
    if a.sum() > 0:  # LINE helper
        return a + 1
    return a + b


@compiled
def calls(x, y):
    return helper(x * 2, y) - 1


@compiled
def rebound(x, y):
    y = y.double()
    if x.sum() > 0:  # LINE rebound
        return x + 1
    return x + y


@compiled
def items(x, batch):
    if x.sum() > 0:  # LINE items
        return x + 1
    return x + batch["mask"]


@compiled
def changing(x, y):
    if x.sum() > 0:  # LINE changing
        return x + 1
    return x + y


@compiled
def part_of_a_list(x, ls):
    if x.sum() + 0 * ls[0].sum() > 0:  # LINE part_of_a_list
        return x * 2
    return ls[1] * 2


@compiled
def part_of_a_dict(x, o):
    if x.sum() + 0 * o.d["c"].sum() > 0:  # LINE part_of_a_dict
        return x * 2
    return o.d["x"] * 2


def inner(x, y):
    if x.sum() > 0:  # LINE inner
        return x + 1
    return x + y


@compiled
def gives_up(x, y):
    for _ in range(2):
        x = inner(x, y)
    return x


@compiled
def often(x, y):
    if x.sum() > 0:  # LINE often
        return x + 1
    return x + y


@compiled
def captured(x, y):
    def inner(z):
        return z + y
    if x.sum() > 0:  # LINE captured
        return x + 1
    return inner(x)


def shared(x):
    if x.sum() > 0:  # LINE shared
        return x + 1
    return x - 1


@compiled
def through(x):
    return shared(x) * 2


@compiled
def nothing_kept(x, y):
    if x.sum() > 0:
        return x + 1
    return x + y


class Holder:
    def __init__(self, scale):
        self.scale = scale


@compiled
def paths(x, holder):
    if x.sum() > 0:  # LINE paths
        return x + 1
    return x + holder.scale


@compiled
def two_names(x, first, second):
    first[0] = first[0].double()
    if x.sum() > 0:  # LINE two_names
        return x + 1
    return x + second[0]


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts, self.cache, self.child = [torch.ones(3)], {"k": torch.ones(3)}, torch.nn.Module()
        self.child.scale = torch.ones(3)
        self.register_buffer("buffer", torch.ones(3))

    @compiled
    def forward(self, x, parts):
        parts[0] = parts[0].double()
        self.cache["k"] = self.cache["k"].double()
        self.child.scale = self.child.scale.double()
        self.buffer = self.buffer.double()
        if x.sum() > 0:  # LINE changed
            return x + 1
        return x + self.parts[0] + self.cache["k"] + self.child.scale + self.buffer


ones = torch.ones(3)
paths(ones, Holder(ones.clone()))
paths(ones, Holder(ones.double()))
two_names(ones, [ones], [ones.clone()])
in_thread = threading.Thread(target=paths, args=(ones, Holder(ones.half())))
in_thread.start()
in_thread.join()
parts = [ones.clone()]
two_names(ones, parts, parts)
model = Model()
model(ones, model.parts)
for function in (one_side, calls, rebound, captured):
    function(ones, torch.ones(3))
    function(-ones, torch.ones(3))
    function(ones, torch.ones(3, dtype=torch.float64))
    function(ones, torch.ones(3, dtype=torch.float64))
items(ones, {"mask": torch.ones(3)})
items(ones, {"mask": torch.ones(3, dtype=torch.int64)})
through(ones)
through(-ones)
shared(torch.ones(3, dtype=torch.float64))
for sign, dtype in ((1, torch.float32), (-1, torch.float32), (1, torch.float64)):
    part_of_a_list(sign * ones, [torch.ones(3), torch.ones(3, dtype=dtype)])
    part_of_a_dict(sign * ones, types.SimpleNamespace(d={"c": torch.ones(3), "x": torch.ones(3, dtype=dtype)}))
gives_up(ones, torch.ones(3))
gives_up(-ones, torch.ones(3))
gives_up(ones, torch.ones(3, dtype=torch.float64))
for _ in range(120):
    often(ones, ones)
for size in range(1, 120):
    changing(ones, torch.ones(size))

gc.disable()
y = torch.ones(7)
known = weakref.ref(y)
nothing_kept(ones, y)
del y
print(known() is None, sys.gettrace())
"""


@pytest.fixture(scope="module")
def observed(tmp_path_factory: pytest.TempPathFactory) -> Observed:
    folder = tmp_path_factory.mktemp("starts")
    script = folder / "program.py"
    script.write_text(PROGRAM, encoding="utf-8")
    return observe(script, folder / "journal", values=True)


def line_of(marker: str) -> int:
    return next(i for i, line in enumerate(PROGRAM.split("\n"), 1) if f"# LINE {marker}" in line)


def at(observed: Observed, marker: str) -> list[dict[str, Any]]:
    """The observations of whole runs of a line."""
    return [note for note in observed.notes("observation", line=line_of(marker)) if note["how"] != "resumed"]


def counted(observed: Observed, note: dict[str, Any]) -> int:
    return max(int(count["count"]) for count in observed.notes("observed", id=note["id"]))


def test_the_program_is_left_alone(observed: Observed) -> None:
    assert (observed.status, observed.stdout.split()[0], observed.stderr) == (0, "True", "")
    assert observed.notes("problem") == []


@pytest.mark.parametrize(("marker", "name"), [("one_side", "y"), ("helper", "b"), ("captured", "y")])
def test_every_call_is_seen(observed: Observed, marker: str, name: str) -> None:
    notes = at(observed, marker)
    assert all(note["unguarded"] == [] for note in notes)
    dtypes = {note["values"][name]["tensor"]["dtype"] for note in notes}
    assert dtypes == {"float32", "float64"}


def test_a_call_from_outside_compiled_code_is_seen(observed: Observed) -> None:
    seen = {(note["how"], note["values"]["x"]["tensor"]["dtype"]) for note in at(observed, "shared")}
    assert seen == {("traced", "float32"), ("eager", "float64")}


def test_a_function_inlined_into_one_that_dynamo_gives_up_is_seen_by_itself(observed: Observed) -> None:
    notes = at(observed, "inner")
    assert all(note["unguarded"] == [] for note in notes)
    assert {note["values"]["y"]["tensor"]["dtype"] for note in notes} == {"float32", "float64"}


def test_runs_are_counted(observed: Observed) -> None:
    by_dtype = {note["values"]["y"]["tensor"]["dtype"]: counted(observed, note) for note in at(observed, "one_side")}
    assert by_dtype == {"float32": 2, "float64": 2}


def test_a_name_that_is_bound_anew_is_not_what_it_was_at_the_start(observed: Observed) -> None:
    notes = at(observed, "rebound")
    assert {note["values"]["y"]["tensor"]["dtype"] for note in notes} == {"float64"}


def test_items_of_a_container_are_seen(observed: Observed) -> None:
    notes = at(observed, "items")
    masks = {dict(note["values"]["batch"]["items"])["mask"]["tensor"]["dtype"] for note in notes}
    assert masks == {"float32", "int64"}
    assert all(note["unguarded"] == [] for note in notes)


def test_what_an_argument_leads_to_is_seen_in_every_call(observed: Observed) -> None:
    notes = at(observed, "paths")
    dtypes = {note["values"]["holder.scale"]["tensor"]["dtype"] for note in notes}
    assert dtypes == {"float32", "float64", "float16"}, "the last of them in another thread"
    assert all(note["unguarded"] == [] for note in notes)


def test_an_object_that_has_two_names_may_have_changed_under_the_other(observed: Observed) -> None:
    told = ["second" in note["values"] and "second" not in note["unguarded"] for note in at(observed, "two_names")]
    assert sorted(told) == [False, True]


def test_what_the_function_changed_before_is_not_what_it_was_at_the_start(observed: Observed) -> None:
    (note,) = at(observed, "changed")
    known = {name: value for name, value in note["values"].items() if name not in note["unguarded"]}
    held = [value for name in ("self.parts", "self.cache") for _, value in known.get(name, {}).get("items", ())]
    held += [known[name] for name in ("self.child.scale", "self.buffer") if name in known]
    assert held != []
    assert {value["tensor"]["dtype"] for value in held} == {"float64"}


def test_a_function_that_starts_often_is_read_at_first_only(observed: Observed) -> None:
    assert [note["runs"] for note in observed.notes("settled", line=line_of("often"))] == [100]
    assert not observed.notes("settled", line=line_of("one_side"))


@pytest.mark.parametrize(("marker", "name"), [("part_of_a_list", "ls"), ("part_of_a_dict", "o.d")])
def test_items_that_no_guard_holds_are_not_known(observed: Observed, marker: str, name: str) -> None:
    for note in at(observed, marker):
        assert name in note["unguarded"] or "items" not in note["values"][name]


def test_facts_that_keep_changing_do_not_cover_the_run(observed: Observed) -> None:
    assert observed.notes("unwatched", line=line_of("changing"))
    assert not observed.notes("unwatched", line=line_of("one_side"))
