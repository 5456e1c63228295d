import ast

import pytest

from gbfix.analysis.classes import Classes, ClassInfo, ModuleKind
from gbfix.analysis.exports import Exports
from gbfix.analysis.modules import Modules
from gbfix.analysis.project import Project, load
from gbfix.analysis.source import parse


def classes_of(files: dict[str, str]) -> tuple[Classes, dict[str, ClassInfo]]:
    return classes_of_project(load([parse(path, text) for path, text in files.items()]))


def classes_of_project(project: Project) -> tuple[Classes, dict[str, ClassInfo]]:
    files = project.files
    modules = Modules(files, lambda *_: False)
    classes = Classes(project, modules, Exports(project, modules))
    found = {
        node.name: classes.info(path, node)
        for path, source in project.files.items()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef)
    }
    return classes, found


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("from torch import nn\nclass A(nn.Module): pass", ModuleKind.MODULE),
        ("import torch\nclass A(torch.nn.Sequential): pass", ModuleKind.MODULE),
        ("from torch.nn import Module as M\nclass A(M): pass", ModuleKind.MODULE),
        ("from torch.nn import *\nclass A(Module): pass", ModuleKind.MODULE),
        ("import torch\nBase = torch.nn.Module\nclass A(Base): pass", ModuleKind.MODULE),
        ("import torch\nclass B(torch.nn.Module): pass\nclass A(B): pass", ModuleKind.MODULE),
        ("import torch\nfrom typing import Generic, T\nclass A(torch.nn.Module, Generic[T]): pass", ModuleKind.MODULE),
        ("import torch\nclass A(torch.nn.Module if 1 else object): pass", ModuleKind.MODULE),
        ("import torch, x\nclass A(x.Mixin, torch.nn.Module): pass", ModuleKind.MODULE),
        ("from transformers import PreTrainedModel\nclass A(PreTrainedModel): pass", ModuleKind.UNKNOWN),
        ("from .other import B\nclass A(B): pass", ModuleKind.UNKNOWN),
        ("class A(make_base()): pass", ModuleKind.UNKNOWN),
        ("class A: pass", ModuleKind.OTHER),
        ("class A(dict): pass", ModuleKind.OTHER),
        ("import abc\nclass A(abc.ABC, metaclass=abc.ABCMeta): pass", ModuleKind.OTHER),
        ("import torch\nclass A(torch.autograd.Function): pass", ModuleKind.OTHER),
        ("import torch\nclass A(torch.Tensor): pass", ModuleKind.OTHER),
        ("import torch\nclass A(torch.nn.Parameter): pass", ModuleKind.OTHER),
        ("def f(torch):\n  class A(torch.nn.Module): pass", ModuleKind.UNKNOWN),
        ("class A(A): pass", ModuleKind.OTHER),
        ("A = B\nB = A\nclass A(B): pass", ModuleKind.UNKNOWN),
    ],
)
def test_kind(text: str, kind: ModuleKind) -> None:
    classes, found = classes_of({"a.py": text})
    assert classes.kind(found["A"]) is kind


def test_bases_in_other_files() -> None:
    classes, found = classes_of(
        {
            "p/base.py": "import torch\nclass Base(torch.nn.Module): pass",
            "p/__init__.py": "from .base import Base",
            "a.py": "from p import Base\nclass A(Base): pass",
        }
    )
    assert classes.kind(found["A"]) is ModuleKind.MODULE
    assert classes.order(found["A"])[:2] == (found["A"], found["Base"])


def test_order_puts_a_shared_base_last() -> None:
    classes, found = classes_of({"a.py": "class O: pass\nclass A(O): pass\nclass B(O): pass\nclass C(A, B): pass"})
    assert [c.node.name for c in classes.order(found["C"]) if isinstance(c, ClassInfo)] == ["C", "A", "B", "O"]


@pytest.mark.parametrize("annotation", ["A", "A | None", "Optional[A]", "'A'", "list[A]", "'list[A] | None'", "m.x[A]"])
def test_classes_in_an_annotation(annotation: str) -> None:
    project = load([parse("a.py", f"class A: pass\ndef f(x: {annotation}): pass")])
    classes, found = classes_of_project(project)
    function = project.files["a.py"].functions[0]
    expression = function.node.args.args[0].annotation
    assert expression is not None
    assert classes.in_annotation("a.py", expression) == (found["A"],)


def test_files_that_import_a_class_from_one_another_give_no_class() -> None:
    files = {
        "a.py": "import torch\nfrom b import X\n@torch.compile\ndef f(x: X): return x.go()\n",
        "b.py": "from a import X\n",
    }
    project = load([parse(path, text) for path, text in files.items()])
    assert [one.function.qualname for one in project.compiled["a.py"]] == ["f"]
