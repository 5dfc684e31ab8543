"""Instructions as token ids, for libraries whose networks take numbers only: Stable-Baselines3, CleanRL and others."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Dict
from numpy.typing import NDArray

from itinera.errors import BadArgument
from itinera.gym.observations import ObservationDict
from itinera.gym.tour_env import TourEnv
from itinera.policies.tokenizer import PAD, Tokenizer

INSTRUCTION = "instruction"


class TokenizeInstruction(
    gymnasium.Wrapper[ObservationDict, np.int64, ObservationDict, np.int64], gymnasium.utils.RecordConstructorArgs
):
    """Replaces the instruction, a text, by the ids of its words: a `Box` of `max_words` integers, padded with 0.

        env = TokenizeInstruction(gymnasium.make("itinera/GraphVLN-v0"))
        test_env = TokenizeInstruction(gymnasium.make("itinera/GraphVLN-v0", …), env.tokenizer)

    tokenizer: by default one of all words of the environment's own tasks. Give that of training to any other
        environment: ids mean the same words only with the same tokenizer.
    max_words: instructions are cut after this number of words and punctuation marks.
    """

    def __init__(
        self, env: gymnasium.Env[Any, Any], tokenizer: Tokenizer | None = None, *, max_words: int = 80
    ) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, tokenizer=tokenizer, max_words=max_words)
        gymnasium.Wrapper.__init__(self, env)
        space = env.observation_space
        if not isinstance(space, Dict) or INSTRUCTION not in space.spaces:
            raise BadArgument(f"{env} has no instructions to tokenize. Wrap GraphVLN, GroundVLN or Tour.")
        if max_words < 1:
            raise BadArgument(f"max_words must be ≥ 1 (got {max_words}).")
        if tokenizer is None:
            if not isinstance(env.unwrapped, TourEnv):
                raise BadArgument(f"{env} is not an environment of Itinera. Give a tokenizer.")
            episodes = env.unwrapped.task_set.split.episodes
            tokenizer = Tokenizer.fit((episode.instruction.text for episode in episodes), min_count=1)
        self.tokenizer, self.max_words = tokenizer, max_words
        ids = Box(0, len(tokenizer) - 1, (max_words,), np.int64)
        self.observation_space = Dict({**space.spaces, INSTRUCTION: ids})

    def reset(self, **arguments: Any) -> tuple[ObservationDict, dict[str, Any]]:
        observation, info = self.env.reset(**arguments)
        return self.tokenize(observation), info

    def step(self, action: Any) -> tuple[ObservationDict, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.env.step(action)
        if "guided_observations" in info:
            info = {**info, "guided_observations": tuple(map(self.tokenize, info["guided_observations"]))}
        return self.tokenize(observation), float(reward), terminated, truncated, info

    def tokenize(self, observation: ObservationDict) -> ObservationDict:
        """The observation with the ids of its instruction; without one, as while the agent is guided, all are 0."""
        ids = np.full(self.max_words, PAD, dtype=np.int64)
        if observation[INSTRUCTION]:
            words = self.tokenizer.encode(observation[INSTRUCTION], max_length=self.max_words)
            ids[: len(words)] = words
        return {**observation, INSTRUCTION: ids}

    def action_masks(self) -> NDArray[np.bool_]:
        """(actions,) whether each action is available now, as MaskablePPO of sb3-contrib asks for it."""
        masks: NDArray[np.bool_] = self.env.get_wrapper_attr("action_masks")()
        return masks
