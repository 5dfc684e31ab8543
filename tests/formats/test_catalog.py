"""Every format is recognised by what is in the file, and what is in none is refused with their names."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from examples import ARCHIVED, EXAMPLES

from itinera.errors import BadArgument, BadFile
from itinera.formats import catalog, ivln
from itinera.formats.catalog import ARCHIVES, BY_NAME, FOLDERS, FORMATS, Format, detect, find_format
from itinera.formats.writing import write_members
from itinera.tasks import Split
from tiny import written

PAIRS = [pytest.param(a, b, id=f"{a.name} to {b.name}") for a in FORMATS for b in FORMATS if a.kind == b.kind]


def test_there_is_an_example_of_every_format() -> None:
    """A new format needs one in examples.py: all tests below and the hostile ones run over them."""
    assert set(EXAMPLES) == {known.name for known in FORMATS}
    assert set(ARCHIVED) == {known.name for known in ARCHIVES}
    assert len(BY_NAME) == len(FORMATS) + len(ARCHIVES) + len(FOLDERS)


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
@pytest.mark.parametrize("wrapped", [bytes, gzip.compress, lambda data: b"\n " + data], ids=["plain", "gz", "indented"])
def test_each_format_is_recognised_by_its_content(tmp_path: Path, known: Format, wrapped: object) -> None:
    assert detect(written(tmp_path / "anything", wrapped(EXAMPLES[known.name]))) is known  # type: ignore[operator]


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_a_byte_order_mark_does_not_hide_a_format(tmp_path: Path, known: Format) -> None:
    assert detect(written(tmp_path / "anything", b"\xef\xbb\xbf" + EXAMPLES[known.name])) is known


@pytest.mark.parametrize("known", ARCHIVES, ids=lambda known: known.name)
@pytest.mark.parametrize("name", ["folder", "a.zip", "a.tar.gz"])
def test_archives_are_recognised_by_what_is_in_them(tmp_path: Path, known: Format, name: str) -> None:
    write_members(tmp_path / name, dict([ARCHIVED[known.name]]))
    assert detect(tmp_path / name) is known


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_what_is_read_is_written_or_refused_in_plain_words(tmp_path: Path, one: Format, other: Format) -> None:
    """A graph has no positions and the ground no nodes, but nothing else stands between formats of one kind."""
    content = one.read(written(tmp_path / "before", EXAMPLES[one.name]))
    refusal = ""
    try:
        other.write(tmp_path / "after", content)
    except BadArgument as error:
        refusal = str(error)
    if refusal:
        assert one is not other
        reasons = ("positions", "reference path", "no times", "no headings", "sub-instructions")
        assert any(reason in refusal for reason in reasons)
        assert not (tmp_path / "after").exists()
    else:
        assert detect(tmp_path / "after") is other
        other.read(tmp_path / "after")


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
def test_writing_twice_changes_nothing(tmp_path: Path, known: Format) -> None:
    known.write(tmp_path / "once", known.read(written(tmp_path / "file", EXAMPLES[known.name])))
    (tmp_path / "file").unlink()
    (tmp_path / "once").rename(tmp_path / "file")  # a split is named after its file
    known.write(tmp_path / "twice", known.read(tmp_path / "file"))
    assert (tmp_path / "twice").read_bytes() == (tmp_path / "file").read_bytes()


UNKNOWN: dict[str, tuple[bytes, str]] = {
    "nonsense": (b"nonsense", "is in no known format"),
    "some other JSON": (b'{"answer": 42}', "is in no known format"),
    "an empty list": (b"[]", "is in no known format"),
    "empty": (b"", "is empty"),
    "blank": (b" \n\n", "is empty"),
    "UTF-16": ("[]".encode("utf-16"), "is not UTF-8 text"),
    "binary": (bytes(range(256)), "is not UTF-8 text"),
    "long text in which a head ends within a character": ("é".encode() * 60_000, "is in no known format"),
}


@pytest.mark.parametrize(("content", "said"), UNKNOWN.values(), ids=UNKNOWN.keys())
def test_what_is_in_no_format_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(BadFile) as caught:
        detect(written(tmp_path / "file", b"x" + content if "character" in said else content))
    assert f"file: {said}" in str(caught.value)
    if "format" in said:
        assert all(name in str(caught.value) for name in BY_NAME)


def test_a_folder_of_other_things_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").touch()
    with pytest.raises(BadFile, match="is a folder without connectivity files, object boxes, results or logs"):
        detect(tmp_path)


def test_an_unknown_name_suggests_the_nearest() -> None:
    assert find_format("vlnce").name == "vlnce"
    with pytest.raises(BadArgument, match=r"not 'native-prediction'\. Did you mean native-predictions\?"):
        find_format("native-prediction")


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    tasks = written(tmp_path / "tasks", EXAMPLES["r2r"])
    walks = written(tmp_path / "walks", EXAMPLES["r2r-submission"])
    for call, said in (
        (lambda: catalog.read_predictions(tasks), r"tasks: holds R2R, .* \(tasks\) where predictions are expected"),
        (lambda: catalog.read_tasks(walks), r"walks: holds R2R, .* \(predictions\) where tasks are expected"),
        (lambda: catalog.read_tours(walks, Split("x", ())), "where tours are expected"),
        (lambda: catalog.with_reference(Split("x", ()), walks), "where references are expected"),
        (lambda: catalog.read_tasks(tasks, format="rooms"), "where tasks are expected"),
    ):
        with pytest.raises(BadFile, match=said):
            call()


def test_a_named_format_is_believed(tmp_path: Path) -> None:
    file = written(tmp_path / "file", b"[]")
    assert len(catalog.read_tasks(file, format="r2r").episodes) == 0
    with pytest.raises(BadFile, match="Expected `object`"):
        catalog.read_tasks(file, format="vlnce")


def test_tours_of_all_splits_are_read_together_or_one_by_name(tmp_path: Path) -> None:
    file = written(tmp_path / "t.json", b'{"val_seen": {"s": [["1_0"]]}, "val_unseen": {"u": [["2_0", "2_1"]]}}')
    assert {name: len(tours) for name, tours in ivln.read_all_tours(file).items()} == {"val_seen": 1, "val_unseen": 1}
    (tour,) = catalog.read_tours(file, Split("R2R_val_unseen", ()))
    assert tour.episode_ids == ("2_0", "2_1")


def test_episodes_are_found_by_the_instructions_a_submission_names(tmp_path: Path) -> None:
    """RxR-CE's submissions name instructions, its tasks episodes."""
    episode = (
        '{"episode_id": 5, "scene_id": "mp3d/s/s.glb", "start_position": [0, 0, 0], "start_rotation": [0, 0, 0, 1], '
    )
    episode += '"instruction": {"instruction_text": "go", "instruction_id": "3", "language": "en-US"}}'
    split = catalog.read_tasks(written(tmp_path / "tasks", f'{{"episodes": [{episode}]}}'))
    predictions = catalog.read_predictions(written(tmp_path / "walks", EXAMPLES["rxr-ce-submission"]), split)
    assert [trajectory.episode_id for trajectory in predictions.trajectories] == ["5"]
