from __future__ import annotations

import pytest

from gbfix.evidence.guards import read_guard
from gbfix.evidence.model import Recompile
from gbfix.evidence.recompile_kinds import RECOMPILE_KINDS
from gbfix.evidence.stack import StackFrame

KEYS = "DispatchKeySet(CPU, BackendSelect, ADInplaceOrView, AutogradCPU)"
GUARDS = [
    ("tensor 'x' size mismatch at index 0. expected 2, actual 3", "size", "x", "2", "3"),
    ("tensor 'L['x']' size mismatch at index 1. expected 2, actual 3", "size", "x", "2", "3"),
    ("tensor 'x' rank mismatch. expected 1, actual 2", "rank", "x", "1", "2"),
    ("tensor 'x' dtype mismatch. expected Float, actual Half", "dtype", "x", "float32", "float16"),
    ("tensor 'x' stride mismatch at index 0. expected 4, actual 1", "stride", "x", "4", "1"),
    ("tensor 'x' requires_grad mismatch. expected requires_grad=0", "requires_grad", "x", "False", "True"),
    (
        f"tensor 'x' dispatch key set mismatch. expected {KEYS}, actual {KEYS.replace('CPU', 'CUDA')}",
        "device",
        "x",
        "CPU",
        "CUDA",
    ),
    (
        f"tensor 'x' dispatch key set mismatch. expected {KEYS}, actual DispatchKeySet(CPU, BackendSelect)",
        "type",
        "x",
        "ADInplaceOrView AutogradCPU",
        "",
    ),
    ("tensor 'x' Tensor device index mismatch. Expected device index to be 0, actual 1", "device", "x", "0", "1"),
    (
        "expected type of 'x' to be a tensor type, ' but found <class 'torch.nn.parameter.Parameter'>",
        "type",
        "x",
        "a tensor type",
        "torch.nn.parameter.Parameter",
    ),
    ("n == 1", "value", "n", "1", ""),
    ("L['n'] == 1", "value", "n", "1", ""),
    ("G['LIMIT'] == 1", "value", "LIMIT", "1", ""),
    ("L['self'].step == 0", "value", "self.step", "0", ""),
    ("self._modules['blocks']._modules['0'].step == 0", "value", "self.blocks[0].step", "0", ""),
    ("fn._modules['1'].training == True", "value", "fn[1].training", "True", ""),
    ("self.options['width'] == 4", "value", "self.options['width']", "4", ""),
    ("n.item() == 3", "value", "n.item()", "3", ""),
    ("mode == 'a == b'", "value", "mode", "'a == b'", ""),
    ("s == {1, 2}", "value", "s", "{1, 2}", ""),
    ("(type(n) is float and __math_isnan(n))", "value", "n", "nan", ""),
    ("x.size()[0] == 4", "shape_expression", "x", "", ""),
    ("(self.cache.size()[0] % 3) == 0", "shape_expression", "self.cache", "", ""),
    ("2 <= x.size()[0] <= 8", "shape_expression", "x", "", ""),
    ("n <= 4", "shape_expression", "n", "", ""),
    ("len(xs) == 1", "length", "xs", "1", ""),
    ("len(d) != 1", "length", "d", "", ""),
    ("not xs", "length", "xs", "0", ""),
    ("list(dict.keys(d))[0] == 'a'", "keys", "d", "'a'", ""),
    ("not ___dict_contains('a', G['TABLE'])", "keys", "TABLE", "'a'", ""),
    ("set.__contains__(seen, 'a')", "keys", "seen", "'a'", ""),
    ("___check_obj_id(mode, 7654), type=<class '__main__.Mode'>", "identity", "mode", "__main__.Mode", ""),
    ("___check_type_id(L['n'], 94), type=<class 'int'>", "type", "n", "int", ""),
    ("y is None", "type", "y", "None", ""),
    ("hasattr(config, 'k')", "type", "config", "", ""),
    ("Cache line invalidated because L['self'] got deallocated", "identity", "self", "", ""),
    ("L['y'] is L['x']", "aliasing", "y, x", "", ""),
    ('Duplicate tensors found: ["x", "y"]', "aliasing", "x, y", "", ""),
    ("GLOBAL_STATE changed: grad_mode ", "global_state", "grad_mode", "", ""),
    ("___check_global_state()", "global_state", "", "", ""),
    ("BACKEND_MATCH failure: other backend", "other", "", "", ""),
    ("Unexpected recompilation: runtime guards failed", "other", "", "", ""),
]


@pytest.mark.parametrize(("check", "kind", "name", "expected", "actual"), GUARDS)
def test_what_a_failed_check_looks_at(check: str, kind: str, name: str, expected: str, actual: str) -> None:
    guard = read_guard(f"3/1: {check}")
    assert (guard.kind, guard.source_name, guard.expected, guard.actual) == (kind, name, expected, actual)


def test_every_kind_of_the_model_is_read_and_explained() -> None:
    kinds = {kind for _, kind, *_ in GUARDS}
    assert kinds == set(RECOMPILE_KINDS)
    assert Recompile.__doc__ is not None
    assert all(f'"{kind}"' in Recompile.__doc__ for kind in kinds)


def test_the_dimension_of_a_size_and_a_stride() -> None:
    assert read_guard("0/0: tensor 'x' size mismatch at index 2. expected 2, actual 3").index == 2
    assert read_guard("0/0: tensor 'x' rank mismatch. expected 1, actual 2").index is None


def test_the_comment_and_the_stack_of_a_guard() -> None:
    guard = read_guard(
        "0/0: self.step == 0                    # self.step += 1  # roject/net.py:11 in bump (HINT: it is static)\n"
        'User stack trace:\n  File "/home/me/project/net.py", line 17, in forward\n    y = self.bump(y)\n'
        '  File "/home/me/project/net.py", line 11, in bump\n    self.step += 1'
    )
    assert guard.text == "self.step == 0"
    assert guard.comment_origin == StackFrame("roject/net.py", 11, "bump")
    assert [frame.line for frame in guard.stack] == [17, 11]
    assert guard.local == "self"


def test_a_global_starts_from_no_local() -> None:
    assert read_guard("0/0: G['LIMIT'] == 1").local == ""


def test_numbers_that_only_mean_something_to_one_process_are_left_out() -> None:
    guard = read_guard("0/0: ___check_obj_id(f.__code__, 140709652756128), type=<class 'code'>")
    assert guard.text == "___check_obj_id(f.__code__), type=<class 'code'>"
