import os
import tempfile
from pathlib import Path

import torch

here = Path(os.devnull)


@torch.compile
def f(x):
    y = x + 1.0
    with open(os.devnull) as file:
        text = file.read()
    found = os.path.exists(os.devnull) and here.exists()
    with tempfile.TemporaryFile() as out:
        torch.save(y, out)
    with open(os.devnull, mode="w") as out:
        out.write(text)
    return y * 2.0, found
