"""What agents of trained policies on the ground share: their identity, the context of a run, words and frames."""

from __future__ import annotations

import numpy as np
import pytest

from itinera.errors import BadArgument
from itinera.mapping.config import MapLifetime
from itinera.policies.ground.context_agent import ContextAgent
from itinera.policies.ground.requirements import GroundContext, GroundRequirements
from itinera.rendering.camera import Camera, blank_frames
from itinera.simulators.simulator import Candidates, Observation
from itinera.tasks import Instruction
from policies.ground.examples import TOKENIZER

REQUIREMENTS = GroundRequirements(64, 48, lifetime=MapLifetime.ITERATIVE)


class Bare(ContextAgent[str]):
    """An agent whose policy is a word."""

    def prepare(self) -> None:
        self.memory: list[str] = [f"{self._policy} {self.context.num_actions}"]


def make(**options) -> Bare:
    return Bare("policy", TOKENIZER, REQUIREMENTS, max_words=2, fingerprint="abc", metadata={"steps": 1}, **options)


def test_an_agent_in_another_context_is_the_same_without_memory():
    agent = make()
    agent.memory.append("seen")
    other = agent.with_context(GroundContext(num_actions=6))
    assert type(other) is Bare
    assert (other.requirements, other.fingerprint, other.metadata) == (REQUIREMENTS, "abc", {"steps": 1})
    assert (other.memory, agent.memory) == (["policy 6"], ["policy 4", "seen"])
    other.metadata["steps"] = 2
    assert agent.metadata == {"steps": 1}
    assert other.encode_words(Instruction("Word1 word2 word3."))[0].shape == (1, 2)


def test_maps_live_as_in_training_unless_the_context_says_otherwise():
    assert make().lifetime is MapLifetime.ITERATIVE
    assert make(context=GroundContext()).lifetime is MapLifetime.ITERATIVE
    assert make(context=GroundContext(lifetime=MapLifetime.KNOWN)).lifetime is MapLifetime.KNOWN


def test_words_are_numbered_and_cut():
    words, lengths = make().encode_words(Instruction("Word1 word2 word3."))
    expected = TOKENIZER.encode("Word1 word2 word3.", max_length=2)
    assert (words.tolist(), lengths.tolist()) == ([expected.tolist()], [len(expected)])


def test_an_observation_without_an_image_is_refused_in_words():
    place, nothing = np.zeros(3), np.zeros(0)
    frame = blank_frames(Camera(64, 48, 1.0), 1)[0]
    assert make().require_frame(Observation("hall", place, 0.0, 0.0, frame=frame)) is frame
    with pytest.raises(BadArgument, match=r"needs a camera of 64x48 pixels.* has no camera image\. Use camera="):
        make().require_frame(Observation("hall", place, 0.0, 0.0))
    on_graph = Candidates((), nothing, nothing, nothing, np.zeros(0, dtype=np.int64))
    with pytest.raises(BadArgument, match="is on a navigation graph"):
        make().require_frame(Observation("hall", "a", 0.0, 0.0, candidates=on_graph))
