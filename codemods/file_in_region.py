"""A file read, written or asked about within a compiled function.

`open`, `torch.save`, `torch.load`, `os.path.exists`, `Path.read_text`, `os.makedirs` and their like end the graph
(GB0059, GB0142, GB0007); within a `with` the whole function runs without a graph.

What to do: read before the compiled function and pass in what was read; give back what is to be saved and save it in
the caller.

    # Before                                 # After
    @torch.compile                           @torch.compile
    def f(x):                                def f(x):
        y = x + 1                                y = x + 1
        torch.save(y, "y.pt")                    return y * 2, y
        return y * 2
                                             z, y = f(x)
                                             torch.save(y, "y.pt")

A tensor that is written in place later has to be given back as a copy (`y.clone()`).

Reports each place, and changes nothing: other code may read or write the file at the same time, and an error of it
would come at another moment.

Source: PyTorch's GB0059, GB0142, GB0007.
"""

from __future__ import annotations

from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._host_calls import Reads
from gbfix.codemods._host_sites import HostSite, host_sites
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Rule

NAME = ("GBF323", "file-in-region")
_ADVICE = {
    Reads.FILES: "read or ask in the caller and pass in what was found",
    Reads.WRITES: (
        "give back what is to be written (a copy of a tensor that is written in place later), and write in the caller"
    ),
}


def find(view: FileView) -> Iterator[Finding]:
    """The places of one file that read, write or ask about files."""
    return (_finding(site) for site in host_sites(view, _ADVICE))


def _finding(site: HostSite) -> Finding:
    refused = RefusedError(
        "files are as they would be",
        f"{site.text} reads {site.call.reads.value}, at a moment that others may count on",
        site.call.node.lineno,
        _ADVICE[site.call.reads],
    )
    return site.refusal(NAME, f"{site.call.name} within a compiled function", refused)


RULE = Rule(*NAME, "a file read, written or asked about within a compiled function", __doc__, find, rewrites=False)
