"""state.json as one wake reads and writes it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.storage import state_file
from lifecycle.storage.regular_files import StrangeFileError
from lifecycle.storage.state_file import MemoryCache, StateFile, StateSections
from lifecycle.storage.store import Folder


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """`.lifecycle/` of a worktree."""
    made = Folder(tmp_path)
    made.make()
    return made


def path_of(folder: Folder) -> Path:
    """Where state.json lies."""
    return folder.path / "state.json"


def test_what_is_saved_is_read_by_the_next_wake(folder: Folder) -> None:
    """With its version, as text that people can read: a line for each section."""
    file = StateFile(folder)
    assert file.reload() == {}
    file.put("id", {"node": "é"})
    assert (file.get("id"), file.get("other")) == ({"node": "é"}, None)
    file.save()
    text = path_of(folder).read_text(encoding="ascii")
    assert text == '{\n "cache": {"id": {"node": "\\u00e9"}},\n "version": 2\n}\n'
    other = StateFile(folder)
    assert other.reload()["cache"] == {"id": {"node": "é"}}
    assert other.get("id") == {"node": "é"}


def test_the_same_is_not_written_twice(folder: Folder) -> None:
    """A save that changes nothing touches no file; one after a reload does."""
    file = StateFile(folder)
    file.put("id", 1)
    file.save()
    first = path_of(folder).stat().st_ino
    file.save()
    assert path_of(folder).stat().st_ino == first
    file.put("id", 2)
    file.save()
    assert json.loads(path_of(folder).read_bytes())["cache"] == {"id": 2}
    path_of(folder).unlink()
    file.reload()
    file.put("id", 2)
    file.save()
    assert json.loads(path_of(folder).read_bytes())["cache"] == {"id": 2}


def test_a_folder_that_is_not_there_is_made_by_the_first_save(tmp_path: Path) -> None:
    """Reading makes none."""
    file = StateFile(Folder(tmp_path))
    assert file.reload() == {}
    assert not (tmp_path / ".lifecycle").exists()
    file.save()
    assert json.loads((tmp_path / ".lifecycle/state.json").read_bytes()) == {"version": 2}


def test_what_somebody_else_wrote_is_seen(folder: Folder) -> None:
    """The file is compared with what was read last."""
    file, other = StateFile(folder), StateFile(folder)
    file.reload()
    currents = [file.is_current]
    other.put("id", 1)
    other.save()
    currents.append(file.is_current)
    file.reload()
    currents.append(file.is_current)
    assert currents == [True, False, True]


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ('{"version": 2, "access": "x"}', True),
        ('{"version": 1, "access": "x"}', True),
        ('{"version": 3, "access": "x"}', False),
        ('{"version": 0, "access": "x"}', False),
        ('{"access": "x"}', False),
        ('{"version": 2, "said": {}, "queue": [], "cache": {}}', True),
        ('{"version": 2, "said": []}', False),
        ('{"version": 2, "queue": {}}', False),
        ('{"version": 2, "cache": []}', False),
        ("[2]", False),
        ("not json", False),
        ("[" * 100_000, False),
        ("", False),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_no_state_of_ours_is_set_aside(folder: Folder, text: str, is_read: bool) -> None:
    """It is learned anew, and kept for whoever wants to see it; who only reads moves nothing.

    What such a reader learned is not confirmed: whoever has the lock reads again, and sets aside.
    """
    path_of(folder).write_text(text, encoding="utf-8")
    file = StateFile(folder)
    assert bool(file.reload(repair=False)) is is_read
    assert path_of(folder).exists()
    assert file.is_current is is_read
    assert file.is_unreadable is not is_read
    assert ([*file.reload()] == ["queue"]) is not is_read
    assert not file.is_unreadable
    assert file.get("id") is None
    aside = folder.path / "state.json.unreadable"
    assert (path_of(folder).exists(), aside.exists()) == (is_read, not is_read)
    assert file.is_current


def test_an_entry_of_the_ledger_that_is_none_costs_itself_alone(folder: Folder) -> None:
    """Somebody edited the file: the rest of it is read, and hooks go on."""
    said = '"said": {"merged:7": 1.0, "green:7": {"at": 2.0}}'
    queue = '"queue": ["merged:7", {"key": "green:7", "text": "Green.", "tone": "note"}]'
    path_of(folder).write_text(f'{{"version": 2, "access": "x", {said}, {queue}}}')
    state = StateFile(folder).reload()
    assert (state["access"], state["said"]) == ("x", {"green:7": {"at": 2.0}})
    assert [notice["key"] for notice in state["queue"]] == ["green:7"]


@pytest.mark.parametrize("beyond", [False, True])
def test_a_file_without_end_is_not_read(
    folder: Folder, monkeypatch: pytest.MonkeyPatch, beyond: bool
) -> None:
    """Up to the limit it is."""
    text = b'{"version": 2, "access": "x"}'
    path_of(folder).write_bytes(text)
    monkeypatch.setattr("lifecycle.storage.regular_files.LIMIT", len(text) - beyond)
    assert ("access" in StateFile(folder).reload()) is (not beyond)


def test_a_folder_in_its_place_is_refused(folder: Folder) -> None:
    """What is learned could not be kept."""
    path_of(folder).mkdir()
    with pytest.raises(StrangeFileError):
        StateFile(folder).reload()


def test_where_nothing_is_kept_ids_live_as_long_as_the_process() -> None:
    """None forgets one."""
    cache = MemoryCache()
    cache.put("id", 1)
    assert (cache.get("id"), cache.get("other")) == (1, None)
    cache.put("id", None)
    assert cache.get("id") is None


def test_each_section_that_has_a_name_is_one_of_the_file() -> None:
    """Whoever reads a section by its name reads what the file has."""
    names = (state_file.ACCESS, state_file.CLAIMING, state_file.NOTED, state_file.PENDING)
    assert names == ("access", "claiming", "noted", "linked_undone")
    assert set(names) <= StateSections.__optional_keys__ | StateSections.__required_keys__
    assert state_file.WATCHED == "watched"  # in the cache
