from __future__ import annotations

import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.engine.model import WriteError
from gbfix.equivalence.check import check
from gbfix.equivalence.given import example_of_arguments
from gbfix.equivalence.model import (
    CheckError,
    CountedCall,
    Counts,
    Exercised,
    Job,
    Settings,
    Status,
    Target,
    Tolerance,
    Verdict,
)
from gbfix.equivalence.recipes import arguments_source
from gbfix.equivalence.write_test import test_source as source_of
from gbfix.equivalence.write_test import write_test
from gbfix.evidence.model import ArgumentsSeen

HEADER = "import torch\nfrom torch import nn\n\n\n"
OLD = """def scaled(x):
    return x * 2


# What to do with x.
def step(x: torch.Tensor, n: int = 2) -> torch.Tensor:
    '''One step.

    Signs are kept.
    '''
    if x.sum() > 0:  # most of the time
        return scaled(x) + n
    return scaled(x) - n
"""
NEW = OLD.replace(
    """    if x.sum() > 0:  # most of the time
        return scaled(x) + n
    return scaled(x) - n
""",
    """    return torch.where(x.sum() > 0, scaled(x) + n, scaled(x) - n)
""",
)


def job(
    folder: Path, name: str = "step", *, old: str = OLD, new: str = NEW, module: str = "model", **given: Any
) -> Job:
    """The job for a file whose new version lies on disk."""
    file = folder / f"{module.replace('.', '/')}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(HEADER + new)
    target = Target(f"{module}:{name}", str(file), module, str(folder), name, given.pop("factory", ""))
    settings = given.pop("settings", Settings(examples=4))
    return Job(target, {str(file): HEADER + old}, {str(file): HEADER + new}, settings=settings, **given)


def equal(*calls: str, counts: Counts | None = None, training: bool | None = None) -> Verdict:
    """A verdict with counts of calls with these tensors: x = ..."""
    counted = tuple(CountedCall(f"x = {call}", "x", training) for call in calls or ("torch.ones(2)", "torch.zeros(2)"))
    counts = counts or Counts(1, fullgraph=True)
    return Verdict("t", Status.EQUAL, "", exercised=Exercised(gradients=1), rewritten=counts, counted=counted)


