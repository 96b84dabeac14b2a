"""The journal: written by many at once, found from every worktree, and in nobody's way."""

from __future__ import annotations

import json
import math
import os
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.errors import Refused
from lifecycle.storage import journal, journal_file, store
from lifecycle.storage.journal import JournalEntry
from tests.at_once import at_once

NOW = 1_795_000_000.0
BEGUN = JournalEntry(
    NOW, journal.CLAIM, journal.TRANSITION, task="#42", target="coding", key="42/coding"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone with a log."""
    made = tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", made], check=True)
    store.Folder(made).make()
    return made


def file_of(root: Path) -> Path:
    """Where the journal lies."""
    return root / ".git/lifecycle/journal.db"


def log_of(root: Path) -> list[str]:
    """The lines of the log, without their moments."""
    path = root / ".lifecycle/log"
    return (
        [line.split(" ", 3)[3] for line in path.read_text().splitlines()] if path.exists() else []
    )


def entry(number: int, **changes: Any) -> JournalEntry:
    """One of many entries."""
    values = {"at": NOW + number, "system": "stages", "kind": "block", "target": f"n{number}"}
    return JournalEntry(**{**values, **changes})


def targets(root: Path) -> list[str]:
    """What tells the entries apart, in the order in which they are read."""
    return [one.target for one in journal.read(root)]


@contextmanager
def process(code: str, *words: str, **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A Python of its own that runs this code; it is over when the block is."""
    command = [sys.executable, "-c", textwrap.dedent(code), *words]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def test_what_was_noted_is_read(root: Path) -> None:
    """Every field comes back as it was, oldest first, and `since` leaves out what came before."""
    whole = JournalEntry(
        NOW + 2,
        journal.STAGES,
        journal.CHECK,
        task="bd-a1",
        actor="octocat-1",
        session="s-1",
        source="TESTING",
        target="pytest",
        key="run/1",
        detail={"outcome": journal.GREEN, "labels": ["auto-workflow"], "seconds": 1.5, "n": None},
    )
    journal.note(root, whole, BEGUN)
    assert journal.read(root) == (BEGUN, whole)
    assert journal.read(root, since=NOW + 1) == (whole,)
    assert log_of(root) == []


def test_a_key_is_written_once(root: Path) -> None:
    """A second entry with a key changes nothing; those without one are all kept."""
    journal.note(root, BEGUN, entry(1))
    journal.note(root, JournalEntry(NOW + 9, "claim", "write", key=BEGUN.key), entry(1))
    assert journal.read(root) == (BEGUN, entry(1), entry(1))


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 50), st.sampled_from(["", "a", "b", "c"])), max_size=4),
        max_size=6,
    )
)
def test_it_is_a_list_with_unique_keys(
    tmp_path_factory: pytest.TempPathFactory, notes: list[list[tuple[int, str]]]
) -> None:
    """Whatever is noted in whatever portions: the journal is what a list without repeated keys would be."""
    root = tmp_path_factory.mktemp("clone")
    for name in ("objects", "refs"):
        (root / ".git" / name).mkdir(parents=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    known: list[JournalEntry] = []
    for number, portion in enumerate(notes):
        made = [entry(at, key=key, source=f"{number}.{i}") for i, (at, key) in enumerate(portion)]
        journal.note(root, *made)
        for one in made:
            if not one.key or all(one.key != other.key for other in known):
                known.append(one)
    assert list(journal.read(root)) == sorted(known, key=lambda one: one.at)


def test_all_worktrees_share_one(root: Path, tmp_path: Path) -> None:
    """It is found from a linked worktree, and from one of a clone whose folders were moved, without git."""
    git = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "--quiet", str(tmp_path / "other")], check=True)
    journal.note(tmp_path / "other", BEGUN)
    assert journal.read(root) == (BEGUN,)
    assert store.common_folder(tmp_path / "other") == (root / ".git").resolve()


def test_a_submodule_has_its_own(tmp_path: Path) -> None:
    """The git folder of a submodule is its own: `gitdir:` leads there, and nothing leads on."""
    (tmp_path / "gits").mkdir()
    words = ["--separate-git-dir", str(tmp_path / "gits/x"), str(tmp_path / "sub")]
    subprocess.run(["git", "init", "--quiet", *words], check=True)
    journal.note(tmp_path / "sub", BEGUN)
    assert (tmp_path / "gits/x/lifecycle/journal.db").exists()


