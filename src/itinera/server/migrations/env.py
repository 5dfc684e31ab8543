"""The entry of Alembic: applies the migrations on the connection that `Store.migrate` passes."""

from __future__ import annotations

from alembic import context

from itinera.server.tables import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,  # SQLite changes a table by copying it
)
context.run_migrations()
