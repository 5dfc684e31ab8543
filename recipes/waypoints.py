"""Agents of graphs on the ground: how much of their success is left, rung by rung, in Hearth's val-unseen houses.

    python recipes/waypoints.py SEASON               # 40 episodes of each house, every rung, own and another's words
    python recipes/waypoints.py SEASON --rungs panorama --agents rcm-fidelity agent.safetensors
    python recipes/waypoints.py SEASON --episodes 0  # all episodes

Every row is `itinera run` and `itinera score` by VLN-CE's protocol. With another episode's words an agent can only
succeed by habits: the difference is what it reads. The same agent on the graph is scored by distance on the graph and,
with its nodes as places on the ground, by distance on the ground; the two are never mixed. If interrupted, rerun the
command to resume.

Expected (rcm-fidelity, SR by ground distance): with depth waypoints and annotated views at least 0.8 of the same policy
on the graph; from one panorama and dead reckoning alone at least 0.7; own minus another's words above 26 points.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import itinera
from itinera.formats.catalog import read_surfaces
from itinera.formats.vlnce import read_dense
from itinera.hearth.viewpoints import EYE_HEIGHT
from itinera.metrics.suites import Suite, paper
from itinera.records import Ending, Predictions, ScoreTable, Trajectory
from itinera.seeding import generator
from itinera.tasks import Episode, Split
from itinera.tasks.protocol import R2R_CE
from itinera.worlds import NavGraph, World
from itinera.worlds.world import Worlds

SEED = 0
EPISODES = 40  # of a house
METRICS = ("SR", "SPL", "nDTW", "OSR")
COLUMNS = ("agent", "rung", "words", *(f"{metric} %" for metric in METRICS), "out of steps %", "PL m", "decisions")


@dataclass(frozen=True)
class Rung:
    """What an agent on the ground is given."""

    waypoints: str
    views: str
    driver: str
    stops: str = "waypoint"


RUNGS = {
    "viewpoints": Rung("graph", "annotations", "follower"),
    "surface": Rung("surface", "annotations", "follower"),
    "depth": Rung("depth", "annotations", "follower"),
    "inferred": Rung("depth", "inferred", "follower"),
    "panorama": Rung("depth", "inferred", "straight"),
    "depth-between": Rung("depth", "annotations", "follower", "between"),
    "panorama-between": Rung("depth", "inferred", "straight", "between"),
}
GRAPH = "graph"  # the rung of the graph itself


def sample_tasks(season: Path, split: str, count: int) -> Split:
    """The continuous tasks of a split with their dense references; `count` episodes of each house, 0 for all."""
    tasks = itinera.read_tasks(season / "vlnce" / split / f"{split}.json.gz")
    dense = read_dense(season / "vlnce" / split / f"{split}_gt.json.gz")
    chosen: list[Episode] = []
    for world_id in tasks.world_ids:
        own = [episode for episode in tasks if episode.world_id == world_id]
        order = generator(SEED, "waypoints", world_id).permutation(len(own))[: count or None]
        chosen += [replace(own[k], reference=dense[own[k].id].positions) for k in sorted(order)]
    return replace(tasks, episodes=tuple(chosen))


def exchange_words(tasks: Split) -> Split:
    """The same episodes, each with the words of one of another path."""
    order = generator(SEED, "another's words").permutation(len(tasks.episodes))
    donors = np.roll(order, 1)
    episodes = list(tasks.episodes)
    for own, donor in zip(order, donors, strict=True):
        episodes[own] = replace(tasks.episodes[own], instruction=tasks.episodes[donor].instruction)
    return replace(tasks, episodes=tuple(episodes))


def graph_tasks(season: Path, split: str, tasks: Split, words: Split) -> Split:
    """The same episodes on the graph, with these words and the ids of the continuous ones."""
    episodes = itinera.read_tasks(season / "r2r" / f"R2R_{split}.json")
    by_words = {(episode.world_id, episode.instruction.text): episode for episode in episodes}
    found = []
    for episode, said in zip(tasks.episodes, words.episodes, strict=True):
        own = by_words[episode.world_id, episode.instruction.text]
        found.append(replace(own, id=episode.id, instruction=said.instruction))
    return replace(episodes, episodes=tuple(found))


def place_on_ground(predictions: Predictions, tasks: Split, worlds: Mapping[str, World]) -> Predictions:
    """Walks over nodes as positions on the ground below them."""
    trajectories = []
    for trajectory in predictions:
        graph = worlds[tasks.by_id[trajectory.episode_id].world_id].space
        assert isinstance(graph, NavGraph)
        nodes = [graph.index[str(place)] for place in trajectory.places]
        places = graph.positions[nodes] - np.array([0.0, 0.0, EYE_HEIGHT])
        trajectories.append(Trajectory(trajectory.episode_id, places, ending=trajectory.ending))
    return Predictions.from_trajectories("graph", tuple(trajectories))


def format_row(
    agent: str, rung: str, words: str, scores: Mapping[str, ScoreTable], predictions: Predictions
) -> list[str]:
    """A row of the table: means and 95 % intervals over houses."""
    row = [agent, rung, words]
    for metric in METRICS:
        if metric == "nDTW" and rung.startswith(GRAPH):
            row.append("–")  # over nodes, which is not comparable with that of steps
            continue
        found = scores[metric].interval(metric)
        row.append(f"{100 * found.mean:.1f} ({100 * found.low:.1f} – {100 * found.high:.1f})")
    endings = [trajectory.ending for trajectory in predictions]
    out = endings.count(Ending.OUT_OF_STEPS) / len(endings)
    on_graph = rung.startswith(GRAPH)
    decisions = [1 + (len(t.places) - 1 if on_graph else t.notes.get("decisions", 0)) for t in predictions]  # STOP too
    return [*row, f"{100 * out:.1f}", f"{scores['PL'].mean('PL'):.1f}", f"{np.mean(decisions):.1f}"]


class Ladder:
    """The rungs of a season, with the worlds in memory."""

    def __init__(self, season: Path, split: str, count: int, out: Path) -> None:
        self.season, self.split, self.out = season, split, out
        surfaces = read_surfaces(season, R2R_CE)
        assert surfaces is not None
        self.tasks = sample_tasks(season, split, count)
        # All in memory: every rung needs them, and agents take turns.
        self.ground = Worlds({name: surfaces[name] for name in self.tasks.world_ids}, str(season))
        self.graphs = Worlds(itinera.read_worlds(season / "connectivity"), str(season))
        self.words = {"own": self.tasks, "another's": exchange_words(self.tasks)}

    def run(self, agent: str, rung: str, words: str, workers: int) -> list[list[str]]:
        """The rows of an agent on a rung."""
        name = Path(agent).stem
        file = self.out / f"{self.split}-{name}-{rung}-{'own' if words == 'own' else 'other'}.jsonl"
        if rung == GRAPH:
            tasks = graph_tasks(self.season, self.split, self.tasks, self.words[words])
            found = itinera.run(agent, tasks, self.graphs, workers=workers, out=file)
            by_ground = self.score(place_on_ground(found, tasks, self.graphs))
            by_graph = dict.fromkeys(("SR", "SPL", "OSR", "PL"), itinera.score(found, tasks, self.graphs))
            return [
                format_row(name, "graph, by ground distance", words, by_ground, found),
                format_row(name, "graph, by graph distance", words, by_graph, found),
            ]
        chosen = RUNGS[rung]
        options = {name: getattr(chosen, name) for name in ("waypoints", "views", "driver", "stops")}
        found = itinera.run(agent, self.words[words], self.ground, workers=workers, out=file, **options)
        return [format_row(name, rung, words, self.score(found), found)]

    def score(self, predictions: Predictions) -> dict[str, ScoreTable]:
        """Success by geodesic distance over the ground, and nDTW by straight lines, as VLN-CE measures it."""
        options = {"implausible": "keep", "repeats": "drop"}  # nodes are farther apart than a step
        goal = select_metrics("SR", "SPL", "OSR", "PL")
        found = itinera.score(predictions, self.tasks, self.ground, suite=goal, **options)
        straight = itinera.score(predictions, self.tasks, suite=select_metrics("nDTW"), **options)
        return {**dict.fromkeys(("SR", "SPL", "OSR", "PL"), found), "nDTW": straight}


def select_metrics(*names: str) -> Suite:
    """The suite of VLN-CE's protocol, with these metrics alone: nDTW over the ground would take minutes."""
    suite = paper(R2R_CE)
    return replace(suite, metrics=tuple(metric for metric in suite.metrics if metric.name in names))


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Print Markdown."""
    for row in [COLUMNS, ["---"] * len(COLUMNS), *rows]:
        print("| " + " | ".join(row) + " |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="Hearth season; built if missing")
    parser.add_argument("--agents", nargs="+", default=["rcm-fidelity"], help="agents of graphs (rcm-fidelity)")
    parser.add_argument("--rungs", nargs="+", default=[GRAPH, *RUNGS], help=f"of {', '.join([GRAPH, *RUNGS])} (all)")
    parser.add_argument("--words", nargs="+", default=["own", "another's"], help="own, another's (both)")
    parser.add_argument("--split", default="val_unseen", help="val_unseen or val_seen")
    parser.add_argument("--episodes", type=int, default=EPISODES, help=f"of each house; 0 for all ({EPISODES})")
    parser.add_argument("--out", type=Path, default=Path(".learning/waypoints"), help="folder for predictions")
    parser.add_argument("--workers", type=int, default=0, help="worker processes (0: this one)")
    args = parser.parse_args()
    if not (args.season / "season.json").exists():
        itinera.build_hearth(args.season)
    args.out.mkdir(parents=True, exist_ok=True)
    ladder = Ladder(args.season, args.split, args.episodes, args.out)
    rows = []
    for agent in args.agents:
        for rung in args.rungs:
            for words in args.words:
                rows += ladder.run(agent, rung, words, args.workers)
                print(rows[-1], flush=True)
    print_table(rows)


if __name__ == "__main__":
    main()
