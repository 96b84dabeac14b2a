"""`lifecycle claim --worktree`: a git worktree of its own for a task."""

from __future__ import annotations

import json
import shlex
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.api import Worktree
from lifecycle.claim.commands import task_worktree
from lifecycle.claim.commands.task_worktree import SESSION
from lifecycle.core.errors import HeldByAnother, Transient
from lifecycle.sandbox.control.faults import Fault
from tests.cli.outcome import ok, refused
from tests.conftest import COMMAND, Place

SOAKED = pytest.mark.soak("cli/test_worktree.py::test_a_task_is_taken_in_a_worktree_of_its_own")

BRANCH = "claude/fix-race-condition-in-task-queue-42"


def beside(place: Place, number: int = 42) -> Path:
    """The default folder."""
    return place.root.parent / f"{place.root.name}-{number}"


def at(place: Place, root: Path) -> Place:
    """The same GitHub, seen from another folder."""
    return replace(place, root=root)


def listed(place: Place) -> list[Path]:
    """Every worktree that git knows."""
    lines = place.git("worktree", "list", "--porcelain").splitlines()
    return [Path(line.removeprefix("worktree ")) for line in lines if line.startswith("worktree ")]


def test_a_task_is_taken_in_a_worktree_of_its_own(place: Place) -> None:
    """All that claim does, there; here nothing changes, and the command to start is printed."""
    ok(place.cli("claim", "45"))
    before, here = place.claim(), place.git("rev-parse", "--abbrev-ref", "HEAD")
    out = ok(place.cli("claim", "42", "--worktree", **{SESSION: "s-1"}))
    new = at(place, beside(place))
    assert f"Start there: cd '{new.root}' && claude" in out
    claim = new.claim()
    assert (claim["issue_number"], claim["branch"], claim["phase"]) == (42, BRANCH, "coding")
    assert new.git("rev-parse", "--abbrev-ref", "HEAD") == BRANCH
    assert place.card()["Agent"] == claim["agent_id"]
    assert place.issue()["assignees"] == ["octocat"]
    assert "refs/agent-claims/42" in place.control.world()["refs"]
    assert new.git("status", "--porcelain") == ""
    assert place.claim() == before
    assert place.git("rev-parse", "--abbrev-ref", "HEAD") == here
    assert "locked" not in place.git("worktree", "list", "--porcelain")


def test_of_a_submodule_it_lies_beside_the_submodule(place: Place, tmp_path: Path) -> None:
    """git lists `.git/modules/…` as its main worktree: nobody looks for one in there, or keeps it."""
    outer = tmp_path / "outer"
    place.git("init", "-q", str(outer))
    url = place.git("remote", "get-url", "origin")
    at(place, outer).git("submodule", "--quiet", "add", url, "inner")
    out = ok(at(place, outer / "inner").cli("claim", "42", "--worktree"))
    assert f"Start there: cd '{outer}/inner-42' && claude" in out


@pytest.mark.once("test_of_a_submodule_it_lies_beside_the_submodule has the other place")
@pytest.mark.parametrize("kind", ["submodule", "separate-git-dir"])
def test_a_main_worktree_whose_git_folder_is_elsewhere_is_named(
    place: Place, tmp_path: Path, kind: str
) -> None:
    """git lists the git folder in its place: its claim is found, and the folder that is named has it."""
    url, main = place.git("remote", "get-url", "origin"), at(place, tmp_path / "outer" / "inner")
    if kind == "submodule":
        place.git("init", "-q", str(tmp_path / "outer"))
        at(place, tmp_path / "outer").git("submodule", "--quiet", "add", url, "inner")
    else:
        place.git("clone", "-q", f"--separate-git-dir={tmp_path / 'git'}", url, str(main.root))
    ok(main.cli("claim", "45"))
    out = ok(main.cli("claim", "42", "--worktree"))
    linked = at(place, tmp_path / "outer" / "inner-42")
    assert f"Start there: cd '{linked.root}' && claude" in out
    # Only the main worktree itself knows where it is.
    out = ok(main.cli("claim", "45", "--worktree"))
    assert f"#45 is already claimed in {main.root}, in phase coding." in out
    assert f"Start there: cd '{main.root}' && claude" in out
    ok(linked.cli("release"))
    assert "held by" in refused(linked.cli("claim", "45"), code=4)


