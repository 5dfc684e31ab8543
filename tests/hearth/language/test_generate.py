from __future__ import annotations

import re

import numpy as np
import pytest

import grid_house
from itinera.errors import BadArgument
from itinera.formats.pose_traces import PoseTrace, align_words
from itinera.hearth.language.generate import DETAILS, GeneratedInstruction, generate_instruction
from itinera.hearth.language.object_words import OBJECT_WORDS
from itinera.hearth.language.vocabulary import ROOM_WORDS
from itinera.seeding import generator


def told(seed: int, detail: str, count: int = 12) -> list[tuple[tuple[str, ...], GeneratedInstruction]]:
    place = grid_house.place(seed)
    rng = generator(seed, "wording", detail)
    paths = place.paths(count, rng)
    headings = rng.uniform(-np.pi, np.pi, count).tolist()
    return [
        (path, generate_instruction(place.descriptions, path, h, rng, detail=detail))
        for path, h in zip(paths, headings, strict=True)
    ]


EVERY = [(seed, detail) for seed in range(3) for detail in DETAILS]


@pytest.mark.parametrize(("seed", "detail"), EVERY)
def test_instructions_are_written_as_english_is(seed, detail):
    for _, wording in told(seed, detail):
        assert re.fullmatch(r"([A-Z][a-z ,'-]+[.!?] )*[A-Z][a-z ,'-]+[.!?]", wording.text), wording.text
        assert not re.search(r" ,|  |,,|\b(\w+) \1\b|\bthe the\b|\ba [aeiou]", wording.text), wording.text


@pytest.mark.parametrize(("seed", "detail"), EVERY)
def test_no_numbers_measures_or_names_of_nodes_are_told(seed, detail):
    for _, wording in told(seed, detail):
        assert not re.search(r"[0-9]|\b(?:met(?:re|er)s?|degrees?|node|viewpoint|none)\b", wording.text.lower())


@pytest.mark.parametrize(("seed", "detail"), EVERY)
def test_every_word_has_its_place_and_time_on_the_path(seed, detail):
    for path, wording in told(seed, detail):
        assert " ".join(wording.words) == wording.text
        assert {len(x) for x in (wording.first, wording.last, wording.begins, wording.ends)} == {len(wording.words)}
        assert wording.first.min() == 0
        assert wording.last[-1] == len(path) - 1 or len(wording.words) < len(path)
        assert (wording.first <= wording.last).all()
        assert (np.diff(wording.first) >= 0).all()
        assert (wording.begins < wording.ends).all()
        assert (wording.begins[1:] >= wording.ends[:-1]).all()


@pytest.mark.parametrize(("seed", "detail"), EVERY)
def test_the_speaker_stands_where_the_words_belong(seed, detail):
    for path, wording in told(seed, detail):
        nodes, times = zip(*wording.arrivals, strict=True)
        assert nodes == path
        trace = PoseTrace(np.array(nodes), np.array(times))
        first, last = align_words(trace, path, wording.begins, wording.ends)
        assert (first == wording.first).all()
        assert (last == wording.last).all()


def test_people_speak_two_words_a_second_or_a_little_more():
    spoken = [wording for seed in range(3) for _, wording in told(seed, "steps")]
    pace = sum(len(wording.words) for wording in spoken) / sum(wording.ends[-1] for wording in spoken)
    assert 1.9 < pace < 2.6


def test_the_same_generator_says_the_same():
    assert [w.text for _, w in told(1, "steps")] == [w.text for _, w in told(1, "steps")]


def test_more_detail_takes_more_words():
    means = {
        detail: np.mean([len(wording.words) for seed in range(3) for _, wording in told(seed, detail)])
        for detail in DETAILS
    }
    assert 8 < means["short"] < 15 < means["ordinary"] < means["steps"] < 55


def test_short_instructions_name_the_goal():
    rooms = re.compile("|".join(word for words in ROOM_WORDS.values() for word in words))
    names = {word for words in OBJECT_WORDS.values() for word in words} | set(grid_house.NAMES)
    objects = re.compile("|".join(sorted(names)))
    for seed in range(3):
        for _, wording in told(seed, "short"):
            assert rooms.search(wording.text) or objects.search(wording.text), wording.text


def test_wording_varies():
    place = grid_house.place(0)
    path = place.paths(1, generator(0, "one"))[0]
    texts = {
        generate_instruction(place.descriptions, path, 0.0, generator(k, "vary"), detail="steps").text
        for k in range(20)
    }
    assert len(texts) > 15


def test_a_path_of_one_place_is_refused():
    place = grid_house.place(0)
    with pytest.raises(BadArgument, match="at least two nodes to be described; got 1"):
        generate_instruction(place.descriptions, place.graph.nodes[:1], 0.0, generator(0), detail="short")


def test_an_unknown_detail_is_refused():
    place = grid_house.place(0)
    with pytest.raises(BadArgument, match="detail must be one of short, ordinary, steps, not 'long'"):
        generate_instruction(place.descriptions, place.graph.nodes[:2], 0.0, generator(0), detail="long")


def test_a_path_along_no_edge_is_refused():
    place = grid_house.place(0)
    start, *_ = place.graph.nodes
    far = next(node for node in place.graph.nodes if node not in (start, *place.graph.neighbors(start)))
    with pytest.raises(BadArgument, match="No edge leads from"):
        generate_instruction(place.descriptions, (start, far), 0.0, generator(0), detail="short")
