"""A policy as an agent: it acts in any simulator of graphs, and reports its action probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.base import Policy, PolicyOutput
from itinera.policies.observation import (
    GEOMETRY_DIM,
    BatchObservation,
    encode_geometry,
    encode_place_geometry,
    encode_view_angles,
    make_padded_index,
    view_headings,
)
from itinera.policies.pretrained import ModelRequirements
from itinera.policies.tokenizer import Tokenizer
from itinera.rendering.panorama import VIEWS, nearest_view
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction
from itinera.worlds import Array, Place


class PolicyAgent:
    """Chooses the most probable action of a policy.

    `columns` are the view features the policy was trained with, `view_columns` those of the views the agent will
    observe: they must include `columns`, in any order. Features without names must be equal in number.

    Between the episodes of a tour a policy keeps what its `update_instruction` keeps. `requirements` are the views the
    agent needs in a run, `fingerprint` identifies its weights, `metadata` says how they were trained.
    """

    def __init__(
        self,
        policy: Policy[Any],
        tokenizer: Tokenizer,
        columns: Sequence[str],
        *,
        view_columns: Sequence[str] = (),
        max_words: int = 80,
        requirements: ModelRequirements | None = None,
        fingerprint: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.requirements, self.fingerprint, self.metadata = requirements, fingerprint, dict(metadata or {})
        self._policy, self._tokenizer, self._max_words = policy, tokenizer, max_words
        self._num_features = len(columns)
        self._column_index = _find_columns(columns, view_columns)
        self._state: Any = None
        self._visited: list[Place] = []  # places left in this episode
        self._previous_place: Place | None = None
        self._previous: tuple[Tensor, Tensor]  # features and geometry of the candidate chosen last
        self._last_observation: Observation | None = None
        self._last_tensors: BatchObservation | None = None
        self._last_output: PolicyOutput | None = None
        self._clear_episode()

    def reset(self, rng: np.random.Generator) -> None:
        """Start in a new scene without any memory."""
        # A batch of one gains nothing from threads, and with one thread results do not depend on other processes.
        torch.set_num_threads(1)
        self._state = None
        self._clear_episode()

    def start_episode(self, instruction: Instruction) -> None:
        """Encode the next instruction."""
        words = torch.from_numpy(self._tokenizer.encode(instruction.text, max_length=self._max_words))[None]
        lengths = torch.tensor([words.shape[1]])
        with torch.no_grad():
            if self._state is None:
                self._state = self._policy.encode_instruction(words, lengths)
            else:
                self._state = self._policy.update_instruction(self._state, words, lengths)
        self._clear_episode()

    def act(self, observation: Observation) -> int:
        """The most probable action."""
        return int(self._forward(observation).logits[0].argmax())

    def action_probabilities(self, observation: Observation) -> Array:
        """(actions,) the probability of each action, STOP first."""
        return np.asarray(self._forward(observation).logits[0].double().softmax(dim=0).numpy())

    def observe(self, observation: Observation) -> None:
        """Update the policy's state while the agent is guided."""
        if self._state is not None:
            self._forward(observation)

    def encode(self, observation: Observation) -> BatchObservation:
        """The tensors of the next observation of an episode, for training; the policy is not stepped."""
        tensors = self._to_tensors(observation)
        self._last_observation, self._last_tensors, self._last_output = observation, tensors, None
        return tensors

    def _forward(self, observation: Observation) -> PolicyOutput:
        """The policy's output; a second call with the same observation does not step the policy again."""
        if observation is not self._last_observation or self._last_output is None:
            if self._state is None:
                raise BadArgument("The agent has no instruction yet. Call start_episode first.")
            tensors = self._to_tensors(observation)
            with torch.no_grad():
                self._state, self._last_output = self._policy(self._state, tensors)
            self._last_observation, self._last_tensors = observation, tensors
        assert self._last_output is not None
        return self._last_output

    def _to_tensors(self, observation: Observation) -> BatchObservation:
        candidates = observation.candidates
        if candidates is None:
            raise BadArgument(
                "This agent acts on navigation graphs, but the observation has no candidates. "
                "Use tasks and worlds that are graphs."
            )
        views = self._select_views(observation)
        self._record_move(observation)
        view = torch.tensor([nearest_view(observation.heading, observation.elevation)])
        count = torch.tensor([len(candidates.nodes)])
        moves = len(self._visited)
        geometry = encode_geometry(
            *(
                torch.from_numpy(column.astype(np.float32))
                for column in (candidates.headings, candidates.elevations, candidates.distances)
            ),
            agent_heading=view_headings(view),
            visited=torch.tensor([node in self._visited for node in candidates.nodes], dtype=torch.bool),
            back=torch.tensor([node == self._previous_place for node in candidates.nodes], dtype=torch.bool),
            counts=count,
            moves=torch.tensor(moves),
        )
        panorama = self._policy.uses_panorama
        return BatchObservation(
            views[torch.tensor(candidates.views)],
            geometry,
            make_padded_index(count),
            views.amax(dim=0)[None] if self._num_features else torch.zeros(1, 0),
            encode_place_geometry(count, torch.tensor([moves])),
            *self._previous,
            views[None].half().float() if panorama else None,  # the precision of the training environment
            encode_view_angles(view) if panorama else None,
        )

    def _select_views(self, observation: Observation) -> Tensor:
        """(36, features) the view features the policy was trained with."""
        if not self._num_features:
            return torch.zeros(VIEWS, 0)
        if observation.views is None:
            raise BadArgument(
                "This agent was trained with view features, but the observation has none. Pass views=… (--views)."
            )
        views = torch.tensor(np.asarray(observation.views, dtype=np.float32))  # a copy: views are read-only
        if self._column_index is not None:
            return views[:, self._column_index]
        if views.shape[1] != self._num_features:
            raise BadArgument(
                f"This agent was trained with {self._num_features} features per view, but the observation has "
                f"{views.shape[1]}. Use the features it was trained with."
            )
        return views

    def _record_move(self, observation: Observation) -> None:
        """Note the candidate that led to a new place, whether the agent chose it or was guided."""
        last, tensors = self._last_observation, self._last_tensors
        if last is None or tensors is None or last.place == observation.place:
            return
        self._visited.append(last.place)
        self._previous_place = last.place
        if last.candidates is not None and observation.place in last.candidates.nodes:
            row = last.candidates.nodes.index(str(observation.place))
            self._previous = (tensors.candidates[row : row + 1], tensors.geometry[row : row + 1])

    def _clear_episode(self) -> None:
        self._visited = []
        self._previous_place = None
        self._previous = (torch.zeros(1, self._num_features), torch.zeros(1, GEOMETRY_DIM))
        self._last_observation = self._last_tensors = self._last_output = None


def _find_columns(columns: Sequence[str], view_columns: Sequence[str]) -> Tensor | None:
    """The index of each column among the columns of views; None if they are the same, or have no names."""
    if tuple(columns) == tuple(view_columns) or not any(columns) or not view_columns:
        return None
    index = {name: k for k, name in enumerate(view_columns)}
    missing = [name for name in columns if name not in index]
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise BadArgument(
            f'The agent was trained with the view feature "{missing[0]}"{more}, which these views do not have. '
            "Use views with the features it was trained with."
        )
    return torch.tensor([index[name] for name in columns])