@pytest.mark.parametrize(
    "content",
    [
        None,
        b"",
        b"gitdir:",
        b"gitdir: nowhere\n",
        b"gitdir: \0\n",
        b"\xff\xfe",
        b"gitdir: ../elsewhere",
    ],
)
def test_without_a_clone_nothing_is_written(tmp_path: Path, content: bytes | None) -> None:
    """Outside of a repository, or behind a `.git` that leads nowhere, there is no journal and no error."""
    (tmp_path / "elsewhere").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    if content is not None:
        (root / ".git").write_bytes(content)
    before = sorted(tmp_path.rglob("*"))
    journal.note(root, BEGUN)
    assert journal.read(root) == ()
    assert sorted(tmp_path.rglob("*")) == before


IMPORTS = """
    import sqlite3
    from pathlib import Path
    from lifecycle.storage import journal
    from lifecycle.storage.journal import JournalEntry
"""
NOTING = """
    for turn in range(5):
        own = JournalEntry(turn, "claim", "write", target=f"{number}/{turn}")
        shared = JournalEntry(turn, "claim", "write", target="shared", key=f"shared/{turn}")
        journal.note(Path(sys.argv[1]), own, shared)
"""


def test_twenty_processes_at_once_lose_nothing(root: Path) -> None:
    """All begin on a journal that is not there yet; every entry is there once, whoever had to wait."""
    assert at_once(20, IMPORTS, NOTING, str(root)) == []
    found = sorted(targets(root))
    assert found == sorted([f"{n}/{turn}" for n in range(20) for turn in range(5)] + ["shared"] * 5)
    journal.note(root, BEGUN)  # whoever comes last takes up what others had to leave
    assert list((root / ".git/lifecycle").glob("journal.pending/*")) == []
    assert len(journal.read(root)) == len(found) + 1
    assert log_of(root) == []


def test_busy_for_longer_than_it_waits_loses_nothing(root: Path) -> None:
    """While another writes, entries wait beside the journal; they are read, and taken up by the next."""
    journal.note(root, BEGUN)
    with closing(sqlite3.connect(file_of(root), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        journal.note(root, entry(1), entry(2, key="two"))
        journal.note(root, entry(2, key="two"))
        assert targets(root) == ["coding", "n1", "n2", "n2"]
        other.execute("ROLLBACK")
    left = list((root / ".git/lifecycle/journal.pending").iterdir())
    kept = {path: path.read_bytes() for path in left}
    assert len(kept) == 2
    journal.note(root, entry(3))
    assert targets(root) == ["coding", "n1", "n2", "n3"]
    assert not any(path.exists() for path in kept)
    for path, content in kept.items():  # as if its writer had been killed before it deleted them
        path.write_bytes(content)
    assert targets(root) == ["coding", "n1", "n2", "n3"]
    journal.note(root, entry(4))
    assert targets(root) == ["coding", "n1", "n2", "n3", "n4"]
    assert log_of(root) == []


def test_what_is_no_entry_of_ours_is_not_taken_up(root: Path) -> None:
    """A file that somebody else put there is dropped, and the entries beside it are written."""
    journal.note(root, BEGUN)
    folder = root / ".git/lifecycle/journal.pending"
    folder.mkdir()
    for name, content in {"a": b"{", "b": b'[{"at": 1}]', "c": b"[1]", "d": b"[" * 9999}.items():
        (folder / f"{name}.json").write_bytes(content)
    journal.note(root, entry(1))
    assert targets(root) == ["coding", "n1"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"at": "soon"},
        {"at": True},
        {"at": 10**400},
        {"at": math.nan},
        {"task": 42},
        {"actor": None},
        {"target": "\ud800"},
        {"detail": []},
        {"detail": {"a": "\ud800"}},
        {"more": 1},
    ],
    ids=repr,
)
def test_an_entry_of_a_wrong_type_stops_nobody(root: Path, wrong: dict[str, Any]) -> None:
    """One value that no entry has, in a file that waits: it is dropped, what lies beside it is kept."""
    journal.note(root, BEGUN)
    folder = root / ".git/lifecycle/journal.pending"
    folder.mkdir()
    good = asdict(entry(1, key="good"))
    left = folder / "1-a.json"
    left.write_text(json.dumps([{**good, "key": "bad", **wrong}, good]), "ascii")
    assert targets(root) == ["coding", "n1"]
    journal.note(root, entry(2))
    assert targets(root) == ["coding", "n1", "n2"]
    assert not left.exists()
    assert log_of(root) == []


