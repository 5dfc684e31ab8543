"""Texts before and after, and what stays."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from itinera.builders.ablations import MASKED_WORDS, ablate
from itinera.errors import BadArgument
from itinera.formats import r2r
from itinera.tasks import Instruction, Split
from itinera.tasks.episode import Alignment
from text_worlds import episode

LONG = "Turn left, walk past the coffee tables into the living room. Stop by the sofa's end."

TABLE = [
    ("full", LONG, LONG),
    ("none", LONG, ""),
    ("last-5", LONG, "by the sofa's end."),
    ("last-1", LONG, "."),
    ("last-2", "Go on.  ", "on."),
    ("last-99", LONG, LONG),
    ("last-5", "", ""),
    ("without-turns", LONG, LONG.replace("left", "xxx")),
    ("without-turns", "Bear slightly RIGHT, the light is bright.", "xxx xxx xxx, the light is bright."),
    ("without-rooms", LONG, LONG.replace("living room", "xxx xxx")),
    ("without-rooms", "Two hallways, the walk-in  closet", "Two xxx, the xxx-xxx  xxx"),
    ("without-objects", LONG, LONG.replace("coffee tables", "xxx xxx").replace("sofa's", "xxx's")),
    ("without-objects", "a chest of drawers in the kitchen", "a xxx xxx xxx in the kitchen"),
]


def of(*texts, **more):
    told = (
        episode(f"{k}_0", "abc", instruction=Instruction(text), path_id=str(k), **more) for k, text in enumerate(texts)
    )
    return Split("drawn", tuple(told))


@pytest.mark.parametrize(("rule", "before", "after"), TABLE)
def test_texts_are_told_by_the_rule(rule, before, after):
    assert [e.instruction.text for e in ablate(of(before), rule).episodes] == [after]


@pytest.mark.parametrize("rule", ["full", "last-3", "none", "other", "without-turns"])
def test_all_but_the_words_stays(rule):
    split = replace(of("turn left now .", "go right"), protocol="r4r")
    told = ablate(split, rule)
    assert (told.name, told.tours, told.protocol) == (split.name, split.tours, split.protocol)
    for before, after in zip(split.episodes, told.episodes, strict=True):
        assert replace(after, instruction=before.instruction, notes=before.notes).__repr__() == before.__repr__()


def test_words_tied_to_places_are_untied():
    tied = Alignment(("go", "left"), np.array([0, 0]), np.array([1, 1]))
    split = of("go left", notes={"instruction_tokens": [1, 2], "kept": 1}, alignment=tied)
    (changed,) = ablate(split, "none").episodes
    assert (dict(changed.notes), changed.alignment) == ({"kept": 1}, None)
    (same,) = ablate(split, "without-rooms").episodes
    assert same is split.episodes[0]  # there is none in it


def test_anothers_words_are_of_another_path_and_language_and_drawn_by_the_seed():
    texts = [f"text {k}" for k in range(12)]
    split = of(*texts)
    twins = tuple(
        replace(e, id=f"{e.path_id}_1", instruction=Instruction(f"{e.instruction.text} again")) for e in split.episodes
    )
    foreign = tuple(
        replace(e, id=f"f{e.id}", instruction=Instruction(f"{e.instruction.text} hi", "hi")) for e in split.episodes[:2]
    )
    split = replace(split, episodes=split.episodes + twins + foreign)
    told = ablate(split, "other", seed=1)
    for before, after in zip(split.episodes, told.episodes, strict=True):
        assert before.instruction.text.split()[1] != after.instruction.text.split()[1]
        assert (
            after.instruction.text.endswith("hi")
            == (before.instruction.language == "hi")
            == (after.instruction.language == "hi")
        )
    others = [[e.instruction.text for e in ablate(split, "other", seed=seed).episodes] for seed in (1, 2)]
    assert others[0] == [e.instruction.text for e in told.episodes]
    assert others[0] != others[1]
    with pytest.raises(BadArgument, match="Episode 0_0 has the only path"):
        ablate(of("alone"), "other")


@pytest.mark.parametrize("rule", ["last", "last-0", "last--1", "without-verbs", "some"])
def test_other_rules_are_told_what_there_is(rule):
    with pytest.raises(BadArgument, match="must be one of full, last-N, none, other, without-turns"):
        ablate(of("go"), rule)


def test_more_words_of_a_kind_can_be_given():
    told = ablate(of("past the gong"), "without-objects", kinds={**MASKED_WORDS, "objects": {"gong"}})
    assert told.episodes[0].instruction.text == "past the xxx"


@pytest.mark.real
def test_on_real_tasks_turns_rooms_and_objects_are_found(data):
    split = r2r.read_split(data / "r2r" / "R2R_val_unseen.json.gz")
    for kind, share in {"turns": 0.8, "rooms": 0.6, "objects": 0.7}.items():
        told = ablate(split, f"without-{kind}")
        pairs = zip(split.episodes, told.episodes, strict=True)
        assert sum(before is not after for before, after in pairs) / len(split.episodes) > share
