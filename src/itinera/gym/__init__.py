"""Gymnasium environments over the same stage that runs use. Start with `envs.py`; what is paid for is in `rewards.py`.

Importing this registers `itinera/GraphVLN-v0`, `itinera/GroundVLN-v0`, `itinera/PointNav-v0` and `itinera/Tour-v0`.
"""

from itinera.errors import MissingExtra

try:
    import gymnasium
except ImportError:
    raise MissingExtra("Environments", "gymnasium", "gym") from None

from itinera.gym.envs import GraphVLN, GroundVLN, PointNav, Tours
from itinera.gym.rewards import Decaying, Happened, Reward, fidelity_oriented, goal_oriented, shaped
from itinera.gym.task_set import Playground, hearth_playground
from itinera.gym.tour_env import StageEnv

__all__ = [
    "Decaying",
    "GraphVLN",
    "GroundVLN",
    "Happened",
    "Playground",
    "PointNav",
    "Reward",
    "StageEnv",
    "Tours",
    "fidelity_oriented",
    "goal_oriented",
    "hearth_playground",
    "shaped",
]

for _name, _env in {"GraphVLN": GraphVLN, "GroundVLN": GroundVLN, "PointNav": PointNav, "Tour": Tours}.items():
    gymnasium.register(f"itinera/{_name}-v0", entry_point=f"{_env.__module__}:{_env.__name__}")
