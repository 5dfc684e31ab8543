"""MuJoCo models (MJCF): every surface of a house as boxes and convex meshes, one static body per object.

Frame and units are ours: z up, metres. The model is one .xml file without assets. Bodies are named "12_chair"; those of
the building are "0_wall", "0_floor", …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from itinera.formats.scene_export.convex_pieces import Box, Hull, Piece, find_pieces
from itinera.hearth.build import House
from itinera.worlds import Array
from itinera.worlds.labels import MPCAT40

TIMESTEP = 0.002  # seconds


def encode_mjcf(house: House) -> bytes:
    """The MJCF file of a house. Include it from the model of a robot, or add one to its world."""
    pieces = find_pieces(house.mesh)
    hulls = {id(piece): f"m{i}" for i, piece in enumerate(p for p in pieces if isinstance(p.shape, Hull))}
    lines = [
        f'<mujoco model="{house.id}">',
        '  <compiler angle="radian" autolimits="true"/>',
        f'  <option timestep="{TIMESTEP}" integrator="implicitfast"/>',
        '  <visual><headlight ambient=".5 .5 .5" diffuse=".5 .5 .5"/><map znear=".005"/></visual>',
        '  <statistic extent="10"/>',
        "  <default>",
        '    <default class="house"><geom contype="1" conaffinity="2" condim="3" friction=".8 .005 .0001"/></default>',
        "  </default>",
        "  <asset>",
        *(_mesh(hulls[id(piece)], piece.shape) for piece in pieces if isinstance(piece.shape, Hull)),
        "  </asset>",
        "  <worldbody>",
        *_bodies(pieces, hulls),
        "  </worldbody>",
        "</mujoco>",
        "",
    ]
    return "\n".join(lines).encode()


def _mesh(name: str, hull: Hull) -> str:
    return f'    <mesh name="{name}" vertex="{_numbers(hull.points.ravel())}"/>'


def _bodies(pieces: Sequence[Piece], hulls: dict[int, str]) -> Iterator[str]:
    for (instance, category), members in groupby(pieces, key=lambda piece: (piece.instance, piece.category)):
        yield f'    <body name="{instance}_{MPCAT40[category]}" childclass="house">'
        for piece in members:
            yield f'      <geom {_shape(piece, hulls)} rgba="{_numbers(np.array([*piece.color, 255]) / 255)}"/>'
        yield "    </body>"


def _shape(piece: Piece, hulls: dict[int, str]) -> str:
    if isinstance(piece.shape, Box):
        box = piece.shape
        turned = "" if np.allclose(box.axes, np.eye(3)) else f' xyaxes="{_numbers(box.axes[:2].ravel())}"'
        return f'type="box" pos="{_numbers(box.center)}" size="{_numbers(box.half)}"{turned}'
    return f'type="mesh" mesh="{hulls[id(piece)]}"'


def _numbers(values: Array) -> str:
    """Numbers to a hundredth of a millimetre, without trailing zeros."""
    return " ".join(f"{value:.5f}".rstrip("0").rstrip(".") or "0" for value in np.asarray(values, np.float64) + 0.0)
