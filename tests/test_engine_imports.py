from __future__ import annotations

import libcst as cst
import pytest

from gbfix.engine.edit_error import EditError
from gbfix.engine.imports import with_imports


def imported(text: str, *names: str) -> str:
    return with_imports(cst.parse_module(text), names or ("torch",)).code


@pytest.mark.parametrize(
    "text",
    [
        "import torch\n",
        "import os, torch\n",
        "import torch.nn\n",
        "import torch as torch\n",
        "try:\n    import torch\nexcept ImportError:\n    torch = None\n",
        "with quiet():\n    import torch\n",
        "x = 1\nimport torch\n",
    ],
)
def test_nothing_to_do(text: str) -> None:
    assert imported(text) == text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("import math\nx = 1\n", "import math\nimport torch\n\nx = 1\n"),
        ("import math\n\nimport numpy\n\n\nx = 1\n", "import math\n\nimport numpy\nimport torch\n\n\nx = 1\n"),
        ("import numpy\n\nfrom . import y\n\nx = 1\n", "import numpy\nimport torch\n\nfrom . import y\n\nx = 1\n"),
        ("from . import y\n", "import torch\nfrom . import y\n"),
        ('"""Doc."""\nx = 1\n', '"""Doc."""\n\nimport torch\n\nx = 1\n'),
        ('"""Doc."""\n\n\ndef f(): pass\n', '"""Doc."""\n\nimport torch\n\n\ndef f(): pass\n'),
        (
            "#!/usr/bin/python\n'Doc'\nfrom __future__ import annotations\n# about\nx = 1\n",
            "#!/usr/bin/python\n'Doc'\nfrom __future__ import annotations\nimport torch\n\n# about\nx = 1\n",
        ),
        (
            "from __future__ import annotations; import os\n",
            "from __future__ import annotations; import os\nimport torch\n",
        ),
        ("# licence\n\ndef f(): pass\n", "# licence\n\nimport torch\n\ndef f(): pass\n"),
        ("import torch as th\n", "import torch as th\nimport torch\n"),
        ("import torch.nn as nn\n", "import torch.nn as nn\nimport torch\n"),
        ("from torch import nn\n", "from torch import nn\nimport torch\n"),
        ("if TYPE_CHECKING:\n    import torch\n", "import torch\n\nif TYPE_CHECKING:\n    import torch\n"),
        ("def f():\n    import torch\n", "import torch\n\ndef f():\n    import torch\n"),
        ("import math\r\nx = 1\r\n", "import math\r\nimport torch\r\n\r\nx = 1\r\n"),
        ("x = 1", "import torch\n\nx = 1"),
        ("import math", "import math\nimport torch"),
    ],
)
def test_where_the_import_goes(before: str, after: str) -> None:
    assert imported(before) == after
    assert imported(after) == after


def test_several_names_and_submodules() -> None:
    assert (
        imported("import torch\n", "torch", "torch.nn", "math", "math")
        == "import torch\nimport torch.nn\nimport math\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "torch = 1\n",
        "import other as torch\n",
        "def torch(): pass\n",
        "from light import torch\n",
        "for torch in x: y\n",
    ],
)
def test_a_name_used_for_something_else_is_an_edit_error(text: str) -> None:
    with pytest.raises(EditError, match="uses the name torch for something else"):
        imported(text)


def test_a_local_name_is_no_obstacle() -> None:
    assert imported("def f(torch): torch = 1\n").startswith("import torch\n")
