"""A challenge as a bundle for EvalAI: its configuration, and an evaluation script that judges with Itinera.

The annotations of a phase are the host's own challenge folder, packed, so entries are judged by the same rules there.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from itinera.errors import BadArgument
from itinera.formats.challenge import FILE_NAME, Challenge, read_challenge
from itinera.formats.hub import to_yaml
from itinera.records import Column
from itinera.records.tables import column_heading
from itinera.reports.markup import join, tag
from itinera.server.html import PhaseView, slug

_SCRIPT = '''"""Judges a submission with Itinera: its actions are replayed, and only what they give is scored."""

import shutil
import tempfile

import itinera

METRICS = {metrics!r}


def evaluate(test_annotation_file, user_submission_file, phase_codename, **kwargs):
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(test_annotation_file, folder, "zip")
        judgement = itinera.judge(user_submission_file, folder)
    means = {{name: judgement.scores.mean(name) for name in METRICS if name in judgement.scores}}
    scores = {{name: value if value == value and abs(value) < 1e300 else None for name, value in means.items()}}
    return {{"result": [{{phase_codename: scores}}], "submission_result": {{**scores, "badge": judgement.badge}}}}
'''
_INIT = "from .main import evaluate\n"


def make_evalai_bundle(
    title: str,
    about: str,
    phases: Sequence[PhaseView],
    challenges: Mapping[str, Challenge | Path],
    *,
    columns: Sequence[Column],
    metric: str = "SR",
) -> bytes:
    """The .zip that EvalAI's form for new challenges takes.

    challenges: the rules and answers of each phase, which the bundle contains: keep it private.
    columns: the metrics of the leaderboard, of which `metric` orders it.
    """
    shown = [column for column in columns if column.better != "neither"]
    if metric not in {column.name for column in shown}:
        raise BadArgument(f"The leaderboard cannot be ordered by {metric}; it has {', '.join(c.name for c in shown)}.")
    files = {
        "challenge_config.yaml": to_yaml(_configuration(title, about, phases, shown, metric)).encode(),
        "logo.png": _logo(),
        "evaluation_script.zip": encode_zip(
            {
                "evaluation_script/__init__.py": _INIT.encode(),
                "evaluation_script/main.py": _SCRIPT.format(metrics=[column.name for column in shown]).encode(),
                "evaluation_script/requirements.txt": b"itinera\n",
            }
        ),
    }
    for name, text in _TEMPLATES.items():
        files[f"templates/{name}.html"] = _paragraphs(about if name == "description" else text)
    for phase in phases:
        rules = challenges[phase.name]
        files[f"annotations/{slug(phase.name)}.zip"] = encode_zip(pack_challenge(rules))
        files[f"templates/{slug(phase.name)}.html"] = _paragraphs(phase.title or phase.name)
    return encode_zip(files)


_TEMPLATES = {
    "description": "",
    "evaluation": "The actions of an entry are replayed in the host's worlds, and only what they give is scored. "
    "Episodes without a trajectory count as failures.",
    "terms": "One account per team.",
    "submission": "Submit the predictions of `itinera run --out`. Check them first with `itinera check`.",
}


def _configuration(
    title: str, about: str, phases: Sequence[PhaseView], columns: Sequence[Column], metric: str
) -> dict[str, Any]:
    names = [column.name for column in columns]
    metadata = {
        column.name: {"sort_ascending": column.better == "lower", "description": column_heading(column)}
        for column in columns
    }
    opens, closes = zip(*(_times(phase) for phase in phases), strict=True)
    descending = next(column.better for column in columns if column.name == metric) != "lower"
    return {
        "title": title,
        "short_description": about.split("\n")[0][:140],
        "description": "templates/description.html",
        "evaluation_details": "templates/evaluation.html",
        "terms_and_conditions": "templates/terms.html",
        "submission_guidelines": "templates/submission.html",
        "image": "logo.png",
        "evaluation_script": "evaluation_script.zip",
        "remote_evaluation": False,
        "start_date": min(opens),
        "end_date": max(closes),
        "published": False,
        "tags": ["vision-and-language navigation"],
        "leaderboard": [{"id": 1, "schema": {"labels": names, "default_order_by": metric, "metadata": metadata}}],
        "challenge_phases": [_phase(number, phase) for number, phase in enumerate(phases, start=1)],
        "dataset_splits": [
            {"id": number, "name": phase.title or phase.name, "codename": slug(phase.name)}
            for number, phase in enumerate(phases, start=1)
        ],
        "challenge_phase_splits": [
            {
                "challenge_phase_id": number,
                "leaderboard_id": 1,
                "dataset_split_id": number,
                "visibility": 3,
                "leaderboard_decimal_precision": 4,
                "is_leaderboard_order_descending": descending,
            }
            for number, _ in enumerate(phases, start=1)
        ],
    }


def _phase(number: int, phase: PhaseView) -> dict[str, Any]:
    opens, closes = _times(phase)
    many = 100_000  # what EvalAI takes for no limit
    day = many if phase.shots_per_day is None else phase.shots_per_day
    return {
        "id": number,
        "name": phase.title or phase.name,
        "description": f"templates/{slug(phase.name)}.html",
        "leaderboard_public": True,
        "is_public": True,
        "is_active": phase.is_open,
        "start_date": opens,
        "end_date": closes,
        "test_annotation_file": f"annotations/{slug(phase.name)}.zip",
        "codename": slug(phase.name),
        "max_submissions_per_day": day,
        "max_submissions_per_month": 31 * day,
        "max_submissions": many if phase.shots is None else phase.shots,
        "max_concurrent_submissions_allowed": 3,
        "is_restricted_to_select_one_submission": False,
        "is_partial_submission_evaluation_enabled": False,
        "allowed_submission_file_types": ".json, .jsonl, .gz",
    }


def _times(phase: PhaseView) -> tuple[str, str]:
    if phase.opens is None or phase.closes is None:
        raise BadArgument(f"EvalAI needs the opening and closing times of phase {phase.name}: write them down first.")
    return _to_text(phase.opens), _to_text(phase.closes)


def _to_text(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def pack_challenge(challenge: Challenge | Path) -> dict[str, bytes]:
    """A challenge with all files that it names, in a folder of its own."""
    rules = challenge if isinstance(challenge, Challenge) else read_challenge(challenge)
    files: dict[str, bytes] = {}
    lines = []
    for field in fields(Challenge):
        value = getattr(rules, field.name)
        if value is None:
            continue
        if isinstance(value, Path):
            content, value = _copy(field.name, value)
            files |= content
        lines.append(f"{field.name} = {json.dumps(value)}\n")
    return {FILE_NAME: "".join(lines).encode(), **files}


def _copy(name: str, path: Path) -> tuple[dict[str, bytes], str]:
    """The files at a path below the folder `name`, and the path there."""
    if not path.is_dir():
        return {f"{name}/{path.name}": path.read_bytes()}, f"{name}/{path.name}"
    found = (file for file in sorted(path.rglob("*")) if file.is_file())
    kept = [file for file in found if not any(part.startswith(".") for part in file.relative_to(path).parts)]
    return {f"{name}/{file.relative_to(path).as_posix()}": file.read_bytes() for file in kept}, name


def encode_zip(files: Mapping[str, bytes]) -> bytes:
    """A .zip with these files, the same bytes every time."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def _paragraphs(text: str) -> bytes:
    return join(*(tag("p", part) for part in text.split("\n\n") if part.strip())).encode()


def _logo(size: int = 64) -> bytes:
    """A plain picture, since EvalAI does not take a challenge without one."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + bytes((10, 107, 99)) * size) * size
    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    image = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + image
