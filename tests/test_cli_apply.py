from __future__ import annotations

import json
import subprocess
import sysconfig
from pathlib import Path

import pytest
from cli_project import CLEAN, REFUSED, SAFE, UNSAFE, Project


def test_a_safe_fix_is_written(project: Project) -> None:
    project.write("choose.py", SAFE)
    project.commit()
    done = project.gbfix("apply")
    assert done.code == 0
    assert "torch.where" in project.read("choose.py")
    assert "1 file, 1 compiled function: 1 fix applied in 1 file" in done.out
    assert "`gbfix undo` takes it back" in done.out


def test_a_second_run_changes_nothing(project: Project) -> None:
    project.write("choose.py", SAFE)
    project.commit()
    project.gbfix("apply")
    after = project.read("choose.py")
    done = project.gbfix("apply", "--allow-dirty")
    assert (done.code, project.read("choose.py")) == (0, after)
    assert done.out == "1 file, 1 compiled function: nothing to do\n"


def test_dry_run_in_a_pipe_prints_exactly_the_patch_that_apply_writes(project: Project) -> None:
    project.write("safe.py", SAFE)
    project.write("unsafe.py", UNSAFE)
    project.write("package/refused.py", REFUSED)
    project.commit()
    done = project.gbfix("apply", "--dry-run")
    assert done.code == 1
    assert project.git("diff", "--quiet").code == 0
    assert project.git("apply", stdin=done.out.encode()).code == 0
    by_patch = {name: project.read(name) for name in ("safe.py", "unsafe.py", "package/refused.py")}
    project.git("checkout", "--quiet", ".")
    project.gbfix("apply")
    assert {name: project.read(name) for name in by_patch} == by_patch
    assert by_patch["unsafe.py"] == UNSAFE
    assert by_patch["safe.py"] != SAFE


def test_dry_run_tells_the_reasons_and_shows_suggestions_on_standard_error(project: Project) -> None:
    project.write("safe.py", SAFE)
    project.write("unsafe.py", UNSAFE)
    project.write("refused.py", REFUSED)
    done = project.gbfix("apply", "--dry-run")
    assert "unsafe.py" not in done.out
    assert "safe.py:7:5  GBF101 tensor-value-branch   safe" in done.err
    assert "unsafe.py:7:5  GBF101 tensor-value-branch   unsafe (only a suggestion, not applied)" in done.err
    assert "+    z = torch.where(" in done.err
    assert "refused.py:7:5  GBF101 tensor-value-branch   refused" in done.err
    for word in ("proved", "assumed", "violated", "advice"):
        assert f"\n  {word} " in done.err
    assert "1 fix would be applied in 1 file, 1 unsafe fix not applied (--unsafe applies them), 1 refused" in done.err


def test_obligations_stand_in_columns(project: Project) -> None:
    project.write("safe.py", SAFE)
    lines = project.gbfix("apply", "--dry-run").err.splitlines()
    rows = [line for line in lines if line.startswith("  proved ")]
    assert len(rows) > 1
    assert all(row[12] != " " and row[11] == " " for row in rows)
    reasons = {row.rindex("  ") + 2 for row in rows}
    assert len(reasons) == 1


def test_unsafe_adds_the_suggestions_to_the_patch(project: Project) -> None:
    project.write("unsafe.py", UNSAFE)
    project.commit()
    done = project.gbfix("apply", "--dry-run", "--unsafe")
    assert project.git("apply", stdin=done.out.encode()).code == 0
    assert "torch.where" in project.read("unsafe.py")
    assert "  assumed " in done.err


def test_without_unsafe_the_suggestion_remains_and_the_exit_code_tells(project: Project) -> None:
    project.write("unsafe.py", UNSAFE)
    done = project.gbfix("apply")
    assert (done.code, project.read("unsafe.py")) == (1, UNSAFE)
    assert project.gbfix("apply", "--exit-zero").code == 0
    assert project.gbfix("apply", "--unsafe").code == 0
    assert project.read("unsafe.py") != UNSAFE


