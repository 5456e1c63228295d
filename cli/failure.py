"""How a command ends: a user's mistake is one line and exit 2, an interruption is exit 130."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from gbfix.engine.model import GbfixError

FINDINGS_REMAIN = 1
FAILED = 2
INTERRUPTED = 130


@contextmanager
def one_line_failures() -> Iterator[None]:
    """Print a GbfixError, one line for each problem, on standard error and exit 2; on an interruption exit 130."""
    try:
        yield
    except GbfixError as error:
        for line in str(error).splitlines():
            print(f"error: {line}", file=sys.stderr)
        raise SystemExit(FAILED) from error
    except KeyboardInterrupt:
        print("\ninterrupted; nothing was written", file=sys.stderr)
        sys.stdout.flush()
        # Not sys.exit: the work runs in a thread that may be waiting for an answer on standard input.
        os._exit(INTERRUPTED)


def internal_error(name: str, error: Exception) -> str:
    """One line for a bug of gbfix itself, with the place in gbfix where it happened."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}:{trace.tb_lineno})" if trace else ""
    text = " ".join(str(error).split())
    return f"internal error in {name}: {type(error).__name__}: {text}{place}; please report"
