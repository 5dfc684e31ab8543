"""A tour whose agent is elsewhere: each answer gives the requests up to the next one that needs an answer.

It does what `rollout` does with an agent of this process, and a test compares both. The requests are those of
`agents/remote.py`, of which only `act` is answered. They name places and worlds anew in every tour of every session:
within a tour a name is always the same place, elsewhere it is none. On the ground, coordinates begin at the start.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from itinera.agents.remote import encode_generator, encode_instruction, encode_request
from itinera.formats.live_log import END, FAILED, LATE, session_seed
from itinera.records import Ending, Phase, Rollout
from itinera.runs.config import TourJob
from itinera.runs.rollout import LONGEST_REASON, describe_failure
from itinera.runs.tour_loop import IllegalAction, TourLoop
from itinera.seeding import generator
from itinera.simulators.simulator import Candidates, Observation, Simulator
from itinera.tasks import Instruction, Protocol
from itinera.worlds import World

TOO_LATE = "The action came after the time limit of a step."
_NO_REASON = "The agent reports a failure."


class LiveTour:
    """A tour in progress. Call `start` once and `answer` with each answer, until it is `done`."""

    def __init__(
        self,
        simulator: Simulator,
        world: World,
        job: TourJob,
        *,
        protocol: Protocol,
        secret: str,
        wants: frozenset[str] = frozenset(),
    ) -> None:
        self._loop = TourLoop(simulator, world, job.episodes, protocol=protocol)
        self._job, self._secret, self._wants = job, secret, wants
        self._names = OpaqueNames(secret, job.tour.id)
        self._requests: list[bytes] = []
        self.answers = 0
        self.frames = 0  # images in its requests
        self.payload = b""  # the requests since the last answer

    @property
    def done(self) -> bool:
        """Whether all episodes have ended."""
        return self._loop.done

    @property
    def rollout(self) -> Rollout:
        """The trajectories; an episode in progress has failed, and later ones are left out."""
        loop = self._loop
        if not loop.done and loop.phase is Phase.ACTING:
            self._change(partial(loop.fail, {"failed": "The session ended."}))
        return Rollout(self._job.tour.id, tuple(loop.trajectories))

    def start(self) -> bytes:
        """The requests up to the first that needs an answer."""
        rng = generator(session_seed(self._secret), "run", self._job.tour.id)
        state = encode_generator(rng)
        # The very number that a remote agent gets in a run, and the generator for agents of this package.
        self._requests = [encode_request("reset", seed=int(rng.integers(1 << 31)), state=state)]
        self._change(self._loop.reset)
        return self._proceed()

    def answer(self, answer: int, reason: str = "") -> bytes:
        """The requests after an answer: an action, or why there is none."""
        self._requests = []
        self.answers += 1
        loop = self._loop
        if answer < 0:
            why = {FAILED: reason[:LONGEST_REASON] or _NO_REASON, LATE: TOO_LATE}[answer]
            self._change(lambda: loop.fail({"failed": why}))
            return self._proceed()
        try:
            loop.act(answer)
        except IllegalAction as error:
            notes = {"failed": str(error)}
            self._change(lambda: loop.fail(notes))
        except Exception as error:  # of the simulator
            loop.fail(describe_failure(error), lost=True)
        else:
            if loop.is_guided and loop.trajectories[-1].ending is Ending.OUT_OF_STEPS:
                self._request("observe", loop.observation)
        return self._proceed()

    def _proceed(self) -> bytes:
        loop = self._loop
        while not loop.done and loop.phase is not Phase.ACTING:
            self._change(loop.guide)
            if loop.is_guided:
                self._request("observe", loop.observation)
        if loop.done:
            self._requests.append(encode_request("end"))
        else:
            first = len(self._requests)
            self._request("act", loop.observation)
            if loop.is_first:
                instruction = self._names.hide_goal(loop.episode.instruction)
                self._requests.insert(first, encode_request("start_episode", **encode_instruction(instruction)))
        self.payload = b"".join(self._requests)
        return self.payload

    def _request(self, what: str, observation: Observation) -> None:
        self.frames += observation.frame is not None
        self._requests.append(encode_request(what, self._names.hide(observation), self._wants))

    def _change(self, change: Callable[[], object]) -> None:
        """Change the state of the loop; an episode that the simulator cannot start has failed, and so may the next."""
        while True:
            try:
                change()
            except Exception as error:
                change = partial(self._loop.fail, describe_failure(error), lost=True)
            else:
                return


class OpaqueNames:
    """New names for the worlds and places of a tour, and coordinates relative to its first place."""

    def __init__(self, secret: str, tour_id: str) -> None:
        self._key = hashlib.blake2b(f"{secret}\x1f{tour_id}".encode(), digest_size=32).digest()
        self._names: dict[str, str] = {}
        self._candidates: dict[str, Candidates] = {}
        self._origin: Any = None

    def name(self, true_name: str) -> str:
        """The name of a world or place in this tour."""
        found = self._names.get(true_name)
        if found is None:
            digest = hashlib.blake2b(true_name.encode(), key=self._key, digest_size=8)
            found = self._names[true_name] = digest.hexdigest()
        return found

    def hide(self, observation: Observation) -> Observation:
        """The observation without names and coordinates of the host."""
        place, candidates = observation.place, observation.candidates
        if not isinstance(place, str):
            self._origin = place if self._origin is None else self._origin
            hidden: Any = np.asarray(place) - self._origin
        else:
            hidden = self.name(place)
            if candidates is not None and place not in self._candidates:
                self._candidates[place] = replace(candidates, nodes=tuple(map(self.name, candidates.nodes)))
            candidates = None if candidates is None else self._candidates[place]
        return replace(observation, world_id=self.name(observation.world_id), place=hidden, candidates=candidates)

    def hide_goal(self, instruction: Instruction) -> Instruction:
        """The instruction with the point of PointNav in the coordinates of the tour."""
        if instruction.point_goal is None or self._origin is None:
            return instruction
        x, y, z = (np.asarray(instruction.point_goal) - self._origin).tolist()
        return replace(instruction, point_goal=(x, y, z))


def replay_answers(tour: LiveTour, answers: Sequence[int], reasons: Mapping[int, str]) -> Rollout:
    """The rollout of a tour in which an agent gave these answers; what is left over does not count."""
    tour.start()
    for number, answer in enumerate(answers):
        if tour.done or answer == END:
            break
        tour.answer(answer, reasons.get(number, ""))
    return tour.rollout
