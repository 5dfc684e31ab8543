"""A part of a split by ids, files of ids, scenes and regular expressions."""

from __future__ import annotations

from pathlib import Path

import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats.episode_selection import label_selection, read_episode_ids, select_ids, select_part
from itinera.tasks import Split, Tour
from text_worlds import episode

IDS = ["1_0", "1_1", "2_0", "03"]
SCENES = ["house", "house", "hut", "hut"]


def chosen(selection):
    return list(select_ids(selection, IDS, SCENES, "val"))


@pytest.mark.parametrize(
    ("selection", "ids"),
    [
        ("1_1", ["1_1"]),
        ("2_0,1_0", ["2_0", "1_0"]),
        ("ids=1_0, 03", ["1_0", "03"]),
        (["03", "1_0", "03"], ["03", "1_0"]),
        ("scan=hut", ["2_0", "03"]),
        ("scene=house,hut", IDS),
        ("world=house", ["1_0", "1_1"]),
        ("/_0$/", ["1_0", "2_0"]),
        ("/./", IDS),
        (["scan=hut", "/^1/"], ["2_0", "03", "1_0", "1_1"]),
    ],
)
def test_a_selection_names_episodes(selection, ids):
    assert chosen(selection) == ids


@pytest.mark.parametrize("content", ["03\n\n# the first\n 1_0 \n", '["03", "1_0"]', "\ufeff03\r\n1_0\r\n"])
def test_a_file_of_ids_is_lines_or_a_list(tmp_path: Path, content: str):
    file = tmp_path / "ids.txt"
    file.write_bytes(content.encode())
    assert read_episode_ids(file) == ("03", "1_0")
    assert chosen(str(file)) == chosen(file) == ["03", "1_0"]


def test_ids_of_a_file_are_no_patterns(tmp_path: Path):
    file = tmp_path / "ids.txt"
    file.write_text("/./\nscan=hut\n")
    with pytest.raises(BadFile, match=r"None of the 2 episodes is in val \(4 episodes, with ids such as '1_0'\)"):
        chosen(file)


def test_numbers_of_a_json_list_are_ids(tmp_path: Path):
    file = tmp_path / "ids.json"
    file.write_text("[3, 12]")
    assert read_episode_ids(file) == ("3", "12")


def test_an_id_that_is_also_a_file_is_the_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "1_0").write_text("2_0\n")
    assert chosen("1_0") == ["1_0"]
    assert chosen("./1_0") == ["2_0"]


@pytest.mark.parametrize(
    ("selection", "problem"),
    [
        ("9_9", "Episode '9_9' is not in val (4 episodes, with ids such as '1_0'). Give ids, an existing file"),
        ("1_0,8,9", "2 of the 3 episodes are not in val"),
        ("1_0,9", "1 of the 2 episodes is not in val"),
        ("8,9", "None of the 2 episodes is in val"),
        ("scan=shed", "val has no scene 'shed'; there are house, hut."),
        ("/x+/", "No id of val (4 episodes, such as '1_0') matches /x+/."),
        ("/(/", "/(/ is not a regular expression"),
        ("", "selects nothing"),
        ([], "selects nothing"),
        ([3], "not int"),
    ],
)
def test_a_selection_of_nothing_is_one_sentence(selection, problem):
    with pytest.raises(BadArgument) as caught:
        chosen(selection)
    assert problem in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("content", "problem"), [(b"", "contains no episode ids"), (b"\xff\xfe", "is not UTF-8"),
                                                  (b'[{"a": 1}]', "Expected"), (b'["a"', "ends too soon")])  # fmt: skip
def test_a_file_without_ids_is_refused(tmp_path: Path, content: bytes, problem: str):
    file = tmp_path / "ids"
    file.write_bytes(content)
    with pytest.raises(BadFile, match=problem):
        read_episode_ids(file)


def test_a_long_selection_has_a_short_label():
    assert label_selection(["scan=a", "/b/"]) == "scan=a /b/"
    assert len(label_selection([f"{i}" for i in range(1000)])) == 201


def test_a_part_keeps_whole_tours_only():
    tasks = Split("val", tuple(episode(name, "ab", world_id=scene) for name, scene in zip(IDS, SCENES, strict=True)))
    tasks = tasks.with_tours((Tour("t", "house", ("1_0", "1_1")), Tour("u", "hut", ("2_0", "03"))))
    part = select_part(tasks, "scan=hut")
    assert ([e.id for e in part], [t.id for t in part.tours], part.selection) == (["2_0", "03"], ["u"], "scan=hut")
    with pytest.raises(BadArgument, match="None of the 2 tours lies within the 1 episodes selected"):
        select_part(tasks, "03")
