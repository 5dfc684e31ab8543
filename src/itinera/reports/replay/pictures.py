"""A replay as a picture or a film: the map, the words and who walks, drawn as the page draws them.

Needs Pillow (extra `maps`); a film as .mp4 also needs imageio with its ffmpeg (extra `video`).
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
from itinera.formats.io import atomic_write
from itinera.reports.charts.datasets import COLOURS
from itinera.reports.replay.data import ACTING, Attempt, Label, Replay, Task, Track, duration

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageDraw import ImageDraw
    from PIL.ImageFont import FreeTypeFont, ImageFont

    Font = ImageFont | FreeTypeFont

FINE = 2  # everything is drawn so many times larger and then averaged, which smooths its edges
INK, SOFT, BAND, VEIL, MARKED = "#1f1e1c", "#55524d", "#bdb8ae", "#ffffff", "#ffdf80"
MARGIN = 16  # pixels around everything
LINES, LONGEST_TEXT = 4, 2000  # of the instruction, at most: lines, characters between two words that are tied
RATE = 12  # frames a second
LONGEST = 900  # frames of a film; longer walks are shown faster
STILL = 8  # frames for which the end of an episode is held
GRAPH_STEP, GROUND_STEP, SECONDS = 8.0, 1.0, 3.0  # frames for a step on a graph, on the ground, and for a second


def write_picture(path: str | Path, replay: Replay, *, number: int = 0, width: int = 1200) -> None:
    """The end of an episode as a .png file."""
    image = Painter(replay, width=width).paint(number, duration(replay.tasks[number]))
    with atomic_write(_checked(path, ".png")) as stream:
        image.save(stream, "PNG")


def write_gif(path: str | Path, replay: Replay, *, width: int = 640, most: int = LONGEST) -> None:
    """All episodes one after another as a .gif file."""
    path = _checked(path, ".gif")
    first, *rest = (image.quantize(128) for image in _film(replay, width, most))
    with atomic_write(path) as stream:
        first.save(stream, "GIF", save_all=True, append_images=rest, duration=round(1000 / RATE), loop=0, optimize=True)


def write_mp4(path: str | Path, replay: Replay, *, width: int = 960, most: int = LONGEST) -> None:
    """All episodes one after another as an .mp4 file."""
    path = _checked(path, ".mp4")
    try:
        import imageio.v2 as imageio
        import imageio_ffmpeg  # noqa: F401
    except ImportError:
        raise MissingExtra("Films", "imageio with its ffmpeg", "video") from None
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / path.name
        film: Any
        with imageio.get_writer(draft, fps=RATE, codec="libx264", macro_block_size=2, quality=7) as film:
            for image in _film(replay, width, most):
                film.append_data(np.asarray(image))
        with atomic_write(path) as stream:
            stream.write(draft.read_bytes())


def _checked(path: str | Path, ending: str) -> Path:
    path = Path(path)
    if path.suffix != ending:
        raise BadArgument(f"The file's name must end in {ending}, not {path.suffix or 'nothing'!r}: {path}.")
    return path


def _film(replay: Replay, width: int, most: int) -> Iterator[Image]:
    painter = Painter(replay, width=width)
    for number, time in _moments(replay, most):
        yield painter.paint(number, time)


def _moments(replay: Replay, most: int) -> list[tuple[int, float]]:
    """Which episode at which time is shown in each frame."""
    longest = max((len(attempt.track) for task in replay.tasks for attempt in task.attempts), default=0)
    pace = SECONDS if replay.unit == "s" else GROUND_STEP if longest > 60 else GRAPH_STEP
    wanted = [pace * duration(task) for task in replay.tasks]
    hurry = max(1.0, sum(wanted) / max(1, most - STILL * len(wanted)))
    found = []
    for number, (task, frames) in enumerate(zip(replay.tasks, wanted, strict=True)):
        count = max(2, round(frames / hurry))
        found += [(number, float(time)) for time in np.linspace(0.0, duration(task), count)]
        found += [(number, duration(task))] * STILL
    return found


def step_at(attempt: Attempt, time: float) -> int:
    """The last place reached by a time."""
    if not attempt.clock:
        return min(len(attempt.track) - 1, math.floor(time + 1e-6))
    return max(0, int(np.searchsorted(attempt.clock, time + 1e-6, side="right")) - 1)


def met_at(attempt: Attempt, step: int) -> tuple[int, int]:
    """The first and last reference place that the last acting step up to this one meets; -1 before any."""
    pairs = np.array(attempt.pairs, dtype=np.int64).reshape(-1, 2)
    past = pairs[pairs[:, 0] <= step]
    if not len(past):
        return -1, -1
    now = past[past[:, 0] == past[-1, 0], 1]
    return int(now[0]), int(now[-1])


@dataclass(frozen=True)
class _Frame:
    """Where centimetres of a place are on the picture."""

    left: float
    top: float
    x0: float
    y1: float
    scale: float  # pixels for a centimetre

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self.left + (x - self.x0) * self.scale, self.top + (self.y1 - y) * self.scale


class Painter:
    """Draws the moments of a replay, all of one size; what stands still is drawn once."""

    def __init__(self, replay: Replay, *, width: int = 960) -> None:
        try:
            from PIL import Image as images
            from PIL import ImageDraw, ImageFont
        except ImportError:
            raise MissingExtra("Pictures of replays", "Pillow", "maps") from None
        self._image, self._draw, self._font = images.new, ImageDraw.Draw, ImageFont.load_default
        self._replay = replay
        self._width = width // 2 * 2
        self._type = max(11, round(width / 60))  # pixels
        wide = (self._width - 2 * MARGIN) * FINE
        self._tall = max(
            round(wide * (place.bounds[3] - place.bounds[1]) / (place.bounds[2] - place.bounds[0]))
            for place in replay.places
        )
        self._tall = min(self._tall, wide)
        self._lines = max((self._count(task) for task in replay.tasks), default=0)
        lines = 1.6 + self._lines + 0.6 + len(replay.agents)
        self._height = (round(2 * MARGIN + self._tall / FINE + lines * self._line) + 1) // 2 * 2
        self._still: dict[tuple[int, int], Image] = {}

    @property
    def _line(self) -> float:
        return 1.45 * self._type

    def _dots(self, width: int) -> int:
        """How many dots of the large drawing a line of this width has; pictures of any size look alike."""
        return max(1, round(width * FINE * max(0.7, self._width / 900)))

    def paint(self, number: int, time: float) -> Image:
        """The picture of an episode at a time."""
        task = self._replay.tasks[number]
        storey = self._storey(task, time)
        if (number, storey) not in self._still:
            self._still = {(number, storey): self._floor(task, storey)}
        image = self._still[number, storey].copy()
        pen = self._draw(image)
        frame = self._frame(task)
        for attempt in reversed(task.attempts):
            self._walk(pen, frame, task, attempt, storey, time)
        small = image.reduce(FINE)
        self._captions(self._draw(small), task, time)
        return small

    def _storey(self, task: Task, time: float) -> int:
        if task.attempts:
            return task.attempts[0].track.storey[step_at(task.attempts[0], time)]
        return task.reference.storey[0] if len(task.reference) else 0

    def _frame(self, task: Task) -> _Frame:
        x0, y0, x1, y1 = self._replay.places[task.place].bounds
        wide = (self._width - 2 * MARGIN) * FINE
        scale = min(wide / (x1 - x0), self._tall / (y1 - y0))
        left = MARGIN * FINE + (wide - scale * (x1 - x0)) / 2
        return _Frame(left, (MARGIN + 1.6 * self._line) * FINE, x0, y1, scale)

    def _floor(self, task: Task, storey: int) -> Image:
        image = self._image("RGB", (self._width * FINE, self._height * FINE), "#ffffff")
        pen, frame = self._draw(image), self._frame(task)
        place = self._replay.places[task.place]
        for drawing in place.storeys[storey].drawings:
            for ring in drawing.outlines:
                points = [frame.at(x, y) for x, y in zip(ring[::2], ring[1::2], strict=True)]
                if drawing.fill:
                    pen.polygon(points, fill=drawing.fill)
                elif drawing.line:
                    pen.line(points, drawing.line, max(1, round(drawing.width * frame.scale)), joint="curve")
        image = self._blend(image)
        pen = self._draw(image)
        self._graph(pen, frame, task, storey)
        for label in place.storeys[storey].labels:
            self._name(pen, frame, label)
        self._asked(pen, frame, task, storey)
        return image

    def _blend(self, image: Image) -> Image:
        # A veil over the things, so that paths stand out from them.
        from PIL import Image as images

        return images.blend(image, self._image("RGB", image.size, VEIL), 0.3)

    def _graph(self, pen: ImageDraw, frame: _Frame, task: Task, storey: int) -> None:
        place = self._replay.places[task.place]
        nodes = place.nodes
        for a, b in zip(place.edges[::2], place.edges[1::2], strict=True):
            if storey in (nodes.storey[a], nodes.storey[b]):
                ends = frame.at(nodes.x[a], nodes.y[a]), frame.at(nodes.x[b], nodes.y[b])
                pen.line(ends, "#b4bfc9", self._dots(1))
        for x, y, level in zip(nodes.x, nodes.y, nodes.storey, strict=True):
            if level == storey:
                _disc(pen, frame.at(x, y), self._dots(2), "#6d8296")

    def _name(self, pen: ImageDraw, frame: _Frame, label: Label) -> None:
        font = self._font(0.8 * self._type * FINE)
        if font.getlength(label.text) <= label.wide * frame.scale:
            pen.text(
                frame.at(label.x, label.y), label.text, "#4a4741", font, "mm", stroke_width=FINE, stroke_fill="#fff"
            )

    def _asked(self, pen: ImageDraw, frame: _Frame, task: Task, storey: int) -> None:
        for path in _pieces(task.reference, frame, storey, lambda k: True):
            pen.line(path, BAND, self._dots(11), joint="curve")
            _dashed(pen, path, INK, self._dots(3), (self._dots(8), self._dots(6)))
        for path in _pieces(task.fastest, frame, storey, lambda k: True):
            _dashed(pen, path, COLOURS[5], self._dots(3), (self._dots(9), self._dots(3)))
        for k, (x, y, level) in enumerate(zip(*_columns(task.reference), strict=True)):
            if level == storey:
                _disc(
                    pen, frame.at(x, y), self._dots(6 if k == 0 else 4), "#ffffff", INK, self._dots(2 if k == 0 else 1)
                )
        for x, y, level in zip(*_columns(task.goals), strict=True):
            if level == storey:
                _ring(pen, frame.at(x, y), self._replay.radius * frame.scale)
                _star(pen, frame.at(x, y), self._dots(14))

    def _walk(self, pen: ImageDraw, frame: _Frame, task: Task, attempt: Attempt, storey: int, time: float) -> None:
        step, colour = step_at(attempt, time), COLOURS[attempt.agent % len(COLOURS)]
        if attempt is task.attempts[0]:
            self._pairs(pen, frame, task, attempt, storey, step)
        jumps = set(attempt.jumps)

        def acting(k: int) -> bool:
            return k <= step and k not in jumps and (not attempt.phases or attempt.phases[k] == ACTING)

        def led(k: int) -> bool:
            return k <= step and k not in jumps and bool(attempt.phases) and attempt.phases[k] != ACTING

        for path in _pieces(attempt.track, frame, storey, led):
            _dashed(pen, path, colour, self._dots(3), (self._dots(3), self._dots(5)))
        for path in _pieces(attempt.track, frame, storey, acting):
            pen.line(path, "#ffffff", self._dots(6), joint="curve")
            pen.line(path, colour, self._dots(4), joint="curve")
        if attempt.track.storey[step] == storey:
            self._body(pen, frame.at(attempt.track.x[step], attempt.track.y[step]), attempt, step, colour)

    def _pairs(self, pen: ImageDraw, frame: _Frame, task: Task, attempt: Attempt, storey: int, step: int) -> None:
        track, reference = attempt.track, task.reference
        for i, j in zip(attempt.pairs[::2], attempt.pairs[1::2], strict=True):
            if i <= step and track.storey[i] == reference.storey[j] == storey:
                pen.line(
                    (frame.at(track.x[i], track.y[i]), frame.at(reference.x[j], reference.y[j])),
                    "#6b6862",
                    self._dots(1),
                )

    def _body(self, pen: ImageDraw, at: tuple[float, float], attempt: Attempt, step: int, colour: str) -> None:
        x, y = at
        if attempt.headings:
            reach, ahead = self._dots(22), -attempt.headings[step]
            pen.pieslice(
                (x - reach, y - reach, x + reach, y + reach),
                ahead - 28,
                ahead + 28,
                outline=colour,
                width=self._dots(1),
            )
        _disc(pen, at, self._dots(9), colour, "#ffffff", self._dots(2))
        pen.text(at, str(attempt.agent + 1), "#ffffff", self._font(self._dots(11)), "mm")

    def _captions(self, pen: ImageDraw, task: Task, time: float) -> None:
        font = self._font(self._type)
        pen.text((MARGIN, MARGIN), _fitting(self._replay.title, font, 0.62 * self._width), INK, font)
        told = f"{time:.1f} s" if self._replay.unit == "s" else f"step {math.floor(time + 1e-6)}"
        about = f"{task.id}, {told}" if len(self._replay.tasks) > 1 else told
        pen.text((self._width - MARGIN, MARGIN), _fitting(about, font, 0.3 * self._width), SOFT, font, "ra")
        y = MARGIN + 1.8 * self._line + self._tall / FINE
        self._words(pen, task, time, y)
        y += (self._lines + 0.4) * self._line
        for attempt in task.attempts:
            self._agent(pen, attempt, y)
            y += self._line

    def _words(self, pen: ImageDraw, task: Task, time: float, y: float) -> None:
        """The instruction, the words of the first agent's place marked."""
        font = self._font(self._type)
        attempt = task.attempts[0] if task.attempts else None
        first, last = met_at(attempt, step_at(attempt, time)) if attempt else (-1, -1)
        for word, begin, end, x, line in self._laid(task):
            top = y + line * self._line
            if 0 <= begin <= last and end >= first:
                pen.rectangle((x - 2, top - 1, x + font.getlength(word) + 2, top + 1.15 * self._type), MARKED)
            pen.text((x, top), word, INK, font)

    def _count(self, task: Task) -> int:
        """How many lines its instruction takes."""
        return max((line for *_, line in self._laid(task)), default=-1) + 1

    def _laid(self, task: Task) -> Iterator[tuple[str, int, int, float, int]]:
        """Each word, its first and last reference place, how far right it begins and in which line; few lines only."""
        font, x, line = self._font(self._type), float(MARGIN), 0
        for piece in task.words:
            for long in piece.text[:LONGEST_TEXT].split():
                word = _fitting(long, font, self._width - 2 * MARGIN)
                wide = font.getlength(word + " ")
                if x + wide > self._width - MARGIN and x > MARGIN:
                    x, line = float(MARGIN), line + 1
                if line >= LINES:
                    return
                yield word, piece.first, piece.last, x, line
                x += wide

    def _agent(self, pen: ImageDraw, attempt: Attempt, y: float) -> None:
        font, radius = self._font(self._type), 0.55 * self._type
        middle = (MARGIN + radius, y + 0.62 * self._type)
        _disc(pen, middle, radius, COLOURS[attempt.agent % len(COLOURS)])
        pen.text(middle, str(attempt.agent + 1), "#ffffff", self._font(0.7 * self._type), "mm")
        arrived = [] if attempt.arrived is None else ["arrived" if attempt.arrived else "missed the goal"]
        told = [*arrived, *(f"{name} {value}" for name, value in attempt.measures)]
        name = _fitting(self._replay.agents[attempt.agent], font, 0.4 * self._width)
        text = f"{name}:  {',  '.join(told)}" if told else name
        pen.text((MARGIN + 3 * radius, y), _fitting(text, font, self._width - 4 * MARGIN), INK, font)


