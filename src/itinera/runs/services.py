"""Agents behind web services in a run: their settings, checked against the tasks, and their estimated bill."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from itinera.agents.agent import Agent
from itinera.agents.loading import OptionValue, check_options
from itinera.agents.services.bill import estimate_bill
from itinera.agents.services.settings import CHAT, ServiceSettings, is_chat, make_settings, parse_size
from itinera.errors import BadArgument
from itinera.runs.config import RunConfig
from itinera.runs.resume import plan_fingerprint
from itinera.tasks import Episode, Split
from itinera.worlds import NavGraph, World

if TYPE_CHECKING:
    from itinera.agents.services.choices import RenderView
    from itinera.agents.services.prompts import PromptStyle
    from itinera.rendering.rasterizer import Rasterizer

FOV = 1.4  # radians from left to right, of the image of an option
RASTERIZERS = 2  # worlds that are prepared for images at a time

RunConfigType = TypeVar("RunConfigType", bound=RunConfig)
_log = logging.getLogger("itinera")


@dataclass(frozen=True)
class ServiceRequest:
    """What was asked for, as given; see `ServiceSettings`."""

    base_url: str | None = None
    prompt: str | None = None
    price: tuple[float, float] | None = None
    max_cost: float | None = None
    answers: Path | None = None


def start_service(
    config: RunConfigType, request: ServiceRequest, options: Mapping[str, OptionValue] | None, *, seed: int
) -> RunConfigType:
    """The configuration with the settings of a language model, as far as they do not depend on the observations."""
    if config.is_command or not is_chat(config.agent):
        if request != ServiceRequest():
            raise BadArgument(
                "--base-url, --prompt, --price, --max-cost and --answers are for language models: give --agent "
                f"{CHAT}MODEL."
            )
        return config
    check_options(options or {})
    settings = make_settings(
        options or {},
        base_url=request.base_url,
        prompt=request.prompt,
        price=request.price,
        max_cost=request.max_cost,
        answers=request.answers,
        seed=seed,
    )
    return replace(config, service=settings)


def finish_service(config: RunConfigType, split: Split, episodes: Sequence[Episode]) -> RunConfigType:
    """The configuration with the style of prompts that fits its observations; logs the estimated bill of episodes."""
    settings = config.service
    if settings is None:
        if config.is_service:
            _require_steps(config, "A policy server")
            _require_camera(config, ("rgb",), "A policy server needs images: give --camera WIDTHxHEIGHT (camera=).")
        return config
    has_candidates = not config.protocol.on_ground or config.observations.waypoints is not None
    style = settings.prompt or ("choices" if has_candidates else "words")
    settings = replace(settings, prompt=style)
    config = replace(config, service=settings)
    _check_style(config, settings, has_candidates)
    if not episodes:
        return config
    what = (config.agent, sorted(settings.decisive.items()), split.name, [episode.id for episode in episodes])
    config = replace(config, service=replace(settings, bill=plan_fingerprint(*what)))
    sensor = config.observations.camera
    images = settings.images or (sensor is not None and "rgb" in sensor.channels)
    lengths = [_reference_length(episode, style) for episode in episodes]
    estimate = estimate_bill(style, lengths, settings, images=images)
    _log.info("%s Answers that exist in %s cost nothing.", estimate, settings.answers)
    return config


def _check_style(config: RunConfig, settings: ServiceSettings, has_candidates: bool) -> None:
    style = settings.prompt
    if style == "choices":
        if not has_candidates:
            raise BadArgument(
                "--prompt choices (prompt=) needs candidates: tasks on graphs, or --waypoints on the ground. Else give "
                "words or pixel."
            )
        if settings.images and (config.protocol.on_ground or config.worlds_path is None):
            raise BadArgument(
                "images=true needs tasks on graphs, and the folder of a Hearth season or scenes as worlds."
            )
        return
    if has_candidates:
        raise BadArgument(f"--prompt {style} (prompt=) is for steps on the ground: give choices, or other tasks.")
    if settings.images:
        raise BadArgument(f"images=true is for --prompt choices; with {style} the images are those of --camera.")
    _require_steps(config, f"--prompt {style} (prompt=)")
    if style == "pixel":
        _require_camera(
            config, ("rgb", "depth"), "--prompt pixel needs color and depth: give --camera WIDTHxHEIGHT (camera=)."
        )
    else:
        sensor = config.observations.camera
        channels = () if sensor is None else tuple(sensor.channels)
        words = "depth" in channels and "instances" in channels and "rgb" not in channels
        remedy = (
            "--prompt words needs images, --camera WIDTHxHEIGHT (camera=), or words for what they show, with "
            "--channels depth,instances too."
        )
        _require_camera(config, ("depth", "instances") if words else ("rgb",), remedy)


def _require_steps(config: RunConfig, who: str) -> None:
    protocol = config.protocol
    if not protocol.on_ground or protocol.drive is not None or config.observations.waypoints is not None:
        raise BadArgument(
            f"{who} steps and turns on the ground: give continuous tasks, without --drive and --waypoints."
        )


def _require_camera(config: RunConfig, channels: Sequence[str], remedy: str) -> None:
    sensor = config.observations.camera
    if sensor is None or not set(channels) <= set(sensor.channels):
        raise BadArgument(remedy)
    if sensor.panorama or sensor.around > 1:
        raise BadArgument("This agent sees the image ahead: leave out --panorama.")


def _reference_length(episode: Episode, style: str) -> float:
    """The moves, or the metres, of an episode's reference; an average one if it has none."""
    if len(episode.reference) < 2:
        return 6.0 if style == "choices" else 10.0
    if style == "choices":
        return len(episode.reference) - 1 if isinstance(episode.reference[0], str) else 6.0
    return float(np.linalg.norm(np.diff(np.asarray(episode.reference, dtype=np.float64), axis=0), axis=1).sum())


