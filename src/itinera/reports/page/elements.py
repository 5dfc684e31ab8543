"""Elements of the report page: tables, figures, lists and collapsible details."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itinera.records.tables import TextTable
from itinera.reports.charts.svg import Chart, Series, marker
from itinera.reports.markup import Markup, display_name, tag


def table_element(table: TextTable, *, agents: Sequence[Series] = (), caption: bool = True) -> Markup:
    """A table that scrolls if it is too wide; the last headings are the agents', with their markers."""
    first = len(table.headings) - len(agents)
    headings = [
        tag("th", *([swatch(agents[i - first])] if i >= first else []), text, scope="col")
        for i, text in enumerate(table.headings)
    ]
    rows = [
        tag("tr", tag("th", display_name(row[0], max_chars=60), scope="row"), *(tag("td", text) for text in row[1:]))
        for row in table.rows
    ]
    element = tag("table", tag("thead", tag("tr", *headings)), tag("tbody", *rows))
    label = display_name(table.title or "table", max_chars=120)
    box = tag("div", element, class_="scroll", tabindex="0", role="group", aria_label=label)
    # A caption element would be as wide as the table, and be cut off where the table scrolls.
    return tag("div", tag("p", table.title, class_="caption"), box, class_="table") if caption and table.title else box


def swatch(agent: Series) -> Markup:
    """An agent's marker, beside its name."""
    return tag("svg", marker(agent, 7, 7), viewBox="0 0 14 14", class_="swatch", aria_hidden="true", focusable="false")


def figure(chart: Chart, name: str) -> Markup:
    """A chart with its caption."""
    caption = tag("figcaption", tag("strong", chart.title), " ", chart.about)
    return tag("figure", chart.svg(name), caption)


def figures(charts: Sequence[Chart], name: str) -> Markup:
    """Charts side by side if there is room."""
    return tag("div", *(figure(one, f"{name}-{i}") for i, one in enumerate(charts)), class_="figures")


def details(title: str, *content: str) -> Markup:
    return tag("details", tag("summary", title), *content)


def listing(items: Sequence[str], **attributes: object) -> Markup:
    return tag("ul", *(tag("li", item) for item in items), **attributes)


@dataclass(frozen=True)
class PagePart:
    """A part of the section about one benchmark, with a heading."""

    title: str
    name: str  # its id on the page
    content: Markup

    @property
    def section(self) -> Markup:
        return tag("section", tag("h3", self.title, id=self.name), self.content)
