from __future__ import annotations

import pytest
import torch

from gbfix.analysis.observations import TensorSpec, ValueSpec
from gbfix.equivalence.example import Listed, TensorRecipe
from gbfix.equivalence.generated import GeneratedInputs
from gbfix.equivalence.model import Parameter, Settings, Setup
from gbfix.equivalence.signatures import signature_of
from gbfix.evidence.integers import integers_of
from gbfix.evidence.model import ArgumentsSeen
from gbfix.evidence.saved_modules import FOLDER


class Other(torch.Tensor):
    pass


def test_small_integer_tensors_are_kept_where_modules_are(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = {
        "ids": torch.tensor([[3, 1], [2, 9]]).t(),
        "batch": {"mask": torch.tensor([True, False]), "pair": [torch.tensor(7), torch.ones(2)]},
        "floats": torch.ones(2),
        "large": torch.zeros(513, dtype=torch.int64),
        "strange": torch.ones(2, dtype=torch.int64).as_subclass(Other),
        "nowhere": torch.zeros(2, dtype=torch.int64, device="meta"),
        "count": 3,
    }
    monkeypatch.delenv(FOLDER, raising=False)
    assert integers_of(arguments) == {}
    monkeypatch.setenv(FOLDER, "modules")
    assert integers_of(arguments) == {"ids": [3, 2, 1, 9], "batch[mask]": [1, 0], "batch[pair][0]": [7]}


def test_recorded_elements_are_tried_as_they_were_and_changed_with_the_shape() -> None:
    spec = ValueSpec("tensor", "torch.Tensor", TensorSpec("int64", (2, 2), (2, 1)))
    seen = ArgumentsSeen({"ids": spec}, 2, integers=({"ids": (3, 1, 2, 9)}, {"ids": (50, 60, 70, 80)}))
    setup = Setup((Parameter("ids", "POSITIONAL_OR_KEYWORD"),))
    inputs = GeneratedInputs(signature_of(setup, [seen], Settings()))

    def elements(recipe: object) -> object:
        assert isinstance(recipe, TensorRecipe)
        return recipe.values

    assert elements(inputs.first().arguments[0][1]) == Listed((3, 1, 2, 9))
    corners = [elements(example.arguments[0][1]) for example in inputs.corners()]
    assert Listed((50, 60, 70, 80)) in corners
    assert elements(inputs.sequence()[1].arguments[0][1]) != Listed((3, 1, 2, 9))
    variations = dict(inputs.variations())
    resized = variations["other size of ids[0]"].arguments[0][1]
    assert isinstance(resized, TensorRecipe)
    assert resized.shape != (2, 2)
    assert elements(resized) != Listed((3, 1, 2, 9))
