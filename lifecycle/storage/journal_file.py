"""The journal as a file: SQLite with a write-ahead log, so that many processes write and read at once.

Hooks are short and may be killed anywhere. A killed writer leaves a log that the next one who opens the
file rolls back or takes over. A writer that finds the file busy for longer than it may wait leaves its
entries in `journal.pending/`, one file each time, and the next writer takes them up in its own transaction.

Sources: https://www.sqlite.org/wal.html (who waits for whom, and that the file system must be local),
https://www.sqlite.org/pragma.html#pragma_synchronous (NORMAL loses the last entries in a power cut, but
never the file).
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

from lifecycle.core.errors import LockBusy, Refused
from lifecycle.storage import regular_files, store

WAIT_SECONDS = 0.2
"""How long a writer waits for another process."""

VERSION = 1
KEPT_SECONDS = 400 * 86_400.0
KEPT_ENTRIES = 50_000
PRUNE_EVERY = 500
"""The writer of an entry whose number is a multiple of this deletes old entries."""

LOG_BYTES = 512 * 1024
"""Size at which SQLite's log beside the file (after some thirty writes) is merged into the file."""

PENDING = "journal.pending"
PENDING_AT_ONCE = 200
LOCK = "journal.lock"

Values = dict[str, Any]
"""An entry's values by the names of its columns; its detail is a JSON object, and no key is ""."""

_TEXTS = ("system", "kind", "task", "actor", "session", "source", "target", "key")
_COLUMNS = ("at", *_TEXTS, "detail")
_TYPES = {"at": float, **dict.fromkeys(_TEXTS, str), "detail": dict}
_SCHEMA = f"""
CREATE TABLE entry (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    {" TEXT NOT NULL, ".join(_TEXTS[:-1])} TEXT NOT NULL,
    key TEXT UNIQUE CHECK (key <> ''),
    detail TEXT NOT NULL
);
CREATE INDEX entry_at ON entry (at);
CREATE TRIGGER entry_stays BEFORE UPDATE ON entry
BEGIN SELECT RAISE (ABORT, 'an entry is never changed'); END;
PRAGMA user_version = {VERSION};
"""
_INSERT = (
    f"INSERT INTO entry ({', '.join(_COLUMNS)}) VALUES (:{', :'.join(_COLUMNS)}) "  # noqa: S608 -- names of our own
    "ON CONFLICT (key) DO NOTHING"
)
_SELECT = f"SELECT {', '.join(_COLUMNS)} FROM entry WHERE "  # noqa: S608 -- names of our own


class _NewerError(sqlite3.Error):
    """The file was made by a version that we do not know."""


class _BrokenError(sqlite3.Error):
    """The file is not a journal."""

    sqlite_errorcode = sqlite3.SQLITE_NOTADB


def append(path: Path, entries: Sequence[Values]) -> str:
    """Write the entries, all or none; returns a remark for the log, "" if all is well.

    Raises:
        OSError: the file system refuses.
    """
    path.parent.mkdir(exist_ok=True)
    remark = ""
    try:
        try:
            _append(path, entries)
        except sqlite3.Error as error:
            if _is_busy(error):
                raise
            # It is broken; or another process, which found it broken, set it aside while it was opened.
            remark = _set_aside(path)
            _append(path, entries)
    except _NewerError:
        return "nothing was written: a newer lifecycle made the journal, and only it writes to it"
    except (sqlite3.Error, LockBusy) as error:
        if not _is_busy(error):
            return f"{remark} nothing was written ({error})".lstrip()
        _leave(path, entries)
    return remark


def entries(path: Path, since: float, count: int, equal: Mapping[str, str]) -> list[Values]:
    """The values of every entry from `since` on, in order; what waits to be taken up is among them.

    Args:
        path: the journal's path.
        since: seconds since the epoch.
        count: at most this many, the newest; -1 for all.
        equal: the values that text columns must have.

    Raises:
        Refused: the journal cannot be read.
        OSError: the file system refuses.
    """
    waiting = [values for _, rows in _waiting(path) for values in rows]
    kept = _rows(path, since, count, equal) if path.exists() else []
    keys = {values["key"] for values in kept}
    for values in waiting:
        is_equal = all(values[name] == text for name, text in equal.items())
        if is_equal and values["at"] >= since and values["key"] not in keys:
            kept.append(values)
    return sorted(kept, key=lambda values: float(values["at"]))[-count if count > 0 else 0 :]


