from __future__ import annotations

import base64
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from itinera.errors import BadArgument, BadFile, MissingExtra
from itinera.formats import features
from itinera.formats.features import read_features, write_features

SIZE = 5
VIEWS = {
    ("house", "a"): np.arange(36 * SIZE, dtype=np.float32).reshape(36, SIZE),
    ("house", "b"): np.full((36, SIZE), 0.1, dtype=np.float32),
    ("hut_2", "a"): np.zeros((36, SIZE), dtype=np.float32),
}
KINDS = [".tsv", ".h5", ".hdf5"]


def rows(views: dict[tuple[str, str], np.ndarray] = VIEWS) -> list[tuple[str, str, np.ndarray]]:
    return [(world, node, array) for (world, node), array in views.items()]


def made(folder: Path, kind: str) -> Path:
    if kind != ".tsv":
        pytest.importorskip("h5py")
    write_features(folder / f"views{kind}", rows())
    return folder / f"views{kind}"


@pytest.mark.parametrize("kind", KINDS)
def test_features_come_back_as_they_were(tmp_path, kind):
    found = read_features(made(tmp_path, kind))
    assert found.size == SIZE
    for (world, node), views in VIEWS.items():
        assert found.at(world, node).dtype == np.float32
        assert found.at(world, node).tolist() == views.tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_numbers_of_wider_rows_can_be_taken(tmp_path, kind):
    found = read_features(made(tmp_path, kind), size=2)
    assert found.size == 2
    assert found.at("house", "a").tolist() == VIEWS["house", "a"][:, :2].tolist()
    for size in (0, 6):
        with pytest.raises(BadArgument, match=f"has 5 numbers for each view; {size} of them"):
            read_features(tmp_path / f"views{kind}", size=size)


@pytest.mark.parametrize("kind", KINDS)
def test_a_viewpoint_that_is_not_there_is_told(tmp_path, kind):
    found = read_features(made(tmp_path, kind))
    with pytest.raises(BadFile, match=r"views.* viewpoint c of house: is not in the file"):
        found.at("house", "c")


@pytest.mark.parametrize("kind", KINDS)
def test_features_are_not_copied_and_cannot_be_written_to(tmp_path, kind):
    found = read_features(made(tmp_path, kind))
    views = found.at("house", "a")
    assert found.at("house", "a") is views
    with pytest.raises(ValueError, match="read-only"):
        views[0, 0] = 1


def test_no_more_than_a_bounded_part_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(features, "KEPT", 2 * 36 * SIZE * 4)
    found = read_features(made(tmp_path, ".tsv"))
    kept = found.at("house", "b")
    first = found.at("house", "a")
    assert found.at("house", "b") is kept
    found.at("hut_2", "a")
    assert found.at("house", "b") is kept
    assert found.at("house", "a") is not first


def line(scan: str = "house", viewpoint: str = "a", views: np.ndarray = VIEWS["house", "a"]) -> str:
    return "\t".join([scan, viewpoint, "640", "480", "60", base64.b64encode(views.astype("<f4").tobytes()).decode()])


def test_lines_may_end_as_csv_writers_end_them_and_have_a_header(tmp_path):
    file = tmp_path / "views.tsv"
    header = "scanId\tviewpointId\timage_w\timage_h\tvfov\tfeatures"
    file.write_bytes("\r\n".join([header, line(), "", line(viewpoint="b"), ""]).encode())
    assert read_features(file).at("house", "b").tolist() == VIEWS["house", "a"].tolist()


WIDE = np.zeros((36, 6), dtype=np.float32)
BROKEN = {
    "contains no features": "\n",
    "line 2: has 3 columns": f"{line()}\nhouse\tb\t640\n",
    "line 1: names no scan": line(scan=""),
    "line 2: has 1152 letters of base64, others 960": f"{line()}\n{line(viewpoint='b', views=WIDE)}\n",
    "line 3: is a second one of viewpoint a": f"{line()}\n\n{line()}\n",
    "line 1, field features: is not base64": line()[:-8] + "????????",
    "line 1, field features: is not base64 of 36 rows": line(views=np.zeros(35)),
    "viewpoint a of house: contains NaN or infinity": line(views=np.full((36, 2), np.inf)),
}


@pytest.mark.parametrize("told", BROKEN)
def test_what_is_wrong_with_a_tsv_file_is_told(tmp_path, told):
    file = tmp_path / "views.tsv"
    file.write_text(BROKEN[told])
    with pytest.raises(BadFile) as refused:
        read_features(file).at("house", "a")
    assert f"{file}: {told}" in str(refused.value)


