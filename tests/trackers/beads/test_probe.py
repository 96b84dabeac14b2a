"""What is asked of the program that is installed, and what is offered because of it."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.core.errors import Lacking, NotInstalled, Rejected, TimedOut, VersionUnsupported
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.tracker import Atomicity, Capability
from lifecycle.trackers.beads import bd_here, bd_process, bd_tracker
from lifecycle.trackers.beads.bd_tracker import BeadsTracker
from tests.trackers.beads import grounds, simulated
from tests.trackers.beads.grounds import BUILDS, BeadsGround, probe


@pytest.fixture
def ground() -> Iterator[BeadsGround]:
    """Build 1.0.5, of which nobody knows anything yet."""
    with grounds.build("1.0.5") as made:
        yield made


def _remote(ground: BeadsGround) -> None:
    """Give the database a remote, and the clone one of git's."""
    from tests.trackers.beads.program.database import Database

    with Database(str(ground.root / ".beads")).writing() as state:
        state["remotes"] = ["origin"]
    (ground.root / ".git" / "config").write_text('[remote "origin"]\n\turl = x\n')


@pytest.mark.parametrize("profile", BUILDS)
def test_each_build_is_known(profile: str) -> None:
    """By its version, from which on there is what its `--help` shows; what all show is used in each."""
    build = BUILDS[profile]
    with grounds.build(profile) as ground:
        runner = ground.runner("agent-1")
        assert probe(runner) == build.version
        update, ready = (runner.run(word, "--help").out for word in ("update", "ready"))
        commands = set(
            re.findall(r"^ {1,4}([a-z][a-z-]*) {2,}\S", runner.run("--help").out, re.MULTILINE)
        )
    assert ("--claim" in update, "--claim" in ready) == (build.claims, build.claims_next)
    assert ("dolt" in commands, "heartbeat" in commands) == (build.pushes, build.leases)
    assert "--limit" in ready
    assert "comments" in commands


def test_it_is_asked_once(ground: BeadsGround) -> None:
    """What was found is kept for all worktrees and processes, until the program is another one."""
    first = probe(ground.runner("agent-1"))
    count = len(simulated.calls(ground.folder))
    assert probe(ground.runner("agent-2")) == first
    assert len(simulated.calls(ground.folder)) == count
    assert (ground.root / ".git" / "lifecycle" / "beads.json").exists()
    simulated.install(ground.folder, "0.49.6-direct")
    os.utime(ground.folder / "bd", (1, 1))
    assert probe(ground.runner("agent-1")) == "0.49.6"
    program = (ground.folder / "bd").rename(ground.folder / "installed")
    (ground.folder / "bd").symlink_to(program)
    assert probe(ground.runner("agent-1")) == "0.49.6"
    simulated.install(ground.folder, "1.0.5")  # behind the link, which stays as it is
    os.utime(program, (2, 2))
    assert probe(ground.runner("agent-1")) == first


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"program": 1}', "[" * 9999, '{"version": {"x": 1}}']
)
def test_what_cannot_be_read_is_asked_again(text: str, ground: BeadsGround) -> None:
    """A damaged file of what is known is written anew."""
    place = ground.runner("agent-1").shared / "beads.json"
    place.write_text(text)
    assert probe(ground.runner("agent-1")) == "1.0.5"
    assert json.loads(place.read_text())["version"] == "1.0.5"