@pytest.mark.parametrize("folder", [".bare", "hello.git"])
def test_of_a_bare_repository_it_is_called_as_the_project(
    place: Place, tmp_path: Path, folder: str
) -> None:
    """Worktrees beside a bare repository: no folder is hidden, or ends as a repository does."""
    home, url = tmp_path / "hello", place.git("remote", "get-url", "origin")
    place.git("clone", "-q", "--bare", url, str(home / folder))
    at(place, home / folder).git("worktree", "add", "-q", str(home / "main"), "main")
    out = ok(at(place, home / "main").cli("claim", "42", "--worktree"))
    assert f"Start there: cd '{home}/hello-42' && claude" in out


@SOAKED
def test_every_command_finds_the_claim_from_a_subfolder(place: Place) -> None:
    """status, handoff, tick, release: run below the root of a linked worktree."""
    ok(place.cli("claim", "42", "--worktree"))
    new = at(place, beside(place))
    new.work(BRANCH, push=False)
    below = at(place, new.root / "deep" / "down")
    below.root.mkdir(parents=True)
    assert "#42" in ok(below.cli("status"))
    ok(below.cli("handoff", "--summary", "Fix it"))
    ok(below.cli("tick"))
    assert new.claim()["pr_number"] == place.pull()
    ok(below.cli("nudge", "coding", "--reason", "more to do"))
    assert "released" in ok(below.cli("release"))
    assert not new.has_claim()


def test_taking_it_again_goes_on_there(place: Place) -> None:
    """The default folder, from the main worktree, from a linked one, and however the task is named."""
    ok(place.cli("claim", "42", "--worktree"))
    new = at(place, beside(place))
    before = new.claim()
    named = (["42"], ["race", "condition"], ["octo-org/hello-service#42"])
    for words in (["42", "--worktree"], *(["--worktree", *name] for name in named)):
        data = json.loads(ok(place.cli("claim", *words, "--json")))
        assert data["new"] is False
        assert data["worktree"] == str(new.root)
    assert "is already claimed in" in ok(new.cli("claim", "42", "--worktree"))
    assert new.claim() == before
    assert len(listed(place)) == 2


@SOAKED
def test_a_path_of_ones_own_with_spaces_from_a_linked_worktree(
    place: Place, tmp_path: Path
) -> None:
    """PATH is relative to the current folder; what is printed can be pasted into a shell."""
    ok(place.cli("claim", "42", "--worktree", "../it's a place/for 42"))
    first = at(place, tmp_path / "it's a place" / "for 42")
    assert first.claim()["issue_number"] == 42
    data = json.loads(ok(first.cli("claim", "45", "--worktree", "--json")))
    second = at(place, Path(data["worktree"]))
    assert second.root == beside(place, 45), "beside the main worktree, wherever it is run"
    assert second.claim()["issue_number"] == 45
    again = ok(place.cli("claim", "42", "--worktree", "../it's a place/for 42"))
    start = again.splitlines()[-1].removeprefix("Start there: ").removesuffix(" && claude")
    assert shlex.split(start) == ["cd", str(first.root)]


@SOAKED
@pytest.mark.parametrize(
    ("number", "code", "word"), [("36", 1, "closed"), ("38", 4, "held by"), ("43", 1, "depends on")]
)
def test_a_claim_that_fails_leaves_no_worktree(
    place: Place, number: str, code: int, word: str
) -> None:
    """Closed, held, not ready: the sentence of claim, and the folder is gone again."""
    assert word in refused(place.cli("claim", number, "--worktree"), code)
    assert not beside(place, int(number)).exists()
    assert listed(place) == [place.root]
    assert place.git("branch", "--format=%(refname:short)") == "main"
    assert place.writes() == []


