"""The re-wording attack on a live phase: an agent that draws the houses from what it is shown, and words their paths.

Names of places are new in every episode, so it recognizes places by their appearance and joins its notes of all
episodes of the session. In its first episodes it only explores; then it takes, of the paths that it knows, the one that
the public generator words most like the text. It sees what an honest agent sees, and no more.

python tests/adversary/live_rewording.py SEASON     # its rates beside the honest reader's; needs SEASON-answers
"""

from __future__ import annotations

import math
import sys
from collections import deque
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import itinera
from adversary.rewording import DRAWS, _likeness, candidates
from itinera.agents.agent import Agent
from itinera.agents.rule_based import RuleBasedAgent
from itinera.formats import r2r
from itinera.formats.hosted_challenge import LiveRules
from itinera.formats.live_log import LiveLog, LiveTourLog
from itinera.hearth.language.generate import DETAILS, generate_instruction
from itinera.runs.live_client import AgentPlayer
from itinera.runs.live_host import LiveHost
from itinera.seeding import generator
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import PROTOCOLS, Instruction
from itinera.worlds import NavGraph

RULES = LiveRules(300.0, 86_400.0, None, None, "rgb,depth", 90.0, 1)
SECRET = "ab" * 16


class RewordingAgent:
    """Explores in its first episodes; then re-words the paths that it knows.

    explore: the episodes that are given up for exploration.
    """

    def __init__(self, explore: int) -> None:
        self._explore, self._episodes = explore, 0
        self._scenes: dict[str, Any] = {}  # appearance -> description with appearances for names
        self._links: dict[str, dict[int, str]] = {}  # appearance -> action -> appearance
        self._offsets: dict[str, np.ndarray] = {}  # appearance -> offset of each candidate

    def reset(self, rng: np.random.Generator) -> None:
        self._names: dict[str, str] = {}  # of this episode -> appearance
        self._seen: dict[str, tuple[str, ...]] = {}  # appearance -> names of the candidates, of this episode

    def start_episode(self, instruction: Instruction) -> None:
        self._text, self._plan = instruction.text, None
        self._episodes += 1

    def observe(self, observation: Observation) -> None:
        pass

    def act(self, observation: Observation) -> int:
        here = self._note(observation)
        if self._plan is None and self._episodes > self._explore:
            self._plan = self._choose(here, observation.heading)
        if self._plan:
            if here == self._plan[-1]:
                return STOP
            wanted = self._plan[self._plan.index(here) + 1]
            return next(action for action, there in self._links[here].items() if there == wanted)
        return self._walk_on(here)

    def _note(self, observation: Observation) -> str:
        """The appearance of the place, with everything about it in the notes."""
        scene, found = observation.description, observation.candidates
        here = repr((scene.room, scene.objects, scene.candidates))
        self._names[observation.place] = here
        self._seen[here] = found.nodes
        self._scenes[here] = scene
        flat = found.distances * np.cos(found.elevations)
        self._offsets[here] = np.stack(
            [flat * np.cos(found.headings), flat * np.sin(found.headings), found.distances * np.sin(found.elevations)],
            axis=1,
        )
        for place, nodes in self._seen.items():
            known = {k + 1: self._names[name] for k, name in enumerate(nodes) if name in self._names}
            self._links.setdefault(place, {}).update(known)
        return here

    def _walk_on(self, here: str) -> int:
        """The action toward the nearest candidate that no link explains."""
        queue, first = deque([here]), {here: 0}
        while queue:
            place = queue.popleft()
            links = self._links.get(place, {})
            unknown = [k for k in range(1, len(self._offsets[place]) + 1) if k not in links]
            if unknown:
                return first[place] or unknown[0]
            for action, there in links.items():
                if there not in first:
                    first[there] = first[place] or action
                    queue.append(there)
        return STOP

    def _choose(self, here: str, heading: float) -> tuple[str, ...]:
        """The known path from here whose wording is most like the text; none if no path is known."""
        positions, queue = {here: np.zeros(3)}, deque([here])
        edges = set()
        while queue:
            place = queue.popleft()
            for action, there in self._links[place].items():
                edges.add(tuple(sorted((place, there))))
                if there not in positions:
                    positions[there] = positions[place] + self._offsets[place][action - 1]
                    queue.append(there)
        if not edges:
            return ()
        graph = NavGraph.from_edges({name: tuple(at) for name, at in positions.items()}, sorted(edges))
        scenes = {name: self._name(name, graph) for name in graph.nodes}
        likeness = {path: self._compare(path, scenes, heading) for path in candidates(graph, here)}
        return max(likeness, key=lambda path: likeness[path]) if likeness else ()

    def _name(self, place: str, graph: NavGraph) -> Any:
        """The description of a place with the names of its candidates, as the generator wants it."""
        links = self._links[place]
        ways = [replace(way, node=links[k]) for k, way in enumerate(self._scenes[place].candidates, 1) if k in links]
        return replace(self._scenes[place], node=place, candidates=tuple(ways))

    def _compare(self, path: tuple[str, ...], scenes: dict[str, Any], heading: float) -> float:
        best = -math.inf
        for detail in DETAILS:
            rng = generator(0, detail, *path)
            for _ in range(DRAWS):
                said = generate_instruction(scenes, path, heading, rng, detail=detail).text
                best = max(best, _likeness(self._text, said))
        return best


def play(host: LiveHost, agent: Agent) -> LiveLog:
    """A session of an agent, one tour after another."""
    tours = []
    for number in range(host.tours):
        player, answers = AgentPlayer(agent), []
        state = host.play(SECRET, number, 0, [])
        assert state is not None
        while (answer := player.answer(state.payload)) is not None:
            assert isinstance(answer, int), answer
            answers.append(answer)
            state = host.play(SECRET, number, len(answers) - 1, [(answer, "")])
            assert state is not None
        tours.append(LiveTourLog(number, answers))
    return LiveLog("test", SECRET, tuple(tours))


def measure(season: Path) -> dict[str, dict[str, float]]:
    """SR and SPL of the honest reader and of the attack, by the episodes that it gives up."""
    tasks = season.with_name(f"{season.name}-answers") / "r2r/R2R_test.json"
    split = r2r.read_split(tasks)
    rows = {}
    agents: dict[str, Agent] = {"reader": RuleBasedAgent()}
    agents |= {f"attack, {n} explored": RewordingAgent(n) for n in (0, len(split) // 4, len(split) // 2)}
    for name, agent in agents.items():
        host = LiveHost(split, season, PROTOCOLS["r2r"], RULES)
        scores = itinera.score(host.rebuild(play(host, agent), name), split, season / "connectivity")
        rows[name] = {metric: float(scores.mean(metric)) for metric in ("SR", "SPL", "nDTW")}
    return rows


if __name__ == "__main__":
    for name, rates in measure(Path(sys.argv[1])).items():
        print(name, {metric: round(rate, 3) for metric, rate in rates.items()})
