"""The state of a random generator set or read within a compiled function.

`torch.manual_seed`, `torch.get_rng_state`, `torch.set_rng_state`, `torch.random.fork_rng`, `torch.Generator` and
`random.seed` end the graph (GB0007, GB0363, GB7650): graphs do not hold the state of generators.

What to do: seed in the caller when the compiled function has drawn nothing before; draw with a generator of one's own
in the caller and pass the tensor in.

    # Before                                       # After
    @torch.compile                                 @torch.compile
    def f(x):                                      def f(x, noise):
        g = torch.Generator().manual_seed(0)           return x + noise
        return x + torch.rand(4, generator=g)
                                                   g = torch.Generator().manual_seed(0)
                                                   y = f(x, torch.rand(4, generator=g))

Reports each place, and changes nothing: what is drawn before it, here or in the caller, has to stay as it is.

Source: PyTorch's GB0007, GB0363 "opaque object", GB7650.
"""

from __future__ import annotations

from collections.abc import Iterator

from gbfix.analysis.project import FileView
from gbfix.codemods._host_calls import Reads
from gbfix.codemods._host_sites import HostSite, host_sites
from gbfix.codemods._refuse import RefusedError
from gbfix.engine.model import Finding, Rule

NAME = ("GBF322", "seed-in-region")
_ADVICE = {
    Reads.SEED: "set or read the state in the caller, before the first draw of the compiled function",
    Reads.GENERATOR: "make the generator and draw with it in the caller, and pass the tensor in",
}


def find(view: FileView) -> Iterator[Finding]:
    """The places of one file that set or read the state of a generator."""
    return (_finding(site) for site in host_sites(view, _ADVICE))


def _finding(site: HostSite) -> Finding:
    refused = RefusedError(
        "the numbers are drawn in the same order",
        f"{site.text} stands among the operations of a graph, which may draw before it",
        site.call.node.lineno,
        _ADVICE[site.call.reads],
    )
    return site.refusal(NAME, f"{site.call.name} within a compiled function", refused)


RULE = Rule(
    *NAME, "the state of a random generator set or read within a compiled function", __doc__, find, rewrites=False
)
