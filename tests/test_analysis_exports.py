from gbfix.analysis.exports import Exports
from gbfix.analysis.modules import Modules
from gbfix.analysis.project import load
from gbfix.analysis.source import parse


def exports_of(files: dict[str, str]) -> Exports:
    project = load([parse(path, text) for path, text in files.items()])
    return Exports(project, Modules(files, lambda *_: False))


def test_names_come_through_stars() -> None:
    exports = exports_of(
        {"p/__init__.py": "from .a import *", "p/a.py": "from .b import *\nx = 1", "p/b.py": "y = 1\n_z = 1"}
    )
    assert exports.has("p/__init__.py", "x")
    assert exports.has("p/__init__.py", "y")
    assert not exports.has("p/__init__.py", "_z")
    assert not exports.has("p/__init__.py", "other")
    assert exports.has("p/b.py", "_z")


def test_a_star_from_outside_may_bring_any_name() -> None:
    exports = exports_of({"a.py": "from torch import *", "b.py": "from a import *"})
    assert exports.has("b.py", "sin")


def test_stars_in_a_circle() -> None:
    exports = exports_of({"a.py": "from b import *\nx = 1", "b.py": "from a import *\ny = 1"})
    assert exports.has("a.py", "y")
    assert exports.has("b.py", "x")
    assert not exports.has("a.py", "z")
