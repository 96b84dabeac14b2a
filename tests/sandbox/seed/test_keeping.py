"""A world in a file: what was answered is there again, whoever ended the sandbox."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import requests
from msgspec.structs import replace

from lifecycle.sandbox.base.errors import SandboxError, SeedError
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.issues import actions
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.seed import SeedIssue, SeedOrganization, default_seed
from lifecycle.sandbox.server import Sandbox

COMMAND = Path(sys.executable).with_name("lifecycle")


def test_the_world_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Issues, pull requests, git, ids and tokens are there again, and new ids are new."""
    path = tmp_path / "world.db"
    with Sandbox(db=path) as sandbox:
        control = Control(sandbox.info.control_url)
        control.push_commit("work", {"a.txt": "a"}, "Work")
        number = control.open_pull("work", "Work")
        first = control.comment(42, "Once")
        before = control.world()
    with Sandbox(db=path) as sandbox:
        control = Control(sandbox.info.control_url)
        assert control.world() == before
        assert control.comment(42, "Twice") > first
        control.merge_pull(number)
    with Sandbox(db=path) as sandbox:
        assert Control(sandbox.info.control_url).world()["pulls"][str(number)]["state"] == "merged"


def test_who_is_killed_has_kept_what_was_answered(tmp_path: Path) -> None:
    """SIGKILL right after an answer: the issue is closed for whoever comes next."""
    path = tmp_path / "world.db"
    with subprocess.Popen(
        [str(COMMAND), "sandbox", "serve", "--db", str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        info = json.loads(process.stdout.readline())
        closed = requests.patch(
            f"{info['api_url']}/repos/{info['repository']}/issues/42",
            json={"state": "closed"},
            headers={"Authorization": f"Bearer {info['token']}"},
            timeout=30,
        )
        process.send_signal(signal.SIGKILL)
    assert closed.status_code == 200
    with Sandbox(db=path) as sandbox:
        issue = Control(sandbox.info.control_url).world()["issues"]["42"]
        assert (issue["state"], issue["closed_by"]) == ("closed", "octocat")


def test_only_what_changed_is_written(tmp_path: Path) -> None:
    """A comment in a world of a thousand issues is two pieces: the issue, and the next id."""
    issues = [SeedIssue(number, f"Task {number}") for number in range(1, 1001)]
    seed = replace(default_seed().with_home(issues=issues), projects=[])
    with Sandbox(seed, db=tmp_path / "world.db") as sandbox:
        assert sandbox.site is not None
        assert sandbox.site.keeper is not None
        world, keeper = sandbox.site.world, sandbox.site.keeper
        actions.comment(IssueTables.of(world.home).issues[7], world.human("maria"), "Hello")
        assert keeper.save(world) == 2
        assert keeper.save(world) == 0


def test_one_sandbox_has_a_file_at_a_time(tmp_path: Path) -> None:
    """The second is told so, and takes nothing from the first."""
    path = tmp_path / "world.db"
    with (
        Sandbox(db=path) as sandbox,
        pytest.raises(SandboxError, match="Another sandbox has"),
        Sandbox(db=path),
    ):
        pass
    assert sandbox.port


def test_a_seed_for_a_file_that_has_a_world(tmp_path: Path) -> None:
    """It is refused, not ignored: the person would wonder where the seed's issues are."""
    path = tmp_path / "world.db"
    with Sandbox(db=path):
        pass
    with (
        pytest.raises(SandboxError, match="holds a world already"),
        Sandbox(default_seed(), db=path),
    ):
        pass
    with Sandbox(db=path):
        pass  # the file was given back


@pytest.mark.parametrize("content", [b"no database at all", b"SQLite format 3\x00" + b"\x00" * 200])
def test_a_file_that_is_none_of_ours(tmp_path: Path, content: bytes) -> None:
    """It is left as it was, and one sentence says so."""
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(SandboxError, match="nothing in it was changed"), Sandbox(db=path):
        pass
    assert path.read_bytes() == content


def test_a_start_that_failed_leaves_no_file(tmp_path: Path) -> None:
    """A seed that cannot be made leaves nothing behind: the next start is with no other world."""
    path = tmp_path / "world.db"
    wrong = replace(default_seed(), organizations=[SeedOrganization("octo-org", members=["eve"])])
    with pytest.raises(SeedError, match="names 'eve'"), Sandbox(wrong, db=path):
        pass
    assert not path.exists()


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    """It is refused, and holds what it held."""
    path = tmp_path / "notes.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE notes (text)")
    base.close()
    before = path.read_bytes()
    with pytest.raises(SandboxError, match="another program's database"), Sandbox(db=path):
        pass
    assert path.read_bytes() == before


def test_a_file_of_another_version_or_half_of_one(tmp_path: Path) -> None:
    """Neither is guessed at."""
    path = tmp_path / "world.db"
    with Sandbox(db=path):
        pass
    with sqlite3.connect(path) as base:
        base.execute("DELETE FROM pieces")
        base.execute("INSERT INTO pieces VALUES ('issues/7/1', '{}')")
    base.close()
    with pytest.raises(SandboxError, match="does not hold a whole world"), Sandbox(db=path):
        pass
    with sqlite3.connect(path) as base:
        base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(SandboxError, match="another version"), Sandbox(db=path):
        pass


def test_dumps_for_people(tmp_path: Path) -> None:
    """`sandbox dump` prints a seed from a running sandbox and from a file; otherwise a sentence."""
    path = tmp_path / "world.db"

    def dump(*args: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(COMMAND), "sandbox", "dump", *args], capture_output=True, text=True, check=False
        )

    with Sandbox(db=path) as sandbox:
        Control(sandbox.info.control_url).close_issue(42)
        running = dump("--url", sandbox.info.api_url)
        busy = dump("--db", str(path))
    kept = dump("--db", str(path))
    assert (running.returncode, kept.returncode) == (0, 0)
    assert "closed_by: maria" in running.stdout
    assert kept.stdout.splitlines()[:9] == running.stdout.splitlines()[:9]
    assert (busy.returncode, "Another sandbox" in busy.stderr) == (1, True)
    for args, words in [
        (["--url", "http://127.0.0.1:1"], "No sandbox answers"),
        (["--db", str(tmp_path / "none.db")], "There is no file"),
    ]:
        refused = dump(*args)
        assert (refused.returncode, words in refused.stderr) == (1, True)
        assert "Traceback" not in refused.stderr
    assert dump().returncode == 2


def test_a_file_may_be_named_from_where_one_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A world in `world.db` here can be cloned, and is there again from elsewhere."""
    monkeypatch.chdir(tmp_path)
    with Sandbox(db=Path("world.db")) as sandbox:
        Control(sandbox.info.control_url).push_commit("work", {"a.txt": "a"}, "Work")
        clone = ["git", "clone", "--quiet", "--branch", "work", sandbox.info.git_url, "clone"]
        subprocess.run(clone, check=True, timeout=60)
        assert (tmp_path / "clone/a.txt").read_text() == "a"
    monkeypatch.chdir("/")
    with Sandbox(db=tmp_path / "world.db") as sandbox:
        again = ["git", "ls-remote", "--exit-code", sandbox.info.git_url, "refs/heads/work"]
        subprocess.run(again, check=True, timeout=60, stdout=subprocess.DEVNULL)
