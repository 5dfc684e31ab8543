"""Mutations of files: of the values of JSON, of the cells of tables, of bytes, and of what containers hold.

Every function takes a random generator and a file's bytes and returns other bytes. Containers (safetensors, glTF, .npz,
.zip and .tar) are opened, mutated within and closed again, so that mutations reach beyond their checksums and lengths.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import lzma
import re
import struct
import tarfile
import zipfile
from collections.abc import Callable
from random import Random
from typing import Any

Mutate = Callable[[Random, bytes], bytes]
DIGITS = "9" * 5000
ODD: tuple[Any, ...] = (
    None, True, False, 0, -1, 1, 2, 10**30, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 0.5, 3.0, 1e308, -1e308,
    1e-320, float("nan"), float("inf"), float("-inf"), "", " ", "x", "1_0", "nan", "inf", "é\0", "\0", "../../x",
    "/etc/passwd", "a" * 300, "\ud800", "\u202e", "\x1b[2J", "-1", "0", "1e999", "[]", [], {}, [[]], [None], {"": 0},
    {"a": 1}, [0, 0, 0], [[0, 0, 0]], [1e308] * 3, ["a", "b"], [0.5], [1] * 100, {"itinera": "tasks"},
)  # fmt: skip
ODD_CELLS = (
    "", " ", "nan", "inf", "-inf", "-1", "0", "1", "1.5", "1e999", "1e308", "2147483648", "0x10", "1_0", DIGITS, "\0",
    "\ufeff", '"', "'", '"a', "a" * 300, "é", "\u2028", "../..", "#", "-", ":", "&a", "*a", "[", "{", "~", "true",
    "!!python/object:os",
)  # fmt: skip
ODD_BYTES = (
    b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\n", b"\r\n", b"[", b"]", b"{", b"}", b'"', b",", b":", b"NaN",
    b"-", b"Infinity", b"1e999", b"[" * 2000, b'{"a":' * 1500, b"9" * 5000, b"\\u0000", b"\\ud800", b"\x1f\x8b",
    b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x00\x00\x00\x80", b"\xff" * 8, bytes(64),
)  # fmt: skip


def mutate_bytes(rng: Random, data: bytes) -> bytes:
    """A few bytes cut out, doubled, overwritten, flipped or moved."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        at = rng.randint(0, len(data))
        end = min(len(data), at + rng.choice((0, 1, 1, 2, 4, 8, 32, 200)))
        kind = rng.randrange(6)
        if kind == 0:
            put = rng.choice(ODD_BYTES)
        elif kind == 1:
            put = rng.randbytes(max(1, end - at))
        elif kind == 2:
            put = bytes((byte ^ (1 << rng.randrange(8))) for byte in data[at:end])
        elif kind == 3:
            put = b""
        elif kind == 4:
            source = rng.randint(0, len(data))
            put = data[source : source + rng.choice((1, 4, 16, 100))]
        else:
            put = data[at:end] * rng.choice((2, 3, 50))
        data = data[:at] + put + data[end:]
    return data[: rng.randint(0, len(data))] if rng.random() < 0.05 else data


def mutate_json(rng: Random, data: bytes) -> bytes:
    """JSON, or lines of JSON, with some of its values replaced, left out, doubled or wrapped; else mutated bytes."""
    if rng.random() < 0.2:
        return mutate_bytes(rng, data)
    try:
        documents = [json.loads(data)]
    except (ValueError, RecursionError):
        try:
            documents = [json.loads(line) for line in data.splitlines() if line.strip()]
        except (ValueError, RecursionError):
            return mutate_bytes(rng, data)
    if not documents:
        return mutate_bytes(rng, data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        at = rng.randrange(len(documents))
        documents[at] = _mutate_value(rng, documents[at])
    if rng.random() < 0.05:
        documents.insert(rng.randrange(len(documents) + 1), rng.choice(documents))
    text = "\n".join(map(_dump, documents))
    if rng.random() < 0.03:
        text = re.sub(r"\b\d+\b", lambda found: DIGITS if rng.random() < 0.1 else found[0], text)
    return text.encode("utf-8", "surrogatepass")


def _dump(document: Any) -> str:
    try:
        return json.dumps(document, ensure_ascii=True)
    except (ValueError, RecursionError):
        return "[]"


def _mutate_value(rng: Random, document: Any) -> Any:
    """The document with one value, at any depth, changed."""
    holder, key = None, None
    value = document
    while isinstance(value, dict | list) and value and (holder is None or rng.random() < 0.8):
        holder, key = value, rng.choice(list(value)) if isinstance(value, dict) else rng.randrange(len(value))
        value = holder[key]
    if holder is None:
        return rng.choice(ODD)
    kind = rng.randrange(9)
    if kind <= 3:
        holder[key] = rng.choice(ODD)
    elif kind == 4:
        del holder[key]
    elif kind == 5:
        holder[key] = _vary(rng, value)
    elif kind == 6 and isinstance(holder, list):
        holder[key:key] = [value] * rng.choice((1, 2, 30))
    elif kind == 6:
        holder[rng.choice(("", "id", "a", "x" * 50, f"{key}_"))] = value
    elif kind == 7:
        nested: Any = value
        for _ in range(rng.choice((1, 2, 30))):
            nested = [nested] if rng.random() < 0.5 else {"a": nested}
        holder[key] = nested
    elif isinstance(holder, dict):
        holder[f"{key}{rng.choice(('', 'x', chr(0)))}"] = holder.pop(key)
    else:
        rng.shuffle(holder)
    return document


def _vary(rng: Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1, 7, 2**31, -(2**40)))
    if isinstance(value, float):
        return value * rng.choice((-1.0, 0.0, 1e10, 1e-10, 1e300))
    if isinstance(value, str):
        return rng.choice((value * 50, value[:-1], value + "\0", value.upper(), value[::-1]))
    return value


