"""`lifecycle init` in a real clone: in, again, out, and what others did in between."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

from lifecycle.cli.main import group
from lifecycle.core.errors import LockBusy, Refused
from lifecycle.core.values.configured import Settings
from lifecycle.settings import config, resources, user_folder
from lifecycle.setup.init import init_mark, planning
from lifecycle.setup.init.client_settings import LINE_MARK
from lifecycle.setup.init.found_hooks import ClientSetup
from lifecycle.setup.init.hook_table import (
    NAMES,
    PERMISSIONS,
    RUN_PERMISSIONS,
    STAGE_PERMISSIONS,
    STASH_PERMISSIONS,
    WIRES,
)
from lifecycle.setup.init.init_mark import MARK, PERMITS
from lifecycle.setup.init.jsonc import parse
from lifecycle.setup.init.planning import Plan, apply, copy_to
from lifecycle.setup.init.supplies import section, settings_file
from lifecycle.storage import store
from tests.batches import each_row
from tests.cli.outcome import ok, refused
from tests.conftest import STARTED
from tests.repeated import crossed
from tests.setup.init.conftest import Clone

LOCAL = ".claude/settings.local.json"
SHARED = ".claude/settings.json"
THEIRS = """\
{
    // the team's
    "hooks": {
        "Stop": [
            { "hooks": [ { "type": "command", "command": "theirs" } ] }, // first

        ],
    },
    "permissions": { "allow": ["Bash(ls)"], },
}"""

WAYS: dict[str, tuple[str, ...]] = {"local": (), "shared": ("--shared",)}
"""Whose settings file it is, as `init` is told."""


def settings(clone: Clone, name: str = LOCAL) -> dict[str, Any]:
    """What a settings file says."""
    node = parse(clone.read(name))
    assert node is not None
    return dict(node.value)


def commands(data: dict[str, Any], event: str) -> list[str]:
    """The commands of an event, in order."""
    return [hook["command"] for group in data["hooks"][event] for hook in group["hooks"]]


def installing(clone: Clone) -> Plan:
    """What `init` is going to do."""
    todo = Plan(clone.root, clone.environment)
    todo.installation()
    return todo


@pytest.mark.once("test_settings has every form of the file, by properties")
@pytest.mark.parametrize(
    ("given", "shared"),
    crossed(
        {
            "theirs": (THEIRS, "*.o\n"),
            "none": (None, None),
            "empty": ("", ""),
            "object": ("{}", "*.o"),
            "hooks": ('{"hooks":{}}', "*.o\r\n"),
            "windows": (THEIRS.replace("\n", "\r\n"), None),
        },
        WAYS,
    ),
)
def test_out_again_is_as_before(
    clone: Clone, given: tuple[str | None, str | None], shared: tuple[str, ...]
) -> None:
    """Every file to the byte with its mode, and no file or folder more."""
    theirs, ignore = given
    if theirs is not None:
        clone.write(SHARED if shared else LOCAL, theirs).chmod(0o640)
    if ignore is not None:
        clone.write(".gitignore", ignore)
    before = clone.contents()
    ok(clone.run("init", *shared))
    assert clone.contents() != before
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


@pytest.mark.parametrize("arguments", [[], ["--shared"]])
def test_twice_changes_nothing_at_all(clone: Clone, arguments: list[str]) -> None:
    """Not a byte and not a time, in the repository and in the user's own folder."""
    clone.write(LOCAL, THEIRS)
    ok(clone.run("init", *arguments))
    own = clone.home / ".config/lifecycle"
    for path in (*clone.root.rglob("*"), *own.iterdir()):
        os.utime(path, (1, 1), follow_symlinks=False)
    before, times = clone.picture(), [path.stat().st_mtime for path in own.iterdir()]
    assert "nothing was changed" in ok(clone.run("init", *arguments))
    assert clone.picture() == before
    assert [path.stat().st_mtime for path in own.iterdir()] == times


def test_what_is_wired_is_there_and_can_run(clone: Clone) -> None:
    """Each entry names a script that is there, absolutely and without a shell; others' stay first."""
    clone.write(LOCAL, THEIRS)
    ok(clone.run("init"))
    data = settings(clone)
    assert commands(data, "Stop")[0] == "theirs"
    for wire in WIRES:
        script = str(resources.hook_script(wire.name))
        assert commands(data, wire.event).count(script) == 1
        assert os.access(script, os.X_OK)
    assert data["permissions"]["allow"] == ["Bash(ls)", *PERMISSIONS]
    assert clone.read(LOCAL).startswith(THEIRS[:40])


def test_an_agent_may_not_say_yes_in_its_users_place() -> None:
    """No permission covers closing, nudging, trusting or wiring."""
    allowed = {rule.removeprefix("Bash(lifecycle ").removesuffix(":*)") for rule in PERMISSIONS}
    assert not allowed & {"close", "nudge", "trust", "init", "hook", "sandbox", "takeover"}


@each_row("rule", [*PERMISSIONS, *STAGE_PERMISSIONS, *RUN_PERMISSIONS[: -len(STASH_PERMISSIONS)]])
def test_what_is_allowed_forces_and_overwrites_nothing(rule: str) -> None:
    """A permission covers every option of its command, so no such command has one that forces."""
    words = rule.removeprefix("Bash(lifecycle ").removesuffix(":*)").split()
    found: click.Command = group
    for word in words:
        assert isinstance(found, click.Group)
        below = found.get_command(click.Context(found), word)
        assert below is not None, rule
        found = below
    names = {name for one in found.params if not getattr(one, "hidden", False) for name in one.opts}
    assert not names & {"--force", "--override", "--description", "--yes"}
    assert words[-1] not in ("takeover", "edit", "close", "reopen")


def test_git_ignores_what_is_ours(clone: Clone) -> None:
    """The claim, our folder, the mark, and all that init made: git shows nothing, and takes nothing."""
    ok(clone.run("init"))
    for name in (
        ".agent-claim.json",
        ".agent-claim.json.corrupt-1",
        ".lifecycle/state.json",
        MARK,
        LOCAL,
    ):
        assert clone.git("check-ignore", "--no-index", name).strip() == name
    shown = clone.git("status", "--porcelain", "--untracked-files=all").splitlines()
    assert shown == []
    clone.git("add", "--all")
    assert clone.git("ls-files") == ""