@pytest.mark.parametrize(
    ("version", "is_too_old"), [("0.29.9", True), ("0.30.0", False), ("dev", False)]
)
def test_a_build_that_is_too_old_is_refused(
    version: str, tmp_path: Path, *, is_too_old: bool
) -> None:
    """Nobody tried it; one that says no version is asked only what every build has."""
    (tmp_path / "bd").write_text(f'#!/bin/sh\necho \'{{"version": "{version}"}}\'\n')
    (tmp_path / "bd").chmod(0o755)
    around = {"PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    runner = BeadsTracker(tmp_path, around, "a", Deadline(SystemClock(), None))
    if is_too_old:
        with pytest.raises(VersionUnsupported, match=version):
            probe(runner)
    else:
        assert probe(runner) == version


def test_without_the_program_nothing_is_known(ground: BeadsGround) -> None:
    """NotInstalled, and not what was kept of another one."""
    probe(ground.runner("agent-1"))
    (ground.folder / "bd").unlink()
    with pytest.raises(NotInstalled):
        probe(ground.runner("agent-1"))


@pytest.mark.parametrize(
    ("has_folder", "has_program", "configured", "is_here"),
    [
        (True, True, "", True),
        (False, True, "", False),
        (True, False, "", False),
        (False, True, "tasks", True),
        (False, False, "tasks", False),
    ],
)
def test_a_worktree_has_bd_where_its_folder_and_its_program_are(
    tmp_path: Path, configured: str, *, has_folder: bool, has_program: bool, is_here: bool
) -> None:
    """`.beads/` or a configured folder, and `bd` on PATH."""
    if has_folder:
        (tmp_path / ".beads").mkdir()
    (tmp_path / "bin").mkdir()
    if has_program:
        simulated.install(tmp_path / "bin")
    environment = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home")}
    assert not bd_here.is_here(tmp_path, environment, configured), "nobody has allowed it"
    assert bd_here.is_present(tmp_path, environment, configured) is is_here
    simulated.allow(tmp_path, environment)
    assert bd_here.is_here(tmp_path, environment, configured) is is_here


@pytest.mark.parametrize("is_bare", [True, False])
def test_a_linked_worktree_has_the_main_ones_database(tmp_path: Path, *, is_bare: bool) -> None:
    """As bd finds it: beside the git folder that all share, or in it if that is a bare repository."""
    main, own = tmp_path / "main", tmp_path / "own"
    simulated.install(tmp_path / "bin", "1.0.5")
    words = ("-c", "user.name=A", "-c", "user.email=a@example.com", "-C", str(main))
    options = ("--bare",) if is_bare else ()
    subprocess.run(["git", "init", "--quiet", *options, str(main)], check=True)
    tree = subprocess.run(
        ["git", *words, "mktree"], input=b"", capture_output=True, check=True
    ).stdout.strip()
    made = subprocess.run(
        ["git", *words, "commit-tree", "-m", "First", tree], capture_output=True, check=True
    ).stdout.strip()
    subprocess.run(
        ["git", *words, "worktree", "add", "--quiet", "--detach", str(own), made], check=True
    )
    found = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home")}
    simulated.allow(own, found)
    (tmp_path / ".beads").mkdir()
    assert not bd_here.is_here(own, found, "")
    (main / ".beads").mkdir()
    assert bd_here.is_here(own, found, "")


def test_a_configured_folder_is_the_database_or_holds_it(tmp_path: Path) -> None:
    """Relative to the worktree; `.beads` in it counts."""
    (tmp_path / "shared" / ".beads").mkdir(parents=True)
    wanted = str(tmp_path / "shared" / ".beads")
    assert bd_here.database(tmp_path, "") == ""
    assert bd_here.database(tmp_path, "shared") == wanted
    assert bd_here.database(tmp_path / "shared", ".beads") == wanted
    assert bd_here.database(Path("/"), wanted) == wanted


@pytest.mark.parametrize("profile", BUILDS)
def test_abilities_are_those_of_the_build(profile: str) -> None:
    """Compare-and-swap, one-step choice, leases, and publishing only where there is somebody."""
    with grounds.build(profile) as ground:
        build = BUILDS[profile]
        found = ground.tracker("agent-1").abilities()
        atomicity = Atomicity.LOCAL_CAS if build.claims else Atomicity.ADVISORY
        assert found.claim_atomicity is atomicity
        assert found.has(Capability.NATIVE_READY)
        assert found.has(Capability.DEPENDENCIES)
        assert found.has(Capability.ATOMIC_CLAIM_NEXT) is build.claims_next
        assert found.has(Capability.LEASES) is build.leases
        assert not found.has(Capability.PUBLISH)
        _remote(ground)
        assert ground.tracker("agent-1").abilities().has(Capability.PUBLISH)


@pytest.mark.parametrize("profile", BUILDS)
def test_the_words_are_bd_s_own(profile: str) -> None:
    """What an agent types; a claim in its actor's name, and sending only where it can be done."""
    with grounds.build(profile) as ground:
        said = ground.tracker("agent-1").wording()
        assert said.show == "bd show {id}"
        assert said.ready == "bd ready --label {label} --unassigned --limit 0"
        assert said.close == 'bd close {id} --reason "Summary of changes"'
        assert said.label == "bd label add {id} {label}"
        assert said.start == "/bd-start"
        is_old = profile == "0.30.7"
        own = "lifecycle tracker claim {id}"
        assert said.claim == (own if is_old else "bd update {id} --claim --actor=agent-1")
        assert said.as_holder == " --actor=agent-1"
        assert said.publish == ""
        _remote(ground)
        sends = "bd dolt push" if BUILDS[profile].pushes else "bd sync"
        assert ground.tracker("agent-1").wording().publish == sends


@pytest.mark.parametrize("profile", BUILDS)
def test_it_is_sent_as_the_build_sends(profile: str) -> None:
    """`bd dolt push` to a remote, `bd sync` on builds that go with git; without a remote Lacking."""
    with grounds.build(profile) as ground:
        with pytest.raises(Lacking) as lacking:
            ground.tracker("agent-1").publish()
        assert lacking.value.capability == Capability.PUBLISH
        _remote(ground)
        ground.tracker("agent-1").publish()
        words = ["dolt", "push"] if BUILDS[profile].pushes else ["sync"]
        assert simulated.calls(ground.folder)[-1]["argv"] == words


def test_a_hook_sends_nothing(ground: BeadsGround) -> None:
    """Though it could."""
    _remote(ground)
    tracker = ground.runner("agent-1", is_hook=True)
    with pytest.raises(Lacking, match="Hooks do not publish"):
        tracker.publish()
    assert ["dolt", "push"] not in [call["argv"] for call in simulated.calls(ground.folder)]


def test_sending_that_fails_says_why(ground: BeadsGround, monkeypatch: pytest.MonkeyPatch) -> None:
    """bd's own words, or that nobody knows."""
    _remote(ground)
    tracker = ground.tracker("agent-1")
    tracker.abilities()
    simulated.fault(ground.folder, "dolt push", "busy")
    with pytest.raises(Exception, match="in use"):
        tracker.publish()
    simulated.fault(ground.folder, "dolt push", "hang-after")
    monkeypatch.setattr(bd_tracker, "PUBLISH_SECONDS", 0.4)
    with pytest.raises(TimedOut) as unclear:
        tracker.publish()
    assert unclear.value.is_ambiguous


def test_a_recorded_sync_that_failed_is_refused(tmp_path: Path) -> None:
    """The oldest build's `sync` in a repository without a remote: its words, exit code 1."""
    from tests.trackers.beads import scripted

    scripted.install(tmp_path / "bin", "0.30.7", "sync")
    around = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    tracker = BeadsTracker(tmp_path, around, "a", Deadline(SystemClock(), None))
    tracker.sends = "sync"
    with pytest.raises(Rejected, match="Import complete"):
        tracker.publish()


def test_a_look_at_the_remotes_that_fails_offers_nothing(
    ground: BeadsGround, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it could be sent is a convenience: it fails nobody's instruction."""
    monkeypatch.setattr(bd_process, "READ_SECONDS", 5.0)
    _remote(ground)
    simulated.fault(ground.folder, "dolt remote", "garbage")
    assert ground.tracker("agent-1").wording().publish == ""
