"""Small files that ask for much: reads them with little memory and prints what comes of each, a line of JSON.

Run as a program with a folder; each reader gets `fuzz.MEMORY` more than the program has at its start.
"""

from __future__ import annotations

import gzip
import io
import json
import lzma
import struct
import sys
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "support")]

WIDE = 8192  # pixels on a side: the most that a map may have


def make_bombs(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Name, reader and path of each."""
    for name, (reader, file, make) in BOMBS.items():
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(make())
        yield name, reader, path


@cache
def _png() -> bytes:
    """An image as large as is allowed, in a MB."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress(bytes(1 + 4 * WIDE)) for _ in range(WIDE)) + packer.flush()
    header = struct.pack(">IIBBBBB", WIDE, WIDE, 8, 6, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


def _huge_png() -> bytes:
    data = bytearray(_small_png())
    data[16:24] = struct.pack(">II", 60_000, 60_000)
    data[29:33] = struct.pack(">I", zlib.crc32(bytes(data[12:29])))
    return bytes(data)


def _small_png() -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("L", (4, 4)).save(stream, "PNG")
    return stream.getvalue()


def _model(**config: Any) -> bytes:
    """A model file without weights: a card alone."""
    card = {"kind": "hamt", "config": config, "columns": ["sofa"], "words": ["go"]}
    header = json.dumps({"__metadata__": {"itinera": json.dumps(card)}}).encode()
    return struct.pack("<Q", len(header)) + header


def _nested_card() -> bytes:
    header = json.dumps({"__metadata__": {"itinera": '{"kind":' + "[" * 100_000}}).encode()
    return struct.pack("<Q", len(header)) + header


def _tasks(notes: bytes) -> bytes:
    record = b'{"id":"1","world_id":"w","start":"a","goals":["a"],"reference":["a"],"text":"go","notes":%s}\n'
    return b'{"itinera":"tasks","name":"x","judged_by":"r2r"}\n' + record % notes


def _nested_notes() -> bytes:
    return _tasks(b'{"a":[' + b"[]," * 12_000_000 + b"0]}")


def _nested_document() -> bytes:
    return b'{"episodes":[],"instruction_vocab":{"a":[' + b"[]," * 60_000_000 + b"0]}}"


def _zip() -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("house_connectivity.json", b"[" + b" " * (1 << 27))
    return stream.getvalue()


def _tar() -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for number in range(3):
            entry = tarfile.TarInfo(f"{number}_connectivity.json")
            entry.size = 1 << 25
            archive.addfile(entry, io.BytesIO(bytes(1 << 25)))
    return stream.getvalue()


def _xz_dictionary() -> bytes:
    """An .xz file that needs a dictionary of 1.5 GiB."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 4096}]
    data = bytearray(lzma.compress(b"[]", filters=filters))
    at = data.index(b"\x21\x01", 12)  # the filter, the size of its properties, the dictionary as an exponent
    data[at + 2] = 39
    data[20:24] = struct.pack("<I", zlib.crc32(bytes(data[12:20])))
    return bytes(data)


def _glb(count: int) -> bytes:
    document = {
        "asset": {"version": "2.0"}, "scenes": [{"nodes": [0]}], "scene": 0, "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"componentType": 5126, "type": "VEC3", "count": count}],
    }  # fmt: skip
    content = json.dumps(document).encode()
    content += b" " * (-len(content) % 4)
    return struct.pack("<4sIII", b"glTF", 2, 20 + len(content), len(content)) + b"JSON" + content


def _pgm_text() -> bytes:
    return b"P2 4 4 9\n" + b"1 " * (20 << 20)


BOMBS: dict[str, tuple[str, str, Callable[[], bytes]]] = {
    "a large map": ("formats.map_images.read_picture", "map.png", _png),
    "a large map as a floor plan": ("formats.floor_plans.read_floor_plan", "plan.png", _png),
    "an image of 3.6 gigapixels": ("formats.map_images.read_picture", "huge.png", _huge_png),
    "text for 16 pixels": ("formats.map_images.read_picture", "text.pgm", _pgm_text),
    "a large model": ("policies.checkpoint.read_model", "large.safetensors",
                      lambda: _model(hidden_dim=8192, feedforward_dim=8192, num_heads=1, num_text_layers=64,
                                     num_cross_layers=64, num_panorama_layers=64)),
    "a model of many layers": ("policies.checkpoint.read_model", "layers.safetensors",
                               lambda: _model(num_text_layers=8192)),
    "a model of size 0": ("policies.checkpoint.read_model", "zero.safetensors", lambda: _model(num_heads=0)),
    "a nested card": ("policies.checkpoint.read_model", "nested.safetensors", _nested_card),
    "nested notes": ("formats.native_tasks.read_split", "nested.jsonl", _nested_notes),
    "a nested document": ("formats.vlnce.read_split", "nested.json", _nested_document),
    "a gzip bomb": ("formats.r2r.read_split", "bomb.json.gz",
                    lambda: gzip.compress(b"[" + b" " * (1 << 26), 9)),
    "an xz bomb": ("formats.r2r.read_split", "bomb.json.xz",
                   lambda: lzma.compress(b"[" + b" " * (1 << 25), preset=0)),
    "an xz dictionary": ("formats.r2r.read_split", "dictionary.json.xz", _xz_dictionary),
    "a zip bomb": ("formats.matterport.read_worlds", "bomb.zip", _zip),
    "a tar bomb": ("formats.matterport.read_worlds", "bomb.tar.gz", _tar),
    "a scene of a trillion vertices": ("formats.scenes.read_scene", "scene/a.glb", lambda: _glb(10**12)),
    "a scene of a billion vertices": ("formats.scenes.read_scene", "scene/b.glb", lambda: _glb(10**9)),
    "a season of 5,000 digits": ("formats.hearth_season.season_houses", "season/season.json",
                                 lambda: b'{"config":{"seed":' + b"9" * 5000 + b'},"houses":{"x":["a-1"]}}'),
}  # fmt: skip


def main() -> None:
    """Read each bomb of a folder, with limits."""
    from adversary.fuzz import limit_process
    from adversary.readers import READERS
    from itinera.errors import ItineraError

    warnings.simplefilter("ignore")
    bombs = list(make_bombs(Path(sys.argv[1])))
    for name in {reader for _, reader, _ in bombs}:  # imports need memory, too
        with_example = READERS[name]
        target, path = with_example.place(Path(sys.argv[1]) / "warm" / name)
        target.write_bytes(with_example.seeds()[0])
        with_example.read(path)
    limit_process()
    for name, reader, path in bombs:
        given = path.parent if path.name == "season.json" else path
        try:
            READERS[reader].read(given)
            outcome = "read"
        except ItineraError as error:
            outcome = str(error)
        except Exception as error:
            outcome = f"{type(error).__name__}: {error}"
        print(json.dumps([name, outcome]), flush=True)


if __name__ == "__main__":
    main()
