"""A script for tests: reads bodies of functions as a JSON list, and writes which ids torch names for each of them."""

from __future__ import annotations

import json
import logging
import re
import sys
import textwrap
import threading
import warnings
from typing import Any

import torch


def reported_ids(body: str) -> list[str]:
    """The ids that torch names when it compiles this body of a function of a tensor x."""
    imports = "import copy, logging, math, sys, time, torch\n"
    names: dict[str, Any] = {
        "logger": logging.getLogger("example"),
        "lock": threading.Lock(),
        "helper": torch.compiler.disable(torch.sin),
    }
    exec(f"{imports}def f(x):\n{textwrap.indent(body, '    ')}", names)
    torch._dynamo.reset()
    with warnings.catch_warnings(), torch._dynamo.error_on_graph_break(True):
        warnings.simplefilter("ignore")
        try:
            torch.compile(names["f"], backend="eager")(torch.tensor([1.0, -2.0, 3.0, 4.0]))
        except Exception as error:
            return [f"GB{number}" for number in re.findall(r"/gb(\d{4})\.html", str(error))]
    return []


if __name__ == "__main__":
    print(json.dumps({text: reported_ids(text) for text in json.load(sys.stdin)}))
