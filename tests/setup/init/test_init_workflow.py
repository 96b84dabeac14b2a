"""`lifecycle init --workflow` in a real clone: in, again, out, and what is somebody's own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.setup.init import supplies
from lifecycle.setup.init.hook_table import PERMISSIONS, RUN_PERMISSIONS, WORKFLOW_PERMISSIONS
from lifecycle.setup.init.init_mark import MARK
from lifecycle.setup.init.planning import copy_to
from lifecycle.setup.init.supplies import SYNC_SCRIPT, WORKFLOW_FILES, workflows
from tests.cli.outcome import ok, refused
from tests.repeated import crossed
from tests.setup.init.conftest import Clone
from tests.setup.init.test_init import SHARED, WAYS, settings

MODES = pytest.mark.parametrize("shared", [(), ("--shared",)])
PAGE = supplies.SECTION_PAGE
STATUS = ("status", "--porcelain", "--untracked-files=all")

PAGES = {
    "none": None,
    "empty": "",
    "lines": "# Ours\n\nBe kind.\n",
    "without an end": "# Ours\nBe kind.",
    "windows": "# Ours\r\n\r\nBe kind.\r\n",
    "no text": b"# Ours\n\xff\xfe\n",
}


@pytest.mark.once("test_editing has every form of the page")
@pytest.mark.parametrize(("page", "shared"), crossed({"lines": PAGES["lines"], **PAGES}, WAYS))
def test_out_again_is_as_before(
    clone: Clone, shared: tuple[str, ...], page: str | bytes | None
) -> None:
    """Every file to the byte with its mode, CLAUDE.md among them, and no file or folder more."""
    if page is not None:
        clone.write(PAGE, page).chmod(0o640)
    clone.write("hooks/mine", "mine")
    before = clone.contents()
    ok(clone.run("init", "--workflow", *shared))
    assert all((clone.root / name).is_file() for name in (*WORKFLOW_FILES, PAGE))
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


def test_what_a_workflow_needs_is_there(clone: Clone) -> None:
    """Two scripts, of which one may be started, the agent, permissions; and the next step is named."""
    assert 'lifecycle workflow start "Name"' in ok(clone.run("init", "--workflow")).splitlines()[-1]
    assert (clone.root / SYNC_SCRIPT).stat().st_mode & 0o111
    assert settings(clone)["permissions"]["allow"] == [*PERMISSIONS, *WORKFLOW_PERMISSIONS]
    ok(clone.run("init", "--run"))
    rules = {*PERMISSIONS, *RUN_PERMISSIONS, *WORKFLOW_PERMISSIONS}
    assert set(settings(clone)["permissions"]["allow"]) == rules


@pytest.mark.once("test_settings has both forms")
@MODES
def test_a_dry_run_shows_the_section_and_writes_nothing(
    clone: Clone, shared: tuple[str, ...]
) -> None:
    """Each line of it as it would be added, in and out."""
    clone.write(PAGE, "# Ours\n")
    before = clone.picture()
    told = ok(clone.run("init", "--workflow", "--dry-run", *shared))
    assert f"+## {supplies.SECTION_TITLE}" in told
    assert clone.picture() == before
    ok(clone.run("init", "--workflow", *shared))
    put_in = clone.picture()
    assert f"-## {supplies.SECTION_TITLE}" in ok(clone.run("init", "--remove", "--dry-run"))
    assert clone.picture() == put_in


def test_what_is_written_around_the_section_stays(clone: Clone) -> None:
    """Text before it and behind it is whoever's it is."""
    clone.write(PAGE, "# Ours\n")
    ok(clone.run("init", "--workflow"))
    clone.write(PAGE, f"# First\n{clone.read(PAGE)}\n## Last\n")
    ok(clone.run("init", "--remove"))
    assert clone.read(PAGE).split() == ["#", "First", "#", "Ours", "##", "Last"]


def test_a_new_page_that_somebody_went_on_with_is_kept(clone: Clone) -> None:
    """CLAUDE.md goes where only the section was in it, and stays where somebody wrote beside it."""
    ok(clone.run("init", "--workflow"))
    clone.write(PAGE, f"{clone.read(PAGE)}\nBe kind.\n")
    ok(clone.run("init", "--remove"))
    assert clone.read(PAGE).strip() == "Be kind."


def test_a_changed_section_is_its_writers(clone: Clone) -> None:
    """It is not put back by the next run and not taken out; both say so."""
    ok(clone.run("init", "--workflow"))
    changed = clone.read(PAGE).replace("Workflow State Protocol", "How we work")
    clone.write(PAGE, changed)
    assert f"The section of {PAGE} is your own, and was kept" in ok(clone.run("init"))
    assert clone.read(PAGE) == changed
    told = ok(clone.run("init", "--remove"))
    assert f"deleted  {PAGE}" not in told
    assert clone.read(PAGE) == changed