def test_long_keys_that_begin_alike_are_two(root: Path) -> None:
    """What is cut off of a key still tells it from others; the same one is written once."""
    long = "k" * 250
    for key in (f"{long}1", f"{long}2", f"{long}1"):
        journal.note(root, entry(1, key=key))
    keys = [one.key for one in journal.read(root)]
    assert len(set(keys)) == len(keys) == 2
    assert max(map(len, keys)) <= 200


def test_a_python_without_sqlite_goes_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Built without it: entries are lost with a line in the log, reading says why."""
    for name in ("sqlite3", "sqlite3.dbapi2", "_sqlite3", "lifecycle.storage.journal_file"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "_sqlite3", None)
    journal.note(root, BEGUN)
    assert [line for line in log_of(root) if "nothing was written" in line]
    with pytest.raises(Refused, match=r"needs SQLite.*Use another Python"):
        journal.read(root)


def test_a_writer_killed_in_the_middle_leaves_it_whole(root: Path) -> None:
    """SIGKILL between the write and its end: the journal is read, holds no half, and takes entries."""
    journal.note(root, BEGUN)
    code = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1], isolation_level=None)
        database.execute("PRAGMA cache_size = 1")
        database.execute("BEGIN IMMEDIATE")
        names = "at, system, kind, task, actor, session, source, target, detail"
        values = "1, 'claim', 'write', '', '', '', '', 'half', '{}'"
        for _ in range(2000):
            database.execute(f"INSERT INTO entry ({names}) VALUES ({values})")
        print("written", flush=True)
        sys.stdin.read()
    """
    with process(code, str(file_of(root))) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "written\n"
        running.kill()
        running.wait(30)
        assert file_of(root).with_name("journal.db-wal").stat().st_size > 0
        assert targets(root) == ["coding"]
    journal.note(root, entry(1))
    assert targets(root) == ["coding", "n1"]
    assert log_of(root) == []


def test_a_maker_killed_in_the_middle_leaves_nothing_in_the_way(root: Path) -> None:
    """SIGKILL before the new journal has its name: the next entries make another in place of that half."""
    code = """
        import os, sys
        from pathlib import Path
        from lifecycle.storage import journal

        def stop(_):
            print("made", flush=True)
            sys.stdin.read()

        os.fsync = stop
        journal.note(Path(sys.argv[1]), journal.JournalEntry(1.0, "claim", "write", target="lost"))
    """
    with process(code, str(root)) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "made\n"
        journal.note(root, entry(1))  # it does not wait for the maker: this is left to the next one
        assert not file_of(root).exists()
        running.kill()
        running.wait(30)
    assert file_of(root).with_name("journal.db.new").exists()
    journal.note(root, entry(2))
    assert targets(root) == ["n1", "n2"]
    assert sorted(path.name for path in file_of(root).parent.glob("journal.db*")) == [
        "journal.db", "journal.db-shm", "journal.db-wal",
    ]  # fmt: skip
    assert log_of(root) == []


@pytest.mark.parametrize(
    "content", [b"", b"no database", os.urandom(40_000), b"SQLite format 3\0" * 999]
)
def test_a_broken_journal_is_set_aside_and_begun_anew(root: Path, content: bytes) -> None:
    """It is kept under another name, nothing of it comes into the new one, and one line says so."""
    journal.note(root, BEGUN)
    file_of(root).write_bytes(content)
    file_of(root).with_name("journal.db-wal").write_bytes(b"x" * 5000)
    if content:
        with pytest.raises(Refused, match="cannot be read"):
            journal.read(root)
    journal.note(root, entry(1))
    assert targets(root) == ["n1"]
    assert file_of(root).with_name("journal.db.unreadable").read_bytes() == content
    assert log_of(root) == [
        "journal: it was broken, is kept as journal.db.unreadable, and was begun anew."
    ]


