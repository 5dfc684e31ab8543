"""A decision policy as an agent: it decides, and carries each decision out as primitive actions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from itinera.agents.decisions import STOP_HERE, Decision, DecisionController, back_bin
from itinera.errors import BadArgument
from itinera.policies.ground.context_agent import CAMERA_REMEDY, ContextAgent
from itinera.policies.ground.decision import DecisionPolicy, DecisionState, decide, make_tensors
from itinera.policies.ground.polar_views import LabelNames, LabelWords, PolarReader, PolarViews, bin_numbers
from itinera.policies.ground.remembered_views import RememberedViews
from itinera.rendering.camera import Frame
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction
from itinera.tasks.protocol import R2R_CE
from itinera.worlds import Array, World


class DecisionAgent(ContextAgent[DecisionPolicy]):
    """Acts by the decisions of a policy. One call of `act` is one primitive action, forward 0.25 m or a turn of 15°.

    It reads the names of the context's worlds, and its map lives as the context says, or else as in training.
    """

    def prepare(self) -> None:
        """Begin without a world and without a map."""
        if self.context.semantics not in (None, "true"):
            raise BadArgument(f"This agent reads true names; its semantics cannot be {self.context.semantics}.")
        self._controller = DecisionController(R2R_CE)
        self._state: DecisionState | None = None
        self._world: World | None = None
        self._memory: RememberedViews | None = None
        self._seen: Observation | None = None  # the last observation that entered the memory
        self._origin: Array | None = None  # where the last decision was made
        self._begin_episode()

    def reset(self, rng: np.random.Generator) -> None:
        """Start a tour in a new scene without any memory."""
        # A batch of one gains nothing from threads, and with one thread results do not depend on other processes.
        torch.set_num_threads(1)
        self._state = self._world = self._memory = None
        self._begin_episode()

    def start_episode(self, instruction: Instruction) -> None:
        """Encode the next instruction."""
        with torch.no_grad():
            self._state = self._policy.encode_instruction(*self.encode_words(instruction))
        if self._memory is not None:
            self._memory.clear([0])
        self._begin_episode()

    def act(self, observation: Observation) -> int:
        """The next primitive action."""
        if self._state is None:
            raise BadArgument("The agent has no instruction yet. Call start_episode first.")
        self._remember(observation)
        action = self._controller.act(observation)
        if action is not None:
            return action
        decision = self._decide(observation)
        if decision.stops:
            return STOP
        self._controller.start(decision)
        action = self._controller.act(observation)
        assert action is not None
        return action

    def observe(self, observation: Observation) -> None:
        """Remember what is in view while the agent is guided."""
        if self._policy.uses_map:
            self._enter(observation)
            if self._memory is not None:
                self._memory.clear([0])  # of an episodic map: its episode is over
            self._remember(observation)

    def _decide(self, observation: Observation) -> Decision:
        if self._decisions == self._policy.config.max_decisions:
            return STOP_HERE
        views, free = self._read(observation)
        back = np.array([back_bin(self._origin, observation)])
        views = replace(views, numbers=bin_numbers(free, back, np.array([self._controller.blocked])))
        assert self._state is not None
        with torch.no_grad():
            features = self._policy.encode_views(make_tensors(views, self._words))
            self._state, decisions, logits = decide(self._policy, self._state, features)
        if not bool(torch.isfinite(logits).all()):
            raise BadArgument("The policy's scores are not finite: its weights contain NaN or infinity.")
        self._decisions += 1
        self._origin = np.array(observation.place, dtype=np.float64)
        return decisions[0]

    def _read(self, observation: Observation) -> tuple[PolarViews, NDArray[np.float32]]:
        """What the agent sees or remembers from here."""
        self._enter(observation)
        place, heading = np.asarray(observation.place, dtype=np.float64)[None], np.array([observation.heading])
        if self._memory is not None:
            return self._memory.read(place, heading, [0])
        frame = self._check_frame(observation)
        frames = Frame(*(channel[None] if len(channel) else channel for channel in frame.channels))
        return self._reader.read(frames, place, heading, self.requirements.camera())

    def _remember(self, observation: Observation) -> None:
        """Insert what is in view into the map, once."""
        if not self._policy.uses_map or observation is self._seen:
            return
        self._enter(observation)
        frame = self._check_frame(observation)
        frames = Frame(*(channel[None] if len(channel) else channel for channel in frame.channels))
        place = np.asarray(observation.place, dtype=np.float64)[None]
        assert self._memory is not None
        self._memory.insert(frames, place, np.array([observation.heading]), [0])
        self._seen = observation

    def _enter(self, observation: Observation) -> None:
        """Read the names of the observation's world, unless the agent is in it already."""
        name = observation.world_id
        if self._world is not None and self._world.id == name:
            return
        if name not in self.context.worlds:
            raise BadArgument(
                f"This agent reads the names of things in world {name}: give the worlds as "
                "agent.with_context(GroundContext(worlds)); itinera.run does."
            )
        world = self.context.worlds[name]
        if not world.instances:
            raise BadArgument(
                f"World {name} has no names of things, which this agent reads. Use the houses of a Hearth season."
            )
        self._world = world
        names = LabelNames.from_world(world)
        self._words = LabelWords.from_texts(names.texts(self._policy.config.labels), self._tokenizer.index)
        if self._policy.uses_map:
            assert self.requirements.map is not None
            self._memory = RememberedViews([world], self.lifetime, self.requirements.map)
        else:
            self._reader = PolarReader.for_world(world)

    def _check_frame(self, observation: Observation) -> Frame:
        """The camera image of an observation, if it is one of the camera this agent needs."""
        frame, needs = self.require_frame(observation), self.requirements
        views = () if needs.around == 1 else (needs.around,)
        wanted = (*views, needs.height, needs.width)
        for name in ("depth", "classes", "instances"):
            shape = getattr(frame, name).shape
            if shape != wanted:
                raise BadArgument(f"This agent needs {name} of the shape {wanted}, but got {shape}. {CAMERA_REMEDY}")
        return frame

    def _begin_episode(self) -> None:
        self._controller.reset()
        self._decisions = 0
        self._origin = None
        self._seen = None