def _columns(track: Track) -> tuple[list[int], list[int], list[int]]:
    return track.x, track.y, track.storey


def _pieces(
    track: Track, frame: _Frame, storey: int, kept: Callable[[int], bool]
) -> Iterator[list[tuple[float, float]]]:
    """The runs of steps that are kept and touch the storey; step k leads to place k."""
    path: list[tuple[float, float]] = []
    for k in range(1, len(track)):
        if kept(k) and storey in (track.storey[k], track.storey[k - 1]):
            path = path or [frame.at(track.x[k - 1], track.y[k - 1])]
            path.append(frame.at(track.x[k], track.y[k]))
        elif path:
            yield path
            path = []
    if path:
        yield path


def _dashed(
    pen: ImageDraw, path: Sequence[tuple[float, float]], colour: str, width: int, pattern: tuple[int, int]
) -> None:
    """A line in dashes; Pillow has none."""
    points = np.array(path)
    lengths = np.linalg.norm(np.diff(points, axis=0), axis=1)
    ends = np.append(0.0, np.cumsum(lengths))
    on, off = pattern
    for begin in np.arange(0.0, ends[-1], on + off):
        stop = min(begin + on, ends[-1])
        along = np.concatenate([[begin], ends[(ends > begin) & (ends < stop)], [stop]])
        dash = np.column_stack([np.interp(along, ends, points[:, axis]) for axis in (0, 1)])
        pen.line([tuple(point) for point in dash.tolist()], colour, width)