def fold_log(root: Path) -> None:
    """Take SQLite's log into the journal, as a program does that closes it without a reader behind."""
    with closing(sqlite3.connect(file_of(root))) as database:
        database.execute("PRAGMA user_version").fetchone()


def test_a_hook_leaves_the_log_beside_the_journal_until_it_is_long(root: Path) -> None:
    """Taking it into the file waits for the disk: once in some thirty writes, and nothing gets lost.

    Source: https://www.sqlite.org/wal.html (the last connection that closes runs a checkpoint)
    """
    log, sizes = file_of(root).with_name("journal.db-wal"), []
    for number in range(120):
        journal.note(root, entry(number))
        sizes.append(log.stat().st_size if log.exists() else 0)
        journal.read(root)  # nor does a reader take it in
        assert (log.stat().st_size if log.exists() else 0) == sizes[-1]
    folded = [size for size in sizes if not size]
    assert 2 <= len(folded) <= 6
    assert max(sizes) < journal_file.LOG_BYTES
    assert targets(root) == [f"n{number}" for number in range(120)]


def test_a_journal_that_was_deleted_leaves_no_log_to_the_next(root: Path) -> None:
    """Only the file was deleted: what its log holds is not taken for the new one's."""
    journal.note(root, BEGUN)
    file_of(root).unlink()
    journal.note(root, entry(1))
    assert targets(root) == ["n1"]
    assert log_of(root) == []


def test_a_page_that_rotted_is_set_aside_too(root: Path) -> None:
    """A journal whose head is fine and whose entries are not breaks at the write, and is begun anew."""
    for number in range(200):
        journal.note(root, entry(number, detail={"text": "x" * 400}))
    fold_log(root)
    whole = bytearray(file_of(root).read_bytes())
    whole[4096:] = b"\xaa" * (len(whole) - 4096)
    file_of(root).write_bytes(whole)
    journal.note(root, entry(1))
    assert targets(root) == ["n1"]


def test_nothing_of_a_broken_journals_log_comes_into_the_new_one(root: Path) -> None:
    """What a process that still has it open had written lies in a log beside it: that goes aside too."""
    journal.note(root, BEGUN)
    code = """
        import sqlite3, sys
        database = sqlite3.connect(sys.argv[1], isolation_level=None)
        names = "at, system, kind, task, actor, session, source, target, detail"
        values = "1, 'claim', 'write', '', '', '', '', 'old', '{}'"
        database.execute(f"INSERT INTO entry ({names}) VALUES ({values})")
        print("written", flush=True)
        sys.stdin.read()
    """
    written = file_of(root).with_name("journal.db-wal")
    with process(code, str(file_of(root))) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "written\n"
        file_of(root).write_bytes(b"no database" * 1000)
        journal.note(root, entry(1))
        assert targets(root) == ["n1"]
        assert written.with_name("journal.db-wal.unreadable").stat().st_size > 0
    journal.note(root, entry(2))
    assert targets(root) == ["n1", "n2"]


def test_many_that_find_it_broken_set_it_aside_once(root: Path) -> None:
    """Nobody sets aside what another one has begun anew."""
    journal.note(root, BEGUN)
    file_of(root).write_bytes(b"no database")
    assert at_once(8, IMPORTS, NOTING, str(root)) == []
    assert {one.name for one in file_of(root).parent.glob("*unreadable*")} == {
        "journal.db.unreadable",
        "journal.db-wal.unreadable",
    }
    assert len(targets(root)) == 45
    assert len(log_of(root)) == 1


