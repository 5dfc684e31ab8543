"""The answers of language models on disk, so that no question is paid for twice and reruns give identical rows.

Every answer is a file, named by the digest of its request: the model, the messages with their images, temperature, seed
and limits. The first answer to a request is the one that counts, whichever process received it.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from itinera.errors import BadFile, Fault

LONGEST_ANSWER = 100_000  # characters that are kept; no action takes so many


class Usage(msgspec.Struct, frozen=True):
    """The tokens of a request."""

    prompt_tokens: int
    completion_tokens: int
    estimated: bool = False  # whether the server did not say, and characters were counted


class Answer(msgspec.Struct, frozen=True, tag_field="itinera", tag="answer"):
    """An answer of a language model."""

    text: str
    model: str  # that the server says answered
    usage: Usage
    finish_reason: str = ""
    request: Any = None  # what was asked, with digests instead of images; for people to read


_decoder = msgspec.json.Decoder(Answer)


class AnswerStore:
    """A folder of answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: str) -> Answer | None:
        """The answer to a request; None if there is none, or if its file is damaged."""
        try:
            return _decoder.decode(self._path(key).read_bytes())
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return None

    def keep(self, key: str, answer: Answer) -> Answer:
        """The answer, once it is on disk; another one if that was there first."""
        path = self._path(key)
        content = msgspec.json.format(msgspec.json.encode(answer), indent=1) + b"\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(prefix=f".{key[:8]}", dir=path.parent)
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(content)
                    stream.flush()
                    os.fsync(stream.fileno())
                try:
                    os.link(draft, path)  # fails if there is one already
                except FileExistsError:
                    earlier = self.find(key)
                    if earlier is not None:
                        return earlier
                    os.replace(draft, path)  # it was damaged
                except OSError:  # a file system without links
                    os.replace(draft, path)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(draft)
        except OSError as error:
            problem = f"cannot be written ({error.strerror or error})."
            remedy = "Check the folder, its permissions and the space left, or give another --answers (answers=)."
            raise BadFile(str(path), [Fault("", problem, remedy)]) from None
        return answer

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"


def request_key(request: Mapping[str, Any]) -> str:
    """The digest of a request: equal for equal models, messages and parameters.

    >>> request_key({"model": "m", "seed": 1}) == request_key({"seed": 1, "model": "m"})
    True
    """
    return hashlib.blake2b(msgspec.json.encode(request, order="deterministic"), digest_size=20).hexdigest()


def without_images(value: Any) -> Any:
    """A request with the digest of each image instead of its bytes."""
    if isinstance(value, str) and value.startswith("data:"):
        return f"{value.partition(',')[0]}, blake2b {hashlib.blake2b(value.encode(), digest_size=16).hexdigest()}"
    if isinstance(value, dict):
        return {name: without_images(part) for name, part in value.items()}
    return [without_images(part) for part in value] if isinstance(value, list) else value
