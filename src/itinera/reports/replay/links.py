"""Which pages of replays a report can link to: those that show an episode of a contest, walked by one of its agents."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import msgspec

from itinera.reports.markup import Markup, join, named, tag
from itinera.reports.page.contest import Contest

_DATA = re.compile(r'<script type="application/json" id="replay">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True)
class Shown:
    """A page of walks to watch."""

    link: str  # where it is, seen from the report
    agents: frozenset[str]
    tour: str  # the tour's id, empty where the episodes stand alone
    worlds: Mapping[str, str]  # of each episode, in the order of the page

    def of(self, contest: Contest) -> list[str]:
        """The episodes of a contest that are shown: walked by one of its agents, in tours where the contest is."""
        first = contest.tables[0]
        if not self.agents & set(contest.names) or bool(self.tour) != (first.tours is not None):
            return []
        known = dict(zip(first.episode_ids, first.world_ids, strict=True))
        return [episode for episode, world in self.worlds.items() if known.get(episode) == world]


class _Task(msgspec.Struct):
    id: str
    place: int


class _Place(msgspec.Struct):
    id: str


class _Replay(msgspec.Struct):
    agents: list[str]
    tour: str
    places: list[_Place]
    tasks: list[_Task]


def read_shown(file: Path, link: str) -> Shown | None:
    """What a page of `itinera show` holds; None for any other page."""
    found = _DATA.search(file.read_text(encoding="utf-8", errors="replace"))
    try:
        held = msgspec.json.decode(found[1] if found else "", type=_Replay)
        worlds = {task.id: held.places[task.place].id for task in held.tasks}
    except (msgspec.MsgspecError, IndexError):
        return None
    return Shown(link, frozenset(map(named, held.agents)), held.tour, worlds)


def links_of(contest: Contest, pages: Sequence[Shown]) -> dict[str, str]:
    """Where each episode can be watched, those that can; of several pages in the first."""
    links: dict[str, str] = {}
    for page in pages:
        for episode in page.of(contest):
            links.setdefault(episode, f"{page.link}#{quote(episode, safe='')}")
    return links


def to_watch(contest: Contest, pages: Sequence[Shown]) -> Markup:
    """A line with the pages there are of a contest; nothing where there are none."""
    links = [part for page in pages if page.of(contest) for part in (", ", tag("a", _told(page), href=page.link))]
    return tag("p", "To watch: ", *links[1:], ".") if links else join()


def _told(page: Shown) -> str:
    count = len(page.worlds)
    if page.tour:
        return f"tour {named(page.tour)} in {named(next(iter(page.worlds.values())))}"
    return f"episode {named(next(iter(page.worlds)))}" if count == 1 else f"{count} episodes"
