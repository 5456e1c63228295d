from __future__ import annotations

import dataclasses
import math
import pickle
import subprocess
import sys
from dataclasses import asdict, field, replace
from pathlib import Path

import pytest

from gbfix.engine.dataclass import dataclass


@dataclass(frozen=True)
class Point:
    """A place."""

    x: float
    y: float = 0.0
    notes: list[str] = field(default_factory=list, compare=False)


@dataclass(frozen=True)
class Named(Point):
    """A place with a name."""

    name: str = "here"


@dataclass
class Changing:
    """What is not frozen has no hash."""

    value: int


@dataclass(frozen=True, order=True)
class Ordered:
    """Compared in the order of its fields."""

    first: int
    second: int = 0


@dataclass(frozen=True, eq=False)
class Same:
    """Equal to itself only."""

    value: int


@dataclass(frozen=True)
class Checked:
    """Looks at what it is made of, and is shown in its own way."""

    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("negative")

    def __repr__(self) -> str:
        return f"<{self.value}>"


def test_objects_are_made_compared_and_shown_as_those_of_the_standard_library() -> None:
    assert repr(Named(1.0)) == "Named(x=1.0, y=0.0, notes=[], name='here')"
    assert Point(1.0, notes=["a"]) == Point(1.0, notes=["b"])
    assert hash(Point(1.0)) == hash(Point(1.0))
    assert Point(1.0) != Named(1.0)
    assert Point(1.0) != (1.0, 0.0)
    assert Point(math.nan) != Point(-math.nan * 2)
    one = Point(math.nan)
    assert one == replace(one)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Named()  # type: ignore[call-arg]


def test_each_option_means_what_it_means_in_the_standard_library() -> None:
    assert sorted({Ordered(2), Ordered(1, 1), Ordered(1)}) == [Ordered(1), Ordered(1, 1), Ordered(2)]
    assert len({Same(1), Same(1)}) == 2
    assert Changing(1) == Changing(1)
    with pytest.raises(TypeError, match="unhashable"):
        hash(Changing(1))
    with pytest.raises(ValueError, match="negative"):
        Checked(-1)
    assert repr(Checked(1)) == "<1>"


def test_the_tools_of_the_standard_library_work() -> None:
    assert dataclasses.is_dataclass(Named)
    assert [one.name for one in dataclasses.fields(Named)] == ["x", "y", "notes", "name"]
    assert asdict(replace(Named(1.0), name="there")) == {"x": 1.0, "y": 0.0, "notes": [], "name": "there"}


def test_a_class_is_whole_where_its_first_object_was_not_made() -> None:
    """A process that only receives objects makes none by the constructor."""
    program = (
        "import pickle, sys; from dataclasses import asdict, replace; from test_engine_dataclass import Named, Same\n"
        "one, again, same = (pickle.loads(sys.stdin.buffer.read(n)) for n in map(int, sys.argv[1:]))\n"
        "assert one == again and hash(one) == hash(again) and asdict(one)['x'] == 1.0\n"
        "assert replace(one, x=2.0).x == 2.0\n"
        "match same:\n    case Same(value):\n        print(one, value)"
    )
    data = [pickle.dumps(one) for one in (Named(1.0), Named(1.0), Same(3))]
    sizes = [str(len(one)) for one in data]
    command = [sys.executable, "-c", program, *sizes]
    done = subprocess.run(command, input=b"".join(data), capture_output=True, cwd=Path(__file__).parent, check=False)
    assert done.stdout.decode() == "Named(x=1.0, y=0.0, notes=[], name='here') 3\n", done.stderr.decode()
