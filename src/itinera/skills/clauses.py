"""The clauses of an instruction whose words are aligned with places: what each asks for, and where on the path.

Fine-Grained R2R states its clauses (sub-instructions). Spoken instructions (RxR, Hearth) are split at punctuation and
before conjunctions that begin a new action ("and turn", "then"). Kinds are recognized by key words in English and
Spanish; clauses of other languages are "other". Start with `split_clauses`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from itinera.skills.categories import lookup_category
from itinera.tasks import Alignment, Episode
from itinera.worlds.labels import ROOM_NAMES

STOP, TURN, STAIRS, DOOR, ROOM, OBJECT, STRAIGHT, OTHER = (
    "stop", "turn", "stairs", "door", "room", "object", "straight", "other",
)  # fmt: skip
CLAUSE_KINDS = (STOP, TURN, STAIRS, DOOR, ROOM, OBJECT, STRAIGHT, OTHER)
"""The kinds of clauses: to stop or to turn, if the clause says so; else by what it mentions first."""

_ENDS_CLAUSE = re.compile(r"[.,;:!?]$")
_LETTERS = re.compile(r"[^\W\d_]+")
_MAX_NAME = 3  # words of an object's name

_VERBS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        language: frozenset(words.split())
        for language, words in {
            "en": "go walk turn stop wait take enter exit leave continue head pass climb move proceed keep make step "
            "follow stand cross veer bear face look ascend descend halt come travel walking going you",
            "es": "ve camina gira para detente espera toma entra sal sigue continua dirigete pasa sube baja avanza "
            "cruza dobla mira da quedate vuelve deja atraviesa llega",
        }.items()
    }
)
_CONJUNCTIONS = {"en": frozenset({"and", "until", "then"}), "es": frozenset({"y", "e", "hasta", "luego", "despues"})}
_ALWAYS_SPLIT = frozenset({"then", "luego", "despues"})
# Verbs decide between "make a left near the stairs" and "go past the stairs on your left".
_ACTIONS: Mapping[str, Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "en": {
            STOP: re.compile(r"\b(stop\w*|wait\w*|halt|destination|end point|are done|have arrived|are there)\b"),
            TURN: re.compile(
                r"\b(turn\w*|veer|u-turn|about-face|drift)\b|\b(make|take|hang|do)\b.{0,20}\b(left|right)\b"
                r"|\b(go|head|walk|move|bear|face|continue|proceed|keep|exit|then)\s+(\w+\s+){0,2}(left|right)\b"
                r"|^(and\s+)?(slight\w*\s+|sharp\w*\s+|hard\s+)?(left|right)\b"
            ),
        },
        "es": {
            STOP: re.compile(r"\b(para|parate|detente|espera|destino|has llegado|quedate)\b"),
            TURN: re.compile(
                r"\b(gira\w*|dobla|tuerce|vuelta)\b|\b(ve|sigue|toma|camina)\b.{0,15}\b(izquierda|derecha)\b"
            ),
        },
    }
)
_THINGS: Mapping[str, Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "en": {
            STAIRS: re.compile(
                r"\b(stairs?|staircase|stairway|upstairs|downstairs|landing|flight)\b|\b(up|down|climb)\s+(\w+\s+)?steps?\b"
            ),
            DOOR: re.compile(r"\b(doors?|doorway|doorways|archway|opening|entrance|entryway|gate|threshold)\b"),
        },
        "es": {
            STAIRS: re.compile(r"\b(escaleras?|escalones|escalon|rellano|piso de (arriba|abajo))\b"),
            DOOR: re.compile(r"\b(puertas?|arco|abertura|entrada|salida|umbral)\b"),
        },
    }
)
_STRAIGHT: Mapping[str, re.Pattern[str]] = MappingProxyType(
    {
        "en": re.compile(r"\b(straight|forward|ahead|continue|keep|walk|go|proceed|along|head|move|steps?)\b"),
        "es": re.compile(r"\b(recto|adelante|delante|sigue|continua|camina|avanza|ve|fondo)\b"),
    }
)
_ROOMS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "en": frozenset(name for names in ROOM_NAMES.values() for name in names.split("/"))
        | frozenset({"living room", "laundry", "corridor", "hall", "room", "patio", "foyer", "den", "pantry"}),
        "es": frozenset(
            {"cocina", "bano", "dormitorio", "habitacion", "salon", "sala", "comedor", "pasillo", "garaje", "oficina"}
            | {"despacho", "terraza", "jardin", "biblioteca", "lavadero", "vestibulo", "cuarto", "balcon"}
        ),
    }
)


@dataclass(frozen=True)
class InstructionClause:
    """A clause of an instruction, and the part of the reference path that it describes."""

    text: str
    kind: str  # of CLAUSE_KINDS
    first: int  # index of the reference place where its words begin
    last: int  # and where they end


def split_clauses(episode: Episode) -> tuple[InstructionClause, ...]:
    """The clauses of an episode in their order; empty if its words are not aligned with places.

    >>> from itinera.tasks import Instruction
    >>> from itinera.worlds import Pose
    >>> words = "Turn left and walk past the sofa. Stop at the door.".split()
    >>> first, last = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2]), np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2])
    >>> times = np.arange(11.0)
    >>> path = ("a", "b", "c")
    >>> episode = Episode("1", "house", Pose("a", 0.0), ("c",), path, Instruction(" ".join(words)),
    ...     alignment=Alignment(tuple(words), first, last, times, times + 0.5))
    >>> [(clause.kind, clause.first, clause.last) for clause in split_clauses(episode)]
    [('turn', 0, 0), ('object', 0, 1), ('stop', 2, 2)]
    """
    words = episode.alignment
    if words is None or not len(words.words):
        return ()
    language = episode.instruction.language.split("-")[0]
    clauses = []
    for begin, end in _join_fragments(words.words, list(_clause_bounds(words, language)), language):
        known = (words.first[begin:end] >= 0) & (words.last[begin:end] >= 0)
        if known.any():
            text = " ".join(words.words[begin:end])
            first, last = words.first[begin:end][known].min(), words.last[begin:end][known].max()
            clauses.append(InstructionClause(text, classify_clause(text, language), int(first), int(last)))
    return tuple(clauses)


def clause_at(clauses: Sequence[InstructionClause], place: int, *, final: int) -> int:
    """The index of the clause that leads on from this place of the reference; `final` is the index of its last place.

    At the last place it is the last clause. Elsewhere it is the first clause that begins at or before the place and
    ends after it; else the last that begins at or before it.
    """
    if place >= final:
        return len(clauses) - 1
    begun = [k for k, clause in enumerate(clauses) if clause.first <= place]
    leading = [k for k in begun if clauses[k].last > place]
    return (leading or begun[-1:] or [0])[0]


def classify_clause(text: str, language: str = "en") -> str:
    """The kind of a clause, by its key words.

    >>> classify_clause("go up the stairs"), classify_clause("leave the kitchen"), classify_clause("gira", "es")
    ('stairs', 'room', 'turn')
    """
    if language not in _ACTIONS:
        return OTHER
    plain = _fold(text)
    for kind, pattern in _ACTIONS[language].items():
        if pattern.search(plain):
            return kind
    mentioned = {kind: found.end() for kind, pattern in _THINGS[language].items() if (found := pattern.search(plain))}
    mentioned |= dict(_mentioned_names(plain, language))
    if mentioned:
        return min(mentioned, key=lambda kind: mentioned[kind])
    return STRAIGHT if _STRAIGHT[language].search(plain) else OTHER


def _mentioned_names(text: str, language: str) -> Iterator[tuple[str, int]]:
    """The first room and the first object mentioned, with the positions of their ends."""
    names = sorted(_names(text))
    rooms = [position for position, name in names if name in _ROOMS[language]]
    objects = [position for position, name in names if language == "en" and _is_object(name)]
    yield from ((kind, positions[0]) for kind, positions in ((ROOM, rooms), (OBJECT, objects)) if positions)


def _is_object(name: str) -> bool:
    return lookup_category(name) not in (None, "door", "stairs", "floor")


def _clause_bounds(words: Alignment, language: str) -> Iterator[tuple[int, int]]:
    """Begin and end of the words of each clause."""
    cuts = _part_cuts(words) if words.begins is None else _spoken_cuts(words.words, language)
    yield from zip([0, *cuts], [*cuts, len(words.words)], strict=True)


def _join_fragments(
    words: Sequence[str], bounds: Sequence[tuple[int, int]], language: str
) -> Iterator[tuple[int, int]]:
    """The bounds, with words that ask for nothing joined to a neighbor: "After that," to the next clause."""
    begin = 0
    pending: tuple[int, int] | None = None
    for k, (_, end) in enumerate(bounds):
        text = " ".join(words[begin:end])
        if classify_clause(text, language) == OTHER and language in _ACTIONS:
            if text.endswith(",") and k + 1 < len(bounds):
                continue  # the next clause begins here
            if pending is not None:
                pending, begin = (pending[0], end), end
                continue
        if pending is not None:
            yield pending
        pending, begin = (begin, end), end
    if pending is not None:
        yield pending


def _part_cuts(words: Alignment) -> list[int]:
    """Where the part of the path changes: Fine-Grained R2R's sub-instructions each have one."""
    changes = (np.diff(words.first) != 0) | (np.diff(words.last) != 0)
    return [int(k) + 1 for k in np.flatnonzero(changes)]


