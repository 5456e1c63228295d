"""The rows of the benchmark, and what the nearest peer says of those that it has too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """Breaks, which are graphs minus one, before and after, and how many models of theirs the row stands for.

    From table 2 of the GraphMend paper and the `table2_breaks.py` of its artifact.
    """

    before: int
    after: int
    models: int = 1


@dataclass(frozen=True)
class Row:
    """A model. phases: those whose breaks the row is about; the others are measured all the same."""

    suite: str
    name: str
    phases: tuple[str, ...] = ("forward",)
    peer: Peer | None = None

    @property
    def id(self) -> str:
        """How the row is named on the command line and in the results."""
        return f"{self.suite}/{self.name}"


LIBRARIES = {"record": "transformers", "today": "transformers", "diffusers": "diffusers", "torchvision": "torchvision"}
"""The package that the models of a suite come from, which is what may be edited."""
_TRAIN = ("train",)
_BOTH = ("forward", "train")

ROWS = (
    Row("record", "t5", peer=Peer(3, 0, 5)),
    Row("record", "t5-fp16"),
    Row("record", "whisper", peer=Peer(3, 0, 3)),
    Row("record", "whisper-fp16"),
    # The peer counts three in single precision, which its table does not list.
    Row("record", "bart"),
    Row("record", "bart-fp16", peer=Peer(7, 0, 3)),
    Row("record", "marian"),
    Row("record", "marian-fp16", peer=Peer(6, 0)),
    Row("record", "biogpt", peer=Peer(2, 0)),
    Row("record", "blenderbot", peer=Peer(3, 0)),
    Row("record", "pegasus", peer=Peer(2, 0)),
    Row("record", "layoutlmv3", peer=Peer(2, 0)),
    Row("record", "phi3-longrope", peer=Peer(5, 0)),
    Row("record", "chronos", peer=Peer(6, 0)),
    Row("record", "longformer", peer=Peer(5, 3)),
    Row("record", "clap-fused", peer=Peer(4, 4)),
    Row("record", "grounding-dino", peer=Peer(17, 7, 2)),
    Row("today", "bart-fp16", _BOTH),
    Row("today", "marian-fp16", _BOTH),
    Row("today", "detr", _TRAIN),
    Row("today", "deformable-detr", _TRAIN),
    Row("today", "encodec", _BOTH),
    Row("today", "ibert", _TRAIN),
    Row("today", "wav2vec2", _TRAIN),
    Row("today", "wavlm", _TRAIN),
    Row("today", "hubert", _TRAIN),
    Row("today", "sew", _TRAIN),
    Row("today", "unispeech", _TRAIN),
    Row("today", "wav2vec2-bert", _TRAIN),
    Row("today", "wav2vec2-conformer", _TRAIN),
    Row("today", "seamless-m4t", _TRAIN),
    Row("today", "seamless-m4t-v2", _TRAIN),
    Row("today", "prophetnet", _TRAIN),
    Row("today", "longformer", _BOTH),
    Row("today", "led", _BOTH),
    Row("today", "ctrl", _BOTH),
    Row("today", "moonshine", _BOTH),
    Row("today", "llava", _BOTH),
    Row("today", "gemma3", _BOTH),
    Row("today", "ovis2", _BOTH),
    Row("today", "idefics3", _BOTH),
    Row("today", "mistral3", _BOTH),
    Row("today", "qwen2.5-vl", _BOTH),
    Row("today", "qwen3-vl", _BOTH),
    Row("today", "musicgen-layerdrop", _TRAIN),
    Row("today", "biogpt-layerdrop", _TRAIN),
    Row("diffusers", "asymmetric-autoencoder", _BOTH),
    Row("diffusers", "mochi", _BOTH),
    Row("diffusers", "lumina2", _BOTH),
    Row("torchvision", "ssdlite", _TRAIN),
)
SUITES = tuple(dict.fromkeys(row.suite for row in ROWS))


def chosen(suites: Iterable[str], names: Iterable[str]) -> list[Row]:
    """The rows of these suites and with these names or ids; all where nothing is named.

    Raises KeyError with a name that no row has.
    """
    wanted_suites, wanted = set(suites), set(names)
    for name in sorted(wanted):
        if not any(name in (row.name, row.id) for row in ROWS):
            raise KeyError(name)
    return [
        row
        for row in ROWS
        if (not wanted_suites or row.suite in wanted_suites) and (not wanted or {row.name, row.id} & wanted)
    ]
