"""The challenge server: serving, working for it, submitting to it, and hosting."""

from __future__ import annotations

import math
import secrets
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from itinera.api.files import check
from itinera.api.judging import judge
from itinera.api.live import make_live_host
from itinera.api.scoring import File
from itinera.errors import BadArgument, MissingExtra

if TYPE_CHECKING:
    from itinera.formats.hosted_challenge import ChallengePhase
    from itinera.server.host import ChallengeHost
    from itinera.server.messages import EntryReport
    from itinera.server.verdicts import Verdict
    from itinera.server.worker import Worker

POLL_SECONDS = 2.0


def serve(
    folder: File,
    *,
    database: str | None = None,
    host: str = "127.0.0.1",
    port: int = 8321,
    workers: int = 1,
    backup: File | None = None,
    lease_seconds: float = 60.0,
    on_start: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve a challenge until SIGINT or SIGTERM: its folder has a `challenge.toml` with phases.

    database: `postgresql://…`; None: a SQLite file in the folder.
    workers: processes of this machine that judge; 0 if `itinera work` does so elsewhere.
    backup: a folder for hourly backups.
    on_start: called with the URL when the server listens.

    >>> import itinera
    >>> itinera.serve("challenge/", on_start=print)  # doctest: +SKIP
    """
    _require_extra()
    from itinera.server.folder import ServerFolder
    from itinera.server.serving import run_server

    if not 0 <= workers <= 64:
        raise BadArgument(f"workers must be between 0 and 64 (got {workers}).")
    server = ServerFolder(Path(folder), database=database)
    try:
        run_server(
            server,
            host=host,
            port=port,
            workers=workers,
            backup=None if backup is None else Path(backup),
            lease_seconds=lease_seconds,
            on_start=on_start,
        )
    finally:
        server.close()


def work(
    url: str,
    challenge: File,
    *,
    token: str,
    name: str = "",
    limit_seconds: float = 3600.0,
    give_up_seconds: float = math.inf,
    on_overrun: Callable[[], None] = lambda: None,
) -> Worker:
    """A worker for a challenge server: call `run` to judge until `stop`.

    challenge: the folder of the challenge on this machine, with the answers of its tasks.
    limit_seconds: how long a judgement may take; then its lease ends, and `on_overrun` should end the process.
    give_up_seconds: how long the server may be silent before `run` ends with an error.

    >>> import itinera
    >>> itinera.work("https://host.example", "challenge/", token="itn_…").run()  # doctest: +SKIP
    """
    import os
    import socket

    from itinera.formats.hosted_challenge import read_hosted_challenge
    from itinera.server.client import Client
    from itinera.server.live_worker import LiveWorker
    from itinera.server.worker import Worker

    hosted = read_hosted_challenge(Path(challenge), need_files=True)
    own = name or f"{socket.gethostname()}-{os.getpid()}"
    is_live = any(phase.live is not None for phase in hosted.phases)
    return Worker(
        Client(url, token),
        hosted,
        judge_bundle,
        name=own,
        live=LiveWorker(Client(url, token, keep=True), hosted, make_live_host, name=own) if is_live else None,
        limit_seconds=limit_seconds,
        give_up_seconds=give_up_seconds,
        on_overrun=on_overrun,
    )


def judge_bundle(bundle: Path, phase: ChallengePhase, rows: Path) -> Verdict:
    """The verdict on the file of an entry, by the rules of a phase; its score bundle is written to `rows`."""
    from itinera.formats.live_log import read_live_log
    from itinera.server.judge import make_verdict

    if phase.live is None:
        found = judge(bundle, phase.rules, out=rows)
        return make_verdict(found.scores, badge=found.badge, stopped=found.stopped, failed=found.failed)
    found = judge(make_live_host(phase).rebuild(read_live_log(bundle), str(bundle)), phase.rules, out=rows)
    return make_verdict(found.scores, badge="live", stopped=found.stopped, failed=found.failed)


def submit(
    url: str,
    file: File,
    *,
    phase: str,
    token: str,
    method: str,
    notes: str = "",
    visibility: Literal["public", "anonymous", "host", "team"] = "public",
    tasks: File | None = None,
    worlds: File | None = None,
    wait: bool = False,
) -> EntryReport:
    """Submit predictions to a challenge server: checked here, uploaded, submitted; its report on the entry.

    tasks, worlds: the published ones, to check episodes, starts and steps before the upload.
    wait: return when the entry has been judged.

    >>> import itinera
    >>> itinera.submit("https://a.example", "preds.jsonl", phase="test", token="itn_…", method="Mine")  # doctest: +SKIP
    """
    from itinera.server.client import Client
    from itinera.server.messages import EntryReport, EntryRequest, NewEntry

    check(file, tasks=tasks, worlds=worlds, missing="zero")
    client = Client(url, token)
    bundle = client.upload(Path(file), phase=phase)
    # The same name in every repetition, so that a reply that is lost makes no second entry.
    request = EntryRequest(phase, bundle, method, secrets.token_urlsafe(16), notes, visibility)
    created = client.post("/api/entries", request, NewEntry)
    path = f"/api/entries/{created.entry}"
    report = client.get(path, EntryReport)
    while wait and report.state in ("queued", "running"):
        time.sleep(POLL_SECONDS)
        report = client.get(path, EntryReport)
    return report


def create_challenge(
    folder: File,
    *,
    tasks: File,
    worlds: File,
    protocol: str | None = None,
    suite: str | None = None,
    phase: str = "test",
    name: str = "",
    shots_per_day: int | None = None,
    shots: int | None = None,
    live: bool = False,
) -> None:
    """Write the folder of a new challenge with one phase; edit its `challenge.toml` for more.

    tasks: with their goals. They stay where they are, and only workers read them.
    live: agents act in the host's simulator, and nobody gets the worlds.

    >>> import itinera
    >>> itinera.create_challenge("challenge/", tasks="R2R_test.json", worlds="season/")  # doctest: +SKIP
    """
    import json
    import os

    from itinera.formats.hosted_challenge import write_hosted_challenge

    target = Path(folder).resolve()
    rows: dict[str, object] = {"name": name or target.name}
    keys: dict[str, object] = {
        "kind": "live" if live else None,
        "tasks": os.path.relpath(Path(tasks).resolve(), target),
        "worlds": os.path.relpath(Path(worlds).resolve(), target),
        "protocol": protocol,
        "suite": suite,
        "shots_per_day": shots_per_day,
        "shots": shots,
    }
    # A JSON string is a TOML string, except for code points that no path has here.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in rows.items()]
    lines += ["", f"[phases.{phase}]"]
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in keys.items() if value is not None]
    write_hosted_challenge(target, "\n".join(lines) + "\n")


def host(folder: File, *, database: str | None = None) -> ChallengeHost:
    """The commands of a challenge's host: phases, shots, tokens, entries, backups.

    >>> import itinera
    >>> with itinera.host("challenge/") as commands:  # doctest: +SKIP
    ...     commands.grant("Blue", "test", 2)
    """
    _require_extra()
    from itinera.server.host import ChallengeHost

    return ChallengeHost(Path(folder), database=database)


def restore_challenge(backup: File, folder: File, *, database: str | None = None) -> None:
    """Put a backup of a challenge server into an empty folder, and an empty database if it is one of PostgreSQL.

    >>> import itinera
    >>> itinera.restore_challenge("backup/", "challenge/")  # doctest: +SKIP
    """
    _require_extra()
    from itinera.server.host import restore_backup

    restore_backup(Path(backup), Path(folder), database=database)


def _require_extra() -> None:
    try:
        import itinera.server.serving  # noqa: F401
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("itinera"):
            raise
        raise MissingExtra("Challenge servers", str(error.name), "server") from None
