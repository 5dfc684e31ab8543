"""`itinera fastest`: bounds on the fastest time of a robot from a pose to a goal, and a drive."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from itinera.cli import options, output
from itinera.errors import BadArgument

if TYPE_CHECKING:
    from itinera.planners.motion.fastest import TimeBounds

_MAP = "Map"


def fastest(
    map_file: Annotated[
        Path, typer.Argument(metavar="MAP", help="ROS map (.yaml), or image of a floor plan, light where free.")
    ],
    start: Annotated[str, typer.Option(help="Start pose in the map's frame: x,y,degrees (counter-clockwise from +x).")],
    goal: Annotated[str, typer.Option(help="Goal in the map's frame: x,y.")],
    goal_radius: options.GoalRadius = 0.0,
    dynamics: options.RobotDynamics = "unicycle",
    vmax: options.RobotVmax = 0.25,
    wmax: options.RobotWmax = 10.0,
    radius: options.RobotRadius = 0.2,
    reverse: options.RobotReverse = False,
    metres_per_pixel: Annotated[
        float | None,
        typer.Option(help="Scale of an image, whose lower left corner is (0, 0).", rich_help_panel=_MAP),
    ] = None,
    unknown: Annotated[
        str,
        typer.Option(
            help="Whether unknown cells are blocked or free.",
            autocompletion=lambda: ["blocked", "free"],
            rich_help_panel=_MAP,
        ),
    ] = "blocked",
    trees: Annotated[
        int, typer.Option(help="Number of random trees (RRT*) that search for a faster drive.", min=0)
    ] = 4,
    seed: options.Seed = 0,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the drives, or both ends where there is none, on the map (.png or .svg).")
    ] = None,
    json: options.Json = False,
) -> None:
    """Bound the fastest time of a robot from a pose to a goal, and find the drive that proves the upper bound.

    Times of a point-turn robot and of the shortest path are printed for comparison. The time is inf if the goal is
    unreachable. If the robot cannot be at the start or at the goal, the message states why, the nearest free point and
    the extent of the map.

    Example: itinera fastest map.yaml --start 1.0,2.0,90 --goal 4.5,3.0 --figure drive.png
    """
    from itinera import api

    x, y, degrees, *point = _parse_ends(start, goal)
    found = api.fastest(
        map_file,
        (x, y, math.radians(degrees)),
        point,
        dynamics=dynamics,
        vmax=vmax,
        wmax=math.radians(wmax),
        reverse=reverse,
        radius=radius,
        goal_radius=goal_radius,
        resolution=metres_per_pixel,
        unknown=unknown,  # type: ignore[arg-type]
        trees=trees,
        seed=seed,
        figure=figure,
    )
    if json:
        output.print_json(_to_json(found))
    else:
        _print(map_file.name, found, radius)


def _parse_ends(start: str, goal: str) -> list[float]:
    """x, y, degrees of the start, then x, y of the goal."""
    values: list[float] = []
    problems = []
    for option, text, shape in (("--start", start, "x,y,degrees"), ("--goal", goal, "x,y")):
        try:
            numbers = [float(part) for part in text.split(",")]
        except ValueError:
            numbers = []
        if len(numbers) != len(shape.split(",")) or not all(map(math.isfinite, numbers)):
            problems.append(f"{option} must be {shape}, numbers separated by commas, not {text!r}.")
        values += numbers
    if problems:
        raise BadArgument("\n".join(problems))
    return values


def _to_json(found: TimeBounds) -> dict[str, Any]:
    assert found.dynamics is not None
    by_name = {found.dynamics.name: found, **found.alternatives}
    turning, shortest = by_name.get("point-turn"), by_name["holonomic"]
    reason = {"reason": found.reason} if found.reason else {}
    return {
        "dynamics": found.dynamics.name,
        "time_s": {"lower": _encode(found.lower), "upper": _encode(found.upper)},
        "length_m": None if found.drive is None else found.drive.length,
        "point_turn_time_s": None if turning is None else _encode(turning.upper),
        "shortest_length_m": None if shortest.drive is None else shortest.drive.length,
        "path": [] if found.drive is None else found.drive.sample(found.dynamics).tolist(),
        **reason,
    }


def _encode(seconds: float) -> float | str:
    return seconds if math.isfinite(seconds) else "inf"


def _print(name: str, found: TimeBounds, radius: float) -> None:
    assert found.dynamics is not None
    limits = f"{found.dynamics.vmax:g} m/s"
    if math.isfinite(found.dynamics.wmax):
        limits += f", {math.degrees(found.dynamics.wmax):g} °/s"
    robot = f"{found.dynamics.name}, {limits}, radius {radius:g} m"
    if found.drive is None:
        unreachable = math.isinf(found.lower)
        reason = "inf: the goal is unreachable" if unreachable else f"{found.lower:.2f} – inf s: no drive was found"
        output.print_line(f"{name}: {reason} ({robot}).")
        if found.reason:
            output.print_text(found.reason)
        return
    output.print_line(f"{name}: {found.lower:.2f} – {found.upper:.2f} s, {found.drive.length:.2f} m driven ({robot}).")
    for other, bounds in found.alternatives.items():
        if bounds.drive is None:
            continue
        if other == "holonomic":
            output.print_line(f"The shortest path is {bounds.drive.length:.2f} m, {bounds.upper:.2f} s at full speed.")
        else:
            slower = bounds.upper / found.upper - 1 if found.upper else 0.0
            output.print_line(f"With {other}s: {bounds.upper:.2f} s, {slower:+.1%}, {bounds.drive.length:.2f} m.")
