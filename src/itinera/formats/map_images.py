"""Pictures of floors as numbers: PGM by ourselves, PNG, BMP and JPEG through Pillow.

PGM is read here because Pillow rounds the values of files whose white is not 255, and tells less of what is wrong.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from itinera.errors import BadFile, Fault, MissingExtra
from itinera.formats.io import read_bytes

MOST_PIXELS = 1 << 26  # 8,192 on a side: 400 m at 5 cm
_BRIGHTEST = (1 << 16) - 1
_APART = rb"(?:\s|#[^\n]*\n)+"
_PGM = re.compile(rb"P([25])" + _APART + rb"(\d{1,9})" + _APART + rb"(\d{1,9})" + _APART + rb"(\d{1,9})(?=\s|$)")
_FORMATS = ("PNG", "BMP", "JPEG")
_AGAIN = "Copy or export the image again."
_SMALLER = "Cut it to the part that matters, or make its cells larger."


@dataclass(frozen=True, eq=False)
class Picture:
    """The values of an image, its top row first."""

    colours: NDArray[Any]  # (height, width, 1 or 3) whole numbers from 0, black
    alpha: NDArray[Any] | None  # (height, width) from 0, transparent; None where everything is opaque
    white: int  # the largest value

    @property
    def grey(self) -> NDArray[np.float64]:
        """(height, width) the mean of the colours."""
        return np.asarray(self.colours.mean(axis=2, dtype=np.float64))


def read_picture(path: Path) -> Picture:
    """The values of a PGM (P5 or P2, 8 or 16 bits), PNG, BMP or JPEG file, told apart by what is in it."""
    content = read_bytes(path)
    if not content:
        raise BadFile(str(path), [Fault("", "is empty.", _AGAIN)])
    if re.match(rb"P[1-7][\s#]", content):
        return _read_pgm(str(path), content)
    return _read_by_pillow(str(path), content)


def _read_pgm(source: str, content: bytes) -> Picture:
    header = _PGM.match(content)
    if header is None:
        problem = "is not a grey PGM: P2 or P5, then width, height and the value of white are expected at its head."
        raise BadFile(source, [Fault("header", problem, _AGAIN)])
    kind, width, height, white = (int(number) for number in header.groups())
    _refuse_size(source, width, height)
    if not 1 <= white <= _BRIGHTEST:
        problem = f"the value of white is {white}; it lies between 1 and {_BRIGHTEST}."
        raise BadFile(source, [Fault("header", problem, _AGAIN)])
    raster = content[header.end() :]
    values = _plain(source, raster) if kind == 2 else _packed(raster[1:], white)
    if len(values) < width * height:
        problem = f"ends after {len(values):,} of {width * height:,} pixels."
        raise BadFile(source, [Fault("pixels", problem, "It is cut short. " + _AGAIN)])
    values = values[: width * height]
    if values.max() > white:
        at = int(values.argmax())
        problem = f"the value {values[at]} in row {at // width}, column {at % width} is beyond white, {white}."
        raise BadFile(source, [Fault("pixels", problem, "It is damaged. " + _AGAIN)])
    return Picture(values.reshape(height, width, 1), None, white)


def _packed(raster: bytes, white: int) -> NDArray[Any]:
    kind = np.dtype(">u2") if white > 255 else np.dtype("u1")
    return np.frombuffer(raster, dtype=kind, count=len(raster) // kind.itemsize)


def _plain(source: str, raster: bytes) -> NDArray[Any]:
    text = re.sub(rb"#[^\n]*", b"", raster)
    strange = re.search(rb"[^\d\s]|\d{9}", text)
    if strange is not None:
        problem = f"{strange[0].decode('latin-1')!r} stands where the value of a pixel is expected."
        raise BadFile(source, [Fault("pixels", problem, "It is damaged. " + _AGAIN)])
    return np.fromstring(text, dtype=np.int64, sep=" ") if text.strip() else np.empty(0, dtype=np.int64)


def _refuse_size(source: str, width: int, height: int) -> None:
    if not width * height:
        raise BadFile(source, [Fault("header", f"has {width} x {height} pixels, so there is no map in it.", _AGAIN)])
    if width * height > MOST_PIXELS:
        problem = f"has {width:,} x {height:,} pixels; more than {MOST_PIXELS:,} are not read."
        raise BadFile(source, [Fault("header", problem, _SMALLER)])


def _read_by_pillow(source: str, content: bytes) -> Picture:
    try:
        pillow = import_module("PIL.Image")
    except ImportError:
        raise MissingExtra("Images other than PGM", "Pillow", "maps") from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", pillow.DecompressionBombWarning)
            image = pillow.open(BytesIO(content), formats=_FORMATS)
            _refuse_size(source, *image.size)
            return _values(image)
    except (BadFile, MemoryError):
        raise
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning):
        raise BadFile(source, [Fault("header", f"has more than {MOST_PIXELS:,} pixels.", _SMALLER)]) from None
    except Exception as error:  # Pillow's parsers raise whatever a broken file makes them stumble over
        problem = f"cannot be read as an image ({error})."
        raise BadFile(source, [Fault("", problem, f"Give a PGM, {', '.join(_FORMATS)}. {_AGAIN}")]) from None


def _values(image: Any) -> Picture:
    if image.mode.startswith("I"):  # 16 bits of grey
        values = np.asarray(image)
        return Picture(values.astype(np.uint16)[..., None], None, _BRIGHTEST)
    if "A" in image.getbands() or "transparency" in image.info:
        values = np.asarray(image.convert("RGBA"))
        return Picture(values[..., :3], values[..., 3], 255)
    values = np.asarray(image.convert("L" if image.mode in ("1", "L") else "RGB"))
    return Picture(values.reshape(*values.shape[:2], -1), None, 255)