def test_a_section_changed_after_the_last_run_is_kept_by_the_removal(clone: Clone) -> None:
    """The mark knows it as it was put in; what is not so any more is told and stays."""
    ok(clone.run("init", "--workflow"))
    changed = clone.read(PAGE).replace("Workflow State Protocol", "How we work")
    clone.write(PAGE, changed)
    assert f"The section of {PAGE} was changed since" in ok(clone.run("init", "--remove"))
    assert clone.read(PAGE) == changed


def test_an_earlier_versions_section_is_renewed(clone: Clone) -> None:
    """What the mark shows to be ours, as it was, is replaced by this version's; and goes as it came."""
    clone.write(PAGE, "# Ours\n")
    before = clone.contents()
    ok(clone.run("init", "--workflow"))
    old = "Work in ordered phases"
    clone.write(PAGE, clone.read(PAGE).replace(old, "Work in steps"))
    clone.write(MARK, clone.read(MARK).replace(old, "Work in steps"))
    ok(clone.run("init"))
    assert clone.read(PAGE) == f"# Ours\n\n{supplies.section()}"
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


@pytest.mark.parametrize(
    "section",
    [
        "Be kind.\n",
        "<!-- lifecycle:workflow -->\nBe kind.\n",
        "\n# Ours\n<!-- /lifecycle:workflow -->",
    ],
)
def test_a_strangers_mark_takes_no_text_of_mine(clone: Clone, section: str) -> None:
    """Only what stands between our markers is ever taken out; another mark is no mark of ours."""
    ok(clone.run("init", "--workflow", "--shared"))
    clone.write(PAGE, f"Be kind.\n{section}")
    data = json.loads(clone.read(MARK))
    clone.write(MARK, json.dumps({**data, "section": section}))
    before = clone.contents()
    assert "delete it" in refused(clone.run("init", "--remove"))
    assert clone.contents() == before


def test_a_section_that_the_repository_brings_is_left_to_it(clone: Clone) -> None:
    """Whoever wires a clone for themselves takes out nothing that was committed."""
    clone.write(PAGE, f"# Ours\n\n{supplies.section()}")
    before = clone.contents()
    ok(clone.run("init", "--workflow"))
    assert clone.read(PAGE).count(supplies.SECTION_TITLE) == 1
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


def test_a_link_that_leads_out_is_not_written_through(clone: Clone) -> None:
    """A repository can bring CLAUDE.md as a link into somebody's home: nothing is written anywhere."""
    theirs = clone.home / "notes.md"
    theirs.write_text("theirs")
    (clone.root / PAGE).symlink_to(theirs)
    before = clone.contents()
    assert "leads out of this worktree" in refused(clone.run("init", "--workflow"))
    assert (clone.contents(), theirs.read_text()) == (before, "theirs")


def test_for_one_person_git_shows_nothing_but_their_own_page(clone: Clone) -> None:
    """What init and a workflow write is kept out of git; CLAUDE.md is what git tracks."""
    clone.write(PAGE, "# Ours\n")
    clone.git("add", PAGE)
    clone.git("commit", "--quiet", "-m", "ours")
    ok(clone.run("init", "--workflow"))
    clone.write(".claude/state/workflow.json", "{}")
    clone.write(".claude/workflow_state_system.md", "")
    clone.write("untracked/workflow-state/a/state-a-20250101_000000.json", "{}")
    assert clone.git(*STATUS) == f" M {PAGE}\n"
    ok(clone.run("init", "--workflow", "--shared"))
    shown = {line[3:] for line in clone.git(*STATUS).splitlines()}
    assert {*WORKFLOW_FILES, PAGE, MARK, SHARED, ".gitignore"} <= shown
    assert not [name for name in shown if "untracked" in name or "/state/" in name]
    assert str(Path.home()) not in "".join(file.text for file in workflows())


def test_a_new_worktree_has_the_files_and_no_changed_page(clone: Clone) -> None:
    """`claim --worktree` brings scripts and agent along; a page that git tracks is as it was committed."""
    clone.write(PAGE, "# Ours\n")
    clone.git("add", PAGE)
    clone.git("commit", "--quiet", "-m", "ours")
    ok(clone.run("init", "--workflow"))
    new = clone.root.with_name("new")
    clone.git("worktree", "add", "--quiet", str(new))
    copy_to(clone.root, new, environment=clone.environment)
    assert [name for name in WORKFLOW_FILES if not (new / name).is_file()] == []
    assert (new / PAGE).read_text() == "# Ours\n"