@SOAKED
def test_a_folder_or_worktree_of_somebody_else_is_not_touched(place: Place, tmp_path: Path) -> None:
    """Another's files, or another task's worktree: refused, with the way out, and as it was."""
    beside(place).mkdir()
    (beside(place) / "mine.txt").write_text("mine\n")
    sentence = refused(place.cli("claim", "42", "--worktree"))
    assert "not a worktree of this repository" in sentence
    assert "--worktree ./PATH" in sentence
    assert (beside(place) / "mine.txt").read_text() == "mine\n"
    other = tmp_path / "other"
    place.git("worktree", "add", "--quiet", "-b", "feature", str(other))
    assert "not that of #42" in refused(place.cli("claim", "42", "--worktree", "../other"))
    assert other.exists()
    assert "not that of #42" in refused(place.cli("claim", "42", "--worktree", "./."))
    assert place.writes() == []


@SOAKED
def test_a_branch_that_is_checked_out_elsewhere_is_named(place: Place, tmp_path: Path) -> None:
    """One branch has one worktree: the sentence says which, and how to go on there."""
    elsewhere = tmp_path / "elsewhere"
    place.git("worktree", "add", "--quiet", "-b", BRANCH, str(elsewhere))
    sentence = refused(place.cli("claim", "42", "--worktree"))
    assert str(elsewhere) in sentence
    assert not beside(place).exists()
    ok(place.cli("claim", "42", "--worktree", "../elsewhere"))
    assert at(place, elsewhere).claim()["issue_number"] == 42
    assert str(elsewhere) in ok(place.cli("claim", "42", "--worktree")), "its claim is found"
    assert str(elsewhere) in refused(place.cli("claim", "42", "--worktree", "../third"))


def test_a_clone_without_a_commit_takes_the_task_in_its_place(place: Place, tmp_path: Path) -> None:
    """There is nothing that a worktree could start from; the claim that is named starts at the base."""
    fresh = at(place, tmp_path / "fresh")
    place.git("init", "--quiet", str(fresh.root))
    fresh.git("remote", "add", "origin", place.git("remote", "get-url", "origin"))
    sentence = refused(fresh.cli("claim", "42", "--worktree"))
    assert f"no commit yet, so no worktree could be made at {beside(fresh)};" in sentence
    assert listed(fresh) == [fresh.root]
    ok(fresh.run(str(COMMAND), *sentence.split("Take the task here: lifecycle ")[1].split()))
    assert fresh.claim()["issue_number"] == 42


def test_what_was_begun_is_kept_and_goes_on(place: Place) -> None:
    """The assignment failed behind the lease: the folder stays with the attempt, and is used again."""
    place.control.add_fault(Fault("status", path=r"/assignees$", status=500, count=9))
    sentence = refused(place.cli("claim", "42", "--worktree"))
    assert "was kept; the same command continues there" in sentence
    sha = place.control.world()["refs"]["refs/agent-claims/42"]
    place.control.clear_faults()
    assert json.loads(ok(place.cli("claim", "42", "--worktree", "--json")))["new"] is True
    assert place.control.world()["refs"]["refs/agent-claims/42"] == sha
    assert at(place, beside(place)).claim()["issue_number"] == 42
    assert "locked" not in place.git("worktree", "list", "--porcelain")


class CrashError(BaseException):
    """The process ends here, as if killed."""


@SOAKED
@pytest.mark.parametrize("step", ["_add", "_take", "prepare"])
@pytest.mark.parametrize("is_after", [False, True])
def test_killed_in_between_the_next_run_goes_on(
    place: Place, monkeypatch: pytest.MonkeyPatch, step: str, *, is_after: bool
) -> None:
    """Before or after the worktree, its preparation, the claim: one worktree, one claim, no lock."""
    real = getattr(task_worktree, step, None)

    def staged(*args: object, **kwargs: object) -> object:
        if is_after and real is not None:
            real(*args, **kwargs)
        raise CrashError

    def prepare(origin: Path, root: Path) -> None:
        (root / "prepared").write_text(str(origin))

    world, chosen = place.tree().world, staged if step == "prepare" else prepare
    with monkeypatch.context() as patch:
        if real is not None:
            patch.setattr(task_worktree, step, staged)
        with pytest.raises(CrashError):
            task_worktree.take_in_worktree(world, "42", None, force=False, prepare=chosen)
    taken, root = task_worktree.take_in_worktree(
        place.tree().world, "42", None, force=False, prepare=prepare
    )
    assert taken.record.claim.issue_number == 42
    assert root == beside(place)
    assert (root / "prepared").read_text() == str(place.root)
    assert len(listed(place)) == 2
    assert "locked" not in place.git("worktree", "list", "--porcelain")


