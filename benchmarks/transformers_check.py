"""Show what gbfix does on the transformers library: scan it, fix two models, and compare them before and after.

    python benchmarks/transformers_check.py [--work FOLDER]

Builds a scratch environment with torch, transformers and the gbfix of this repository, then checks that

1. `gbfix scan --assume-compiled` over every model of the library ends without a problem;
2. `gbfix apply --dry-run` proposes the finite check of DETR's encoder layer and the half-precision clamp of BART's,
   as a patch that `git apply` turns into the very files that `gbfix apply` writes (both with --unsafe, so that a fix
   that assumes something is tried too: the third check tells whether it was right);
3. tiny layers with random weights give the same bits before and after, eagerly and compiled, outputs and gradients,
   on both sides of each branch, and now fit into one graph;
4. `gbfix check` finds both layers equal with generated inputs, both sides of the branch reached, and fewer breaks.

Needs git, a package index and some minutes; downloads no weights. With --work, a second run reuses the environment.
Exits 1 when anything does not hold.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LAYERS = Path(__file__).with_name("transformers_layers.py")
TORCH = "torch==2.13.0"
TRANSFORMERS = "transformers==5.24.0"
SECONDS = 3600.0
"""No command may take longer."""
SCAN_BYTES = 8 * 2**30
"""The scan may not use more address space, so that a mistake in it does not take the machine with it."""
BRANCHES = {
    "models/detr/modeling_detr.py": "if not torch.isfinite(hidden_states).all():",
    "models/bart/modeling_bart.py": (
        "if hidden_states.dtype == torch.float16 and not torch.isfinite(hidden_states).all():"
    ),
}
"""The branch that must be gone from each file, which has it once."""
BROKEN = {"detr float32 train", "bart float16 train", "bart float16 eval"}
"""The settings whose layers reach such a branch; in the others it is decided by `training` or the dtype."""


class CheckError(Exception):
    """Something that the check itself needs could not be done; the text says what."""


@dataclass(frozen=True)
class Environment:
    """A scratch environment."""

    bin: Path
    library: Path
    """The folder of the installed transformers package."""


@dataclass(frozen=True)
class Ended:
    """A command that came to its end."""

    code: int
    stdout: bytes
    stderr: str
    seconds: float
    peak_mebibytes: float


@dataclass
class Report:
    """Prints claims as they are decided, and remembers whether all hold."""

    failed: list[str] = field(default_factory=list)

    def claim(self, text: str, holds: bool) -> None:
        """Print a claim and whether it holds."""
        print(f"  {'ok    ' if holds else 'FAILED'}  {text}", flush=True)
        if not holds:
            self.failed.append(text)

    def say(self, text: str = "") -> None:
        """Print something that is no claim."""
        print(text, flush=True)


def main() -> int:
    """Run all checks and give the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="keep the scratch environment in this folder")
    chosen: Path | None = parser.parse_args().work
    with tempfile.TemporaryDirectory() as scratch:
        work = (chosen or Path(scratch)).resolve()
        try:
            return _check(work)
        except CheckError as error:
            print(f"transformers_check: {error}", file=sys.stderr)
            return 2


def _check(work: Path) -> int:
    report = Report()
    report.say(f"Scratch environment: {TORCH}, {TRANSFORMERS}, gbfix")
    environment = build_environment(work)
    check_scan(environment, report)
    rewritten = check_patches(environment, fresh_folder(work / "repository"), report)
    copy = fresh_folder(work / "rewritten")
    check_layers(environment, rewritten, copy, report)
    check_equivalence(environment, copy, report)
    report.say(f"\n{len(report.failed)} failed" if report.failed else "\nall hold")
    return 1 if report.failed else 0


def build_environment(work: Path) -> Environment:
    """Make or complete the scratch environment. Raises CheckError when something cannot be installed."""
    folder = work / "environment"
    if not folder.exists():
        must(run([sys.executable, "-m", "venv", folder]))
    programs = folder / "bin"
    work.joinpath("constraints.txt").write_text(f"{TORCH}\n")
    install: list[str | Path] = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    must(run([*install, TORCH, "numpy"]))
    must(run([*install, "--no-deps", TRANSFORMERS]))
    # The constraint keeps every requirement from replacing torch.
    must(run([*install, "--constraint", work / "constraints.txt", *requirements(programs / "python")]))
    must(run([*install, copy_of_repository(fresh_folder(work / "gbfix"))]))
    return Environment(programs, Path(ask(programs / "python", "transformers.__path__[0]", "transformers")))


