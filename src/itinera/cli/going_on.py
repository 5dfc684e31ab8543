"""Going on with what was stopped: which work a file is of, and whether it is done."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from itinera.cli import output
from itinera.cli.crews import AGENTS, Setting
from itinera.errors import BadArgument, BadFile

if TYPE_CHECKING:
    from itinera.records import Provenance

Restart = Annotated[bool, typer.Option("--restart", help="Begin anew, whatever is there already.")]


def plan_of(told: Provenance, setting: Setting, *more: object) -> str:
    """A fingerprint of all that decides what comes of the work; how many work on it does not."""
    decides = (
        told.version,
        _who(setting),
        setting.reply_seconds,
        setting.senses.fingerprint,
        sorted(told.digests.items()),
        told.seed,
        *more,
    )
    return hashlib.blake2b(repr(decides).encode(), digest_size=16).hexdigest()


def _who(setting: Setting) -> str:
    """The agent by name, and where it is one of ours that learned, by what it has learned."""
    from itinera.records.provenance import digest

    model = setting.model if setting.agent in AGENTS else None
    return setting.agent if model is None else f"{setting.agent} {digest(model)}"


def is_done(out: Path, plan: str) -> bool:
    """Whether the file is there and of this plan, and say so; one of another is not to be overwritten by chance."""
    if not out.exists() or out.with_name(f"{out.name}.draft").exists():
        return False
    from itinera.formats.native import read_header

    try:
        found = read_header(out).plan
    except BadFile:
        found = ""
    if found != plan:
        raise BadArgument(
            f"{out} is there already, and not from this run. Give another --out, or --restart to replace it."
        )
    output.remark(f"{out} is there already, from this very run; --restart makes it again.")
    return True
