"""Charts: well-formed, named for those who cannot see them, and with every value where it belongs."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from itinera.reports.charts import svg as charts
from itinera.stats import Interval

HALF = Interval(0.5, 0.4, 0.6)
SERIES = [charts.Series("one", 0), charts.Series("<two>", 3)]
EVERY = {
    "forest": charts.forest_plot("t", "a", SERIES, [("SR", [HALF, None]), ("SPL", [HALF, HALF])]),
    "trends": charts.line_chart("t", "a", SERIES, ["1", "2"], [[HALF, None], [HALF, HALF]], unit="%", below="x"),
    "cumulative": charts.cumulative_plot("t", "a", SERIES, [np.array([1.0, 2.0]), np.array([np.nan, np.inf])],
                                         below="m", limits=(0, 5), threshold=(3.0, "radius")),
    "stacked": charts.stacked_bars("t", "a", SERIES, ["good", "bad"], [[3, 1], [0, 4]]),
    "clouds": charts.scatter_panels("t", "a", SERIES, [(np.array([0.1, 1.0]), np.array([0.2, np.nan]))] * 2, below="x",
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
    assert charts.format_percent(charts.Axis(0, 1, 0, 100).ticks[0]) == "0"
    assert charts.format_points(-0.001) == "0"


def test_an_axis_keeps_values_inside():
    axis = charts.Axis(0, 10, 50, 150)
    assert [axis.at(x) for x in (-5, 0, 5, 10, 50)] == [50, 50, 100, 150, 150]


def test_agents_differ_by_shape_as_well_as_color():
    shapes = {
        re.sub(r"-?[\d.]+", "#", charts.marker(charts.Series("x", agent), 0, 0)) for agent in range(len(charts.COLORS))
    }
    assert len(shapes) == len(charts.COLORS)


SCENES = ["zsNo4HB9uLZ", "WWWWWWWW", "hearth-1-007", "m" * 60, "智能体" * 9, "🏠" * 12]


def test_row_labels_start_inside_the_chart():
    figure = charts.forest_plot("t", "a", SERIES, [(name, [HALF, HALF]) for name in SCENES])
    ends = re.findall(r'<text x="([\d.]+)" [^>]*text-anchor="end"[^>]*>([^<]+)<', figure.body)
    assert len(ends) == len(SCENES)
    assert all(float(x) - charts.text_width(label) >= 0 for x, label in ends)
    assert all(float(x) < 0.5 * figure.width for x, _ in ends)


def test_labels_are_shortened_to_a_width_and_not_to_a_count():
    assert charts.fit_label("i" * 40, 200) == "i" * 40
    assert charts.text_width(charts.fit_label("W" * 40, 200)) <= 200


def test_text_width_is_an_upper_bound_for_a_wide_font():
    pytest.importorskip("matplotlib")
    images = pytest.importorskip("PIL.ImageFont")
    from matplotlib.font_manager import findfont

    font = images.truetype(findfont("DejaVu Sans"), 1000)
    for name in ("zsNo4HB9uLZ", "hearth-1-007", "ends at the goal, 3.5 m", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"):
        exact = charts.FONT_SIZE * font.getlength(name) / 1000
        assert exact <= charts.text_width(name) <= 1.15 * exact
