"""TourHAMT: HAMT that keeps the steps of earlier episodes of a tour among those behind it.

Paper and released code differ in details; here the latest 50 tokens of the history are seen, [PREV] and [CLS] counted,
and it is always the oldest steps that are forgotten (the released code may forget the [CLS]). Steps one was led are
steps like any other, and are counted on from those one made oneself.

[PREV] tells that there were earlier episodes; which steps are theirs it cannot tell, since attention does not know the
order of tokens and every episode counts its steps from 0. That is so in the paper's model too.

Reference: Krantz et al. 2022, Iterative Vision-and-Language Navigation, section 4.1 and Table 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import torch
from torch import Tensor, nn

from itinera.policies import hamt
from itinera.policies.hamt import HAMT, State
from itinera.policies.observation import ANGLES, GEOMETRY
from itinera.policies.tokenizer import Vocabulary
from itinera.rendering.panorama import VIEWS


@dataclass(frozen=True)
class Sizes(hamt.Sizes):
    """How large the parts are; the defaults are the paper's."""

    most_steps: int = 50
    budget: int = 50  # tokens of the history
    tells_earlier: bool = True  # whether a token of its own, [PREV], tells that there were earlier episodes


SMALL = Sizes(**asdict(hamt.SMALL))


@dataclass(frozen=True)
class Switches:
    """A row of the paper's Table 2."""

    previous_history: bool  # PH: the steps of earlier episodes are kept in mind
    trained_history: bool  # TH: tokens of steps are learned, those of earlier episodes too
    history_told: bool  # PHI: [PREV]
    inflections: bool  # IW: steps where one turns or stops count more; see `itinera.training.inflection_weighting`

    @property
    def kind(self) -> str:
        """The kind of model."""
        return "tour-hamt" if self.previous_history else "hamt"

    def sizes(self, sizes: hamt.Sizes) -> hamt.Sizes:
        """Sizes of the model of a row."""
        sizes = replace(sizes, trains_history=self.trained_history)
        return Sizes(**asdict(sizes) | {"tells_earlier": self.history_told}) if self.previous_history else sizes


ROWS = {
    1: Switches(False, False, False, False),
    2: Switches(True, True, True, True),
    3: Switches(True, True, True, False),
    4: Switches(True, True, False, False),
    5: Switches(True, False, False, False),
}
"""Table 2; the first is HAMT."""


class TourHAMT(HAMT):
    """The navigator that remembers."""

    def __init__(self, columns: Sequence[str], vocabulary: Vocabulary, sizes: Sizes | None = None) -> None:
        sizes = sizes or Sizes()
        super().__init__(columns, vocabulary, sizes)
        self.budget = sizes.budget - 1 - sizes.tells_earlier  # steps
        self.before = nn.Parameter(torch.zeros(sizes.size)) if sizes.tells_earlier else None

    def read(self, words: Tensor, lengths: Tensor) -> State:
        """What is kept in mind after reading, where nothing was before."""
        place = self.features + (VIEWS * (self.features + ANGLES) if self.sizes.around else 0)
        raw = torch.zeros(len(words), 0, place + self.features + GEOMETRY)
        return replace(super().read(words, lengths), raw=raw)

    def read_on(self, state: State, words: Tensor, lengths: Tensor) -> State:
        """What is kept in mind after reading what is to be done next.

        Tokens of earlier steps are made again from what was seen, so that they are learned with those of this episode.
        """
        steps, moves, there = self._latest(state)
        fresh = self.read(words, lengths)
        tokens = self.step_tokens(steps.flatten(0, 1), moves.reshape(-1), fresh.meanings)
        past = tokens.reshape(*there.shape, self.sizes.size)
        return replace(fresh, earlier=steps, earlier_moves=moves, earlier_there=there, past=past)

    def _latest(self, state: State) -> tuple[Tensor, Tensor, Tensor]:
        """The latest steps of all episodes as they were seen, how far into its episode each was, and if it was one."""
        assert state.raw is not None
        steps, there = state.raw, state.there
        moves = there.cumsum(dim=1) - there.long()
        if state.earlier is not None and state.earlier_moves is not None and state.earlier_there is not None:
            steps, moves = torch.cat([state.earlier, steps], dim=1), torch.cat([state.earlier_moves, moves], dim=1)
            there = torch.cat([state.earlier_there, there], dim=1)
        kept = min(self.budget, int(there.sum(dim=1).max())) if there.shape[1] else 0
        # Those that were no steps first, then the others in their order, of which the last are kept.
        order = there.long().argsort(dim=1, stable=True)[:, there.shape[1] - kept :]
        who = torch.arange(len(order))[:, None]
        return steps[who, order], moves[who, order], there[who, order]

    def behind(self, state: State) -> tuple[Tensor, Tensor]:
        tokens, there = state.history, state.there
        if state.past is not None and state.earlier_there is not None:
            tokens, there = torch.cat([state.past, tokens], dim=1), torch.cat([state.earlier_there, there], dim=1)
        since = there.flip(1).cumsum(dim=1).flip(1)  # 1 for the latest step, 2 for the one before it, …
        there = there & (since <= self.budget)
        if state.past is not None and self.before is not None:
            walkers = len(tokens)
            token = self.step_norm(self.before + self.kinds.weight[hamt.STEP]).expand(walkers, 1, -1)
            tokens = torch.cat([token, tokens], dim=1)
            there = torch.cat([there.new_ones(walkers, 1), there], dim=1)
        return tokens, there
