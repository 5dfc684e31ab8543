"""Fine-Grained R2R: words beside their part of the path, hostile literals, and the official files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from json_files import assert_same_records, records, written

from itinera.errors import BadArgument, BadFile
from itinera.formats import r2r
from itinera.formats.fgr2r import LONGEST_LITERAL, read_split, write_split

CUT = [[["leave", "the", "room"], ["stop"]], [["go", "'til", "c"]]]
RECORD: dict[str, Any] = {
    "scan": "house",
    "path_id": 7,
    "path": ["a", "b", "c"],
    "heading": 0.5,
    "distance": 4.25,
    "instructions": ["Leave the room. Stop. ", "Go 'til c. "],
    "new_instructions": repr(CUT),
    "chunk_view": [[[1, 2], [2, 3]], [[1, 3]]],
}


def without(record: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in record.items() if name not in names}


TEST_SPLIT = without(RECORD, "chunk_view", "distance") | {"path": ["a"]}


def test_words_are_aligned_to_nodes_counted_from_zero(tmp_path: Path) -> None:
    split = read_split(written(tmp_path / "FGR2R_tiny.json", [RECORD]))
    alignment = split.episodes[0].alignment
    assert alignment is not None
    assert alignment.words == ("leave", "the", "room", "stop")
    assert alignment.first.tolist() == [0, 0, 0, 1]
    assert alignment.last.tolist() == [1, 1, 1, 2]
    assert alignment.first.dtype == alignment.last.dtype == np.int64


def test_the_notes_keep_the_boundaries_of_each_episode(tmp_path: Path) -> None:
    first, second = read_split(written(tmp_path / "x.json", [RECORD])).episodes
    assert first.notes["new_instructions"] == [["leave", "the", "room"], ["stop"]]
    assert list(map(list, first.notes["chunk_view"])) == [[1, 2], [2, 3]]
    assert second.notes["new_instructions"] == [["go", "'til", "c"]]


def test_all_else_is_as_r2r_reads_it(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", [RECORD, TEST_SPLIT | {"path_id": 8}])
    cut, plain = read_split(path), r2r.read_split(path)
    assert (cut.name, cut.protocol) == (plain.name, plain.protocol)
    for a, b in zip(cut.episodes, plain.episodes, strict=True):
        assert (a.id, a.world_id, a.goals, a.reference, a.instruction) == (
            b.id,
            b.world_id,
            b.goals,
            b.reference,
            b.instruction,
        )
        assert (a.start.place, a.start.heading, a.stated_distance) == (
            b.start.place,
            b.start.heading,
            b.stated_distance,
        )


def test_words_of_a_test_split_have_no_nodes(tmp_path: Path) -> None:
    episode = read_split(written(tmp_path / "x.json", [TEST_SPLIT])).episodes[0]
    assert episode.goals_withheld
    assert episode.alignment is not None
    assert episode.alignment.words == ("leave", "the", "room", "stop")
    assert episode.alignment.first.tolist() == episode.alignment.last.tolist() == [-1] * 4


def test_an_instruction_that_nobody_cut_has_no_alignment(tmp_path: Path) -> None:
    record = RECORD | {"instructions": [*RECORD["instructions"], "And on. "]}
    split = read_split(written(tmp_path / "x.json", [record]))
    assert [episode.alignment is None for episode in split.episodes] == [False, False, True]


def test_splits_come_back_as_they_were_written(tmp_path: Path) -> None:
    uncut = RECORD | {"path_id": "p_8", "instructions": [*RECORD["instructions"], "And on. "]}
    content = [RECORD, uncut, TEST_SPLIT | {"path_id": 9}]
    write_split(tmp_path / "after.json.gz", read_split(written(tmp_path / "before.json", content)))
    assert_same_records(records(tmp_path / "after.json.gz"), content)


def test_an_uncut_instruction_before_others_keeps_its_place(tmp_path: Path) -> None:
    split = read_split(written(tmp_path / "before.json", [RECORD]))
    first, second = split.episodes
    whole = replace(first, alignment=None, notes={})
    write_split(tmp_path / "after.json", replace(split, episodes=(whole, second)))
    again = read_split(tmp_path / "after.json").episodes
    assert again[0].alignment is None
    assert again[1].notes == second.notes


def test_a_split_without_cuts_is_not_written(tmp_path: Path) -> None:
    split = r2r.read_split(written(tmp_path / "x.json", [RECORD]))
    with pytest.raises(BadArgument, match="Write it as R2R"):
        write_split(tmp_path / "after.json", split)


def literal(text: str) -> list[dict[str, Any]]:
    return [RECORD | {"new_instructions": text}]


NOT_WORDS = ["record 0, field new_instructions", "not a list of lists of lists of quoted words"]

FAULTS: dict[str, tuple[Any, list[str]]] = {
    "no literal": ([without(RECORD, "new_instructions")], ["record 0", "new_instructions"]),
    "a call": (literal("__import__('os').system('true')"), NOT_WORDS),
    "numbers": (literal("[[[1, 2]]]"), NOT_WORDS),
    "bytes": (literal("[[[b'go']]]"), NOT_WORDS),
    "too deep": (literal("[[[['go']]]]"), NOT_WORDS),
    "much too deep": (literal("[" * 50_000 + "]" * 50_000), NOT_WORDS),
    "an open quote": (literal("[[['go" + "\\'" * 40_000), NOT_WORDS),
    "a strange escape": (literal(r"[[['\d']]]"), NOT_WORDS),
    "half a character": (literal(r"[[['\ud800']]]"), NOT_WORDS),
    "too flat": (literal("[['go']]"), ["field new_instructions", "cannot be read"]),
    "too long": (literal("[" + " " * LONGEST_LITERAL + "]"), [f"more than {LONGEST_LITERAL}"]),
    "a bracket too few": (literal("[[['go']]"), ["field new_instructions", "cannot be read"]),
    "a bracket too many": (literal("[[['go']]]]"), ["field new_instructions", "cannot be read"]),
    "nothing": (literal(""), ["field new_instructions", "cannot be read"]),
    "no words": (literal("[[['go'], []], [['on']]]"), ["sub-instruction without words"]),
    "more cuts than instructions": (
        [RECORD | {"instructions": ["Go. "]}],
        ["cuts 2 instructions, but there are 1"],
    ),
    "views of other cuts": ([RECORD | {"chunk_view": [[[1, 3]], [[1, 3]]]}], ["field chunk_view", "[1, 1]", "[2, 1]"]),
    "node zero": ([RECORD | {"chunk_view": [[[0, 2], [2, 3]], [[1, 3]]]}], ["[0, 2] is not a part", "3 nodes"]),
    "a node too far": ([RECORD | {"chunk_view": [[[1, 2], [2, 4]], [[1, 3]]]}], ["[2, 4] is not a part"]),
    "backwards": ([RECORD | {"chunk_view": [[[2, 1], [2, 3]], [[1, 3]]]}], ["[2, 1] is not a part"]),
    "three ends": ([RECORD | {"chunk_view": [[[1, 2, 3]]]}], ["record 0", "chunk_view[0][0]"]),
    "faults of R2R and of its own": (
        [RECORD | {"path": []}, RECORD | {"path_id": 8, "new_instructions": "nothing"}, RECORD],
        ["record 0, field path", "record 1, field new_instructions", "record 2, field path_id"],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, name: str) -> None:
    content, fragments = FAULTS[name]
    with pytest.raises(BadFile) as caught:
        read_split(written(tmp_path / "bad.json", content))
    for fragment in fragments:
        assert fragment in str(caught.value)


@pytest.mark.real
@pytest.mark.parametrize(
    ("name", "aligned", "cuts"), [("val_seen", 1020, 3775), ("val_unseen", 2349, 8481), ("test", 4173, None)]
)
def test_official_files_have_their_counts_and_come_back(
    tmp_path: Path, data: Path, name: str, aligned: int, cuts: int | None
) -> None:
    source = data / "fgr2r" / f"FGR2R_{name}.json.gz"
    split = read_split(source)
    alignments = [episode.alignment for episode in split.episodes if episode.alignment is not None]
    assert len(alignments) == aligned
    if cuts is None:
        assert all((alignment.first == -1).all() for alignment in alignments)
    else:
        assert sum(len(episode.notes.get("chunk_view", ())) for episode in split.episodes) == cuts
        for episode in split.episodes:
            if episode.alignment is not None:
                assert episode.alignment.first[0] == 0
                assert episode.alignment.last[-1] == len(episode.reference) - 1
    write_split(tmp_path / "after.json", split)
    assert_same_records(records(tmp_path / "after.json"), records(source))


@pytest.mark.real
def test_the_fourth_instruction_of_one_official_path_is_not_cut(data: Path) -> None:
    split = read_split(data / "fgr2r" / "FGR2R_val_seen.json.gz")
    (whole,) = (episode for episode in split.episodes if episode.alignment is None)
    assert whole.id.endswith("_3")
