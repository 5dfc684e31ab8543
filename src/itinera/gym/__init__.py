"""Gymnasium environments that step the same loop as runs. Start with `envs.py`; rewards are in `rewards.py`.

`itinera/GraphVLN-v0`, `itinera/GroundVLN-v0`, `itinera/PointNav-v0` and `itinera/Tour-v0` are registered when this
package is imported, and by `import itinera` after `import gymnasium`; `gymnasium.register_envs(itinera.gym)` registers
them in any order of imports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from itinera.errors import MissingExtra

try:
    from gymnasium.envs.registration import register, registry
except ImportError:
    raise MissingExtra("Environments", "gymnasium", "gym") from None

if TYPE_CHECKING:
    from itinera.gym.envs import GraphVLN, GroundVLN, PointNav, TourVLN
    from itinera.gym.rewards import (
        DecayingReward,
        Reward,
        Transition,
        fidelity_oriented_reward,
        goal_oriented_reward,
        shaped_reward,
    )
    from itinera.gym.task_set import TaskSet, hearth_task_set
    from itinera.gym.tokens import TokenizeInstruction
    from itinera.gym.tour_env import TourEnv
    from itinera.gym.vector_pointnav import VectorPointNav

__all__ = [
    "DecayingReward",
    "GraphVLN",
    "GroundVLN",
    "PointNav",
    "Reward",
    "TaskSet",
    "TokenizeInstruction",
    "TourEnv",
    "TourVLN",
    "Transition",
    "VectorPointNav",
    "fidelity_oriented_reward",
    "goal_oriented_reward",
    "hearth_task_set",
    "register_envs",
    "shaped_reward",
]

_ENVS = {"GraphVLN": "GraphVLN", "GroundVLN": "GroundVLN", "PointNav": "PointNav", "Tour": "TourVLN"}
_VECTOR_ENVS = {"PointNav": "itinera.gym.vector_pointnav:VectorPointNav"}
_MODULES = ("envs", "rewards", "task_set", "tokens", "tour_env", "vector_pointnav")


def register_envs() -> None:
    """Register the environments with Gymnasium; the code of each is imported when it is made."""
    for name, env in _ENVS.items():
        if f"itinera/{name}-v0" not in registry:
            register(
                f"itinera/{name}-v0", entry_point=f"itinera.gym.envs:{env}", vector_entry_point=_VECTOR_ENVS.get(name)
            )


def __getattr__(name: str) -> Any:
    """Import on first use (PEP 562), so that registering stays light."""
    if name in __all__:
        for module in _MODULES:
            found = vars(import_module(f"itinera.gym.{module}"))
            if name in found:
                return found[name]
    raise AttributeError(f"module 'itinera.gym' has no attribute {name!r}", name=name)


register_envs()
