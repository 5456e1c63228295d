from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gbfix.engine.config import Settings, load_settings
from gbfix.engine.model import ConfigurationError


def test_every_key_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(
        '[tool.gbfix]\nselect = ["GBF1"]\nignore = ["GBF101", "x"]\nexclude = ["old/"]\nunsafe = true\n'
        "assume-compiled = true\nin-graph-asserts = true\ntorch = '2.11'\nmessages = 'drop'\n"
    )
    assert load_settings(tmp_path) == Settings(
        ("GBF1",), ("GBF101", "x"), ("old/",), True, True, True, path, "2.11", "drop"
    )


def test_defaults_without_file_without_table_and_with_an_empty_table(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").touch()
    assert load_settings(tmp_path) == Settings()
    path = tmp_path / "pyproject.toml"
    path.write_text('[tool.other]\nselect = ["x"]\n')
    assert load_settings(tmp_path) == Settings()
    path.write_text("[tool.gbfix]\n")
    assert load_settings(tmp_path) == Settings(path=path)


def test_the_nearest_table_above_a_file_counts(tmp_path: Path) -> None:
    file = tmp_path / "a" / "b" / "c.py"
    file.parent.mkdir(parents=True)
    file.touch()
    (tmp_path / "pyproject.toml").write_text('[tool.gbfix]\nselect = ["outer"]\n')
    (tmp_path / "a" / "b" / "pyproject.toml").write_text('[project]\nname = "b"\n')
    assert load_settings(file).select == ("outer",)
    (tmp_path / "a" / "pyproject.toml").write_text('[tool.gbfix]\nselect = ["inner"]\n')
    assert load_settings(file).select == ("inner",)
    assert load_settings(tmp_path / "a" / "none" / "such.py").select == ("inner",)


def test_the_search_ends_at_the_top_of_the_repository(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.gbfix]\nunsafe = true\n")
    inner = tmp_path / "repository" / "src"
    inner.mkdir(parents=True)
    assert load_settings(inner).unsafe
    subprocess.run(["git", "init", "--quiet"], cwd=inner.parent, check=True)
    assert not load_settings(inner).unsafe


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[tool.gbfix]\nselct = ["x"]\n', r"unknown key 'selct' in \[tool.gbfix\]; did you mean \"select\"\?"),
        (
            "[tool.gbfix]\nassume_compiled = true\n",
            r"unknown key 'assume_compiled'.*did you mean \"assume-compiled\"\?",
        ),
        ("[tool.gbfix]\nqqq = 1\n", r"unknown key 'qqq'.*known: select, ignore, exclude, unsafe, assume-compiled"),
        ("[tool.gbfix.sub]\nselect = []\n", r"unknown key 'sub'"),
        ('[tool.gbfix]\n"a\\nb" = 1\n', r"unknown key 'a\\nb'"),
        ('[tool.gbfix]\nselect = "GBF101"\n', r"tool.gbfix.select must be a list of strings, not a string"),
        ("[tool.gbfix]\nignore = [1]\n", r"tool.gbfix.ignore must hold strings only, not an integer"),
        ("[tool.gbfix]\nexclude = 2024-01-01\n", r"tool.gbfix.exclude must be a list of strings, not a date or time"),
        ("[tool.gbfix]\nunsafe = 1\n", r"tool.gbfix.unsafe must be true or false, not an integer"),
        ('[tool.gbfix]\nassume-compiled = "yes"\n', r"tool.gbfix.assume-compiled must be true or false, not a string"),
        ("[tool.gbfix]\ntorch = 2.11\n", r"tool.gbfix.torch must be a string, not a float"),
        ("[tool]\ngbfix = 3\n", r"tool.gbfix must be a table, not an integer"),
        ("[tool.gbfix\n", r"not valid TOML: .*line 1"),
    ],
)
def test_mistakes_name_the_file_and_the_key(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(content)
    with pytest.raises(ConfigurationError, match=message) as failure:
        load_settings(tmp_path)
    assert str(failure.value).startswith(f"{path}: ")
    assert "\n" not in str(failure.value)


def test_a_file_in_another_encoding_is_a_mistake_and_not_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_bytes(b'[tool.gbfix]\nselect = ["\xe9"]\n')
    with pytest.raises(ConfigurationError, match=r"not valid TOML: .*utf-8"):
        load_settings(tmp_path)
