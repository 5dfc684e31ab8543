"""The addresses of the pages. Start with `make_page_routes`; where the content comes from is a `PageSource`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from itinera.server.board import Board, BoardEntry, encode_board
from itinera.server.exports import encode_csv, encode_latex
from itinera.server.html import (
    SECURITY_POLICY,
    ChallengeView,
    Site,
    StatusView,
    SubmitView,
    render_board,
    render_challenge,
    render_entry,
    render_error,
    render_status,
    render_submit,
    render_team,
    static_files,
)

_HEADERS = {
    "content-security-policy": SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
_KINDS = {"css": "text/css", "js": "text/javascript"}
_DOCUMENTS: dict[str, tuple[str, Callable[[Board], bytes]]] = {
    "board.json": ("application/json", encode_board),
    "board.csv": ("text/csv; charset=utf-8", encode_csv),
    "board.tex": ("text/plain; charset=utf-8", encode_latex),
}


class PageSource(Protocol):
    """The content of the pages, as everybody may see it. Methods may be called from several threads."""

    def site(self) -> Site:
        """The title and the phases."""
        ...

    def find_board(self, phase: str) -> Board | None:
        """The board of a phase; None if there is no such phase."""
        ...

    def find_entry(self, entry_id: str) -> tuple[Board, BoardEntry] | None:
        """An entry on a board; None if there is none that everybody may see."""
        ...

    def describe_challenge(self) -> ChallengeView:
        """The rules."""
        ...

    def describe_status(self) -> StatusView:
        """The queue."""
        ...

    def describe_submission(self) -> SubmitView:
        """The phases that are open."""
        ...


class BoardTexts:
    """The page and the data of each board as bytes, made again only when the board has changed."""

    def __init__(self, source: PageSource) -> None:
        self._source = source
        self._kept: dict[tuple[str, str], tuple[Board, Site, bytes]] = {}

    def find(self, phase: str, name: str = "") -> bytes | None:
        """The page of a phase, or the file of its data with this name; None if there is no such phase."""
        board = self._source.find_board(phase)
        if board is None:
            return None
        site = self._source.site()
        kept = self._kept.get((phase, name))
        # A source gives the same object as long as nothing has happened.
        if kept is not None and kept[0] is board and kept[1] == site:
            return kept[2]
        text = _DOCUMENTS[name][1](board) if name else render_board(site, board).encode()
        self._kept[phase, name] = board, site, text
        return text


def make_page_routes(source: PageSource) -> Sequence[BaseRoute]:
    """The routes of all pages; each is answered in a thread."""

    boards = BoardTexts(source)

    def page(text: str | bytes, status: int = 200) -> Response:
        return Response(text, status, dict(_HEADERS), "text/html; charset=utf-8")

    def missing(what: str) -> Response:
        remedy = "Entries that were withdrawn or are not public have no page."
        return page(render_error(source.site(), 404, "Not found", f"There is no {what}.", remedy=remedy), 404)

    def challenge(request: Request) -> Response:
        view = replace(source.describe_challenge(), address=_read_address(request))
        return page(render_challenge(source.site(), view))

    def board(request: Request) -> Response:
        found = boards.find(phase := request.path_params["phase"])
        return missing(f"phase {phase}") if found is None else page(found)

    def document(request: Request) -> Response:
        phase, name = request.path_params["phase"], request.path_params["name"]
        found = boards.find(phase, name) if name in _DOCUMENTS else None
        if found is None:
            return missing(f"{name} of phase {phase}")
        return Response(found, headers=dict(_HEADERS), media_type=_DOCUMENTS[name][0])

    def entry(request: Request) -> Response:
        found = source.find_entry(entry_id := request.path_params["entry"])
        return missing(f"entry {entry_id}") if found is None else page(render_entry(source.site(), *found))

    def team(request: Request) -> Response:
        site, name = source.site(), request.path_params["team"]
        boards = [board for phase in site.phases if (board := source.find_board(phase)) is not None]
        if not any(entry.team == name for board in boards for entry in board.entries):
            return missing(f"team {name} with public entries")
        return page(render_team(site, name, boards))

    def status(request: Request) -> Response:
        return page(render_status(source.site(), source.describe_status()))

    def submit(request: Request) -> Response:
        view = replace(source.describe_submission(), address=_read_address(request))
        return page(render_submit(source.site(), view))

    files = static_files()

    def asset(request: Request) -> Response:
        name = request.path_params["name"]
        if name not in files:
            return missing(f"file {name}")
        return Response(files[name], headers=dict(_HEADERS), media_type=_KINDS[name.rpartition(".")[2]])

    return [
        Route("/", challenge),
        Route("/challenge", challenge),
        Route("/phases/{phase}", board),
        Route("/phases/{phase}/{name}", document),
        Route("/entries/{entry}", entry),
        Route("/teams/{team:path}", team),  # a name may have slashes
        Route("/status", status),
        Route("/submit", submit),
        Route("/static/{name}", asset),
    ]


def _read_address(request: Request) -> str:
    """The address under which the reader of a page knows the server; empty if the client has made one up.

    Readers copy it into a shell, so it must be without characters that mean something there.
    """
    address = str(request.base_url).rstrip("/")
    return address if re.fullmatch(r"https?://[A-Za-z0-9._:/\[\]-]+", address) else ""
