"""Scorers under attack: ours give no forgery more than it deserves, and careless ones are found out."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import itinera
import tiny
from itinera.attacks import forgeries
from itinera.attacks.forgeries import make_forgeries
from itinera.attacks.trial import AttackReport, find_gains
from itinera.errors import BadArgument

GOALS = {"1_0": "c", "1_1": "c", "2_0": "e", "3_0": "r", "3_1": "r"}
STARTS = {"1_0": "a", "1_1": "a", "2_0": "c", "3_0": "p", "3_1": "p"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tiny.Files:
    made = tiny.on_graphs(tmp_path_factory.mktemp("attacked"))
    made.write("challenge.toml", 'name = "May"\ntasks = "R2R_tiny.json"\nworlds = "connectivity"\nprotocol = "r2r"\n')
    return made


def verdicts(report: AttackReport) -> dict[str, str]:
    return {result.forgery: result.verdict for result in report.results}


def attack(files: tiny.Files, scorer: Callable[[Path], Any], **options: Any) -> AttackReport:
    return itinera.attack(scorer, files.tasks, files.worlds, **options)


def test_no_forgery_beats_the_still_agent_at_our_judge(files: tiny.Files):
    def judge(file: Path) -> Any:
        return itinera.judge(file, files.folder).to_dict()["scores"]["metrics"]

    report = attack(files, judge, format="native")
    assert report.passed
    assert report.controls["the still agent"]["SR"] == 0.0
    assert report.controls["one good episode"]["SR"] == pytest.approx(1 / 5)
    assert report.controls["the expert"]["SR"] == 1.0
    found = verdicts(report)
    assert len(found) == len(report.results) >= 38
    assert set(found.values()) == {"refused", "no better"}  # so nothing malformed is accepted in silence
    assert found["a jump to the goal"] == "no better"
    assert found["a success radius of 1,000 m"] == "refused"
    assert "29 refused, 9 scored as they deserve" in report.summary


def test_no_forgery_beats_the_still_agent_at_our_scorer(files: tiny.Files):
    def score(file: Path) -> dict[str, float]:
        table = itinera.score(file, files.tasks, files.worlds, missing="zero")
        return {name: table.mean(name) for name in table}

    report = attack(files, score)
    assert report.passed
    assert set(verdicts(report).values()) == {"refused", "no better"}


@pytest.fixture
def few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A million steps take seconds in every careless scorer; ours above get them."""
    monkeypatch.setattr(forgeries, "MANY_STEPS", 1000)


def read(file: Path) -> list[dict[str, Any]]:
    try:
        return json.loads(file.read_bytes())
    except (RecursionError, UnicodeDecodeError) as error:
        raise ValueError(f"no JSON: {error}") from None


def arrived(record: dict[str, Any]) -> float:
    """Whether a careless scorer believes that the goal was reached: it looks at the last place alone."""
    return float(record["trajectory"][-1][0] == GOALS.get(record["instr_id"]))


@pytest.mark.usefixtures("few_steps")
def test_a_scorer_that_averages_over_the_entry_is_beaten(files: tiny.Files):
    report = attack(files, lambda file: {"success": sum(map(arrived, read(file))) / len(read(file))})
    found = verdicts(report)
    beaten = {name for name, verdict in found.items() if verdict == "beats"}
    assert beaten == {
        "one good episode alone",
        "one good episode, again and again",
        "three answers each, the best in the middle",
        "a jump to the goal",
        "a start at the goal",
    }
    assert found["empty list"] == "crashes"  # it divides by zero
    assert found["an answer without its trajectory"] == "crashes"
    assert found["scores in the entry"] == "no better"
    assert found["an answer twice"] == "accepted"
    assert not report.passed
    (alone,) = [result for result in report.results if result.forgery == "one good episode alone"]
    assert alone.detail == "SR 1 against 0.2 of one good episode"
    assert str(report).splitlines()[-1] == report.summary
    assert "5 beat their honest twin" in report.summary
    assert "│ a start at the goal                        │ beats    " in str(report)
    assert "ZeroDivisionError: division by zero" in [result.detail for result in report.results]


@pytest.mark.usefixtures("few_steps")
def test_a_scorer_that_takes_the_best_of_several_answers_is_beaten(files: tiny.Files):
    def best(file: Path) -> dict[str, float]:
        scores = dict.fromkeys(GOALS, 0.0)
        for record in read(file):
            name = record["instr_id"]
            if record["trajectory"][:1] and record["trajectory"][0][0] == STARTS.get(name):
                scores[name] = max(scores[name], arrived(record) * (len(record["trajectory"]) > 2))
        return {"sr": sum(scores.values()) / len(scores)}

    found = verdicts(attack(files, best))
    assert [name for name, verdict in found.items() if verdict == "beats"] == [
        "three answers each, the best in the middle"
    ]