def test_unsafe_by_configuration(project: Project) -> None:
    project.write("pyproject.toml", "[tool.gbfix]\nunsafe = true\n")
    project.write("unsafe.py", UNSAFE)
    assert project.gbfix("apply").code == 0
    assert project.read("unsafe.py") != UNSAFE


def test_dry_run_from_a_folder_inside_gives_paths_from_the_repository(project: Project) -> None:
    project.write("package/choose.py", SAFE)
    done = project.gbfix("apply", "--dry-run", folder="package")
    assert done.out.startswith("diff --git a/package/choose.py b/package/choose.py\n")
    assert "\nchoose.py:7:5  GBF101" in "\n" + done.err


@pytest.mark.parametrize(
    "data",
    [
        SAFE.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SAFE.encode(),
        SAFE.rstrip("\n").encode(),
        SAFE.replace("    ", "\t").encode(),
        ("# -*- coding: latin-1 -*-\n" + SAFE.replace("def f", "# \xe9t\xe9\ndef f")).encode("latin-1"),
        ("# \u00e9\u6f22\n" + SAFE).encode(),
    ],
    ids=["crlf", "bom", "no-final-newline", "tabs", "latin-1", "utf-8"],
)
@pytest.mark.parametrize("name", ["choose.py", "a b.py", "\u00e9.py"])
def test_the_patch_and_the_written_file_agree_in_every_byte(project: Project, data: bytes, name: str) -> None:
    path = project.write(name, data)
    project.git("config", "core.autocrlf", "false")
    project.commit()
    process = [str(Path(sysconfig.get_path("scripts")) / "gbfix"), "apply", "--dry-run"]
    patch = subprocess.run(process, cwd=project.root, capture_output=True, check=False).stdout
    assert project.git("apply", stdin=patch).code == 0
    by_patch = path.read_bytes()
    project.git("checkout", "--quiet", ".")
    assert project.gbfix("apply").code == 0
    assert path.read_bytes() == by_patch != data


def test_patch_file(project: Project) -> None:
    project.write("choose.py", SAFE)
    project.commit()
    done = project.gbfix("apply", "--patch", "fixes.patch")
    assert (done.code, project.read("choose.py")) == (1, SAFE)
    assert project.read("fixes.patch") == project.gbfix("apply", "--dry-run").out
    assert "torch.where" in done.out
    assert project.git("apply", "fixes.patch").code == 0


def test_patch_file_that_cannot_be_written(project: Project) -> None:
    project.write("choose.py", SAFE)
    done = project.gbfix("apply", "--patch", "missing/fixes.patch")
    assert done.code == 2
    assert done.err == "error: missing/fixes.patch: the patch cannot be written: No such file or directory\n"


def test_a_file_with_uncommitted_changes_is_left_alone_and_others_are_done(project: Project) -> None:
    project.write("dirty.py", SAFE)
    project.write("tidy.py", SAFE)
    project.commit()
    changed = SAFE + "\n\nA = 1\n"
    project.write("dirty.py", changed)
    done = project.gbfix("apply")
    assert done.code == 2
    assert "dirty.py: has uncommitted changes" in done.err
    assert project.read("dirty.py") == changed
    assert "torch.where" in project.read("tidy.py")
    assert "1 fix applied in 1 file" in done.out
    assert project.gbfix("apply", "--allow-dirty").code == 0
    assert "torch.where" in project.read("dirty.py")


def test_stdin_to_stdout(project: Project) -> None:
    done = project.gbfix("apply", "-", stdin=SAFE)
    assert done.code == 0
    assert "torch.where" in done.out
    compile(done.out, "result", "exec")
    assert "GBF101" in done.err
    assert project.gbfix("apply", "-", stdin=CLEAN.replace("\n", "\r\n")).out == CLEAN.replace("\n", "\r\n")


