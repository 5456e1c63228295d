from __future__ import annotations

import json

from cli_project import CLEAN, REFUSED, SAFE, UNSAFE, Project


def test_a_finding_is_reported_with_its_place_and_exit_1(project: Project) -> None:
    project.write("choose.py", SAFE)
    done = project.gbfix("scan")
    assert done.code == 1
    assert "choose.py:7:5  GBF101 tensor-value-branch   safe" in done.out
    assert done.out.splitlines()[-1] == "1 file, 1 compiled function: 1 finding (1 safe to fix)"
    assert done.err == ""
    assert project.read("choose.py") == SAFE


def test_nothing_found_is_exit_0(project: Project) -> None:
    project.write("clean.py", CLEAN)
    done = project.gbfix("scan", "clean.py")
    assert (done.code, done.out, done.err) == (0, "1 file, 1 compiled function: nothing found\n", "")


def test_for_another_torch(project: Project) -> None:
    project.write("choose.py", SAFE)
    assert project.gbfix("scan", "--torch", "2.11").code == 1
    done = project.gbfix("scan", "--torch", "newest")
    assert (done.code, done.err) == (
        2,
        "error: torch: 'newest' is not a version of PyTorch; write for example 2.11\n",
    )
    project.write("pyproject.toml", '[tool.gbfix]\ntorch = "2.5"\n')
    assert "2.5 is too old" in project.gbfix("scan").err


def test_nothing_is_run_with_torch_where_no_rule_asks(project: Project) -> None:
    project.write("choose.py", SAFE)
    cache = project.root / "cache"
    assert project.gbfix("scan", env={"XDG_CACHE_HOME": str(cache)}).code == 1
    assert not cache.exists()


def test_exit_zero(project: Project) -> None:
    project.write("choose.py", SAFE)
    assert project.gbfix("scan", "--exit-zero").code == 0
    project.write("broken.py", "def f(:\n")
    assert project.gbfix("scan", "--exit-zero").code == 2


def test_every_safety_is_counted_and_files_are_sorted(project: Project) -> None:
    project.write("c.py", SAFE)
    project.write("b.py", UNSAFE)
    project.write("a.py", REFUSED)
    done = project.gbfix("scan")
    places = [line.split(":")[0] for line in done.out.splitlines() if "GBF101" in line]
    assert places == ["a.py", "b.py", "c.py"]
    assert "3 findings (1 safe to fix, 1 unsafe to fix, 1 refused)" in done.out


def test_output_is_the_same_from_run_to_run(project: Project) -> None:
    for name in "abcd":
        project.write(f"{name}.py", SAFE + REFUSED.replace("def f", "def g"))
    runs = {project.gbfix("scan", env={"PYTHONHASHSEED": seed}).out for seed in ("0", "1", "2")}
    assert len(runs) == 1


def test_select_and_ignore(project: Project) -> None:
    project.write("choose.py", SAFE)
    assert project.gbfix("scan", "--select", "GBF1").code == 1
    assert project.gbfix("scan", "--select", "tensor-value-branch").code == 1
    assert project.gbfix("scan", "--ignore", "GBF101,GBF102").code in (0, 2)
    assert project.gbfix("scan", "--ignore", "GBF101").code == 0


def test_exclude_adds_to_the_configuration(project: Project) -> None:
    project.write("pyproject.toml", '[tool.gbfix]\nexclude = ["old.py"]\n')
    project.write("old.py", SAFE)
    project.write("new.py", SAFE)
    project.write("choose.py", SAFE)
    done = project.gbfix("scan", "--exclude", "new.py")
    assert [line.split(":")[0] for line in done.out.splitlines() if "GBF101" in line] == ["choose.py"]


def test_a_library_without_a_compile_call_needs_assume_compiled(project: Project) -> None:
    module = (
        "import torch\nfrom torch import nn\n\n\nclass M(nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        "        if x.sum() > 0:\n            x = x * 2.0\n        else:\n            x = x + 1.0\n        return x\n"
    )
    project.write("m.py", module)
    done = project.gbfix("scan")
    assert done.code == 0
    assert "--assume-compiled" in done.out
    assert "m.py:7:9  GBF101" in project.gbfix("scan", "--assume-compiled").out


def test_unused_suppressions_are_reported_when_every_rule_runs(project: Project) -> None:
    project.write("clean.py", CLEAN.replace("x + 1.0", "x + 1.0  # gbfix: ignore[GBF101]"))
    assert "clean.py:6: note: this suppression comment silences nothing" in project.gbfix("scan").out
    assert "silences nothing" not in project.gbfix("scan", "--ignore", "GBF101").out


def test_a_suppressed_finding_is_not_reported(project: Project) -> None:
    project.write("choose.py", SAFE.replace("> 0:", "> 0:  # gbfix: ignore[GBF101]"))
    done = project.gbfix("scan")
    assert (done.code, "GBF101" in done.out, "silences nothing" in done.out) == (0, False, False)


def test_json(project: Project) -> None:
    project.write("choose.py", UNSAFE)
    project.write("broken.py", "def f(:\n")
    done = project.gbfix("scan", "--output-format", "json")
    assert done.code == 2
    document = json.loads(done.out)
    assert document["version"] == 1
    (file,) = document["files"]
    (finding,) = file["findings"]
    assert (file["path"], finding["code"], finding["safety"]) == ("choose.py", "GBF101", "unsafe")
    assert (finding["span"]["line"], finding["span"]["column"]) == (7, 4)
    assert "assumed" in {obligation["discharge"] for obligation in finding["obligations"]}
    assert finding["fix"]["replacements"]
    assert document["problems"] == [line.removeprefix("error: ") for line in done.err.splitlines()]
    assert document["summary"]["unsafe"] == 1


def test_stdin(project: Project) -> None:
    done = project.gbfix("scan", "-", stdin=SAFE)
    assert done.code == 1
    assert "<stdin>:7:5  GBF101" in done.out


def test_paths_are_relative_to_the_current_folder(project: Project) -> None:
    project.write("package/choose.py", SAFE)
    project.write("other/choose.py", SAFE)
    done = project.gbfix("scan", ".", "../other", folder="package")
    places = [line.split(":")[0] for line in done.out.splitlines() if "GBF101" in line]
    assert sorted(places) == sorted(["choose.py", str(project.root / "other/choose.py")])