def test_one_that_is_set_aside_while_it_is_opened_costs_no_entry(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look whether it is there and its opening another process may have renamed it."""
    journal.note(root, BEGUN)
    openings = []

    def open_late(path: Path, mode: str) -> sqlite3.Connection:
        openings.append(mode)
        if len(openings) == 1:
            path.with_name("journal.db-wal").rename(path.with_name("journal.db-wal.unreadable"))
            path.rename(path.with_name("journal.db.unreadable"))
        return opened(path, mode)

    opened = journal_file._open
    monkeypatch.setattr(journal_file, "_open", open_late)
    journal.note(root, entry(1))
    assert targets(root) == ["n1"]
    assert log_of(root) == []


def test_a_newer_journal_is_left_alone(root: Path) -> None:
    """A version that we do not know is neither written nor read; a sentence says what to do."""
    journal.note(root, BEGUN)
    with closing(sqlite3.connect(file_of(root))) as other:
        other.execute("PRAGMA user_version = 2")
    before = file_of(root).read_bytes()
    journal.note(root, entry(1))
    assert file_of(root).read_bytes() == before
    assert log_of(root) == [
        "journal: nothing was written: a newer lifecycle made the journal, and only it writes to it"
    ]
    with pytest.raises(Refused, match="was made by a newer lifecycle, and was left as it is"):
        journal.read(root)


@pytest.mark.parametrize("where", ["lifecycle", "lifecycle/journal.db", "lifecycle/journal.db-wal"])
def test_a_link_is_not_followed(root: Path, tmp_path: Path, where: str) -> None:
    """What lies behind a link is not ours: it is neither written nor read."""
    target = tmp_path / "theirs"
    if where == "lifecycle":
        target.mkdir()
    else:
        journal.note(root, BEGUN)
        target.write_bytes(b"theirs")
        (root / ".git" / where).unlink(missing_ok=True)
    (root / ".git" / where).symlink_to(target)
    journal.note(root, entry(1))
    assert (list(target.iterdir()) == []) if target.is_dir() else target.read_bytes() == b"theirs"
    (line,) = log_of(root)
    assert "is a link" in line
    with pytest.raises(Refused, match="is a link"):
        journal.read(root)


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", ["journal.db", "journal.db-wal", "journal.db-journal"])
def test_a_pipe_in_the_journals_place_is_not_waited_for(root: Path, name: str) -> None:
    """A pipe that nobody writes to: the entry is lost, a reader is told, and the pipe stays."""
    folder = root / ".git" / "lifecycle"
    folder.mkdir()
    os.mkfifo(folder / name)
    journal.note(root, BEGUN)
    (line,) = log_of(root)
    assert "is a named pipe" in line
    told = f"{folder / name} is a named pipe, so it is not the journal and was left as it is"
    with pytest.raises(Refused, match=f"{told}: nothing was written; move it away."):
        journal.read(root)
    assert (folder / name).is_fifo()


def test_nobody_is_told_to_delete_a_journal_that_a_full_disk_keeps_from_growing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is there, and nothing that would cost what the journal holds."""
    journal.note(root, BEGUN)

    def examine(database: sqlite3.Connection) -> None:
        database.execute("PRAGMA max_page_count = 1")
        database.execute("CREATE TABLE large AS SELECT zeroblob(100000)")

    monkeypatch.setattr(journal_file, "_check", examine)
    journal.note(root, entry(1))
    monkeypatch.undo()
    (line,) = log_of(root)
    assert "(database or disk is full)" in line
    assert "delete" not in line
    assert targets(root) == ["coding"]


def test_a_file_in_the_folders_place_is_in_nobodys_way(root: Path) -> None:
    """Nothing can be made there: one line in the log, and the hook goes on."""
    (root / ".git/lifecycle").write_text("theirs")
    journal.note(root, BEGUN)
    assert journal.read(root) == ()
    assert (root / ".git/lifecycle").read_text() == "theirs"
    assert log_of(root) == ["journal: nothing was written (File exists)"]


ELSEWHERE = """
    import os, sys, urllib.parse  # before: nobody may be unable to read what this Python lies in
    from pathlib import Path
    from lifecycle.storage import journal, journal_file
    from lifecycle.storage.journal import JournalEntry
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
    root = Path(sys.argv[1])
    journal.note(root, JournalEntry(2, "claim", "write", target="n2"))
    print([one.target for one in journal.read(root)])
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody who may not write")
@pytest.mark.parametrize("is_there", [True, False])
def test_who_may_not_write_reads_and_goes_on(*, is_there: bool) -> None:
    """In a clone that belongs to somebody else nothing is written, what is there is read."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        root.chmod(0o755)
        subprocess.run(["git", "init", "--quiet", root], check=True)
        if is_there:
            journal.note(root, BEGUN)
        with process(ELSEWHERE, str(root)) as running:
            said, _ = running.communicate(timeout=60)
        assert running.returncode == 0
        assert said == ("['coding']\n" if is_there else "[]\n")


def test_a_full_disk_costs_the_entry_alone(root: Path) -> None:
    """Where nothing more can be written the process goes on, and the journal keeps what it had."""
    journal.note(root, BEGUN)
    code = """
        import resource, sys
        from pathlib import Path
        from lifecycle.storage import journal
        from lifecycle.storage.journal import JournalEntry
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        large = JournalEntry(3, "claim", "write", detail={"text": ["x" * 400] * 15})
        for _ in range(30):
            journal.note(Path(sys.argv[1]), large)
        print("went on")
    """
    with process(code, str(root)) as running:
        said, _ = running.communicate(timeout=60)
    assert said == "went on\n"
    kept = targets(root)
    assert "coding" in kept
    assert 1 < len(kept) < 31
    assert any("nothing was written" in line for line in log_of(root))
    journal.note(root, entry(1))
    assert sorted(targets(root)) == sorted([*kept, "n1"])


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner),
    max_leaves=30,
)


