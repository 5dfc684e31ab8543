"""The path of a graph episode as annotation files have it: a list of viewpoint ids."""

from __future__ import annotations

from itinera.errors import BadArgument
from itinera.tasks import Episode


def viewpoint_path(episode: Episode) -> list[str]:
    """The viewpoints of an episode's reference path, or its start only where that is withheld."""
    path = list(episode.reference) if len(episode.reference) else [episode.start.place]
    viewpoints = [place for place in path if isinstance(place, str)]
    if len(viewpoints) != len(path):
        raise BadArgument(f'Episode "{episode.id}" has continuous positions; this format takes nodes of a graph only.')
    return viewpoints