def mutate_table(rng: Random, data: bytes) -> bytes:
    """A text of lines with cells: some cells replaced, lines doubled, moved or left out; or mutated bytes."""
    if rng.random() < 0.3:
        return mutate_bytes(rng, data)
    lines = data.split(b"\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(lines))
        kind = rng.randrange(6)
        if kind <= 3:
            cells = re.split(rb"([\t, :\[\]]+)", lines[at])
            cells[rng.randrange(len(cells))] = rng.choice(ODD_CELLS).encode()
            lines[at] = b"".join(cells)
        elif kind == 4:
            lines[at:at] = [rng.choice(lines)] * rng.choice((1, 1, 20))
        elif len(lines) > 1:
            del lines[at]
    return b"\n".join(lines)


def mutate_safetensors(rng: Random, data: bytes) -> bytes:
    """A safetensors file with its header, or the card in it, mutated."""
    size = int.from_bytes(data[:8], "little")
    if rng.random() < 0.15 or not 0 < size < len(data):
        return mutate_bytes(rng, data)
    try:
        header = json.loads(data[8 : 8 + size])
        metadata = header["__metadata__"]
        name = rng.choice(list(metadata))
        if rng.random() < 0.8:
            metadata[name] = mutate_json(rng, metadata[name].encode()).decode("utf-8", "replace")
            content = json.dumps(header).encode()
        else:
            content = mutate_json(rng, data[8 : 8 + size])
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
        content = mutate_json(rng, data[8 : 8 + size])
    return struct.pack("<Q", len(content)) + content + data[8 + size :]


def mutate_glb(rng: Random, data: bytes) -> bytes:
    """A binary glTF file with its JSON chunk mutated."""
    size = int.from_bytes(data[12:16], "little")
    if rng.random() < 0.3 or not 0 < size < len(data):
        return mutate_bytes(rng, data)
    content = mutate_json(rng, data[20 : 20 + size].rstrip(b" "))
    content += b" " * (-len(content) % 4)
    rest = data[20 + size :]
    head = struct.pack("<4sIII", b"glTF", 2, 20 + len(content) + len(rest), len(content))
    return head + b"JSON" + content + rest


def inside_zip(mutate: Mutate) -> Mutate:
    """Mutations of one member of a .zip (or .npz) archive."""

    def mutate_zip(rng: Random, data: bytes) -> bytes:
        if rng.random() < 0.3:
            return mutate_bytes(rng, data)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
            name = rng.choice(list(members))
        except Exception:  # already damaged: any of the many errors of the parser
            return mutate_bytes(rng, data)
        members[name] = mutate(rng, members[name])
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
            for name, content in members.items():
                archive.writestr(zipfile.ZipInfo(name), content)
        return stream.getvalue()

    return mutate_zip


def inside_tar(mutate: Mutate) -> Mutate:
    """Mutations of one member of a .tar archive: its content, its name or its type."""

    def mutate_tar(rng: Random, data: bytes) -> bytes:
        if rng.random() < 0.3:
            return mutate_bytes(rng, data)
        try:
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                members = [(entry, archive.extractfile(entry)) for entry in archive.getmembers()]
                contents = [(entry, content.read() if content else b"") for entry, content in members]
            at = rng.randrange(len(contents))
        except Exception:  # already damaged: any of the many errors of the parser
            return mutate_bytes(rng, data)
        entry, content = contents[at]
        if rng.random() < 0.7:
            contents[at] = (entry, mutate(rng, content))
        else:
            entry.type = rng.choice((tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE, b"\0", b"S"))
            entry.name = rng.choice((entry.name, f"../{entry.name}", f"/{entry.name}", "x" * 300 + entry.name))
            entry.linkname = "/etc/passwd"
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w", format=rng.choice((tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))) as out:
            for entry, content in contents:
                entry.size = len(content) if entry.isfile() else 0
                out.addfile(entry, io.BytesIO(content))
        return stream.getvalue()

    return mutate_tar


def with_digest(mutate: Mutate) -> Mutate:
    """Mutations of a score bundle whose digest is made right again, so that its rows are looked at."""

    def mutate_bundle(rng: Random, data: bytes) -> bytes:
        data = re.sub(rb'"digest": ?"[^"]*"', b'"digest": ""', mutate(rng, data), count=1)
        if rng.random() < 0.1:
            return data
        digest = hashlib.blake2b(data, digest_size=16).hexdigest().encode()
        return data.replace(b'"digest": ""', b'"digest": "' + digest + b'"', 1)

    return mutate_bundle


def sometimes_packed(mutate: Mutate) -> Mutate:
    """The mutations, of which a few are compressed, cut short or damaged after compression."""

    def mutate_packed(rng: Random, data: bytes) -> bytes:
        changed = mutate(rng, data)
        draw = rng.random()
        if draw > 0.02:
            return changed
        packed = gzip.compress(changed, 1) if draw < 0.012 else lzma.compress(changed, preset=0)
        return mutate_bytes(rng, packed) if rng.random() < 0.5 else packed

    return mutate_packed
