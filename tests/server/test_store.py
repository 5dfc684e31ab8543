"""The database: transactions, migrations, and the URLs that are accepted."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, select, text, update

from itinera.errors import BadArgument
from itinera.server.store import Store, database_url
from itinera.server.tables import chain, metadata


def test_the_migrated_tables_are_those_of_the_package(store):
    with store.read() as db:
        assert compare_metadata(MigrationContext.configure(db, opts={"compare_type": True}), metadata) == []
        names = set(inspect(db).get_table_names())
    assert names == {*metadata.tables, "alembic_version"}


def test_a_migrated_file_has_the_statements_of_a_fresh_one(tmp_path):
    """Also constraints and indices, which the comparison of Alembic does not know."""
    migrated = Store(tmp_path / "migrated.db")
    migrated.migrate()
    fresh = create_engine(f"sqlite:///{tmp_path / 'fresh.db'}")
    metadata.create_all(fresh)

    def statements(db):
        found = db.execute(
            text("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND name != 'alembic_version'")
        )
        # The order of the columns and constraints of a table, and spaces, do not matter.
        return {name: sorted(part.strip(" \n\t)(") for part in sql.split("\n")) for name, sql in found}

    def plain(lines):
        return sorted(line.strip(",() ").replace('"', "") for line in lines if line.strip(",() "))

    with migrated.read() as db, fresh.connect() as other:
        ours, theirs = statements(db), statements(other)
    assert set(ours) == set(theirs)
    assert {name: plain(lines) for name, lines in ours.items()} == {
        name: plain(lines) for name, lines in theirs.items()
    }
    migrated.close()
    fresh.dispose()


def test_migrating_twice_changes_nothing(store):
    with store.write() as db:
        db.execute(update(chain).values(number=7))
    store.migrate()
    with store.read() as db:
        assert db.execute(select(chain.c.number)).scalars().all() == [7]


def test_a_database_of_a_newer_release_is_refused(store):
    with store.write() as db:
        newest = db.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        db.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(BadArgument, match="belongs to a newer release"):
        store.migrate()
    with store.write() as db:  # other tests use the same PostgreSQL database
        db.execute(text("UPDATE alembic_version SET version_num = :newest"), {"newest": newest})


def test_a_block_that_fails_stores_nothing(store):
    def fail():
        with store.write() as db:
            db.execute(update(chain).values(number=7))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with store.read() as db:
        assert db.execute(select(chain.c.number)).scalar_one() != 7


def test_sqlite_is_durable_and_lets_others_read_while_it_writes(tmp_path):
    store = Store(tmp_path / "itinera.db")
    store.migrate()
    with store.read() as db:
        assert db.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        assert db.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2  # full
        assert db.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1
    with store.write() as writing:
        writing.execute(update(chain).values(number=7))
        with store.read() as db:
            assert db.execute(select(chain.c.number)).scalar_one() == 0
    store.close()


@pytest.mark.parametrize(
    "url", ["mysql://host/name", "sqlite://", "sqlite:///:memory:", "oracle+x://a", "nonsense", ""]
)
def test_other_databases_are_refused(url):
    with pytest.raises(BadArgument, match="database"):
        database_url(url)


def test_a_password_is_not_part_of_the_name():
    store = Store("postgresql://host:secret@localhost/itinera")
    assert store.name == "postgresql+psycopg://host:***@localhost/itinera"
    assert database_url(Path("a b.db")).database == "a b.db"
