"""A replay as an image or a video: map, instruction and trajectories, drawn as on the page.

Needs Pillow (extra `maps`); .mp4 also needs imageio with ffmpeg (extra `video`).
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from itinera.errors import BadArgument, MissingExtra
from itinera.formats.writing import atomic_write
from itinera.reports.charts.datasets import COLORS
from itinera.reports.replay.data import ACTING, Label, Replay, ReplayEpisode, ReplayTrajectory, Track, duration

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

    Font = ImageFont | FreeTypeFont

SUPERSAMPLING = 2  # everything is drawn so many times larger and then averaged, which smooths edges
INK, SOFT, BAND, PAPER, HIGHLIGHT = "#1f1e1c", "#55524d", "#bdb8ae", "#ffffff", "#ffdf80"
MARGIN = 16  # pixels around everything
MAX_LINES, MAX_SPAN = 4, 2000  # of the instruction: lines, and characters of an unaligned span
FRAME_RATE = 12  # frames per second
MAX_FRAMES = 900  # of a video; longer episodes are shown faster
HOLD = 8  # frames for which the end of an episode is held
GRAPH_STEP, GROUND_STEP, SECOND = 8.0, 1.0, 3.0  # frames per step on a graph, per step on the ground, per second


def write_image(path: str | Path, replay: Replay, *, index: int = 0, width: int = 1200) -> None:
    """Write the end of an episode as a .png file."""
    image = Painter(replay, width=width).paint(index, duration(replay.episodes[index]))
    with atomic_write(_check_suffix(path, ".png")) as stream:
        image.save(stream, "PNG")


def write_gif(path: str | Path, replay: Replay, *, width: int = 640, max_frames: int = MAX_FRAMES) -> None:
    """Write all episodes one after another as a .gif file."""
    path = _check_suffix(path, ".gif")
    first, *rest = (image.quantize(128) for image in _render_frames(replay, width, max_frames))
    with atomic_write(path) as stream:
        first.save(
            stream, "GIF", save_all=True, append_images=rest, duration=round(1000 / FRAME_RATE), loop=0, optimize=True
        )


def write_mp4(path: str | Path, replay: Replay, *, width: int = 960, max_frames: int = MAX_FRAMES) -> None:
    """Write all episodes one after another as an .mp4 file."""
    path = _check_suffix(path, ".mp4")
    try:
        import imageio.v2 as imageio
        import imageio_ffmpeg  # noqa: F401
    except ImportError:
        raise MissingExtra("Videos", "imageio with ffmpeg", "video") from None
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / path.name
        video: Any
        with imageio.get_writer(draft, fps=FRAME_RATE, codec="libx264", macro_block_size=2, quality=7) as video:
            for image in _render_frames(replay, width, max_frames):
                video.append_data(np.asarray(image))
        with atomic_write(path) as stream:
            stream.write(draft.read_bytes())


def _check_suffix(path: str | Path, suffix: str) -> Path:
    path = Path(path)
    if path.suffix != suffix:
        raise BadArgument(f"The file's name must end in {suffix}, not {path.suffix or 'nothing'!r}: {path}.")
    return path


def _render_frames(replay: Replay, width: int, max_frames: int) -> Iterator[Image]:
    painter = Painter(replay, width=width)
    for index, time in _schedule_frames(replay, max_frames):
        yield painter.paint(index, time)


def _schedule_frames(replay: Replay, max_frames: int) -> list[tuple[int, float]]:
    """The episode and the time of each view."""
    longest = max((len(t.track) for episode in replay.episodes for t in episode.trajectories), default=0)
    pace = SECOND if replay.unit == "s" else GROUND_STEP if longest > 60 else GRAPH_STEP
    wanted = [pace * duration(episode) for episode in replay.episodes]
    speedup = max(1.0, sum(wanted) / max(1, max_frames - HOLD * len(wanted)))
    schedule = []
    for index, (episode, frames) in enumerate(zip(replay.episodes, wanted, strict=True)):
        count = max(2, round(frames / speedup))
        schedule += [(index, float(time)) for time in np.linspace(0.0, duration(episode), count)]
        schedule += [(index, duration(episode))] * HOLD
    return schedule


def find_step(trajectory: ReplayTrajectory, time: float) -> int:
    """The last step reached by a time."""
    if not trajectory.times:
        return min(len(trajectory.track) - 1, math.floor(time + 1e-6))
    return max(0, int(np.searchsorted(trajectory.times, time + 1e-6, side="right")) - 1)


def find_aligned(trajectory: ReplayTrajectory, step: int) -> tuple[int, int]:
    """The first and last reference index aligned with the last acting step up to this one; -1 before any."""
    pairs = np.array(trajectory.alignment, dtype=np.int64).reshape(-1, 2)
    past = pairs[pairs[:, 0] <= step]
    if not len(past):
        return -1, -1
    now = past[past[:, 0] == past[-1, 0], 1]
    return int(now[0]), int(now[-1])


@dataclass(frozen=True)
class _Viewport:
    """Centimetres of a scene to pixels of the image."""

    left: float
    top: float
    x0: float
    y1: float
    scale: float  # pixels per centimetre

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.left + (x - self.x0) * self.scale, self.top + (self.y1 - y) * self.scale


class Painter:
    """Draws frames of a replay, all of one size; the static background of an episode is drawn once."""

    def __init__(self, replay: Replay, *, width: int = 960) -> None:
        try:
            from PIL import Image as images
            from PIL import ImageDraw, ImageFont
        except ImportError:
            raise MissingExtra("Images of replays", "Pillow", "maps") from None
        self._image, self._draw, self._font = images.new, ImageDraw.Draw, ImageFont.load_default
        self._replay = replay
        self._width = width // 2 * 2
        self._font_size = max(11, round(width / 60))  # pixels
        wide = (self._width - 2 * MARGIN) * SUPERSAMPLING
        self._tall = max(
            round(wide * (scene.bounds[3] - scene.bounds[1]) / (scene.bounds[2] - scene.bounds[0]))
            for scene in replay.scenes
        )
        self._tall = min(self._tall, wide)
        self._lines = max((self._count_lines(episode) for episode in replay.episodes), default=0)
        lines = 1.6 + self._lines + 0.6 + len(replay.agents)
        self._height = (round(2 * MARGIN + self._tall / SUPERSAMPLING + lines * self._line) + 1) // 2 * 2
        self._background: dict[tuple[int, int], Image] = {}

    @property
    def _line(self) -> float:
        return 1.45 * self._font_size

    def _scaled(self, width: int) -> int:
        """A line width in pixels of the large drawing, proportional to the size of the image."""
        return max(1, round(width * SUPERSAMPLING * max(0.7, self._width / 900)))

    def paint(self, index: int, time: float) -> Image:
        """The image of an episode at a time."""
        episode = self._replay.episodes[index]
        storey = self._storey(episode, time)
        if (index, storey) not in self._background:
            self._background = {(index, storey): self._draw_background(episode, storey)}
        image = self._background[index, storey].copy()
        pen = self._draw(image)
        view = self._viewport(episode)
        for trajectory in reversed(episode.trajectories):
            self._draw_trajectory(pen, view, episode, trajectory, storey, time)
        small = image.reduce(SUPERSAMPLING)
        self._draw_captions(self._draw(small), episode, time)
        return small

    def _storey(self, episode: ReplayEpisode, time: float) -> int:
        if episode.trajectories:
            return episode.trajectories[0].track.storey[find_step(episode.trajectories[0], time)]
        return episode.reference.storey[0] if len(episode.reference) else 0

    def _viewport(self, episode: ReplayEpisode) -> _Viewport:
        x0, y0, x1, y1 = self._replay.scenes[episode.scene].bounds
        wide = (self._width - 2 * MARGIN) * SUPERSAMPLING
        scale = min(wide / (x1 - x0), self._tall / (y1 - y0))
        left = MARGIN * SUPERSAMPLING + (wide - scale * (x1 - x0)) / 2
        return _Viewport(left, (MARGIN + 1.6 * self._line) * SUPERSAMPLING, x0, y1, scale)

    def _draw_background(self, episode: ReplayEpisode, storey: int) -> Image:
        image = self._image("RGB", (self._width * SUPERSAMPLING, self._height * SUPERSAMPLING), "#ffffff")
        pen, view = self._draw(image), self._viewport(episode)
        scene = self._replay.scenes[episode.scene]
        for drawing in scene.storeys[storey].drawings:
            for ring in drawing.outlines:
                points = [view.at(x, y) for x, y in zip(ring[::2], ring[1::2], strict=True)]
                if drawing.fill:
                    pen.polygon(points, fill=drawing.fill)
                elif drawing.line:
                    pen.line(points, drawing.line, max(1, round(drawing.width * view.scale)), joint="curve")
        image = self._fade(image)
        pen = self._draw(image)
        self._draw_graph(pen, view, episode, storey)
        for label in scene.storeys[storey].labels:
            self._draw_label(pen, view, label)
        self._draw_objects(pen, view, scene.storeys[storey].objects)
        self._draw_task(pen, view, episode, storey)
        # A success radius may be larger than the map: it ends where the captions begin.
        wide, top = image.width, (MARGIN + 1.6 * self._line) * SUPERSAMPLING
        pen.rectangle((0, 0, wide, top - 1), PAPER)
        pen.rectangle((0, top + self._tall, wide, image.height), PAPER)
        return image

    def _fade(self, image: Image) -> Image:
        # Faded, so that paths stand out from the furniture.
        from PIL import Image as images

        return images.blend(image, self._image("RGB", image.size, PAPER), 0.3)

    def _draw_graph(self, pen: ImageDraw, view: _Viewport, episode: ReplayEpisode, storey: int) -> None:
        scene = self._replay.scenes[episode.scene]
        nodes = scene.nodes
        for a, b in zip(scene.edges[::2], scene.edges[1::2], strict=True):
            if storey in (nodes.storey[a], nodes.storey[b]):
                ends = view.at(nodes.x[a], nodes.y[a]), view.at(nodes.x[b], nodes.y[b])
                pen.line(ends, "#b4bfc9", self._scaled(1))
        for x, y, level in zip(nodes.x, nodes.y, nodes.storey, strict=True):
            if level == storey:
                _disc(pen, view.at(x, y), self._scaled(2), "#6d8296")

    def _draw_label(self, pen: ImageDraw, view: _Viewport, label: Label) -> None:
        font = self._font(0.8 * self._font_size * SUPERSAMPLING)
        if font.getlength(label.text) <= label.width * view.scale:
            pen.text(
                view.at(label.x, label.y),
                label.text,
                "#4a4741",
                font,
                "mm",
                stroke_width=SUPERSAMPLING,
                stroke_fill="#fff",
            )

    def _draw_objects(self, pen: ImageDraw, view: _Viewport, objects: Sequence[Label]) -> None:
        """A dot for each object, and its name where it does not cover the name of another."""
        font = self._font(0.7 * self._font_size * SUPERSAMPLING)
        taken: list[tuple[float, float, float, float]] = []
        for label in objects:
            x, y = view.at(label.x, label.y)
            _disc(pen, (x, y), self._scaled(2), "#7a4a12")
            box = pen.textbbox((x + self._scaled(4), y), label.text, font, "lm")
            if not any(box[0] < b[2] and b[0] < box[2] and box[1] < b[3] and b[1] < box[3] for b in taken):
                taken.append(box)
                pen.text((x + self._scaled(4), y), label.text, "#7a4a12", font, "lm", stroke_width=SUPERSAMPLING,
                         stroke_fill="#fff")  # fmt: skip

    def _draw_task(self, pen: ImageDraw, view: _Viewport, episode: ReplayEpisode, storey: int) -> None:
        for path in _pieces(episode.reference, view, storey, lambda k: True):
            pen.line(path, BAND, self._scaled(11), joint="curve")
            _dashed(pen, path, INK, self._scaled(3), (self._scaled(8), self._scaled(6)))
        for path in _pieces(episode.fastest, view, storey, lambda k: True):
            _dashed(pen, path, COLORS[5], self._scaled(3), (self._scaled(9), self._scaled(3)))
        for k, (x, y, level) in enumerate(zip(*_columns(episode.reference), strict=True)):
            if level == storey:
                _disc(
                    pen,
                    view.at(x, y),
                    self._scaled(6 if k == 0 else 4),
                    "#ffffff",
                    INK,
                    self._scaled(2 if k == 0 else 1),
                )
        for x, y, level in zip(*_columns(episode.goals), strict=True):
            if level == storey:
                _ring(pen, view.at(x, y), self._replay.success_radius * view.scale)
                _star(pen, view.at(x, y), self._scaled(14))

    def _draw_trajectory(
        self,
        pen: ImageDraw,
        view: _Viewport,
        episode: ReplayEpisode,
        trajectory: ReplayTrajectory,
        storey: int,
        time: float,
    ) -> None:
        step, color = find_step(trajectory, time), COLORS[trajectory.agent % len(COLORS)]
        if trajectory is episode.trajectories[0]:
            self._draw_alignment(pen, view, episode, trajectory, storey, step)
        jumps = set(trajectory.jumps)

        def acting(k: int) -> bool:
            return k <= step and k not in jumps and (not trajectory.phases or trajectory.phases[k] == ACTING)

        def guided(k: int) -> bool:
            return k <= step and k not in jumps and bool(trajectory.phases) and trajectory.phases[k] != ACTING

        for path in _pieces(trajectory.track, view, storey, guided):
            _dashed(pen, path, color, self._scaled(3), (self._scaled(3), self._scaled(5)))
        for path in _pieces(trajectory.track, view, storey, acting):
            pen.line(path, "#ffffff", self._scaled(6), joint="curve")
            pen.line(path, color, self._scaled(4), joint="curve")
        if trajectory.track.storey[step] == storey:
            self._draw_body(pen, view.at(trajectory.track.x[step], trajectory.track.y[step]), trajectory, step, color)

    def _draw_alignment(
        self,
        pen: ImageDraw,
        view: _Viewport,
        episode: ReplayEpisode,
        trajectory: ReplayTrajectory,
        storey: int,
        step: int,
    ) -> None:
        track, reference = trajectory.track, episode.reference
        for i, j in zip(trajectory.alignment[::2], trajectory.alignment[1::2], strict=True):
            if i <= step and track.storey[i] == reference.storey[j] == storey:
                pen.line(
                    (view.at(track.x[i], track.y[i]), view.at(reference.x[j], reference.y[j])),
                    "#6b6862",
                    self._scaled(1),
                )

    def _draw_body(
        self, pen: ImageDraw, at: tuple[float, float], trajectory: ReplayTrajectory, step: int, color: str
    ) -> None:
        x, y = at
        if trajectory.headings:
            reach, ahead = self._scaled(22), -trajectory.headings[step]
            pen.pieslice(
                (x - reach, y - reach, x + reach, y + reach),
                ahead - 28,
                ahead + 28,
                outline=color,
                width=self._scaled(1),
            )
        _disc(pen, at, self._scaled(9), color, "#ffffff", self._scaled(2))
        pen.text(at, str(trajectory.agent + 1), "#ffffff", self._font(self._scaled(11)), "mm")

    def _draw_captions(self, pen: ImageDraw, episode: ReplayEpisode, time: float) -> None:
        font = self._font(self._font_size)
        pen.text((MARGIN, MARGIN), _fit_text(self._replay.title, font, 0.62 * self._width), INK, font)
        clock = f"{time:.1f} s" if self._replay.unit == "s" else f"step {math.floor(time + 1e-6)}"
        about = f"{episode.id}, {clock}" if len(self._replay.episodes) > 1 else clock
        pen.text((self._width - MARGIN, MARGIN), _fit_text(about, font, 0.3 * self._width), SOFT, font, "ra")
        y = MARGIN + 1.8 * self._line + self._tall / SUPERSAMPLING
        self._draw_instruction(pen, episode, time, y)
        y += (self._lines + 0.4) * self._line
        for trajectory in episode.trajectories:
            self._draw_agent(pen, trajectory, y)
            y += self._line

    def _draw_instruction(self, pen: ImageDraw, episode: ReplayEpisode, time: float, y: float) -> None:
        """Draw the instruction; words aligned with the first agent's position are highlighted."""
        font = self._font(self._font_size)
        trajectory = episode.trajectories[0] if episode.trajectories else None
        first, last = find_aligned(trajectory, find_step(trajectory, time)) if trajectory else (-1, -1)
        for word, begin, end, x, line in self._layout(episode):
            top = y + line * self._line
            if 0 <= begin <= last and end >= first:
                pen.rectangle((x - 2, top - 1, x + font.getlength(word) + 2, top + 1.15 * self._font_size), HIGHLIGHT)
            pen.text((x, top), word, INK, font)

    def _count_lines(self, episode: ReplayEpisode) -> int:
        """The number of lines of its instruction."""
        return max((line for *_, line in self._layout(episode)), default=-1) + 1

    def _layout(self, episode: ReplayEpisode) -> Iterator[tuple[str, int, int, float, int]]:
        """Each word, its first and last reference index, its x and its line; at most `MAX_LINES` lines."""
        font, x, line = self._font(self._font_size), float(MARGIN), 0
        for piece in episode.instruction:
            for long in piece.text[:MAX_SPAN].split():
                word = _fit_text(long, font, self._width - 2 * MARGIN)
                wide = font.getlength(word + " ")
                if x + wide > self._width - MARGIN and x > MARGIN:
                    x, line = float(MARGIN), line + 1
                if line >= MAX_LINES:
                    return
                yield word, piece.first, piece.last, x, line
                x += wide

    def _draw_agent(self, pen: ImageDraw, trajectory: ReplayTrajectory, y: float) -> None:
        font, radius = self._font(self._font_size), 0.55 * self._font_size
        middle = (MARGIN + radius, y + 0.62 * self._font_size)
        _disc(pen, middle, radius, COLORS[trajectory.agent % len(COLORS)])
        pen.text(middle, str(trajectory.agent + 1), "#ffffff", self._font(0.7 * self._font_size), "mm")
        outcome = [] if trajectory.success is None else ["success" if trajectory.success else "failure"]
        parts = [*outcome, *(f"{name} {value}" for name, value in trajectory.metrics)]
        name = _fit_text(self._replay.agents[trajectory.agent], font, 0.4 * self._width)
        text = f"{name}:  {',  '.join(parts)}" if parts else name
        pen.text((MARGIN + 3 * radius, y), _fit_text(text, font, self._width - 4 * MARGIN), INK, font)


