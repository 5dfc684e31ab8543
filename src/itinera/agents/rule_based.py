"""A rule-based agent: it parses the instruction and moves to the candidate that fits the current clause best.

It uses the text and scene descriptions only: no map, no node names, no goal. The meaning of words is defined in
`hearth/language/semantics.py`; it does not know how the generator chose them.
"""

from __future__ import annotations

import copy
import math

import numpy as np

from itinera.agents.instruction_parser import parse
from itinera.errors import BadArgument
from itinera.hearth.language.scene_description import DescribedCandidate, SceneDescription
from itinera.hearth.language.semantics import Act, Clause, Point, Progress, candidate_scores, is_done, resolve_target
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction
from itinera.worlds import Array

CLEAR_FIT = 0.25  # the score from which a candidate is taken, visited or not
MAX_MOVES = 20  # after which it stops
SAME_PLACE = 0.4  # metres


class RuleBasedAgent:
    """Follows an instruction clause by clause."""

    def reset(self, rng: np.random.Generator) -> None:
        """This agent is deterministic and keeps nothing between scenes."""

    def start_episode(self, instruction: Instruction) -> None:
        self._clauses = parse(instruction.text)
        self._at = 0
        self._progress: Progress | None = None
        self._position: Point = (0.0, 0.0)
        self._visits: list[Point] = []
        self._guided_from: Observation | None = None

    def observe(self, observation: Observation) -> None:
        """Follow a teacher-forced path clause by clause; between episodes this has no effect."""
        if isinstance(observation.description, SceneDescription):
            self._update(observation)
            self._guided_from = observation

    def act(self, observation: Observation) -> int:
        """The index of the best candidate, counted from 1, or STOP.

        It uses the description and heading only, and node names only to recognize a guided move.
        """
        description, progress = self._update(observation)
        self._guided_from = None
        if self._at == len(self._clauses) or len(self._visits) > MAX_MOVES or not description.candidates:
            return STOP
        scores = candidate_scores(self._clauses[self._at], description, progress)
        if max(scores) < CLEAR_FIT:
            scores = [
                score * self._novelty(candidate)
                for score, candidate in zip(scores, description.candidates, strict=True)
            ]
        choice = int(np.argmax(scores))
        self._move(description.candidates[choice], progress)
        return choice + 1

    def action_probabilities(self, observation: Observation) -> Array:
        """(actions,) 1 for the action it takes: the rules are deterministic."""
        clone = copy.copy(self)
        clone._clauses, clone._visits = list(self._clauses), list(self._visits)
        action = clone.act(observation)
        return np.asarray(np.eye(1 + len(observation.description.candidates))[action])

    def _update(self, observation: Observation) -> tuple[SceneDescription, Progress]:
        """The description of this place, and the progress in the instruction."""
        description = observation.description
        if not isinstance(description, SceneDescription):
            raise BadArgument("The rule-based agent needs scene descriptions: run it on a Hearth season.")
        self._follow_guidance(observation)
        self._visits.append(self._position)
        progress = self._progress or Progress(observation.heading, has_moved=False)
        self._progress = progress = self._next_clause(description, progress)
        return description, progress

    def _follow_guidance(self, observation: Observation) -> None:
        """Record a guided move, if there was one."""
        before = self._guided_from
        if before is None or before.candidates is None or observation.place not in before.candidates.nodes:
            return
        assert self._progress is not None
        self._move(before.description.candidates[before.candidates.nodes.index(observation.place)], self._progress)

    def _next_clause(self, description: SceneDescription, progress: Progress) -> Progress:
        """The progress after all clauses that are done here."""
        while self._at < len(self._clauses):
            progress = resolve_target(self._clauses[self._at], description, progress)
            if not is_done(self._clauses[self._at], description, progress):
                break
            if self._is_in_other_room(self._clauses[self._at], description):
                self._clauses[self._at : self._at] = [Clause(Act.ENTER, room=self._clauses[self._at].room)]
                continue
            self._at += 1
            progress = Progress(progress.heading, progress.has_moved)
        return progress

    def _is_in_other_room(self, clause: Clause, description: SceneDescription) -> bool:
        """Whether it should stop in a room other than the current one."""
        return clause.act is Act.STOP and clause.room not in ("", description.room) and len(self._visits) < MAX_MOVES

    def _move(self, candidate: DescribedCandidate, progress: Progress) -> None:
        self._progress = progress.advance(candidate)
        self._position = self._position_at(candidate)

    def _position_at(self, candidate: DescribedCandidate) -> Point:
        return self._position[0] + candidate.offset[0], self._position[1] + candidate.offset[1]

    def _novelty(self, candidate: DescribedCandidate) -> float:
        """A factor that prefers places not yet visited, for clauses without a clear fit."""
        position = self._position_at(candidate)
        return 0.2 ** sum(math.dist(position, visit) < SAME_PLACE for visit in self._visits)
