"""The path of a graph episode as the annotation files write it: a list of viewpoint ids."""

from __future__ import annotations

from itinera.errors import BadArgument
from itinera.tasks import Episode


def viewpoint_path(episode: Episode) -> list[str]:
    """The viewpoints of an episode's reference, or its start alone where that is withheld."""
    path = list(episode.reference) if len(episode.reference) else [episode.start.place]
    viewpoints = [place for place in path if isinstance(place, str)]
    if len(viewpoints) != len(path):
        raise BadArgument(
            f'Episode "{episode.id}" has positions for places; this format can only hold nodes of a graph.'
        )
    return viewpoints
