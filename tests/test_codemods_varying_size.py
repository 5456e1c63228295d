"""Marks of sizes that a recorded run showed to change: where they stand, and where none helps."""

from __future__ import annotations

import re
import textwrap

import pytest
from recompiled import Sizes, recompiles_of, spec

from gbfix.analysis.project import load
from gbfix.analysis.recompiles import EntrySeen, Line, RecompileSeen
from gbfix.analysis.source import parse
from gbfix.codemods.varying_size import RULE
from gbfix.engine.model import Discharge, Finding, Result, Safety
from gbfix.engine.passes import fix_text

STEP = """\
import torch


@torch.compile
def step(batch):
    return batch * 2


"""
LENGTHS = Sizes("step", [{"batch": (4,)}, {"batch": (6,)}, {"batch": (8,)}], others={"compiles": 2})


def fixed(text: str, *sizes: Sizes, unsafe: bool = False, extra: str = "") -> Result:
    source = parse("program.py", text)
    files = [source, *([parse("other.py", extra)] if extra else [])]
    project = load(files, recompiles=recompiles_of(source, *(sizes or (LENGTHS,))))

    def find(current: str) -> list[Finding]:
        return list(RULE.find(project.with_file(parse("program.py", current)).view("program.py")))

    return fix_text(text, find, unsafe=unsafe)


def after(body: str, *sizes: Sizes, unsafe: bool = False) -> str:
    return fixed(STEP + textwrap.dedent(body), *sizes, unsafe=unsafe).after.removeprefix(STEP)


def refusals(text: str, *sizes: Sizes) -> list[str]:
    result = fixed(text, *sizes, unsafe=True)
    assert result.after == text
    assert all(finding.safety is Safety.REFUSED and finding.advice for finding in result.findings)
    return [finding.obligations[0].reason for finding in result.findings]


def test_documented_rewrite_is_what_happens() -> None:
    blocks = re.findall(r"^(?:Before|After):\n\n((?:    .*\n|\n)+)", RULE.documentation, re.MULTILINE)
    before, expected = (textwrap.dedent(block).strip("\n") + "\n" for block in blocks)
    assert after(before) == expected


def test_without_a_run_nothing_is_found() -> None:
    assert not list(RULE.find(load([parse("program.py", STEP + "step(torch.ones(3))\n")]).view("program.py")))


def test_a_new_name_for_what_is_no_name() -> None:
    assert after("def main(a):\n    return step(a + 1)\n") == (
        "def main(a):\n    batch = a + 1\n    torch._dynamo.maybe_mark_dynamic(batch, 0)\n    return step(batch)\n"
    )


def test_a_name_at_top_level_is_private() -> None:
    assert after("step(torch.ones(3))\n") == (
        "_batch = torch.ones(3)\ntorch._dynamo.mark_dynamic(_batch, 0)\nstep(_batch)\n"
    )


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("y = a.pop() + step(a[0] * 2)", id="something with an effect before"),
        pytest.param("y = x and step(x)", id="and"),
        pytest.param("y = 1 if x is None else step(x)", id="conditional expression"),
        pytest.param("y = [step(v) for v in a]", id="comprehension"),
        pytest.param("y = lambda: step(x)", id="lambda"),
        pytest.param("while step(x).sum() > 0: x = x - 1", id="while"),
        pytest.param("y = step(*a)", id="star"),
        pytest.param("y = step((x := a[0]))", id="walrus"),
        pytest.param("y = map(step, a)", id="handed on"),
    ],
)
def test_calls_before_which_no_mark_can_stand(call: str) -> None:
    assert refusals(STEP + f"def main(a, x):\n    {call}\n    return y\n")


def test_calls_of_calls_are_marked_from_the_inside() -> None:
    assert after("def main(a):\n    return step(step(a * 2))\n") == (
        "def main(a):\n"
        "    batch = a * 2\n"
        "    torch._dynamo.maybe_mark_dynamic(batch, 0)\n"
        "    batch_2 = step(batch)\n"
        "    torch._dynamo.maybe_mark_dynamic(batch_2, 0)\n"
        "    return step(batch_2)\n"
    )


def test_one_mark_serves_the_calls_that_follow() -> None:
    body = "def main(a):\n    b = step(a)\n    c = step(a)\n    a = c\n    return step(a)\n"
    result = after(body)
    assert result.count("mark_dynamic(a, 0)") == 2
    assert after(result) == result


