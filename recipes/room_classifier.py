"""The room classifier that comes with Itinera (`--views inferred`): trained on Hearth's training houses, in a minute.

    python recipes/room_classifier.py SEASON    # a Hearth season; built there if missing

Every eighth training house is held out for the scores, which are printed and stored in the model card. Expected: the
room of the observer is right in more than 85 % of places, that of places around it in more than 80 %.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict, replace
from pathlib import Path

import msgspec

import itinera
from itinera.formats.hearth_season import season_houses
from itinera.formats.matterport import read_worlds
from itinera.formats.r2r import read_split
from itinera.formats.writing import atomic_write
from itinera.policies.checkpoint import ModelCard, build_model, encode_model
from itinera.policies.room_classifier import ROOM_CLASSIFIER, RoomClassifierConfig
from itinera.seeding import generator
from itinera.training.malloc import tune_malloc
from itinera.training.rooms import (
    RoomSamples,
    collect_room_samples,
    house_scene,
    join_samples,
    score_room_classifier,
    train_room_classifier,
)
from itinera.training.trainer import Schedule, seed_torch

SEED = 0
PANORAMAS = 40  # of a house
HELD_OUT = 8  # one of so many training houses is for the scores
MIN_HOUSES = 3  # that have things of a name, for it to be used
SCHEDULE = Schedule(steps=2500, learning_rate=2e-3, final_ratio=0.05, weight_decay=0.05)


def collect(season: Path) -> tuple[tuple[str, ...], RoomSamples, RoomSamples]:
    """The names of things, the samples for training and those held out."""
    places = season_houses(season)
    assert places is not None
    graphs = read_worlds(season / "connectivity", visible=True)
    houses = sorted({episode.world_id for episode in read_split(season / "r2r" / "R2R_train.json").episodes})
    scenes = {name: house_scene(graphs[name], *places[name]) for name in houses}
    counts: dict[str, int] = {}
    for scene in scenes.values():
        for name in {thing.name for thing in scene.instances.values()}:
            counts[name] = counts.get(name, 0) + 1
    names = tuple(sorted(name for name, count in counts.items() if count >= MIN_HOUSES))
    parts = [
        collect_room_samples(scene, names, generator(SEED, "rooms", house), panoramas=PANORAMAS)
        for house, scene in scenes.items()
    ]
    held_out = [part for k, part in enumerate(parts) if k % HELD_OUT == 0]
    training = [part for k, part in enumerate(parts) if k % HELD_OUT]
    return names, join_samples(training), join_samples(held_out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="Hearth season; built if missing")
    parser.add_argument("--out", type=Path, default=ROOM_CLASSIFIER, help="the model file (the package's)")
    args = parser.parse_args()
    if not (args.season / "season.json").exists():
        itinera.build_hearth(args.season)
    tune_malloc()
    names, training, held_out = collect(args.season)
    seed_torch(SEED, "room classifier")
    model = build_model(ModelCard("room-classifier", asdict(RoomClassifierConfig()), names, ()))
    model = train_room_classifier(model, training, SCHEDULE, seed=SEED)
    found = {name: round(100 * value, 1) for name, value in asdict(score_room_classifier(model, held_out)).items()}
    print(f"{len(names)} names, {len(training.rooms)} places; held out, %: {found}")
    metadata = {
        "description": "Room types of places from the nearness of named things",
        "training data": "training houses of a Hearth season, seven of eight",
        "steps": SCHEDULE.steps,
        "seed": SEED,
        "held-out training houses, %": found,
    }
    card = msgspec.structs.replace(model.card, metadata=metadata)
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(args.out) as stream:
        stream.write(encode_model(replace(model, card=card), half=True))


if __name__ == "__main__":
    main()
