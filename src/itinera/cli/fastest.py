"""`itinera fastest`: how fast a robot can be from here to there on a map, and a drive that proves it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.cli import inputs as given
from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.planners.motion.dynamics import Dynamics
    from itinera.planners.motion.fastest import Fastest
    from itinera.worlds import Array
    from itinera.worlds.grid import Grid

DYNAMICS = ("unicycle", "point-turn", "holonomic")
UNKNOWN = ("blocked", "free")
SAMPLED = 0.05  # metres between the poses that are printed

_ROBOT, _MAP = "The robot", "The map"
Vmax = Annotated[float, typer.Option(help="Greatest speed, m/s.", rich_help_panel=_ROBOT)]
Wmax = Annotated[float, typer.Option(help="Greatest turning speed, degrees per second.", rich_help_panel=_ROBOT)]
Radius = Annotated[float, typer.Option(help="Of the round robot, metres.", rich_help_panel=_ROBOT)]
GoalRadius = Annotated[float, typer.Option(help="Metres from the goal where it has arrived; 0 is the point itself.")]
Model = Annotated[str, typer.Option("--dynamics", help=f"How it moves: {', '.join(DYNAMICS)}.", rich_help_panel=_ROBOT)]
Reverse = Annotated[
    bool, typer.Option("--reverse", help="A unicycle that also drives backwards.", rich_help_panel=_ROBOT)
]


def fastest(
    map_file: Annotated[
        Path, typer.Argument(metavar="MAP", help="A ROS map's .yaml, or a picture of a floor plan, light where free.")
    ],
    start: Annotated[str, typer.Option(help="x,y,degrees in the map's own frame, counter-clockwise from +x.")],
    goal: Annotated[str, typer.Option(help="x,y in the map's own frame.")],
    goal_radius: GoalRadius = 0.0,
    dynamics: Model = "unicycle",
    vmax: Vmax = 0.25,
    wmax: Wmax = 10.0,
    radius: Radius = 0.2,
    reverse: Reverse = False,
    metres_per_pixel: Annotated[
        float | None, typer.Option(help="Of a picture, whose low left corner is (0, 0).", rich_help_panel=_MAP)
    ] = None,
    unknown: Annotated[
        str, typer.Option(help=f"What unknown cells are: {' or '.join(UNKNOWN)}.", rich_help_panel=_MAP)
    ] = "blocked",
    trees: Annotated[
        int, typer.Option(help="Random trees (RRT*) that look for a faster drive than the field's.", min=0)
    ] = 4,
    seed: options.Seed = 0,
    figure: Annotated[Path | None, typer.Option(help="Draw the drives on the map, .png or .svg.")] = None,
    json: options.Json = False,
) -> None:
    """Tell how fast a robot can be from a pose to a goal: an interval of times, and a drive that proves the later one.

    Point turns and the shortest path stand beside it. The time is inf where no way leads to the goal.

    Example: itinera fastest map.yaml --start 1.0,2.0,90 --goal 4.5,3.0 --figure drive.png
    """
    given.spare_blas()
    grid = read_grid(map_file, metres_per_pixel, unknown)
    pose, place = _numbers("--start", start, 3), _numbers("--goal", goal, 2)
    pose[2] = math.radians(pose[2])
    robot = robot_of(dynamics, vmax, wmax, reverse=reverse)
    local = grid.to_local(pose), grid.to_local(place)
    asked = _Asked(grid, *local, robot, radius, goal_radius, trees, seed)
    answers = asked.answers()
    if json:
        output.print_json(_plain(asked, answers))
    else:
        _print(map_file, asked, answers)
    if figure is not None:
        _draw(asked, answers, figure, map_file.name)


@dataclass(frozen=True, eq=False)
class _Asked:
    """A question, in the grid's own frame."""

    grid: Grid
    start: Array
    goal: Array
    dynamics: Dynamics
    radius: float
    goal_radius: float
    trees: int
    seed: int

    def answers(self) -> dict[Dynamics, Fastest]:
        """By dynamics: those asked for first, then point turns and the shortest path."""
        from itinera.planners.motion.dynamics import holonomic, point_turn

        wanted = [self.dynamics, holonomic(self.dynamics.vmax)]
        if math.isfinite(self.dynamics.wmax):
            wanted.insert(1, point_turn(self.dynamics.vmax, self.dynamics.wmax))
        found = {one: self._answer(one) for one in dict.fromkeys(wanted)}
        return {one: self._best(one, found) for one in found}

    def _answer(self, dynamics: Dynamics) -> Fastest:
        from itinera.planners.motion.fastest import fastest

        robot = {"dynamics": dynamics, "radius": self.radius, "goal_radius": self.goal_radius}
        return fastest(self.grid, self.start, self.goal, **robot, trees=self.trees, seed=self.seed)  # type: ignore[arg-type]

    def _best(self, dynamics: Dynamics, found: dict[Dynamics, Fastest]) -> Fastest:
        """The answer, with another's drive where these dynamics can do it and do it faster."""
        drives = [other.drive for other in found.values() if other.drive is not None]
        best = min(drives, key=lambda drive: drive.duration(dynamics), default=None)
        own = found[dynamics]
        if best is None or not best.duration(dynamics) < own.high:
            return own
        return replace(own, high=best.duration(dynamics), drive=best)