def test_endless_lines_and_endless_files_are_refused(tmp_path, monkeypatch):
    file = tmp_path / "views.tsv"
    file.write_text(f"{line()}\n{line(viewpoint='b')}\n")
    monkeypatch.setattr(features, "MOST", 1)
    with pytest.raises(BadFile, match="line 2: is too long, or one line too many"):
        read_features(file)
    monkeypatch.setattr(features, "LONGEST", 100)
    with pytest.raises(BadFile, match="line 1: is too long"):
        read_features(file)


def test_packed_and_missing_files_are_refused_with_what_to_do(tmp_path):
    (tmp_path / "views.tsv.gz").write_bytes(b"\x1f\x8b and more")
    with pytest.raises(BadFile, match=r"is packed with gzip\.\n  Unpack it first"):
        read_features(tmp_path / "views.tsv.gz")
    with pytest.raises(BadFile, match="there is no such file"):
        read_features(tmp_path / "nowhere.tsv")


def test_hdf5_without_h5py_names_the_extra(tmp_path, monkeypatch):
    (tmp_path / "views.h5").write_bytes(features.HDF5)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"itinera\[features\]"):
        read_features(tmp_path / "views.h5")


def hdf5(folder: Path, **arrays: object) -> Path:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "views.h5", "w") as file:
        for name, array in arrays.items():
            file[name] = array
    return folder / "views.h5"


@pytest.mark.parametrize(
    ("arrays", "told"),
    [
        ({}, "contains no features"),
        ({"house_a": np.zeros((35, 4))}, r'data set "house_a": holds float64 of shape \(35, 4\)'),
        ({"house_a": np.zeros(36)}, r"of shape \(36,\)"),
        ({"house_a": np.zeros((36, 4), dtype=int)}, "holds int64"),
        ({"a": np.zeros((36, 4)), "house_a": np.zeros((36, 5))}, "has 5 numbers for each view, others 4"),
        ({"house_a": np.full((36, 4), np.nan)}, "viewpoint a of house: contains NaN or infinity"),
    ],
)
def test_what_is_wrong_with_an_hdf5_file_is_told(tmp_path, arrays, told):
    file = hdf5(tmp_path, **arrays)
    with pytest.raises(BadFile, match=told):
        read_features(file).at("house", "a")


def test_half_precision_will_do(tmp_path):
    found = read_features(hdf5(tmp_path, house_a=VIEWS["house", "b"].astype(np.float16)))
    assert found.at("house", "a").dtype == np.float32


def test_an_hdf5_file_cannot_make_us_read_another(tmp_path):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "other").mkdir()
    secret = hdf5(tmp_path / "other", house_a=np.zeros((36, 4)))
    raw = tmp_path / "raw.bin"
    raw.write_bytes(bytes(36 * 4 * 4))
    virtual = h5py.VirtualLayout((36, 4), "f4")
    virtual[:] = h5py.VirtualSource(str(secret), "house_a", (36, 4))
    with h5py.File(tmp_path / "views.h5", "w") as file:
        file["a_plain"] = np.zeros((36, 4), dtype="f4")
        file["house_link"] = h5py.ExternalLink(str(secret), "house_a")
        file.create_dataset("house_raw", (36, 4), "f4", external=[(str(raw), 0, 36 * 4 * 4)])
        file.create_virtual_dataset("house_virtual", virtual)
    found = read_features(tmp_path / "views.h5")
    for node in ("link", "raw", "virtual"):
        with pytest.raises(BadFile, match=f'"house_{node}": is not stored in the file itself'):
            found.at("house", node)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kind=st.sampled_from([".tsv", ".h5"]), at=st.integers(0, 10**6), byte=st.integers(0, 255), cut=st.booleans())
def test_no_damaged_byte_gives_anything_but_a_refusal(tmp_path, kind, at, byte, cut):
    file = tmp_path / f"views{kind}"
    if not file.exists():
        made(tmp_path, kind)
    data = bytearray(file.read_bytes())
    data[at % len(data)] = byte
    broken = tmp_path / f"broken{kind}"
    broken.write_bytes(data[: at % len(data)] if cut else data)
    with suppress(BadFile):
        read_features(broken).at("house", "b")


def test_only_features_of_36_views_are_written_and_by_known_names(tmp_path):
    with pytest.raises(BadArgument, match=r"have shape \(36, size\); got \(35, 2\)"):
        write_features(tmp_path / "views.tsv", [("house", "a", np.zeros((35, 2)))])
    assert not (tmp_path / "views.tsv").exists()
    with pytest.raises(BadArgument, match=r"is named \.tsv, \.h5 or \.hdf5, not views.npy"):
        write_features(tmp_path / "views.npy", rows())


def test_rows_without_numbers_are_refused(tmp_path):
    (tmp_path / "empty.tsv").write_text("house\ta\t640\t480\t60\t\n")
    with pytest.raises(BadFile, match="line 1, field features: is not base64 of 36 rows of 4-byte numbers"):
        read_features(tmp_path / "empty.tsv")
