"""Check, count and time a few rewrites on a GPU, and print one table. Started by gpu_check.sh.

    python benchmarks/gpu_check.py [--seconds N] [--device cuda] [--backend inductor]

Each target is compared with its rewritten version on the device, its graphs are counted, and both are timed in turns.
--device cpu tries the script itself. Exits 1 when a rewrite is not found equal, 2 where there is no such device.
"""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch
from golden_check import GOLDEN, Case, job_of

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.analysis.project import load
from gbfix.analysis.source import parse
from gbfix.codemods import all_rules
from gbfix.engine.model import Finding
from gbfix.engine.passes import fix_text
from gbfix.equivalence.host import not_tested
from gbfix.equivalence.model import Job, Settings, Status, Target, Verdict
from gbfix.equivalence.pool import run_jobs
from gbfix.evidence.model import ArgumentsSeen

EXAMPLES = GOLDEN.parent / "examples"
CASES = (
    "tensor_value_branch/if_else",
    "tensor_value_ternary/assigned",
    "guarded_masked_fill/half_precision",
    "mixed_condition_branch/clamp_infinities_of_half",
    "branch_around_call/keyword_arguments",
)
SECONDS_PER_TARGET = 120.0
ROW = "| {:47} | {:10} | {:5} | {:8} | {:21} | {:9} |"


def main() -> int:
    """Check what there is time for, and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seconds", type=float, default=360.0, help="no target is begun later than this")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--backend", default="inductor")
    options = parser.parse_args()
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        print("PyTorch finds no CUDA device here: nothing was checked.", file=sys.stderr)
        return 2
    settings = Settings(
        backend=options.backend,
        device=options.device,
        examples=60,
        compiled_examples=2,
        seconds=SECONDS_PER_TARGET,
        bench=True,
    )
    print(machine(options.device, options.backend))
    print(ROW.format("target", "verdict", "sides", "graphs", "time after / before", "kernels"))
    print(ROW.format("-" * 47, "-" * 10, "-" * 5, "-" * 8, "-" * 21, "-" * 9))
    verdicts = []
    for verdict in checked(options.seconds, settings):
        verdicts.append(verdict)
        print(row(verdict), flush=True)
    print()
    for verdict in verdicts:
        print(f"{verdict.target}: {verdict.reason}")
    return 0 if all(verdict.status is Status.EQUAL for verdict in verdicts) else 1


def checked(seconds: float, settings: Settings) -> Iterator[Verdict]:
    """One verdict for each target. One at a time: the timing wants the device for itself."""
    until = time.monotonic() + seconds
    with tempfile.TemporaryDirectory(prefix="gbfix-gpu-") as scratch:
        for job in jobs(Path(scratch).resolve(), settings):
            if time.monotonic() > until:
                yield not_tested(job, f"not begun: the other targets took {seconds:g} s")
                continue
            yield from (verdict for _, verdict in run_jobs([job], 1))


def jobs(scratch: Path, settings: Settings) -> list[Job]:
    """The example of a branch on a number, rewritten by the rules of now; and golden cases."""
    found = [_example(EXAMPLES / "scalar_branch.py", "double_or_shift", scratch / "example", settings)]
    for number, name in enumerate(CASES):
        folder = scratch / str(number)
        folder.mkdir()
        found.append(job_of(Case(name, "safe", GOLDEN / name), folder, settings))
    return found


def _example(source: Path, function: str, folder: Path, settings: Settings) -> Job:
    before = source.read_text()
    after = fix_text(before, _findings).after
    assert after != before, f"no rule rewrites {source}"
    folder.mkdir()
    file = folder / source.name
    file.write_text(before)
    argument = ValueSpec("tensor", "torch.Tensor", TensorSpec("float32", ("s0",), (1,)))
    target = Target(f"examples/{source.stem}", str(file), source.stem, str(folder), function)
    return Job(target, {str(file): before}, {str(file): after}, (ArgumentsSeen({"x": argument}),), settings=settings)


def _findings(text: str) -> Sequence[Finding]:
    view = load([parse("program.py", text)]).view("program.py")
    return [finding for rule in all_rules() for finding in rule.find(view)]


def machine(device: str, backend: str) -> str:
    """What the table was measured with."""
    name = platform.processor() or platform.machine()
    if device.startswith("cuda"):
        name = f"{torch.cuda.get_device_name(device)}, CUDA {torch.version.cuda}"
    return f"{name}; torch {torch.__version__}, Python {platform.python_version()}, backend {backend}\n"


def row(verdict: Verdict) -> str:
    """One line of the table."""
    sides = "".join("no" if branch.missing else "both" for branch in verdict.branches[:1]) or "-"
    graphs = kernels = ratio = "-"
    if verdict.original and verdict.rewritten:
        graphs = f"{verdict.original.graphs} -> {verdict.rewritten.graphs}"
    bench = verdict.bench
    if bench:
        ratio = f"{bench.ratio:.2f} ({bench.low:.2f} to {bench.high:.2f})"
        kernels = f"{_number(bench.original.kernels)} -> {_number(bench.rewritten.kernels)}"
    return ROW.format(verdict.target, verdict.status.value, sides, graphs, ratio, kernels)


def _number(kernels: int | None) -> str:
    return "?" if kernels is None else str(kernels)


if __name__ == "__main__":
    sys.exit(main())
