from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itinera.errors import BadFile
from itinera.formats.scene_descriptions import read_descriptions, write_descriptions
from itinera.formats.writing import write_members
from itinera.hearth.language.scene_description import (
    DescribedCandidate,
    DescribedDoor,
    DescribedObject,
    SceneDescription,
    anonymize,
)

SOFA = DescribedObject("sofa", "red", "", 0.5, 2.25, 1.9, 3, "leather", 0.4, inside=False)
DESCRIPTIONS = {
    "a": SceneDescription(
        "a",
        "k",
        (SOFA, DescribedObject("lamp", "", "round", -1.0, 1.0, 0.4, instance=4)),
        (DescribedCandidate("b", 0.25, 2.0, 1, "h", "door"),),
        (DescribedDoor(0.3, 1.5, "h", "white", False), DescribedDoor(-2.0, 4.0, "", "", True)),
    ),
    "b": SceneDescription(
        "b",
        "h",
        (DescribedObject("sofa", "red", "", 3.0, 4.0, 1.9, 3, "leather", 0.4),),
        (DescribedCandidate("a", -2.9, 2.0, -1, "k", "door"),),
        (),
    ),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_descriptions(tmp_path / "scene_descriptions" / "house.json", "house", DESCRIPTIONS)
    return tmp_path / "scene_descriptions"


def test_sights_come_back_as_they_were(folder):
    descriptions = read_descriptions(folder)
    assert list(descriptions) == ["house"]
    assert descriptions["house"] == DESCRIPTIONS
    assert descriptions["house"] is descriptions["house"]


def test_sights_of_strangers_come_back_too(tmp_path):
    strange = {node: anonymize(description) for node, description in DESCRIPTIONS.items()}
    strange = {"": strange["a"]}  # all nodes are called so
    write_descriptions(tmp_path / "house.json", "house", strange)
    assert read_descriptions(tmp_path)["house"] == strange


def test_one_file_and_an_archive_will_do(folder, tmp_path):
    assert read_descriptions(folder / "house.json")["house"] == DESCRIPTIONS
    write_members(tmp_path / "descriptions.tar.gz", {"house.json": (folder / "house.json").read_bytes()})
    assert read_descriptions(tmp_path / "descriptions.tar.gz")["house"] == DESCRIPTIONS


def test_a_thing_seen_from_everywhere_is_written_once(folder):
    assert (folder / "house.json").read_text().count("sofa") == 1


def changed(folder: Path, change: Any) -> Path:
    file = folder / "house.json"
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda file: file.update(itinera="predictions"), "itinera"),
        (lambda file: file.update(format=3), "has format 3, but this version reads only up to 2"),
        (lambda file: file.update(world="hut"), "describes world hut"),
        (
            lambda file: file["nodes"]["a"]["objects"][0].__setitem__(0, 2),
            'node "a", field objects: refers to an object',
        ),
        (lambda file: file["nodes"]["a"]["candidates"][0].__setitem__(0, "c"), "has the candidate c, which is no node"),
        (lambda file: file["nodes"]["a"]["candidates"][0].__setitem__(3, 2), "Invalid enum value 2"),
        (lambda file: file["nodes"]["a"].pop("room"), "missing required field `room`"),
        (lambda file: file["objects"][0].__delitem__(slice(4, None)), "Expected `array` of at least length 5"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(folder, change, told):
    with pytest.raises(BadFile) as refused:
        read_descriptions(changed(folder, change))["house"]
    assert told in str(refused.value)
    assert "house.json" in str(refused.value)


def test_a_node_told_twice_is_refused(folder):
    file = folder / "house.json"
    file.write_text(file.read_text().replace('"b":{', '"a":{'))
    with pytest.raises(BadFile, match=r'"a": is given twice'):
        read_descriptions(folder)["house"]


def test_a_folder_that_is_not_there_is_told(tmp_path):
    with pytest.raises(BadFile, match="there is no such file or folder"):
        read_descriptions(tmp_path / "nowhere")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(at=st.integers(0, 10**6), byte=st.integers(0, 255))
def test_no_damaged_byte_gives_anything_but_a_refusal(folder, at, byte):
    data = bytearray((folder / "house.json").read_bytes())
    data[at % len(data)] = byte
    broken = folder.parent / "broken"
    broken.mkdir(exist_ok=True)
    (broken / "house.json").write_bytes(data)
    with suppress(BadFile):
        read_descriptions(broken)["house"]
