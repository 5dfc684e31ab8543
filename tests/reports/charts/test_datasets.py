"""Figures are written whole, not blank, and the same again; what they show is looked at by people."""

from __future__ import annotations

import re
import sys

import numpy as np
import pytest

from itinera.analysis.coverage import CoverageCurve
from itinera.analysis.datasets import DatasetDescription
from itinera.errors import BadArgument, MissingExtra
from itinera.reports.charts.datasets import (
    PublishedBound,
    draw_coverage,
    draw_distributions,
    draw_observed_coverage,
    draw_tour_lengths,
)

pytest.importorskip("matplotlib", reason="figures need the extra `figures`")


def description(name: str, size: int = 40) -> DatasetDescription:
    rng = np.random.default_rng(len(name))
    return DatasetDescription(
        name=name,
        scenes=2,
        paths=size,
        withheld=0,
        instructions_per_path=np.full(size, 3),
        edges=rng.integers(4, 7, size),
        lengths=rng.uniform(5, 20, size),
        distances=rng.uniform(5, 15, size),
        stated=np.full(size, np.nan),
        overlaps=rng.random(size),
        turns=np.zeros(size),
        words=rng.integers(5, 60, 3 * size),
        vocabulary=100,
    )


def curve(length: int) -> CoverageCurve:
    done = np.arange(length)
    mean = done / (done + 3)
    low, high = np.clip(mean - 0.1, 0, 1), np.clip(mean + 0.1, 0, 1)
    low[-1] = high[-1] = np.nan  # one scene is left
    return CoverageCurve(mean, low, high, np.linspace(100, 1, length).astype(np.int64))


def curves(length: int) -> dict[str, CoverageCurve]:
    return {what: curve(length) for what in ("upcoming", "tour", "scene")}


def rising(length: int) -> CoverageCurve:
    mean = 1 - 0.8 ** np.arange(length)
    return CoverageCurve(mean, mean * 0.9, np.minimum(mean * 1.1, 1.0), np.full(length, 11))


CURVES = {
    "tours": {"upcoming": rising(60), "tour": rising(60), "scene": rising(60)},
    "R8R": {"upcoming": rising(4), "scene": rising(4)},
}
BOUNDS = (
    PublishedBound("tour", "tours", 10, 0.7, is_lower=True),
    PublishedBound("scene", "R8R", 3, 0.3, is_lower=False),
)


FIGURES = {
    "distributions": lambda path: draw_distributions([description("R2R"), description("R4R_train")], path),
    "nothing known": lambda path: draw_distributions([description("test", size=0)], path),
    "tour lengths": lambda path: draw_tour_lengths({"IR2R": np.arange(2, 99), "other": np.arange(3, 50)}, path),
    "short tours": lambda path: draw_tour_lengths({"val": np.array([2, 2, 3, 11])}, path),
    "coverage": lambda path: draw_coverage({"IR2R": curves(60)}, path, by="visible", panels=("upcoming", "tour")),
    "observed": lambda path: draw_observed_coverage(CURVES, path, published=BOUNDS),
    "long beside short": lambda path: draw_coverage({"IR2R": curves(60), "R4R": curves(2)}, path),
}


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_a_png_is_written_and_has_ink_on_it(draw, tmp_path):
    from matplotlib.image import imread

    draw(tmp_path / "figure.png")
    pixels = imread(tmp_path / "figure.png")[..., :3]
    assert min(pixels.shape[:2]) >= 400  # crisp
    assert 0.01 < np.mean(pixels.min(axis=-1) < 0.9) < 0.9


@pytest.mark.parametrize("draw", FIGURES.values(), ids=FIGURES)
def test_an_svg_is_the_same_every_time(draw, tmp_path):
    draw(tmp_path / "one.svg")
    draw(tmp_path / "two.svg")
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["one.svg", "two.svg"]


def split_words(path) -> set[str]:
    """The words of an SVG, which stay words."""
    return set(re.findall(r"<text[^>]*>([^<]+)</text>", path.read_text(encoding="utf-8")))


def test_figures_name_their_data_sets_axes_and_units(tmp_path):
    draw_distributions([description("R2R_train"), description("R4R_train")], tmp_path / "d.svg")
    shown = {"R2R_train", "R4R_train", "number of steps", "path length", "direct-to-goal length", "instruction length"}
    assert shown | {"edges", "metres", "words", "share of paths, %"} <= split_words(tmp_path / "d.svg")
    draw_coverage({"IR2R": curves(60), "R8R": curves(4)}, tmp_path / "c.svg", by="visible")
    shown = {"IR2R", "R8R", "upcoming episode", "complete tour", "whole scene", "episodes done"}
    assert shown | {"viewpoints visible before, %", "50"} <= split_words(tmp_path / "c.svg")


def test_data_sets_differ_by_colour_and_by_dashes(tmp_path):
    draw_coverage({"a": curves(20), "b": curves(20), "c": curves(20)}, tmp_path / "c.svg")
    text = (tmp_path / "c.svg").read_text(encoding="utf-8")
    lines = re.findall(r'style="fill: none; (?:stroke-dasharray: ([\d., ]+); [^"]*?)?stroke: (#\w+); stroke-width: 1.4',
                       text)  # fmt: skip
    assert len({dashes for dashes, _ in lines}) == len({colour for _, colour in lines}) == 3


def test_only_svg_and_png_are_drawn(tmp_path):
    with pytest.raises(BadArgument, match=r"ends in \.svg or \.png, not '\.pdf'"):
        draw_tour_lengths({"a": np.array([2])}, tmp_path / "figure.pdf")
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r'pip install "itinera\[figures\]"'):
        draw_tour_lengths({"a": np.array([2])}, tmp_path / "figure.svg")


def test_lines_and_published_bounds_are_named(tmp_path):
    draw_observed_coverage(CURVES, tmp_path / "c.svg", published=BOUNDS)
    words = set(re.findall(r"<text[^>]*>([^<]+)</text>", (tmp_path / "c.svg").read_text(encoding="utf-8")))
    assert {"tours", "R8R", "upcoming episode", "complete tour", "whole scene", "cells observed before, %"} <= words
    assert {"tours, published: over 70", "R8R, published: under 30"} <= words