def test_calls_in_compiled_code_are_none_of_its_own() -> None:
    body = "@torch.compile\ndef outer(x):\n    return step(x)\n\n\ndef main(x):\n    return step(x), outer(x)\n"
    result = fixed(STEP + body)
    assert result.after.count("mark_dynamic") == 1
    assert "    torch._dynamo.maybe_mark_dynamic(x, 0)\n    return step(x), outer(x)\n" in result.after


def test_calls_that_cannot_be_marked_are_said() -> None:
    text = STEP + "def main(a, x):\n    return [step(v) for v in a]\n\n\ndef other(x):\n    return step(x)\n"
    (finding,) = fixed(text).findings
    assert finding.safety is Safety.UNSAFE
    (open_one,) = (o for o in finding.obligations if o.discharge is Discharge.ASSUMED)
    assert (open_one.claim, open_one.line) == ("every call of it is marked", 10)


def test_both_tensors_that_change_together_are_marked() -> None:
    defined = "import torch\n\n\ndef add(x, y):\n    return x + y\n\n\nadd = torch.compile(add)\n\n\n"
    text = defined + "def main(a, b):\n    add(a, y=b)\n"
    sizes = Sizes("add", [{"x": (2, n), "y": (2, n)} for n in (4, 5)], compiled_at="torch.compile(")
    marks = "    torch._dynamo.maybe_mark_dynamic(a, 1)\n    torch._dynamo.maybe_mark_dynamic(b, 1)\n"
    assert fixed(text, sizes, unsafe=True).after == text.replace("    add(a", marks + "    add(a")


def test_several_dimensions_and_what_is_in_a_container() -> None:
    calls = [{"batch": {"x": (n, n + 1), "y": (3, 3)}} for n in (4, 6)]
    assert "    torch._dynamo.maybe_mark_dynamic(b['x'], [0, 1])\n" in after(
        "def main(b):\n    step(b)\n", Sizes("step", calls), unsafe=True
    )


def test_all_tensors_of_a_container() -> None:
    calls = [{"batch": [[(1, n, 8), (1, n, 8)], [(1, n, 8), (1, n, 8)]]} for n in (3, 4)]
    expected = (
        "def main(b):\n    for items in b:\n        for tensor in items:\n"
        "            torch._dynamo.maybe_mark_dynamic(tensor, 1)\n    step(b)\n"
    )
    assert after("def main(b):\n    step(b)\n", Sizes("step", calls), unsafe=True) == expected
    assert after(expected, Sizes("step", calls), unsafe=True) == expected


@pytest.mark.parametrize(
    "body", ["class A:\n    y = step(make())\n", "def main(a):\n    step(a + 1)\n    return locals()\n"]
)
def test_a_new_name_that_would_be_seen_is_not_made(body: str) -> None:
    assert refusals(STEP + body)


def test_a_compiled_attribute_and_a_module() -> None:
    text = textwrap.dedent("""\
        import torch


        class Trainer:
            def __init__(self, model):
                self.model = model
                self.step = torch.compile(self._step)

            def _step(self, x):
                return x + 1

            def run(self, x):
                return self.step(x)
        """)
    sizes = Sizes("Trainer._step", [{"x": (2,)}, {"x": (3,)}], compiled_at="torch.compile(")
    assert "        torch._dynamo.maybe_mark_dynamic(x, 0)\n        return self.step(x)\n" in fixed(text, sizes).after


def test_a_function_compiled_in_one_file_and_called_in_another() -> None:
    source = parse("program.py", STEP)
    caller = parse("other.py", "from program import step as go\n\n\ndef main(x):\n    go(x)\n")
    project = load([source, caller], recompiles=recompiles_of(source, LENGTHS))
    (finding,) = RULE.find(project.view("other.py"))
    assert finding.safety is Safety.SAFE
    assert finding.fix is not None
    assert finding.fix.imports == ("torch",)
    assert not list(RULE.find(project.view("program.py")))


def test_a_function_that_the_compiled_one_is_passed_to() -> None:
    body = """\
        def run(model, data):
            return model(data)


        class Loop:
            def __init__(self, model):
                self.model = model

            def __call__(self, x):
                return self.model(x)


        def main(x):
            return run(step, x), Loop(model=step)(x)
        """
    result = fixed(STEP + textwrap.dedent(body), unsafe=True)
    assert "    torch._dynamo.maybe_mark_dynamic(data, 0)\n    return model(data)\n" in result.after
    assert "        torch._dynamo.maybe_mark_dynamic(x, 0)\n        return self.model(x)\n" in result.after
    assert result.after.count("mark_dynamic") == 2
    passed, _ = result.findings
    (open_one,) = (o for o in passed.obligations if o.discharge is Discharge.ASSUMED)
    assert open_one.claim == "the argument is a tensor"


