"""The teacher of decisions: how far the expert's way is straight, from any pose, by the distance field of the goal."""

from __future__ import annotations

import math

import numpy as np

from itinera.agents.decisions import BIN, MAX_STEPS, STOP_HERE, Decision, bearing_bin
from itinera.planners.motion.geodesic_follower import FollowedPath, follow_geodesic
from itinera.simulators.ground import FORWARD, wrap_angle
from itinera.tasks import Protocol
from itinera.worlds import Array, Pose
from itinera.worlds.distance_field import DistanceField
from itinera.worlds.surface import Surface

STOP_DISTANCE = 0.75  # metres from the goal at which the teacher stops
DEVIATION = 0.12  # metres that the expert's way may lie beside a straight one
MIN_GAIN = 0.3  # share of a step by which the first step of a decision must lead nearer
LOOK_AHEAD = 48  # actions of the expert: enough for a full turn and MAX_STEPS with some turns between


def teach(surface: Surface, field: DistanceField, pose: Pose, protocol: Protocol) -> Decision:
    """The decision towards the farthest place of the expert's next steps to which its way is straight; or to stop."""
    assert protocol.step_size is not None
    assert protocol.turn_angle is not None
    position = np.asarray(pose.place, dtype=np.float64)
    if float(field.distances(position[None])[0]) <= STOP_DISTANCE:
        return STOP_HERE
    trail = follow_geodesic(
        surface,
        pose,
        field,
        step=protocol.step_size,
        turn=protocol.turn_angle,
        radius=protocol.step_size,
        sliding=bool(protocol.sliding),
        max_actions=LOOK_AHEAD,
    )
    moved = np.linalg.norm(np.diff(trail.positions[:, :2], axis=0), axis=1) > 1e-6
    way = trail.positions[1:][moved][:, :2] - position[:2]
    if not len(way):
        return STOP_HERE  # the expert gives up
    reach = way[straight_length(way, MAX_STEPS * protocol.step_size)]
    angle = wrap_angle(math.atan2(reach[1], reach[0]) - pose.heading)
    steps = round(float(np.linalg.norm(reach)) / protocol.step_size)
    decision = Decision(bearing_bin(angle), min(max(steps, 1), MAX_STEPS))
    heading = pose.heading + decision.bin * BIN
    after = surface.advance(position, heading, protocol.step_size, sliding=bool(protocol.sliding))
    here, there = field.distances(np.stack([position, after]))
    if here - there >= MIN_GAIN * protocol.step_size:
        return decision
    return _first_steps(trail, pose)


def _first_steps(trail: FollowedPath, pose: Pose) -> Decision:
    """The expert's own next steps: near a corner, the bin of a place farther on may lead into the wall."""
    first = int(np.argmax(trail.actions == FORWARD))
    steps = 1
    while steps < MAX_STEPS and trail.actions[first + steps] == FORWARD:
        steps += 1
    return Decision(bearing_bin(wrap_angle(float(trail.headings[first]) - pose.heading)), steps)


def straight_length(way: Array, reach: float, deviation: float = DEVIATION) -> int:
    """The index of the farthest place of a way (n, 2) from the origin, within reach, to which it is straight."""
    best = 0
    for k in range(1, len(way)):
        length = float(np.linalg.norm(way[k]))
        if length > reach + 1e-6:
            break
        if length < 1e-9:
            continue
        across = np.abs(way[:k, 0] * way[k, 1] - way[:k, 1] * way[k, 0]) / length
        if across.max() < deviation:
            best = k
    return best
