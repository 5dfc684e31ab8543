"""A cache of experience on the disk. It can be removed at any time: stored actions make the same again.

Groups of experience lie in a folder named by the digest of everything that decides what is seen: season, protocol,
camera, map, labels. A file that is damaged, or of another version, is made again.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np

from itinera.formats.writing import atomic_write, check_file_name
from itinera.training.ground.experience import Experience
from itinera.training.ground.frames import PackedFrames

VERSION = 1  # raised when the same group would be stored otherwise
_DIGEST = 16
_log = logging.getLogger("itinera")


class _Record(msgspec.Struct, array_like=True):
    episode_id: str
    count: int
    shapes: dict[str, tuple[int, ...]]
    arrays: dict[str, bytes]
    guided: int
    previous: bytes
    actions: bytes
    labels: bytes
    bearings: bytes
    distances: bytes


class ObservationCache:
    """Groups of experience by name; without a folder nothing is kept."""

    def __init__(self, folder: Path | None, digest: str) -> None:
        self._folder = None if folder is None else folder / digest
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)

    def get(self, name: str, make: Callable[[], list[Experience]]) -> list[Experience]:
        """The group of this name; made and kept if it is not there."""
        if self._folder is None:
            return make()
        file = self._folder / check_file_name(f"{name}.experience")
        if file.exists():
            try:
                return decode_experience(file.read_bytes())
            except ValueError as error:
                _log.warning("%s %s It is made again.", file, error)
        found = make()
        with atomic_write(file) as stream:
            stream.write(encode_experience(found))
        return found


def encode_experience(experience: list[Experience]) -> bytes:
    """Experience as bytes: a digest, then the rest."""
    records = [
        _Record(
            one.episode_id,
            one.frames.count,
            dict(one.frames.shapes),
            dict(one.frames.arrays),
            one.guided,
            one.previous.tobytes(),
            one.actions.tobytes(),
            one.labels.tobytes(),
            one.bearings.tobytes(),
            one.distances.astype("<f4").tobytes(),
        )
        for one in experience
    ]
    content = msgspec.msgpack.encode((VERSION, records))
    return hashlib.blake2b(content, digest_size=_DIGEST).digest() + content


def decode_experience(content: bytes) -> list[Experience]:
    """The experience of bytes; raises ValueError if they are damaged."""
    digest, body = content[:_DIGEST], content[_DIGEST:]
    if hashlib.blake2b(body, digest_size=_DIGEST).digest() != digest:
        raise ValueError("is damaged: its digest is another.")
    version, records = msgspec.msgpack.decode(body, type=tuple[int, list[_Record]])
    if version != VERSION:
        raise ValueError("is of another version.")
    return [
        Experience(
            one.episode_id,
            PackedFrames(one.count, one.shapes, one.arrays),
            one.guided,
            np.frombuffer(one.previous, dtype=np.uint8),
            np.frombuffer(one.actions, dtype=np.uint8),
            np.frombuffer(one.labels, dtype=np.uint8),
            np.frombuffer(one.bearings, dtype=np.int8),
            np.frombuffer(one.distances, dtype="<f4"),
        )
        for one in records
    ]
