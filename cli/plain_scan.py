"""`gbfix scan` with nothing but paths, without Typer; ends as Typer would end it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence

from gbfix.cli.scanning import scan_paths


def plain_scan(paths: Sequence[str]) -> None:
    """Scan the paths, or this folder where there are none. A reader that leaves early is no failure worth a traceback.

    Raises SystemExit with 1 when there are findings or the reader left, with 2 for what could not be looked at.
    """
    # The process ends with this scan: nothing that it loads or leaves is worth a search for garbage.
    gc.disable()
    try:
        scan_paths(paths or None)
    except BrokenPipeError:
        # As the manual of Python's `signal` module advises: what is still held back would fail at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    finally:
        gc.freeze()
