"""English: clauses and references as phrases. Start with `EnglishSpeaker.say`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from itinera.hearth.language.references import LAST, Reference
from itinera.hearth.language.sampling import Sampler
from itinera.hearth.language.semantics import Act, Clause
from itinera.hearth.language.templates import (
    AFTER_ARRIVAL,
    AFTER_COLOR,
    AFTER_DOOR,
    AT_TURN,
    COURTESIES_FIRST,
    COURTESIES_LAST,
    DOOR_WARNINGS,
    DOWN_A_HALL,
    ELLIPSES,
    FAR_WORDS,
    FILLERS,
    FLOORS,
    GERUNDS,
    GO_VERBS,
    GOAL_STATEMENTS,
    GOALS,
    LAST_OPENERS,
    NEAR,
    OPENERS,
    OPPOSITE,
    PHRASES,
    PLAYFUL_VERBS,
    PLURAL_NAMES,
    RELATION_WORDS,
    STOP_AT,
    STOP_HERE,
    STOP_IN,
    STOP_JUST_IN,
    STOP_ON_STAIRS,
    STRIDES,
    SUBORDINATES,
    TURN_ELLIPSES,
    TURN_FIRST,
    TURN_INTO,
    TURN_PHRASES,
    WALK_ON,
    WARNINGS,
)
from itinera.hearth.language.vocabulary import (
    COLOR_SYNONYMS,
    LAST_WORDS,
    MATERIAL_SYNONYMS,
    NEAREST_WORDS,
    NUMBERS,
    ORDINALS,
    PRAISE_WORDS,
    ROOM_WORDS,
    SHAPE_SYNONYMS,
    gerund,
    plural,
    synonyms,
)
from itinera.hearth.language.voices import VOICES, Voice

GERUND_SHARE = 0.35  # of subordinate clauses: "after passing the sofa"


class EnglishSpeaker:
    """Words clauses in English, with the habits of a voice."""

    tag = "en"  # RxR's language tag begins with it

    def __init__(self, rng: np.random.Generator, voice: Voice = VOICES[0], *, brief: bool) -> None:
        self.sampler = Sampler(rng, voice, brief=brief)

    def say(self, clause: Clause, *, elliptic: bool = False) -> str:
        """The clause as a request, without capital or full stop: "walk past the red sofa on your left"."""
        warning = self._warning(clause)
        if clause.act is Act.GO:
            return (self._stride(clause) if clause.stride else self._turn(clause, elliptic=elliptic)) + warning
        slots = self._slots(clause)
        kind, side = turn_parts(clause.turn)
        if elliptic and not (clause.stride or clause.turn == "around" or _has_place(clause.landmark)):
            turn = self.sampler.word(TURN_ELLIPSES[kind][:1]).format(side=side) + " " if clause.turn else ""
            return turn + self._fill(ELLIPSES[clause.act], slots) + warning
        if clause.act in TURN_INTO and side and not clause.stride and kind == "plain" and self.sampler.chance(0.5):
            return self._fill(TURN_INTO[clause.act], {**slots, "side": side}) + warning
        first = self._fill(TURN_FIRST[kind], {"side": side}) + " " if clause.turn else ""
        options = STRIDES[clause.stride, clause.act] if clause.stride else PHRASES[clause.act]
        if clause.act is Act.END and clause.room == "h":
            options = (*DOWN_A_HALL, *options)
        if clause.act is Act.PASS and _has_place(
            clause.landmark
        ):  # "the lamp by the desk on your left": which is left?
            options = tuple(option for option in options if ", " in option)
        if clause.act is Act.ENTER and clause.landmark is not None:  # "the door to the room with …" is too much
            options = tuple(option for option in options if " to {" not in option and "doorway" not in option)
        return first + self._fill(options, slots) + warning

    def _slots(self, clause: Clause) -> dict[str, str]:
        noun, many = self._noun(clause.landmark) if clause.landmark else ("", False)
        thing = self._landmark(clause.landmark, noun) if clause.landmark else ""
        room = self.room(clause.room) if clause.room else "the room"
        if clause.act is Act.LEAVE and self.sampler.chance(0.25):
            room = "the room"
        if clause.act is Act.ENTER and clause.landmark is not None:
            room = f"{room} with {thing}"
        if clause.act is Act.SEE and clause.landmark is None:
            thing = room
        return {
            "thing": thing,
            "it": "them" if many else "it",
            "comes": "come" if many else "comes",
            "room": room,
            "door": self.door(clause) if clause.act is Act.DOOR else "",
            "side": clause.side,
        }

    def _warning(self, clause: Clause) -> str:
        if clause.avoid:
            return ", " + self._fill(WARNINGS, {"room": self.room(clause.avoid)})
        return ", " + self._fill(DOOR_WARNINGS, {"side": clause.avoid_side}) if clause.avoid_side else ""

    def say_turn_at(self, clause: Clause, spot: Reference) -> str:
        """A turn at a landmark: "turn left at the red sofa"."""
        turn = self._turn(clause, alone=True)
        return self.sampler.word(AT_TURN).format(turn=turn, spot=self.name_landmark(spot)) + self._warning(clause)

    def _turn(self, clause: Clause, *, alone: bool = False, elliptic: bool = False) -> str:
        kind, side = turn_parts(clause.turn)
        options: Sequence[str] = TURN_ELLIPSES[kind] if elliptic and kind != "around" else TURN_PHRASES[kind]
        if alone:  # another phrase describes the walking
            options = [
                phrase
                for phrase in options
                if not re.match(r"\{go\}|go\b|take a few", phrase) and not re.search(" and |,", phrase)
            ]
        return self._fill(options, {"side": side})

    def _stride(self, clause: Clause) -> str:
        options = STRIDES[clause.stride, "forward" if clause.turn == "forward" else Act.GO]
        return self._fill(options, {"turn": self._turn(clause, alone=True)})

    def say_stop(self, clause: Clause, before: Clause, *, facing: bool, room: str, entering: bool) -> str:
        """The end of an instruction: at the clause's landmark if it has one, else according to the last act."""
        if clause.landmark is not None:
            near = self.sampler.phrase(OPPOSITE if facing else NEAR)
            return self._fill(STOP_AT, {"near": near, "thing": self.name_landmark(clause.landmark)})
        if before.act in (Act.UP, Act.DOWN):
            return self.sampler.phrase(STOP_ON_STAIRS[before.act, before.stride])
        if entering and self.sampler.chance(0.7):
            return self._fill(STOP_JUST_IN, {"room": self.room(room)})
        if self.sampler.chance(0.5):
            return self._fill(STOP_IN, {"room": self.room(room)})
        return self.sampler.phrase(STOP_HERE)

    def say_stop_here(self) -> str:
        """The end of an instruction at a place that was named before."""
        return self.sampler.phrase(STOP_HERE)

    def say_goal(self, room: str, *, other: bool, floor: str) -> str:
        """The goal only: "make your way to the other bedroom"."""
        return self._fill(GOALS, {"room": self._goal_room(room, other=other, floor=floor)})

    def state_goal(self, room: str, *, floor: str) -> str:
        """The goal as a statement: "your destination is the bathroom upstairs"."""
        return self._fill(GOAL_STATEMENTS, {"room": self._goal_room(room, other=False, floor=floor)})

    def _goal_room(self, room: str, *, other: bool, floor: str) -> str:
        there = self.room(room).replace("the ", "the other ", 1) if other else self.room(room)
        return f"{there} {self.sampler.word(FLOORS[floor])}" if floor else there

    def name_landmark(self, reference: Reference) -> str:
        """The landmark with its article: "the round white table on your left"."""
        return self._landmark(reference, self._noun(reference)[0])

    def _noun(self, reference: Reference) -> tuple[str, bool]:
        """A word for the object, and whether it is a plural."""
        noun = self.sampler.word(synonyms(reference.name))
        if reference.count:
            return plural(noun), True
        return noun, noun.split()[-1] in PLURAL_NAMES and " of " not in noun

    def _landmark(self, reference: Reference, noun: str) -> str:
        looks = [look for look in self._looks(reference) if look not in noun.split()]  # "the tall tall lamp"
        words = ["the", *self._number(reference), *looks, noun]
        if reference.side:
            words += ["on", self.sampler.word(("the", "your")), reference.side]
        if reference.far:
            words.append(self.sampler.word(FAR_WORDS))
        if reference.relation:
            words += [self._relation(reference)]
        return " ".join(word for word in words if word)

    def _number(self, reference: Reference) -> list[str]:
        if reference.count:
            pair = reference.count == 2 and self.sampler.chance(0.1)
            return ["pair", "of"] if pair else [NUMBERS[reference.count]]
        if reference.rank == LAST:
            return [self.sampler.word(LAST_WORDS if reference.side else LAST_WORDS[1:])]
        if reference.rank == 1 and not reference.side:
            return [self.sampler.word(NEAREST_WORDS)]
        return [ORDINALS[reference.rank - 1]] if reference.rank else []

    def _looks(self, reference: Reference) -> list[str]:
        praise = self.sampler.word(PRAISE_WORDS) if self.sampler.chance(self.sampler.voice.praise) else ""
        shape = self._look(SHAPE_SYNONYMS.get(reference.shape, (reference.shape,)))
        color = self._look(COLOR_SYNONYMS.get(reference.color, (reference.color,)))
        looks = [color, shape] if reference.shape in AFTER_COLOR else [shape, color]
        return [praise, *looks, self._look(MATERIAL_SYNONYMS.get(reference.material, (reference.material,)))]

    def _look(self, words: Sequence[str]) -> str:
        return words[0] if self.sampler.chance(0.7) else self.sampler.word(words)

    def _relation(self, reference: Reference) -> str:
        anchors = " and ".join(self.name_landmark(anchor) for anchor in reference.anchors)
        if reference.relation == "with":
            return f"with {anchors} on {self.sampler.word(('it', 'top'))}"
        return f"{self.sampler.word(RELATION_WORDS[reference.relation])} {anchors}"

    def door(self, clause: Clause) -> str:
        """The door with its article: "the second door on your left"."""
        nouns = ("opening", "archway", "wide opening", "arch") if clause.wide else ("door", "doorway", "open door")
        rank = (
            self.sampler.word(LAST_WORDS) if clause.rank == LAST else ORDINALS[clause.rank - 1] if clause.rank else ""
        )
        words = ["the", rank, clause.color, self.sampler.word(nouns)]
        if clause.side == "ahead":
            words += [self.sampler.word(("straight ahead", "in front of you", "ahead", "ahead of you"))]
        elif clause.side:
            words += [self.sampler.word(("on", "on", "to")), self.sampler.word(("the", "your")), clause.side]
        if clause.landmark is not None:
            words += [self.sampler.word(RELATION_WORDS["next to"]), self.name_landmark(clause.landmark)]
        return " ".join(word for word in words if word)

    def room(self, kind: str) -> str:
        words = ROOM_WORDS[kind]
        return f"the {words[0] if self.sampler.chance(0.6) else self.sampler.word(words)}"

    def opener(self, before: Act, *, last: bool) -> str:
        """The beginning of a sentence after another one."""
        options = [*OPENERS, *(AFTER_DOOR if before is Act.DOOR else ()), *(LAST_OPENERS if last else ())]
        if before in (Act.REACH, Act.ENTER):
            options += AFTER_ARRIVAL
        return self.sampler.word(options)

    def link(self, *, free: bool) -> str:
        """Words that join two requests; "and" only where it cannot make a turn part of the next request."""
        plain = self.sampler.voice.name in ("terse", "turn-counter")
        joined = (" and", ", then", " and then", ", and") if free else (", then", ", and then", " then")
        return self.sampler.fresh_word((",", *joined) if plain else joined)

    def subordinate(self, text: str) -> str:
        """A request as a condition of the next one: "once you pass the sofa,"."""
        verb, _, others = text.partition(" ")
        if self.sampler.chance(GERUND_SHARE):
            return self.sampler.word(GERUNDS).format(clause=f"{gerund(verb)} {others}".strip())
        return self.sampler.word(SUBORDINATES).format(clause=text)

    def fill_in(self, text: str) -> str:
        """A request with a filler: "you'll want to turn left"."""
        return f"{_capitalize_pronoun(self.sampler.word(FILLERS))} {text}"

    def remarks(self) -> tuple[str, str]:
        """Remarks before and after the route; one of them is empty."""
        if self.sampler.chance(0.5):
            return _capitalize(self.sampler.word(COURTESIES_FIRST)), ""
        return "", _capitalize(self.sampler.word(COURTESIES_LAST))

    def _fill(self, options: Sequence[str], slots: dict[str, str]) -> str:
        """A random template, filled in; never the last one used."""
        template = self.sampler.template(options)
        verb = self.sampler.word(PLAYFUL_VERBS if self.sampler.chance(self.sampler.voice.play) else GO_VERBS)
        return fit_prepositions(template.format(go=verb, walk_on=self.sampler.word(WALK_ON), **slots))


_OPEN_AIR = re.compile(
    r"\b(?:(into|inside)|(in)|(out of|outside)) "
    r"(the (?:porch|terrace|patio|veranda|deck|sun deck|balcony|lawn|gallery))\b"
)


def fit_prepositions(text: str) -> str:
    """The text with "onto the terrace" for "into the terrace": places without walls are on, not in."""
    return _OPEN_AIR.sub(lambda found: ("onto" if found[1] else "on" if found[2] else "off") + " " + found[4], text)


def _has_place(reference: Reference | None) -> bool:
    return reference is not None and bool(reference.relation or reference.far)


def _capitalize(text: str) -> str:
    return text[:1].upper() + _capitalize_pronoun(text[1:])


def _capitalize_pronoun(text: str) -> str:
    return re.sub(r"\bi\b", "I", text)


def turn_parts(turn: str) -> tuple[str, str]:
    """The kind of a turn and its side: ("slight", "left")."""
    if turn in ("", "forward", "around"):
        return turn or "forward", ""
    *kind, side = turn.split()
    return (kind[0] if kind else "plain"), side
