"""Houses and tasks of a built season: public, or secret with and without its secret."""

from __future__ import annotations

import json
import shutil

import pytest

from itinera.errors import BadArgument, BadFile
from itinera.formats.hearth_season import split_files
from itinera.formats.season_tasks import answers_folder, read_house_tasks, read_season_houses
from itinera.hearth.season import VERSION, secret_season

SECRET = bytes(range(32))
ID = "hearth-1-001"


def write_season(folder, **config):
    folder.mkdir()
    season = {"config": {"hearth": VERSION, "seed": None, "commitment": None, **config}}
    (folder / "season.json").write_text(json.dumps({**season, "houses": {"test": ["hearth-x-002"]}}))
    return folder


@pytest.fixture
def sealed(tmp_path):
    """A secret season whose host has the folder of answers beside it."""
    folder = write_season(tmp_path / "hearth", commitment=secret_season(SECRET).commitment)
    answers_folder(folder).mkdir()
    (answers_folder(folder) / "secret.txt").write_text(SECRET.hex())
    return folder


def test_the_houses_of_a_public_season_have_its_seed(tmp_path):
    assert read_season_houses(write_season(tmp_path / "hearth", seed=5)) == {"hearth-x-002": (5, 2)}


def test_the_host_of_a_secret_season_has_its_houses(sealed, tmp_path):
    expected = {"hearth-x-002": (secret_season(SECRET).seed, 2)}
    assert read_season_houses(sealed) == expected
    moved = answers_folder(sealed).rename(tmp_path / "safe")
    assert read_season_houses(sealed, secret=moved / "secret.txt") == expected


def test_without_the_secret_there_are_none(sealed):
    shutil.rmtree(answers_folder(sealed))
    with pytest.raises(BadArgument, match=r"is a secret season: only who has its secret can build its houses"):
        read_season_houses(sealed)


def test_another_secret_is_refused(sealed, tmp_path):
    (tmp_path / "other.txt").write_text(bytes(range(1, 33)).hex())
    with pytest.raises(BadArgument, match=r"is not the secret of .*hearth: its SHA-256 is"):
        read_season_houses(sealed, secret=tmp_path / "other.txt")


def test_a_season_of_another_version_of_the_generator_is_refused(tmp_path):
    with pytest.raises(BadFile, match=r"built by version 1 of the generator.*\n?.*Build the season again"):
        read_season_houses(write_season(tmp_path / "hearth", seed=5, hearth=1))


def test_r2r_gets_the_aligned_words_of_rxr(season):
    tasks = read_house_tasks(season, ID, ["val_unseen", "train"])
    assert set(tasks) == {"R2R val_unseen", "REVERIE val_unseen"}  # the words of RxR are those of R2R
    for episode in tasks["R2R val_unseen"]:
        assert episode.alignment is not None
        assert episode.alignment.first.max() >= 1
        assert episode.alignment.last.max() < len(episode.reference)


def test_a_house_of_another_season_has_no_tasks(season):
    assert read_house_tasks(season, "hearth-9-001", ["val_unseen"]) == {}


def test_answers_are_read_where_the_host_has_them(season, tmp_path):
    public = tmp_path / "hearth"
    for kind in ("r2r", "rxr", "reverie", "traces"):
        file = split_files("val_unseen")[kind]
        for folder in (public, answers_folder(public)):
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(season / file, answers_folder(public) / file)
    # What a sealed season publishes instead.
    withheld = [
        {**one, "path": one["path"][:1]} for one in json.loads((season / split_files("val_unseen")["r2r"]).read_text())
    ]
    (public / split_files("val_unseen")["r2r"]).write_text(json.dumps(withheld))
    tasks = read_house_tasks(public, ID, ["val_unseen"])
    assert all(len(episode.reference) > 1 for episode in tasks["R2R val_unseen"])
