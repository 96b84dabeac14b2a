"""Where bd may be run: where the user said yes, on a database of the repository or the user's choice."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from lifecycle.core.errors import BadConfig, Refused
from lifecycle.settings import user_folder
from lifecycle.storage import store
from lifecycle.trackers.beads import bd_here
from tests.trackers.beads import simulated


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone."""
    made = tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", str(made)], check=True)
    return made


@pytest.fixture
def environment(root: Path, tmp_path: Path) -> dict[str, str]:
    """A user who has said yes to bd in the clone, and has the program."""
    simulated.install(tmp_path / "bin")
    given = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path / "home")}
    simulated.allow(root, given)
    return given


def names(environment: dict[str, str], *folders: Path) -> None:
    """The user's own file lets tasks be kept there."""
    own = Path(environment["HOME"]) / ".config" / "lifecycle" / "config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text(f"tracker.folders = {json.dumps([str(one) for one in folders])}\n")


def outside(tmp_path: Path) -> Path:
    """A database that is no business of the clone's."""
    place = tmp_path / "private tasks"
    (place / ".beads").mkdir(parents=True)
    return place


def said(root: Path, environment: dict[str, str], folder: str = "") -> str:
    """The refusal."""
    assert not bd_here.is_here(root, environment, folder)
    why, way = bd_here.lacking(root, environment, folder)
    with pytest.raises(Refused) as refused:
        bd_here.refuse(root, environment, folder)
    assert way in refused.value.sentence
    assert why
    return refused.value.sentence.replace("Nobody", "nobody")


def test_without_a_yes_bd_is_not_run(root: Path, environment: dict[str, str]) -> None:
    """Whatever lies there; a yes to the commands of the project's file is none to bd, nor the other way."""
    (root / ".beads").mkdir()
    clone = store.clone_of(root)
    assert bd_here.is_here(root, environment, "")
    user_folder.allow(environment, clone, commands=["make test"])
    assert bd_here.is_here(root, environment, "")
    user_folder.revoke(environment, clone)
    user_folder.allow(environment, clone, commands=["make test"])
    assert "nobody has allowed bd" in said(root, environment)
    assert "lifecycle trust" in said(root, environment)


