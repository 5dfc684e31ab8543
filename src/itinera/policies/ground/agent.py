"""A policy on the ground as an agent: it owns the recurrent state and the map of a tour."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch

from itinera.errors import BadArgument
from itinera.mapping.egocentric_map import Columns, EgocentricMaps
from itinera.mapping.explored_map import explored_map
from itinera.mapping.known_map import known_map
from itinera.mapping.mapper import EgocentricMapper
from itinera.policies.ground.base import GroundOutput, GroundPolicy
from itinera.policies.ground.context_agent import CAMERA_REMEDY, ContextAgent
from itinera.policies.ground.observation import (
    NUM_ACTIONS,
    GroundObservation,
    encode_depth,
    encode_previous_actions,
    encode_rgb,
    merge_map,
)
from itinera.policies.ground.requirements import GroundRequirements
from itinera.policies.segmentation.semantics import TRUE, SemanticSource, load_semantics
from itinera.rendering.camera import Frame
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction
from itinera.worlds import Array, World

NONE_YET = -1  # the previous action at the start of an episode, and while the agent is guided


class GroundPolicyAgent(ContextAgent[GroundPolicy[Any, Any]]):
    """Chooses the most probable action of a policy on the ground.

    The map lives as the context says, or else as in training: *episodic* maps are cleared in every episode and guided
    step, *iterative* ones at the start of a tour, and *known* ones are made from the mesh of the world.
    """

    def prepare(self) -> None:
        """Make the mapper, if the policy reads maps."""
        self._device = next(self._policy.parameters()).device
        self._mapper = self._make_mapper()
        self._semantics = None if self._mapper is None else load_semantics(self._semantics_name)
        self._state: Any = None
        self._action = NONE_YET
        self._last_observation: Observation | None = None
        self._last_output: GroundOutput | None = None

    @property
    def _semantics_name(self) -> str:
        return self.requirements.semantics if self.context.semantics is None else self.context.semantics

    def _make_mapper(self) -> EgocentricMapper | None:
        if self.requirements.map is None:
            return None
        camera = self.requirements.camera(self._semantics_name).camera
        make = partial(make_known_map, requirements=self.requirements, semantics=load_semantics(self._semantics_name))
        return EgocentricMapper(
            self.context.worlds, camera, lifetime=self.lifetime, config=self.requirements.map, make_known=make
        )

    def reset(self, rng: np.random.Generator) -> None:
        """Start a tour in a new scene without any memory."""
        # A batch of one gains nothing from threads, and with one thread results do not depend on other processes.
        torch.set_num_threads(1)
        self._state = None
        if self._mapper is not None:
            self._mapper.reset()
        self._forget_step()

    def start_episode(self, instruction: Instruction) -> None:
        """Encode the next instruction."""
        words, lengths = (part.to(self._device) for part in self.encode_words(instruction))
        with torch.no_grad():
            if self._state is None:
                self._state = self._policy.encode_instruction(words, lengths)
            else:
                self._state = self._policy.update_instruction(self._state, words, lengths)
        if self._mapper is not None:
            self._mapper.start_episode()
        self._forget_step()

    def act(self, observation: Observation) -> int:
        """The most probable action."""
        logits = self._forward(observation).logits[0]
        if not bool(torch.isfinite(logits).all()):
            raise BadArgument("The policy's action scores are not finite: its weights contain NaN or infinity.")
        self._action = int(logits.argmax())
        return self._action

    def action_probabilities(self, observation: Observation) -> Array:
        """(actions,) the probability of each action, STOP first."""
        probabilities = self._forward(observation).logits[0].double().softmax(dim=0).cpu().numpy()
        return np.pad(probabilities, (0, self.context.num_actions - NUM_ACTIONS))

    def observe(self, observation: Observation) -> None:
        """Update the map and the policy's state while the agent is guided."""
        if self._state is None:
            return
        self._action = NONE_YET
        tensors = self._to_tensors(observation, guided=True)
        with torch.no_grad():
            self._state = self._policy.observe(self._state, tensors)
        self._last_observation = None

    def held_map(self) -> EgocentricMaps | None:
        """The egocentric map (1, size, size) after the last observation; None for an agent without maps."""
        return None if self._mapper is None else self._mapper.held

    def _forward(self, observation: Observation) -> GroundOutput:
        """The policy's output; a second call with the same observation does not step the policy again."""
        if observation is not self._last_observation or self._last_output is None:
            if self._state is None:
                raise BadArgument("The agent has no instruction yet. Call start_episode first.")
            tensors = self._to_tensors(observation, guided=False)
            with torch.no_grad():
                self._state, self._last_output = self._policy(self._state, tensors)
            self._last_observation = observation
        return self._last_output

    def _to_tensors(self, observation: Observation, *, guided: bool) -> GroundObservation:
        frame = self._check_frame(observation)
        previous = encode_previous_actions(np.array([self._action]), np.array([observation.collided]))
        arrays: dict[str, Any] = {"depth": encode_depth(frame.depth[None], self._policy.depth_size)}
        if self._policy.uses_rgb:
            arrays["rgb"] = encode_rgb(frame.rgb[None], self._policy.rgb_size)
        maps = self._update_map(observation, frame, guided=guided)
        if maps is not None:
            arrays["map"] = merge_map(maps.occupancy, maps.labels)
        tensors = {name: torch.from_numpy(values).to(self._device) for name, values in arrays.items()}
        return GroundObservation(previous_action=torch.from_numpy(previous).to(self._device), **tensors)

    def _update_map(self, observation: Observation, frame: Frame, *, guided: bool) -> EgocentricMaps | None:
        if self._mapper is None or self._semantics is None:
            return None
        if observation.world_id not in self.context.worlds:
            raise BadArgument(
                f"This agent builds maps and needs world {observation.world_id}: give the worlds as "
                "agent.with_context(GroundContext(worlds)); itinera.run does."
            )
        labels = self._semantics(Frame(*(channel[None] if len(channel) else channel for channel in frame.channels)))[0]
        return self._mapper.update(
            observation.world_id,
            np.asarray(observation.place),
            observation.heading,
            frame.depth,
            labels,
            elevation=observation.elevation,
            guided=guided,
            classes=False,
        )

    def _check_frame(self, observation: Observation) -> Frame:
        """The camera image of an observation, if it is one of the camera this agent needs."""
        frame, needs = self.require_frame(observation), self.requirements
        if frame.depth.shape != (needs.height, needs.width):
            shape = "x".join(map(str, frame.depth.shape[::-1])) or "no"
            camera = needs.describe_camera()
            raise BadArgument(f"This agent needs {camera}, but depth has {shape} pixels. {CAMERA_REMEDY}")
        channels = {"rgb"} if self._policy.uses_rgb else set()
        channels |= set(() if self._semantics is None else self._semantics.channels)
        missing = sorted(name for name in channels if not len(getattr(frame, name)))
        if missing:
            raise BadArgument(f"This agent also needs the camera's {' and '.join(missing)}. {CAMERA_REMEDY}")
        return frame

    def _forget_step(self) -> None:
        self._action = NONE_YET
        self._last_observation = self._last_output = None


def make_known_map(world: World, *, requirements: GroundRequirements, semantics: SemanticSource) -> Columns:
    """The known map of a world: from the classes of its mesh, or with inferred labels from views all over it."""
    if semantics.fingerprint == TRUE:
        return known_map(world, requirements.map)
    sensor = requirements.camera()
    return explored_map(world, sensor.camera, semantics, requirements.map, channels=semantics.channels)
