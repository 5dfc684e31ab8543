"""Fine-Grained R2R: R2R with instructions divided into sub-instructions, each with its part of the path.

Two fields are added to R2R's: `new_instructions`, a string with a nested list of lemmatized words, and
`chunk_view`, the first and last node of each sub-instruction, counted from 1. Start with `read_split`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import numpy as np

from itinera.errors import BadArgument, Fault
from itinera.formats import r2r
from itinera.formats.decoding import decode_list
from itinera.formats.frames import heading_to_r2r
from itinera.formats.io import FaultList, read_bytes
from itinera.formats.viewpoints import viewpoint_path
from itinera.formats.writing import atomic_write
from itinera.tasks import Alignment, Episode, Split

Words: TypeAlias = list[list[str]]  # the words of each sub-instruction
Views: TypeAlias = list[tuple[int, int]]  # the first and last node of each sub-instruction, from 1

LONGEST_LITERAL = 100_000  # characters; the longest public one has 2,053
_DEEPEST = 3  # instructions, sub-instructions, words

# A quoted word as Python writes it, with no prefix and no escape that Python would not write. Possessive, so that
# hostile text cannot make the search look back.
_ESCAPE = r"\\(?:['\"\\nrt]|x[0-9a-f]{2}|u(?!d[89a-f])[0-9a-f]{4}|U00(?:0[1-9a-f]|10)[0-9a-f]{4})"
_WORD = rf"(?:'(?:[^'\\\n]|{_ESCAPE})*+'|\"(?:[^\"\\\n]|{_ESCAPE})*+\")"
_LITERAL = re.compile(rf"(?:[\[\], \n]|{_WORD})*+")


class _ChunkedPath(r2r.PathRecord, kw_only=True):
    new_instructions: str
    chunk_view: list[Views] | None = None


def read_split(path: str | Path) -> Split:
    """The episodes of a Fine-Grained R2R file, named as R2R's, each with the alignment of its words to its path.

    The words are those of all sub-instructions, which are lemmatized and thus not those of the instruction. The
    boundaries are in the notes as in the file: `notes["new_instructions"]` are the words of each sub-instruction of the
    episode, `notes["chunk_view"]` its [first, last] nodes counted from 1. A test split has words without nodes; an
    instruction without sub-instructions has no alignment.
    """
    path = Path(path)
    records = decode_list(read_bytes(path), _ChunkedPath, str(path))
    faults = FaultList(str(path))
    cuts: dict[str, list[Words]] = {}
    for i, record in enumerate(records):
        faults += r2r.path_faults(f"record {i}", record)
        try:
            words = _words(record.new_instructions)
        except ValueError as error:
            faults.append(Fault(f"record {i}", f"{error}.", _REMEDY, "new_instructions"))
            continue
        faults += _faults(f"record {i}", record, words)
        cuts[str(record.path_id)] = words
    r2r.raise_faults(str(path), faults, records)
    # Apart from those two fields, now checked, this is an R2R file.
    split = r2r.read_split(path)
    views = {str(record.path_id): record.chunk_view for record in records}
    aligned = (_aligned(episode, cuts[episode.path_id], views[episode.path_id]) for episode in split.episodes)
    return replace(split, episodes=tuple(aligned))


_REMEDY = "It must be the text of a list, per instruction, of lists, per sub-instruction, of quoted words."


def _words(text: str) -> list[Words]:
    """The nested list of a literal; raises ValueError for anything else."""
    if len(text) > LONGEST_LITERAL:
        raise ValueError(f"has {len(text)} characters, more than {LONGEST_LITERAL}")
    # Only words, brackets and commas, and no deeper than three: this bounds the input of the parser below.
    if not _LITERAL.fullmatch(text) or _depth(re.sub(_WORD, "", text)) > _DEEPEST:
        raise ValueError("is not a list of lists of lists of quoted words")
    try:
        return msgspec.convert(ast.literal_eval(text.strip()), list[Words])
    except (SyntaxError, ValueError, MemoryError, RecursionError, msgspec.ValidationError) as error:
        raise ValueError(f"cannot be read ({str(error).splitlines()[0]})") from None


def _depth(brackets: str) -> int:
    steps = ((sign == "[") - (sign == "]") for sign in brackets)
    return max(accumulate(steps), default=0)


def _faults(where: str, record: _ChunkedPath, words: Sequence[Words]) -> Iterator[Fault]:
    if len(words) > len(record.instructions):
        problem = f"cuts {len(words)} instructions, but there are {len(record.instructions)}."
        yield Fault(where, problem, "The lists follow the order of the instructions.", "new_instructions")
    if not all(chain.from_iterable(words)):
        yield Fault(where, "has a sub-instruction without words.", "Leave it out.", "new_instructions")
    if record.chunk_view is None:
        return
    counted, viewed = list(map(len, words)), list(map(len, record.chunk_view))
    if counted != viewed:
        problem = f"has {viewed} sub-instructions where new_instructions has {counted}."
        yield Fault(where, problem, "Each sub-instruction needs its [first, last] nodes.", "chunk_view")
    count = len(record.path)
    for first, last in chain.from_iterable(record.chunk_view):
        if not 1 <= first <= last <= count:
            remedy = "Nodes are counted from 1, both ends included."
            yield Fault(where, f"[{first}, {last}] is not a part of a path of {count} nodes.", remedy, "chunk_view")


def _aligned(episode: Episode, cuts: list[Words], views: list[Views] | None) -> Episode:
    i = int(episode.id.rpartition("_")[2])
    if i >= len(cuts) or not cuts[i]:
        return episode
    notes = {**episode.notes, "new_instructions": cuts[i]}
    if views is not None:
        notes["chunk_view"] = views[i]
    return replace(episode, alignment=_alignment(cuts[i], views[i] if views is not None else None), notes=notes)


def _alignment(words: Words, views: Views | None) -> Alignment:
    # A part's nodes are numbered from 1 in the file and from 0 here, so an unknown one may be given as node 0.
    nodes = np.array(views or [(0, 0)] * len(words), dtype=np.int64) - 1
    counts = np.fromiter(map(len, words), np.int64, len(words))
    first, last = np.repeat(nodes, counts, axis=0).T
    return Alignment(tuple(chain.from_iterable(words)), first, last)


def write_split(path: str | Path, split: Split) -> None:
    """Write a split of graph episodes in Fine-Grained R2R's form, with the sub-instructions of their notes."""
    if not any("new_instructions" in episode.notes for episode in split.episodes):
        raise BadArgument(f"{split.name} has no sub-instructions to write. Write it as R2R instead.")
    paths: dict[str, list[Episode]] = {}
    for episode in split.episodes:
        paths.setdefault(episode.path_id or episode.id, []).append(episode)
    records = [_record(path_id, episodes) for path_id, episodes in paths.items()]
    with atomic_write(Path(path)) as stream:
        stream.write(msgspec.json.format(msgspec.json.encode(records), indent=1))


def _record(path_id: str, episodes: list[Episode]) -> _ChunkedPath:
    one = episodes[0]
    return _ChunkedPath(
        scan=one.world_id,
        path_id=r2r.parse_id(path_id),
        path=viewpoint_path(one),
        heading=heading_to_r2r(one.start.heading),
        instructions=[episode.instruction.text for episode in episodes],
        distance=one.stated_distance,
        new_instructions=repr(_noted("new_instructions", episodes)),
        chunk_view=_noted("chunk_view", episodes) or None,
        **{name: one.notes[name] for name in r2r.PathRecord.__struct_fields__ if name in one.notes},
    )


def _noted(name: str, episodes: Iterable[Episode]) -> list[Any]:
    # The lists have no names but their order, so an instruction left whole before one that is cut gets an empty one.
    lists = [episode.notes.get(name, []) for episode in episodes]
    while lists and not lists[-1]:
        lists.pop()
    return lists
