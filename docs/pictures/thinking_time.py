"""The picture of docs/thinking-time.md: SCT of two drivers over the latency of their agents.

    python recipes/sct_drivers.py hearth  # tasks-10.json and tasks-10-times.jsonl in the folder hearth-sct
    python docs/pictures/thinking_time.py hearth-sct/tasks-10-times.jsonl 0/*.jsonl 0.1/*.jsonl 0.2/*.jsonl 0.5/*.jsonl

The bundles are of `itinera run --agent expert --drive unicycle-6` and `point-turn`, those of the folders 0.1, 0.2 and
0.5 with `--clock fixed:0.1 --overlap` and so on, scored with `--times`.

Writes thinking-time.svg beside this script. Bundles with equal file names are one agent.
"""

from __future__ import annotations

import sys
from pathlib import Path

import itinera
from itinera.formats.fastest_times import read_times
from itinera.reports.benchmark import group_by_benchmark
from itinera.reports.latency import latency_curves
from itinera.reports.page.thinking_section import draw_chart


def main(times: str, *bundles: str) -> None:
    tables = [itinera.read_scores(bundle) for bundle in bundles]
    (benchmark,) = group_by_benchmark([Path(bundle).stem for bundle in bundles], tables)
    curves = latency_curves(benchmark, [read_times(times)])
    assert curves is not None
    picture = str(draw_chart(curves, "SCT").svg("thinking-time"))
    head, body = picture.split(">", 1)
    drawn = f'{head} font-family="sans-serif"><rect width="100%" height="100%" fill="white"/>{body}\n'
    Path(__file__).with_name("thinking-time.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
