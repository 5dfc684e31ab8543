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

    copies = max(workers or 1, 1)
    if copies > 1 and not isinstance(agent, (str, type, list, tuple, PathLike)) and command is None:
        raise BadArgument("An agent given as an object plays one tour at a time: give its class, or workers=1.")
    client, request = Client(url, token, keep=True), OpenRequest(phase, method, notes, visibility)

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

    def exchange(lines: list[TurnLine]) -> list[tuple[TurnHead, bytes]]:
        body, path = encode_turns(lines), f"/api/live/{session.entry}/turns"
        return decode_replies(persist(lambda: client.exchange(path, body, "application/x-ndjson", repeat=False)))

    over = 0

    def count(tour: int) -> None:
        nonlocal over
        over += 1
        on_tour(over, session.tours)

    agents: list[Agent] = []
    try:
        session: SessionReport = persist(lambda: client.post("/api/live", request, SessionReport, repeat=False))
        over = len(session.ended)
        agents.extend(_make_agent(agent, session, command, agent_options, policy, reply_seconds) for _ in range(copies))
        on_tour(over, session.tours)
        play_tours(agents, exchange, tours=session.tours, turns=session.turns, ended=session.ended, on_tour=count)
        persist(lambda: client.post(f"/api/live/{session.entry}/close", {}, dict, repeat=False))
        while True:
            report: EntryReport = persist(lambda: client.get(f"/api/entries/{session.entry}", EntryReport))
            if not wait or report.state not in ("playing", "queued", "running"):
                return report
            time.sleep(POLL_SECONDS)
    finally:
        client.close()
        for one in agents:
            getattr(one, "close", lambda: None)()


def make_live_host(phase: ChallengePhase) -> LiveHost:
    """The simulator of a live phase, with the host's files."""
    from itinera.api.judging import load_episodes, load_rules
    from itinera.runs.live_host import LiveHost

    if phase.live is None:
        raise BadArgument(f"Phase {phase.name} takes files; it is not live.")
    split = load_episodes(phase.rules)
    protocol = load_rules(phase.rules, split)
    if protocol.guidance is not None and protocol.guidance.to_goal and phase.show == "totals":
        raise BadArgument(
            f"Phase {phase.name} is live and guides agents to goals that they miss, which shows them: use a protocol "
            f'such as {protocol.name}-test, or show = "rows" for a phase whose goals are no secret.'
        )
    return LiveHost(split, Path(phase.rules.worlds), protocol, phase.live)


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
