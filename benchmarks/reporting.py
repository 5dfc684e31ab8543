"""Time and size of a report: four agents on 10,000 synthetic episodes, from bundles to the page.

CPU seconds of one process, including reading the bundles. Target: at most 10 s and 10 MB.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from itinera.formats.bundles import read_scores, write_scores
from itinera.metrics.suites import paper
from itinera.records import EpisodeInfo, ScoreTable
from itinera.reports.page.report import make_report, write_report_page
from itinera.seeding import generator
from itinera.tasks import PROTOCOLS
from timing import cpu

EPISODES, SCENES, AGENTS = 10_000, 90, 4


def make_scores(agent: int) -> ScoreTable:
    """Synthetic scores in every metric of the paper suite; later agents succeed more often."""
    rng = generator(0, "reporting", str(agent))
    protocol = PROTOCOLS["r2r"]
    columns = tuple(metric.column for metric in paper(protocol).metrics)
    solved = rng.random(EPISODES) < 0.2 + 0.15 * agent
    values = {c.name: solved * rng.random(EPISODES) * (1.0 if c.unit == "" else 20.0) for c in columns}
    values |= {"SR": solved.astype(np.float64), "NE": np.where(solved, 1.0, 3.0 + 15 * rng.random(EPISODES))}
    lengths = generator(0, "reporting", "lengths").uniform(5, 20, EPISODES)
    scene = np.arange(EPISODES) % SCENES
    return ScoreTable(
        episode_ids=tuple(f"{i // 3}_{i % 3}" for i in range(EPISODES)),
        world_ids=tuple(f"scene-{i:03d}" for i in scene),
        path_ids=tuple(str(i // 3) for i in range(EPISODES)),
        columns=columns,
        values=values,
        suite="paper",
        fingerprint="made up",
        protocol=protocol,
        missing=np.zeros(EPISODES, dtype=bool),
        episode_info=EpisodeInfo(lengths, lengths, tuple(f"tour-{i}" for i in scene), np.arange(EPISODES) // SCENES),
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"agent{agent}.jsonl" for agent in range(AGENTS)]
        for agent, file in enumerate(files):
            write_scores(file, make_scores(agent))
        page = Path(folder) / "report.html"

        def report() -> None:
            write_report_page(page, make_report([f.stem for f in files], [read_scores(f) for f in files]))

        seconds = cpu(report)
        size = page.stat().st_size / 1e6
        print(f"report of {AGENTS} agents, {EPISODES:,} episodes, {SCENES} scenes: {seconds:.2f} s CPU, {size:.2f} MB")


if __name__ == "__main__":
    main()
