"""A policy as an agent: it walks where any other walks, alone, and can be asked what it leans to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from itinera.errors import BadArgument
from itinera.policies.base import Policy, Weighed
from itinera.policies.observation import GEOMETRY, Seen, facing_views, geometry_of, heading_of, moment, slots_of
from itinera.policies.tokenizer import Vocabulary
from itinera.rendering.panorama import nearest_view
from itinera.simulators.simulator import Observation
from itinera.tasks import Instruction
from itinera.worlds import Array, Place


class Walker:
    """Walks by what a policy likes best. `shown` are the columns of the views it will be shown, which must have those
    the policy learned with, in whatever order; unnamed features must be as many.

    A policy that remembers (`read_on`) keeps its memory from episode to episode of a tour, and sees where it is led.
    """

    def __init__(
        self,
        policy: Policy[Any],
        vocabulary: Vocabulary,
        columns: Sequence[str],
        *,
        shown: Sequence[str] = (),
        most_words: int = 80,
    ) -> None:
        self._policy, self._vocabulary, self._most_words = policy, vocabulary, most_words
        self._size = len(columns)
        self._pick = _picked(columns, shown)
        self._around = bool(getattr(policy, "looks_around", False))
        self._remembers = hasattr(policy, "read_on")
        self._state: Any = None
        self._visited: list[Place] = []  # in this episode, before here
        self._before: Place | None = None
        self._taken: tuple[Tensor, Tensor]  # features and geometry of the way taken last
        self._last: Observation | None = None
        self._last_seen: Seen | None = None
        self._answer: Weighed | None = None  # to the last observation
        self._forget_way()

    def reset(self, rng: np.random.Generator) -> None:
        """A new place: nothing is kept in mind."""
        self._state = None
        self._forget_way()

    def start_episode(self, instruction: Instruction) -> None:
        words = torch.from_numpy(self._vocabulary.encode(instruction.text, most=self._most_words))[None]
        lengths = torch.tensor([words.shape[1]])
        with torch.no_grad():
            if self._remembers and self._state is not None:
                self._state = self._policy.read_on(self._state, words, lengths)  # type: ignore[attr-defined]
            else:
                self._state = self._policy.read(words, lengths)
        self._forget_way()

    def act(self, observation: Observation) -> int:
        return int(self._weighed(observation).logits[0].argmax())

    def action_probabilities(self, observation: Observation) -> Array:
        """(actions,) the probability of each, STOP first."""
        return np.asarray(self._weighed(observation).logits[0].double().softmax(dim=0).numpy())

    def observe(self, observation: Observation) -> None:
        """Being led within a task it looks as if it walked; between tasks only who remembers does."""
        if self._state is not None:
            self._weighed(observation)

    def _weighed(self, observation: Observation) -> Weighed:
        """What it makes of what it sees; asked again about the same observation, it does not look twice."""
        if observation is not self._last or self._answer is None:
            if self._state is None:
                raise BadArgument("The agent was not told what to do. Call begin first.")
            seen = self._see(observation)
            with torch.no_grad():
                self._state, self._answer = self._policy.step(self._state, seen)
            self._last, self._last_seen = observation, seen
        return self._answer

    def _see(self, observation: Observation) -> Seen:
        candidates = observation.candidates
        if candidates is None:
            raise BadArgument("This agent walks on graphs, and was shown no ways on.")
        views = self._views(observation)
        self._note_way(observation)
        view = torch.tensor([nearest_view(observation.heading, observation.elevation)])
        count = torch.tensor([len(candidates.nodes)])
        geometry = geometry_of(
            *(
                torch.from_numpy(column.astype(np.float32))
                for column in (candidates.headings, candidates.elevations, candidates.distances)
            ),
            facing=heading_of(view),
            visited=torch.tensor([node in self._visited for node in candidates.nodes], dtype=torch.bool),
            back=torch.tensor([node == self._before for node in candidates.nodes], dtype=torch.bool),
            counts=count,
            moves=torch.tensor(len(self._visited)),
        )
        return Seen(
            views[torch.tensor(candidates.views)],
            geometry,
            slots_of(count),
            views.amax(dim=0)[None] if self._size else torch.zeros(1, 0),
            moment(count, torch.tensor([len(self._visited)])),
            self._taken[0],
            self._taken[1],
            views[None].half().float() if self._around else None,  # as an atlas keeps them
            facing_views(view) if self._around else None,
        )

    def _views(self, observation: Observation) -> Tensor:
        if not self._size:
            return torch.zeros(36, 0)
        if observation.views is None:
            raise BadArgument("This agent learned with views of the places, and was shown none. Give the run --views.")
        views = torch.tensor(np.asarray(observation.views, dtype=np.float32))  # a copy: views may not be written to
        if self._pick is not None:
            return views[:, self._pick]
        if views.shape[1] != self._size:
            raise BadArgument(
                f"This agent learned with {self._size} features of a view, and is shown {views.shape[1]}."
            )
        return views

    def _note_way(self, observation: Observation) -> None:
        """Which way was taken from the place seen last, by its own choice or being led."""
        last, seen = self._last, self._last_seen
        if last is None or seen is None or last.place == observation.place:
            return
        self._visited.append(last.place)
        self._before = last.place
        if last.candidates is not None and observation.place in last.candidates.nodes:
            row = last.candidates.nodes.index(str(observation.place))
            self._taken = (seen.candidates[row : row + 1], seen.geometry[row : row + 1])

    def _forget_way(self) -> None:
        self._visited = []
        self._before = None
        self._taken = (torch.zeros(1, self._size), torch.zeros(1, GEOMETRY))
        self._last = self._last_seen = self._answer = None


def _picked(columns: Sequence[str], shown: Sequence[str]) -> Tensor | None:
    """Where the columns stand among those shown; None where they are the same, or neither has names."""
    if tuple(columns) == tuple(shown) or not any(columns) or not shown:
        return None
    place = {name: k for k, name in enumerate(shown)}
    missing = [name for name in columns if name not in place]
    if missing:
        raise BadArgument(
            f'The agent learned with views that tell of "{missing[0]}"{_more(missing)}, and those it is shown do not. '
            "Show it views like those it learned with."
        )
    return torch.tensor([place[name] for name in columns])


def _more(missing: Sequence[str]) -> str:
    return f" and {len(missing) - 1} more" if len(missing) > 1 else ""
