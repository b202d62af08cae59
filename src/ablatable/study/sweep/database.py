"""A sweep kept in a database that several machines reach: Optuna's tables with heartbeats, and one row as a lock."""

from __future__ import annotations

import os
import socket
import uuid
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import sqlalchemy as sql
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, ProgrammingError, SQLAlchemyError

from ablatable.errors import InputError, RunFailed
from ablatable.record.locks import waited_for

if TYPE_CHECKING:
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial

HEARTBEAT_SECONDS = 15
GRACE_SECONDS = 60
"""A trial whose process has not been heard of for so long is taken over by another one."""

_LOCKS = sql.Table(
    "ablatable_locks",
    sql.MetaData(),
    sql.Column("name", sql.String(100), primary_key=True),
    sql.Column("holder", sql.String(200)),
)


class DatabaseKeeper:
    """A sweep in a database. The row of the sweep in `ablatable_locks` is the lock; it ends with the connection."""

    def __init__(self, url: str, name: str, heartbeat: int = HEARTBEAT_SECONDS, grace: int = GRACE_SECONDS) -> None:
        from optuna.exceptions import ExperimentalWarning
        from optuna.storages import RDBStorage, get_storage

        self.heartbeat: int | None = heartbeat
        self._name = name
        self._owner = f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        parsed = _parsed(url)
        self._shown = parsed.render_as_string(hide_password=True)
        self._file = _sqlite_file(parsed)
        with self._reachable(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            self._engine = sql.create_engine(parsed, pool_pre_ping=True)
            self._make_lock()
            with self.exclusive():  # two processes that make Optuna's tables at once would trip over each other
                self._rdb = RDBStorage(
                    url,
                    engine_kwargs={"pool_pre_ping": True},
                    heartbeat_interval=heartbeat,
                    grace_period=grace,
                )
        self._grace = grace
        self.storage: BaseStorage = get_storage(self._rdb)

    @property
    def owner(self) -> str:
        """This process's name among those that run trials."""
        return self._owner

    @contextmanager
    def exclusive(self) -> Generator[None]:
        """Inside, no other process takes a trial of this sweep."""
        if self._file is not None:
            with waited_for(self._file.with_name(f"{self._file.name}.lock")):
                yield
            return
        with self._engine.begin() as connection:
            if connection.dialect.name == "postgresql":  # a holder whose machine is gone must not hold it for hours
                connection.execute(sql.text("SET LOCAL idle_in_transaction_session_timeout = '15min'"))
            connection.execute(sql.update(_LOCKS).where(_LOCKS.c.name == self._name).values(holder=self._owner))
            yield

    def dead(self, running: FrozenTrial, owner: str | None) -> bool:
        """Whether the process that runs a trial has not been heard of for the grace period."""
        trial_id = running._trial_id  # pyright: ignore[reportPrivateUsage] (Optuna's storages know trials by it)
        now, heard = self._heard(trial_id)
        return heard is None or (now - heard).total_seconds() > self._grace

    def _heard(self, trial_id: int) -> tuple[datetime, datetime | None]:
        """The database's time now, and when the trial's process was last heard of, both in its own zone."""
        beats = sql.table("trial_heartbeats", sql.column("trial_id"), sql.column("heartbeat", sql.DateTime))
        with self._engine.connect() as connection:
            now = connection.execute(sql.select(sql.func.now(type_=sql.DateTime))).scalar_one()
            query = sql.select(beats.c.heartbeat).where(beats.c.trial_id == trial_id)
            heard = connection.execute(query).scalar_one_or_none()
        return now.replace(tzinfo=None), None if heard is None else heard.replace(tzinfo=None)

    def beat(self, trial_id: int) -> None:
        """Tell the others that the trial's process lives."""
        self._rdb.record_heartbeat(trial_id)

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    def _make_lock(self) -> None:
        if self._file is not None:
            return
        for attempt in range(5):
            try:
                _LOCKS.metadata.create_all(self._engine)
                break
            except (IntegrityError, ProgrammingError):  # another process makes the table at this moment
                if attempt == 4:
                    raise
        with self._engine.begin() as connection:
            if connection.execute(sql.select(_LOCKS.c.name).where(_LOCKS.c.name == self._name)).first():
                return
        try:
            with self._engine.begin() as connection:
                connection.execute(sql.insert(_LOCKS).values(name=self._name, holder=self._owner))
        except IntegrityError:
            return  # another process was faster

    @contextmanager
    def watched(self) -> Generator[None]:
        """Around the work of a sweep: says in one sentence that the database is gone.

        Raises:
            RunFailed: it stopped answering.
        """
        from optuna.exceptions import StorageInternalError

        try:
            yield
        except (SQLAlchemyError, StorageInternalError) as error:
            raise RunFailed(
                f"the sweep's storage {self._shown} stopped answering ({_reason(error)}); finished runs are kept, and "
                "the same command goes on"
            ) from error

    @contextmanager
    def _reachable(self) -> Generator[None]:
        from optuna.exceptions import StorageInternalError

        try:
            yield
        except (SQLAlchemyError, StorageInternalError) as error:
            raise InputError(f"--storage {self._shown}: cannot be used ({_reason(error)}); {_REMEDY}") from error
        except ImportError as error:
            raise InputError(
                f"--storage {self._shown}: its driver is not installed; for PostgreSQL: pip install "
                "'ablatable[postgres]', with a URL that begins with postgresql+psycopg://"
            ) from error


_REMEDY = "check that the server runs and that user, password, host and database are right"


def _parsed(url: str) -> sql.URL:
    try:
        return sql.make_url(url)
    except ArgumentError as error:
        raise InputError(
            "--storage takes a database URL, such as postgresql+psycopg://user@host/database; without it the sweep is "
            "kept in runs/sweeps/"
        ) from error


def _sqlite_file(parsed: sql.URL) -> Path | None:
    """The file of an SQLite database, whose lock is a file too; None for a server."""
    if parsed.get_backend_name() != "sqlite":
        return None
    path = Path(parsed.database or ":memory:")
    if path.name == ":memory:" or not path.absolute().parent.is_dir():
        raise InputError(f"--storage {parsed}: SQLite keeps a sweep in a file of a folder that is there; name one")
    return path


def _reason(error: BaseException) -> str:
    """The first line of what the database said."""
    while error.__cause__ is not None and not isinstance(error, NoSuchModuleError):
        error = error.__cause__
    lines = [line.strip() for line in str(getattr(error, "orig", None) or error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
