"""Images of maps as arrays: PGM is read here; PNG, BMP and JPEG are read by Pillow.

Pillow rounds the values of PGM files whose white is not 255, and its error messages say less. Width and height are
checked before an image is decoded, and brightness is computed in bands of rows: an image takes at most about 9 bytes
per pixel, and has at most `MAX_PIXELS`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault, MissingExtra
from itinera.formats.io import read_bytes

MAX_PIXELS = 1 << 26  # 8,192 on a side: 400 m at 5 cm
MAX_BYTES = 1 << 29  # of a file
_PART = 1 << 24  # bytes of text parsed at once
_BAND = 1 << 20  # pixels whose brightness is computed at once
_MAX_WHITE = (1 << 16) - 1
_SEPARATOR = rb"(?:\s|#[^\n]*\n)+"
_PGM = re.compile(
    rb"P([25])" + _SEPARATOR + rb"(\d{1,9})" + _SEPARATOR + rb"(\d{1,9})" + _SEPARATOR + rb"(\d{1,9})(?=\s|$)"
)
_FORMATS = ("PNG", "BMP", "JPEG")
_EXPORT = "Copy or export the image again."
_CROP = "Crop the image, or use larger cells."


@dataclass(frozen=True, eq=False)
class Picture:
    """The values of an image, top row first."""

    colors: NDArray[Any]  # (height, width, 1 or 3) integers from 0 (black)
    alpha: NDArray[Any] | None  # (height, width) integers from 0 (transparent); None if the image is opaque
    white: int  # the largest possible value

    @property
    def gray(self) -> NDArray[np.float64]:
        """(height, width) the mean of the color channels."""
        return np.asarray(self.colors.mean(axis=2, dtype=np.float64))

    def classify(self, rule: Callable[[Picture], NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """(height, width) the answer of a rule for each pixel, in bands of rows.

        Floats of a whole image would take ten times its memory.
        """
        height, width = self.colors.shape[:2]
        rows = max(1, _BAND // width)
        found = np.empty((height, width), dtype=np.bool_)
        for at in range(0, height, rows):
            band = slice(at, at + rows)
            alpha = None if self.alpha is None else self.alpha[band]
            found[band] = rule(Picture(self.colors[band], alpha, self.white))
        return found


def read_picture(path: Path) -> Picture:
    """The values of a PGM (P5 or P2, 8 or 16 bits), PNG, BMP or JPEG file; the format is detected from its content."""
    content = read_bytes(path, limit=MAX_BYTES)
    if not content:
        raise BadFile(str(path), [Fault("", "is empty.", _EXPORT)])
    if re.match(rb"P[1-7][\s#]", content):
        return _read_pgm(str(path), content)
    return _read_with_pillow(str(path), content)


def _read_pgm(source: str, content: bytes) -> Picture:
    header = _PGM.match(content)
    if header is None:
        problem = "is not a grayscale PGM: its header must be P2 or P5, width, height and the value of white."
        raise BadFile(source, [Fault("header", problem, _EXPORT)])
    kind, width, height, white = (int(number) for number in header.groups())
    _check_size(source, width, height)
    if not 1 <= white <= _MAX_WHITE:
        problem = f"the value of white is {white}; it must be between 1 and {_MAX_WHITE}."
        raise BadFile(source, [Fault("header", problem, _EXPORT)])
    raster = content[header.end() :]
    count = width * height
    values = _parse_text(source, raster, count) if kind == 2 else _parse_binary(raster[1:], white)
    if len(values) < count:
        problem = f"ends after {len(values):,} of {count:,} pixels."
        raise BadFile(source, [Fault("pixels", problem, "It is cut short. " + _EXPORT)])
    values = values[:count]
    if values.max() > white:
        at = int(values.argmax())
        problem = f"the value {values[at]} in row {at // width}, column {at % width} is above white, {white}."
        raise BadFile(source, [Fault("pixels", problem, "It is damaged. " + _EXPORT)])
    return Picture(values.reshape(height, width, 1), None, white)


def _parse_binary(raster: bytes, white: int) -> NDArray[Any]:
    kind = np.dtype(">u2") if white > 255 else np.dtype("u1")
    return np.frombuffer(raster, dtype=kind, count=len(raster) // kind.itemsize)


def _parse_text(source: str, raster: bytes, count: int) -> NDArray[Any]:
    text = re.sub(rb"#[^\n]*", b"", raster)
    invalid = re.search(rb"[^\d\s]|\d{9}", text)
    if invalid is not None:
        problem = f"{invalid[0].decode('latin-1')!r} is not the value of a pixel."
        raise BadFile(source, [Fault("pixels", problem, "It is damaged. " + _EXPORT)])
    # Part by part, so that a file with more values than pixels takes no more memory than its pixels.
    parts, at = [np.empty(0, dtype=np.int32)], 0
    while at < len(text) and sum(map(len, parts)) < count:
        space = re.compile(rb"\s").search(text, at + _PART)
        part = text[at : space.end() if space else len(text)]
        at += len(part)
        if part.strip():
            parts.append(np.fromstring(part, dtype=np.int32, sep=" "))
    return np.concatenate(parts)


def _check_size(source: str, width: int, height: int) -> None:
    if not width * height:
        raise BadFile(source, [Fault("header", f"has {width} x {height} pixels; a map needs at least one.", _EXPORT)])
    if width * height > MAX_PIXELS:
        problem = f"has {width:,} x {height:,} pixels; the limit is {MAX_PIXELS:,}."
        raise BadFile(source, [Fault("header", problem, _CROP)])


def _read_with_pillow(source: str, content: bytes) -> Picture:
    try:
        pillow = import_module("PIL.Image")
    except ImportError:
        raise MissingExtra("Images other than PGM", "Pillow", "maps") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            image = pillow.open(BytesIO(content), formats=_FORMATS)
            _check_size(source, *image.size)
            return _from_pillow(image)
    except (BadFile, MemoryError):
        raise
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning):
        raise BadFile(source, [Fault("header", f"has more than {MAX_PIXELS:,} pixels.", _CROP)]) from None
    except Exception as error:  # Pillow's parsers raise many kinds of errors for a broken file
        problem = f"cannot be read as an image ({error})."
        raise BadFile(source, [Fault("", problem, f"Give a PGM, {', '.join(_FORMATS)}. {_EXPORT}")]) from None


def _from_pillow(image: Any) -> Picture:
    if image.mode.startswith("I"):  # 16-bit grayscale
        return Picture(_pixels(image, None, np.uint16)[..., None], None, _MAX_WHITE)
    if "A" in image.getbands() or "transparency" in image.info:
        values = _pixels(image, "RGBA", np.uint8)
        return Picture(values[..., :3], values[..., 3], 255)
    values = _pixels(image, "L" if image.mode in ("1", "L") else "RGB", np.uint8)
    return Picture(values.reshape(*values.shape[:2], -1), None, 255)


def _pixels(image: Any, mode: str | None, kind: type[np.uint8 | np.uint16]) -> NDArray[Any]:
    """(height, width, …) the pixels in a mode of Pillow, converted in bands of rows: a whole image is copied thrice."""
    width, height = image.size
    rows = max(1, _BAND // width)
    channels = () if mode in (None, "L") else (len(mode or ""),)
    found = np.empty((height, width, *channels), dtype=kind)
    for top in range(0, height, rows):
        band = image.crop((0, top, width, min(height, top + rows)))
        found[top : top + rows] = np.asarray(band if mode is None else band.convert(mode)).astype(kind)
    return found
