"""What a run depends on: the files of the agent, the inputs, and the fingerprint of the plan.

Work is resumed only where all of it is unchanged.
"""

from __future__ import annotations

import hashlib
import inspect
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import cast

from itinera.agents.loading import describe_agent, require_files, short_name
from itinera.errors import ItineraError
from itinera.records import Provenance
from itinera.records.provenance import digest
from itinera.runs.config import RunConfig
from itinera.runs.resume import plan_fingerprint
from itinera.tasks import Split
from itinera.worlds import World


def agent_files(config: RunConfig) -> list[Path]:
    """The files of an agent that are known before it is made: its model file, those declared, those that options name.

    Of a command these are all files it names, as in `--weights=FILE` too; what those read in turn is not known.
    """
    found = require_files(config.agent_files) if config.agent_files else []
    found += [Path(value) for value in config.agent_options.values() if isinstance(value, str) and Path(value).exists()]
    if config.model is not None and not config.is_named:
        found.insert(0, config.model)
    if config.is_command:
        try:
            words = shlex.split(cast(str, config.agent))
        except ValueError:  # reported when the command is run
            words = []
        named = [Path(word.partition("=")[2] or word) for word in words]
        found = [*(file for file in named if file.is_file()), *found]
    return list(dict.fromkeys(found))


def node_files(config: RunConfig) -> list[Path]:
    """The files and folders that a worker process reads, which a machine that does not have them needs copies of."""
    found = [*agent_files(config), *filter(None, config.observations.inputs.values())]
    if config.worlds_path is not None:
        found.insert(0, config.worlds_path)
    if config.is_privileged:
        found += [path for path in (config.tasks, config.tours) if isinstance(path, Path)]
    return list(dict.fromkeys(found))


def agent_digests(config: RunConfig, files: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """The names of an agent's files and their digests, both by role; `files` are those it was found to consist of."""
    first = 1 if isinstance(config.agent, str) else 2  # an object is the first itself; see `object_digests`
    found = dict(files) if first == 1 else {}
    for path in agent_files(config):
        name = str(path) if config.is_command or path == config.model else short_name(path)
        found.setdefault(name, digest(path))
    roles = ["agent" if number == 1 else f"agent {number}" for number in range(first, len(found) + first)]
    digests = dict(zip(roles, found.values(), strict=True))
    if config.agent_options:
        digests["agent options"] = plan_fingerprint(sorted(config.agent_options.items()))
    return dict(zip(roles, found, strict=True)), digests


def input_files(config: RunConfig) -> dict[str, Path | None]:
    """The files a run depends on, by role. The file of a season stands for all its others."""
    from itinera.formats.catalog import season_file

    worlds = config.worlds_path
    if worlds is not None and season_file(worlds).exists():
        worlds = season_file(worlds)
    tasks = config.tasks if isinstance(config.tasks, Path) else None
    return {
        "tasks": tasks,
        "worlds": worlds,
        "tours": config.tours,
        **config.observations.inputs,
    }


def object_digests(config: RunConfig, files: Mapping[str, str]) -> dict[str, str]:
    """The digests of what was given as objects instead of files, by role.

    An agent object is known by the source code of its class, its plain attributes, and the digests of its `files`.
    """
    digests = {}
    if isinstance(config.tasks, Split):
        digests["tasks"] = hashlib.blake2b(_encode_split(config.tasks), digest_size=16).hexdigest()
    if config.worlds_path is None and not isinstance(config.worlds, Path):
        world_ids = config.read_tasks().world_ids
        digests["worlds"] = plan_fingerprint(*describe_worlds(config.worlds, world_ids))
    if not isinstance(config.agent, str):
        digests["agent"] = plan_fingerprint(*_describe_object(config.agent), sorted(files.items()))
    return digests


def _encode_split(split: Split) -> bytes:
    """The content of a file of these tasks."""
    if any(len(episode.goals) and not len(episode.reference) for episode in split.episodes):
        from itinera.formats.pointnav import encode_split

        return encode_split(split)
    from itinera.formats.native_tasks import encode_tasks

    return encode_tasks(split)


def describe_worlds(worlds: Mapping[str, World], world_ids: Sequence[str]) -> Iterator[object]:
    from itinera.worlds import NavGraph

    for world_id in world_ids:
        yield world_id
        space = worlds[world_id].space if world_id in worlds else None
        if isinstance(space, NavGraph):
            yield space.nodes, space.positions.tolist(), space.edges.tolist()
        else:
            yield type(space).__name__


def _describe_object(agent: object) -> Iterator[object]:
    kind = agent if isinstance(agent, type) else type(agent)
    yield kind.__module__, kind.__qualname__
    try:
        yield inspect.getsource(kind)
    except (OSError, TypeError):  # typed into an interactive session
        yield ""
    if kind is not agent:
        plain = (bool, int, float, str, bytes, type(None))
        attributes = dict(sorted(vars(agent).items())) if "__dict__" in dir(agent) else {}
        yield [(name, value) for name, value in attributes.items() if isinstance(value, plain)]


def describe_plan(provenance: Provenance, config: RunConfig, **more: object) -> dict[str, object]:
    """Everything that decides the result of a run, by name; the number of workers does not."""
    return {
        "version": provenance.version,
        "seed": provenance.seed,
        "agent": _identify(config),
        **describe_digests(provenance.digests),
        "observations": config.observations.fingerprint,
        "reply_seconds": config.reply_seconds,
        "isolate": config.isolate,
        **more,
    }


def describe_digests(digests: Mapping[str, str]) -> dict[str, object]:
    """The digests of inputs, by the names that messages give them."""
    return {f"digest of {role}": value for role, value in sorted(digests.items())}


def _identify(config: RunConfig) -> str:
    """The agent by name, and a pretrained one by its weights too, a language model by its settings."""
    if config.service is not None:
        return f"{config.agent} {sorted(config.service.decisive.items())}"
    model = config.model if config.is_named else None
    name = describe_agent(config.agent)
    return name if model is None else f"{name} {digest(model)}"


def add_agent(provenance: Provenance, config: RunConfig, files: Mapping[str, str]) -> Provenance:
    """The provenance with the files of the agent, and with what was given as objects."""
    names, digests = agent_digests(config, files)
    return replace(
        provenance,
        inputs={**provenance.inputs, **names},
        digests={**provenance.digests, **digests, **object_digests(config, files)},
    )


def describe_comparison(provenance: Provenance, config: RunConfig) -> str:
    """What was compared, by digest, before work was resumed."""
    named = [f"{role} {name}" for role, name in provenance.inputs.items()]
    others = [role for role in provenance.digests if role not in provenance.inputs]
    text = f"Unchanged by digest: {', '.join([*named, *others])}."
    if not config.is_foreign and not config.is_remote:
        return text
    return f"{text} Files that the agent reads without declaring them (files, --agent-file) were not compared."


def require_unchanged(files: Mapping[str, str]) -> None:
    """Refuse to finish a run whose agent was changed meanwhile."""
    changed = [name for name, value in files.items() if not Path(name).exists() or digest(Path(name)) != value]
    if changed:
        raise ItineraError(
            f"The files of the agent changed during the run: {', '.join(changed)}. Restore them and run the same "
            "again, or start anew with --overwrite (overwrite=True)."
        )
