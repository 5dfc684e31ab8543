"""A worker: leases judgements over HTTP, judges them with the host's files, and reports. Start with `Worker`.

The answers of sealed tasks are on this machine only. While it judges, a thread renews the lease; what is written after
a lost lease changes nothing on the server.
"""

from __future__ import annotations

import logging
import math
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from itinera.errors import BadFile, ItineraError
from itinera.formats.hosted_challenge import ChallengePhase, HostedChallenge
from itinera.server.client import Client, Refusal, Unreachable
from itinera.server.live_worker import LiveWorker
from itinera.server.messages import EndMessage, FinishMessage, LeaseMessage, LeaseReply, LeaseRequest, WriteReply
from itinera.server.verdicts import Verdict

# An entry, its phase, and the file for the rows of its scores -> the verdict. Raises BadFile for faults of the entry.
JudgeFn = Callable[[Path, ChallengePhase, Path], Verdict]

IDLE_SECONDS = 1.0  # between two questions for work
MAX_REASON = 20_000
logger = logging.getLogger("itinera")


class Worker:
    """Judges for one server, one entry at a time.

    limit_seconds: how long a judgement may take; then its lease is not renewed and `on_overrun` is called, which should
    end the process. live: plays the live phases meanwhile, in a thread.
    """

    def __init__(
        self,
        client: Client,
        challenge: HostedChallenge,
        judge: JudgeFn,
        *,
        name: str,
        limit_seconds: float = 3600.0,
        give_up_seconds: float = math.inf,
        idle_seconds: float = IDLE_SECONDS,
        on_overrun: Callable[[], None] = lambda: None,
        live: LiveWorker | None = None,
    ) -> None:
        self._client, self._challenge, self._judge, self._live = client, challenge, judge, live
        self._name, self._limit, self._idle, self._on_overrun = name, limit_seconds, idle_seconds, on_overrun
        self._give_up = give_up_seconds
        self._phases = {phase.name: phase.digest for phase in challenge.phases}
        self._stopping = threading.Event()

    def stop(self) -> None:
        """End `run` after the judgement in progress."""
        self._stopping.set()

    def run(self) -> int:
        """Judge until `stop`; the number of judgements.

        A server that does not answer is asked again, and an error after `give_up_seconds`.
        """
        if self._live is None:
            return self._run()
        thread = threading.Thread(target=self._live.run, args=(self._stopping,), name="itinera-live", daemon=True)
        thread.start()
        try:
            return self._run()
        finally:
            self._stopping.set()
            thread.join()

    def _run(self) -> int:
        judged, pause, answered = 0, self._idle, time.monotonic()
        while not self._stopping.is_set():
            try:
                busy = self.judge_next()
                pause, answered = self._idle, time.monotonic()
            except Unreachable as error:
                if time.monotonic() - answered > self._give_up:
                    raise
                logger.warning(str(error))
                busy, pause = False, min(pause * 2, 30.0)
            judged += busy
            if not busy:
                self._stopping.wait(pause)
        return judged

    def judge_next(self) -> bool:
        """Lease, judge and report one entry; False if there was none."""
        question = LeaseRequest(self._name, self._phases)
        # Not repeated: a lease whose reply is lost returns to the queue by itself.
        lease = self._client.post("/api/worker/lease", question, LeaseReply, repeat=False)
        if lease.judgement is None:
            return False
        with tempfile.TemporaryDirectory(prefix="itinera-judge-") as folder, self._renewing(lease):
            report = self._work(lease, Path(folder))
        path = "/api/worker/finish" if isinstance(report, FinishMessage) else "/api/worker/end"
        try:
            accepted = self._client.post(path, report, WriteReply).accepted
        except Refusal as error:  # it would be refused again
            logger.error(f"The server refused the report of entry {lease.entry}: {error}")
            reason = f"the report was refused: {error}"[:MAX_REASON]
            end = EndMessage(lease.judgement, lease.attempt, "released", reason)
            accepted = self._client.post("/api/worker/end", end, WriteReply).accepted
        if not accepted:
            logger.warning(f"The lease of entry {lease.entry} was lost; another worker judges it.")
        return True

    def _work(self, lease: LeaseReply, folder: Path) -> FinishMessage | EndMessage:
        assert lease.judgement is not None
        bundle, rows = folder / "entry", folder / "scores.jsonl"
        try:
            self._client.download(f"/api/worker/blobs/{lease.bundle}", bundle, lease.bundle)
            verdict = self._judge(bundle, self._challenge[lease.phase], rows)
            digest = self._client.upload(rows) if rows.exists() else None
            return FinishMessage(lease.judgement, lease.attempt, verdict, digest)
        except BadFile as error:
            # The entry's own faults; those of the host's files are not for participants.
            own = error.source == str(bundle)
            reason = str(error).replace(str(bundle), "entry") if own else "the host's files have faults."
            if own:
                return EndMessage(lease.judgement, lease.attempt, "refused", reason[:MAX_REASON])
            logger.error(str(error))
        except ItineraError as error:
            reason = str(error)
        except Exception as error:  # a defect of ours: the third loss fails the entry with this reason
            logger.exception(f"Judging entry {lease.entry} failed.")
            reason = f"internal error of the judge ({type(error).__name__})"
        return EndMessage(lease.judgement, lease.attempt, "released", reason[:MAX_REASON])

    @contextmanager
    def _renewing(self, lease: LeaseReply) -> Iterator[None]:
        """Renew the lease three times in its length, until the block ends or the judgement takes too long."""
        assert lease.judgement is not None
        done = threading.Event()
        message = LeaseMessage(lease.judgement, lease.attempt)
        latest = time.monotonic() + self._limit

        def renew() -> None:
            while not done.wait(lease.lease_seconds / 3):
                if time.monotonic() > latest:
                    logger.error(f"Judging entry {lease.entry} took more than {self._limit:g} seconds.")
                    self._on_overrun()
                    return
                with suppress(ItineraError):  # the next one may succeed
                    self._client.post("/api/worker/renew", message, WriteReply, repeat=False)

        thread = threading.Thread(target=renew, name="itinera-lease", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
