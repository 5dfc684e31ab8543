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

STOP, STAIRS, TURN, DOOR, ROOM, OBJECT, STRAIGHT, OTHER = (
    "stop", "stairs", "turn", "door", "room", "object", "straight", "other",
)  # fmt: skip
CLAUSE_KINDS = (STOP, STAIRS, TURN, DOOR, ROOM, OBJECT, STRAIGHT, OTHER)
"""The kinds of clauses. A clause that fits several has the first of them."""

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
_PATTERNS: Mapping[str, Mapping[str, re.Pattern[str]]] = MappingProxyType(
    {
        "en": {
            STOP: re.compile(
                r"\b(stop\w*|wait\w*|halt|destination|end point|you are done|have arrived|you are there)\b"
            ),
            STAIRS: re.compile(r"\b(stairs?|staircase|stairway|upstairs|downstairs|steps|landing|flight)\b"),
            TURN: re.compile(r"\b(left|right|around|turn\w*|veer|bear|u-turn|sharp)\b"),
            DOOR: re.compile(r"\b(door\w*|archway|arch|opening|entrance|entry|exit|gate|threshold)\b"),
            STRAIGHT: re.compile(r"\b(straight|forward|ahead|continue|keep|walk|go|proceed|along|down|end)\b"),
        },
        "es": {
            STOP: re.compile(r"\b(para|parate|detente|espera|destino|has llegado|quedate)\b"),
            STAIRS: re.compile(r"\b(escaleras?|escalones|escalon|rellano|piso de arriba|piso de abajo)\b"),
            TURN: re.compile(r"\b(izquierda|derecha|gira\w*|dobla|vuelta|media vuelta)\b"),
            DOOR: re.compile(r"\b(puertas?|arco|abertura|entrada|salida|umbral)\b"),
            STRAIGHT: re.compile(r"\b(recto|adelante|delante|sigue|continua|camina|avanza|ve|fondo)\b"),
        },
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
    for begin, end in _clause_bounds(words, language):
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
    patterns = _PATTERNS.get(language)
    if patterns is None:
        return OTHER
    plain = _fold(text)
    for kind in (STOP, STAIRS, TURN, DOOR):
        if patterns[kind].search(plain):
            return kind
    names = list(_names(plain))
    if any(name in _ROOMS[language] for name in names):
        return ROOM
    if language == "en" and any(lookup_category(name) for name in names):
        return OBJECT
    return STRAIGHT if patterns[STRAIGHT].search(plain) else OTHER


def _clause_bounds(words: Alignment, language: str) -> Iterator[tuple[int, int]]:
    """Begin and end of the words of each clause."""
    cuts = _part_cuts(words) if words.begins is None else _spoken_cuts(words.words, language)
    yield from zip([0, *cuts], [*cuts, len(words.words)], strict=True)


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


def _names(text: str) -> Iterator[str]:
    """Every run of up to three words."""
    words = _LETTERS.findall(text)
    for count in range(1, _MAX_NAME + 1):
        for k in range(len(words) - count + 1):
            yield " ".join(words[k : k + count])
