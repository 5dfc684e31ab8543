"""Spanish: the same clauses and references as in English, with gender, number and contractions."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from itinera.hearth.language import spanish_templates as table
from itinera.hearth.language.english import turn_parts
from itinera.hearth.language.references import LAST, Reference
from itinera.hearth.language.sampling import Sampler
from itinera.hearth.language.semantics import Act, Clause
from itinera.hearth.language.spanish_words import (
    COLOR_ADJECTIVES,
    MATERIAL_PHRASES,
    OBJECT_NOUNS,
    ROOM_NOUNS,
    SHAPE_ADJECTIVES,
    Noun,
    agree,
    plural_word,
)
from itinera.hearth.language.voices import VOICES, Voice

_ARTICLES = {("m", False): "el", ("f", False): "la", ("m", True): "los", ("f", True): "las"}
_CONTRACTION = re.compile(r"\b(a|de) el\b(?! primer tramo)", re.IGNORECASE)


def can_name_in_spanish(name: str) -> bool:
    """Whether there is a Spanish noun for the object, or for what it is a kind of."""
    return _nouns(name) is not None


def _nouns(name: str) -> tuple[Noun, ...] | None:
    """The nouns of an object; for an unlisted one, those of its last word: any kind of table is a table."""
    return OBJECT_NOUNS.get(name) or OBJECT_NOUNS.get(name.rpartition(" ")[2])


class SpanishSpeaker:
    """Words clauses in Spanish, with the habits of a voice."""

    def __init__(self, rng: np.random.Generator, voice: Voice = VOICES[0], *, brief: bool) -> None:
        self.sampler = Sampler(rng, voice, brief=brief)

    def say(self, clause: Clause, *, elliptic: bool = False) -> str:
        """The clause as a request, without capital or full stop: "pasa junto al sofá rojo, a tu izquierda"."""
        warning = self._warning(clause)
        if clause.act is Act.GO:
            return (self._stride(clause) if clause.stride else self._turn(clause, elliptic=elliptic)) + warning
        slots = self._slots(clause)
        kind, side = turn_parts(clause.turn)
        if elliptic and not (clause.stride or clause.turn):
            return self._fill(table.ELLIPSES[clause.act], slots) + warning
        first = self._fill(table.TURN_PHRASES[kind], {"side": table.SIDES.get(side, "")}) + " y " if clause.turn else ""
        options = table.STRIDES[clause.stride, clause.act] if clause.stride else table.PHRASES[clause.act]
        if clause.act is Act.END and slots["room"].startswith("la "):
            options = tuple(option.replace("todo {room}", "toda {room}") for option in options)
        return first + self._fill(options, slots) + warning

    def _slots(self, clause: Clause) -> dict[str, str]:
        thing = self.name_landmark(clause.landmark) if clause.landmark else ""
        room = self.room(clause.room) if clause.room else "la habitación"
        if clause.act is Act.ENTER and clause.landmark is not None:
            room = f"{room} donde está{'n' * bool(clause.landmark.count)} {thing}"
        if clause.act is Act.SEE and clause.landmark is None:
            thing = room
        door = self.door(clause) if clause.act is Act.DOOR else ""
        return {"thing": thing, "room": room, "door": door, "side": table.SIDES.get(clause.side, "")}

    def _warning(self, clause: Clause) -> str:
        if clause.avoid:
            return ", " + self._fill(table.WARNINGS, {"room": self.room(clause.avoid)})
        side = table.SIDES.get(clause.avoid_side, "")
        return ", " + self._fill(table.DOOR_WARNINGS, {"side": side}) if side else ""

    def say_turn_at(self, clause: Clause, spot: Reference) -> str:
        """A turn at a landmark: "gira a la izquierda al llegar al sofá rojo"."""
        slots = {"turn": self._turn(clause), "spot": self.name_landmark(spot)}
        return self._fill(table.AT_TURN, slots) + self._warning(clause)

    def _turn(self, clause: Clause, *, elliptic: bool = False) -> str:
        kind, side = turn_parts(clause.turn)
        options = (table.TURN_ELLIPSES if elliptic else table.TURN_PHRASES)[kind]
        return self._fill(options, {"side": table.SIDES.get(side, "")})

    def _stride(self, clause: Clause) -> str:
        options = table.STRIDES[clause.stride, "forward" if clause.turn == "forward" else Act.GO]
        return self._fill(options, {"turn": self._turn(clause)})

    def say_stop(self, clause: Clause, before: Clause, *, facing: bool, room: str, entering: bool) -> str:
        """The end of an instruction: at the clause's landmark if it has one, else according to the last act."""
        if clause.landmark is not None:
            near = self.sampler.phrase(table.OPPOSITE if facing else table.NEAR)
            return self._fill(table.STOP_AT, {"near": near, "thing": self.name_landmark(clause.landmark)})
        if before.act in (Act.UP, Act.DOWN):
            return self.sampler.phrase(table.STOP_ON_STAIRS[before.act, before.stride])
        if entering and self.sampler.chance(0.7):
            return self._fill(table.STOP_JUST_IN, {"room": self.room(room)})
        if self.sampler.chance(0.5):
            return self._fill(table.STOP_IN, {"room": self.room(room)})
        return self.say_stop_here()

    def say_stop_here(self) -> str:
        """The end of an instruction at a place that was named before."""
        return self.sampler.phrase(table.STOP_HERE)

    def say_goal(self, room: str, *, other: bool, floor: str) -> str:
        """The goal only: "ve al otro dormitorio"."""
        return self._fill(table.GOALS, {"room": self._goal_room(room, other=other, floor=floor)})

    def state_goal(self, room: str, *, floor: str) -> str:
        """The goal as a statement: "tu destino es el baño de arriba"."""
        return self._fill(table.GOAL_STATEMENTS, {"room": self._goal_room(room, other=False, floor=floor)})

    def _goal_room(self, room: str, *, other: bool, floor: str) -> str:
        gender, noun = self._room_noun(room)
        words = [_ARTICLES[gender, False], agree("otro", gender, many=False) if other else "", noun]
        return " ".join(word for word in (*words, self.sampler.word(table.FLOORS[floor]) if floor else "") if word)

    def name_landmark(self, reference: Reference) -> str:
        """The landmark with its article: "la mesa redonda blanca a tu izquierda"."""
        nouns = _nouns(reference.name)
        assert nouns is not None  # the generator mentions only what has a name
        many = reference.count > 0
        gender, noun = nouns[self._rank(len(nouns))]
        if many:
            first, *others = noun.split()
            noun = " ".join([plural_word(first), *(_plural_adjective(word, first) for word in others)])
        before, after = _number_words(reference, gender)
        words = [_ARTICLES[gender, many], before, noun, after, *_looks(reference, gender, many=many)]
        if reference.side:
            words.append(f"{self.sampler.word(table.ON_SIDE)} {table.SIDES[reference.side]}")
        if reference.far:
            words.append(self.sampler.word(table.FAR_WORDS))
        if reference.relation:
            words.append(self._relation(reference))
        return " ".join(word for word in words if word)

    def _rank(self, count: int) -> int:
        return int(self.sampler.word([str(k) for k in range(count)]))

    def _relation(self, reference: Reference) -> str:
        anchors = " y ".join(self.name_landmark(anchor) for anchor in reference.anchors)
        if reference.relation == "with":
            return f"con {anchors} encima"
        options = table.RELATION_WORDS[reference.relation]
        if reference.relation == "above":  # the participle would have to agree
            options = options[:1]
        return f"{self.sampler.word(options)} {anchors}"

    def door(self, clause: Clause) -> str:
        """The door with its article: "la segunda puerta a tu izquierda"."""
        gender, noun = ("f", "abertura") if clause.wide else ("f", "puerta")
        if clause.wide and self.sampler.chance(0.4):
            gender, noun = "m", "arco"
        rank = "último" if clause.rank == LAST else table.ORDINALS[clause.rank - 1] if clause.rank else ""
        color = agree(COLOR_ADJECTIVES.get(clause.color, ""), gender, many=False) if clause.color else ""
        words = [_ARTICLES[gender, False], _before_noun(rank, gender), noun, color]
        if clause.side == "ahead":
            words.append(self.sampler.word(table.DOOR_PLACES))
        elif clause.side:
            words.append(f"{self.sampler.word(table.ON_SIDE)} {table.SIDES[clause.side]}")
        if clause.landmark is not None:
            words.append(f"{self.sampler.word(table.RELATION_WORDS['next to'])} {self.name_landmark(clause.landmark)}")
        return " ".join(word for word in words if word)

    def room(self, kind: str) -> str:
        gender, noun = self._room_noun(kind)
        return f"{_ARTICLES[gender, False]} {noun}"

    def _room_noun(self, kind: str) -> Noun:
        nouns = ROOM_NOUNS[kind]
        return nouns[0] if self.sampler.chance(0.6) else nouns[self._rank(len(nouns))]

    def opener(self, before: Act, *, last: bool) -> str:
        """The beginning of a sentence after another one."""
        return self.sampler.word((*table.OPENERS, *(table.LAST_OPENERS if last else ())))

    def link(self, *, free: bool) -> str:
        """Words that join two requests."""
        return self.sampler.fresh_word(table.LINKS_FREE if free else table.LINKS)

    def subordinate(self, text: str) -> str:
        """A request as a condition of the next one."""
        return f"{text} y, una vez hecho esto,"

    def fill_in(self, text: str) -> str:
        """A request with a filler: "por favor gira a la izquierda"."""
        return f"{self.sampler.word(table.FILLERS)} {text}"

    def remarks(self) -> tuple[str, str]:
        """Remarks before and after the route; one of them is empty."""
        if self.sampler.chance(0.5):
            return _capitalize(self.sampler.word(table.COURTESIES_FIRST)), ""
        return "", _capitalize(self.sampler.word(table.COURTESIES_LAST))

    def _fill(self, options: Sequence[str], slots: dict[str, str]) -> str:
        template = self.sampler.template(options)
        return contract(template.format(go=self.sampler.word(table.GO_VERBS), **slots))


