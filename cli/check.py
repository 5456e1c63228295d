"""`gbfix check`: show that the rewritten program is the same program."""

from __future__ import annotations

from gbfix.cli.apply import EvidenceFile, NoEvidence, Unsafe
from gbfix.cli.check_options import (
    Atol,
    Backend,
    BackendOption,
    BenchOption,
    CompiledExamples,
    Device,
    Dtype,
    Examples,
    ExitZeroOption,
    Factory,
    FromOverlay,
    InputsFrom,
    Jobs,
    Original,
    Output,
    Ray,
    ReportFormatOption,
    Rerun,
    Rewritten,
    Rtol,
    Seed,
    Targets,
    Timeout,
    WriteTest,
)
from gbfix.cli.failure import one_line_failures
from gbfix.cli.options import AssumeCompiled, Exclude, Ignore, Select
from gbfix.cli.report_format import ReportFormat


def check(
    targets: Targets = None,
    inputs: InputsFrom = "",
    factory: Factory = "",
    original: Original = None,
    rewritten: Rewritten = None,
    overlay: FromOverlay = False,
    unsafe: Unsafe = False,
    evidence_file: EvidenceFile = None,
    no_evidence: NoEvidence = False,
    select: Select = None,
    ignore: Ignore = None,
    exclude: Exclude = None,
    assume_compiled: AssumeCompiled = False,
    backend: BackendOption = Backend.EAGER,
    device: Device = "cpu",
    dtype: Dtype = None,
    examples: Examples = 100,
    compiled_examples: CompiledExamples = 12,
    rtol: Rtol = None,
    atol: Atol = None,
    seed: Seed = 0,
    timeout: Timeout = 300.0,
    jobs: Jobs = None,
    bench: BenchOption = False,
    write_test: WriteTest = None,
    ray: Ray = "",
    rerun: Rerun = False,
    output: Output = None,
    output_format: ReportFormatOption = ReportFormat.TEXT,
    exit_zero: ExitZeroOption = False,
) -> None:
    """Run a program before and after its fixes on the same inputs, and compare all that can be seen of it.

    The versions are what is on disk and what `gbfix apply` would write with the same options; where no fix is pending,
    what was there before the last apply and what is on disk. Exits 1 when they differ or something was not tested.
    """
    from gbfix.cli.check_find import Fixes, Recorded, check_installed, plan
    from gbfix.cli.check_options import Choices, check_choices, check_device, tolerance, workers
    from gbfix.cli.check_output import check_report_files, exit_with_code, print_report
    from gbfix.cli.check_plan import Wanted, nothing_to_check
    from gbfix.cli.check_run import Checks, write_tests
    from gbfix.cli.check_sources import Asked
    from gbfix.cli.choices import settings_with
    from gbfix.cli.evidence_target import project_root
    from gbfix.equivalence.model import Settings

    with one_line_failures():
        choices = Choices(
            tuple(targets or ()),
            factory,
            inputs,
            original,
            rewritten,
            overlay=overlay,
            unsafe=unsafe,
            selects=bool(select or ignore),
            bench=bench,
            jobs=jobs,
            ray=ray,
        )
        check_choices(choices)
        check_report_files(output, write_test)
        check_installed()
        root = project_root()
        settings = Settings(
            backend=backend.value,
            device=check_device(device),
            dtype=dtype.value if dtype else "",
            examples=examples,
            compiled_examples=min(compiled_examples, examples),
            tolerance=tolerance(rtol, atol),
            seed=seed,
            seconds=timeout,
            bench=bench,
            database=str(root / ".gbfix" / "hypothesis"),
        )
        rules = settings_with(select, ignore, exclude, assume_compiled)
        wanted = Wanted(settings, choices.targets, factory, inputs, Asked(original, rewritten, overlay))
        fixes = Fixes(rules, unsafe or rules.unsafe)
        plans = plan(wanted, fixes, Recorded(evidence_file, no_evidence), root)
        nothing = nothing_to_check(plans, wanted.versions, unsafe=fixes.unsafe)
        report = Checks(root, workers(jobs, settings), ray, rerun=rerun).run(plans)
        print_report(report, output_format, output, nothing=nothing)
        if write_test is not None:
            write_tests(report, plans, write_test)
        exit_with_code(report, exit_zero=exit_zero)
