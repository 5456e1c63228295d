"""Many files, long files, deep programs, and bytes that no editor writes: the others go on, and each is named."""

from __future__ import annotations

import os
import subprocess

import pytest
from cli_project import CLEAN, SAFE, Project
from killing import gbfix

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

DEPTH = 3000
CHAIN = 500
"""Links of what Python reads at any length; the time grows with its square."""
DEEP = {
    "brackets": "x = " + "(" * DEPTH + "1" + ")" * DEPTH + "\n",
    "lists": "x = " + "[" * DEPTH + "]" * DEPTH + "\n",
    "signs": "x = " + "-" * CHAIN + "1\n",
    "sum": "x = " + " + ".join(["1"] * CHAIN) + "\n",
    "powers": "x = " + " ** ".join(["1"] * DEPTH) + "\n",
    "attributes": "x = y" + ".a" * CHAIN + "\n",
    "calls": "x = y" + "()" * CHAIN + "\n",
    "items": "x = y" + "[0]" * CHAIN + "\n",
    "lambdas": "x = " + "lambda: " * DEPTH + "1\n",
    "choices": "x = " + "1 if y else " * CHAIN + "1\n",
    "not": "x = " + "not " * CHAIN + "y\n",
    "elifs": "if x:\n    pass\n" + "elif x:\n    pass\n" * CHAIN,
    "ifs": "".join(" " * level + "if x:\n" for level in range(DEPTH)) + " " * DEPTH + "pass\n",
    "functions": "".join(" " * level + "def f():\n" for level in range(90)) + " " * 90 + "pass\n",
    "texts": "x = f'" + "{f'" * 150 + "'}" * 150 + "'\n",
}

COMPLETE = {
    "crlf.py": SAFE.replace("\n", "\r\n").encode(),
    "bom.py": b"\xef\xbb\xbf" + SAFE.encode(),
    "bom_and_cookie.py": b"\xef\xbb\xbf# coding: utf-8\n" + SAFE.encode(),
    "latin.py": b"# coding: latin-1\nname = '\xe9'\n" + SAFE.encode(),
    "cyrillic.py": "# -*- coding: koi8-r -*-\nname = 'ж'\n".encode("koi8-r") + SAFE.encode(),
    "form_feed.py": SAFE.replace("@torch.compile", "\f\n@torch.compile").encode(),
    "no_newline.py": SAFE.rstrip("\n").encode(),
    "blank_end.py": SAFE.encode() + b"\n\n   \n\t\n",
    "tabs.py": SAFE.replace("    ", "\t").encode(),
    "separators.py": b"name = '\xe2\x80\xa8\xc2\x85'  # \xe2\x80\xa9\n" + SAFE.encode(),
    "mixed.py": SAFE.replace("\n", "\r\n", 4).encode(),
}
"""Files that can be fixed; what is not of the fix stays byte for byte."""

LEFT_OUT = {
    "null.py": (SAFE.encode() + b"\0", "null byte"),
    "lone_return.py": (SAFE.replace("\n", "\r").encode(), "carriage return without line feed"),
    "unknown_cookie.py": (b"# coding: klingon\n" + SAFE.encode(), "unknown encoding"),
    "bom_and_other_cookie.py": (b"\xef\xbb\xbf# coding: latin-1\n" + SAFE.encode(), "encoding problem"),
    "utf16.py": (SAFE.encode("utf-16"), "null byte"),
    "latin_without_cookie.py": (b"name = '\xe9'\n" + SAFE.encode(), "byte 0xe9 is not utf-8"),
}


@pytest.mark.parametrize("kind", DEEP)
def test_a_deep_program(project: Project, kind: str) -> None:
    """It is looked at and fixed, or named with a reason; what Python itself cannot compile may be refused."""
    text = DEEP[kind] + SAFE
    project.write("deep.py", text)
    project.write("good.py", SAFE)
    done = gbfix(project.root, "apply")
    assert "torch.where" in project.read("good.py")
    assert done.code in (0, 2), done
    if done.code == 2:
        (line,) = done.err.splitlines()
        assert line.startswith("error: deep.py:")
        assert "internal error" not in line
        assert project.read("deep.py") == text
    else:
        assert project.read("deep.py") == DEEP[kind] + project.read("good.py")


def test_bytes_outside_of_the_fix_stay_and_what_is_left_out_is_named(project: Project) -> None:
    for name, data in COMPLETE.items():
        project.write(name, data)
    for name, (data, _) in LEFT_OUT.items():
        project.write(name, data)
    project.commit()
    done = gbfix(project.root, "apply")
    assert done.code == 2
    lines = {line.split(":")[1].strip(): line for line in done.err.splitlines()}
    assert {*lines} == {*LEFT_OUT}
    for name, (data, reason) in LEFT_OUT.items():
        assert reason in lines[name]
        assert (project.root / name).read_bytes() == data
    for name, data in COMPLETE.items():
        after = (project.root / name).read_bytes()
        start = data.index(b"if x.sum()")
        end = data.index(b"return z")
        assert after[:start] == data[:start], name
        assert after.endswith(data[end:]), name
        assert after[start:].startswith(b"z = torch.where(x.sum() > 0, x * 2.0, x + 1.0)")
    status = subprocess.run(["git", "diff", "--numstat"], cwd=project.root, capture_output=True, check=True).stdout
    assert {line.split(b"\t")[0] for line in status.splitlines()} == {b"1"}
    assert gbfix(project.root, "undo").code == 0
    assert all((project.root / name).read_bytes() == data for name, data in COMPLETE.items())


def test_a_long_generated_file(project: Project) -> None:
    """Three megabytes that only hold data, with something to fix behind it."""
    rows = "".join(f"    ({number}, 'name {number}', [{number}.5, None]),\n" for number in range(20_000))
    text = f"TABLE = [\n{rows}]\nBLOB = '{'x' * 2_000_000}'\n{SAFE}"
    project.write("long.py", text)
    done = gbfix(project.root, "scan")
    assert (done.code, done.err) == (1, "")
    assert "long.py:" in done.out


def test_many_files(project: Project) -> None:
    for number in range(1500):
        project.write(f"package_{number % 50}/module_{number}.py", "x = 1\n" if number % 50 else CLEAN)
    project.write("package_7/broken.py", "def (:\n")
    project.write("package_7/good.py", SAFE)
    done = gbfix(project.root, "apply")
    assert done.code == 2
    assert done.err.startswith("error: package_7/broken.py:1: not valid Python")
    assert "1501 files" in done.out
    assert "torch.where" in project.read("package_7/good.py")
