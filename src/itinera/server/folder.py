"""The folder of a challenge server: its challenge file, its database unless that is elsewhere, and its blobs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from itinera.errors import BadArgument
from itinera.formats.hosted_challenge import HostedChallenge, read_hosted_challenge
from itinera.server.blobs import BlobFolder
from itinera.server.phases import store_challenge
from itinera.server.store import DATABASE_NAME, Store, now_ms


class ServerFolder:
    """What a server and the commands of its host open: challenge, store and blobs.

    database: the URL of a PostgreSQL database; None: a SQLite file in the folder.
    """

    def __init__(self, folder: str | Path, *, database: str | None = None, clock: Callable[[], int] = now_ms) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise BadArgument(f"There is no folder {folder}. Create a challenge with: itinera host new {folder}")
        self.challenge: HostedChallenge = read_hosted_challenge(self.folder)
        self.blobs = BlobFolder(self.folder)
        self.store = Store(database or self.folder / DATABASE_NAME, clock=clock)
        self.store.migrate()
        with self.store.write() as db:
            store_challenge(db, self.challenge, time=clock())

    def close(self) -> None:
        """Close the database."""
        self.store.close()
