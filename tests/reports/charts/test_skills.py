"""Figures of skill studies are drawn for whatever was asked, twice alike, and told apart without colour."""

from __future__ import annotations

import numpy as np
import pytest

import crossing
from itinera.errors import BadArgument
from itinera.reports.charts.skills import DENSITY_GRID, draw_all, draw_directions, draw_training, estimate_density
from itinera.skills.analysis import AnalysisConfig
from itinera.skills.registry import SKILLS
from itinera.skills.responses import group_responses

pytest.importorskip("matplotlib")

QUICK = AnalysisConfig(resamples=50)


def answered(skills):
    study = crossing.trials(skills)
    told = [crossing.distribution(trial, stop=0.2, l=0.5, f=0.3) for trial in study]
    return group_responses(study, told, SKILLS, crossing.WORLDS)


def test_every_skill_that_was_asked_has_its_figure(tmp_path):
    skills = ["stop", "direction-left", "direction-forward", "object", "room-1", "room-within-2"]
    drawn = draw_all(tmp_path, {"my agent/2": answered(skills), "b": answered(["stop"])}, crossing.WORLDS, QUICK)
    assert [path.name for path in drawn] == [
        *(f"my_agent_2-{what}.svg" for what in ("stopping", "turning", "objects", "room-changes", "rooms-within")),
        "b-stopping.svg",
        "directions.svg",
    ]
    assert all(path.read_text().startswith("<?xml") for path in drawn)
    assert "probability of STOP" in drawn[0].read_text()
    assert "without instruction" in drawn[1].read_text()
    assert "forward bias" in drawn[2].read_text()


def test_the_same_answers_give_the_same_file(tmp_path):
    one, other = (
        draw_all(tmp_path / name, {"a": answered(["stop"])}, {}, QUICK)[0].read_bytes() for name in ("one", "other")
    )
    assert one == other


def test_bars_are_told_apart_by_hatches(tmp_path):
    (path,) = draw_all(tmp_path, {"a": answered(["stop"])}, {}, QUICK)
    assert path.read_text().count("<pattern id=") == 2


def test_training_paths_and_the_directions_are_drawn(tmp_path):
    draw_training(np.array([0.0, 30.0, 90.0]), np.array([3, 4, 40]), tmp_path / "training.png")
    draw_directions(tmp_path / "directions.png")
    assert (tmp_path / "training.png").stat().st_size > 1000
    with pytest.raises(BadArgument, match=r"ends in \.svg or \.png"):
        draw_directions(tmp_path / "directions.pdf")


def test_a_density_holds_as_much_as_lies_before_its_end():
    step = DENSITY_GRID[1] - DENSITY_GRID[0]
    rng = np.random.default_rng(0)
    sample = rng.uniform(5, 15, 1000)
    density = estimate_density(sample)
    assert density.sum() * step == pytest.approx(1.0, abs=1e-3)
    assert density @ DENSITY_GRID * step == pytest.approx(sample.mean(), abs=0.05)
    assert not estimate_density(np.empty(0)).any()