def test_stdin_that_is_not_python_gives_no_output(project: Project) -> None:
    done = project.gbfix("apply", "-", stdin="def f(:\n")
    assert (done.code, done.out) == (2, "")
    assert "error: <stdin>:1: not valid Python" in done.err


def test_stdin_beside_a_path_is_an_error(project: Project) -> None:
    done = project.gbfix("apply", "-", "x.py")
    assert done.code == 2
    assert done.err.startswith('error: "-" (standard input) cannot be combined')


def test_stdin_dry_run_prints_the_patch(project: Project) -> None:
    assert project.gbfix("apply", "-", "--dry-run", stdin=SAFE).out.startswith("diff --git")


def test_json(project: Project) -> None:
    project.write("safe.py", SAFE)
    project.write("unsafe.py", UNSAFE)
    plain = project.gbfix("apply", "--dry-run")
    done = project.gbfix("apply", "--dry-run", "--output-format", "json")
    document = json.loads(done.out)
    assert document["patch"] == plain.out
    applied = {file["path"]: len(file["applied"]) for file in document["files"]}
    assert applied == {"safe.py": 1, "unsafe.py": 0}
    assert document["summary"]["applied"] == 1
    assert document["summary"]["unsafe"] == 1
    assert done.code == 1


def test_remaining_findings_stand_at_the_lines_of_the_file_on_disk(project: Project) -> None:
    project.write("both.py", SAFE + UNSAFE.removeprefix("import torch\n").replace("def f", "def g"))
    dry = project.gbfix("apply", "--dry-run").err
    line = next(line for line in dry.splitlines() if "unsafe (only" in line)
    assert line.startswith("both.py:17:5 ")
    written = project.gbfix("apply").out
    text = project.read("both.py").splitlines()
    line = next(line for line in written.splitlines() if "unsafe (only" in line)
    assert text[int(line.split(":")[1]) - 1] == "    if x.sum() > 0:"


def test_a_link_is_kept_and_the_patch_names_the_file_behind_it(project: Project) -> None:
    project.write("real.py", SAFE)
    (project.root / "link.py").symlink_to("real.py")
    project.commit()
    patch = project.gbfix("apply", "--dry-run", "link.py").out
    assert patch.startswith("diff --git a/real.py b/real.py\n")
    assert project.gbfix("apply", "link.py").code == 0
    assert (project.root / "link.py").is_symlink()
    assert "torch.where" in project.read("real.py")


def test_markup_in_a_program_is_printed_as_it_is(project: Project) -> None:
    project.write("choose.py", UNSAFE.replace("z = x * 2.0", "z = x * 2.0  # [int] [bold]"))
    assert "-        z = x * 2.0  # [int] [bold]" in project.gbfix("apply", "--dry-run").err


def test_outside_of_a_repository(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.write("choose.py", SAFE)
    done = project.gbfix("apply", "--dry-run")
    assert done.out.startswith("diff --git a/choose.py b/choose.py\n")
    assert project.gbfix("apply").code == 0
    assert project.gbfix("undo").out == "restored choose.py\n"
    assert project.read("choose.py") == SAFE


def test_in_another_folder_than_the_current_one(project: Project, tmp_path: Path) -> None:
    elsewhere = Project(tmp_path / "elsewhere")
    elsewhere.write("choose.py", SAFE)
    done = project.gbfix("apply", str(elsewhere.root))
    assert done.code == 0
    assert f"`gbfix undo` takes it back (run it in {elsewhere.root})" in done.out
    assert elsewhere.gbfix("undo").code == 0


def test_a_forgotten_patch_file_does_not_cost_a_source(project: Project) -> None:
    source = project.write("model.py", SAFE)
    before = source.read_bytes()
    ran = project.gbfix("apply", "--patch", "model.py")
    assert ran.code == 2
    assert "is no place for a patch" in ran.err
    assert source.read_bytes() == before