def test_another_clone_is_not_allowed_by_this_one(
    root: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """The yes is to one clone."""
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", str(other)], check=True)
    (other / ".beads").mkdir()
    assert "nobody has allowed bd" in said(other, environment)


def test_a_list_that_cannot_be_read_allows_nothing(root: Path, environment: dict[str, str]) -> None:
    """It is named, and bd is not run."""
    (root / ".beads").mkdir()
    (Path(environment["HOME"]) / ".config/lifecycle/trust.json").write_text("{")
    with pytest.raises(BadConfig, match=r"trust\.json"):
        bd_here.refuse(root, environment, "")


@pytest.mark.parametrize("folder", ["{outside}", "../private tasks", "{outside}/.beads", "link"])
def test_a_projects_file_names_no_folder_outside(
    root: Path, environment: dict[str, str], tmp_path: Path, folder: str
) -> None:
    """An absolute path, one with dots, one behind a link: refused until the user's own file names it."""
    place = outside(tmp_path)
    (root / "link").symlink_to(place)
    folder = folder.format(outside=place)
    assert "leads out of this repository" in said(root, environment, folder)
    names(environment, tmp_path / "elsewhere")
    assert "add it to tracker.folders" in said(root, environment, folder)
    names(environment, place)
    assert bd_here.is_here(root, environment, folder)
    bd_here.refuse(root, environment, folder)


def test_a_folder_inside_may_be_named(root: Path, environment: dict[str, str]) -> None:
    """Of the worktree itself."""
    (root / "tasks" / ".beads").mkdir(parents=True)
    assert "leads out of this repository" in said(root, environment, "tasks/../..")
    for folder in ("tasks", "tasks/.beads", str(root / "tasks")):
        assert bd_here.is_here(root, environment, folder)
        bd_here.refuse(root, environment, folder)


@pytest.mark.parametrize("redirects", [False, True])
def test_a_database_that_leads_elsewhere_is_none(
    root: Path, environment: dict[str, str], tmp_path: Path, *, redirects: bool
) -> None:
    """A `.beads` that is a link, or that redirects bd to another folder, as a tree may bring it."""
    place = outside(tmp_path)
    if redirects:
        (root / ".beads").mkdir()
        (root / ".beads" / "redirect").write_text("../private tasks/.beads\n")
    else:
        (root / ".beads").symlink_to(place / ".beads")
    assert f"to {place}/.beads" in said(root, environment)
    names(environment, place)
    assert bd_here.is_here(root, environment, "")


@pytest.mark.parametrize(
    "text", ["# here:\n\n{out}\n", "{out}\n/../../clone/x\n", "\x1c#/../{out}\nkept\n"]
)
def test_a_redirect_is_read_as_bd_reads_it(
    root: Path, environment: dict[str, str], tmp_path: Path, text: str
) -> None:
    """By its first line that is no comment to bd; as one path, the whole text lay inside."""
    place, out = outside(tmp_path), "../private tasks/.beads"
    (root / ".beads").mkdir()
    (root / ".beads" / "redirect").write_text(text.format(out=out))
    assert f"to {place}/.beads" in said(root, environment)
    (root / ".beads" / "redirect").write_text(f"# here:\n\nkept\n{out}\n")
    assert bd_here.is_here(root, environment, "")


def linked_to(root: Path, tmp_path: Path) -> Path:
    """A linked worktree of this one."""
    git = ["git", "-C", str(root), "-c", "user.name=T", "-c", "user.email=t@example.com"]
    linked = tmp_path / "linked"
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-mx"], check=True)
    subprocess.run([*git, "worktree", "add", "--quiet", str(linked)], check=True)
    return linked


def test_a_redirect_of_the_main_worktree_counts_in_each(
    root: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """bd follows it, though the linked worktree has a `.beads` of its own, as if git tracks it."""
    linked, place = linked_to(root, tmp_path), outside(tmp_path)
    for worktree in (root, linked):
        (worktree / ".beads").mkdir()
    assert bd_here.is_here(linked, environment, "")
    (root / ".beads" / "redirect").write_text("../private tasks/.beads\n")
    assert f"to {place}/.beads" in said(linked, environment)
    names(environment, place)
    assert bd_here.is_here(linked, environment, "")


def test_a_file_or_a_link_to_nowhere_beside_a_folder_is_passed_over(
    root: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """bd uses the folder, which may be the linked worktree's or the main one's."""
    linked = linked_to(root, tmp_path)
    for folder, other in ((linked, root), (root, linked)):
        (folder / ".beads").mkdir()
        (other / ".beads").symlink_to(tmp_path / "unplugged")
        assert bd_here.is_here(linked, environment, "")
        (other / ".beads").unlink()
        (other / ".beads").write_text("tasks\n")
        assert bd_here.is_here(linked, environment, "")
        (folder / ".beads").rmdir()
        (other / ".beads").unlink()


def test_a_folder_that_cannot_be_is_no_error_of_ours(
    root: Path, environment: dict[str, str]
) -> None:
    """A user whom nobody knows, links in a circle: a session's start ended over them, and said nothing."""
    unknown = "~no-such-user-here/tasks"
    assert bd_here.lacking(root, environment, unknown) == ("", "")
    assert bd_here.database(root, unknown) == str(root / unknown)
    (root / "circle").symlink_to("circle")
    with pytest.raises(BadConfig, match="circle/redirect cannot be read"):
        bd_here.lacking(root, environment, "circle")
    (root / ".beads").mkdir()
    (root / ".beads" / "redirect").write_text("circle\n")
    assert bd_here.is_here(root, environment, "")


def test_a_link_to_nowhere_is_a_database_that_is_missing(
    root: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    """As to a disk that is not there: GitHub's issues are not silently the tasks instead."""
    (root / ".beads").symlink_to(tmp_path / "unplugged")
    assert bd_here.is_present(root, environment, "")
    assert f"to {tmp_path}/unplugged" in said(root, environment)
    names(environment, tmp_path)
    assert bd_here.is_here(root, environment, "")


def test_a_redirect_that_is_too_long_is_refused(root: Path, environment: dict[str, str]) -> None:
    """Its line may be further down than is read."""
    (root / ".beads").mkdir()
    (root / ".beads" / "redirect").write_text(f"#{'-' * 5000}\n/elsewhere/.beads\n")
    with pytest.raises(BadConfig, match="has more than 4096 bytes"):
        bd_here.refuse(root, environment, "")


def test_a_redirect_within_the_repository_is_followed(
    root: Path, environment: dict[str, str]
) -> None:
    """As bd writes one into a linked worktree."""
    (root / ".beads").mkdir()
    (root / "kept").mkdir()
    (root / ".beads" / "redirect").write_text("kept\n")
    assert bd_here.is_here(root, environment, "")


@pytest.mark.timeout(20)
@pytest.mark.parametrize("is_link", [False, True])
def test_a_redirect_that_is_no_file_is_not_waited_for(
    root: Path, environment: dict[str, str], *, is_link: bool
) -> None:
    """A pipe, or a link to one, as a tree may lead to a terminal: refused with what it is."""
    (root / ".beads").mkdir()
    redirect = root / ".beads" / "redirect"
    pipe = root / "pipe" if is_link else redirect
    os.mkfifo(pipe)
    if is_link:
        redirect.symlink_to(pipe)
    with pytest.raises(BadConfig, match="is a link" if is_link else "is a named pipe"):
        bd_here.refuse(root, environment, "")
