"""A robot in MuJoCo drives PointNav tasks of an exported season from start to goal.

    itinera export hearth hearth --to mjcf --out hearth-mjcf
    python recipes/drive_mujoco.py hearth hearth-mjcf --tasks 50

The robot is an upright cylinder, 30 cm wide, on a planar base: actuators control its forward and angular velocity, and
whatever it touches stops it. It follows the geodesic path of a wheeled robot, on which stairs and steps are obstacles;
tasks that need stairs are counted and left out. A task succeeds if the robot stands within 0.2 m of the goal in less
than twice the time of the path at full speed, plus ten seconds. Needs MuJoCo (`pip install mujoco`).
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from itinera.errors import NoRoute
from itinera.formats.hearth_season import season_houses
from itinera.hearth.build import build_house
from itinera.worlds.mesh import Mesh
from itinera.worlds.surface import Surface

CLEARANCE = 0.20  # metres, the radius for which paths are planned
CLIMB = 0.05  # metres; the robot rolls over rugs and thresholds
HEIGHT = 1.5  # metres
SPEED = 0.8  # m/s
LOOKAHEAD = 0.12  # metres
REACHED = 0.2  # metres
TIMESTEP = 0.005  # seconds
CONTROL = 4  # physics steps for each command
LOW, HIGH = 0.06, 1.40  # metres above the floor: the extent of the robot, with room for rugs under it
HALF = (HIGH - LOW) / 2
JOINTS = ("x", "y", "yaw")

ROBOT = f"""
<body name="robot">
  <joint name="x" type="slide" axis="1 0 0"/>
  <joint name="y" type="slide" axis="0 1 0"/>
  <joint name="yaw" type="hinge" axis="0 0 1"/>
  <geom name="robot" type="cylinder" size=".15 {HALF}" pos="0 0 {LOW + HALF}" mass="12" class="robot"/>
