"""The building blocks of a report's page: tables, figures, lists, and what can be unfolded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from itinera.reports.charts.svg import Agent, Figure, mark
from itinera.reports.markup import Markup, named, tag
from itinera.reports.tables import Grid


def grid_table(grid: Grid, *, agents: Sequence[Agent] = (), caption: bool = True) -> Markup:
    """A table that scrolls within itself where it is too wide; the last headings are the agents', with their marks."""
    first = len(grid.headings) - len(agents)
    headings = [
        tag("th", *([swatch(agents[i - first])] if i >= first else []), text, scope="col")
        for i, text in enumerate(grid.headings)
    ]
    rows = [
        tag("tr", tag("th", named(row[0], longest=60), scope="row"), *(tag("td", text) for text in row[1:]))
        for row in grid.rows
    ]
    table = tag("table", tag("thead", tag("tr", *headings)), tag("tbody", *rows))
    label = named(grid.title or "table", longest=120)
    box = tag("div", table, class_="scroll", tabindex="0", role="group", aria_label=label)
    # A caption of the table itself would be as wide as the table, and cut off where that scrolls.
    return tag("div", tag("p", grid.title, class_="caption"), box, class_="table") if caption and grid.title else box


def swatch(agent: Agent) -> Markup:
    """An agent's mark, beside its name."""
    return tag("svg", mark(agent, 7, 7), viewBox="0 0 14 14", class_="swatch", aria_hidden="true", focusable="false")


def figure(drawn: Figure, name: str) -> Markup:
    """A chart with its title over it and what it shows under it."""
    caption = tag("figcaption", tag("strong", drawn.title), " ", drawn.about)
    return tag("figure", drawn.svg(name), caption)


def figures(drawn: Sequence[Figure], name: str) -> Markup:
    """Charts side by side where there is room."""
    return tag("div", *(figure(one, f"{name}-{i}") for i, one in enumerate(drawn)), class_="figures")


def unfold(title: str, *content: str) -> Markup:
    return tag("details", tag("summary", title), *content)


def listing(items: Sequence[str], **attributes: object) -> Markup:
    return tag("ul", *(tag("li", item) for item in items), **attributes)


@dataclass(frozen=True)
class Part:
    """A part of a contest's section."""

    title: str
    name: str  # its id on the page
    content: Markup

    @property
    def section(self) -> Markup:
        return tag("section", tag("h3", self.title, id=self.name), self.content)
