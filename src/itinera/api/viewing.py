"""Pictures of maps, houses, seasons, scenes and navigation graphs, and the walk-through page of a house."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from itinera.errors import BadArgument, BadFile, Fault, ItineraError, validate_choice

if TYPE_CHECKING:
    from itinera.formats.catalog import Head
    from itinera.hearth.build import House
    from itinera.reports.charts.scenes import ScenePanel, ViewImage
    from itinera.tasks import Episode
    from itinera.worlds import NavGraph, World

    MakePanels: TypeAlias = Callable[[str, bool], list[ScenePanel]]

File: TypeAlias = str | PathLike[str]
ViewKind: TypeAlias = Literal["house", "season", "map", "floor plan", "scenes", "graphs"]
MAX_PANELS = 400
RADIUS, HEIGHT = 0.1, 1.5  # metres, of the robot for which the ground of a scene is computed
_HOUSE = re.compile(r"-?\d+|hearth-.*")
_PICTURES = (b"\x89PNG", b"BM", b"\xff\xd8", b"P2", b"P5")
_MESHES = (".glb", ".gltf", ".obj", ".ply")
# Which options apply to what is drawn; the others are refused.
_OPTIONS: dict[ViewKind, tuple[str, ...]] = {
    "house": ("season", "paths", "appearance"),
    "season": ("scenes",),
    "map": ("radius",),
    "floor plan": ("radius", "resolution"),
    "scenes": ("scenes", "radius", "up"),
    "graphs": ("scenes",),
}
_OF_A_HOUSE = ("house", "secret", "paths", "appearance")  # of a season's house
PAGE = ".html"


def view(
    source: int | File,
    out: File,
    *,
    kind: Literal["plan", "inside"] = "plan",
    appearance: str | None = None,
    house: int | str | None = None,
    secret: File | None = None,
    season: int | None = None,
    paths: int = 0,
    scenes: Sequence[str | int] = (),
    radius: float | None = None,
    resolution: float | None = None,
    up: Literal["y", "z"] | None = None,
) -> ViewImage:
    """Draw a map, a Hearth house or season, scenes or navigation graphs into one .png, .svg or .html file.

    A name in .html gets the walk-through of a house, a 3D page with its navigation graph and episodes; the others
    get pictures from above.

    source: what to draw, recognized by its content:
        - the index of a Hearth house, 7, or its id, "hearth-1-007": its floor plan with furniture and viewpoints;
        - the folder of a Hearth season: the floor plans of its houses;
        - a ROS map (.yaml), or an image of a floor plan, whose scale is `resolution` in metres per pixel;
        - a scene (.glb, .gltf, .obj, .ply) or a folder of scenes, cut open, with the ground that a robot can reach;
        - navigation graphs: a connectivity folder or archive, a connectivity file, or a JSON file of graphs.
    kind: "inside" renders views of three rooms of a house, as .png, instead of its floor plan.
    appearance: of these views: "day" (the default), "evening", "lamps" or "flat"; "day:7" randomizes it by a seed.
    house: the index or id of a house of the season in the folder `source`; its page shows the season's episodes.
    secret: the secret file of a secret season; by default that of the folder of answers beside it.
    season: the seed of a house's season; by default that of the id, or 1.
    paths: the number of paths to draw on the floor plan of a house, by default none; on its page, by default all.
    scenes: ids of the houses, scenes or scans to draw; by default all. Houses may be given by index.
    radius: of a robot, metres: where it fits on a map, or walks in a scene (there by default 0.1).
    up: the up axis of scene files that break the convention of their format.

    >>> import itinera
    >>> itinera.view(7, "plan.png", paths=2).counts["rooms"]  # doctest: +SKIP
    >>> itinera.view("hearth", "house.html", house=1)  # doctest: +SKIP
    >>> itinera.view("map.yaml", "map.png", radius=0.2)  # doctest: +SKIP
    >>> itinera.view("connectivity/", "scans.svg", scenes=["8WUmhLawc2A"])  # doctest: +SKIP
    """
    from itinera.formats.io import check_outputs

    validate_choice("kind", kind, ("plan", "inside"))
    if up is not None:
        validate_choice("up", up, ("y", "z"))
    found = _recognize(source)
    one_house = found == "house" or (found == "season" and house is not None)
    given: dict[str, object] = {
        "house": house,
        "secret": secret,
        "season": season,
        "paths": paths or None,
        "scenes": scenes or None,
    }
    given |= {"radius": radius, "resolution": resolution, "up": up}
    given["appearance"] = appearance
    given["inside"] = None if kind == "plan" or one_house else kind
    used = _OF_A_HOUSE if one_house and found == "season" else _OPTIONS[found]
    _refuse_unused(str(source), found, used, [name for name, value in given.items() if value is not None])
    file = _check_output(Path(out), kind, one_house=one_house, found=found)
    check_outputs([file], [source, secret])
    if one_house:
        chosen = _ChosenHouse.of(source, house, season, None if secret is None else Path(secret))
        if appearance is not None and kind != "inside":
            raise BadArgument(
                '--appearance (appearance=) is that of views of rooms: give --inside (kind="inside") too.'
            )
        return _draw_house(chosen, file, kind, paths, appearance or "day")
    path = Path(source)  # type: ignore[arg-type]
    if found in ("map", "floor plan"):
        return _draw_map(path, file, radius, resolution)
    names, make_panels = _find_scenes(path, found, RADIUS if radius is None else radius, up)
    return _draw_scenes(path, file, found, select_names(str(path), names, scenes), make_panels)


def _check_output(out: Path, kind: str, *, one_house: bool, found: ViewKind) -> Path:
    """The path, if what is drawn can be written to a file of this name."""
    if out.suffix == PAGE and kind == "plan":
        if one_house:
            return out
        remedy = " Choose one of the season (--house)." if found == "season" else ""
        raise BadArgument(f"A walk-through page ({out}) shows one house of Hearth.{remedy}")
    from itinera.reports.charts.floor_plans import check_image_path

    suffixes = (".png",) if kind == "inside" else (".png", ".svg")
    return check_image_path(out, suffixes=suffixes)


def _recognize(source: int | File) -> ViewKind:
    """What a source contains."""
    if isinstance(source, int) or not os.path.exists(source):
        if isinstance(source, int) or _HOUSE.fullmatch(str(source)):
            return "house"
        raise BadArgument(
            f"{str(source)!r} is not a house. Give an index, such as 7, or an id, such as hearth-1-007; or the path of "
            "a map, a season, a scene or navigation graphs: there is no file or folder of this name."
        )
    path = Path(source)
    if os.path.isdir(path):
        return _recognize_folder(path)
    from itinera.formats import catalog
    from itinera.formats.io import open_file

    with open_file(path) as stream:
        magic = stream.read(4)
    if magic == b"glTF" or path.suffix in _MESHES:
        return "scenes"
    if magic.startswith(_PICTURES):
        return "floor plan"
    if catalog.ARCHIVE.search(path.name):
        return "graphs"
    head = catalog.read_head(path)
    if _is_scan(head) or catalog.BY_NAME["graphs"].recognizes(head):
        return "graphs"
    if path.suffix.lower() in (".yaml", ".yml") or catalog.MAPS[0].recognizes(head):
        return "map"
    raise BadFile(str(path), [_not_drawn(path)])


def _recognize_folder(path: Path) -> ViewKind:
    from itinera.formats import catalog
    from itinera.formats.io import members
    from itinera.formats.matterport import SUFFIX
    from itinera.formats.scenes import find_scenes

    if os.path.exists(catalog.season_file(path)):
        return "season"
    if members(path, SUFFIX):
        return "graphs"
    if find_scenes(path):
        return "scenes"
    maps = sorted(file.relative_to(path).as_posix() for ending in ("yaml", "yml") for file in path.rglob(f"*.{ending}"))
    problem = "contains no Hearth season, connectivity files or scenes."
    remedy = (
        f"Give one of its maps: {', '.join(maps[:9])}." if maps else "Give the path of a map, season, scene or graph."
    )
    raise BadFile(str(path), [Fault("", problem, remedy)])


def _is_scan(head: Head) -> bool:
    """Whether a file is one of a connectivity folder."""
    return head.keys.issuperset({"image_id", "unobstructed", "pose"}) and head.begins(r"\[")


def _not_drawn(path: Path) -> Fault:
    """The fault of a file that is neither map nor scene nor graph."""
    from itinera.formats.catalog import detect

    expected = "Give a ROS map, an image of a floor plan, a season, a scene or navigation graphs."
    try:
        known = detect(path)
    except ItineraError:
        return Fault("", "is no map, scene or navigation graph.", expected)
    return Fault("", f"holds {known.about} ({known.kind}), which itinera view does not draw.", expected)


def _refuse_unused(source: str, found: ViewKind, used: Sequence[str], given: Sequence[str]) -> None:
    flags = {"scenes": "--scene", "resolution": "--metres-per-pixel"}
    unused = [f"{name} ({flags.get(name, '--' + name)})" for name in given if name not in used]
    if unused:
        what = {"season": "a Hearth season", "house": "a Hearth house", "map": "a ROS map", "floor plan": "an image"}
        raise BadArgument(
            f"{source} is {what.get(found, found)}, which does not use {', '.join(unused)}. Leave it out."
        )


@dataclass(frozen=True)
class _ChosenHouse:
    """A house to draw: of a seed, or of a built season."""

    seed: int
    index: int
    id: str  # empty for the name that the seed gives
    folder: Path | None = None  # of the season that has its tasks

    @classmethod
    def of(cls, source: int | File, house: int | str | None, season: int | None, secret: Path | None) -> _ChosenHouse:
        if house is None:
            from itinera.hearth.season import parse_house

            return cls(*parse_house(str(source), season), "")
        from itinera.formats.season_tasks import read_season_houses

        folder = Path(source)  # type: ignore[arg-type]
        houses = read_season_houses(folder, secret=secret)
        (name,) = select_names(str(folder), sorted(houses), [house], option="--house")
        return cls(*houses[name], name, folder)

    def build(self) -> tuple[House, NavGraph]:
        from itinera.builders.hearth import build_house_graph

        return build_house_graph(self.seed, self.index, id=self.id)

    def build_with_tasks(self) -> tuple[House, NavGraph, dict[str, tuple[Episode, ...]]]:
        """The house, its graph and its episodes: those of the season's files, or all that the seed gives."""
        from itinera.hearth.season import paths_per_split

        counts = paths_per_split(self.index)
        if self.folder is not None:
            from itinera.formats.season_tasks import read_house_tasks

            house, graph = self.build()
            return house, graph, read_house_tasks(self.folder, house.id, counts)
        from itinera.builders.hearth import build_annotated_house, build_tasks

        annotated = build_annotated_house(self.seed, self.index)
        tasks: dict[str, tuple[Episode, ...]] = {}
        for split, one in build_tasks(annotated, counts).items():
            tasks |= {f"R2R {split}": one.graph_episodes, f"REVERIE {split}": one.object_goals}
        return annotated.house, annotated.graph, tasks


