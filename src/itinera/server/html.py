"""The pages of a challenge as HTML: plain values in, text out. Start with `render_board`.

Every value is escaped where it enters a page; a page loads nothing but the style sheet and the script beside it, and
`SECURITY_POLICY` forbids everything else. The same templates make the pages of the server and of a static export.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any, Literal
from urllib.parse import quote, urlsplit

from itinera.errors import MissingExtra, escape_controls
from itinera.records import Column
from itinera.records.tables import column_heading, format_number
from itinera.reports.markup import display_name
from itinera.server.board import Board, BoardEntry, BoardScore

SECURITY_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'none'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
"""The Content-Security-Policy of every page."""

STATIC_FILES = ("board.css", "board.js", "submit.js")
BADGES: Mapping[str, str] = {
    "live": "The agent acted in the host's simulator, one observation after another, and nothing else was given out.",
    "replayed": "The host repeated every action and scored where it led.",
    "scored": "The host scored the places that the entry gives, without repeating its actions.",
    "claimed": "The entry gives its own scores; the host did not compute them.",
}
Page = Literal["board", "entry", "team", "submit", "status", "challenge"]
_LONGEST_NAME = 60  # characters in a table


@dataclass(frozen=True)
class Site:
    """What all pages of a challenge share."""

    title: str
    phases: tuple[str, ...]
    root: str = "/"  # address of the first page, from the page that is rendered: "", "../" or "/"
    static: bool = False  # files of an export instead of addresses of a server

    def link(self, page: Page, name: str = "") -> str:
        """The address of a page."""
        if not self.static:
            folder = {"board": "phases/", "entry": "entries/", "team": "teams/"}.get(page, page)
            return f"{self.root}{folder}{quote(name, safe='')}"
        return f"{self.root}{file_name(page, name)}"

    def asset(self, name: str) -> str:
        """The address of a file beside the pages."""
        return f"{self.root}static/{name}"

    def document(self, phase: str, name: str) -> str:
        """The address of the data of a board: board.json, board.csv or board.tex."""
        folder = slug(phase) if self.static else f"phases/{quote(phase, safe='')}"
        return f"{self.root}{folder}/{name}"


def file_name(page: Page, name: str = "") -> str:
    """The file of a page in an export."""
    if page == "board":
        return f"{slug(name)}/index.html"
    folder = {"entry": "entries", "team": "teams"}.get(page)
    return f"{page}.html" if folder is None else f"{folder}/{slug(name)}.html"


def slug(name: str) -> str:
    """A name as a file name that is safe everywhere: as it is if possible, else a digest of it."""
    plain = name.isascii() and name.replace("-", "").replace("_", "").isalnum() and name == name.lower()
    usable = plain and len(name) <= 60 and name[0].isalnum()
    return name if usable else f"x-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


@dataclass(frozen=True)
class PhaseView:
    """A phase as the pages of a challenge describe it."""

    name: str
    title: str = ""
    opens: datetime | None = None
    closes: datetime | None = None
    is_open: bool = True
    shots_per_day: int | None = None
    shots: int | None = None
    protocol: str = ""
    suite: str = ""
    episodes: int | None = None
    shown: str = ""  # what participants see of a judgement
    is_live: bool = False  # agents act in the host's simulator, and no files are taken


@dataclass(frozen=True)
class ChallengeView:
    """The rules of a challenge."""

    about: str  # paragraphs, separated by empty lines
    phases: tuple[PhaseView, ...]
    address: str = ""  # of the server, for the command that submits
    commitment: str = ""  # SHA-256 of the secret of the season
    secret: str = ""  # when it has been revealed
    head: str = ""  # digest of the last event of the log


@dataclass(frozen=True)
class SubmitView:
    """The form that submits an entry, which talks to the JSON interface of the server."""

    phases: tuple[str, ...]  # that are open and take files
    most_bytes: int = 0  # of an entry; 0: unknown
    address: str = ""  # of the server, for the commands
    live: tuple[str, ...] = ()  # phases that are open and take no files


@dataclass(frozen=True)
class QueueJob:
    """An entry that is waiting or being judged."""

    place: int  # 0: being judged
    phase: str
    waited: float  # seconds
    expected: float | None = None  # seconds until it is judged
    entry: str = ""  # its id, where the viewer may know it


@dataclass(frozen=True)
class StatusView:
    """The state of the server."""

    waiting: int
    running: int
    workers: int
    oldest: float | None  # seconds since the oldest waiting entry arrived
    jobs: tuple[QueueJob, ...] = ()


@dataclass(frozen=True)
class _Cell:
    text: str
    interval: str = ""
    letters: str = ""
    value: str = ""  # for sorting
    bar: tuple[str, str, str] | None = None  # low, mean and high as percentages


@dataclass(frozen=True)
class _Row:
    entry: BoardEntry
    cells: tuple[_Cell, ...]
    spread: str


def render_board(site: Site, board: Board) -> str:
    """The page of a board."""
    ranked = board.ranked_column if board.entries else None
    columns = [c for c in board.columns if c != ranked]
    columns = ([] if ranked is None else [ranked]) + columns
    rows = [_make_row(entry, columns, ranked) for entry in board.entries]
    headings = [column_heading(column) for column in columns]
    return _render("board.html", site, board=board, headings=headings, rows=rows, badges=BADGES)


def render_entry(site: Site, board: Board, entry: BoardEntry, *, reports: Mapping[str, str] | None = None) -> str:
    """The page of an entry; `reports` are titles and addresses of pages about it."""
    metrics = [
        (column_heading(column), _make_cell(column, entry.scores[column.name], ranked=True))
        for column in board.columns
        if column.name in entry.scores
    ]
    spread = "" if entry.spread is None else format_number(board.ranked_column, entry.spread)
    links = {title: url for title, url in entry.links.items() if is_web_address(url)}
    return _render(
        "entry.html", site, board=board, entry=entry, metrics=metrics, spread=spread, links=links,
        badge_about=BADGES[entry.badge], reports=reports or {},
    )  # fmt: skip


def render_team(site: Site, team: str, boards: Sequence[Board]) -> str:
    """The page of a team: its entries on every board."""
    tables = []
    for board in boards:
        found = [entry for entry in board.entries if entry.team == team]
        if found:
            column = board.ranked_column
            tables.append((board, column_heading(column), [_make_row(e, [column], column) for e in found]))
    return _render("team.html", site, team=team, tables=tables)


def render_submit(site: Site, view: SubmitView) -> str:
    """The form that submits an entry."""
    return _render("submit.html", site, view=view)


def render_status(site: Site, view: StatusView) -> str:
    """The queue and the state of the server."""
    return _render("status.html", site, view=view)


def render_challenge(site: Site, view: ChallengeView) -> str:
    """The rules of the challenge."""
    paragraphs = [text for text in view.about.split("\n\n") if text.strip()]
    return _render("challenge.html", site, view=view, paragraphs=paragraphs)


def render_error(site: Site, status: int, title: str, problem: str, *, remedy: str = "") -> str:
    """The page for a request that cannot be answered."""
    return _render("error.html", site, status=status, heading=title, problem=problem, remedy=remedy)


def static_files() -> dict[str, bytes]:
    """The style sheet and the script of all pages, by name."""
    folder = files("itinera.server") / "pages"
    return {name: (folder / name).read_bytes() for name in STATIC_FILES}


def is_web_address(url: str) -> bool:
    """Whether an address may be linked: http or https, with a host."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and url.isprintable() and " " not in url
    except ValueError:
        return False


