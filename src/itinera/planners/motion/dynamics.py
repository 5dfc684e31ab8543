"""How a robot may move, as values: unicycle, point-turn, holonomic, and how to say another.

All of them follow one law of time. A move of constant curvature takes as long as the slower of its two parts: metres at
`vmax`, radians at `wmax`. What tells the dynamics apart is which moves they can make at all; a car, which cannot pivot,
is `Dynamics("car", vmax, wmax, tightest=5.0, pivots=False)`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from itinera.errors import BadArgument
from itinera.planners.motion._steering_kernels import Motion, fastest_legs
from itinera.worlds import Array

VMAX, WMAX = 0.25, math.radians(10)  # of Yokoyama et al. 2021, Success Weighted by Completion Time

_NO_TURN = 1e-12  # radians: less is lost in rounding


@dataclass(frozen=True)
class Dynamics:
    """The limits of a robot, and the moves it can make."""

    name: str
    vmax: float  # metres per second
    wmax: float  # radians per second; inf where turning takes no time
    tightest: float = 0.0  # metres, the least radius it can drive; inf where it only drives straight
    pivots: bool = True  # whether it turns on the spot
    reverse: bool = False  # whether it drives backwards; for unicycles only

    def __post_init__(self) -> None:
        if not (math.isfinite(self.vmax) and self.vmax > 0):
            raise BadArgument(f"The greatest speed must be finite and above 0 m/s, not {self.vmax}.")
        if not self.wmax > 0:
            raise BadArgument(f"The greatest turning speed must be above 0 rad/s, not {self.wmax}.")
        if not self.tightest >= 0:
            raise BadArgument(f"The least turning radius must be 0 m or more, not {self.tightest}.")
        if not self.pivots and not 0 < self.tightest < math.inf:
            raise BadArgument(f"{self.name} cannot pivot, so it needs a turning radius: set tightest above 0 m.")
        if self.reverse and not (self.pivots and self.tightest == 0):
            raise BadArgument(f"Only a unicycle may drive backwards; {self.name} must do without reverse.")

    @property
    def curve(self) -> float:
        """The radius of the arcs it drives by choice, metres: full speed at full turning speed; 0 where it pivots."""
        return 0.0 if math.isinf(self.tightest) else max(self.tightest, self.vmax / self.wmax)

    @property
    def motion(self) -> Motion:
        """What the kernels need to know."""
        return Motion(float(self.vmax), float(self.wmax), float(self.curve), self.pivots, self.reverse)

    def seconds(self, moves: Array) -> Array:
        """How long each of (n, 2) moves takes, metres forward and radians to the left; inf for what it cannot do."""
        metres, turns = np.abs(moves[:, 0]), np.abs(moves[:, 1])
        times = np.maximum(metres / self.vmax, turns / self.wmax)
        if not self.pivots:
            times[(metres == 0) & (turns > _NO_TURN)] = np.inf
        if self.tightest > 0:
            # Told by the turn, not by the radius, which rounding spoils where the turn is small.
            allowed = 0.0 if math.isinf(self.tightest) else metres / self.tightest
            times[(metres > 0) & (turns > allowed + _NO_TURN)] = np.inf
        if not self.reverse:
            times[moves[:, 0] < 0] = np.inf
        return times


def unicycle(vmax: float = VMAX, wmax: float = WMAX, *, reverse: bool = False) -> Dynamics:
    """Drives and turns at once, and pivots; arcs tighter than vmax / wmax are driven slower."""
    return Dynamics("unicycle", vmax, wmax, reverse=reverse)


def point_turn(vmax: float = VMAX, wmax: float = WMAX) -> Dynamics:
    """Drives straight or pivots, never both at once."""
    return Dynamics("point-turn", vmax, wmax, tightest=math.inf)


def holonomic(vmax: float = VMAX) -> Dynamics:
    """Goes wherever it likes without turning: its fastest path is the shortest."""
    return Dynamics("holonomic", vmax, math.inf)


def leg(dynamics: Dynamics, pose: Array, point: Array) -> Array:
    """The moves, (k, 2) with k at most 3, of the fastest leg from a pose (x, y, heading) to a point in free space.

    A unicycle pivots until its heading is within 90 degrees of the last straight, turns at the smallest radius, and
    goes straight; a point closer than √2 radii is met by the arc alone. Small radii make this the point-turn's leg,
    large turning speeds the straight line. Its time is `dynamics.seconds(moves).sum()`.

    >>> leg(point_turn(), (0, 0, 0), (0, 2)).round(3).tolist()
    [[0.0, 1.571], [2.0, 0.0]]
    """
    moves, _ = legs(dynamics, np.asarray(pose, dtype=np.float64)[None], np.asarray(point, dtype=np.float64)[None])
    used: Array = moves[0][(moves[0] != 0).any(axis=1)]
    return used


def legs(dynamics: Dynamics, poses: Array, points: Array) -> tuple[Array, Array]:
    """Moves (n, 3, 2) and seconds (n,) of the fastest legs from poses (n, 3) to points (n, 2); unused moves are 0."""
    poses = np.ascontiguousarray(poses, dtype=np.float64)
    points = np.ascontiguousarray(points, dtype=np.float64)
    if poses.ndim != 2 or poses.shape[1] != 3 or points.shape != (len(poses), 2):
        raise BadArgument(f"Legs need (n, 3) poses and (n, 2) points, not {poses.shape} and {points.shape}.")
    moves, seconds = fastest_legs(poses, points, dynamics.motion)
    return moves, seconds
