"""Landmarks: for a visible object, an expression that refers to it and to nothing else in view. Start with `refer`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from itinera.hearth.language.references import (
    FAR_DISTANCE,
    LAST,
    NEAR_ANCHOR,
    RELATIONS,
    Reference,
    matching_objects,
    relative_side,
)
from itinera.hearth.language.scene_description import DescribedObject, SceneDescription
from itinera.hearth.language.vocabulary import COLOR_SYNONYMS, MATERIAL_SYNONYMS, SHAPE_SYNONYMS

MIN_ANCHOR_SIZE = 0.15  # metres; smaller objects are no anchors of relations
MAX_ANCHORS = 5  # nearest objects considered for a relation
MAX_RANK = 4
MAX_GROUP = 6
HEAD_NOUNS = frozenset(
    {"table", "chair", "bed", "lamp", "cabinet", "rack", "stool", "counter", "bench", "desk", "shelf"}
)
"""Last words of names that people use alone: "the table" for a coffee table."""

WHOLE_NAMES = frozenset({"flower bed", "pet bed", "weight bench"})  # no bed, no bench


def _any_name(name: str) -> bool:
    return True


@dataclass(frozen=True)
class ReferenceHabits:
    """How often a speaker uses each kind of expression where a name alone would do: probabilities."""

    color: float = 0.4
    shape: float = 0.15
    material: float = 0.3
    relation: float = 0.1
    group: float = 0.3
    head_noun: float = 0.25
    far: float = 0.3
    can_name: Callable[[str], bool] = _any_name  # whether the speaker's language has a word for the object


USUAL_HABITS = ReferenceHabits()


def refer(
    landmark: DescribedObject,
    description: SceneDescription,
    heading: float,
    rng: np.random.Generator,
    habits: ReferenceHabits = USUAL_HABITS,
) -> tuple[DescribedObject, Reference] | None:
    """An expression for the landmark and what it refers to: the landmark, or the group it belongs to.

    None if no expression is unambiguous.
    """
    if not habits.can_name(landmark.name):
        return None
    relation, group = (rng.random(2) < (habits.relation, habits.group)).tolist()
    alike = description.objects_named(landmark.name)
    plain = _plain(landmark, heading, rng, habits)
    if group and 2 <= len(alike) <= MAX_GROUP and not landmark.name.endswith("s"):  # stairs are many already
        words = Reference(landmark.name, count=len(alike))
        found = matching_objects(words, description, heading)
        if found:
            return found[0], words
    scene = _Scene(description, heading, rng, habits)
    if relation:
        words_or_none = next(scene.relations(landmark), None)
        if words_or_none is not None:
            return landmark, words_or_none
    for words in plain:
        if scene.identifies(words, landmark):
            return landmark, words
    for words in (*_ranked(landmark, heading), *scene.relations(landmark)):
        if scene.identifies(words, landmark):
            return landmark, words
    return None


def _plain(
    landmark: DescribedObject, heading: float, rng: np.random.Generator, habits: ReferenceHabits
) -> Iterator[Reference]:
    """Expressions of name, looks and side, the preferred one first."""
    name, color = landmark.name, landmark.color if landmark.color in COLOR_SYNONYMS else ""
    shape = landmark.shape if landmark.shape in SHAPE_SYNONYMS else ""
    material = landmark.material if landmark.material in MATERIAL_SYNONYMS else ""
    chances = habits.color, habits.shape, habits.material, habits.head_noun, habits.far
    with_color, with_shape, with_material, head, far = (rng.random(5) < chances).tolist()
    short = name.rpartition(" ")[2]
    looks = color if with_color else "", shape if with_shape else "", "", material if with_material else ""
    if far and landmark.distance > FAR_DISTANCE:
        yield Reference(name, *looks, far=True)
    if head and short in HEAD_NOUNS and name not in WHOLE_NAMES and habits.can_name(short):
        yield Reference(short, *looks)
    yield Reference(name, *looks)
    yield Reference(name, color)
    yield Reference(name, "", shape)
    yield Reference(name, material=material)
    yield Reference(name, color, shape)
    side = relative_side(landmark, heading)
    if side in ("left", "right"):
        yield Reference(name, "", "", side)
        yield Reference(name, color, "", side)


def _ranked(landmark: DescribedObject, heading: float) -> Iterator[Reference]:
    if landmark.name == "stairs":  # nobody counts them
        return
    side = relative_side(landmark, heading)
    if side in ("left", "right"):
        yield from (Reference(landmark.name, side=side, rank=rank) for rank in (*range(1, MAX_RANK + 1), LAST))
    yield Reference(landmark.name, rank=1)
    yield Reference(landmark.name, rank=LAST)


@dataclass(frozen=True)
class _Scene:
    """What is visible, and expressions of relations in it."""

    description: SceneDescription
    heading: float
    rng: np.random.Generator
    habits: ReferenceHabits

    def identifies(self, words: Reference, landmark: DescribedObject) -> bool:
        found = matching_objects(words, self.description, self.heading)
        return len(found) == 1 and found[0] is landmark

    def relations(self, landmark: DescribedObject) -> Iterator[Reference]:
        """Expressions by a relation to one or two other objects, each in view and unambiguous itself."""
        key = "relations", landmark, self.habits.can_name
        options = self.description.remember(key, lambda: self._relation_options(landmark))
        for k in self.rng.permutation(len(options)).tolist():
            words = options[k]
            if words is not None:
                yield words

    def _relation_options(self, landmark: DescribedObject) -> list[Reference | None]:
        """Every expression by a relation, None for one that is ambiguous; the same for every heading."""
        anchors = [(seen, words) for seen in self._near(landmark) if (words := self._anchor(seen)) is not None]
        single = [(name, (words,)) for seen, words in anchors for name in _relations(landmark, seen)]
        pairs = [
            ("between", (first[1], second[1]))
            for k, first in enumerate(anchors)
            for second in anchors[:k]
            if RELATIONS["between"](landmark, first[0], second[0])
        ]
        options: list[tuple[str, tuple[Reference, ...]]] = [*pairs, *single]
        every = [(Reference(landmark.name, relation=name, anchors=chosen), chosen) for name, chosen in options]
        return [
            words
            if landmark.name not in {anchor.name for anchor in chosen} and self.identifies(words, landmark)
            else None
            for words, chosen in every
        ]

    def _near(self, landmark: DescribedObject) -> list[DescribedObject]:
        x, y = landmark.offset
        reach = NEAR_ANCHOR + landmark.size / 2
        near = [
            (abs(seen.offset[0] - x) + abs(seen.offset[1] - y), k)
            for k, seen in enumerate(self.description.objects)
            if seen is not landmark and seen.size >= MIN_ANCHOR_SIZE and self.habits.can_name(seen.name)
        ]
        return [self.description.objects[k] for apart, k in sorted(near)[:MAX_ANCHORS] if apart <= reach]

    def _anchor(self, seen: DescribedObject) -> Reference | None:
        """An expression without sides or relations for the other object of a relation."""
        for words in (Reference(seen.name), Reference(seen.name, seen.color if seen.color in COLOR_SYNONYMS else "")):
            if self.identifies(words, seen):
                return words
        return None


def _relations(landmark: DescribedObject, seen: DescribedObject) -> list[str]:
    return [name for name, holds in RELATIONS.items() if name != "between" and holds(landmark, seen)]