@SOAKED
def test_a_live_claim_is_never_taken_away(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed before the lock went, then GitHub fails: the claim and its folder stay."""

    def nothing(_origin: Path, _root: Path) -> None:
        """Prepare nothing."""

    def taken_then_killed(*args: object, **kwargs: object) -> None:
        real(*args, **kwargs)  # type: ignore[arg-type]  # as it was called
        raise CrashError

    real = task_worktree._take
    with monkeypatch.context() as patch:
        patch.setattr(task_worktree, "_take", taken_then_killed)
        with pytest.raises(CrashError):
            task_worktree.take_in_worktree(
                place.tree().world, "42", None, force=False, prepare=nothing
            )
    place.control.add_fault(Fault("status", path=r"/graphql$", status=502, count=99))
    with pytest.raises(Transient, match="was kept"):
        task_worktree.take_in_worktree(place.tree().world, "42", None, force=False, prepare=nothing)
    assert at(place, beside(place)).claim()["issue_number"] == 42


@SOAKED
def test_a_worktree_that_was_deleted_by_hand_is_made_anew(place: Place) -> None:
    """Git still lists the folder: the task's worktree comes back, and its branch with it."""
    ok(place.cli("claim", "42", "--worktree"))
    new = at(place, beside(place))
    new.work(BRANCH)
    head = new.git("rev-parse", "HEAD")
    place.run("rm", "-r", str(new.root))
    assert "held by" in refused(place.cli("claim", "42", "--worktree"), 4)
    assert not new.root.exists()
    ok(place.cli("takeover", "42", "--worktree"))
    assert new.git("rev-parse", "HEAD") == head


@SOAKED
def test_settings_and_hooks_of_this_clone_come_along(place: Place) -> None:
    """An untracked .lifecycle.toml decides in the new worktree too, before the task is taken."""
    place.environment.pop("LIFECYCLE_PROJECT_NUMBER")
    number = place.info.project_number
    (place.root / ".lifecycle.toml").write_text(f"[project]\nnumber = {number}\n")
    ok(place.cli("claim", "42", "--worktree"))
    new = at(place, beside(place))
    assert not (new.root / ".lifecycle.toml").exists(), "that of the main worktree is read"
    assert place.card()["Status"] == "In Progress"


def test_two_that_come_for_one_task_have_one_worktree(place: Place) -> None:
    """Also at once: who comes later goes on in the worktree of who was first, and takes nothing away."""
    words = (str(COMMAND), "claim", "42", "--worktree")
    with ThreadPoolExecutor() as pool:
        said = sorted(ok(done) for done in pool.map(lambda _: place.run(*words), range(2)))
    assert said[0].startswith(f"#42 is already claimed in {beside(place)}")
    assert said[1].startswith("Claimed #42")
    assert at(place, beside(place)).claim()["issue_number"] == 42
    assert not list((place.root / ".git" / "lifecycle").glob("claim-*"))
    with (
        Worktree(place.root, environment=place.environment, seconds=None) as tree,
        pytest.raises(HeldByAnother),
    ):
        tree.claim(42)
    assert len(listed(place)) == 2


def test_a_task_is_needed(place: Place) -> None:
    """No words are a usage error, with and without a folder."""
    for arguments in ([], ["--worktree"], ["--worktree", "./x"]):
        done = place.run(str(COMMAND), "claim", *arguments)
        assert done.returncode == 2
        assert "TASK" in done.stderr
