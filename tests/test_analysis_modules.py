import pytest

from gbfix.analysis.modules import Modules

FILES = [
    "main.py",
    "p/__init__.py",
    "p/m.py",
    "p/q/__init__.py",
    "p/q/n.py",
    "x/u.py",
    "y/u.py",
    "y/only.py",
    "p/copy.py",
]


@pytest.mark.parametrize(
    ("importer", "dotted", "expected"),
    [
        ("main.py", "p", ("p/__init__.py", ())),
        ("main.py", "p.m", ("p/m.py", ())),
        ("main.py", "p.m.f", ("p/m.py", ("f",))),
        ("main.py", "p.f.g", ("p/__init__.py", ("f", "g"))),
        ("main.py", "p.q.n.f", ("p/q/n.py", ("f",))),
        ("p/m.py", ".q.n", ("p/q/n.py", ())),
        ("p/m.py", ".f", ("p/__init__.py", ("f",))),
        ("p/q/n.py", "..m.f", ("p/m.py", ("f",))),
        ("p/q/n.py", ".f", ("p/q/__init__.py", ("f",))),
        ("p/q/n.py", "...main.f", ("main.py", ("f",))),
        ("p/__init__.py", ".m", ("p/m.py", ())),
        ("x/a.py", "u.f", ("x/u.py", ("f",))),
        ("y/a.py", "u.f", ("y/u.py", ("f",))),
        ("z/a.py", "u.f", None),
        ("z/a.py", "only.f", ("y/only.py", ("f",))),
        ("p/m.py", "copy.copy", None),
        ("p/m.py", ".copy.f", ("p/copy.py", ("f",))),
        ("main.py", "torch.nn", None),
        ("main.py", "numpy", None),
        ("x/a.py", ".missing.f", None),
        ("main.py", "", None),
    ],
)
def test_resolve(importer: str, dotted: str, expected: tuple[str, tuple[str, ...]] | None) -> None:
    assert Modules(FILES, lambda *_: False).resolve(importer, dotted) == expected


def test_a_name_that_the_package_binds_hides_the_module() -> None:
    modules = Modules(FILES, lambda path, name: (path, name) == ("p/__init__.py", "m"))
    assert modules.resolve("main.py", "p.m") == ("p/__init__.py", ("m",))
    assert modules.resolve("p/__init__.py", ".m") == ("p/m.py", ())