def _append(path: Path, entries: Sequence[Values]) -> None:
    with _begun(path) as database:
        pending = _waiting(path)
        for _, rows in pending:
            database.executemany(_INSERT, [_row(values) for values in rows])
        last = database.execute("SELECT max(id) FROM entry").fetchone()[0] or 0
        database.executemany(_INSERT, [_row(entry) for entry in entries])
        newest = database.execute("SELECT max(id) FROM entry").fetchone()[0] or 0
        if newest // PRUNE_EVERY > last // PRUNE_EVERY:
            _prune(database, newest)
        database.execute("COMMIT")
    # A kill before this leaves them to the next one, which finds their keys in the journal.
    for file, _ in pending:
        file.unlink(missing_ok=True)


def _prune(database: sqlite3.Connection, newest: int) -> None:
    (at,) = database.execute("SELECT max(at) FROM entry").fetchone()
    # If one clock, ours or that of an entry, was wrong once, recent entries must not be lost.
    oldest = (min(at, time.time()) - KEPT_SECONDS, newest - KEPT_ENTRIES)
    database.execute("DELETE FROM entry WHERE at < ? OR id <= ?", oldest)


@contextlib.contextmanager
def _begun(path: Path) -> Iterator[sqlite3.Connection]:
    """The journal with a transaction begun, made if it does not exist; rolled back unless committed.

    Raises:
        sqlite3.Error: it is busy, broken, or cannot be written.
        _NewerError, _BrokenError: the file has another version, or is not a journal.
    """
    if not path.exists():
        _make(path)
    with _closing(_open(path, "rw"), path) as database:  # closing rolls back what was not committed
        database.execute("PRAGMA synchronous = NORMAL")
        database.execute("BEGIN IMMEDIATE")
        _check(database)
        yield database


@contextlib.contextmanager
def _closing(database: sqlite3.Connection, path: Path) -> Iterator[sqlite3.Connection]:
    """Close the journal at the end; its log stays beside it until it has LOG_BYTES.

    The last process to close the file merges its log, and waits for the disk three times: tens of
    milliseconds of each hook. A reader cannot write, so a reader that closes last leaves the log.

    Sources: https://www.sqlite.org/wal.html#ckpt and https://github.com/WiseLibs/better-sqlite3/issues/376
    """
    try:
        yield database
    finally:
        log, _ = _beside(path)
        with contextlib.ExitStack() as at_last:
            # On failure it is closed like any other.
            with contextlib.suppress(sqlite3.Error, OSError):
                if not log.exists() or log.stat().st_size < LOG_BYTES:
                    reader = at_last.enter_context(contextlib.closing(_open(path, "ro")))
                    reader.execute("PRAGMA user_version")
            database.close()


def _open(path: Path, mode: str) -> sqlite3.Connection:
    # Not `as_uri`, for which Python 3.14 imports a client for HTTP.
    uri = f"file://{quote_from_bytes(os.fsencode(path))}?mode={mode}"
    # Two statements may have to wait: the first, and the one that begins to write.
    return sqlite3.connect(uri, uri=True, timeout=WAIT_SECONDS / 2, isolation_level=None)


def _check(database: sqlite3.Connection) -> None:
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > VERSION:
        raise _NewerError
    if version < VERSION:
        raise _BrokenError("it has no version")


def _make(path: Path) -> None:
    """Make a new journal, complete before it gets its name; one that was made meanwhile is kept.

    Raises:
        LockBusy: another process begins it or sets it aside.
    """
    with store.locked(path.parent / LOCK, WAIT_SECONDS, "another process begins the journal"):
        if path.exists():
            return
        new = path.with_name(f"{path.name}.new")
        # What a killed maker left; and a deleted journal's log, which would be taken for the new one's.
        for left in (new, *_beside(new), *_beside(path)):
            left.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as database:
            # The disk is waited for once, before the file gets its name, and not at each statement.
            database.execute("PRAGMA synchronous = OFF")
            database.executescript(_SCHEMA)
            database.execute("PRAGMA journal_mode = WAL")
        with new.open("rb") as whole:
            os.fsync(whole)
        new.rename(path)


