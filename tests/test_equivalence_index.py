from __future__ import annotations

import re
from pathlib import Path

import gbfix.equivalence


def test_the_index_names_every_module_once() -> None:
    assert gbfix.equivalence.__doc__ is not None
    assert gbfix.equivalence.__file__ is not None
    named = re.findall(r"`([a-z_]+)`", gbfix.equivalence.__doc__)
    there = [path.stem for path in Path(gbfix.equivalence.__file__).parent.glob("*.py") if path.stem != "__init__"]
    assert sorted(named) == sorted(there)
