"""Live phases of a challenge: an agent here, the simulator at the host."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.agents.agent import Agent
    from itinera.formats.hosted_challenge import ChallengePhase
    from itinera.runs.live_host import LiveHost
    from itinera.server.live_messages import SessionReport
    from itinera.server.messages import EntryReport

POLL_SECONDS = 2.0
PATIENCE_SECONDS = 600.0  # that a server may be silent


def run_live(
    agent: str | PathLike[str] | Sequence[str] | Agent | type[Any] | None,
    url: str,
    *,
    phase: str,
    method: str,
    token: str,
    command: str | None = None,
    agent_options: Mapping[str, bool | int | float | str] | None = None,
    policy: str | type[Any] | None = None,
    reply_seconds: float | None = None,
    workers: int | None = None,
    notes: str = "",
    visibility: str = "public",
    wait: bool = True,
    patience: float = PATIENCE_SECONDS,
    on_tour: Callable[[int, int], None] = lambda done, tours: None,
) -> EntryReport:
    """The report on the entry of a live session, which an agent plays here; see `itinera.run`.

    on_tour: called with the number of tours that are over, and of all.
    """
    from itinera.formats.live_turns import TurnHead, TurnLine, decode_replies, encode_turns
    from itinera.runs.live_client import play_tours
    from itinera.server.client import Client, Refusal, Unreachable
    from itinera.server.live_messages import OpenRequest, SessionReport
    from itinera.server.messages import EntryReport

    client = Client(url, token, keep=True)
    request = OpenRequest(phase, method, notes, visibility)

    def persist(send: Callable[[], Any]) -> Any:
        """The reply, however often the connection or the host fails, within the patience."""
        until = time.monotonic() + patience
        while True:
            try:
                return send()
            except (Unreachable, Refusal) as error:
                if (isinstance(error, Refusal) and error.status not in (408, 503)) or time.monotonic() > until:
                    raise
            time.sleep(0.2)

    session: SessionReport = persist(lambda: client.post("/api/live", request, SessionReport, repeat=False))
    agents = [
        _make_agent(agent, session, command, agent_options, policy, reply_seconds) for _ in range(max(workers or 1, 1))
    ]
    path = f"/api/live/{session.entry}"
    over = len(session.ended)

    def exchange(lines: list[TurnLine]) -> list[tuple[TurnHead, bytes]]:
        body = encode_turns(lines)
        content = persist(lambda: client.exchange(f"{path}/turns", body, "application/x-ndjson", repeat=False))
        return decode_replies(content)

    def count(tour: int) -> None:
        nonlocal over
        over += 1
        on_tour(over, session.tours)

    on_tour(over, session.tours)
    try:
        play_tours(agents, exchange, tours=session.tours, turns=session.turns, ended=session.ended, on_tour=count)
    finally:
        for one in agents:
            getattr(one, "close", lambda: None)()
    persist(lambda: client.post(f"{path}/close", {}, dict, repeat=False))
    while True:
        report: EntryReport = persist(lambda: client.get(f"/api/entries/{session.entry}", EntryReport))
        if not wait or report.state not in ("playing", "queued", "running"):
            return report
        time.sleep(POLL_SECONDS)


def make_live_host(phase: ChallengePhase) -> LiveHost:
    """The simulator of a live phase, with the host's files."""
    from itinera.api.judging import load_episodes, load_rules
    from itinera.runs.live_host import LiveHost

    if phase.live is None:
        raise BadArgument(f"Phase {phase.name} takes files; it is not live.")
    split = load_episodes(phase.rules)
    return LiveHost(split, Path(phase.rules.worlds), load_rules(phase.rules, split), phase.live)


def _make_agent(
    agent: Any,
    session: SessionReport,
    command: str | None,
    options: Mapping[str, bool | int | float | str] | None,
    policy: str | type[Any] | None,
    reply_seconds: float | None,
) -> Agent:
    from itinera.agents.registry import AGENTS, AgentContext
    from itinera.runs.config import RunConfig, select_protocol
    from itinera.runs.context import make_agent, requirements_for
    from itinera.runs.prepare import configure_agent, parse_agent
    from itinera.simulators.factory import apply_drive
    from itinera.tasks import Split

    given, is_command = parse_agent(agent, command)
    rules = session.rules
    wmax = rules.get("wmax_deg")
    protocol = apply_drive(
        select_protocol(session.protocol, Split("", ())),
        rules.get("drive"),
        vmax=rules.get("vmax"),
        wmax=None if wmax is None else math.radians(wmax),
    )
    config = RunConfig(given, Split("", ()), {}, protocol, is_command=is_command, reply_seconds=reply_seconds)
    config = configure_agent(config, options, (), isolate=False, policy=policy)
    if config.is_privileged:
        raise BadArgument(f"{given} reads the goals of its tasks, which a live phase gives to nobody.")
    if config.is_named and given in AGENTS:  # what a phase has to observe, these find out by themselves
        return AGENTS[given](AgentContext(given, protocol, {}, lambda: Split("", ()), has_descriptions=True))
    columns = tuple(session.columns)
    needed = requirements_for(config)
    if getattr(needed, "columns", None) is not None and not columns:
        raise BadArgument(f"This model needs views, and phase {session.phase} has none.")
    return make_agent(config, {}, columns=columns)