def _columns(track: Track) -> tuple[list[int], list[int], list[int]]:
    return track.x, track.y, track.storey


def _pieces(
    track: Track, view: _Viewport, storey: int, selected: Callable[[int], bool]
) -> Iterator[list[tuple[float, float]]]:
    """The runs of selected steps that touch the storey; step k leads to position k."""
    path: list[tuple[float, float]] = []
    for k in range(1, len(track)):
        if selected(k) and storey in (track.storey[k], track.storey[k - 1]):
            path = path or [view.at(track.x[k - 1], track.y[k - 1])]
            path.append(view.at(track.x[k], track.y[k]))
        elif path:
            yield path
            path = []
    if path:
        yield path


def _dashed(
    pen: ImageDraw, path: Sequence[tuple[float, float]], color: str, width: int, pattern: tuple[int, int]
) -> None:
    """Draw a dashed line, which Pillow lacks."""
    points = np.array(path)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    ends = np.append(0.0, np.cumsum(lengths))
    on, off = pattern
    for begin in np.arange(0.0, ends[-1], on + off):
        stop = min(begin + on, ends[-1])
        along = np.concatenate([[begin], ends[(ends > begin) & (ends < stop)], [stop]])
        dash = np.column_stack([np.interp(along, ends, points[:, axis]) for axis in (0, 1)])
        pen.line([tuple(point) for point in dash.tolist()], color, width)


def _disc(
    pen: ImageDraw, at: tuple[float, float], radius: float, fill: str, edge: str | None = None, width: int = 1
) -> None:
    x, y = at
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill, edge, width)


def _ring(pen: ImageDraw, at: tuple[float, float], radius: float) -> None:
    x, y = at
    for angle in range(0, 360, 6):
        pen.arc((x - radius, y - radius, x + radius, y + radius), angle, angle + 3, "#6b6862", SUPERSAMPLING)


def _star(pen: ImageDraw, at: tuple[float, float], radius: float) -> None:
    angles = -math.pi / 2 + np.arange(10) * math.pi / 5
    for size, color in ((1.3 * radius, "#ffffff"), (radius, INK)):
        far = np.where(np.arange(10) % 2, 0.45, 1.0) * size
        pen.polygon(
            [(at[0] + f * math.cos(a), at[1] + f * math.sin(a)) for f, a in zip(far, angles, strict=True)], color
        )


def _fit_text(text: str, font: Font, width: float) -> str:
    """The text on one line, cut if it is wider than so many pixels."""
    line = " ".join(text[:400].split())
    if font.getlength(line) <= width:
        return line
    while line and font.getlength(line + "…") > width:
        line = line[:-1]
    return line + "…"
