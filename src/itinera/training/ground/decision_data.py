"""The data of decision training: expert rolls and label names of each house, made on first use and kept in a folder."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from itinera.errors import BadArgument, BadFile, Fault
from itinera.formats.writing import atomic_write
from itinera.mapping.config import MapLifetime
from itinera.policies.checkpoint import Model
from itinera.policies.ground.decision import DecisionConfig
from itinera.policies.ground.polar_views import CAMERA, LabelNames, LabelWords, label_vocabulary
from itinera.policies.tokenizer import Tokenizer
from itinera.tasks import PROTOCOLS, Episode, Protocol, Split
from itinera.training.ground.decision_rolls import NOISE, Rolls, Sources, expert_rolls
from itinera.training.ground.decision_store import read_rolls, write_rolls
from itinera.worlds import World

VERSION = 1  # of views and rolls: raised when the same plan would make others
MIN_COUNT = 3  # of a word in the instructions, to be in the vocabulary
_log = logging.getLogger("itinera")

MakeRolls = Callable[[World, Sequence[Episode]], Rolls]


@dataclass(frozen=True, eq=False)
class DecisionData:
    """The episodes of a split on the ground, with the folder that keeps what is made of them."""

    split: Split
    worlds: Mapping[str, World]
    folder: Path
    seed: int = 0
    lifetime: MapLifetime = MapLifetime.EPISODIC  # of the maps of agents that remember
    source: str = ""  # the digest of the season, by which rolls in the folder are known again

    @property
    def protocol(self) -> Protocol:
        return PROTOCOLS[self.split.protocol]

    @cached_property
    def paths(self) -> dict[str, list[Episode]]:
        """One episode of each path, by world."""
        found: dict[str, dict[str, Episode]] = {}
        for episode in self.split.episodes:
            if not len(episode.goals):
                raise BadArgument(f"The goal of episode {episode.id} is withheld, so it cannot be used for training.")
            found.setdefault(episode.world_id, {}).setdefault(episode.path_id or episode.id, episode)
        return {world_id: list(rows.values()) for world_id, rows in found.items()}

    def names(self, world_id: str) -> LabelNames:
        """What the labels of a world are called."""
        path = self.folder / "names" / f"{world_id}.json"
        try:
            return msgspec.json.decode(path.read_bytes(), type=LabelNames)
        except (FileNotFoundError, msgspec.DecodeError):
            names = LabelNames.from_world(self.worlds[world_id])
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as stream:
                stream.write(msgspec.json.encode(names))
            return names

    def label_words(self, tokenizer: Tokenizer, config: DecisionConfig) -> dict[str, LabelWords]:
        """The words of the labels of each world."""
        return {
            world_id: LabelWords.from_texts(self.names(world_id).texts(config.labels), tokenizer.index)
            for world_id in self.paths
        }

    def fit_tokenizer(self, config: DecisionConfig) -> Tokenizer:
        """The words of the instructions that occur often enough, and all words of labels."""
        texts = [episode.instruction.text for episode in self.split.episodes]
        words = Tokenizer.fit(texts, min_count=MIN_COUNT).words
        more = label_vocabulary((self.names(world_id) for world_id in self.paths), config.labels) - set(words)
        return Tokenizer((*words, *sorted(more)))

    def plan(self, *more: object) -> str:
        """The fingerprint of what decides on the rolls of a world."""
        values = VERSION, self.source, self.seed, repr(self.protocol), repr(CAMERA), NOISE, more
        return hashlib.blake2b(repr(values).encode(), digest_size=16).hexdigest()

    def make_rolls(
        self, name: str, plan: str, make: MakeRolls, world_ids: Sequence[str], *, must_exist: bool = False
    ) -> list[Rolls]:
        """The rolls of each world, from the folder or made there; raises BadFile for lost ones that must exist."""
        found = []
        for count, world_id in enumerate(world_ids):
            episodes = self.paths[world_id]
            own = self.plan(plan, [(e.id, e.start.place.tolist(), e.goals.tolist()) for e in episodes])  # type: ignore[union-attr]
            path = self.folder / name / f"{world_id}.npz"
            rolls = read_rolls(path, own)
            if rolls is None and must_exist:
                problem = (
                    "is missing or damaged; these rolls were walked by the agent as it was earlier in its training."
                )
                raise BadFile(str(path), [Fault("", problem, "Train anew: --overwrite (overwrite=True).")])
            if rolls is None:
                rolls = make(self.worlds[world_id], episodes)
                write_rolls(path, rolls, own)
                _log.info("%s: rolls of %d of %d worlds.", name, count + 1, len(world_ids))
            found.append(rolls)
        return found

    def expert_rolls(self, config: DecisionConfig, world_ids: Sequence[str] | None = None) -> list[Rolls]:
        """Clean and noisy rolls of the teacher in each world."""

        sources = make_sources(config, self.lifetime)

        def make(world: World, episodes: Sequence[Episode]) -> Rolls:
            return expert_rolls(world, episodes, self.protocol, seed=self.seed, sources=sources)

        return self.make_rolls(f"expert-{self.view_name(config)}", "expert", make, world_ids or list(self.paths))

    def view_name(self, config: DecisionConfig) -> str:
        """The name of what an agent of a configuration sees: "panorama", or the lifetime of its map."""
        return self.lifetime.value if config.remembers else "panorama"

    def held_out(self, count: int = 6) -> frozenset[str]:
        """Worlds for choosing settings: every tenth or so of the split."""
        ids = sorted(self.paths)
        step = max(1, len(ids) // max(1, min(count, len(ids) // 3)))
        return frozenset(ids[step - 1 :: step][:count]) if len(ids) >= 3 else frozenset()


def make_sources(config: DecisionConfig, lifetime: MapLifetime) -> Sources:
    """What agents of a configuration see, with a map of this lifetime if they remember."""
    return Sources(lifetime if config.remembers else None)


def world_words(model: Model) -> Callable[[World], LabelWords]:
    """A function that returns the words of a world's labels in the vocabulary of a model."""
    index, kind = model.tokenizer.index, model.policy.config.labels
    return lambda world: LabelWords.from_texts(LabelNames.from_world(world).texts(kind), index)
