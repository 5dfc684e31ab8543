"""The vector environment of PointNav as Stable-Baselines3 takes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from gymnasium import Wrapper
from numpy.typing import NDArray

from itinera.errors import MissingPackage
from itinera.gym.vector_pointnav import Arrays, VectorPointNav

try:
    from stable_baselines3.common.monitor import Monitor
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    raise MissingPackage("PointNavVecEnv", "stable-baselines3") from None

Indices = int | Iterable[int] | None


class PointNavVecEnv(VecEnv):
    """`VectorPointNav` as a `VecEnv`: give it to PPO, A2C or RecurrentPPO instead of a list of environments.

    `infos[k]["episode"]` has the return and length of an ended episode, as `Monitor` writes them, and the parts of its
    scores: `success`, `spl`, `path_length`, `seconds`, `distance_to_goal`, `contacts`.
    """

    def __init__(self, envs: VectorPointNav) -> None:
        self.envs = envs
        self._actions = np.zeros(envs.num_envs, dtype=np.int64)
        self._returns = np.zeros(envs.num_envs)
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> Arrays:
        seen, _ = self.envs.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0.0
        return seen

    def step_async(self, actions: NDArray[np.int64]) -> None:
        self._actions = np.asarray(actions, dtype=np.int64)

    def step_wait(self) -> tuple[Arrays, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        seen, rewards, terminated, truncated, info = self.envs.step(self._actions)
        self._returns += rewards
        ended = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for k in np.flatnonzero(ended).tolist():
            scores = {name: column[k] for name, column in info["final_info"].items() if not name.startswith("_")}
            infos[k] = {
                "terminal_observation": info["final_obs"][k],
                "TimeLimit.truncated": bool(truncated[k]),
                "episode": {"r": float(self._returns[k]), "l": int(scores["steps"]), **scores},
            }
        self._returns[ended] = 0.0
        return seen, rewards.astype(np.float32), ended, infos

    def close(self) -> None:
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Set an attribute of the vector environment, which all robots share."""
        setattr(self.envs, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Call a method of the vector environment, once: all robots share it."""
        found = getattr(self.envs, method_name)(*method_args, **method_kwargs)
        return [found for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type[Wrapper[Any, Any, Any, Any]], indices: Indices = None) -> list[bool]:
        """Whether the wrapper is `Monitor`, whose part this environment plays itself."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        return [None] * self.num_envs