def _disc(
    pen: ImageDraw, at: tuple[float, float], radius: float, fill: str, edge: str | None = None, width: int = 1
) -> None:
    x, y = at
    pen.ellipse((x - radius, y - radius, x + radius, y + radius), fill, edge, width)


def _ring(pen: ImageDraw, at: tuple[float, float], radius: float) -> None:
    x, y = at
    for angle in range(0, 360, 6):
        pen.arc((x - radius, y - radius, x + radius, y + radius), angle, angle + 3, "#6b6862", FINE)


def _star(pen: ImageDraw, at: tuple[float, float], radius: float) -> None:
    angles = -math.pi / 2 + np.arange(10) * math.pi / 5
    for size, colour in ((1.3 * radius, "#ffffff"), (radius, INK)):
        far = np.where(np.arange(10) % 2, 0.45, 1.0) * size
        pen.polygon(
            [(at[0] + f * math.cos(a), at[1] + f * math.sin(a)) for f, a in zip(far, angles, strict=True)], colour
        )


def _fitting(text: str, font: Font, width: float) -> str:
    """The text, cut where it would be wider than so many pixels."""
    line = " ".join(text[:400].split())
    if font.getlength(line) <= width:
        return line
    while line and font.getlength(line + "…") > width:
        line = line[:-1]
    return line + "…"
