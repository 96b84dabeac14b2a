"""What `lifecycle init --run` and `--workflow` put in besides hooks: the rules that hold for both."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.setup.init.hook_table import PERMISSIONS, RUN_PERMISSIONS, WORKFLOW_PERMISSIONS
from lifecycle.setup.init.init_mark import MARK
from lifecycle.setup.init.planning import copy_to
from lifecycle.setup.init.supplies import WORKFLOW_FILES, runs
from tests.cli.outcome import ok, refused
from tests.setup.init.conftest import Clone
from tests.setup.init.test_init import settings

FILES = {"--run": tuple(file.name for file in runs()), "--workflow": WORKFLOW_FILES}
RULES = {"--run": RUN_PERMISSIONS, "--workflow": WORKFLOW_PERMISSIONS}
ONE_OF_EACH = [(option, name) for option, names in FILES.items() for name in (names[0], names[-1])]

OPTIONS = pytest.mark.parametrize("option", FILES)


@pytest.mark.once("test_settings has both forms, and one table has the files")
@OPTIONS
@pytest.mark.parametrize("shared", [(), ("--shared",)])
def test_twice_changes_nothing_and_a_plain_run_keeps_it(
    clone: Clone, option: str, shared: tuple[str, ...]
) -> None:
    """Not a byte and not a time, with the option and without."""
    ok(clone.run("init", option, *shared))
    before = clone.picture()
    assert "nothing was changed" in ok(clone.run("init", option, *shared))
    assert "nothing was changed" in ok(clone.run("init", *shared))
    assert clone.picture() == before


@OPTIONS
@pytest.mark.parametrize("shared", [(), ("--shared",)])
def test_files_without_a_mark_are_inits_again(
    clone: Clone, option: str, shared: tuple[str, ...]
) -> None:
    """As its hooks are, if they are as it writes them; a changed one is somebody's own."""
    ok(clone.run("init", option, *shared))
    changed, *others = FILES[option]
    clone.write(changed, "mine\n")
    (clone.root / MARK).unlink()
    assert f"{changed} is your own file, and was kept" in ok(clone.run("init", option, *shared))
    ok(clone.run("init", "--remove"))
    assert [name for name in (changed, *others) if (clone.root / name).exists()] == [changed]


@OPTIONS
def test_files_that_the_repository_brings_are_left_to_it(clone: Clone, option: str) -> None:
    """Whoever wires a clone for themselves takes out nothing that was committed."""
    ok(clone.run("init", option, "--shared"))
    clone.git("add", "--force", *FILES[option])
    clone.git("commit", "-qm", "Files")
    clone.git("stash", "-qua")
    before = clone.contents()
    ok(clone.run("init", option))
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


@OPTIONS
def test_without_the_option_nothing_of_it_is_there(clone: Clone, option: str) -> None:
    """No file and no permission: it is asked for, and another option does not bring it."""
    others = [other for other in FILES if other != option]
    ok(clone.run("init", "--stages", *others))
    assert not [name for name in FILES[option] if (clone.root / name).exists()]
    assert not set(settings(clone)["permissions"]["allow"]) & set(RULES[option])


@pytest.mark.once("one table of files")
@pytest.mark.parametrize(("option", "name"), ONE_OF_EACH)
def test_somebodys_own_file_of_that_name_is_kept_and_said(
    clone: Clone, option: str, name: str
) -> None:
    """It is not written to and not taken out; and the person is told."""
    clone.write(name, "mine\n")
    before = clone.contents()
    assert f"{name} is your own file, and was kept" in ok(clone.run("init", option))
    assert clone.contents()[name] == before[name]
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


@pytest.mark.once("one table of files")
@OPTIONS
def test_a_removal_follows_no_link_out_of_the_project(
    clone: Clone, tmp_path: Path, option: str
) -> None:
    """A folder that was moved away and linked since is somebody's: it keeps our files, and it is told."""
    before = clone.contents()
    ok(clone.run("init", option))
    file, moved = clone.root / FILES[option][0], tmp_path / "moved"
    folder = file.parent
    folder.rename(moved)
    folder.symlink_to(moved)
    assert f"out of this worktree, to {moved}" in refused(clone.run("init", "--remove"))
    assert (moved / file.name).exists()
    folder.unlink()
    moved.rename(folder)
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


@OPTIONS
def test_the_permissions_alone_are_the_plugins_users(clone: Clone, option: str) -> None:
    """With --permissions the rules go in and no file and no hook; and out again."""
    before = clone.contents()
    ok(clone.run("init", "--permissions", option))
    data = settings(clone)
    assert data["permissions"]["allow"] == [*PERMISSIONS, *RULES[option]]
    assert "hooks" not in data
    assert not [name for name in FILES[option] if (clone.root / name).exists()]
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


@pytest.mark.once("each part's permissions are rows of one table")
@OPTIONS
def test_what_was_allowed_stays_so_and_what_was_not_put_in_is_not_claimed(
    clone: Clone, option: str
) -> None:
    """A plain run after the permissions keeps them; permissions after one name what puts them in."""
    before = clone.contents()
    ok(clone.run("init", "--permissions", option))
    ok(clone.run("init"))
    assert set(settings(clone)["permissions"]["allow"]) == {*PERMISSIONS, *RULES[option]}
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before
    ok(clone.run("init"))
    assert f"with: lifecycle init {option}" in ok(clone.run("init", "--permissions", option))


@OPTIONS
def test_a_new_worktree_has_them_too(clone: Clone, option: str) -> None:
    """What one person's init put in goes along; git does not carry it over."""
    clone.write("a", "")
    clone.git("add", "a")
    clone.git("commit", "--quiet", "-m", "a")
    ok(clone.run("init", option))
    new = clone.root.with_name("new")
    clone.git("worktree", "add", "--quiet", str(new))
    copy_to(clone.root, new, environment=clone.environment)
    assert [name for name in FILES[option] if not (new / name).is_file()] == []