def requirements(python: Path) -> list[str]:
    """What the installed transformers needs, without its extras."""
    declared: list[str] = json.loads(
        ask(python, "json.dumps(importlib.metadata.requires('transformers'))", "importlib.metadata, json")
    )
    return [line for line in declared if "extra ==" not in line]


def ask(python: Path, expression: str, modules: str) -> str:
    """The value of an expression in another interpreter."""
    return must(run([python, "-c", f"import {modules}; print({expression})"])).stdout.decode().strip()


def copy_of_repository(folder: Path) -> Path:
    """The files of this repository as they stand, so that installing leaves nothing behind here."""
    listed = must(run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT)).stdout
    for name in filter(None, os.fsdecode(listed).split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    return folder


def fresh_folder(folder: Path) -> Path:
    """An empty folder at this path."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def check_scan(environment: Environment, report: Report) -> None:
    """Scan every model, and print what was found and what it took."""
    report.say("\n1. gbfix scan --assume-compiled over models/")
    options = ["--assume-compiled", "--output-format", "json"]
    ended = run([environment.bin / "gbfix", "scan", *options, "models"], environment.library, memory=SCAN_BYTES)
    report.claim("it ends with findings (exit status 1)", ended.code == 1)
    if not ended.stdout:
        report.claim(f"it prints a report ({ended.stderr.strip()[-500:] or 'killed'})", False)
        return
    found = json.loads(ended.stdout)
    report.claim(f"no problems ({len(found['problems'])})", not found["problems"])
    for problem in found["problems"]:
        report.say(f"          {problem}")
    summary = found["summary"]
    report.say(f"  {summary['files']} files, {summary['compiled_functions']} compiled functions")
    report.say(f"  {ended.seconds:.0f} s, peak memory {ended.peak_mebibytes:.0f} MiB")
    report.say(table_of_findings(entry for file in found["files"] for entry in file["findings"]))


def table_of_findings(findings: Iterable[Mapping[str, Any]]) -> str:
    """Counts by rule and safety."""
    counts = Counter((f"{entry['code']} {entry['name']}", entry["safety"]) for entry in findings)
    rules = sorted({rule for rule, _ in counts})
    lines = [f"  {'':32}{'safe':>8}{'unsafe':>8}{'refused':>8}"]
    for rule in rules:
        lines.append(f"  {rule:32}" + "".join(f"{counts[rule, safety]:8}" for safety in ("safe", "unsafe", "refused")))
    return "\n".join(lines)


def check_patches(environment: Environment, repository: Path, report: Report) -> dict[str, bytes]:
    """Fix the two models in a scratch git repository, and give their new contents."""
    report.say("\n2. gbfix apply --assume-compiled on two models")
    for name in BRANCHES:
        (repository / name).parent.mkdir(parents=True)
        shutil.copyfile(environment.library / name, repository / name)
    git(repository, "init", "--quiet")
    git(repository, "add", ".")
    git(repository, "-c", "user.name=check", "-c", "user.email=check@localhost", "commit", "--quiet", "-m", "original")
    return {name: check_patch(environment, repository, name, report) for name in BRANCHES}


def check_patch(environment: Environment, repository: Path, name: str, report: Report) -> bytes:
    """Fix one file by patch and by `gbfix apply`, and give its new contents."""
    apply: list[str | Path] = [environment.bin / "gbfix", "apply", "--assume-compiled", "--unsafe", "--exit-zero"]
    proposed = must(run([*apply, "--dry-run", name], cwd=repository))
    patch = proposed.stdout
    report.say(without_proved(proposed.stderr))
    report.say(patch.decode().rstrip())
    before = (repository / name).read_bytes()
    (repository / "patch").write_bytes(patch)
    applied = run(["git", "apply", "patch"], cwd=repository)
    by_patch = (repository / name).read_bytes()
    (repository / name).write_bytes(before)
    must(run([*apply, name], cwd=repository))
    after = (repository / name).read_bytes()
    second = must(run([*apply, "--dry-run", name], cwd=repository)).stdout
    branch = BRANCHES[name].encode()
    report.claim(f"{name}: the branch is rewritten", branch in before and branch not in after)
    report.claim(f"{name}: the patch applies with git apply", applied.code == 0)
    report.claim(f"{name}: the patch gives what gbfix apply writes", by_patch == after)
    report.claim(f"{name}: a second run changes nothing", not second)
    return after


def without_proved(text: str) -> str:
    """The report of an apply, without the obligations that nobody has to look at."""
    return "\n".join(line for line in text.rstrip().splitlines() if not line.startswith("  proved "))


def git(repository: Path, *arguments: str) -> None:
    """Run git there. Raises CheckError when it fails."""
    must(run(["git", *arguments], cwd=repository))


def check_layers(environment: Environment, rewritten: Mapping[str, bytes], copy: Path, report: Report) -> None:
    """Run the layers of the installed library and of a copy with the rewritten files, and compare."""
    report.say("\n3. tiny layers before and after")
    shutil.copytree(environment.library, copy / environment.library.name, ignore=shutil.ignore_patterns("__pycache__"))
    for name, contents in rewritten.items():
        (copy / environment.library.name / name).write_bytes(contents)
    before = observations(environment, environment.library.parent)
    after = observations(environment, copy)
    report.say(f"  {'':30}{'not finite':>24}{'graphs':>12}{'one graph':>16}   same bits")
    for old, new in zip(before, after, strict=True):
        report.say(row(old, new, differences(old, new)))
    check_differences(before, after, report)
    check_sides(before, report)
    check_graphs(before, after, report)


def observations(environment: Environment, path: Path) -> list[dict[str, Any]]:
    """What the layers of the package under `path` do. Raises CheckError when another package was imported."""
    variables = {"PYTHONPATH": str(path), "HF_HUB_OFFLINE": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    printed = json.loads(must(run([environment.bin / "python", LAYERS], variables=variables)).stdout)
    strangers = [file for file in printed["files"] if not Path(file).is_relative_to(path)]
    if strangers:
        raise CheckError(f"imported {strangers[0]}, not the package under {path}")
    found: list[dict[str, Any]] = printed["observations"]
    return found


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """What differs between two observations of one case, each as one line; nothing when every bit is the same."""
    lines = []
    for mode in ("eager", "compiled"):
        old, new = before[mode], after[mode]
        lines += [f"{mode}: {name}" for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return lines


def row(before: Mapping[str, Any], after: Mapping[str, Any], different: Sequence[str]) -> str:
    """One case on one line."""
    reached = f"{before['not_finite_before_check']} -> {before['not_finite_in_output']}"
    graphs = f"{before['graphs']} -> {after['graphs']}"
    whole = " -> ".join("yes" if side["in_one_graph"] else "no" for side in (before, after))
    return f"  {case_name(before):30}{reached:>24}{graphs:>12}{whole:>16}   {'no' if different else 'yes'}"


def case_name(observation: Mapping[str, Any]) -> str:
    """The setting and the values of one case."""
    return f"{observation['setting']} {observation['values']}"


def check_differences(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], report: Report) -> None:
    """Claim equality, and name what differs."""
    lines = [
        f"{case_name(old)}: {line}" for old, new in zip(before, after, strict=True) for line in differences(old, new)
    ]
    report.claim("outputs, gradients and random state are the same to the bit, eager and compiled", not lines)
    for line in lines:
        report.say(f"          {line}")


def check_sides(before: Sequence[Mapping[str, Any]], report: Report) -> None:
    """Claim that each branch was taken and not taken: values before it were and were not finite."""
    for setting in sorted(BROKEN):
        here = [case for case in before if case["setting"] == setting]
        report.claim(f"{setting}: not taken on finite values", any(not c["not_finite_before_check"] for c in here))
        clamped = [c for c in here if c["not_finite_before_check"] and not c["not_finite_in_output"]]
        report.claim(f"{setting}: taken, and infinities clamped", bool(clamped))


def check_graphs(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]], report: Report) -> None:
    """Claim fewer graphs where there was a branch, and as many elsewhere."""
    broken = {case["setting"] for case in before if not case["in_one_graph"]}
    report.claim(f"before, these break: {', '.join(sorted(BROKEN))}", broken == BROKEN)
    report.claim("after, every layer fits into one graph", all(case["in_one_graph"] for case in after))
    report.claim("no case has more graphs", all(n["graphs"] <= o["graphs"] for o, n in zip(before, after, strict=True)))
    total = [sum(case["graphs"] for case in cases) for cases in (before, after)]
    report.claim(f"fewer graphs: {total[0]} before, {total[1]} after", total[1] < total[0])


def check_equivalence(environment: Environment, copy: Path, report: Report) -> None:
    """Have `gbfix check` compare each layer of the installed library with that of the rewritten copy."""
    report.say("\n4. gbfix check, original and rewritten")
    for name in BRANCHES:
        layer = Path(name).parent.name
        target = f"{environment.library / name}:{layer.title()}EncoderLayer"
        options = ["--rewritten", copy / environment.library.name / name, "--output-format", "json", "--rerun"]
        options += ["--factory", f"transformers_targets:{layer}", "--inputs", f"transformers_targets:{layer}_calls"]
        variables = {"PYTHONPATH": str(LAYERS.parent), "HF_HUB_OFFLINE": "1"}
        ended = run([environment.bin / "gbfix", "check", target, *options], copy, variables)
        if not ended.stdout:
            raise CheckError(f"gbfix check gave no report: {ended.stderr.strip()[-500:]}")
        (verdict,) = json.loads(ended.stdout)["verdicts"]
        report.say(f"  {layer}: {verdict['status']}, {verdict['reason']}")
        for branch in verdict["branches"]:
            text = " ".join(branch["condition"]["text"].split())
            report.say(f"    {text}: true {branch['true']}, false {branch['false']}")
        old, new = verdict["original"], verdict["rewritten"]
        for what, figures in (("graphs", (old["graphs"], new["graphs"])), ("breaks", _lengths(old, new))):
            report.say(f"    {what}: {figures[0]} before, {figures[1]} after")
        report.claim(f"{layer}: equal, both sides reached", verdict["status"] == "equal")
        report.claim(f"{layer}: the break is gone", _lengths(old, new) == (1, 0))
        report.claim(
            f"{layer}: fits into one graph after and not before", (old["fullgraph"], new["fullgraph"]) == (False, True)
        )


def _lengths(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[int, int]:
    return len(old["breaks"]), len(new["breaks"])


def run(
    command: Sequence[str | Path],
    cwd: Path | None = None,
    variables: Mapping[str, str] | None = None,
    memory: int | None = None,
) -> Ended:
    """Run a command to its end and measure it alone: `wait4` tells the peak memory of one process.

    It is killed after SECONDS; `memory` limits its address space, in bytes.
    """
    limit = partial(resource.setrlimit, resource.RLIMIT_AS, (memory, memory)) if memory else None
    environ = {**os.environ, **(variables or {})}
    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            list(map(str, command)), cwd=cwd, env=environ, stdout=out, stderr=err, preexec_fn=limit
        )
        watchdog = threading.Timer(SECONDS, process.kill)
        watchdog.start()
        _, status, usage = os.wait4(process.pid, 0)
        watchdog.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        out.seek(0)
        err.seek(0)
        return Ended(process.returncode, out.read(), err.read().decode(errors="replace"), seconds, _mebibytes(usage))


def _mebibytes(usage: resource.struct_rusage) -> float:
    return usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 2**20


def must(ended: Ended) -> Ended:
    """The same, or CheckError with the end of its messages when the command failed."""
    if ended.code != 0:
        raise CheckError("a command failed:\n" + "\n".join(ended.stderr.splitlines()[-20:]))
    return ended


if __name__ == "__main__":
    sys.exit(main())
