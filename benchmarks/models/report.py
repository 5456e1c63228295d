"""The results as a JSON document, and as a section of RESULTS.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from compare import Compared, Counts, Difference, Fixed, less_than_peer, removed
from table import ROWS, SUITES

BEGIN = "<!-- begin: benchmarks/models/sweep.py -->"
END = "<!-- end: benchmarks/models/sweep.py -->"
TITLES = {
    "record": "Table of record: transformers 4.52.4",
    "today": "Today: transformers 5.24.0",
    "diffusers": "diffusers 0.42.1",
    "torchvision": "torchvision 0.28.0",
}


def document(rows: Sequence[Compared]) -> dict[str, Any]:
    """All that is known of these rows, for JSON."""
    return {"format": 1, "rows": [{**asdict(row), "row": row.row.id} for row in rows]}


def from_document(written: Mapping[str, Any]) -> list[Compared]:
    """The rows of a document; those that the benchmark no longer has are left out."""
    rows = {row.id: row for row in ROWS}
    return [_row(entry, rows[entry["row"]]) for entry in written["rows"] if entry["row"] in rows]


def _row(entry: Mapping[str, Any], row: Any) -> Compared:  # noqa: ANN401
    kept = dict(entry)
    for side in ("before", "after"):
        kept[side] = {phase: Counts(**counts) for phase, counts in entry[side].items()}
    kept["differences"] = [Difference(**difference) for difference in entry["differences"]]
    kept["fixed"] = Fixed(**entry["fixed"]) if entry["fixed"] else None
    kept["row"] = row
    return Compared(**kept)


def line(row: Compared) -> str:
    """A row on one line, for the terminal."""
    if row.error:
        return f"{row.row.id}: failed: {row.error}"
    parts = [f"{phase}: {_graphs(row, phase)}, {_sites(row, phase)}" for phase in row.before]
    same = f"{len(row.differences)} of {row.runs} runs differ" if row.differences else f"{row.runs} runs the same"
    return f"{row.row.id}: {'; '.join(parts)}; {same}; {_seconds(row)}"


def _seconds(row: Compared) -> str:
    return f"{row.fixed.seconds:.0f} s" if row.fixed else ""


def _graphs(row: Compared, phase: str) -> str:
    return f"graphs {_arrow(row, phase, lambda counts: counts.graphs[0] if counts.graphs else 0)}"


def _sites(row: Compared, phase: str) -> str:
    return f"sites {_arrow(row, phase, lambda counts: counts.sites)}"


def _arrow(row: Compared, phase: str, read: Any) -> str:  # noqa: ANN401
    before, after = read(row.before[phase]), read(row.after[phase])
    return f"{before} → {after}"


def write_section(path: Path, rows: Sequence[Compared]) -> None:
    """Put the section of these rows into the file."""
    put_section(path, BEGIN, END, markdown(rows))


def put_section(path: Path, begin: str, end: str, section: str) -> None:
    """Put a section between its marks, at the end of the file where it has none yet."""
    head, found, rest = path.read_text().partition(begin)
    after = rest.partition(end)[2] if found else "\n"
    path.write_text((head if found else head.rstrip("\n") + "\n\n") + f"{begin}\n{section}\n{end}" + after)


def markdown(rows: Sequence[Compared]) -> str:
    """The section."""
    parts = ["## Real models", "", "    python benchmarks/models/sweep.py --work FOLDER", "", _EXPLANATION]
    for suite in SUITES:
        here = [row for row in rows if row.row.suite == suite]
        if here:
            parts += ["", f"### {TITLES[suite]}", "", *_table(here), "", *_summary(here, suite)]
    left = _left(rows)
    if left:
        parts += ["", "### What is left", "", *left]
    return "\n".join(parts)


_EXPLANATION = """\
Each row is a tiny model with random weights, measured as installed and with the copies that `gbfix fix` leaves in the \
overlay.

