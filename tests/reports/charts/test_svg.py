"""Charts: well-formed, named for those who cannot see them, and with every value where it belongs."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from itinera.reports.charts import svg as charts
from itinera.stats import Interval

HALF = Interval(0.5, 0.4, 0.6)
WHO = [charts.Agent("one", 0), charts.Agent("<two>", 3)]
EVERY = {
    "forest": charts.forest("t", "a", WHO, [("SR", [HALF, None]), ("SPL", [HALF, HALF])]),
    "trends": charts.trends("t", "a", WHO, ["1", "2"], [[HALF, None], [HALF, HALF]], unit="%", below="x"),
    "cumulative": charts.cumulative("t", "a", WHO, [np.array([1.0, 2.0]), np.array([np.nan, np.inf])], below="m",
                                    limits=(0, 5), marked=(3.0, "radius")),
    "stacked": charts.stacked("t", "a", WHO, ["good", "bad"], [[3, 1], [0, 4]]),
    "clouds": charts.clouds("t", "a", WHO, [(np.array([0.1, 1.0]), np.array([0.2, np.nan]))] * 2, below="x",
                            beside="y"),
}  # fmt: skip


@pytest.mark.parametrize("figure", EVERY.values(), ids=EVERY)
def test_a_chart_is_a_document_with_title_and_description(figure):
    root = ElementTree.fromstring(figure.svg("x"))
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "x-title x-about"
    assert {child.get("id") for child in root if child.get("id")} == {"x-title", "x-about"}
    assert "nan" not in figure.body
    assert "inf" not in figure.body


@pytest.mark.parametrize("figure", EVERY.values(), ids=EVERY)
def test_nothing_is_drawn_outside(figure):
    for spot in re.finditer(r'<text x="([\d.-]+)" y="([\d.-]+)"', figure.body):
        assert 0 <= float(spot[1]) <= figure.width
        assert 0 <= float(spot[2]) <= figure.height


def test_ticks_are_round_and_never_minus_nothing():
    assert charts.Axis(0, 1, 0, 100).ticks == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert charts.Axis(-0.3, 0.3, 0, 100).ticks == pytest.approx([-0.2, 0, 0.2])
    assert charts.percent(charts.Axis(0, 1, 0, 100).ticks[0]) == "0"
    assert charts.points(-0.001) == "0"


def test_an_axis_keeps_values_inside():
    axis = charts.Axis(0, 10, 50, 150)
    assert [axis.at(x) for x in (-5, 0, 5, 10, 50)] == [50, 50, 100, 150, 150]


def test_agents_differ_by_shape_as_well_as_colour():
    shapes = {
        re.sub(r"-?[\d.]+", "#", charts.mark(charts.Agent("x", agent), 0, 0)) for agent in range(len(charts.COLOURS))
    }
    assert len(shapes) == len(charts.COLOURS)