def test_a_module_of_a_library() -> None:
    source = parse(
        "program.py", "import torch\nfrom library import Net\n\nnet = torch.compile(Net())\nnet(a, mask=b)\n"
    )
    calls = tuple({"self": spec("net"), "x": spec((n, 4)), "mask": spec((n, 4))} for n in (2, 3))
    at = Line("/lib/library.py", 7)
    entry = EntrySeen("Net.forward", at, Line("program.py", 4), calls=2, arguments=calls, compiles=2)
    recompiles = {at.file: (RecompileSeen(at, "forward", "size", entries=(entry,)),)}
    (finding,) = RULE.find(load([source], recompiles=recompiles).view("program.py"))
    assert finding.fix is not None
    assert finding.fix.replacements[0].source == (
        "torch._dynamo.maybe_mark_dynamic(a, 0)\ntorch._dynamo.maybe_mark_dynamic(b, 0)\nnet(a, mask=b)"
    )


def test_size_one_first_is_explained() -> None:
    (reason,) = refusals(STEP + "step(torch.ones(3))\n", Sizes("step", [{"batch": (1,)}, {"batch": (4,)}]))
    assert reason.startswith("size 1 was seen, which PyTorch always compiles for itself")
    (finding,) = fixed(STEP, Sizes("step", [{"batch": (1,)}, {"batch": (4,)}])).findings
    assert "mark_unbacked" in finding.advice


def test_size_one_under_dynamic_false_leaves_something_to_save() -> None:
    sizes = Sizes("step", [{"batch": (n,)} for n in (1, 4, 5)], dynamic=False)
    result = fixed(STEP + "def main(x):\n    step(x)\n", sizes)
    assert result.changed
    assert "(3 compilations, 2 with a mark; dynamic=False compiles every size" in result.findings[0].message


def test_nothing_is_saved_where_other_things_change_too() -> None:
    calls = [{"batch": (n,), "mode": mode} for n, mode in ((4, "a"), (6, "b"))]
    assert refusals(STEP + "step(torch.ones(3))\n", Sizes("step", calls)) == [
        "other things than sizes changed as well: 2 compilations"
    ]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return batch @ W", "a product sums over this dimension of batch, and W fixes its size"),
        ("return torch.nn.functional.linear(batch, W)", "a product sums"),
        ("return W.matmul(batch)", "a product sums"),
        ("return batch if len(batch) == 4 else -batch", "len(batch) is compared with 4"),
        ("return batch * (4 != batch.size(-1))", "batch.size(-1) is compared with 4"),
    ],
)
def test_what_fixes_the_size(body: str, reason: str) -> None:
    text = STEP.replace("return batch * 2", body) + "W = torch.ones(4)\n\n\ndef main(x):\n    step(x)\n"
    (told,) = refusals(text)
    assert told.startswith(reason)


def test_sizes_that_stay_open_in_a_product() -> None:
    text = STEP.replace("batch * 2", "batch @ W") + "W = torch.ones(4)\n\n\ndef main(x):\n    step(x)\n"
    assert fixed(text, Sizes("step", [{"batch": (n, 4)} for n in (2, 3)]), unsafe=True).changed


def test_an_argument_that_is_no_tensor_in_every_call() -> None:
    calls = [{"batch": (4,)}, {"batch": (6,)}, {"batch": None}]
    (reason,) = refusals(STEP + "def main(x):\n    step(x)\n", Sizes("step", calls, others={"source_name": "batch"}))
    assert reason == "the size that changed is that of batch, which is no argument that is a tensor in every call"


def test_what_is_set_to_make_it_worse_is_said() -> None:
    text = STEP.replace("import torch\n", "import torch\n\ntorch._dynamo.config.recompile_limit = 2\n", 1)
    sizes = Sizes("step", LENGTHS.calls, dynamic=False, others={"compiles": 3, "limit_hit": True})
    (finding,) = fixed(text + "def main(x):\n    step(x)\n", sizes).findings
    for cause in (
        "dynamic=False compiles every size for itself",
        "program.py:3 sets it: torch._dynamo.config.recompile_limit = 2",
    ):
        assert cause in finding.message


def test_a_size_that_is_fixed_on_purpose_stays_so() -> None:
    assert refusals(STEP + "def main(x):\n    torch._dynamo.mark_static(x, 0)\n    step(x)\n") == [
        "torch._dynamo.mark_static(x, 0) says that it is fixed"
    ]
