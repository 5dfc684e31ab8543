"""`itinera check`: is a file complete, and does it fit its tasks and worlds? Does an agent keep the contract?"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument


def check(
    file: Annotated[
        Path, typer.Argument(help="Any file, folder or archive `itinera convert` can read; or the word agent.")
    ],
    agent: Annotated[
        str | None,
        typer.Argument(
            help="After the word agent: your module:Class, HOST:PORT where it listens, openai:MODEL or a URL."
        ),
    ] = None,
    tasks: Annotated[Path | None, typer.Option(help="Check predictions against these episodes.")] = None,
    worlds: options.Worlds = None,
    missing: options.Missing = "fail",
    format: options.Format = None,
    agent_command: Annotated[str | None, typer.Option(help="After the word agent: a command that starts it.")] = None,
    agent_option: options.AgentOption = None,
    policy: options.PolicyClass = None,
    base_url: options.BaseUrl = None,
    prompt: options.Prompt = None,
    answers: options.Answers = None,
    protocol: Annotated[
        str | None,
        typer.Option(help="Protocol to check by. Default: that of the tasks; after the word agent r2r."),
    ] = None,
    drive: options.Drive = None,
    vmax: options.DriveVmax = None,
    wmax: options.DriveWmax = None,
    earlier: Annotated[
        Path | None, typer.Option(help="An earlier archive of the same board, of which nothing may have changed.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Check a file: its shape and ids, and with --tasks and --worlds the starts and steps of trajectories.

    On the ground, steps longer than the protocol's, too many of them, and steps through walls are faults.

    Goals are not needed, so a submission to a hidden test can be checked before it is sent. A score bundle is checked
    against its own digest, and against its inputs where they still exist. The archive of a board is verified to the
    last byte: its log, its daily digests, its revealed secrets, and the entries that it shows.

    `itinera check agent` runs your agent in a small built-in scene and reports the first contract violation.

    Example: itinera check preds.json --tasks R2R_test.json --worlds connectivity/

    Example: itinera check agent my_agent:Agent
    """
    if str(file) == "agent":
        from itinera import api
        from itinera.agents.loading import parse_options

        _require_one(agent, agent_command)
        checked = api.check_agent(
            agent,
            command=agent_command,
            policy=policy,
            protocol=protocol or "r2r",
            drive=drive,
            base_url=base_url,
            prompt=prompt,
            answers=answers,
            agent_options=parse_options(agent_option or ()),
        )
        _print_agent(checked, agent or agent_command, protocol or "r2r", json=json)
        return
    if agent is not None or agent_command is not None:
        raise BadArgument(f"To check an agent, write: itinera check agent {agent or '--agent-command …'}")
    from itinera import api

    report = api.check(
        file,
        tasks=tasks,
        worlds=worlds,
        missing=missing,  # type: ignore[arg-type]
        protocol=protocol,
        drive=drive,
        vmax=vmax,
        wmax=None if wmax is None else math.radians(wmax),
        format=format,
        earlier=earlier,
    )
    if json:
        output.print_json({"file": report.file, "format": report.format, "kind": report.kind, **report.counts})
    else:
        output.print_text(str(report))


def _require_one(name: str | None, command: str | None) -> None:
    if (name is None) == (command is None):
        raise BadArgument("Give one agent to check: itinera check agent module:Class, or with --agent-command.")


def _print_agent(agent: object, who: str | None, protocol: str, *, json: bool) -> None:
    from itinera.agents.agent import ProbabilisticAgent

    probabilistic = isinstance(agent, ProbabilisticAgent)
    if json:
        output.print_json({"agent": who, "protocol": protocol, "action_probabilities": probabilistic})
    else:
        kind = "an agent with action probabilities" if probabilistic else "an agent"
        output.print_line(f"{who}: {kind}. It keeps the contract.")