def _beside(path: Path) -> tuple[Path, Path]:
    """The files that SQLite keeps beside a journal: its log, and the index that processes share."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")


def _set_aside(path: Path) -> str:
    """Rename a broken journal, unless another process did; returns a remark for the log."""
    with store.locked(path.parent / LOCK, WAIT_SECONDS, "another process sets the journal aside"):
        if not path.exists():  # another process did, and nobody has begun it anew
            return ""
        try:
            with _begun(path) as database:
                # Every page is checked, which takes a while.
                (verdict,) = database.execute("PRAGMA quick_check(1)").fetchone()
                if verdict != "ok":
                    raise _BrokenError(verdict.splitlines()[-1])
                return ""
        except sqlite3.Error as error:
            if not _is_broken(error):
                raise
        # The log first: beside a new journal, the old log would be taken for the new one's.
        written, shared = _beside(path)
        if written.exists():
            store.set_aside(written, "unreadable")
        shared.unlink(missing_ok=True)
        kept = store.set_aside(path, "unreadable")
        return f"it was broken, is kept as {kept.name}, and was begun anew."


def _leave(path: Path, entries: Iterable[Values]) -> None:
    """Put entries into `journal.pending/`, where the next writer takes them up; raises OSError."""
    folder = path.parent / PENDING
    if regular_files.strange_folder(str(folder), is_shared=True):
        return  # it is not ours, and entries are not worth waiting or failing
    folder.mkdir(exist_ok=True)
    name = f"{time.time_ns()}-{os.urandom(8).hex()}"
    # A process that is killed between write and delete must not cause a second write.
    rows = [{**own, "key": own["key"] or f"pending:{name}:{n}"} for n, own in enumerate(entries)]
    store.write(folder / f"{name}.json", json.dumps(rows).encode("ascii"))


def _waiting(path: Path) -> list[tuple[Path, list[Values]]]:
    """The entries in `journal.pending/`, by file: its path, and its entries' values."""
    folder = path.parent / PENDING
    if regular_files.strange_folder(str(folder), is_shared=True):
        return []
    waiting = []
    for file in sorted(folder.glob("*.json"))[:PENDING_AT_ONCE]:
        with contextlib.suppress(regular_files.StrangeFileError):
            snapshot = store.read(file, follow=False)
            if snapshot is not None:
                waiting.append((file, _left(snapshot.content)))
    return waiting


def _left(content: bytes) -> list[Values]:
    """Our entries in one file; other content is ignored, since it would stop every writer."""
    with contextlib.suppress(ValueError, RecursionError):
        rows = json.loads(content)
        return [values for values in rows if _is_ours(values)] if isinstance(rows, list) else []
    return []


def _is_ours(values: object) -> bool:
    """True if these are all values of an entry with a key, each of its type, and SQLite takes them."""
    types = {n: type(v) for n, v in values.items()} if isinstance(values, dict) else {}
    with contextlib.suppress(ValueError, RecursionError):
        # Half a pair of surrogates has no encoding.
        json.dumps(values, ensure_ascii=False, allow_nan=False).encode()
        return types == _TYPES and isinstance(values, dict) and values["key"] != ""
    return False


def _rows(path: Path, since: float, count: int, equal: Mapping[str, str]) -> list[Values]:
    # The names are columns of ours; the newest come first, so that a limit keeps them.
    names = [name for name in _TEXTS if name in equal]
    where = " AND ".join(("at >= ?", *(f"{name} = ?" for name in names)))
    parameters = (since, *(equal[name] for name in names), count)
    query = f"{_SELECT}{where} ORDER BY at DESC, id DESC LIMIT ?"
    try:
        try:
            return _selected(path, "rw", query, parameters)
        except sqlite3.OperationalError as error:
            if _is_busy(error):
                raise
            # If nothing can be written, a log is read only if SQLite shared it before; else only the file.
            return _selected(path, "ro&immutable=1", query, parameters)
    except _NewerError:
        problem = "was made by a newer lifecycle, and was left as it is; use that one."
    except sqlite3.Error as error:
        problem = (
            f"cannot be read ({error}), and was left as it is; a broken one is set aside when the next "
            "entry is written."
        )
        if _is_busy(error):
            problem = "is busy, and was left as it is; try again in a moment."
    raise Refused(f"The journal {path} {problem}")


def _selected(path: Path, mode: str, query: str, parameters: Sequence[object]) -> list[Values]:
    with _closing(_open(path, mode), path) as database:
        _check(database)
        database.row_factory = sqlite3.Row
        return [_values(row) for row in database.execute(query, parameters)][::-1]


def _row(values: Values) -> Values:
    return {**values, "key": values["key"] or None, "detail": json.dumps(values["detail"])}


def _values(row: sqlite3.Row) -> Values:
    return {**dict(row), "key": row["key"] or "", "detail": json.loads(row["detail"])}


def _is_busy(error: Exception) -> bool:
    busy = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return isinstance(error, LockBusy) or _code(error) in busy


def _is_broken(error: Exception) -> bool:
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _code(error: Exception) -> int:
    """SQLite's primary result code; the extended one holds it in its lowest byte."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF
