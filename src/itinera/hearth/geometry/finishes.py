"""Finishes: the materials and colors of a building's floors, walls, facade and roof, in harmony within a house."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from itinera.hearth.geometry.solids import Color
from itinera.hearth.layout.plan import FloorPlan, PlannedRoom


@dataclass(frozen=True)
class Finish:
    """The color and the material of a surface."""

    color: Color
    material: str


@dataclass(frozen=True)
class Finishes:
    """The finishes of a whole house."""

    floors: tuple[Finish, ...]  # by room
    walls: tuple[Finish, ...]  # by room
    treads: Finish
    facade: Finish
    roof: Finish
    fences: Mapping[str, str]  # the style of fence by kind of room outdoors


@dataclass(frozen=True)
class Scheme:
    """Colors that suit each other."""

    wood: Color
    tile: Color
    carpet: Color
    walls: tuple[Color, ...]  # the first for halls and public rooms, the others for private rooms
    papers: tuple[Color, ...]  # wallpapers


SCHEMES: Sequence[Scheme] = (
    Scheme(
        (182, 138, 92),
        (214, 206, 190),
        (196, 182, 158),
        ((240, 235, 224), (232, 220, 200), (222, 206, 184), (214, 220, 206)),
        ((206, 186, 150), (188, 200, 178), (212, 178, 160)),
    ),
    Scheme(
        (150, 108, 70),
        (200, 200, 196),
        (168, 164, 158),
        ((238, 238, 234), (220, 224, 226), (206, 214, 220), (226, 218, 206)),
        ((160, 178, 192), (186, 190, 176), (200, 190, 170)),
    ),
    Scheme(
        (204, 170, 126),
        (222, 220, 214),
        (206, 200, 188),
        ((244, 243, 239), (236, 234, 226), (214, 226, 226), (236, 226, 220)),
        ((178, 204, 200), (216, 196, 190), (196, 206, 222)),
    ),
    Scheme(
        (112, 78, 52),
        (188, 180, 168),
        (150, 138, 124),
        ((234, 226, 210), (222, 208, 186), (198, 186, 168), (190, 200, 186)),
        ((170, 132, 104), (150, 164, 140), (186, 162, 120)),
    ),
    Scheme(
        (158, 126, 96),
        (176, 182, 184),
        (172, 178, 186),
        ((236, 238, 240), (218, 224, 232), (228, 228, 222), (208, 218, 212)),
        ((146, 164, 188), (176, 186, 196), (190, 200, 190)),
    ),
)
FACADES: Sequence[tuple[Finish, float]] = (
    (Finish((156, 84, 66), "brick"), 0.2),
    (Finish((176, 120, 88), "brick"), 0.1),
    (Finish((196, 178, 148), "brick"), 0.07),
    (Finish((238, 234, 224), "plaster"), 0.18),
    (Finish((232, 216, 180), "plaster"), 0.11),
    (Finish((206, 210, 208), "plaster"), 0.07),
    (Finish((214, 178, 140), "plaster"), 0.05),
    (Finish((176, 170, 158), "stone"), 0.1),
    (Finish((150, 116, 84), "planks"), 0.06),
    (Finish((210, 214, 212), "planks"), 0.06),
)
"""Facades and their frequencies."""
ROOFS: Sequence[Color] = ((142, 74, 54), (84, 84, 88), (112, 82, 64), (70, 74, 84), (120, 62, 50))
CONCRETE: Color = (152, 152, 148)
STONE: Color = (172, 164, 150)
GRASS: Sequence[Color] = ((96, 138, 66), (108, 146, 72), (88, 126, 62))
GRAVEL: Color = (184, 174, 156)
DECK: Color = (150, 112, 78)
WALL_TILES: Sequence[Color] = ((226, 230, 230), (206, 220, 226), (222, 216, 204), (200, 212, 204))

GARDEN_FENCES = ("hedge", "boards", "wall", "hedge")
TERRACE_FENCES = ("rails", "low wall", "hedge")
BALCONY_FENCES = ("bars", "glass", "bars", "rails")


def draw_finishes(plan: FloorPlan, rng: np.random.Generator) -> Finishes:
    """The finishes of a house: one scheme, and few materials."""
    scheme = SCHEMES[int(rng.integers(len(SCHEMES)))]
    ground = _ground_materials(rng)
    facade = _pick_facade(rng)
    grass = GRASS[int(rng.integers(len(GRASS)))]
    tiles = Finish(WALL_TILES[int(rng.integers(len(WALL_TILES)))], "tile")
    floors = tuple(_floor(room, ground, scheme, grass) for room in plan.rooms)
    walls = [_wall(room, scheme, tiles, rng) for room in plan.rooms]
    for stairs in plan.staircases:
        walls[stairs.rooms[1]] = walls[stairs.rooms[0]]  # one color per stairwell
    roof = Finish(ROOFS[int(rng.integers(len(ROOFS)))], "shingles")
    treads = Finish(scheme.carpet if ground["s"] == "carpet" else scheme.wood, ground["s"])
    choices = {"x": GARDEN_FENCES, "p": TERRACE_FENCES, "y": BALCONY_FENCES}
    fences = {kind: options[int(rng.integers(len(options)))] for kind, options in choices.items()}
    return Finishes(floors, tuple(walls), treads, facade, roof, MappingProxyType(fences))


def _ground_materials(rng: np.random.Generator) -> dict[str, str]:
    """The floor material by kind of room; planks for all others."""

    def draw(**weights: float) -> str:
        total = sum(weights.values())
        return str(rng.choice(list(weights), p=[weight / total for weight in weights.values()]))

    bedroom, kitchen = draw(planks=0.55, carpet=0.45), draw(tile=0.6, planks=0.4)
    hall, wet = draw(planks=0.65, tile=0.2, stone=0.15), draw(tile=0.9, stone=0.1)
    terrace, balcony = draw(stone=0.4, planks=0.35, tile=0.15, concrete=0.1), draw(tile=0.5, planks=0.3, concrete=0.2)
    return {
        **dict.fromkeys("bcv", bedroom),
        "k": kitchen,
        **dict.fromkeys("eh", hall),
        **dict.fromkeys("atjS", wet),
        **dict.fromkeys("gu", "concrete"),
        "p": terrace,
        "y": balcony,
        "x": draw(grass=0.85, gravel=0.15),
        "s": draw(planks=0.8, carpet=0.2),
    }


def _floor(room: PlannedRoom, ground: Mapping[str, str], scheme: Scheme, grass: Color) -> Finish:
    material = "planks" if room.kind == "s" else ground.get(room.kind, "planks")
    colors = {
        "planks": DECK if room.outdoor else scheme.wood,
        "tile": scheme.tile,
        "carpet": scheme.carpet,
        "stone": STONE,
        "concrete": CONCRETE,
        "grass": grass,
        "gravel": GRAVEL,
    }
    return Finish(colors[material], material)


def _wall(room: PlannedRoom, scheme: Scheme, tiles: Finish, rng: np.random.Generator) -> Finish:
    chance, pick = float(rng.random()), float(rng.random())
    if room.kind in "atS" and chance < 0.75:
        return tiles
    if room.kind in "gu":
        return Finish(CONCRETE, "concrete") if chance < 0.4 else Finish(scheme.walls[0], "plaster")
    if room.kind in "bdlio" and chance < 0.22:
        return Finish(scheme.papers[int(pick * len(scheme.papers))], "wallpaper")
    if room.kind in "heskld" and chance < 0.75:
        return Finish(scheme.walls[0], "plaster")
    return Finish(scheme.walls[int(pick * len(scheme.walls))], "plaster")


def _pick_facade(rng: np.random.Generator) -> Finish:
    weights = np.cumsum([weight for _, weight in FACADES])
    return FACADES[int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))][0]