def describe_settings(config: RunConfig) -> dict[str, Any]:
    """The settings of a language model that belong to its results, by name; empty for any other agent."""
    if config.service is None:
        return {}
    model = str(config.agent).removeprefix(CHAT)
    return {"model": model, "base_url": config.service.base_url, **config.service.decisive}


def make_service_agent(config: RunConfig, worlds: Mapping[str, World], columns: Sequence[str]) -> Agent:
    """The agent behind a web service; `columns` are the meanings of the numbers of its views."""
    if not is_chat(config.agent):
        from itinera.agents.services.policy_server import REPLY_SECONDS, PolicyServer

        seconds = REPLY_SECONDS if config.reply_seconds is None else config.reply_seconds
        return PolicyServer(cast(str, config.agent), config.protocol, seconds=seconds)
    settings = config.service
    if settings is None:
        raise BadArgument("Language models act in `itinera run` only (itinera.run), with --base-url (base_url=).")
    if config.reply_seconds is not None:
        settings = replace(settings, timeout=config.reply_seconds)
    from itinera.agents.services.chat_agent import ChatAgent
    from itinera.agents.services.chat_client import ChatClient

    client = ChatClient(str(config.agent).removeprefix(CHAT), settings)
    return ChatAgent(client, _make_style(config, settings, worlds, columns), settings)


def _make_style(
    config: RunConfig, settings: ServiceSettings, worlds: Mapping[str, World], columns: Sequence[str]
) -> PromptStyle:
    if settings.prompt == "choices":
        from itinera.agents.services.choices import ChoicesStyle

        return ChoicesStyle(columns, _make_renderer(config, settings, worlds) if settings.images else None)
    if settings.prompt == "words":
        from itinera.agents.services.words import WordsStyle

        return WordsStyle(config.protocol, worlds, history=settings.history)
    from itinera.agents.services.pixel import PixelStyle

    assert config.observations.camera is not None
    return PixelStyle(config.protocol, config.observations.camera, history=settings.history)


def _make_renderer(config: RunConfig, settings: ServiceSettings, worlds: Mapping[str, World]) -> RenderView:
    """The function that draws what is visible from a node."""
    from itinera.rendering.camera import Camera
    from itinera.rendering.rasterizer import Rasterizer
    from itinera.runs.observations import open_meshes

    meshes = open_meshes(config.worlds_path)
    camera = Camera(*parse_size(settings.image_size), FOV)

    @lru_cache(RASTERIZERS)
    def prepare(world_id: str) -> Rasterizer:
        return Rasterizer(meshes[world_id])

    def render(world_id: str, node: str, heading: float) -> NDArray[np.uint8]:
        graph = worlds[world_id].space
        assert isinstance(graph, NavGraph)
        return prepare(world_id).render(camera, graph.positions[graph.index[node]], heading, channels=("rgb",)).rgb

    return render