@pytest.mark.usefixtures("few_steps")
def test_a_scorer_that_lets_nan_through_is_told(files: tiny.Files):
    def careless(file: Path) -> dict[str, float]:
        wrong = any(isinstance(step[0], float) for record in read(file) for step in record["trajectory"])
        return {"spl": math.nan if wrong else sum(map(arrived, read(file))) / len(GOALS)}

    report = attack(files, careless)
    assert verdicts(report)["places that are NaN"] == "no number"
    found = {result["forgery"]: result["scores"] for result in report.to_dict()["results"]}
    assert found["places that are NaN"] == {"SPL": "nan"}


@pytest.mark.usefixtures("few_steps")
def test_a_scorer_that_believes_claims_is_beaten(files: tiny.Files):
    def believing(file: Path) -> dict[str, float]:
        records = read(file)
        claims = [record.get("success", arrived(record)) for record in records if record["trajectory"]]
        return {"success_rate": sum(claims) / 5}

    assert verdicts(attack(files, believing))["scores in the entry"] == "beats"


@pytest.mark.parametrize(
    ("scorer", "message"),
    [
        (lambda file: {"SR": 0.5}, "gives the expert no better score than the still agent: SR 0.5 against SR 0.5"),
        (lambda file: {"length": 0.5}, "has no metric that is known here"),
        (lambda file: [][1], "does not score the honest entry of the still agent: crashed, IndexError"),
    ],
)
def test_a_scorer_that_says_nothing_is_refused(files: tiny.Files, scorer: Callable[[Path], Any], message: str):
    with pytest.raises(BadArgument, match=message):
        attack(files, scorer)


def test_errors_lower_than_those_of_the_twin_are_gains():
    assert find_gains({"NE": 3.9, "SR": 0.0, "extra": 9.0}, {"NE": 4.0, "SR": 0.0}) == ["NE"]
    assert find_gains({"NE": 4.1, "SR": 0.0}, {"NE": 4.0, "SR": 0.0}) == []
    assert find_gains({"SR": math.nan}, {"SR": 0.0}) == []


def test_entries_on_the_ground_have_units_and_axes_to_get_wrong():
    from itinera.attacks.entry_formats import ENTRY_FORMATS
    from itinera.attacks.forgeries import Honest
    from itinera.records import Ending, Predictions, Trajectory

    def entry(*points: tuple[float, float, float]) -> Any:
        import numpy as np

        trajectory = Trajectory("7", np.array(points), ending=Ending.STOPPED)
        return ENTRY_FORMATS["vlnce"].load(Predictions.from_trajectories("x", (trajectory,)))

    made = {f.name: f for f in make_forgeries(Honest(entry((1, 2, 0)), entry((1, 2, 0), (3, 4, 0.5))))}
    # Habitat's axes: x, up, and minus y.
    assert [state["position"] for state in json.loads(made["positions in centimeters"].make())["7"]] == [
        [100.0, 0.0, -200.0],
        [300.0, 50.0, -400.0],
    ]
    assert json.loads(made["axes in another order"].make())["7"][1]["position"] == [0.5, -4.0, 3.0]
    jump = json.loads(made["a jump to the goal and back"].make())["7"]
    assert [(state["position"][0], state["stop"]) for state in jump] == [(1, False), (3, False), (1, True)]
    assert "a success radius of 1,000 m" not in made
    assert b'"position": [NaN, NaN, NaN]' in made["places that are NaN"].make()
    assert json.loads(made["a trajectory that is a text"].make()) == {"7": "arrived"}
    assert made["answers of another split as well"].make().count(b'"stop"') == 3


def test_wrong_arguments_are_named(files: tiny.Files):
    with pytest.raises(BadArgument, match="format must be one of r2r, vlnce, native, not 'rxr'"):
        attack(files, lambda file: {}, format="rxr")
    with pytest.raises(BadArgument, match=r"give tasks \(--tasks\) too, or neither"):
        itinera.attack(lambda file: {}, worlds=files.worlds)
    with pytest.raises(BadArgument, match="Limits must be > 0"):
        attack(files, lambda file: {}, seconds=0)
