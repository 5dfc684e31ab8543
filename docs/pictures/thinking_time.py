"""The picture of docs/thinking-time.md: SCT of two drivers over the latency of their agents.

    python recipes/sct_drivers.py hearth  # tasks-10.json and tasks-10-times.jsonl in the folder hearth-sct
    python docs/pictures/thinking_time.py hearth-sct/tasks-10-times.jsonl 0/*.jsonl 0.1/*.jsonl 0.2/*.jsonl 0.5/*.jsonl

The bundles are of `itinera run --agent expert --drive unicycle-6` and `point-turn`, those of the folders 0.1, 0.2 and
0.5 with `--clock fixed:0.1 --overlap` and so on, scored with `--times`.

Writes thinking-time.png beside this script, with Debian's chromium. Bundles with equal file names are one agent.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
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
    picture = draw_chart(curves, "SCT").svg("thinking-time")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        page.write_text(f'<body style="margin:12px;font-family:sans-serif">{picture}</body>', encoding="utf-8")
        target = Path(__file__).with_name("thinking-time.png")
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=724,480")
        subprocess.run(["chromium", *options, f"--screenshot={target}", page.as_uri()], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
