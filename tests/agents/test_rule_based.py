from __future__ import annotations

import math
import re

import numpy as np
import pytest

import crossing
import grid_house
from itinera.agents.rule_based import MAX_MOVES, RuleBasedAgent
from itinera.errors import BadArgument
from itinera.hearth.language.generate import generate_instruction
from itinera.hearth.language.scene_description import DescribedCandidate, DescribedObject, SceneDescription, anonymize
from itinera.hearth.language.vocabulary import DIRECTION_WORDS, object_pattern
from itinera.seeding import generator
from itinera.simulators.graph import GraphSimulator
from itinera.simulators.simulator import STOP, Observation
from itinera.tasks import Instruction
from itinera.worlds import Pose

SEEDS = range(20, 24)  # not the houses the rules were written with


def seen(description: SceneDescription, heading: float = 0.0) -> Observation:
    """What someone is shown who faces that way."""
    return Observation("", "", heading, 0.0, description=anonymize(description))


def follow(place: grid_house.Place, start: str, heading: float, text: str) -> list[str]:
    """The nodes a reader of the text walks through."""
    reader = RuleBasedAgent()
    reader.reset(generator(0))
    reader.start_episode(Instruction(text))
    walked = [start]
    while (action := reader.act(seen(place.descriptions[walked[-1]], heading))) != STOP:
        way = place.descriptions[walked[-1]].candidates[action - 1]
        heading = way.heading
        walked.append(way.node)
    return walked


def nothing(text: str) -> str:
    return object_pattern(grid_house.NAMES).sub("thing", text)


def nowhere(text: str) -> str:
    return re.sub(rf"\b(?:{'|'.join(DIRECTION_WORDS)})\b", "", text, flags=re.IGNORECASE)


@pytest.fixture(scope="module")
def success() -> dict[str, float]:
    """How often a reader of step-by-step instructions gets to the goal, by what it is given to read."""
    reached: dict[str, list[bool]] = {}
    for seed in SEEDS:
        place = grid_house.place(seed)
        rng = generator(seed, "reader")
        paths = place.paths(15, rng)
        headings = rng.uniform(-np.pi, np.pi, len(paths)).tolist()
        texts = [
            generate_instruction(place.descriptions, path, h, rng, detail="steps").text
            for path, h in zip(paths, headings, strict=True)
        ]
        for k, (path, heading, text) in enumerate(zip(paths, headings, texts, strict=True)):
            read = {"full": text, "things": nothing(text), "turns": nowhere(text), "another's": texts[k - 1]}
            for name, words in read.items():
                end = follow(place, path[0], heading, words)[-1]
                reached.setdefault(name, []).append(bool(place.graph.between([end], [path[-1]])[0, 0] <= 3.0))
    return {name: float(np.mean(values)) for name, values in reached.items()}


def test_step_by_step_instructions_are_followed(success):
    assert success["full"] >= 0.9


@pytest.mark.parametrize("masked", ["things", "turns"])
def test_neither_things_nor_turns_can_be_spared(success, masked):
    assert success[masked] <= success["full"] - 0.2


def test_the_instruction_of_another_path_is_of_no_use(success):
    assert success["another's"] <= 0.25


def test_a_reader_sees_the_same_whatever_places_are_called():
    place = grid_house.place(20)
    path = place.paths(1, generator(0, "one"))[0]
    text = generate_instruction(place.descriptions, path, 0.0, generator(0), detail="steps").text
    assert follow(place, path[0], 0.0, text) == follow(place, path[0], 0.0, text)
    view = anonymize(place.descriptions[path[0]])
    assert not any(node in repr(view) for node in place.graph.nodes)


def description(
    *candidates: DescribedCandidate, objects: tuple[DescribedObject, ...] = (), room: str = "h"
) -> Observation:
    return seen(SceneDescription("", room, objects, candidates, ()))


def reading(text: str) -> RuleBasedAgent:
    reader = RuleBasedAgent()
    reader.start_episode(Instruction(text))
    return reader


def way(degrees: float, *, room: str = "h", through: str = "") -> DescribedCandidate:
    return DescribedCandidate("", math.radians(degrees), 2.0, 0, room, through)


def test_it_stops_when_it_is_told_to():
    reader = reading("Turn left and stop.")
    assert reader.act(description(way(0), way(80))) == 2
    assert reader.act(description(way(0), way(80))) == STOP


def test_it_goes_on_until_the_thing_is_reached():
    reader = reading("Stop by the red sofa.")
    sofas = [DescribedObject("sofa", colour, "", math.radians(a), 4.0, 2.0) for colour, a in (("red", 0), ("blue", 90))]
    assert reader.act(description(way(90), way(0), objects=tuple(sofas))) == 2
    assert reader.act(description(way(90), way(0))) == 2
    assert reader.act(description(way(90), way(180))) == STOP


def test_it_looks_for_the_room_it_should_stop_in():
    reader = reading("Stop in the kitchen.")
    assert reader.act(description(way(0), way(90, room="k", through="door"))) == 2
    assert reader.act(description(way(0), room="k")) == STOP


def test_it_stops_where_there_is_no_way():
    assert reading("Enter the kitchen.").act(description()) == STOP


def test_it_gives_up_after_a_while():
    reader = reading("Enter the kitchen.")
    moves = [reader.act(description(way(0))) for _ in range(MAX_MOVES + 1)]
    assert moves == [1] * MAX_MOVES + [STOP]


def test_it_begins_every_text_afresh():
    reader = reading("Enter the kitchen.")
    reader.act(description(way(0)))
    reader.start_episode(Instruction("Stop."))
    assert reader.act(description(way(0))) == STOP


def test_it_cannot_read_a_place_that_no_words_are_known_for():
    with pytest.raises(BadArgument, match="needs scene descriptions"):
        reading("Stop.").act(Observation("", "", 0.0, 0.0))


def led(text: str, *places: str) -> tuple[RuleBasedAgent, list[Observation]]:
    """A reader, and what it is shown at these nodes of a crossing one comes to from the west."""
    body = GraphSimulator(descriptions=crossing.SIGHTS)
    shown = [body.reset(crossing.WORLDS["one"], Pose(places[0], 0.0))]
    for place in places[1:]:
        shown.append(body.step(1 + shown[-1].candidates.nodes.index(place)))
    return reading(text), shown


def test_being_led_it_reads_on_as_if_it_had_gone_itself():
    reader, shown = led("Go straight. Go straight. Turn left.", "a", "b", "c")
    for observation in shown[:-1]:
        reader.observe(observation)
    assert shown[-1].candidates.nodes[reader.act(shown[-1]) - 1] == "l"


def test_led_elsewhere_than_told_it_knows_where_it_is():
    reader, shown = led("Go straight. Turn left. Turn around.", "b", "c", "r")
    for observation in shown[:-1]:
        reader.observe(observation)
    assert shown[-1].candidates.nodes[reader.act(shown[-1]) - 1] == "c"


def test_to_weigh_changes_nothing_and_is_sure_of_what_it_would_do():
    reader, shown = led("Go straight. Go straight. Turn right.", "a", "b", "c")
    for observation in shown[:-1]:
        reader.observe(observation)
    weights = reader.action_probabilities(shown[-1])
    assert weights.tolist() == reader.action_probabilities(shown[-1]).tolist()
    assert sorted(weights.tolist()) == [0, 0, 0, 0, 1]
    assert int(weights.argmax()) == reader.act(shown[-1])
