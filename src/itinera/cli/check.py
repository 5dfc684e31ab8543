"""`itinera check`: is a file whole and does it fit its tasks and worlds? Does an agent keep its promises?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.cli import bodies, options, output
from itinera.cli import inputs as given
from itinera.errors import BadArgument, BadFile, Fault, ItineraError

if TYPE_CHECKING:
    from itinera.formats.catalog import Format
    from itinera.records import Predictions, ScoreTable
    from itinera.tasks import Split
    from itinera.worlds import World


def check(
    file: Annotated[
        Path, typer.Argument(help="Any file, folder or archive `itinera convert` can read; or the word agent.")
    ],
    agent: Annotated[
        str | None, typer.Argument(help="After the word agent: module:Class of yours, or HOST:PORT where it listens.")
    ] = None,
    tasks: Annotated[Path | None, typer.Option(help="Check predictions against these episodes.")] = None,
    worlds: options.Worlds = None,
    missing: options.Missing = "fail",
    format: options.Format = None,
    agent_command: Annotated[str | None, typer.Option(help="After the word agent: a command that starts it.")] = None,
    protocol: Annotated[str, typer.Option(help="After the word agent: the kind of walk it is made for.")] = "r2r",
    drive: bodies.Drive = None,
    json: options.Json = False,
) -> None:
    """Check a file: its shape and ids, and with --tasks and --worlds that walks start right and keep to their world.

    Goals are not needed, so a submission to a hidden test can be checked before it is sent. A result bundle is checked
    against its own digest, and against its inputs where they still lie where they were.

    An agent is let walk a little in a place of ours, and is told the first promise it breaks.

    Example: itinera check preds.json --tasks R2R_test.json --worlds connectivity/

    Example: itinera check agent my_agent:Agent
    """
    if str(file) == "agent":
        _agent(agent, agent_command, protocol, drive, json=json)
        return
    if agent is not None or agent_command is not None or drive is not None:
        raise BadArgument(f"To check an agent, say so: itinera check agent {agent or '--agent-command …'}")
    given.one_of("--missing", missing, ("fail", "zero"))
    from itinera.formats import catalog
    from itinera.formats.provenance import check_sidecar

    found = catalog.named(format) if format is not None else catalog.detect(file)
    check_sidecar(file)
    if found.kind == "walks" and tasks is not None:
        said = _walks(file, found, catalog.read_tasks(tasks), worlds, missing)
    else:
        said = counted(file, found, found.read(file), worlds)
    told = {"file": str(file), "format": found.name, "kind": found.kind, **said}
    if json:
        output.print_json(told)
    else:
        counts = ", ".join(f"{value} {name}" for name, value in said.items())
        typer.echo(f"{file}: {found.about}; {counts}. No faults.")


def _agent(name: str | None, command: str | None, protocol: str, drive: str | None, *, json: bool) -> None:
    from itinera.agents.checks import VIEW_SIZE, check_agent, usual_eye
    from itinera.cli.crews import AGENTS, Setting, agent_of, learned_by
    from itinera.tasks import PROTOCOLS

    who = name or command
    if who is None or (name and command):
        raise BadArgument("Say whom to check: itinera check agent module:Class, or --agent-command, one of them.")
    if name in AGENTS:
        raise BadArgument(f"{name} is one of ours. Give yours, as module:Class or by --agent-command.")
    named = PROTOCOLS[given.one_of("--protocol", protocol, tuple(PROTOCOLS))]
    rules = bodies.driven(named, drive, vmax=None, wmax=None)
    setting = Setting(who, Path(), Path(), rules, is_command=name is None)
    learned = learned_by(setting)
    columns = () if learned is None else learned.columns
    try:
        made = agent_of(setting, {}, columns=columns)
    except ItineraError:
        raise
    except Exception as error:
        told = f"{type(error).__name__}: {error}"
        raise BadArgument(f"{who}() failed: {told}. It is called without arguments.") from error
    if rules.on_ground:
        check_agent(made, body="ground", simulator=bodies.simulator_for(rules, eye=usual_eye()))
    else:
        check_agent(made, view_size=len(columns) or VIEW_SIZE)
    weighs = hasattr(made, "action_probabilities")
    if json:
        output.print_json({"agent": who, "protocol": rules.name, "action_probabilities": weighs})
    else:
        typer.echo(f"{who}: an agent{' that weighs' if weighs else ''}. It keeps its promises.")


def _walks(file: Path, found: Format, split: Split, worlds: Path | None, missing: str) -> dict[str, Any]:
    from itinera.formats import catalog
    from itinera.metrics.matching import pair, repeated_share

    predictions = catalog.read_predictions(file, split, format=found.name)
    groups = pair(predictions, split, given.worlds_of(split, worlds), missing=missing, goals=False)  # type: ignore[arg-type]
    return {
        "trajectories": _count(predictions),
        "worlds": len(groups),
        "share with repeats": round(repeated_share(groups), 4),
    }


def _count(predictions: Predictions) -> int:
    return len(predictions.answers.episode_ids)


def counted(file: Path, found: Format, content: Any, worlds: Path | None = None) -> dict[str, Any]:
    """How much of what a file holds; BadFile where it does not fit its worlds, or a result its inputs."""
    if found.kind == "tasks":
        if worlds is not None:
            _fit(str(file), content, given.worlds_of(content, worlds))
        withheld = sum(episode.goals_withheld for episode in content.episodes)
        return {"episodes": len(content.episodes), "worlds": len(content.world_ids), "goals withheld": withheld}
    if found.kind == "walks":
        return {"trajectories": _count(content)}
    if found.kind == "scores":
        return _bundle(file, content)
    if found.kind == "worlds":
        return _graphs(content)
    if found.kind == "objects":
        seen = [objects for viewpoints in content.values() for objects in viewpoints.values()]
        return {"viewpoints": len(seen), "objects": sum(map(len, seen))}
    if found.kind == "maps":
        rows, columns = content.blocked.shape
        return {
            "columns": columns,
            "rows": rows,
            "m a cell": content.resolution,
            "free cells": int((~content.blocked).sum()),
        }
    return {"entries": len(content)}


def _graphs(worlds: Mapping[str, World]) -> dict[str, Any]:
    graphs: list[Any] = [worlds[scan].space for scan in worlds]
    return {
        "worlds": len(graphs),
        "nodes": sum(len(graph.nodes) for graph in graphs),
        "edges": sum(len(graph.edges) for graph in graphs),
    }


def _fit(source: str, split: Split, worlds: Mapping[str, World]) -> None:
    """Every path must lie in its world and follow its edges."""
    from itinera.worlds import NavGraph

    faults = []
    for episode in split.episodes:
        where = f'episode "{episode.id}"'
        if episode.world_id not in worlds:
            faults.append(Fault(where, f"world {episode.world_id} is not among the worlds given.", "Check --worlds."))
            continue
        graph = worlds[episode.world_id].space
        if not isinstance(graph, NavGraph):
            continue
        places = [str(place) for place in (episode.start.place, *episode.goals, *episode.reference)]
        strange = [place for place in places if place not in graph.index]
        if strange:
            faults.append(Fault(where, f"node {strange[0]} is not in world {episode.world_id}."))
            continue
        at = graph.locate([str(place) for place in episode.reference])
        broken = [i for i in range(len(at) - 1) if not graph.adjacency[at[i], at[i + 1]]]
        if broken:
            ends = episode.reference[broken[0]], episode.reference[broken[0] + 1]
            faults.append(Fault(where, f"the path goes from {ends[0]} to {ends[1]}, which no edge joins."))
    if faults:
        raise BadFile(source, faults)


def _bundle(file: Path, table: ScoreTable) -> dict[str, Any]:
    from itinera.records.provenance import digest

    told = table.provenance
    changed, gone = [], 0
    for role, path in (told.inputs if told is not None else {}).items():
        if not Path(path).exists():
            gone += 1
        elif told is not None and digest(Path(path)) != told.digests.get(role):
            problem = f"{path} ({role}) is not the file this result was made from."
            changed.append(Fault("", problem, "Score again, or find the file as it was."))
    if changed:
        raise BadFile(str(file), changed)
    return {"episodes": len(table), "metrics": len(table.columns), "inputs not found": gone}
