"""Places to learn in: a season of Hearth, or R2R's own houses where ITINERA_DATA points to them.

Every house is seen through annotations, which is perfect perception: rooms and objects are known by name. Scores may
not be set beside those of agents that look at images; they say that language, graphs and training work.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from itinera.builders.ablations import ablated
from itinera.builders.joining import Joining, join
from itinera.builders.tours import tour_scene
from itinera.formats import matterport, r2r, reverie, rooms
from itinera.formats.hearth_season import BOXES
from itinera.policies.checkpoint import Card, card_of
from itinera.policies.tokenizer import Vocabulary
from itinera.seeding import generator
from itinera.simulators.view_features import annotated_views, frequent_names
from itinera.tasks import Episode, Instruction, Split, Tour
from itinera.training.dataset import Lessons, lessons_of
from itinera.training.vector_env import Atlas, atlas_of
from itinera.worlds import Pose, World

REACH = 10.0  # metres, of what is seen farther off
OBJECTS = 250  # names of objects that are known
HELD_OUT = 8  # of the training houses, on which settings are chosen


@dataclass(frozen=True, eq=False)
class Places:
    """Houses with their tasks, as index tensors."""

    name: str
    worlds: Mapping[str, World]
    splits: Mapping[str, Split]
    columns: tuple[str, ...]  # of the views
    atlas: Atlas
    vocabulary: Vocabulary

    @property
    def held_out(self) -> frozenset[str]:
        """Training houses set apart for choosing; the same whatever is trained."""
        ids = sorted({episode.world_id for episode in self.splits["train"].episodes})
        chosen = generator(0, "held out", self.name).permutation(len(ids))[: min(HELD_OUT, len(ids) // 3)]
        return frozenset(ids[k] for k in chosen)

    def lessons(self, split: str, *, most_words: int = 80, words: str = "full") -> Lessons:
        """The lessons of a split; "train/chosen" and "train/held out" are the two parts of the training split.

        `words`: a rule of `itinera build ablated`, as last-5.
        """
        name, _, part = split.partition("/")
        episodes: Sequence[Episode] = ablated(self.splits[name], words).episodes
        if part:
            apart = self.held_out
            episodes = [e for e in episodes if (e.world_id in apart) == (part == "held out")]
        return lessons_of(episodes, self.atlas, self.vocabulary, most_words=most_words)

    def card(self, kind: str, sizes: Any, **told: Any) -> Card:
        return card_of(kind, sizes, self.columns, self.vocabulary, views="annotations", reach=REACH, told=told)


def real(data: Path, *, seen: Sequence[str] = ("rooms", "objects"), around: bool = False) -> Places:
    """R2R in Matterport's houses, from the data pack. What is `seen`: rooms, objects, both, or nothing but geometry."""
    graphs = matterport.read_worlds(data / "connectivity.tar.xz", visible=True)
    splits = {
        name: r2r.read_split(data / "r2r" / f"R2R_{name}.json.gz") for name in ("train", "val_seen", "val_unseen")
    }
    things = reverie.read_objects(data / "reverie" / "BBox.tar.xz") if "objects" in seen else {}
    labels = rooms.read_table(data / "rooms" / "viewpoint_rooms.csv.gz") if "rooms" in seen else {}
    return _places("R2R", graphs, splits, things, labels, seen, around)


def hearth(season: Path, *, seen: Sequence[str] = ("rooms", "objects"), around: bool = False) -> Places:
    """Hearth's own, from a season that `itinera build hearth` made."""
    graphs = matterport.read_worlds(season / "connectivity", visible=True)
    names = ("train", "val_seen", "val_unseen")
    splits = {name: r2r.read_split(season / "r2r" / f"R2R_{name}.json") for name in names}
    things = reverie.read_objects(season / BOXES) if "objects" in seen else {}
    labels = rooms.read_table(season / "rooms.csv") if "rooms" in seen else {}
    return _places("Hearth", graphs, splits, things, labels, seen, around)


def _places(
    name: str,
    graphs: Mapping[str, World],
    splits: Mapping[str, Split],
    things: Mapping[str, Any],
    labels: Mapping[str, Any],
    seen: Sequence[str],
    around: bool,
) -> Places:
    ids = sorted({episode.world_id for split in splits.values() for episode in split.episodes})
    worlds = {id: replace(graphs[id], rooms=labels.get(id, {}), objects=things.get(id, {})) for id in ids}
    training = {episode.world_id for episode in splits["train"].episodes}
    # Names that the training houses show most often, so that nothing is known of the others.
    names = frequent_names({id: worlds[id] for id in ids if id in training}, OBJECTS) if "objects" in seen else ()
    views = annotated_views(worlds, names, reach=REACH) if seen else None
    atlas = atlas_of(worlds, views, around=around)
    vocabulary = Vocabulary.of(episode.instruction.text for episode in splits["train"].episodes)
    return Places(name, worlds, splits, () if views is None else views.columns, atlas, vocabulary)


R4R = {
    "train": Joining(texts=2),  # of the nine pairs of instructions of each journey
    "val_seen": Joining(texts=1),
    "val_unseen": Joining(texts=1),
}


def joined_split(split: Split, worlds: Mapping[str, World], joining: Joining) -> Split:
    """R4R's episodes: pairs of paths that join, with pairs of their instructions, drawn from all there are."""
    episodes = []
    for number, journey in enumerate(join(split, worlds, joining)):
        for k, text in enumerate(journey.texts):
            start = Pose(journey.path[0], journey.heading)
            goal, path = (journey.path[-1],), journey.path
            episodes.append(
                Episode(f"{number}_{k}", journey.world_id, start, goal, path, Instruction(text), str(number))
            )
    return Split(split.name, tuple(episodes), protocol="r4r")


def with_r4r(places: Places) -> Places:
    """The same houses with R4R instead of R2R: paths joined where one begins near the other's end."""
    joined = {name: joined_split(split, places.worlds, R4R[name]) for name, split in places.splits.items()}
    return replace(places, name=f"{places.name} R4R", splits=joined)


def toured(places: Places) -> Places:
    """The same houses with tours through all tasks: the paths of a house in the order that leads one least far."""
    return replace(places, splits={name: _toured(split, places.worlds) for name, split in places.splits.items()})


def _toured(split: Split, worlds: Mapping[str, World]) -> Split:
    tours = []
    for world_id in split.world_ids:
        for group in tour_scene(split, world_id, worlds):
            tours += [Tour(f"{world_id}-{len(tours)}", world_id, episodes) for episodes in group.tours]
    return split.with_tours(tuple(tours))


def built(season: Path) -> Path:
    """A season of Hearth at this place, of whatever size; built there, whole, unless it is. A build that was stopped
    goes on."""
    if not (season / "season.json").exists():  # written last
        subprocess.run([sys.executable, "-m", "itinera.cli.main", "build", "hearth", "--out", str(season)], check=True)
    return season