| column | is |
|---|---|
| graphs | of the first call; `f` without gradients, `t` a training step |
| sites | source lines that break in any of the calls |
| kinds left | ids of PyTorch's list of graph breaks |
| recompiles | over three shapes |
| fullgraph | whether `fullgraph=True` takes the first call |
| bits | runs whose outputs, gradients, buffers, random state and messages are the same to the bit, of those compared, \
eager and compiled; in brackets those that raise |
| peer | breaks (graphs minus one) before and after, from GraphMend's table |
| time | of `gbfix fix` |
| cold, steady | with `--time`: time after over time before with inductor at batch 1, of the first call and of those \
after it; each arm with a compile cache of its own, in turns, the median of three pairs |"""


def _table(rows: Sequence[Compared]) -> list[str]:
    timed = any(row.times for row in rows)
    peer = any(row.row.peer for row in rows)
    heads = ["row", "graphs", "sites", "kinds left", "recompiles", "fullgraph", "bits"]
    heads += ["peer"] * peer + ["time"] + ["cold", "steady"] * timed
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    for row in rows:
        lines.append("| " + " | ".join(_cells(row, peer=peer, timed=timed)) + " |")
    return lines


def _cells(row: Compared, *, peer: bool, timed: bool) -> list[str]:
    theirs = [f"{row.row.peer.before} → {row.row.peer.after}" if row.row.peer else ""] * peer
    if row.error:
        return [row.row.name, f"failed: {cell(row.error)}", "", "", "", "", "", *theirs, "", *["", ""] * timed]
    cells = [
        row.row.name,
        _each(row, lambda counts: counts.graphs[0] if counts.graphs else 0),
        _each(row, lambda counts: counts.sites),
        ", ".join(sorted({kind for counts in row.after.values() for kind in counts.kinds})) or "none",
        _each(row, lambda counts: counts.recompiles),
        _each(row, lambda counts: "yes" if counts.fullgraph == "ok" else "no"),
        f"{row.runs - len({difference.run for difference in row.differences})} of {row.runs} ({row.raising})",
        *theirs,
        _seconds(row),
    ]
    times = row.times or {}
    return cells + [f"{times[name]:.2f}" if name in times else "" for name in ("cold", "steady")] * timed


def _each(row: Compared, read: Any) -> str:  # noqa: ANN401
    return ", ".join(f"{phase[0]} {_arrow(row, phase, read)}" for phase in row.before)


def _summary(rows: Sequence[Compared], suite: str) -> list[str]:
    breaks, sites = removed(rows, Compared.breaks), removed(rows, Compared.sites)
    lines = [
        f"{breaks.before - breaks.after} of {breaks.before} breaks removed ({breaks.share:.0%}), counted as graphs of "
        f"the first call minus one, and {sites.before - sites.after} of {sites.before} sites.",
    ]
    if suite == "record":
        worse = less_than_peer(rows)
        lines.append(f"Rows that keep more than the peer: {', '.join(worse) if worse else 'none'}.")
    different = [row.row.name for row in rows if row.differences]
    lines.append(f"Rows with other bits: {', '.join(different) if different else 'none'}.")
    failed = [row.row.name for row in rows if row.error]
    return [*lines, *([f"Failed: {', '.join(failed)}."] if failed else [])]


def _left(rows: Sequence[Compared]) -> list[str]:
    lines = []
    for row in rows:
        places = sorted({place for counts in row.after.values() for place in counts.at})
        if places:
            lines.append(f"- {row.row.id}")
            lines += [f"  - `{cell(place)}`{_reason(row, place)}" for place in places]
    return lines


def _reason(row: Compared, place: str) -> str:
    reason = reason_of(row, place)
    return f": {cell(reason)}" if reason else ""


def reason_of(row: Compared, place: str) -> str:
    """What gbfix says of a line, if anything: `place` begins with its file and number."""
    line = ":".join(place.split(":")[:2])
    return row.fixed.reasons.get(line, "") if row.fixed else ""


def cell(text: str) -> str:
    """The text, for a table."""
    return text.replace("|", "\\|").replace("\n", " ")