def _make_row(entry: BoardEntry, columns: Sequence[Column], ranked: Column | None) -> _Row:
    cells = tuple(
        _make_cell(column, entry.scores[column.name], ranked=column == ranked)
        if column.name in entry.scores
        else _Cell("–")
        for column in columns
    )
    spread = "" if entry.spread is None or ranked is None else format_number(ranked, entry.spread)
    return _Row(entry, cells, spread)


def _make_cell(column: Column, score: BoardScore, *, ranked: bool) -> _Cell:
    if not math.isfinite(score.mean):
        return _Cell(format_number(column, score.mean), letters=score.letters)
    mean, low, high = (format_number(column, value) for value in (score.mean, score.low, score.high))
    has_interval = ranked and score.has_interval
    bar = None
    if has_interval and column.unit == "":
        low_x, mean_x, high_x = (f"{100 * value:.1f}" for value in (score.low, score.mean, score.high))
        bar = (low_x, mean_x, high_x)
    return _Cell(mean, f"{low} – {high}" if has_interval else "", score.letters, f"{score.mean:.6g}", bar)


def _render(template: str, site: Site, **values: Any) -> str:
    return str(_environment().get_template(template).render(site=site, **values))


@cache
def _environment() -> Any:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise MissingExtra("The pages of a challenge", "jinja2", "server") from None
    made = Environment(
        loader=PackageLoader("itinera.server", "pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters["name"] = _shorten_name
    made.filters["visible"] = escape_controls
    made.filters["day"] = lambda at: _to_iso(at)[:10]
    made.filters["minute"] = lambda at: _to_iso(at)[:16].replace("T", " ")
    made.filters["iso"] = _to_iso
    made.filters["duration"] = format_duration
    return made


@lru_cache(10_000)
def _shorten_name(text: str) -> str:
    return display_name(text, max_chars=_LONGEST_NAME)


@lru_cache(10_000)
def _to_iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def format_duration(seconds: float) -> str:
    """A duration in words.

    >>> format_duration(3.2), format_duration(75), format_duration(4000), format_duration(200000)
    ('3 s', '1 min', '1 h 6 min', '2 d 7 h')
    """
    total = max(0, int(seconds))
    if total < 60:
        return f"{total} s"
    days, hours, minutes = total // 86400, total // 3600 % 24, total // 60 % 60
    if days:
        return f"{days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
