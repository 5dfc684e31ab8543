"""Training data: R2R in Matterport scans, or a Hearth season, as an environment with datasets.

Observations are annotations: the names of rooms and objects are known, which is perfect perception. Scores may not be
compared with those of agents that observe images.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from itinera.builders.ablations import ablate
from itinera.builders.joining import JoinConfig, join_paths
from itinera.builders.tours import tour_scene
from itinera.formats import matterport, r2r, reverie, rooms
from itinera.formats.hearth_season import BOXES
from itinera.policies.checkpoint import ModelCard, make_card
from itinera.policies.tokenizer import Tokenizer
from itinera.seeding import generator
from itinera.simulators.view_features import annotated_views, feature_kind, frequent_names
from itinera.tasks import Episode, Instruction, Split, Tour
from itinera.training.dataset import EpisodeDataset
from itinera.training.vector_env import BatchedGraphEnv, build_env
from itinera.worlds import Pose, World

REACH = 10.0  # metres, of annotated views
MAX_OBJECT_NAMES = 250
NUM_HELD_OUT = 8  # training houses for choosing hyper-parameters
SPLITS = ("train", "val_seen", "val_unseen")


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Worlds and splits with their environment and tokenizer."""

    name: str
    worlds: Mapping[str, World]
    splits: Mapping[str, Split]
    columns: tuple[str, ...]  # of the views
    env: BatchedGraphEnv
    tokenizer: Tokenizer

    @property
    def object_names(self) -> tuple[str, ...]:
        """The names of objects that have a column of their own."""
        return tuple(column for column in self.columns if not feature_kind(column))

    @property
    def held_out(self) -> frozenset[str]:
        """Training worlds for choosing hyper-parameters; the same for every model."""
        ids = sorted({episode.world_id for episode in self.splits["train"].episodes})
        chosen = generator(0, "held out", self.name).permutation(len(ids))[: min(NUM_HELD_OUT, len(ids) // 3)]
        return frozenset(ids[k] for k in chosen)

    def dataset(self, split: str, *, max_words: int = 80, ablation: str = "full") -> EpisodeDataset:
        """The dataset of a split; "train/chosen" and "train/held out" are the two parts of the training split.

        `ablation` is a rule of `itinera build ablated`, such as last-5.
        """
        name, _, part = split.partition("/")
        episodes: Sequence[Episode] = ablate(self.splits[name], ablation).episodes
        if part:
            held_out = self.held_out
            episodes = [e for e in episodes if (e.world_id in held_out) == (part == "held out")]
        return EpisodeDataset.from_episodes(episodes, self.env, self.tokenizer, max_words=max_words)

    def card(self, kind: str, config: Any, **metadata: Any) -> ModelCard:
        """The card of a model for these views and words."""
        views = {"views": "annotations", "reach": REACH}
        return make_card(kind, config, self.columns, self.tokenizer, **views, metadata=metadata)


def load_r2r(
    data: Path,
    *,
    features: Sequence[str] = ("rooms", "objects"),
    panorama: bool = False,
    names: Sequence[str] | None = None,
    tokenizer: Tokenizer | None = None,
) -> TrainingData:
    """R2R in Matterport scans, from the data pack; `features`: rooms, objects, both, or () for geometry only.

    With the `names` of objects and the `tokenizer` of other data, a policy for that data acts here too; by default both
    come from the training split.
    """
    graphs = matterport.read_worlds(data / "connectivity.tar.xz", visible=True)
    splits = {name: r2r.read_split(data / "r2r" / f"R2R_{name}.json.gz") for name in SPLITS}
    objects = reverie.read_objects(data / "reverie" / "BBox.tar.xz") if "objects" in features else {}
    labels = rooms.read_table(data / "rooms" / "viewpoint_rooms.csv.gz") if "rooms" in features else {}
    return _make_data("R2R", graphs, splits, objects, labels, features, panorama, names, tokenizer)


def load_hearth(
    season: Path,
    *,
    features: Sequence[str] = ("rooms", "objects"),
    panorama: bool = False,
    names: Sequence[str] | None = None,
    tokenizer: Tokenizer | None = None,
) -> TrainingData:
    """The R2R-style tasks of a Hearth season (`itinera build hearth`); options as of `load_r2r`."""
    graphs = matterport.read_worlds(season / "connectivity", visible=True)
    splits = {name: r2r.read_split(season / "r2r" / f"R2R_{name}.json") for name in SPLITS}
    objects = reverie.read_objects(season / BOXES) if "objects" in features else {}
    labels = rooms.read_table(season / "rooms.csv") if "rooms" in features else {}
    return _make_data("Hearth", graphs, splits, objects, labels, features, panorama, names, tokenizer)


def _make_data(
    name: str,
    graphs: Mapping[str, World],
    splits: Mapping[str, Split],
    objects: Mapping[str, Any],
    labels: Mapping[str, Any],
    features: Sequence[str],
    panorama: bool,
    names: Sequence[str] | None,
    tokenizer: Tokenizer | None,
) -> TrainingData:
    ids = sorted({episode.world_id for split in splits.values() for episode in split.episodes})
    worlds = {id: replace(graphs[id], rooms=labels.get(id, {}), objects=objects.get(id, {})) for id in ids}
    if names is None:
        # The most frequent names of the training houses only, so that nothing leaks from the others.
        training = {episode.world_id for episode in splits["train"].episodes}
        seen = {id: worlds[id] for id in ids if id in training}
        names = frequent_names(seen, MAX_OBJECT_NAMES) if "objects" in features else ()
    views = annotated_views(worlds, names, reach=REACH) if features else None
    env = build_env(worlds, views, panorama=panorama)
    tokenizer = tokenizer or Tokenizer.fit(episode.instruction.text for episode in splits["train"].episodes)
    return TrainingData(name, worlds, splits, () if views is None else views.columns, env, tokenizer)


R4R_JOINING = {
    "train": JoinConfig(max_instructions=2),  # of the nine pairs of instructions of each joined path
    "val_seen": JoinConfig(),
    "val_unseen": JoinConfig(max_instructions=1),
}


def with_r4r(data: TrainingData) -> TrainingData:
    """The same worlds with R4R instead of R2R: pairs of paths, joined where one starts near the end of the other."""
    splits = {name: join_split(split, data.worlds, R4R_JOINING[name]) for name, split in data.splits.items()}
    return replace(data, name=f"{data.name} R4R", splits=splits)


def join_split(split: Split, worlds: Mapping[str, World], joining: JoinConfig) -> Split:
    """R4R episodes of a split: pairs of paths that join, with pairs of their instructions."""
    episodes = []
    for number, journey in enumerate(join_paths(split, worlds, joining)):
        start, goals = Pose(journey.path[0], journey.heading), (journey.path[-1],)
        for k, text in enumerate(journey.instructions):
            instruction = Instruction(text)
            episodes.append(
                Episode(f"{number}_{k}", journey.world_id, start, goals, journey.path, instruction, str(number))
            )
    return Split(split.name, tuple(episodes), protocol="r4r")


def with_tours(data: TrainingData) -> TrainingData:
    """The same worlds and splits with tours, in the order that needs the least guidance."""
    return replace(data, splits={name: _add_tours(split, data.worlds) for name, split in data.splits.items()})


def _add_tours(split: Split, worlds: Mapping[str, World]) -> Split:
    tours: list[Tour] = []
    for world_id in split.world_ids:
        for group in tour_scene(split, world_id, worlds):
            tours += [Tour(f"{world_id}-{len(tours)}", world_id, episodes) for episodes in group.tours]
    return split.with_tours(tuple(tours))
