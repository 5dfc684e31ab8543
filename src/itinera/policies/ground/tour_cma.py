"""TourCMA: CMA whose first GRU is reset only at the start of a tour.

The paper resets the second GRU in every episode. The released code resets neither, so that the state from which
actions are predicted persists too, and it steps both GRUs in oracle phases; `persistent="both"` does the same.
Gradients are cut between episodes by the trainer (`base.detach`).

Reference: Krantz et al. 2022, Iterative Vision-and-Language Navigation, section 4.2.1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from torch import Tensor

from itinera.policies.ground.cma import SMALL_IMAGE, CMAConfig, ImagePolicy
from itinera.policies.ground.cross_modal import SMALL_SIZES, CMAFeatures, CMAState
from itinera.policies.tokenizer import Tokenizer


@dataclass(frozen=True)
class TourCMAConfig(CMAConfig):
    """Layer sizes of `TourCMA`, and which GRUs persist; the defaults are the paper's."""

    persistent: Literal["vision", "both"] = "vision"  # "both" as in the released code


SMALL = TourCMAConfig(**SMALL_SIZES, **SMALL_IMAGE)


class TourCMA(ImagePolicy[CMAState]):
    """CMA with a first GRU that remembers the tour."""

    config_class: type[Any] = TourCMAConfig
    remembers_tours = True

    def __init__(self, columns: Sequence[str], tokenizer: Tokenizer, config: TourCMAConfig | None = None) -> None:
        super().__init__(columns, tokenizer, config)
        self.steps_guided = cast(TourCMAConfig, self.config).persistent == "both"

    def update_instruction(self, state: CMAState, words: Tensor, lengths: Tensor) -> CMAState:
        """The state before the next episode: the instruction is new, and in the paper's variant the second GRU."""
        fresh = self.encode_instruction(words, lengths)
        return replace(fresh, vision=state.vision, hidden=state.hidden if self.steps_guided else fresh.hidden)

    def remember(self, state: CMAState, features: CMAFeatures) -> CMAState:
        return self.step(state, features)[0] if self.steps_guided else self.see(state, features)
