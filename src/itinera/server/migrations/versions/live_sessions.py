"""Sessions of live phases."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables of live sessions, and allow their badge."""
    op.create_table(
        "live_session",
        sa.Column("entry_id", sa.String(length=16), nullable=False),
        sa.Column("secret", sa.String(length=32), nullable=False),
        sa.Column("opened", sa.BigInteger(), nullable=False),
        sa.Column("deadline", sa.BigInteger(), nullable=False),
        sa.Column("closed", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["entry_id"], ["entry.id"], name=op.f("fk_live_session_entry_id")),
        sa.PrimaryKeyConstraint("entry_id", name=op.f("pk_live_session")),
    )
    op.create_index(op.f("ix_live_session_closed"), "live_session", ["closed"], unique=False)
    op.create_table(
        "live_answer",
        sa.Column("entry_id", sa.String(length=16), nullable=False),
        sa.Column("tour", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("turn", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("answer", sa.BigInteger(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["entry_id"], ["live_session.entry_id"], name=op.f("fk_live_answer_entry_id")),
        sa.PrimaryKeyConstraint("entry_id", "tour", "turn", name=op.f("pk_live_answer")),
    )
    with op.batch_alter_table("judgement") as batch:
        batch.drop_constraint(op.f("ck_judgement_badge"), type_="check")
        batch.create_check_constraint(op.f("ck_judgement_badge"), "badge IN ('live', 'replayed', 'scored', 'claimed')")
