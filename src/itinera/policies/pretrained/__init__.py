"""Pretrained agents: model files that come with Itinera, or are given by path. This module does not need torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from itinera.errors import MissingExtra

if TYPE_CHECKING:
    from itinera.policies.agent import PolicyAgent
    from itinera.policies.ground.agent import GroundPolicyAgent
    from itinera.policies.ground.decision_agent import DecisionAgent
    from itinera.policies.ground.requirements import GroundContext, GroundRequirements
    from itinera.policies.pointnav.agent import PointNavAgent
    from itinera.policies.pointnav.requirements import PointNavRequirements

SUFFIX = ".safetensors"
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class ModelRequirements:
    """The views a trained agent needs, as its model card says."""

    views: str  # annotations, rendered, or a description of a feature file
    columns: tuple[str, ...]
    reach: float  # metres, of annotated views

    @property
    def names(self) -> tuple[str, ...]:
        """The object names that have a column in annotated views, in their order."""
        from itinera.simulators.view_features import feature_kind

        return tuple(name for name in self.columns if not feature_kind(name))


@runtime_checkable
class TrainedAgent(Protocol):
    """An agent that says which views or camera it needs."""

    requirements: ModelRequirements | GroundRequirements | PointNavRequirements | None


@runtime_checkable
class GroundAgent(Protocol):
    """A trained agent on the ground, which a run tells its worlds."""

    requirements: GroundRequirements | PointNavRequirements

    def with_context(self, context: GroundContext) -> GroundAgent:
        """The same agent in another context, without memory."""


def pretrained_models() -> dict[str, Path]:
    """The model files that come with Itinera, by name."""
    return {path.stem: path for path in sorted(FOLDER.glob(f"*{SUFFIX}"))}


def model_file(agent: str) -> Path | None:
    """The model file of an agent that is named by a path or by the name of a pretrained model; None for any other."""
    if agent.endswith(SUFFIX):
        return Path(agent)
    return pretrained_models().get(agent)


def model_requirements(
    path: Path, *, policy: str | type[Any] | None = None
) -> ModelRequirements | GroundRequirements | PointNavRequirements:
    """The views or sensors the agent of a model file needs; `policy` is its class if that is outside Itinera."""
    try:
        from itinera.policies.checkpoint import read_card
    except ImportError as error:
        raise missing_extra("Trained agents", error) from None
    return read_card(path, policy=policy).requirements


def load_pretrained_agent(
    path: Path,
    view_columns: Sequence[str],
    *,
    policy: str | type[Any] | None = None,
    context: GroundContext | None = None,
) -> PolicyAgent | GroundPolicyAgent | DecisionAgent | PointNavAgent:
    """The agent of a model file, for views with these columns, or on the ground in this context.

    `policy` is its class if that is outside Itinera.
    """
    try:
        from itinera.policies.checkpoint import load_agent
    except ImportError as error:
        raise missing_extra("Trained agents", error) from None
    return load_agent(path, view_columns, policy=policy, context=context)


def missing_extra(what: str, error: ImportError) -> Exception:
    """The error to raise if `what` needs a package that is not installed."""
    name = (error.name or "torch").partition(".")[0]
    if name.startswith("itinera"):
        return error  # a mistake of this package
    return MissingExtra(what, name, "neural")