@pytest.mark.once("each part names its files to the same list, which test_init_supplied has")
@pytest.mark.parametrize("arguments", [[], ["--stages"], ["--permissions"]])
def test_what_is_one_persons_is_not_there_to_commit(clone: Clone, arguments: list[str]) -> None:
    """In a clone and in a linked worktree: no .gitignore, a clean status; `git add -A` takes nothing."""
    clone.write("code.py", "one = 1\n")
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "-m", "x")
    new = Clone(clone.root.parent / "b new", clone.home)
    clone.git("worktree", "add", "--quiet", "-b", "b", str(new.root))
    before = new.contents()
    for one in (clone, new):
        ok(one.run("init", *arguments))
        assert not (one.root / ".gitignore").exists()
        assert one.git("status", "--porcelain", "--untracked-files=all") == ""
        one.git("add", "--all")
        assert one.git("ls-files") == "code.py\n"
    ok(new.run("init", "--remove"))
    assert new.contents() == before


@pytest.mark.once("each part names its files to the same list")
@pytest.mark.parametrize("option", ["", "--permissions", "--statusline"])
def test_a_worktree_that_stays_wired_keeps_its_files_out_of_git(clone: Clone, option: str) -> None:
    """Taken out of one worktree, the other's files stay unlisted; the last one's removal restores all."""
    clone.git("commit", "--quiet", "--allow-empty", "-m", "x")
    linked = Clone(clone.root.parent / "linked", clone.home)
    clone.git("worktree", "add", "--quiet", "-b", "b", str(linked.root))
    before = clone.contents(), linked.contents()
    ok(clone.run("init"))
    ok(linked.run("init", *filter(None, [option])))
    ok(clone.run("init", "--remove"))
    assert linked.git("status", "--porcelain", "--untracked-files=all") == ""
    ok(linked.run("init", "--remove"))
    assert (clone.contents(), linked.contents()) == before


def test_a_linked_worktree_reads_its_main_ones_settings(clone: Clone) -> None:
    """None of its own: the main one's count; one of its own decides; a relative link is followed too."""
    clone.git("commit", "--quiet", "--allow-empty", "-m", "x")
    clone.write(".lifecycle.toml", 'remote = "fork"\n')
    new = Clone(clone.root.parent / "b new", clone.home)
    clone.git("worktree", "add", "--quiet", "-b", "b", str(new.root))
    assert config.load(new.root, {}).remote == "fork"
    assert config.is_served(new.root, {})
    ok(new.run("init"))
    assert not (new.root / ".lifecycle.toml").exists()
    why = "of the main worktree counts here, and has the staged workflow off"
    assert why in refused(new.run("init", "--stages"))
    name = (new.root / ".git").read_text().strip().rpartition("/")[2]
    new.write(".git", f"gitdir: ../{clone.root.name}/.git/worktrees/{name}\n")
    assert config.load(new.root, {}).remote == "fork"
    new.write(".lifecycle.toml", 'remote = "mine"\n')
    assert config.load(new.root, {}).remote == "mine"
    (new.root / ".lifecycle.toml").unlink()
    new.write(".git", "gitdir: elsewhere\n")
    assert config.load(new.root, {}).remote == "origin"


def test_the_claims_commands_are_there_without_the_plugin(clone: Clone) -> None:
    """/claim, /handoff and /status, runnable unasked; nothing in them is the plugin's own."""
    ok(clone.run("init"))
    for name in ("claim", "handoff", "status"):
        page = clone.read(f".claude/commands/{name}.md")
        assert f"allowed-tools: Bash(lifecycle {name}:*)" in page
        assert "CLAUDE_PLUGIN_ROOT" not in page
        assert "If the shell does not find `lifecycle`, say so" in page
    assert "--summary-file - <<'EOF'" in clone.read(".claude/commands/handoff.md")
    clone.write(".claude/commands/status.md", "mine")
    assert ".claude/commands/status.md was changed since init wrote it, and was kept." in ok(
        clone.run("init", "--remove")
    )
    assert [path.name for path in (clone.root / ".claude/commands").iterdir()] == ["status.md"]
    said = ok(clone.run("init"))
    assert ".claude/commands/status.md is your own file, and was kept." in said
    assert clone.read(".claude/commands/status.md") == "mine"


@pytest.mark.parametrize("theirs", [None, "{}", THEIRS])
def test_permissions_alone_for_the_plugins_users(clone: Clone, theirs: str | None) -> None:
    """No hook, no command, no toml; the plugin's hooks stay awake; twice is once; out again to the byte."""
    if theirs is not None:
        clone.write(LOCAL, theirs)
    before = clone.contents()
    ok(clone.run("init", "--permissions"))
    data = settings(clone)
    assert set(PERMISSIONS) <= set(data["permissions"]["allow"])
    assert "lifecycle" not in json.dumps(data.get("hooks", {}))
    assert not (clone.root / MARK).exists()
    assert not (clone.root / ".lifecycle.toml").exists()
    assert ClientSetup.read(clone.root, clone.environment).allows()
    once = clone.picture()
    ok(clone.run("init", "--permissions"))
    assert clone.picture() == once
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before
    assert not ClientSetup.read(clone.root, clone.environment).allows()


def test_permissions_go_over_into_the_whole(clone: Clone) -> None:
    """Allowed first and wired later is one mark, and one removal; wired already, there is nothing to do."""
    before = clone.contents()
    ok(clone.run("init", "--permissions"))
    ok(clone.run("init"))
    assert not (clone.root / PERMITS).exists()
    assert settings(clone)["permissions"]["allow"] == list(PERMISSIONS)
    whole = clone.picture()
    assert "permissions" in ok(clone.run("init", "--permissions"))
    assert clone.picture() == whole
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


def test_the_users_folder_says_where_everything_is(clone: Clone) -> None:
    """What hooks without an environment read: the command that ran, and the scripts' folder."""
    ok(clone.run("init"))
    assert user_folder.recorded(clone.environment, user_folder.BIN) == STARTED
    hooks = user_folder.recorded(clone.environment, user_folder.HOOKS)
    assert hooks == resources.top_folder("hooks")


@pytest.mark.parametrize("variables", [{"HOME": ""}, {"XDG_CONFIG_HOME": "/dev/null/config"}])
def test_without_a_folder_of_the_users_the_project_is_wired(
    clone: Clone, variables: dict[str, Any]
) -> None:
    """As in a container with a home that nobody may write to: PATH will do, which is said."""
    said = ok(clone.run("init", **variables))
    assert "The command's location was not recorded (n" in said
    assert "only by LIFECYCLE_BIN or PATH" in said
    assert ClientSetup.read(clone.root, clone.environment).missing == []
    assert not (clone.home / ".config").exists()


def test_from_one_person_to_everybody_moves(clone: Clone) -> None:
    """Never both: the person's own settings are as before, the repository's have it all."""
    clone.write(LOCAL, THEIRS)
    ok(clone.run("init"))
    said = ok(clone.run("init", "--shared"))
    assert "Commit these files (those that git ignores with git add --force)" in said
    assert clone.read(LOCAL) == THEIRS
    data = settings(clone, SHARED)
    assert all(len(commands(data, wire.event)) >= 1 for wire in WIRES)
    shown = clone.git("status", "--porcelain", "--untracked-files=all")
    assert f"?? {MARK}" in shown
    assert str(clone.root) not in clone.read(SHARED) + clone.read(MARK)
    assert str(resources.top_folder("hooks")) not in clone.read(SHARED) + clone.read(MARK)


def test_a_shared_project_stays_shared(clone: Clone) -> None:
    """A colleague's init changes no file of the repository, and records where things are for them."""
    ok(clone.run("init", "--shared"))
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "-m", "Wire lifecycle")
    (clone.home / ".config/lifecycle/hooks").unlink()
    assert "already set up here for everybody" in ok(clone.run("init"))
    assert clone.git("status", "--porcelain") == ""
    hooks = user_folder.recorded(clone.environment, user_folder.HOOKS)
    assert hooks == resources.top_folder("hooks")


@pytest.mark.parametrize(("first", "then"), [("--shared", ()), ("", ("--shared",))])
def test_entries_without_a_mark_are_not_set_up_twice(
    clone: Clone, first: str, then: tuple[str, ...]
) -> None:
    """A mark may be left out of a commit, or be lost: everybody's entries stay, a person's move there."""
    ok(clone.run("init", *filter(None, [first])))
    (clone.root / MARK).unlink()
    for arguments in (then, (), then):
        ok(clone.run("init", *arguments))
        setup = ClientSetup.read(clone.root, clone.environment)
        assert setup.doubled == []
        assert {entry.file.shown for entry in setup.entries} == {SHARED}
        assert setup.mark is not None
        assert setup.mark.mode == "shared"


@pytest.mark.parametrize("is_checkout", [True, False])
@pytest.mark.parametrize("has_mark", [True, False])
def test_entries_of_before_the_signature_are_renewed_and_go(
    clone: Clone, *, has_mark: bool, is_checkout: bool
) -> None:
    """What an `init` without it wrote leaves no hook twice, with its mark of then and if that was lost."""
    for file in (Path(__file__).parent / "unsigned").iterdir():
        text, hooks = file.read_text(), str(resources.top_folder("hooks"))
        moved = re.sub(r"/opt/pipx/\S+/_hooks", hooks, text) if is_checkout else text
        clone.write(f".claude/{file.name}", moved)
    if not has_mark:
        (clone.root / MARK).unlink()
    assert "did not write" not in ok(clone.run("init"))
    setup = ClientSetup.read(clone.root, clone.environment)
    assert (setup.missing, setup.doubled) == ([], [])
    assert {entry.is_there for entry in setup.entries} == {True}
    assert "still runs" not in ok(clone.run("init", "--remove"))
    assert ClientSetup.read(clone.root, clone.environment).entries == ()


@pytest.mark.parametrize(
    ("option", "name"), [("--permissions", PERMITS), ("--statusline", LINE_MARK)]
)
def test_a_broken_mark_of_a_part_is_named(clone: Clone, option: str, name: str) -> None:
    """It is this file that is to be deleted; then it is written anew."""
    ok(clone.run("init", option))
    clone.write(name, "{}")
    assert refused(clone.run("init", option)).startswith(f"lifecycle: {name} cannot be read")
    (clone.root / name).unlink()
    ok(clone.run("init", option))


def test_a_broken_mark_of_another_worktree_is_no_hindrance_here(clone: Clone) -> None:
    """As one of before the signature is, until `init` has run there: it is told where it is."""
    clone.git("commit", "-q", "--allow-empty", "-m", "Begin")
    linked = clone.root.parent / "linked"
    clone.git("worktree", "add", "-q", str(linked))
    (linked / MARK).parent.mkdir()
    (linked / MARK).write_text("{}")
    before = clone.contents()
    ok(clone.run("init"))
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before
    assert MARK in refused(clone.run("init", cwd=linked))


def test_a_persons_entries_go_when_everybodys_come_without_a_mark(clone: Clone) -> None:
    """As a pull may bring them; what the person had in the settings is kept."""
    ok(clone.run("init", "--shared"))
    text = clone.read(SHARED)
    ok(clone.run("init", "--remove"))
    clone.write(LOCAL, THEIRS)
    ok(clone.run("init"))
    clone.write(SHARED, text)
    assert ClientSetup.read(clone.root, clone.environment).doubled
    assert "already set up here for everybody" not in ok(clone.run("init"))
    assert ClientSetup.read(clone.root, clone.environment).doubled == []
    assert clone.read(LOCAL) == THEIRS


@pytest.mark.parametrize("arguments", [[], ["--shared"]])
def test_hand_written_entries_stay_and_are_told(clone: Clone, arguments: list[str]) -> None:
    """They may be the team's own choice: what runs twice by them is named, also by the doctor's list."""
    hook = {"type": "command", "command": "sh -c 'lifecycle hook on-stop'"}
    nobodys = {"type": "command", "command": ".claude/hooks/on-stop.sh"}
    clone.write(SHARED, json.dumps({"hooks": {"Stop": [{"hooks": [hook, nobodys]}]}}))
    before = clone.read(SHARED)
    for _ in range(2):
        assert f"did not write run on-stop, too ({SHARED});" in ok(clone.run("init", *arguments))
        setup = ClientSetup.read(clone.root, clone.environment)
        assert [wire.name for wire, _ in setup.doubled] == ["on-stop"]
        assert setup.missing == []
    assert '"changes": []' in ok(clone.run("init", "--json", *arguments))
    ok(clone.run("init", "--remove"))
    assert clone.read(SHARED) == before


@pytest.mark.parametrize("place", ["local", "home"])
def test_everybody_gets_every_hook_whoever_runs_one_already(clone: Clone, place: str) -> None:
    """Others lack what only this person's own settings have; the doctor says what runs twice for them."""
    folder = {"local": clone.root, "home": clone.home}[place]
    hook = {"type": "command", "command": "sh -c 'lifecycle hook on-stop'"}
    path = folder / (LOCAL if place == "local" else SHARED)
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [hook]}]}}))
    ok(clone.run("init", "--shared"))
    assert {*settings(clone, SHARED)["hooks"]} == {wire.event for wire in WIRES}
    doubled = ClientSetup.read(clone.root, clone.environment).doubled
    assert [wire.name for wire, _ in doubled] == ["on-stop"]


def test_ones_own_entries_stay_beside_everybodys_mark(clone: Clone) -> None:
    """A mark that came with a pull is everybody's: nothing moves what a former `init` put in here."""
    ok(clone.run("init"))
    folder = clone.home / "lifecycle/_hooks"
    folder.mkdir(parents=True)
    for wire in WIRES:
        (folder / wire.name).touch()
    own = clone.read(LOCAL).replace(str(resources.top_folder("hooks")), str(folder))
    clone.write(LOCAL, own)
    ok(clone.run("init", "--shared"))
    clone.write(LOCAL, own)
    ok(clone.run("init"))
    assert clone.read(LOCAL) == own


def test_a_fresh_worktree_with_everybodys_entries_stays_clean(clone: Clone) -> None:
    """The person's mark comes along without hooks: they are there already, and nothing is to commit."""
    ok(clone.run("init", "--shared"))
    text = clone.read(SHARED)
    ok(clone.run("init", "--remove"))
    ok(clone.run("init"))
    clone.write(SHARED, text)
    clone.git("add", SHARED)
    clone.git("commit", "--quiet", "-m", "x")
    new = Clone(clone.root.parent / "new", clone.home)
    clone.git("worktree", "add", "--quiet", "-b", "b", str(new.root))
    copy_to(clone.root, new.root, environment=clone.environment)
    assert new.git("status", "--porcelain", "--untracked-files=all") == ""
    assert "hooks" not in settings(new)
    assert {e.file.shown for e in ClientSetup.read(new.root, new.environment).entries} >= {SHARED}


@pytest.mark.parametrize("arguments", [[], ["--shared"], ["--remove"]])
def test_a_dry_run_shows_every_file_and_writes_nothing(clone: Clone, arguments: list[str]) -> None:
    """A diff with a head for each file that would change, in the repository and in the user's folder."""
    clone.write(LOCAL, THEIRS)
    if "--remove" in arguments:
        ok(clone.run("init"))
    before = clone.picture()
    own = (clone.home / ".config").exists()
    shown = ok(clone.run("init", "--dry-run", *arguments))
    assert "Nothing was written." in shown
    assert clone.picture() == before
    assert (clone.home / ".config").exists() is own
    done = json.loads(ok(clone.run("init", "--json", *arguments)))
    assert done["changes"]
    for change in done["changes"]:
        name = Path(change["path"]).name
        assert any(
            line.startswith(("--- ", "+++ ")) and name in line for line in shown.splitlines()
        )


def test_a_dry_runs_diff_is_the_change(clone: Clone) -> None:
    """Applied by git, the diff of the settings makes the file that init writes."""
    clone.write(LOCAL, THEIRS)
    todo = installing(clone)
    (change,) = [one for one in todo.changes if one.shown == LOCAL]
    assert change.after is not None
    (clone.root / "patch").write_text(change.diff())
    clone.git("apply", "-p0", "patch")
    assert clone.read(LOCAL) == change.after.decode()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{\n  "hooks": {},\n  "model" "x"\n}\n', "line 3, column 11"),
        (b'{"hooks": {"Stop": {}}}', "hooks.Stop"),
        (b"[]", "not an object"),
        (b'{"a": "\xff"}', "not UTF-8 (byte 8)"),
    ],
)
@pytest.mark.parametrize("arguments", [[], ["--shared"], ["--dry-run"]])
def test_broken_settings_are_refused_and_nothing_is_written(
    clone: Clone, content: bytes, said: str, arguments: list[str]
) -> None:
    """One sentence with the place; no file anywhere is touched or made."""
    clone.write(SHARED if "--shared" in arguments else LOCAL, content)
    before = clone.picture()
    assert said in refused(clone.run("init", *arguments))
    assert clone.picture() == before
    assert not (clone.home / ".config").exists()


def test_what_cannot_be_written_leaves_nothing_behind(clone: Clone) -> None:
    """One file that the disk refuses, and those written before it are put back."""
    clone.write(LOCAL, THEIRS)
    (clone.root / ".gitignore").mkdir()
    before = clone.contents()
    assert ".gitignore" in refused(clone.run("init", "--shared"))
    assert clone.contents() == before


def test_a_change_in_between_is_not_overwritten(clone: Clone) -> None:
    """Claude Code writes this file too, when its user allows something: then nothing is written."""
    clone.write(LOCAL, THEIRS)
    todo = installing(clone)
    clone.write(LOCAL, "{}")
    before = clone.picture()
    with pytest.raises(Refused, match="somebody else just now"):
        apply(todo)
    assert clone.picture() == before


def test_what_a_plan_was_made_of_is_as_it_was(clone: Clone) -> None:
    """A file that it does not change, too: without the mark, what it puts in would be nobody's."""
    ok(clone.run("init"))
    (clone.root / ".claude/commands/claim.md").unlink()  # as a removal does first
    todo = installing(clone)
    (clone.root / MARK).unlink()  # and last
    before = clone.picture()
    with pytest.raises(Refused, match=r"lifecycle\.json was changed by somebody else just now"):
        apply(todo)
    assert clone.picture() == before


def test_one_plan_at_a_time_is_carried_out_in_a_clone(
    clone: Clone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was compared is what is replaced: two at once would leave files that no mark speaks of."""
    todo = installing(clone)
    apply(todo)
    before = clone.picture()
    todo = Plan(clone.root, clone.environment)
    todo.removal()
    monkeypatch.setattr(planning, "LOCK_SECONDS", 0.05)
    lock = clone.root / ".git/lifecycle" / planning.LOCK
    with store.locked(lock, 1.0, ""), pytest.raises(LockBusy, match="nothing was written"):
        apply(todo)
    assert clone.picture() == before


def test_a_linked_file_is_written_through(clone: Clone) -> None:
    """Who keeps settings elsewhere in the project keeps the link, the file's place and its mode."""
    kept = clone.write("config/kept.json", THEIRS)
    kept.chmod(0o600)
    (clone.root / ".claude").mkdir()
    (clone.root / LOCAL).symlink_to(kept)
    ok(clone.run("init"))
    assert (clone.root / LOCAL).is_symlink()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert "on-stop" in kept.read_text()
    ok(clone.run("init", "--remove"))
    assert kept.read_text() == THEIRS


@pytest.mark.once("each part names its files to the same list")
@pytest.mark.parametrize("option", ["", "--permissions", "--run", "--workflow"])
def test_behind_a_link_what_is_one_persons_is_not_there_to_commit(
    clone: Clone, option: str
) -> None:
    """git sees the folder that it leads to, and nothing behind the link."""
    clone.write("tools/[my] claude/x", "mine")
    (clone.root / ".claude").symlink_to("tools/[my] claude")
    clone.git("add", "--all")
    before = clone.contents()
    ok(clone.run("init", *filter(None, [option])))
    clone.git("add", "--all")
    assert clone.git("-c", "core.quotePath=off", "ls-files").splitlines() == [
        ".claude",
        "tools/[my] claude/x",
    ]
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


@pytest.mark.parametrize("is_there", [True, False])
@pytest.mark.parametrize("name", [".claude", LOCAL, SHARED, MARK])
def test_a_link_out_of_the_project_is_refused(clone: Clone, name: str, *, is_there: bool) -> None:
    """A repository can bring one, dangling or not: nothing is written through it, in or out."""
    outside = clone.home / "outside"
    if is_there and name == ".claude":
        outside.mkdir()
    elif is_there:
        outside.write_text("{}")
    (clone.root / name).parent.mkdir(exist_ok=True)
    (clone.root / name).symlink_to(outside)
    before = clone.picture()
    for arguments in ([], ["--shared"], ["--remove"], ["--dry-run"]):
        sentence = refused(clone.run("init", *arguments))
        assert f"out of this worktree, to {outside}" in sentence
        assert "nothing was written" in sentence
    assert clone.picture() == before
    assert outside.exists() == is_there


def test_a_file_in_place_of_the_folder_is_named(clone: Clone) -> None:
    """`.claude` is a file: that is what is said, and it is kept."""
    path = clone.write(".claude", "mine\n")
    assert ".claude is not a folder" in refused(clone.run("init"))
    assert path.read_text() == "mine\n"


def test_a_folder_in_place_of_the_settings_is_named(clone: Clone) -> None:
    """Nothing is written beside it; the name that is told is the one that a person knows."""
    (clone.root / LOCAL).mkdir(parents=True)
    before = clone.picture()
    assert f"{LOCAL} is a folder, so nothing was written" in refused(clone.run("init"))
    assert clone.picture() == before


def test_new_files_have_the_users_mode(clone: Clone) -> None:
    """The umask decides, as for any file that a person makes."""
    before = os.umask(0o027)
    try:
        ok(clone.run("init"))
    finally:
        os.umask(before)
    for name in (LOCAL, MARK, ".lifecycle.toml"):
        assert stat.S_IMODE((clone.root / name).stat().st_mode) == 0o640


def test_a_linked_ignore_file_is_left_alone(clone: Clone) -> None:
    """git follows no such link, and it may lead anywhere."""
    outside = clone.home / "outside"
    outside.write_text("x\n")
    (clone.root / ".gitignore").symlink_to(outside)
    assert "symbolic link" in ok(clone.run("init", "--shared"))
    assert outside.read_text() == "x\n"


def test_what_others_changed_since_is_kept_and_said(clone: Clone) -> None:
    """A colleague's hook inside our group, an edited toml, a rewritten command: kept; ours go."""
    ok(clone.run("init", "--shared"))
    data = settings(clone, SHARED)
    data["hooks"]["Stop"][0]["hooks"].append({"type": "command", "command": "theirs"})
    script = resources.hook_script("session-end")
    data["hooks"]["SessionEnd"][0]["hooks"][0]["command"] = f"nice '{script}'"
    data["hooks"]["Notification"][0]["hooks"][0]["timeout"] = 99
    data["model"] = "x"
    clone.write(SHARED, json.dumps(data, indent=4))
    clone.write(".lifecycle.toml", "remote = 'fork'\n")
    clone.write(".gitignore", "mine\n" + clone.read(".gitignore") + "more\n")
    said = ok(clone.run("init", "--remove"))
    assert "still runs session-end at SessionEnd" in said
    assert ".lifecycle.toml was changed since" in said
    left = settings(clone, SHARED)
    assert set(left) == {"hooks", "model"}
    assert set(left["hooks"]) == {"Stop", "SessionEnd"}
    assert commands(left, "Stop") == ["theirs"]
    assert clone.read(".gitignore") == "mine\nmore\n"
    assert clone.read(".lifecycle.toml") == "remote = 'fork'\n"
    assert not (clone.root / MARK).exists()


def test_an_empty_line_keeps_no_file_that_init_made(clone: Clone) -> None:
    """A file that init made goes with its lines if nothing but space is left in it."""
    ok(clone.run("init", "--shared"))
    clone.write(".gitignore", "\n" + clone.read(".gitignore"))
    ok(clone.run("init", "--remove"))
    assert not (clone.root / ".gitignore").exists()


def test_rules_and_lines_that_were_there_before_stay(clone: Clone) -> None:
    """What init found in place it did not put in, so it does not take it out."""
    clone.write(SHARED, json.dumps({"permissions": {"allow": [PERMISSIONS[0]]}}, indent=2))
    clone.write(".gitignore", "/.lifecycle/\n")
    before = clone.contents()
    ok(clone.run("init", "--shared"))
    assert settings(clone, SHARED)["permissions"]["allow"].count(PERMISSIONS[0]) == 1
    assert clone.read(".gitignore").count("/.lifecycle/") == 1
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


def test_after_an_interrupted_run_the_next_one_completes(clone: Clone) -> None:
    """Killed when the mark was written and nothing else: everything is put in, and out again."""
    before = clone.contents()
    todo = installing(clone)
    (only,) = [change for change in todo.changes if change.shown == MARK]
    assert only.after is not None
    clone.write(MARK, only.after)
    ok(clone.run("init"))
    assert ClientSetup.read(clone.root, clone.environment).missing == []
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


@pytest.mark.parametrize("arguments", [(), ("--shared",)])
def test_lines_that_went_are_put_in_once(clone: Clone, arguments: tuple[str, ...]) -> None:
    """Reverted, or never written since the run was killed: out again is as before, to the byte."""
    for name in (".gitignore", ".git/info/exclude"):
        clone.write(name, "node_modules")
    before = clone.contents()
    for _ in range(2):
        ok(clone.run("init", *arguments))
        for name in (".gitignore", ".git/info/exclude"):
            clone.write(name, "node_modules")
    ok(clone.run("init", *arguments))
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


def test_status_says_that_hooks_are_not_there_any_more(clone: Clone) -> None:
    """The command moved to another Python, and with it what settings name; in linked worktrees, too."""
    clone.git("commit", "-q", "--allow-empty", "-m", "x")
    linked = clone.root.parent / "linked"
    clone.git("worktree", "add", "-q", str(linked))
    ok(clone.run("init"))
    before = ok(clone.run("status"))
    gone = clone.home / "python3.0/lifecycle/_hooks"
    clone.write(LOCAL, clone.read(LOCAL).replace(str(resources.top_folder("hooks")), str(gone)))
    sentence = f"Hooks: {gone}/session-start no longer exists"
    for place in (clone.root, linked):
        assert sentence in ok(clone.run("status", cwd=place))
    assert "lifecycle init" in json.loads(ok(clone.run("status", "--json")))["troubles"]["hooks"]
    ok(clone.run("init"))
    assert ok(clone.run("status")) == before
    settings_of_others = {"hooks": {"Stop": [{"hooks": [{"command": "/gone/on-stop"}]}]}}
    ok(clone.run("init", "--remove"))
    clone.write(LOCAL, json.dumps(settings_of_others))
    assert ok(clone.run("status")) == before


def test_an_entry_that_somebody_took_out_comes_back(clone: Clone) -> None:
    """A second run puts in what is missing, beside what is there."""
    ok(clone.run("init"))
    data = settings(clone)
    del data["hooks"]["Stop"][0]["hooks"][1], data["hooks"]["SessionEnd"]
    clone.write(LOCAL, json.dumps(data, indent=2))
    ok(clone.run("init"))
    assert ClientSetup.read(clone.root, clone.environment).missing == []
    assert len(settings(clone)["hooks"]["Stop"]) == 1


def test_a_run_that_is_still_here_is_named(clone: Clone) -> None:
    """Taken out in the midst of it: its session is not kept at work any more, and its file stays."""
    ok(clone.run("init"))
    ok(clone.run("run", "init", "Let people pay by card"))
    said = ok(clone.run("init", "--remove"))
    assert "There is still a run here (.claude/workflow-state.json)" in said
    assert "lifecycle run stop --for-good" in said
    assert (clone.root / ".claude/workflow-state.json").is_file()


@pytest.mark.once("whose the entries are, test_settings tells apart")
@pytest.mark.parametrize("arguments", [(), ("--shared",)])
def test_a_claim_that_is_still_here_stays_out_of_git(
    clone: Clone, arguments: tuple[str, ...]
) -> None:
    """Taken out while a worktree of the clone holds a claim: git shows none, in none of them."""
    clone.git("commit", "-q", "--allow-empty", "-m", "Begin")
    linked = clone.root.parent / "linked"
    clone.git("worktree", "add", "-q", str(linked))
    # Everybody's lines are in the worktree that has them.
    for holder in (clone.root,) if arguments else (linked, clone.root):
        ok(clone.run("init", *arguments))
        claim = holder / ".agent-claim.json"
        claim.write_text("{}")
        said = ok(clone.run("init", "--remove"))
        assert ("There is still a claim here" in said) == (holder == clone.root)
        assert "still a run here" not in said
        assert ".agent-claim.json" not in clone.git("-C", str(holder), "status", "--short")
        claim.unlink()
        name = ".gitignore" if arguments else ".git/info/exclude"
        assert clone.read(name).endswith("/.agent-claim.json*\n/.lifecycle/\n")


def test_a_run_and_workflows_that_are_still_here_stay_out_of_git(clone: Clone) -> None:
    """`init --remove` leaves their files, so git is told of them still; and nothing can be added."""
    ok(clone.run("init", "--run", "--workflow"))
    ok(clone.run("run", "init", "Take payments"))
    ok(clone.run("workflow", "start", "W", "--phase", "A"))
    ok(clone.run("init", "--remove"))
    assert (clone.root / ".claude/workflow-state.json").exists()
    for file in ("workflow", "untracked"):
        assert file not in clone.git("status", "--short", "--untracked-files=all")


def test_removing_what_was_never_put_in_does_nothing(clone: Clone) -> None:
    """Hooks that were wired by hand are nobody's business but their owner's."""
    clone.write(LOCAL, THEIRS)
    before = clone.picture()
    assert "so none were removed" in ok(clone.run("init", "--remove"))
    assert clone.picture() == before


@pytest.mark.parametrize("arguments", [[], ["--shared", "--run", "--stages", "--workflow"]])
def test_without_its_mark_everything_stays_until_init_has_run_again(
    clone: Clone, arguments: list[str]
) -> None:
    """Nothing shows who added it: then hooks and files go, if they are as `init` writes them."""
    ok(clone.run("init", *arguments))
    (clone.root / MARK).unlink()
    clone.write(".claude/commands/handoff.md", "mine\n")
    before = clone.picture()
    for words in (["--dry-run"], []):
        assert "If it did, run that again, and then this" in ok(
            clone.run("init", "--remove", *words)
        )
    assert clone.picture() == before
    ok(clone.run("init", *arguments))
    ok(clone.run("init", "--remove"))
    left = {name for name, (_, content) in clone.contents().items() if b"lifecycle" in content}
    name = SHARED if arguments else LOCAL
    assert left <= {name, "CLAUDE.md", ".gitignore", ".git/info/exclude", ".lifecycle.toml"}
    assert ClientSetup.read(clone.root, clone.environment).entries == ()
    assert clone.read(".claude/commands/handoff.md") == "mine\n"


def test_a_page_behind_a_link_or_not_in_utf_8_is_no_hindrance_to_a_removal(clone: Clone) -> None:
    """Without a mark nothing of the client's files has to be read as text, nor out of the worktree."""
    outside = clone.home / "AGENTS.md"
    outside.write_text(section())
    page = clone.root / "CLAUDE.md"
    page.symlink_to(outside)
    assert "so none were removed" in ok(clone.run("init", "--remove"))
    page.unlink()
    clone.write("CLAUDE.md", b"caf\xe9\n")
    clone.write(LOCAL, b"\xe9")
    assert "so none were removed" in ok(clone.run("init", "--remove"))


def test_outside_of_a_worktree_nothing_is_written(clone: Clone) -> None:
    """The sentence says where to go."""
    assert "not a git worktree" in refused(clone.run("init", cwd=clone.home))
    assert list(clone.home.iterdir()) == []


def test_a_part_of_the_repository_wires_the_whole(clone: Clone) -> None:
    """Run in a subfolder, the files at the top are meant."""
    (clone.root / "part").mkdir()
    ok(clone.run("init", cwd=clone.root / "part"))
    assert (clone.root / LOCAL).is_file()
    assert list((clone.root / "part").iterdir()) == []


def test_the_plugin_beside_it_is_said(clone: Clone) -> None:
    """Both may be there; the plugin's copies stay quiet, and the person knows."""
    clone.write(SHARED, '{"enabledPlugins": {"lifecycle@x": true, "other@x": true}}')
    assert "lifecycle@x is also enabled" in ok(clone.run("init"))
    clone.write(
        LOCAL, clone.read(LOCAL).replace("{", '{"enabledPlugins": {"lifecycle@x": false},', 1)
    )
    assert "enabled too" not in ok(clone.run("init"))


def test_it_is_short_and_aligned(clone: Clone) -> None:
    """What was done, where, and what is next, in lines that fit a terminal."""
    lines = ok(clone.run("init")).splitlines()
    assert lines[0] == "lifecycle is set up for you alone, in this worktree."
    rows = [line for line in lines if line.startswith("  ")]
    assert [row.split()[1] for row in rows] == [
        LOCAL,
        ".claude/commands/claim.md",
        ".claude/commands/handoff.md",
        ".claude/commands/status.md",
        ".lifecycle.toml",
        ".git/info/exclude",
        MARK,
        "~/.config/lifecycle/bin",
        "~/.config/lifecycle/hooks",
    ]
    assert rows[0].endswith("11 hooks, 7 permissions")
    assert max(map(len, lines)) <= 100
    assert lines[-1].startswith("Nothing needs a restart. Next: lifecycle claim <number>.")


def test_options_that_contradict_are_a_usage_error(clone: Clone) -> None:
    """--remove takes out whatever is there."""
    assert clone.run("init", "--remove", "--shared").returncode == 2


@pytest.mark.parametrize(
    "change",
    [
        {"version": 9},
        {"mode": "else"},
        {"lines": {"../../outside": {"lines": [], "piece": "x"}}},
        {"settings": None},
        {"created": "x"},
        {"created": ["x", 5]},
        {"parts": ["no"]},
        {"version": None},
    ],
)
def test_a_mark_that_is_none_of_ours_is_refused(clone: Clone, change: dict[str, Any]) -> None:
    """It may come with a strange repository: nothing is written on its word."""
    ok(clone.run("init", "--shared"))
    clone.write(MARK, json.dumps({**json.loads(clone.read(MARK)), **change}))
    before = clone.picture()
    for arguments in (["init"], ["init", "--remove"]):
        assert MARK in refused(clone.run(*arguments))
    assert clone.picture() == before


@pytest.mark.parametrize("again", [[], [["init"]]])
@pytest.mark.parametrize("way", WAYS)
def test_what_an_earlier_lifecycle_put_in_is_known_as_ours(
    clone: Clone, way: str, again: list[list[str]]
) -> None:
    """Its entries have no arguments, its mark has a text of lines and a field for each part."""
    clone.write(LOCAL, THEIRS)
    clone.write(SHARED, THEIRS)
    clone.write(".gitignore", "*.o\r\n*.a")
    before = clone.contents()
    ok(clone.run("init", "--stages", "--run", "--workflow", *WAYS[way]))
    wired = clone.read(LOCAL)
    unsigned = re.sub(r'"args": \[\s*"# lifecycle init"\s*\]', '"args": []', wired)
    clone.write(LOCAL, re.sub(r'"/[^"\s]*/_?hooks/', '"/opt/lifecycle/_hooks/', unsigned))
    mark = json.loads(clone.read(MARK))
    parts = dict.fromkeys(mark.pop("parts"), True)
    for name, pieces in mark["lines"].items():
        mark["lines"][name] = {"lines": [*map(str.strip, pieces)], "piece": "".join(pieces)}
    clone.write(MARK, json.dumps({**mark, **parts}))
    without_run = json.dumps({**mark, **parts, "run": False}).encode()
    assert [*init_mark.parse(without_run).parts] == [part for part in parts if part != "run"]
    for arguments in again:
        ok(clone.run(*arguments))
        assert ClientSetup.read(clone.root, clone.environment).doubled == []
        assert json.loads(clone.read(MARK))["parts"] == [*parts]
        assert clone.read(LOCAL) == wired
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


def test_a_strangers_mark_takes_out_nothing_of_others(clone: Clone) -> None:
    """It may claim rules, hooks and pieces of text: only what is really ours goes."""
    theirs = {
        "model": "opus",
        "permissions": {"allow": ["Bash(ls)"], "deny": ["Bash(rm:*)"]},
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/x/check"}]}]},
    }
    text = json.dumps(theirs, indent=2)
    clone.write(SHARED, text)
    ok(clone.run("init", "--shared"))
    mark = json.loads(clone.read(MARK))
    routes = ["", "model", "permissions.deny", "permissions.deny.", "hooks.Stop"]
    mark["settings"] |= {
        "permissions": ["Bash(ls)", "Bash(rm:*)", *PERMISSIONS],
        "hooks": [{"event": "Stop", "command": "/x/check"}],
        "containers": [*mark["settings"]["containers"], *routes],
        "pieces": [{"before": "", "after": '"Bash(rm:*)"'}, {"before": '"x', "after": '"/x'}],
    }
    clone.write(MARK, json.dumps(mark))
    ok(clone.run("init", "--remove"))
    assert settings(clone, SHARED) == theirs


def test_the_template_holds_every_key_with_its_default(tmp_path: Path) -> None:
    """Commented out it changes nothing; uncommented it loads, and what has a default keeps it."""
    path = tmp_path / config.CONFIG_FILE
    path.write_text(settings_file())
    assert config.load(tmp_path, {}) == Settings()
    lines = [line.removeprefix("# ") for line in settings_file().splitlines()]
    code = [line for line in lines if line.startswith("[") or " = " in line]
    path.write_text("\n".join(code))
    assert {key for key, _ in config._flat(tomllib.loads(path.read_text()))} == set(config._KEYS)
    loaded, default = config.load(tmp_path, {}), Settings()
    for name in ("remote", "issue_link", "close", "poll_seconds"):
        assert getattr(loaded, name) == getattr(default, name)


def test_a_fresh_worktree_gets_what_git_does_not_carry(clone: Clone) -> None:
    """Our entries with their mark, and the commands; nothing else of the person's settings."""
    clone.git("commit", "--quiet", "--allow-empty", "-m", "x")
    clone.write(LOCAL, THEIRS)
    ok(clone.run("init"))
    clone.write(".lifecycle.toml", "remote = 'fork'\n")
    new = Clone(clone.root.parent / "b new", clone.home)
    clone.git("worktree", "add", "--quiet", "-b", "b", str(new.root))
    written = copy_to(clone.root, new.root, environment=clone.environment)
    names = {
        path.relative_to(new.root).as_posix() for path in written if path.is_relative_to(new.root)
    }
    pages = {f".claude/commands/{name}.md" for name in ("claim", "handoff", "status")}
    assert names == {LOCAL, MARK, *pages}
    assert config.load(new.root, {}).remote == "fork"
    assert ClientSetup.read(new.root, new.environment).missing == []
    assert "theirs" not in new.read(LOCAL)
    assert new.git("status", "--porcelain", "--untracked-files=all") == ""
    before = new.picture()
    assert copy_to(clone.root, new.root, environment=clone.environment) == []
    assert new.picture() == before


def test_a_fresh_worktree_of_an_unwired_project_stays_as_it_is(clone: Clone) -> None:
    """No mark, no hooks; a tracked toml is git's to carry."""
    clone.write(".lifecycle.toml", "remote = 'fork'\n")
    clone.git("add", ".lifecycle.toml")
    clone.git("commit", "--quiet", "-m", "x")
    new = clone.root.parent / "new"
    clone.git("worktree", "add", "--quiet", "-b", "b", str(new))
    (new / ".lifecycle.toml").unlink()
    assert copy_to(clone.root, new, environment=clone.environment) == []
    assert [path.name for path in new.iterdir()] == [".git"]


def test_what_is_installed_can_be_asked(clone: Clone) -> None:
    """Every entry of ours in every settings file, what is missing, doubled, or not there."""
    (clone.home / ".claude").mkdir()
    hook = {"type": "command", "command": "/gone/hooks/on-stop", "timeout": 30000}
    wrapped = {"type": "command", "command": "lifecycle hook on-idle | tee log"}
    users = {
        "hooks": {
            "Stop": [{"hooks": [hook]}],
            "Notification": [{"matcher": "x", "hooks": [wrapped]}],
        }
    }
    (clone.home / ".claude/settings.json").write_text(json.dumps(users))
    clone.write(SHARED, "{ broken")
    clone.write(LOCAL, THEIRS)
    found = ClientSetup.read(clone.root, clone.environment)
    assert [(one.event, one.name, one.is_there) for one in found.entries] == [
        ("Stop", "on-stop", False),
        ("Notification", "on-idle", True),
    ]
    assert {wire.name for wire in found.missing} == set(NAMES) - {"on-stop", "on-idle"}
    (problem,) = [file.problem for file in found.files if file.problem]
    assert "line 1, column 3" in problem
    clone.write(SHARED, "{}")
    ok(clone.run("init"))
    found = ClientSetup.read(clone.root, clone.environment)
    assert found.missing == []
    assert [wire.name for wire, _ in found.doubled] == ["on-stop", "on-idle"]
    assert found.mark is not None
    assert found.mark.mode == "local"