def robot_of(name: str, vmax: float, wmax_deg: float, *, reverse: bool = False) -> Dynamics:
    """The dynamics of the options."""
    from itinera.planners.motion.fastest import dynamics_named

    given.one_of("--dynamics", name, DYNAMICS)
    if not (math.isfinite(vmax) and vmax > 0):
        raise BadArgument(f"--vmax must be above 0 m/s, not {vmax:g}: a robot that stands never arrives.")
    if not wmax_deg > 0:
        raise BadArgument(f"--wmax must be above 0 degrees per second, not {wmax_deg:g}.")
    return dynamics_named(name, vmax, math.radians(wmax_deg), reverse=reverse)


def read_grid(path: Path, metres_per_pixel: float | None, unknown: str) -> Grid:
    """The map of a file: a ROS map by its .yaml, or a picture."""
    if path.suffix.lower() in (".yaml", ".yml"):
        from itinera.formats.rosmap import read_map

        if metres_per_pixel is not None:
            raise BadArgument("--metres-per-pixel is for pictures: a map's .yaml tells its own resolution.")
        return read_map(path, unknown=given.one_of("--unknown", unknown, UNKNOWN))  # type: ignore[arg-type]
    from itinera.formats.floor_plans import read_floor_plan

    if metres_per_pixel is None:
        raise BadArgument(f"{path} is a picture: say how large it is with --metres-per-pixel, or give a map's .yaml.")
    return read_floor_plan(path, metres_per_pixel)


def _numbers(option: str, text: str, count: int) -> Array:
    import numpy as np

    try:
        values = np.array([float(part) for part in text.split(",")], dtype=np.float64)
    except ValueError:
        values = np.empty(0)
    if values.shape != (count,) or not np.isfinite(values).all():
        shape = "x,y,degrees" if count == 3 else "x,y"
        raise BadArgument(f"{option} must be {shape}, numbers with commas between, not {text!r}.")
    return values


def _plain(asked: _Asked, answers: dict[Dynamics, Fastest]) -> dict[str, Any]:
    best = answers[asked.dynamics]
    turning, shortest = (_named(name, answers) for name in ("point-turn", "holonomic"))
    return {
        "dynamics": asked.dynamics.name,
        "time_s": {"low": _told(best.low), "high": _told(best.high)},
        "length_m": None if best.drive is None else best.drive.length,
        "point_turn_time_s": None if turning is None else _told(turning.high),
        "shortest_length_m": None if shortest is None or shortest.drive is None else shortest.drive.length,
        "path": [] if best.drive is None else _in_frame(asked.grid, asked.dynamics, best).tolist(),
    }


def _named(name: str, answers: dict[Dynamics, Fastest]) -> Fastest | None:
    return next((found for dynamics, found in answers.items() if dynamics.name == name), None)


def _told(seconds: float) -> float | str:
    return seconds if math.isfinite(seconds) else "inf"


def _in_frame(grid: Grid, dynamics: Dynamics, found: Fastest) -> Array:
    """(n, 4) x, y, heading, seconds in the map's frame."""
    import numpy as np

    assert found.drive is not None
    path = found.drive.sampled(dynamics, step=SAMPLED)
    return np.column_stack((grid.to_frame(path[:, :3]), path[:, 3]))


def _print(map_file: Path, asked: _Asked, answers: dict[Dynamics, Fastest]) -> None:
    best = answers[asked.dynamics]
    limits = f"{asked.dynamics.vmax:g} m/s"
    if math.isfinite(asked.dynamics.wmax):
        limits += f", {math.degrees(asked.dynamics.wmax):g} °/s"
    who = f"{asked.dynamics.name}, {limits}, radius {asked.radius:g} m"
    if best.drive is None:
        never = (
            "inf: no way leads to the goal" if math.isinf(best.low) else f"{best.low:.2f} – inf s: no drive was found"
        )
        typer.echo(f"{map_file.name}: {never} ({who}).")
        return
    typer.echo(f"{map_file.name}: {best.low:.2f} – {best.high:.2f} s, {best.drive.length:.2f} m driven ({who}).")
    for dynamics, other in answers.items():
        if dynamics == asked.dynamics or other.drive is None:
            continue
        if dynamics.name == "holonomic":
            typer.echo(f"The shortest path is {other.drive.length:.2f} m, {other.high:.2f} s at full speed.")
        else:
            slower = other.high / best.high - 1 if best.high else 0.0
            typer.echo(f"With {dynamics.name}s: {other.high:.2f} s, {slower:+.1%}, {other.drive.length:.2f} m.")


def _draw(asked: _Asked, answers: dict[Dynamics, Fastest], path: Path, title: str) -> None:
    from itinera.planners.motion.fastest import ToGoal
    from itinera.reports.charts.drives import DrawnDrive, Floor, draw_drives

    grid = asked.grid
    # A map that lies askew in its frame is drawn in the frame of its own cells.
    upright = grid if grid.rotation == 0 else replace(grid, origin=(0.0, 0.0), rotation=0.0)
    shown = [
        DrawnDrive(
            f"{dynamics.name}: {found.high:.1f} s, {found.drive.length:.2f} m", _in_frame(upright, dynamics, found)
        )
        for dynamics, found in answers.items()
        if found.drive is not None and len(found.drive.moves)
    ]
    if not shown:
        output.remark(f"{path} is not drawn: there is no drive to show.")
        return
    whole = ToGoal(grid, asked.goal, asked.dynamics, asked.radius, asked.goal_radius)
    floor = Floor(grid.blocked, grid.allowed(asked.radius), grid.resolution, upright.origin, whole.field.least)
    draw_drives(floor, shown, upright.to_frame(asked.goal), asked.goal_radius, path, title=title)