def _draw_house(chosen: _ChosenHouse, file: Path, kind: str, paths: int, appearance: str) -> ViewImage:
    from itinera.reports.charts.scenes import ViewImage

    if paths < 0 or (paths and kind == "inside"):
        raise BadArgument(f"paths (--paths) is a number of paths to draw on the floor plan (got {paths}).")
    more: dict[str, int] = {}
    if file.suffix == PAGE:
        built, graph, tasks = chosen.build_with_tasks()
        more["episodes"] = _write_walkthrough(built, graph, tasks, file, paths)
    else:
        built, graph = chosen.build()
        _draw_picture(chosen, built, graph, file, kind, paths, appearance)
    counts = {"rooms": len(built.plan.rooms), "viewpoints": len(graph.nodes), "triangles": len(built.mesh.faces)}
    counts |= more
    return ViewImage(file, "house", (built.id,), counts, f"{built.id}, {_list_counts(counts)}")


def _draw_picture(
    chosen: _ChosenHouse, built: House, graph: NavGraph, file: Path, kind: str, paths: int, appearance: str
) -> None:
    from itinera.reports.charts.floor_plans import draw_plan, draw_views

    if kind == "plan":
        from itinera.builders.hearth import sample_house_paths
        from itinera.hearth.season import paths_per_split

        every = sum(paths_per_split(chosen.index).values())
        draw_plan(built, file, graph=graph, paths=sample_house_paths(graph, chosen.seed, chosen.index, every)[:paths])
    else:
        from itinera.hearth.interior_views import render_interior
        from itinera.rendering.appearance import parse_appearance

        draw_views(render_interior(built, graph, appearance=parse_appearance(appearance)), file)