def _spoken_cuts(words: Sequence[str], language: str) -> list[int]:
    conjunctions, verbs = _CONJUNCTIONS.get(language, frozenset()), _VERBS.get(language, frozenset())
    plain = [_fold(word).strip(".,;:!?") for word in words]
    cuts: list[int] = []
    for k in range(1, len(words)):
        after = bool(_ENDS_CLAUSE.search(words[k - 1]))
        joined = plain[k] in conjunctions and (
            plain[k] in _ALWAYS_SPLIT or (k + 1 < len(words) and plain[k + 1] in verbs | _ALWAYS_SPLIT)
        )
        if (after or joined) and not (plain[k - 1] in conjunctions and cuts and cuts[-1] == k - 1):
            cuts.append(k)
    return cuts


def _fold(text: str) -> str:
    """Lower case without accents."""
    decomposed = unicodedata.normalize("NFD", text.lower())
    return "".join(letter for letter in decomposed if not unicodedata.combining(letter))


def _names(text: str) -> Iterator[tuple[int, str]]:
    """Every run of up to three words, after the position of its end."""
    words = list(_LETTERS.finditer(text))
    for count in range(1, _MAX_NAME + 1):
        for k in range(len(words) - count + 1):
            yield words[k + count - 1].end(), " ".join(word.group() for word in words[k : k + count])