def contract(text: str) -> str:
    """The text with "al" for "a el" and "del" for "de el"."""
    return _CONTRACTION.sub(r"\1l", text)


def _looks(reference: Reference, gender: str, *, many: bool) -> list[str]:
    adjectives = SHAPE_ADJECTIVES.get(reference.shape, ""), COLOR_ADJECTIVES.get(reference.color, "")
    looks = [agree(adjective, gender, many=many) if adjective else "" for adjective in adjectives]
    return [looks[0], looks[1], MATERIAL_PHRASES.get(reference.material, "")]


def _number_words(reference: Reference, gender: str) -> tuple[str, str]:
    """Words for a count or rank, before the noun and after it."""
    if reference.count:
        return table.NUMBERS[reference.count], ""
    if reference.rank == LAST:
        return _before_noun("último", gender), ""
    if reference.rank == 1 and not reference.side:
        return "", "más " + agree("cercano", gender, many=False)
    return (_before_noun(table.ORDINALS[reference.rank - 1], gender), "") if reference.rank else ("", "")


def _before_noun(adjective: str, gender: str) -> str:
    """The ordinal before its noun: "primer" and "tercer" before a masculine one."""
    if gender == "m" and adjective in ("primero", "tercero"):
        return adjective[:-1]
    return agree(adjective, gender, many=False) if adjective else ""


def _plural_adjective(word: str, noun: str) -> str:
    """The words after an inflected noun: adjectives agree, "de …" stays."""
    return (
        plural_word(word)
        if word in ("giratoria", "auxiliar", "estática", "colgante", "recreativa", "alto", "abierta")
        else word
    )


def _capitalize(text: str) -> str:
    start = 1 if text[:1] == "¡" else 0
    return text[:start] + text[start : start + 1].upper() + text[start + 1 :]
