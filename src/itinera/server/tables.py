"""The tables of a challenge server, for SQLite and PostgreSQL.

Times are whole milliseconds since 1970, UTC. Structured values are JSON text, which both databases keep byte for byte.
A change here needs a new file in `migrations/versions`; a test compares a migrated database with a fresh one.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

# Names for every constraint, so that migrations can drop them on both databases.
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite counts up only columns of the type INTEGER.
_Serial = BigInteger().with_variant(Integer, "sqlite")

team = Table(
    "team",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("name", String(80), nullable=False, unique=True),
    Column("created", BigInteger, nullable=False),
    Column("banned", Text),  # the reason; NULL: not banned
)

token = Table(
    "token",
    metadata,
    Column("sha256", String(64), primary_key=True),  # of the token, which is shown once and stored nowhere
    Column("prefix", String(12), nullable=False),  # its first characters, to tell tokens apart
    Column("scope", String(12), nullable=False),
    Column("team_id", ForeignKey("team.id")),  # NULL for workers and invitations
    Column("label", String(80), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("expires", BigInteger),
    Column("revoked", BigInteger),
    CheckConstraint("scope IN ('submit', 'read', 'worker', 'invite')", name="scope"),
)

season = Table(
    "season",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("name", String(200), nullable=False),
    Column("commitment", String(64)),  # SHA-256 of the secret of the season
    Column("created", BigInteger, nullable=False),
)

phase = Table(
    "phase",
    metadata,
    Column("name", String(40), primary_key=True),
    Column("season_id", ForeignKey("season.id"), nullable=False),
    Column("position", Integer, nullable=False),  # in the challenge file
    Column("rules", Text, nullable=False),  # JSON: protocol, suite and more, for people; workers read their own file
    Column("digest", String(64), nullable=False),  # of the rules; a worker with other rules is refused
    Column("opens", BigInteger),
    Column("closes", BigInteger),
    Column("switch", String(8)),  # 'open' or 'closed' by the host's command, whatever the times
    Column("shots_per_day", Integer),
    Column("shots", Integer),
    Column("show", String(8), nullable=False),  # 'rows' or 'totals'
    Column("reveal", String(8), nullable=False),  # scores are public 'always' or 'closed'
    Column("max_bytes", BigInteger, nullable=False),  # of an entry
    CheckConstraint("switch IN ('open', 'closed')", name="switch"),
    CheckConstraint("show IN ('rows', 'totals')", name="show"),
    CheckConstraint("reveal IN ('always', 'closed')", name="reveal"),
)

blob = Table(
    "blob",
    metadata,
    Column("sha256", String(64), primary_key=True),
    Column("size", BigInteger, nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("team_id", ForeignKey("team.id"), index=True),  # that uploaded it first; NULL: a worker
)

entry = Table(
    "entry",
    metadata,
    Column("id", String(16), primary_key=True),
    Column("team_id", ForeignKey("team.id"), nullable=False),
    Column("phase", ForeignKey("phase.name"), nullable=False),
    Column("bundle", ForeignKey("blob.sha256"), nullable=False, index=True),
    Column(
        "request", String(64), nullable=False
    ),  # chosen by the client, so that a repeated request makes no new entry
    Column("method", String(200), nullable=False),
    Column("notes", Text, nullable=False),
    Column("visibility", String(10), nullable=False),
    Column("hidden", Text),  # the host's reason; NULL: not hidden
    Column("submitted", BigInteger, nullable=False),
    UniqueConstraint("team_id", "request"),
    CheckConstraint("visibility IN ('team', 'host', 'anonymous', 'public', 'withdrawn')", name="visibility"),
    Index(None, "phase", "submitted"),
)

judgement = Table(
    "judgement",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("entry_id", ForeignKey("entry.id"), nullable=False),
    Column("number", Integer, nullable=False),  # 1 for the first judgement of the entry, then counted up by reruns
    Column("state", String(8), nullable=False),
    Column("queued", BigInteger, nullable=False),
    Column("attempt", Integer, nullable=False),  # counts leases; every write of a worker names its own
    Column("losses", Integer, nullable=False),  # leases that ended without an answer
    Column("worker", String(80)),
    Column("leased", BigInteger, index=True),
    Column("lease_until", BigInteger),
    Column("finished", BigInteger, index=True),
    Column("fingerprint", String(64)),  # of the metric definitions
    Column("badge", String(10)),
    Column("totals", Text),  # JSON of a Verdict: scores with intervals, scenes, coverage
    Column("rows", ForeignKey("blob.sha256")),  # the score bundle
    Column("reason", Text),  # why it was refused or failed
    UniqueConstraint("entry_id", "number"),
    CheckConstraint("state IN ('queued', 'running', 'scored', 'refused', 'failed')", name="state"),
    CheckConstraint("badge IN ('live', 'replayed', 'scored', 'claimed')", name="badge"),
    Index(None, "state", "queued"),
)

# A session of a live phase; its entry gets a judgement when it closes.
live_session = Table(
    "live_session",
    metadata,
    Column("entry_id", ForeignKey("entry.id"), primary_key=True),
    Column("secret", String(32), nullable=False),  # decides order, names and seeds
    Column("opened", BigInteger, nullable=False),
    Column("deadline", BigInteger, nullable=False),
    Column("closed", BigInteger, index=True),  # NULL: it is being played
)

# Every answer of an agent, stored before the next observation leaves: what is here has happened, and nothing else.
live_answer = Table(
    "live_answer",
    metadata,
    Column("entry_id", ForeignKey("live_session.entry_id"), primary_key=True),
    Column("tour", Integer, primary_key=True, autoincrement=False),
    Column("turn", Integer, primary_key=True, autoincrement=False),  # 0: the tour has begun
    Column("answer", BigInteger, nullable=False),  # an action, or one of formats.live_log; of turn 0 always 0
    Column("reason", Text),
)

# The ledger: one row for every shot ever taken.
shot = Table(
    "shot",
    metadata,
    Column("id", _Serial, primary_key=True),
    Column("team_id", ForeignKey("team.id"), nullable=False),
    Column("phase", ForeignKey("phase.name"), nullable=False),
    Column("entry_id", ForeignKey("entry.id"), nullable=False, unique=True),
    Column("day", String(10), nullable=False),  # UTC, YYYY-MM-DD
    Column("state", String(8), nullable=False),
    Column("created", BigInteger, nullable=False),
    Column("settled", BigInteger),
    Column("why", Text),
    CheckConstraint("state IN ('reserved', 'spent', 'returned')", name="state"),
    Index(None, "team_id", "phase", "day"),
)

# What a team has taken and may take. A reservation is one conditional update of two of these rows; a test and
# `check_ledger` compare them with the ledger.
quota = Table(
    "quota",
    metadata,
    Column("team_id", ForeignKey("team.id"), primary_key=True),
    Column("phase", ForeignKey("phase.name"), primary_key=True),
    Column("day", String(10), primary_key=True),  # '' for all days
    Column("used", Integer, nullable=False),  # reserved or spent
    Column("granted", Integer, nullable=False),  # by the host, beyond the phase's limit
    CheckConstraint("used >= 0", name="used"),
)

event = Table(
    "event",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("time", BigInteger, nullable=False),
    Column("kind", String(40), nullable=False),
    Column("line", Text, nullable=False),  # JSON of the event, as its digest covers it
    Column("digest", String(64), nullable=False, unique=True),
)

# The next event's number and the line of the last one. Its only row is locked by whoever appends.
chain = Table(
    "chain",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("number", BigInteger, nullable=False),
    Column("line", Text, nullable=False),
)
