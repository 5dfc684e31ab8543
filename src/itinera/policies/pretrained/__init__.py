"""Agents that learned: model files, by path or by the names of those that come with Itinera."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from itinera.errors import MissingExtra

if TYPE_CHECKING:
    from itinera.agents.agent import Agent

SUFFIX = ".safetensors"
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Learned:
    """What a trained agent must be shown: all that is said on its card about views."""

    views: str  # annotations, rendered, or what else they were
    columns: tuple[str, ...]
    reach: float  # metres, of annotated views

    @property
    def names(self) -> tuple[str, ...]:
        """The objects with a column of their own in annotated views, in their order."""
        from itinera.simulators.view_features import kind_of

        return tuple(name for name in self.columns if not kind_of(name))


def boxed() -> dict[str, Path]:
    """The trained agents that come with Itinera, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob(f"*{SUFFIX}"))}


def model_file(agent: str) -> Path | None:
    """The model file an agent is made from, if it is made from one."""
    if agent.endswith(SUFFIX):
        return Path(agent)
    return boxed().get(agent)


def learned(path: Path) -> Learned:
    """What the agent of a model file must be shown."""
    try:
        from itinera.policies.loading import read_card
    except ImportError as error:
        raise _missing(error) from None
    card = read_card(path)
    return Learned(card.views, card.columns, card.reach)


def trained_agent(path: Path, shown: Sequence[str]) -> Agent:
    """The agent of a model file, who is shown views with these columns."""
    try:
        from itinera.policies.loading import load_walker
    except ImportError as error:
        raise _missing(error) from None
    return load_walker(path, shown)


def _missing(error: ImportError) -> Exception:
    name = (error.name or "torch").partition(".")[0]
    if name.startswith("itinera"):
        return error  # ours, and our mistake
    return MissingExtra("Trained agents", name, "neural")
