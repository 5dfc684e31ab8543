"""The first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_SERIAL = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create all tables, and the beginning of the event chain."""
    op.create_table(
        "chain",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chain")),
    )
    op.create_table(
        "event",
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("time", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(length=40), nullable=False),
        sa.Column("line", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_event")),
        sa.UniqueConstraint("digest", name=op.f("uq_event_digest")),
    )
    op.create_table(
        "season",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("commitment", sa.String(length=64), nullable=True),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_season")),
    )
    op.create_table(
        "team",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("banned", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_team")),
        sa.UniqueConstraint("name", name=op.f("uq_team_name")),
    )
    op.create_table(
        "blob",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("team_id", _SERIAL, nullable=True),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_blob_team_id")),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_blob")),
    )
    op.create_index(op.f("ix_blob_team_id"), "blob", ["team_id"], unique=False)
    op.create_table(
        "phase",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("season_id", _SERIAL, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("rules", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(length=64), nullable=False),
        sa.Column("opens", sa.BigInteger(), nullable=True),
        sa.Column("closes", sa.BigInteger(), nullable=True),
        sa.Column("switch", sa.String(length=8), nullable=True),
        sa.Column("shots_per_day", sa.Integer(), nullable=True),
        sa.Column("shots", sa.Integer(), nullable=True),
        sa.Column("show", sa.String(length=8), nullable=False),
        sa.Column("reveal", sa.String(length=8), nullable=False),
        sa.Column("max_bytes", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("reveal IN ('always', 'closed')", name=op.f("ck_phase_reveal")),
        sa.CheckConstraint("show IN ('rows', 'totals')", name=op.f("ck_phase_show")),
        sa.CheckConstraint("switch IN ('open', 'closed')", name=op.f("ck_phase_switch")),
        sa.ForeignKeyConstraint(["season_id"], ["season.id"], name=op.f("fk_phase_season_id")),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_phase")),
    )
    op.create_table(
        "token",
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("prefix", sa.String(length=12), nullable=False),
        sa.Column("scope", sa.String(length=12), nullable=False),
        sa.Column("team_id", _SERIAL, nullable=True),
        sa.Column("label", sa.String(length=80), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("expires", sa.BigInteger(), nullable=True),
        sa.Column("revoked", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("scope IN ('submit', 'read', 'worker', 'invite')", name=op.f("ck_token_scope")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_token_team_id")),
        sa.PrimaryKeyConstraint("sha256", name=op.f("pk_token")),
    )
    op.create_table(
        "entry",
        sa.Column("id", sa.String(length=16), nullable=False),
        sa.Column("team_id", _SERIAL, nullable=False),
        sa.Column("phase", sa.String(length=40), nullable=False),
        sa.Column("bundle", sa.String(length=64), nullable=False),
        sa.Column("request", sa.String(length=64), nullable=False),
        sa.Column("method", sa.String(length=200), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("visibility", sa.String(length=10), nullable=False),
        sa.Column("hidden", sa.Text(), nullable=True),
        sa.Column("submitted", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "visibility IN ('team', 'host', 'anonymous', 'public', 'withdrawn')", name=op.f("ck_entry_visibility")
        ),
        sa.ForeignKeyConstraint(["bundle"], ["blob.sha256"], name=op.f("fk_entry_bundle")),
        sa.ForeignKeyConstraint(["phase"], ["phase.name"], name=op.f("fk_entry_phase")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_entry_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_entry")),
        sa.UniqueConstraint("team_id", "request", name=op.f("uq_entry_team_id_request")),
    )
    op.create_index(op.f("ix_entry_bundle"), "entry", ["bundle"], unique=False)
    op.create_index(op.f("ix_entry_phase_submitted"), "entry", ["phase", "submitted"], unique=False)
    op.create_table(
        "quota",
        sa.Column("team_id", _SERIAL, nullable=False),
        sa.Column("phase", sa.String(length=40), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("used", sa.Integer(), nullable=False),
        sa.Column("granted", sa.Integer(), nullable=False),
        sa.CheckConstraint("used >= 0", name=op.f("ck_quota_used")),
        sa.ForeignKeyConstraint(["phase"], ["phase.name"], name=op.f("fk_quota_phase")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_quota_team_id")),
        sa.PrimaryKeyConstraint("team_id", "phase", "day", name=op.f("pk_quota")),
    )
    op.create_table(
        "judgement",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("entry_id", sa.String(length=16), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("queued", sa.BigInteger(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("losses", sa.Integer(), nullable=False),
        sa.Column("worker", sa.String(length=80), nullable=True),
        sa.Column("leased", sa.BigInteger(), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("finished", sa.BigInteger(), nullable=True),
        sa.Column("fingerprint", sa.String(length=64), nullable=True),
        sa.Column("badge", sa.String(length=10), nullable=True),
        sa.Column("totals", sa.Text(), nullable=True),
        sa.Column("rows", sa.String(length=64), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.CheckConstraint("badge IN ('replayed', 'scored', 'claimed')", name=op.f("ck_judgement_badge")),
        sa.CheckConstraint(
            "state IN ('queued', 'running', 'scored', 'refused', 'failed')", name=op.f("ck_judgement_state")
        ),
        sa.ForeignKeyConstraint(["entry_id"], ["entry.id"], name=op.f("fk_judgement_entry_id")),
        sa.ForeignKeyConstraint(["rows"], ["blob.sha256"], name=op.f("fk_judgement_rows")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_judgement")),
        sa.UniqueConstraint("entry_id", "number", name=op.f("uq_judgement_entry_id_number")),
    )
    op.create_index(op.f("ix_judgement_finished"), "judgement", ["finished"], unique=False)
    op.create_index(op.f("ix_judgement_leased"), "judgement", ["leased"], unique=False)
    op.create_index(op.f("ix_judgement_state_queued"), "judgement", ["state", "queued"], unique=False)
    op.create_table(
        "shot",
        sa.Column("id", _SERIAL, nullable=False),
        sa.Column("team_id", _SERIAL, nullable=False),
        sa.Column("phase", sa.String(length=40), nullable=False),
        sa.Column("entry_id", sa.String(length=16), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("created", sa.BigInteger(), nullable=False),
        sa.Column("settled", sa.BigInteger(), nullable=True),
        sa.Column("why", sa.Text(), nullable=True),
        sa.CheckConstraint("state IN ('reserved', 'spent', 'returned')", name=op.f("ck_shot_state")),
        sa.ForeignKeyConstraint(["entry_id"], ["entry.id"], name=op.f("fk_shot_entry_id")),
        sa.ForeignKeyConstraint(["phase"], ["phase.name"], name=op.f("fk_shot_phase")),
        sa.ForeignKeyConstraint(["team_id"], ["team.id"], name=op.f("fk_shot_team_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shot")),
        sa.UniqueConstraint("entry_id", name=op.f("uq_shot_entry_id")),
    )
    op.create_index(op.f("ix_shot_team_id_phase_day"), "shot", ["team_id", "phase", "day"], unique=False)
    op.execute("INSERT INTO chain (id, number, line) VALUES (1, 0, '')")