@given(st.floats(), st.sampled_from([*journal.KINDS, "other"]), st.text(st.characters()), ANY)
def test_it_never_raises(
    tmp_path_factory: pytest.TempPathFactory, at: float, kind: str, text: str, value: Any
) -> None:
    """Whatever is noted, however deep, odd or wrong: it is written as plain values, or it is not."""
    root = tmp_path_factory.mktemp("clone")
    for name in (".git/objects", ".lifecycle"):
        (root / name).mkdir(parents=True)
    (root / ".git/HEAD").touch()
    journal.note(root, JournalEntry(at, "claim", kind, task=text, key=text, detail={text: value}))
    is_written = math.isfinite(at) and kind in journal.KINDS
    assert len(journal.read(root)) == is_written
    assert len(log_of(root)) == (not is_written)


def test_no_secret_and_nothing_long_is_kept(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokens are taken out of every field and of the detail; long texts and long lists are cut."""
    monkeypatch.setenv("MY_TOKEN", "swordfish-swordfish")
    secret = "gh" + "p_" + "a" * 36
    journal.note(
        root,
        entry(
            1, task=secret, target="x" * 9999, detail={"run": ["env swordfish-swordfish", secret]}
        ),
        entry(2, detail={f"n{number}": "y" * 450 for number in range(99)} | {"outcome": "red"}),
    )
    one, two = journal.read(root)
    content = b"".join(path.read_bytes() for path in file_of(root).parent.iterdir())
    assert b"swordfish" not in content
    assert secret.encode() not in content
    assert (one.task, one.detail["run"]) == ("***", ["env ***", "***"])
    assert len(one.target) == 200
    assert two.detail["outcome"] == "red"
    assert len(str(two.detail)) < 50_000


def test_entries_are_only_appended(root: Path) -> None:
    """The file itself refuses to change one."""
    journal.note(root, BEGUN)
    with closing(sqlite3.connect(file_of(root))) as other, pytest.raises(sqlite3.IntegrityError):
        other.execute("UPDATE entry SET target = 'done'")
    assert journal.read(root) == (BEGUN,)


def test_it_stays_bounded(root: Path) -> None:
    """Once in a while the oldest go: beyond a number, and beyond an age; a wrong clock costs nothing."""
    journal.note(root, BEGUN)
    last = 3 * journal_file.KEPT_ENTRIES - 1
    now = time.time()
    rows = [(number, now, f"n{number}") for number in range(last - 60_000, last + 1)]
    rows[-2] = (last - 1, now * 9, "wrong clock")
    rows[-3] = (last - 2, now - 2 * journal_file.KEPT_SECONDS, "old")
    with closing(sqlite3.connect(file_of(root))) as other, other:
        other.executemany(
            "INSERT INTO entry (id, at, system, kind, task, actor, session, source, target, detail)"
            " VALUES (?, ?, 'claim', 'write', '', '', '', '', ?, '{}')",
            rows,
        )
    journal.note(root, entry(0, at=now, target="newest"))
    found = targets(root)
    assert len(found) == journal_file.KEPT_ENTRIES - 1
    assert {"newest", "wrong clock"} <= set(found)
    assert not {"coding", "old", "n90000"} & set(found)
