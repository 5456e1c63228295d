"""`gbfix scan` with paths and what scripts give it most, without Typer; ends as Typer would end it."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TypedDict

from gbfix.cli.output_format import OutputFormat
from gbfix.cli.scanning import scan_paths


class PlainOptions(TypedDict, total=False):
    """The options that are read here, as `scan_paths` takes them."""

    exit_zero: bool
    no_cache: bool
    jobs: int
    output_format: OutputFormat


def read_plainly(words: Sequence[str]) -> tuple[list[str], PlainOptions] | None:
    """The paths and options among the words of a scan; None where Typer has to read them, or say what is wrong."""
    paths: list[str] = []
    options: PlainOptions = {}
    formats = {one.value: one for one in OutputFormat}
    rest = iter(words)
    for word in rest:
        if word == "--exit-zero":
            options["exit_zero"] = True
        elif word == "--no-cache":
            options["no_cache"] = True
        elif word in ("--jobs", "-j"):
            number = next(rest, "")
            if not (number.isascii() and number.isdigit() and len(number) < 5 and int(number)):
                return None
            options["jobs"] = int(number)
        elif word == "--output-format":
            wanted = next(rest, "")
            if wanted not in formats:
                return None
            options["output_format"] = formats[wanted]
        elif word.startswith("-") and word != "-":
            return None
        else:
            paths.append(word)
    return paths, options


def plain_scan(paths: Sequence[str], options: PlainOptions) -> None:
    """Scan the paths, or this folder where there are none. A reader that leaves early is no failure worth a traceback.

    Raises SystemExit with 1 when there are findings or the reader left, with 2 for what could not be looked at.
    """
    # The process ends with this scan: nothing that it loads or leaves is worth a search for garbage.
    gc.disable()
    try:
        scan_paths(paths or None, **options)
    except BrokenPipeError:
        # As the manual of Python's `signal` module advises: what is still held back would fail at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    finally:
        gc.freeze()
