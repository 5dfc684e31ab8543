"""Links from a report to replay pages: a page is linked from the episodes it shows, for one of the report's agents."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import msgspec

from itinera.errors import BadArgument, BadFile
from itinera.formats.decoding import decode
from itinera.formats.io import read_bytes
from itinera.reports.benchmark import BenchmarkResults
from itinera.reports.markup import Markup, display_name, join, tag

_DATA = re.compile(rb'<script type="application/json" id="replay">(.*?)</script>', re.DOTALL)
_NAMED = "replay-"  # replay-EPISODE.html is linked from that episode, whatever it contains


@dataclass(frozen=True)
class ReplayPage:
    """A page written by `itinera show`."""

    link: str  # relative to the report
    agents: frozenset[str]
    tour: str  # the tour's id, empty if the episodes are not of a tour
    worlds: Mapping[str, str]  # episode id -> world id, in the order of the page

    def list_episodes(self, benchmark: BenchmarkResults) -> list[str]:
        """The episodes of a benchmark on the page; none unless agents match, and both or neither have tours."""
        first = benchmark.tables[0]
        if not self.agents & set(benchmark.names) or bool(self.tour) != (first.tours is not None):
            return []
        world_by_id = dict(zip(first.episode_ids, first.world_ids, strict=True))
        return [episode for episode, world in self.worlds.items() if world_by_id.get(episode) == world]


class _Episode(msgspec.Struct):
    id: str
    scene: int


class _Scene(msgspec.Struct):
    id: str


class _Replay(msgspec.Struct):
    agents: list[str]
    tour: str
    scenes: list[_Scene]
    episodes: list[_Episode]


def read_replay_page(file: Path, link: str) -> ReplayPage | None:
    """The contents of a page of `itinera show`; None for any other page."""
    try:
        found = _DATA.search(read_bytes(file))
        replay = decode(found[1] if found else b"", _Replay, str(file))
        worlds = {episode.id: replay.scenes[episode.scene].id for episode in replay.episodes}
    except (BadFile, IndexError):
        return None
    return ReplayPage(link, frozenset(map(display_name, replay.agents)), replay.tour, worlds)


def find_named_replays(folder: Path, report: Path) -> dict[str, str]:
    """Episode id -> link from the report, for the pages in a folder that are named replay-EPISODE.html."""
    return {
        unquote(file.stem.removeprefix(_NAMED)): link
        for file, link in _list_pages(folder, report)
        if file.name.startswith(_NAMED)
    }


def find_replay_pages(folder: Path, report: Path) -> list[ReplayPage]:
    """The other replay pages in a folder; their contents decide which episodes link to them."""
    pages = (read_replay_page(file, link) for file, link in _list_pages(folder, report)
             if not file.name.startswith(_NAMED))  # fmt: skip
    return [page for page in pages if page is not None]


def _list_pages(folder: Path, report: Path) -> Iterator[tuple[Path, str]]:
    """The HTML files in a folder, and their links relative to the report."""
    if not folder.is_dir():
        raise BadArgument(f"{folder} is not a folder. Give the folder that contains the pages of `itinera show`.")
    relative = Path(os.path.relpath(folder, report.parent)).as_posix()
    for file in sorted(folder.glob("*.html")):
        if file.resolve() != report.resolve():
            yield file, f"{_quote(relative)}/{_quote(file.name)}"


def _quote(name: str) -> str:
    return quote(name, errors="surrogateescape")  # file names need not be valid text


def link_episodes(benchmark: BenchmarkResults, pages: Sequence[ReplayPage]) -> dict[str, str]:
    """Episode id -> link to its replay; the first page that shows the episode wins."""
    links: dict[str, str] = {}
    for page in pages:
        for episode in page.list_episodes(benchmark):
            links.setdefault(episode, f"{page.link}#{quote(episode, safe='')}")
    return links


def list_replay_pages(benchmark: BenchmarkResults, pages: Sequence[ReplayPage]) -> Markup:
    """A paragraph with links to the replay pages of a benchmark; empty if there are none."""
    links = [
        part
        for page in pages
        if page.list_episodes(benchmark)
        for part in (", ", tag("a", _page_title(page), href=page.link))
    ]
    return tag("p", "Replays: ", *links[1:], ".") if links else join()


def _page_title(page: ReplayPage) -> str:
    count = len(page.worlds)
    if page.tour:
        return f"tour {display_name(page.tour)} in {display_name(next(iter(page.worlds.values())))}"
    return f"episode {display_name(next(iter(page.worlds)))}" if count == 1 else f"{count} episodes"
