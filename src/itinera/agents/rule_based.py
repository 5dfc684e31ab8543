"""An agent that follows an instruction by rules: it reads the text, looks around, and takes the way that fits best.

It is given the words and what one sees, nothing else: no map, no names of places, no goal. What words mean it knows as
everybody does (`hearth/language/semantics.py`); how they were chosen, it does not.
"""

from __future__ import annotations

import copy
import math

import numpy as np

from itinera.agents.instruction_parser import parse
from itinera.errors import BadArgument
from itinera.hearth.language.scene_description import Outlook, Way
from itinera.hearth.language.semantics import Act, Clause, Point, Progress, done, fits, make_out
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction
from itinera.worlds import Array

PLAIN = 0.25  # the fit from which a way is taken without a second thought
PATIENCE = 20  # moves after which it stops wherever it is
SAME_PLACE = 0.4  # metres


class Reader:
    """Follows an instruction clause by clause."""

    def reset(self, rng: np.random.Generator) -> None:
        """A new place. Nothing is kept from the last one, and nothing is left to chance."""

    def start_episode(self, instruction: Instruction) -> None:
        self._clauses = parse(instruction.text)
        self._at = 0
        self._progress: Progress | None = None
        self._position: Point = (0.0, 0.0)
        self._visits: list[Point] = []
        self._led_from: Observation | None = None

    def observe(self, observation: Observation) -> None:
        """Being led within a task, it reads on and notes the way it is led; between tasks that teaches it nothing."""
        if isinstance(observation.description, Outlook):
            self._look(observation)
            self._led_from = observation

    def act(self, observation: Observation) -> int:
        """The number of the way to take, counted from 1, or STOP.

        Only sight and heading are looked at, and names of places only to see which way one was led.
        """
        outlook, progress = self._look(observation)
        self._led_from = None
        if self._at == len(self._clauses) or len(self._visits) > PATIENCE or not outlook.candidates:
            return STOP
        scores = fits(self._clauses[self._at], outlook, progress)
        if max(scores) < PLAIN:
            scores = [score * self._novelty(way) for score, way in zip(scores, outlook.candidates, strict=True)]
        choice = int(np.argmax(scores))
        self._take(outlook.candidates[choice], progress)
        return choice + 1

    def action_probabilities(self, observation: Observation) -> Array:
        """(actions,) 1 for what it would do: rules leave nothing to chance."""
        ahead = copy.copy(self)
        ahead._clauses, ahead._visits = list(self._clauses), list(self._visits)
        action = ahead.act(observation)
        return np.asarray(np.eye(1 + len(observation.description.candidates))[action])

    def _look(self, observation: Observation) -> tuple[Outlook, Progress]:
        """What is seen here, and how far one has come by it."""
        outlook = observation.description
        if not isinstance(outlook, Outlook):
            raise BadArgument("A reader must see what can be told in words. Give the walk the sights of its worlds.")
        self._follow(observation)
        self._visits.append(self._position)
        progress = self._progress or Progress(observation.heading, walked=False)
        self._progress = progress = self._catch_up(outlook, progress)
        return outlook, progress

    def _follow(self, observation: Observation) -> None:
        """Note the way by which one was led here, if one was."""
        before = self._led_from
        if before is None or before.candidates is None or observation.place not in before.candidates.nodes:
            return
        assert self._progress is not None
        self._take(before.description.candidates[before.candidates.nodes.index(observation.place)], self._progress)

    def _catch_up(self, outlook: Outlook, progress: Progress) -> Progress:
        """The progress with the clause to follow from here, those done left behind."""
        while self._at < len(self._clauses):
            progress = make_out(self._clauses[self._at], outlook, progress)
            if not done(self._clauses[self._at], outlook, progress):
                break
            if self._elsewhere(self._clauses[self._at], outlook):
                self._clauses[self._at : self._at] = [Clause(Act.ENTER, room=self._clauses[self._at].room)]
                continue
            self._at += 1
            progress = Progress(progress.heading, progress.walked)
        return progress

    def _elsewhere(self, clause: Clause, outlook: Outlook) -> bool:
        """Whether it should stop in a room it is not in."""
        return clause.act is Act.STOP and clause.room not in ("", outlook.room) and len(self._visits) < PATIENCE

    def _take(self, way: Way, progress: Progress) -> None:
        self._progress = progress.after(way)
        self._position = self._beyond(way)

    def _beyond(self, way: Way) -> Point:
        return self._position[0] + way.offset[0], self._position[1] + way.offset[1]

    def _novelty(self, way: Way) -> float:
        """Where nothing tells the way, places not yet seen come first."""
        there = self._beyond(way)
        return 0.2 ** sum(math.dist(there, visit) < SAME_PLACE for visit in self._visits)
