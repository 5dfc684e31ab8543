"""The JSON of the server's interface: requests with unknown fields are refused."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from itinera.server.verdicts import Verdict

_Short = Annotated[str, msgspec.Meta(max_length=200)]
_Stored = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # a number that the databases can hold

_MAIN_METRICS = ("SR", "SPL", "OSR", "nDTW", "SDTW", "NE")


class ErrorReply(msgspec.Struct, frozen=True):
    """The body of every refusal."""

    error: str


class UploadState(msgspec.Struct, frozen=True):
    """How much of a file has arrived."""

    received: int
    complete: bool


class JoinRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Found a team with an invitation, which is the token of the request."""

    team: _Short


class JoinReply(msgspec.Struct, frozen=True):
    """The token of the new team: the only time that it is shown."""

    team: str
    token: str


class EntryRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Submit an uploaded file."""

    phase: _Short
    bundle: _Short
    method: _Short
    request: _Short
    notes: Annotated[str, msgspec.Meta(max_length=5000)] = ""
    visibility: _Short = "public"


class EntryChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Change who may see an entry."""

    visibility: _Short


class ShotReport(msgspec.Struct, frozen=True):
    """The shots of a team in a phase; `left` is null without a limit."""

    used: int
    granted: int
    left: int | None


class PhaseReport(msgspec.Struct, frozen=True):
    """A phase, as everybody may see it."""

    name: str
    is_open: bool
    opens: int | None  # milliseconds since 1970, UTC
    closes: int | None
    shots_per_day: int | None
    shots: int | None
    max_bytes: int
    show: str
    reveal: str
    rules: dict[str, Any]
    today: ShotReport | None = None  # of the team that asks
    total: ShotReport | None = None
    resets: str | None = None  # when the shots of the day return


class ChallengeReport(msgspec.Struct, frozen=True):
    """The challenge and its phases."""

    name: str
    commitment: str | None
    phases: list[PhaseReport]


class EntryReport(msgspec.Struct, frozen=True):
    """An entry: where it stands, and its scores as far as they may be shown."""

    entry: str
    phase: str
    team: str | None  # null for an anonymous entry of others
    method: str
    submitted: int
    state: str  # playing, queued, running, scored, refused or failed
    visibility: str | None = None  # for the team itself
    place: int | None = None  # in the queue; 1 is next
    expected_seconds: float | None = None
    reason: str | None = None  # for the team itself: why it was refused or failed
    shot: str | None = None  # for the team itself: reserved, spent or returned
    verdict: Verdict | None = None

    @property
    def summary(self) -> str:
        """The entry in one line."""
        line = f"{self.entry}: {self.team or 'anonymous'}, {self.method}, phase {self.phase}: {self.state}"
        if self.place is not None:
            wait = "" if self.expected_seconds is None else f", in about {self.expected_seconds:.0f} s"
            line += f", place {self.place} of the queue{wait}"
        if self.reason and self.state in ("refused", "failed"):
            line += f": {self.reason}"
        if self.verdict is not None:
            line += f" ({self.verdict.badge}): {', '.join(_describe_scores(self.verdict))}"
        return line


def _describe_scores(verdict: Verdict) -> list[str]:
    """The metrics that people compare first."""
    names = [name for name in _MAIN_METRICS if name in verdict.scores] or list(verdict.scores)[:6]
    return [_describe_score(name, *verdict.scores[name]) for name in names]


def _describe_score(name: str, mean: float, low: float | None, high: float | None) -> str:
    interval = "" if low is None or high is None else f" [{low:.4g}, {high:.4g}]"
    return f"{name} {mean:.4g}{interval}"


class NewEntry(msgspec.Struct, frozen=True):
    """The id of a new entry."""

    entry: str


class QueueReport(msgspec.Struct, frozen=True):
    """The state of the queue."""

    queued: int
    running: int
    oldest_seconds: float | None  # age of the oldest waiting judgement
    mean_seconds: float | None  # that a judgement takes
    workers: int  # active in the last ten minutes


class LeaseRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worker asks for work, with the digests of the rules that it has."""

    worker: _Short
    phases: Annotated[dict[_Short, _Short], msgspec.Meta(max_length=100)]


class LeaseReply(msgspec.Struct, frozen=True):
    """A judgement to do; all null if there is none."""

    judgement: int | None = None
    attempt: int = 0
    entry: str = ""
    phase: str = ""
    bundle: str = ""
    lease_seconds: float = 0.0


class LeaseMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worker keeps its lease."""

    judgement: _Stored
    attempt: _Stored


class FinishMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worker has scores; `rows` names the score bundle, which it has uploaded."""

    judgement: _Stored
    attempt: _Stored
    verdict: Verdict
    rows: _Short | None = None


class EndMessage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A worker has no scores: the entry has faults ("refused"), or the worker itself ("released")."""

    judgement: _Stored
    attempt: _Stored
    outcome: Literal["refused", "released"]
    reason: Annotated[str, msgspec.Meta(max_length=20_000)]


class WriteReply(msgspec.Struct, frozen=True):
    """Whether the worker still had its lease; if not, nothing was written."""

    accepted: bool
