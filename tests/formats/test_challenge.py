"""Challenge files: typed, with paths beside the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from itinera.errors import BadFile
from itinera.formats.challenge import read_challenge


def write(folder: Path, text: str) -> Path:
    (folder / "tasks.json").write_text("[]")
    (folder / "worlds").mkdir(exist_ok=True)
    (folder / "challenge.toml").write_text('tasks = "tasks.json"\nworlds = "worlds"\n' + text)
    return folder


def test_paths_are_relative_to_the_file(tmp_path, monkeypatch):
    challenge = read_challenge(write(tmp_path, 'name = "May"\nvmax = 1\nwmax_deg = 30.0\ndrive = "unicycle-6"\n'))
    assert (challenge.tasks, challenge.worlds) == (tmp_path / "tasks.json", tmp_path / "worlds")
    assert (challenge.name, challenge.vmax, challenge.missing, challenge.positions) == ("May", 1.0, "zero", "refuse")
    monkeypatch.chdir(tmp_path)
    assert read_challenge("challenge.toml").tasks.exists()
    assert read_challenge(write(tmp_path, "")).name == tmp_path.name


def test_every_unknown_key_is_named_with_the_nearest_known_one(tmp_path):
    with pytest.raises(BadFile) as caught:
        read_challenge(write(tmp_path, 'protocols = "r2r"\nmissing_rule = "zero"\n'))
    assert [fault.field for fault in caught.value.faults] == ["protocols", "missing_rule"]
    assert "Did you mean protocol?" in str(caught.value)
    assert "Did you mean missing?" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('missing = "skip"\n', "Invalid enum value 'skip'"),
        ("vmax = 0.0\n", "> 0.0"),
        ("vmax = nan\n", "> 0.0"),
        ("vmax = inf\n", "<= 1000000.0"),
        ('tours = "tours.json"\n', r"tours: there is no .*tours\.json"),
        ("tours = 3\n", "Expected `str`"),
        ("name = [[[\n", "is not TOML"),
        ('name = "a"\nname = "b"\n', "is not TOML"),
    ],
)
def test_values_of_the_wrong_kind_are_refused(tmp_path, text, message):
    with pytest.raises(BadFile, match=message):
        read_challenge(write(tmp_path, text))


def test_deep_nesting_is_refused(tmp_path):
    with pytest.raises(BadFile):
        read_challenge(write(tmp_path, "name = " + "[" * 20000 + "]" * 20000 + "\n"))


def test_tasks_and_worlds_are_required(tmp_path):
    (tmp_path / "challenge.toml").write_text('tasks = "tasks.json"\n')
    with pytest.raises(BadFile, match="missing required field `worlds`"):
        read_challenge(tmp_path)
    (tmp_path / "challenge.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadFile, match="is not UTF-8"):
        read_challenge(tmp_path)