def _write_walkthrough(
    built: House, graph: NavGraph, tasks: Mapping[str, Sequence[Episode]], file: Path, paths: int
) -> int:
    """Write the page; returns the number of its episodes."""
    from itinera.reports.walkthrough.make import make_walkthrough
    from itinera.reports.walkthrough.page import write_walkthrough_page

    if paths:
        kept = {name: set(list(dict.fromkeys(e.path_id for e in some))[:paths]) for name, some in tasks.items()}
        tasks = {name: [e for e in some if e.path_id in kept[name]] for name, some in tasks.items()}
    walkthrough = make_walkthrough(built, graph, tasks)
    write_walkthrough_page(file, walkthrough)
    return len(walkthrough.episodes)


def _draw_map(path: Path, file: Path, radius: float | None, resolution: float | None) -> ViewImage:
    import numpy as np

    from itinera.api.planning import YAML, read_map
    from itinera.reports.charts.maps import draw_map
    from itinera.reports.charts.scenes import ViewImage

    unknown, unit = None, "metres"
    if path.suffix.lower() in YAML:
        from itinera.formats.rosmap import find_unknown_cells

        grid, unknown = read_map(path), find_unknown_cells(path)
    elif resolution is not None:
        grid = read_map(path, resolution=resolution)
    elif radius is not None:
        raise BadArgument(f"{path} has no scale: give resolution (--metres-per-pixel) with radius (--radius).")
    else:
        grid, unit = read_map(path, resolution=1.0), "pixels"
    draw_map(grid, file, title=path.name, radius=radius or 0.0, unknown=unknown, unit=unit)
    labels = grid.components(radius or 0.0)
    area, regions = np.count_nonzero(labels) * grid.resolution**2, int(labels.max())
    (x0, y0), (x1, y1) = grid.bounds
    counts = {"x_min": x0, "x_max": x1, "y_min": y0, "y_max": y1, "free_area": area, "regions": regions}
    short = "m" if unit == "metres" else unit
    cells = f"cells of {grid.resolution:g} m, {area:.1f} m²" if unit == "metres" else f"{area:.0f} pixels"
    robot = "" if radius is None else f" for a robot of radius {radius:g} m"
    extent = f"x from {x0:.2f} to {x1:.2f} {short}, y from {y0:.2f} to {y1:.2f} {short}"
    summary = f"{path.name}, {extent}, {cells} free{robot} in {regions} region{'s' if regions != 1 else ''}"
    return ViewImage(file, "map", (path.name,), {k: float(v) for k, v in counts.items()}, summary)


