"""`itinera describe`, as a person runs it."""

from __future__ import annotations

import pytest

import tiny
from itinera.formats import graphs, matterport


def journeys(files: tiny.Files) -> str:
    """An R4R file of the tiny benchmark's two paths in the house."""
    record = tiny.path(0, "house", "abcde", 2, first_path_id=1, second_path_id=2, distance=8.0)
    return str(files.write("R4R_tiny.json", [record]))


def test_a_data_set_is_told_in_numbers(itinera, files):
    told = itinera("describe", files.tasks, "--worlds", files.worlds, "--json")
    assert told.code == 0
    (found,) = told.json
    assert (found["name"], found["scenes"], found["paths"], found["instructions"]) == ("R2R_tiny", 2, 3, 5)
    assert found["path_length"]["over_paths"]["mean"] == 4.0
    assert found["words"]["mean"] == 3.0
    assert found["vocabulary"] == 5  # go, to, c, e, r
    assert found["overlap"]["mean"] == pytest.approx((1 / 3 + 1 / 3 + 0) / 3)  # c is on both paths of the house
    assert found["tours"] is None
    assert found["coverage"] == {}


def test_several_data_sets_stand_side_by_side(itinera, files):
    told = itinera("describe", files.tasks, journeys(files), "--worlds", files.worlds, "--csv")
    rows = dict(line.split(",", 1) for line in told.out.splitlines() if not line.startswith('"'))
    assert rows[""] == "R2R_tiny,R4R_tiny"
    assert rows["paths"] == "3,1"
    assert '"path length PL(R), m",4.00,8.00' in told.out.splitlines()
    for shape in ("--markdown", "--latex"):
        assert "R4R" in itinera("describe", files.tasks, journeys(files), "--worlds", files.worlds, shape).out
    printed = itinera("describe", files.tasks, "--worlds", files.worlds)
    assert printed.out.startswith("Means are over paths unless a row says otherwise.")


def test_tours_are_told_with_what_was_seen_along_them(itinera, files):
    told = itinera("describe", files.tasks, "--worlds", files.worlds, "--tours", files.tours, "--json")
    (found,) = told.json
    assert (found["tours"]["scenes"], found["tours"]["episodes"], found["tours"]["tours"]) == (2, 5, 3)
    assert found["tours"]["tours_per_scene"] == 1.5
    second = found["coverage"]["visited"]["upcoming"][1]
    # House: a b c, then c d e, of which c was visited. Hut: p q r twice.
    assert (second["mean"], second["tours"]) == (pytest.approx((1 / 3 + 1) / 2), 2)
    # In sight are neighbours: the second path shows b c d e f, the first had shown a b c d.
    assert found["coverage"]["visible"]["upcoming"][1]["mean"] == pytest.approx((3 / 5 + 1) / 2)


def test_graphs_that_do_not_tell_what_is_in_sight_are_told_by_what_was_visited(itinera, files):
    graphs.write_worlds(files.folder / "graphs.json", matterport.read_worlds(files.worlds))
    told = itinera("describe", files.tasks, "--worlds", files.folder / "graphs.json", "--tours", files.tours, "--json")
    assert told.code == 0, told.err
    assert list(told.json[0]["coverage"]) == ["visited"]


def test_journeys_are_told_as_tours_of_their_parts(itinera, files):
    tasks = [files.tasks, journeys(files)]
    options = ["--worlds", files.worlds, "--tours", files.tours, "--parts", files.tasks, "--json"]
    short, long = itinera("describe", *tasks, *options).json
    assert short["tours"]["tours"] == 3
    assert long["tours"] is None
    assert [k["mean"] for k in long["coverage"]["visited"]["upcoming"]] == [0.0, pytest.approx(1 / 3)]
    # Without the parts they cannot be taken apart.
    assert itinera("describe", tasks[1], "--worlds", files.worlds, "--json").json[0]["coverage"] == {}


def test_figures_are_drawn_into_a_folder(itinera, files, tmp_path):
    pytest.importorskip("matplotlib")
    folder = tmp_path / "new" / "figures"
    told = itinera("describe", files.tasks, "--worlds", files.worlds, "--tours", files.tours, "--figures", folder)
    assert told.code == 0, told.err
    drawn = sorted(file.name for file in folder.iterdir())
    assert drawn == ["coverage-visible.svg", "coverage-visited.svg", "distributions.svg", "tour-lengths.svg"]
    plain = tmp_path / "plain"
    itinera("describe", files.tasks, "--worlds", files.worlds, "--figures", plain)
    assert [file.name for file in plain.iterdir()] == ["distributions.svg"]


def test_tasks_on_the_ground_are_told_in_straight_lines(itinera, files):
    told = itinera("describe", files.write("ground.json", tiny.GROUND), "--json")
    assert "straight lines" in told.err
    assert told.json[0]["path_length"]["over_paths"]["mean"] == 5.0
    tours = files.write("ground_tours.json", {"ground": {"house": [["1"]], "hut": [["2"]]}})
    toured = itinera("describe", files.folder / "ground.json", "--tours", tours, "--json")
    assert toured.json[0]["tours"]["tours"] == 2
    assert toured.json[0]["coverage"] == {}
    assert "navigation graphs" in toured.err


def test_tours_of_a_split_without_goals_are_still_counted(itinera, files):
    hidden = [{k: v for k, v in r.items() if k != "distance"} | {"path": r["path"][:1]} for r in tiny.PATHS]
    tasks = files.write("R2R_tiny_test.json", hidden)
    told = itinera("describe", tasks, "--worlds", files.worlds, "--tours", files.tours, "--json")
    assert (told.json[0]["goals_withheld"], told.json[0]["tours"]["tours"]) == (3, 3)
    assert "needs navigation graphs and goals" in told.err


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["{tasks}"], 2, "needs navigation graphs"),
        (["{journeys}", "--worlds", "{worlds}", "--tours", "{tours}"], 2, "give --parts (parts=), not --tours"),
        (["{tasks}", "--worlds", "{worlds}", "--json", "--csv"], 2, "Choose one of --json and --csv"),
        (["{tours}", "--worlds", "{worlds}"], 1, "where tasks are expected"),
        (["{strange}", "--worlds", "{worlds}"], 1, 'path "5": node x is not in world house'),
    ],
)
def test_what_cannot_be_described_is_refused_in_plain_words(itinera, files, arguments, code, told):
    places = {
        "tasks": files.tasks, "worlds": files.worlds, "tours": files.tours, "journeys": journeys(files),
        "strange": files.write("strange.json", [tiny.path(5, "house", "axc")]),
    }  # fmt: skip
    refused = itinera("describe", *(argument.format(**places) for argument in arguments))
    assert refused.code == code
    assert told in refused.err
