"""A PostgreSQL server of the tests: Debian's binaries, a temporary folder, a socket in it and no network."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psycopg
import pytest

USER = "itinera"
NOBODY = 65534


def find_binaries() -> Path:
    """The folder of PostgreSQL's programs; skips the test without them, or fails it if ITINERA_POSTGRES is set."""
    named = os.environ.get("ITINERA_POSTGRES")
    places = [Path(named)] if named else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    on_path = shutil.which("initdb")
    places = [Path(on_path).parent, *places] if on_path and not named else places
    for place in reversed(places):
        if (place / "initdb").exists():
            return place
    if named:
        pytest.fail("PostgreSQL is not installed: apt-get install postgresql")
    pytest.skip("needs PostgreSQL: apt-get install postgresql")


class Cluster:
    """A PostgreSQL server that can be killed and started again. It refuses to run as root, so it runs as nobody."""

    def __init__(self, folder: Path | None = None) -> None:
        self.binaries = find_binaries()
        # A folder of its own, not one of pytest's, which only root may enter; short, as the path of a socket must be.
        self.folder = folder or Path(tempfile.mkdtemp(prefix="itinera-pg-"))
        self.data = self.folder / "data"
        if not self.data.exists():
            if os.getuid() == 0:
                os.chown(self.folder, NOBODY, NOBODY)
            options = ["--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C", f"--username={USER}"]
            self._run("initdb", *options, "-D", str(self.data))

    def _run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
        lower = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"] if os.getuid() == 0 else []
        command = [*lower, str(self.binaries / program), *arguments]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        if check and done.returncode:
            raise RuntimeError(f"{program}: {done.stdout.decode()}{done.stderr.decode()}")
        return done

    def start(self) -> None:
        """Start the server and wait until it answers; after a kill, until its last processes have gone."""
        # Nothing is lost without fsync when processes are killed, only when the machine fails.
        options = f"-c listen_addresses= -k {self.folder} -c max_connections=60 -c shared_buffers=16MB -c fsync=off"
        for _ in range(100):
            log = str(self.folder / "log")
            if (
                self._run(
                    "pg_ctl", "-D", str(self.data), "-l", log, "-w", "-o", options, "start", check=False
                ).returncode
                == 0
            ):
                return
            time.sleep(0.1)
        raise RuntimeError((self.folder / "log").read_text())

    def kill(self) -> None:
        """SIGKILL to the server, as if the machine had lost it."""
        pid = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """Stop the server."""
        self._run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop", check=False)

    def url(self, database: str) -> str:
        """The URL of a database."""
        return f"postgresql://{USER}@/{database}?host={self.folder}"

    def create(self, database: str) -> str:
        """The URL of a database that is empty now."""
        with psycopg.connect(self.url("postgres"), autocommit=True) as db:
            if db.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database]).fetchone() is None:
                db.execute(f"CREATE DATABASE {database}")
        with psycopg.connect(self.url(database), autocommit=True) as db:
            db.execute("DROP SCHEMA public CASCADE")
            db.execute("CREATE SCHEMA public")
        return self.url(database)