def _find_scenes(
    path: Path, found: ViewKind, radius: float, up: Literal["y", "z"] | None
) -> tuple[Sequence[str], MakePanels]:
    """The names of the scenes, and the function that makes the panels of one, alone or among several."""
    from itinera.reports.charts.scenes import graph_panels, house_panels, surface_panels

    if found == "season":
        from itinera.formats.hearth_season import season_houses

        houses = season_houses(path)
        if houses is not None:
            from itinera.hearth.build import build_house

            return sorted(houses), lambda name, alone: house_panels(build_house(*houses[name], id=name))
        # The houses of a sealed season cannot be built again, but their graphs are there.
    if found == "scenes":
        worlds = _read_meshes(path, radius, up)
        return list(worlds), lambda name, alone: surface_panels(worlds[name])
    graphs = _read_graphs(path)
    return list(graphs), lambda name, alone: graph_panels(graphs[name], together=not alone)


def _read_meshes(path: Path, radius: float, up: Literal["y", "z"] | None) -> Mapping[str, World]:
    from itinera.formats.scenes import read_world, read_worlds

    if path.is_dir():
        return read_worlds(path, radius=radius, height=HEIGHT, up=up)
    return {path.stem: read_world(path, radius=radius, height=HEIGHT, up=up)}


def _read_graphs(path: Path) -> Mapping[str, World]:
    from itinera.formats import catalog
    from itinera.formats.matterport import read_scan

    if os.path.isfile(path) and not catalog.ARCHIVE.search(path.name) and _is_scan(catalog.read_head(path)):
        world = read_scan(path)
        return {world.id: world}
    return catalog.read_worlds(path)


def select_names(
    source: str, names: Sequence[str], scenes: Sequence[str | int], *, option: str = "--scene"
) -> list[str]:
    """The names of the selected scenes, in their order; all if none is selected. A house may be given by its index."""
    if not scenes:
        return list(names)
    selected, missing = set(), []
    for one in (scenes,) if isinstance(scenes, str) else scenes:
        text = str(one)
        index = re.compile(rf".+-0*{int(text)}") if text.isdecimal() else None
        same = [name for name in names if name == text or (index is not None and index.fullmatch(name))]
        selected.update(same)
        missing += [] if same else [text]
    if missing:
        some = ", ".join(list(names)[:5]) + (", …" if len(names) > 5 else "")
        raise BadArgument(f"{source} has no {option[2:]} {', '.join(missing)} ({option}). It has {len(names)}: {some}")
    return [name for name in names if name in selected]


def _draw_scenes(path: Path, file: Path, found: ViewKind, names: Sequence[str], make_panels: MakePanels) -> ViewImage:
    from itinera.reports.charts.scenes import ViewImage, draw_panels

    if len(names) > MAX_PANELS:
        raise BadArgument(f"{path} has {len(names)} scenes; at most {MAX_PANELS} fit into a picture: choose (--scene).")
    drawn = [panel for name in names for panel in make_panels(name, len(names) == 1)]
    draw_panels(drawn, file)
    noun = {"season": "house", "scenes": "scene"}.get(found, "graph")
    counts = {f"{noun}s": len(names), "panels": len(drawn)}
    what = names[0] if len(names) == 1 else f"{len(names)} {noun}s of {path.name or path}"
    summary = f"{what}, {len(drawn)} panel{'s' if len(drawn) != 1 else ''}"
    return ViewImage(file, found, tuple(names), {k: float(v) for k, v in counts.items()}, summary)


def _list_counts(counts: Mapping[str, float]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
