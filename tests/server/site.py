"""A small challenge with every page, also with names that try to break pages."""

from __future__ import annotations

from itinera.server import html
from server.boards import HOSTILE, NOON, a_board, judged, rows

ADDRESSES = {"paper": "https://example.org/p?a=1&b=2", "bad": "javascript:alert(1)", HOSTILE: "data:text/html,x"}


def hostile_board():
    """Four entries; one is anonymous, one has hostile names."""
    made = [
        judged("e1", rows("agent 1", 0.55), notes="Three seeds.\nSee the paper.", links=ADDRESSES),
        judged("e2", rows("agent 2", 0.53), badge="scored", team="", team_key="t1"),
        judged("e3", rows("agent 3", 0.2), badge="claimed", method=HOSTILE, team=HOSTILE, notes=HOSTILE),
        judged("e4", rows("agent 4", 0.3), team="Team 1", team_key="t1"),
    ]
    return a_board(made)


def render_all(site: html.Site) -> dict[str, str]:
    """Every page of the challenge, by name."""
    board = hostile_board()
    phase = html.PhaseView("test", HOSTILE, NOON, NOON, True, 2, 10, "r2r", "paper", 100, "aggregates")
    jobs = (html.QueueJob(0, "test", 12, 30, "e1"), html.QueueJob(1, HOSTILE, 400))
    rules = html.ChallengeView(
        f"First.\n\n{HOSTILE}", (phase,), "https://host.example", "ab" * 32, "cd" * 32, "ef" * 32
    )
    return {
        "board": html.render_board(site, board),
        "entry": html.render_entry(site, board, board["e1"], reports={"report": "reports/e1.html"}),
        "hostile-entry": html.render_entry(site, board, board["e3"]),
        "team": html.render_team(site, HOSTILE, [board]),
        "no-team": html.render_team(site, "nobody", [board]),
        "submit": html.render_submit(site, html.SubmitView(("test", HOSTILE), 10 << 20, "https://host.example")),
        "closed": html.render_submit(site, html.SubmitView(())),
        "status": html.render_status(site, html.StatusView(3, 1, 0, 4000.0, jobs)),
        "idle": html.render_status(site, html.StatusView(0, 0, 1, None)),
        "challenge": html.render_challenge(site, rules),
        "error": html.render_error(site, 404, "Not found", HOSTILE, remedy="Go to the board."),
        "empty": html.render_board(site, a_board([])),
    }