def run_tests(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-q", "-W", "ignore", *arguments]
    return subprocess.run(
        [sys.executable, "-m", "pytest", *options], cwd=folder, capture_output=True, text=True, check=False
    )


def formatted(file: Path) -> bool:
    """Whether ruff format, with its own defaults, would leave the file as it is."""
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--check", "--diff", str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode in (0, 1), result.stderr
    print(result.stdout)
    return result.returncode == 0


def test_what_a_check_found_equal_passes_as_it_is(tmp_path: Path) -> None:
    the_job = job(tmp_path, settings=Settings(examples=12, compiled_examples=2))
    verdict = check(the_job)
    assert verdict.status is Status.EQUAL, verdict.reason
    write_test([(the_job, verdict)], tmp_path / "test_step.py")
    assert formatted(tmp_path / "test_step.py")
    result = run_tests(tmp_path)
    assert result.returncode == 0, result.stdout
    assert "2 passed" in result.stdout


BROKEN = {
    "value": ("scaled(x) - n)", "scaled(x) - n - 1)", "value of result"),
    "dtype": ("scaled(x) - n)", "scaled(x) - n).double()", "dtype of result"),
    "print": ("    return torch.where", "    print(1)\n    return torch.where", "stdout: '1\\n' (new)"),
    "gradient": ("scaled(x) - n)", "(scaled(x) - n).detach())", "gradient of x"),
    "graph_break": (
        "    return torch.where",
        "    x = x * 1\n    torch._dynamo.graph_break()\n    return torch.where",
        "gives 2 graphs, not 1",
    ),
    "recompile": (
        "    return torch.where",
        "    if x.shape[0] == 4:\n        x = x * 1\n    return torch.where",
        "2 recompilations, not 1",
    ),
}


def test_it_fails_when_the_new_function_is_broken_by_hand(tmp_path: Path) -> None:
    for name, (intact, broken, _) in BROKEN.items():
        the_job = job(tmp_path, module=f"model_{name}", settings=Settings(examples=60))
        calls = ("torch.ones(2)", "torch.ones(3)", "torch.ones(4)")
        verdict = equal(*calls, counts=Counts(1, recompiles_shapes=1, fullgraph=True))
        write_test([(the_job, verdict)], tmp_path / f"test_{name}.py")
        text = Path(the_job.target.file).read_text()
        assert intact in text
        Path(the_job.target.file).write_text(text.replace(intact, broken))
    result = run_tests(tmp_path)
    failures = result.stdout.split("short test summary info")[1]
    for name, (_, _, expected) in BROKEN.items():
        assert f"FAILED test_{name}.py" in failures
        assert expected in result.stdout


MODULE_OLD = """class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        x = self.linear(x)
        return x if x.sum() > 0 else -x


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x)


def make_net():
    return Net()
"""
MODULE_NEW = MODULE_OLD.replace("return x if x.sum() > 0 else -x", "return torch.where(x.sum() > 0, x, -x)")


def test_modules_methods_and_factories(tmp_path: Path) -> None:
    (tmp_path / "factory.py").write_text("from model import Net\n\n\ndef make():\n    return Net()\n")
    verdict = equal("torch.ones(2, 3)", "torch.ones(4, 3)", training=True, counts=Counts(1, recompiles_shapes=1))
    kinds = [("Block", ""), ("Net.forward", ""), ("Net", "make_net"), ("Net", "factory:make")]
    jobs = [job(tmp_path, name, factory=factory, old=MODULE_OLD, new=MODULE_NEW) for name, factory in kinds]
    file = tmp_path / "test_modules.py"
    write_test([(each, verdict) for each in jobs], file)
    text = file.read_text()
    assert formatted(file)
    assert 'return {"Block": Block, "Net": Net}' in text
    assert 'NET_ARGUMENTS = st.tuples(tensors("n", 3, requires_grad=None))' in text
    result = run_tests(tmp_path)
    assert result.returncode == 0, result.stdout
    assert "12 passed" in result.stdout
    Path(jobs[0].target.file).write_text(HEADER + MODULE_NEW.replace("self.calls += 1", "self.calls += 2"))
    result = run_tests(tmp_path, "-k", "model_net_2 and True")  # the one whose factory is elsewhere
    assert "1 failed" in result.stdout
    assert "value of state self.block.calls: 1 (old), 2 (new)" in result.stdout


def test_the_old_program_is_kept_word_for_word_with_what_reaches_the_change(tmp_path: Path) -> None:
    old = '''import math
import torch.nn.functional as F
from . import sibling
from .deeper.names import LIMIT as MOST
try:
    import numpy as np
except ImportError:
    np = None

SCALE = 2.0
TABLE = {"changed": lambda x: changed(x)}


def unchanged(x):
    return x * SCALE


@torch.no_grad()
def changed(x):  # and why
    """Says.

    Indented.
    """
    text = """
 kept
"""
    text = f"""
 {text}
"""
    y = unchanged(F.relu(x)) + math.pi + MOST + sibling.ONE + np.float32(1)
    return (y, __name__, text) if x.sum() > 0 else (-y, __name__, text)


def between(x):
    return TABLE["changed"](x)


def other(x):
    return between(x)


def step(x):
    return between(x)
'''
    new = old.replace("(y, __name__, text) if x.sum() > 0 else (-y, __name__, text)", "(y, 1)")
    source = source_of(job(tmp_path, old=old, new=new, module="package.inner.model"), equal())
    program = source.partition("# fmt: off\n")[2].partition("    # fmt: on")[0]
    assert 'TABLE = {"changed"' in program
    assert "    def changed(x):  # and why\n" in program
    assert '        """Says.\n\n        Indented.\n        """\n        text = """\n kept\n"""\n' in program
    assert 'text = f"""\n {text}\n"""\n' in program
    assert "def between" in program
    assert "def step" in program
    assert "def other" not in program
    assert "def unchanged" not in program
    imports = source.partition('before."""\n')[2].partition("    # fmt: off")[0]
    assert [line.strip() for line in imports.splitlines() if line] == [
        "import math",
        "import torch",
        "import torch.nn.functional as F",
        "from package.inner import sibling",
        "from package.inner.deeper.names import LIMIT as MOST",
        "from package.inner.model import np, unchanged",
        '__name__ = "package.inner.model"',
    ]


def test_long_names_are_laid_out(tmp_path: Path) -> None:
    names = [f"a_long_name_of_a_constant_{i}" for i in range(4)]
    constants = "".join(f"{name} = {i}\n" for i, name in enumerate(names))
    old = f"{constants}def a_{'very_' * 12}long_step(x):\n    return x * 2 + {' + '.join(names)}\n"
    the_job = job(tmp_path, f"a_{'very_' * 12}long_step", old=old, new=old.replace("x * 2", "2 * x"))
    file = tmp_path / "test_long.py"
    write_test([(the_job, equal())], file)
    assert formatted(file)
    assert "    from model import (\n        a_long_name_of_a_constant_0,\n" in file.read_text()


def test_inputs_come_from_recorded_calls_and_read_well(tmp_path: Path) -> None:
    def call(rows: int, n: int) -> ArgumentsSeen:
        x = ValueSpec("tensor", tensor=TensorSpec("float16", (rows, 4), (4, 1)))
        mask = ValueSpec("tensor", tensor=TensorSpec("bool", (rows,), (1,)))
        return ArgumentsSeen({"x": x, "mask": mask, "n": ValueSpec("int", "int", value=str(n))})

    old = "def step(x, mask, n, *, flag: bool = False):\n    return x * n if mask.any() else x\n"
    new = old.replace("x * n if mask.any() else x", "torch.where(mask.any(), x * n, x)")
    seen = (call(2, 3), call(5, 7))
    text = source_of(job(tmp_path, old=old, new=new, seen=seen), replace(equal(), counted=()))
    assert '"x": tensors("n", 4, dtype=torch.float16, requires_grad=None),' in text
    assert '"mask": tensors("n", dtype=torch.bool),' in text
    assert '"n": st.sampled_from([3, 7' in text
    assert '"flag": st.booleans(),' in text
    assert "# Arguments: x, mask, n, flag\n" in text
    assert "assert_graphs" not in text


def test_the_users_own_inputs_are_used(tmp_path: Path) -> None:
    (tmp_path / "our_inputs.py").write_text(
        "import torch\n\n\ndef calls():\n    return [(torch.ones(2),), (-torch.ones(3), 4)]\n"
    )
    file = tmp_path / "test_step.py"
    the_job = job(tmp_path, inputs="our_inputs:calls")
    examples = [example_of_arguments(each) for each in [(torch.ones(2),), ((-torch.ones(3),), {"n": 4})]]
    counted = tuple(CountedCall(*arguments_source(example, (), "cpu")) for example in examples)
    verdict = replace(equal(counts=Counts(1, recompiles_shapes=1)), counted=counted)
    write_test([(the_job, verdict)], file)
    text = file.read_text()
    assert "assert_equivalent(old_step, new_step, step_inputs, examples=50)" in text
    assert "x = torch.tensor([1.0, 1.0], dtype=torch.float32)\n    calls.append((x,))\n" in text
    assert "calls.append(((x,), dict(n=4)))" in text
    assert formatted(file)
    result = run_tests(tmp_path)
    assert result.returncode == 0, result.stdout
    large = CountedCall(*arguments_source(example_of_arguments((torch.ones(999),)), (), "cpu"))
    assert "assert_graphs" not in source_of(the_job, replace(verdict, counted=(large,)))


def test_a_gpu_test_is_marked_and_skipped_without_a_gpu(tmp_path: Path) -> None:
    settings = Settings(device="cuda", backend="inductor", tolerance=Tolerance(1e-5, 0.0))
    file = tmp_path / "test_gpu.py"
    calls = CountedCall("x = torch.ones(2)", "x")
    verdict = replace(equal(), counted=(calls,))
    module = job(tmp_path, "Net", old=MODULE_OLD, new=MODULE_NEW, settings=settings)
    step = job(tmp_path, module="other", settings=settings)
    write_test([(step, verdict), (module, equal("torch.ones(2, 3)"))], file)
    text = file.read_text()
    assert formatted(file)
    assert 'backend="inductor", tolerance=(1e-05, 0.0))' in text
    assert 'device="cuda"' in text
    assert 'new = NewNet().to("cuda")' in text
    result = run_tests(tmp_path, "--strict-markers", "-m", "gpu")
    assert "5 skipped" in result.stdout or "5 passed" in result.stdout, result.stdout


def test_the_folder_of_the_program_is_found_from_a_folder_of_tests(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    file = tmp_path / "tests" / "test_step.py"
    write_test([(job(tmp_path / "src"), equal())], file)
    assert 'Path(__file__).resolve().parent / "../src"' in file.read_text()
    assert formatted(file)
    assert run_tests(tmp_path, "tests").returncode == 0


def refused(folder: Path, reason: str, **given: Any) -> None:
    with pytest.raises(CheckError, match=reason) as caught:
        source_of(job(folder, **given), equal())
    assert "no test can be written" in str(caught.value)


def test_what_cannot_be_kept_is_refused_with_the_reason(tmp_path: Path) -> None:
    def changed(old: str) -> dict[str, str]:
        return {"old": old, "new": old.replace("* 2", "* 3")}

    refused(tmp_path, "same text", new=OLD)
    refused(
        tmp_path, "sets a global, COUNT", **changed("COUNT = 0\ndef step(x):\n    global COUNT\n    COUNT = x * 2\n")
    )
    rebound = "COUNT = 0\ndef more():\n    global COUNT\n    COUNT += 1\ndef step(x):\n    return x * 2 + COUNT\n"
    refused(tmp_path, "COUNT is set anew", **changed(rebound))
    refused(tmp_path, "nothing .* defines missing", **changed("def step(x):\n    return x * 2 + missing\n"))
    refused(tmp_path, "not simply defined", **changed("if True:\n    def step(x):\n        return x * 2\n"))
    refused(
        tmp_path,
        "does not reach by name",
        **changed("def other(x):\n    return x * 2\ndef step(x):\n    return x.f()\n"),
    )
    registry = "class R:\n    def add(self, f):\n        return f\nR1 = R()\n@R1.add\ndef step(x):\n    return x * 2\n"
    refused(tmp_path, "an object that the new version uses, too", **changed(registry))
    refused(tmp_path, "no name at the top", name="step.<locals>.inner")
    refused(tmp_path, "factory make:step is in another file", factory="make:step")


def test_a_rewrite_of_several_files_is_refused(tmp_path: Path) -> None:
    the_job = job(tmp_path)
    other = str(tmp_path / "other.py")
    the_job = replace(
        the_job, original={**the_job.original, other: "A = 1"}, rewritten={**the_job.rewritten, other: "A = 2"}
    )
    with pytest.raises(CheckError, match=r"changes other files, too: .*other\.py"):
        source_of(the_job, equal())


def test_only_what_was_found_equal_is_kept(tmp_path: Path) -> None:
    with pytest.raises(CheckError, match="the check says different"):
        source_of(job(tmp_path), replace(equal(), status=Status.DIFFERENT))


def test_a_file_of_somebody_else_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "test_mine.py"
    file.write_text("mine = 1\n")
    with pytest.raises(WriteError, match="was not written by gbfix"):
        write_test([(job(tmp_path), equal())], file)
    assert file.read_text() == "mine = 1\n"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(WriteError, match="it is no text"):
        write_test([(job(tmp_path), equal())], file)
    with pytest.raises(WriteError, match="does not exist"):
        write_test([(job(tmp_path), equal())], tmp_path / "missing" / "test_mine.py")


def test_a_written_file_is_written_anew_and_whole(tmp_path: Path) -> None:
    file = tmp_path / "test_step.py"
    write_test([(job(tmp_path), equal())], file)
    first = file.read_text()
    write_test([(job(tmp_path), equal("torch.ones(7)"))], file)
    assert file.read_text() != first
    with pytest.raises(CheckError):
        write_test([(job(tmp_path), equal()), (job(tmp_path, new=OLD), equal())], file)
    assert "torch.ones(7)" in file.read_text()
    assert [each.name for each in tmp_path.iterdir() if each.name.startswith(".gbfix")] == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_write_permission_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(WriteError, match="cannot be written"):
        write_test([(job(tmp_path), equal())], folder / "test_step.py")
