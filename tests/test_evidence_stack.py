from __future__ import annotations

import traceback

import pytest

from gbfix.evidence.stack import (
    Origin,
    StackFrame,
    innermost,
    innermost_in_project,
    origin,
    plain_function,
    read_stack,
    resumed,
    without_torch,
)

ROOT = "/home/me/project"
TORCH = "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (f"{ROOT}/train.py", Origin.PROJECT),
        (f"{ROOT}/deep/er/train.py", Origin.PROJECT),
        (f"{ROOT}-other/train.py", Origin.ELSEWHERE),
        (f"{ROOT}/.venv/lib/python3.11/site-packages/timm/layers.py", Origin.LIBRARY),
        (f"{ROOT}/.venv/lib/python3.11/site-packages/torch/fx/graph.py", Origin.TORCH),
        (TORCH, Origin.TORCH),
        ("/usr/lib/python3/dist-packages/torch/fx/graph.py", Origin.TORCH),
        ("/usr/lib/python3/dist-packages/numpy/core.py", Origin.LIBRARY),
        ("/opt/venv/lib/python3.12/site-packages/torchvision/ops.py", Origin.LIBRARY),
        ("/root/.pyenv/versions/3.11.7/lib/python3.11/logging/__init__.py", Origin.STANDARD_LIBRARY),
        ("/usr/lib64/python3.13t/copy.py", Origin.STANDARD_LIBRARY),
        (
            "/Library/Frameworks/Python.framework/Versions/3.12/lib/python3.12/json/decoder.py",
            Origin.STANDARD_LIBRARY,
        ),
        (r"C:\Users\me\AppData\Local\Programs\Python\Python311\Lib\json\decoder.py", Origin.STANDARD_LIBRARY),
        (r"C:\Users\me\miniconda3\envs\x\Lib\json\decoder.py", Origin.STANDARD_LIBRARY),
        (r"C:\Users\me\miniconda3\envs\x\Lib\site-packages\torch\fx\graph.py", Origin.TORCH),
        (r"C:\work\train.py", Origin.ELSEWHERE),
        ("/data/job/train.py", Origin.ELSEWHERE),
        ("/src/pytorch/torch/_dynamo/symbolic_convert.py", Origin.TORCH),
        ("<string>", Origin.GENERATED),
        ("<eval_with_key>.3", Origin.GENERATED),
    ],
)
def test_whose_code_a_file_is(file: str, expected: Origin) -> None:
    assert origin(file, ROOT) is expected


def test_a_project_inside_a_package_folder_is_the_project() -> None:
    root = "/opt/venv/lib/python3.12/site-packages/mine"
    assert origin(f"{root}/a.py", root) is Origin.PROJECT
    assert origin(TORCH, root) is Origin.TORCH


def test_frames_of_a_printed_stack_with_and_without_source_and_marks() -> None:
    text = (
        'File "<frozen runpy>", line 88, in _run_code\n'
        '  File "/p/a b.py", line 3, in f\n    y = (x\n         ^^^\n'
        '  File "/p/c.py", line 30, in torch_dynamo_resume_in_g_at_12\n'
        '  File "/p/d.py", line 4, in <lambda>\n    lambda: 1\n'
    )
    assert read_stack(text) == (
        StackFrame("<frozen runpy>", 88, "_run_code"),
        StackFrame("/p/a b.py", 3, "f", "y = (x"),
        StackFrame("/p/c.py", 30, "g"),
        StackFrame("/p/d.py", 4, "<lambda>", "lambda: 1"),
    )


def test_a_stack_that_python_formats_comes_back_as_it_was() -> None:
    def inner() -> str:
        return "".join(traceback.format_stack())

    frames = read_stack(inner())
    assert [frame.function for frame in frames[-2:]] == [
        "test_a_stack_that_python_formats_comes_back_as_it_was",
        "inner",
    ]
    assert frames[-1].source == 'return "".join(traceback.format_stack())'
    assert frames[-1].file == __file__


def test_names_of_resume_functions() -> None:
    assert resumed("torch_dynamo_resume_in_forward_at_15") == ("forward", 15)
    assert resumed("torch_dynamo_resume_in_<lambda>_at_3") == ("<lambda>", 3)
    assert resumed("torch_dynamo_resume_in_meet_at_noon_at_7") == ("meet_at_noon", 7)
    assert resumed("forward") is None
    assert plain_function("torch_dynamo_resume_in_forward_at_15") == plain_function("forward") == "forward"


def test_the_innermost_frames_that_are_the_users() -> None:
    mine, library = StackFrame(f"{ROOT}/a.py", 3, "f"), StackFrame("/v/site-packages/timm/x.py", 9, "g")
    torch = StackFrame(TORCH, 1, "_call_impl")
    standard = StackFrame("/usr/lib/python3.11/logging/__init__.py", 5, "info")
    stack = (mine, torch, library, standard)
    assert innermost(stack, ROOT) is library
    assert innermost_in_project(stack, ROOT) is mine
    assert without_torch(stack, ROOT) == (mine, library, standard)
    assert innermost((torch, standard), ROOT) is None


def test_in_a_trace_of_another_machine_all_that_is_no_package_is_the_project() -> None:
    job, library = StackFrame("/data/job/a.py", 3, "f"), StackFrame("/v/site-packages/timm/x.py", 9, "g")
    assert innermost_in_project((job, library), ROOT) is job
    assert innermost_in_project((library,), ROOT) is None
