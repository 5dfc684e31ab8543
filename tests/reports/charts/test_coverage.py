"""The figure of what was observed: it is written, says what it shows, and marks what was printed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from itinera.analysis.coverage import Curve
from itinera.reports.charts.coverage import Printed, draw_observed

pytest.importorskip("matplotlib", reason="figures need the extra `figures`")


def rising(length: int) -> Curve:
    mean = 1 - 0.8 ** np.arange(length)
    return Curve(mean, mean * 0.9, np.minimum(mean * 1.1, 1.0), np.full(length, 11))


CURVES = {
    "tours": {"upcoming": rising(60), "tour": rising(60), "scene": rising(60)},
    "R8R": {"upcoming": rising(4), "scene": rising(4)},
}
BOUNDS = (Printed("tour", "tours", 10, 0.7, over=True), Printed("scene", "R8R", 3, 0.3, over=False))


def test_lines_and_printed_bounds_are_named(tmp_path):
    draw_observed(CURVES, tmp_path / "c.svg", printed=BOUNDS)
    words = set(re.findall(r"<text[^>]*>([^<]+)</text>", (tmp_path / "c.svg").read_text(encoding="utf-8")))
    assert {"tours", "R8R", "upcoming episode", "complete tour", "whole scene", "cells observed before, %"} <= words
    assert {"tours, printed: over 70", "R8R, printed: under 30"} <= words


def test_a_png_has_ink_on_it(tmp_path):
    from matplotlib.image import imread

    draw_observed(CURVES, tmp_path / "c.png")
    pixels = imread(tmp_path / "c.png")[..., :3]
    assert 0.01 < np.mean(pixels.min(axis=-1) < 0.9) < 0.9