</body>
"""
ACTUATORS = "".join(f'<velocity name="{joint}" joint="{joint}" kv="200" forcerange="-60 60"/>' for joint in JOINTS)
DEFAULTS = '<default class="robot"><geom contype="2" conaffinity="1" condim="4"/></default>'


@dataclass(frozen=True)
class Drive:
    """How a task ended."""

    episode_id: str
    length: float  # metres, of the path
    distance: float  # metres from the robot to the goal at the end
    seconds: float  # of simulated time
    contacts: int  # control steps in which the robot touched something

    @property
    def success(self) -> bool:
        return self.distance <= REACHED


def add_robot(xml: str) -> str:
    """The model of a house with the robot in it."""
    xml = xml.replace("</worldbody>", f"{ROBOT}</worldbody>\n<actuator>{ACTUATORS}</actuator>")
    return xml.replace("  <default>\n", f"  <default>\n    {DEFAULTS}\n", 1)


def wheeled_surface(mesh: Mesh) -> Surface:
    """Where the robot can go."""
    return Surface.from_mesh(mesh, radius=CLEARANCE, height=HEIGHT, climb=CLIMB)


def plan(surface: Surface, start: np.ndarray, goal: np.ndarray) -> np.ndarray | None:
    """(n, 3) the geodesic path of a wheeled robot; None if there is none."""
    try:
        path = np.asarray(surface.route(start, goal))
    except NoRoute:
        return None
    ends = np.abs(path[[0, -1]] - np.array([start, goal])).max()
    return path if ends < 2 * CLEARANCE else None


class Simulation:
    """A house with the robot in MuJoCo."""

    def __init__(self, xml: str) -> None:
        import mujoco

        self.mujoco: Any = mujoco
        self.model = mujoco.MjModel.from_xml_string(add_robot(xml))
        self.model.opt.timestep = TIMESTEP
        self.data = mujoco.MjData(self.model)
        self.places = [self.model.joint(name).qposadr[0] for name in JOINTS]
        self.motors = [self.model.actuator(name).id for name in JOINTS]
        self.body = self.model.body("robot").id

    def drive(self, episode_id: str, path: np.ndarray, yaw: float) -> Drive:
        """Follow a path (n, 3) from its first point, facing a yaw."""
        self.mujoco.mj_resetData(self.model, self.data)
        self.model.body_pos[self.body] = (0.0, 0.0, path[0, 2])
        self.data.qpos[self.places] = (*path[0, :2], yaw)
        points = densify(path[:, :2])
        length = float(np.linalg.norm(np.diff(path, axis=0), axis=1).sum())
        limit = 2 * length / SPEED + 10
        at, contacts = 0, 0
        while self.data.time < limit:
            place, heading = self.pose()
            at = advance(points, at, place)
            if np.linalg.norm(points[-1] - place) < REACHED / 2:
                break
            speed, turn = command(place, heading, points[at])
            self.data.ctrl[self.motors] = (speed * math.cos(heading), speed * math.sin(heading), turn)
            self.mujoco.mj_step(self.model, self.data, CONTROL)
            contacts += self.data.ncon > 0  # nothing but the robot moves
        place, _ = self.pose()
        return Drive(episode_id, length, float(np.linalg.norm(points[-1] - place)), float(self.data.time), contacts)

    def pose(self) -> tuple[np.ndarray, float]:
        """Position (2,) and heading of the robot."""
        x, y, heading = self.data.qpos[self.places]
        return np.array([x, y]), float(heading)


def densify(path: np.ndarray, step: float = 0.02) -> np.ndarray:
    """(n, 2) points along a path, `step` apart."""
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))])
    along = np.append(np.arange(0.0, lengths[-1], step), lengths[-1])
    return np.stack([np.interp(along, lengths, path[:, axis]) for axis in (0, 1)], axis=1)


def advance(points: np.ndarray, at: int, place: np.ndarray) -> int:
    """The index of the point to aim at: the first one farther away than the lookahead, never backwards."""
    while at < len(points) - 1 and np.linalg.norm(points[at] - place) < LOOKAHEAD:
        at += 1
    return at


def command(place: np.ndarray, heading: float, target: np.ndarray) -> tuple[float, float]:
    """Forward and angular velocity: turn in place until the target is ahead, then drive."""
    ahead = math.remainder(math.atan2(*(target - place)[::-1]) - heading, math.tau)
    return SPEED * max(0.0, math.cos(ahead)) ** 8, float(np.clip(4.0 * ahead, -2.5, 2.5))


def drive_tasks(season: Path, export: Path, count: int) -> tuple[list[Drive], int]:
    """The drives of the first tasks without stairs, and the number of tasks left out before."""
    houses = season_houses(season) or {}
    episodes = [
        episode
        for file in sorted((export / "tasks").glob("pointnav_*.json"))
        for episode in msgspec.json.decode(file.read_bytes())["episodes"]
    ]
    drives: list[Drive] = []
    skipped = 0
    for scene in dict.fromkeys(episode["scene"] for episode in episodes):
        seed, index = houses[Path(scene).stem]
        surface = wheeled_surface(build_house(seed, index).mesh)
        simulation = Simulation((export / scene).read_text())
        for episode in (one for one in episodes if one["scene"] == scene):
            if len(drives) == count:
                return drives, skipped
            start, goal = np.array(episode["start"]["position"]), np.array(episode["goals"][0])
            path = plan(surface, start, goal)
            if path is None:
                skipped += 1
                continue
            drives.append(simulation.drive(episode["episode_id"], path, episode["start"]["yaw"]))
            print(drives[-1], flush=True)
    return drives, skipped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("season", type=Path, help="folder of the season")
    parser.add_argument("export", type=Path, help="folder of its export to MJCF")
    parser.add_argument("--tasks", type=int, default=50, help="number of tasks")
    options = parser.parse_args()
    drives, skipped = drive_tasks(options.season, options.export, options.tasks)
    touched = sum(drive.contacts > 0 for drive in drives)
    succeeded = sum(drive.success for drive in drives)
    print(f"{succeeded} of {len(drives)} tasks succeeded; {touched} touched something; {skipped} need stairs.")


if __name__ == "__main__":
    main()
