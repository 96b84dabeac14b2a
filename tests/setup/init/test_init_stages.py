"""`lifecycle init --stages` in a real clone: in, again, out, and what is somebody's own."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from lifecycle.cli import main
from lifecycle.core.stage_names import Detected
from lifecycle.settings import config
from lifecycle.setup.init.hook_table import CAP, PERMISSIONS, STAGE_PERMISSIONS
from lifecycle.setup.init.init_mark import MARK
from lifecycle.setup.init.planning import copy_to
from lifecycle.setup.init.supplies import DETECT, ORCHESTRATOR, REVIEW, page_of
from lifecycle.storage.log import STAGED_LOG
from tests.cli.outcome import ok, refused
from tests.repeated import crossed
from tests.setup.init.conftest import Clone
from tests.setup.init.test_init import LOCAL, SHARED, THEIRS, WAYS, settings

TOML = ".lifecycle.toml"
REVIEW_PAGE = page_of(REVIEW)
COMMANDS = ("claim", "handoff", "requirements-review", "status")
"""The pages that are written whatever the project calls its review and its start."""

LOGS = (STAGED_LOG, f"{STAGED_LOG}.1", f"{STAGED_LOG}.2")
MODES = pytest.mark.parametrize("shared", [(), ("--shared",)])
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]


def start_page(clone: Clone) -> str:
    """The file of the command that begins with a task."""
    return page_of(config.load(clone.root, {}).stages.start)


def contents(clone: Clone) -> dict[str, tuple[int, bytes]]:
    """Every file, without the user's own folder, which only says where the command is."""
    return clone.contents()


@pytest.mark.once("test_settings and test_switch have every form of the files")
@pytest.mark.parametrize(
    ("given", "shared"),
    crossed(
        {
            "theirs": (THEIRS, 'remote = "fork" # mine'),
            "none": (None, None),
            "empty": ("{}", ""),
            "Windows'": ('{"env": {"A": "1"}}\n', "remote = 'x'\r\n"),
            "on": ("{}", 'stages = { label = "x", use = true }\n'),
        },
        WAYS,
    ),
)
def test_out_again_is_as_before(
    clone: Clone, given: tuple[str | None, str | None], shared: tuple[str, ...]
) -> None:
    """Every file to the byte with its mode, and no file or folder more."""
    theirs, toml = given
    if theirs is not None:
        clone.write(SHARED if shared else LOCAL, theirs).chmod(0o640)
    if toml is not None:
        clone.write(TOML, toml).chmod(0o600)
    before = contents(clone)
    ok(clone.run("init", "--stages", *shared))
    assert config.load(clone.root, {}).stages.use is True
    ok(clone.run("init", "--remove"))
    assert contents(clone) == before


@pytest.mark.once("test_settings has both forms")
@MODES
def test_twice_changes_nothing_and_a_plain_run_keeps_it(
    clone: Clone, shared: tuple[str, ...]
) -> None:
    """Not a byte and not a time, with the option and without."""
    ok(clone.run("init", "--stages", *shared))
    before = clone.picture()
    assert "nothing was changed" in ok(clone.run("init", "--stages", *shared))
    assert "nothing was changed" in ok(clone.run("init", *shared))
    assert clone.picture() == before


def test_a_colleagues_run_changes_no_file_of_the_repository(clone: Clone) -> None:
    """Shared and committed, the workflow is there for everybody; whoever wires it again changes nothing."""
    clone.write(TOML, "[tracker]\nuse = 'memory'\n")
    ok(clone.run("init", "--stages", "--shared"))
    clone.git("add", "--all")
    clone.git("commit", "--quiet", "-m", "Wire the staged workflow")
    for name in ("bin", "hooks"):
        (clone.home / ".config/lifecycle" / name).unlink()
    said = json.loads(ok(clone.run("init", "--json")))
    assert (said["mode"], said["label"]) == ("shared", "auto-workflow")
    assert clone.git("status", "--porcelain") == ""
    modes = clone.git("ls-files", "--stage", ".claude/hooks").splitlines()
    assert [line.split()[0] for line in modes] == ["100755", "100755"]


def test_put_in_later_it_goes_with_the_rest(clone: Clone) -> None:
    """First claim to close, then the stages, then everybody's: one removal, and all is as before."""
    before = contents(clone)
    ok(clone.run("init"))
    assert config.load(clone.root, {}).stages.use is False
    ok(clone.run("init", "--stages"))
    assert config.load(clone.root, {}).stages.use is True
    ok(clone.run("init", "--shared"))
    assert settings(clone, SHARED)["env"][CAP] == "58"
    assert not (clone.root / LOCAL).exists()
    ok(clone.run("init", "--remove"))
    assert contents(clone) == before


def test_what_the_workflow_needs_is_there(clone: Clone) -> None:
    """The switch, two commands that exist, the cap under which fifty instructions fit, permissions."""
    ok(clone.run("init", "--stages"))
    stages = config.load(clone.root, {}).stages
    assert (stages.use, stages.review) == (True, REVIEW)
    for command in (stages.review, stages.start):
        assert (clone.root / page_of(command)).is_file()
    data = settings(clone)
    assert int(data["env"][CAP]) >= stages.max_blocks + 8
    assert data["permissions"]["allow"] == [*PERMISSIONS, *STAGE_PERMISSIONS]


def test_the_toml_that_it_writes_names_every_key(clone: Clone) -> None:
    """The whole template, with the workflow's table switched on."""
    ok(clone.run("init", "--stages"))
    data = tomllib.loads(clone.read(TOML))
    assert set(data) == {"stages"}
    assert set(data["stages"]) == {"use", "review", "start"}
    lines = [line.removeprefix("# ") for line in clone.read(TOML).splitlines()]
    code = [line for line in lines if line.startswith("[") or " = " in line]
    everything = tomllib.loads("\n".join(code))
    assert {key for key, _ in config._flat(everything)} == set(config._KEYS)


def test_more_blocks_need_a_higher_cap(clone: Clone) -> None:
    """The cap follows `stages.max_blocks` at the next run."""
    ok(clone.run("init", "--stages"))
    clone.write(TOML, clone.read(TOML).replace("# max_blocks = 50", "max_blocks = 200"))
    ok(clone.run("init", "--stages"))
    assert settings(clone)["env"][CAP] == "208"


def test_an_agent_may_not_close_unasked() -> None:
    """Under a claim, closing by the tracker's verb is the user's yes; nor may it switch itself off."""
    allowed = {
        rule.removeprefix("Bash(lifecycle ").removesuffix(":*)") for rule in STAGE_PERMISSIONS
    }
    assert not allowed & {"tracker close", "tracker reopen", "tracker", "stage", "stage set"}
    assert {words.split()[0] for words in allowed} == {"tracker", "stage"}


def test_for_one_person_git_shows_nothing(clone: Clone) -> None:
    """Commands, scripts, settings and the log are kept out of git, unless everybody gets them."""
    ok(clone.run("init", "--stages"))
    shown = clone.git("status", "--porcelain", "--untracked-files=all").splitlines()
    assert shown == []
    log = ".claude/workflow_orchestrator.log.1"
    assert clone.git("check-ignore", "--no-index", log).strip() == log
    page = start_page(clone)
    ok(clone.run("init", "--stages", "--shared"))
    shown = clone.git("status", "--porcelain", "--untracked-files=all").splitlines()
    names = {".gitignore", TOML, MARK, SHARED, REVIEW_PAGE, page, DETECT, ORCHESTRATOR}
    names |= {f".claude/commands/{name}.md" for name in COMMANDS}
    assert {line.removeprefix("?? ") for line in shown} == names
    assert str(Path.home()) not in "".join(clone.read(name) for name in names - {TOML})


@pytest.mark.once("one table of files")
@pytest.mark.parametrize("name", [REVIEW_PAGE, DETECT, ORCHESTRATOR])
def test_somebodys_own_file_of_that_name_is_kept_and_said(clone: Clone, name: str) -> None:
    """It is not written to, not made executable, not taken out; and the person is told."""
    clone.write(name, "mine\n").chmod(0o644)
    before = contents(clone)
    assert f"{name} is your own file, and was kept" in ok(clone.run("init", "--stages"))
    assert contents(clone)[name] == before[name]
    ok(clone.run("init", "--remove"))
    assert contents(clone) == before


def test_a_command_that_the_person_has_elsewhere_is_not_supplied(clone: Clone) -> None:
    """As a command or a skill of the user's: the project's would hide it. Everybody else lacks it."""
    (clone.home / ".claude/commands").mkdir(parents=True)
    (clone.home / ".claude/commands/oracle-review.md").write_text("mine")
    ok(clone.run("init", "--stages"))
    assert not (clone.root / REVIEW_PAGE).exists()
    ok(clone.run("init", "--stages", "--shared"))
    assert (clone.root / REVIEW_PAGE).exists()


def test_a_workflow_that_somebody_switched_off_stays_off(clone: Clone) -> None:
    """As the handbook says it is switched off: that is kept, and what switches it on again is told."""
    clone.write(TOML, "[stages]\nuse = false\n")
    told = ok(clone.run("init", "--stages"))
    assert "set it to true" in told
    assert "put the label" not in told  # nothing would begin
    assert clone.read(TOML) == "[stages]\nuse = false\n"
    clone.write(TOML, "[stages]\nuse = true\n")
    assert "set it to true" not in ok(clone.run("init", "--stages"))
    ok(clone.run("init", "--remove"))
    assert clone.read(TOML) == "[stages]\nuse = true\n"


def test_commands_of_other_names_are_the_projects_own_business(clone: Clone) -> None:
    """Where the settings name another review, that one is meant, and none is supplied."""
    clone.write(TOML, "[stages]\nuse = true\nreview = '/our-review'\nstart = '/our-start'\n")
    ok(clone.run("init", "--stages"))
    stages = config.load(clone.root, {}).stages
    assert (stages.use, stages.review, stages.start) == (True, "/our-review", "/our-start")
    names = {path.stem for path in (clone.root / ".claude/commands").iterdir()}
    assert names == set(COMMANDS)


def test_what_was_changed_since_stays_and_is_said(clone: Clone) -> None:
    """An edited command, an edited table, another cap: kept when all else goes."""
    ok(clone.run("init", "--stages"))
    clone.write(REVIEW_PAGE, "mine\n")
    clone.write(TOML, clone.read(TOML) + "remote = 'x'\n")
    clone.write(LOCAL, clone.read(LOCAL).replace('"58"', '"70"'))
    said = ok(clone.run("init", "--remove"))
    assert f"{REVIEW_PAGE} was changed since init wrote it, and was kept." in said
    assert f"{TOML} was changed since init wrote it, and was kept." in said
    assert clone.read(REVIEW_PAGE) == "mine\n"
    assert settings(clone) == {"env": {CAP: "70"}}
    assert not (clone.root / DETECT).exists()


def test_lines_around_the_switch_may_change(clone: Clone) -> None:
    """What somebody wrote beside our lines in their own file stays when these go."""
    clone.write(TOML, 'remote = "fork"\n')
    ok(clone.run("init", "--stages"))
    clone.write(TOML, "# new\n" + clone.read(TOML) + "\n[project]\nnumber = 7\n")
    ok(clone.run("init", "--remove"))
    assert clone.read(TOML) == '# new\nremote = "fork"\n\n[project]\nnumber = 7\n'


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (b"use = ", "TOML"),
        (b"stages = 1\n", "stages"),
        (b"remote = '\xff'\n", TOML),
        (b"[stages]\nmax_blocks = 'x'\n", "max_blocks"),
    ],
)
def test_a_broken_toml_is_refused_and_nothing_is_written(
    clone: Clone, toml: bytes, said: str
) -> None:
    """One sentence; no file anywhere is touched or made."""
    clone.write(TOML, toml)
    before = clone.picture()
    assert said in refused(clone.run("init", "--stages"))
    assert clone.picture() == before
    assert not (clone.home / ".config").exists()


@pytest.mark.parametrize("name", [TOML, REVIEW_PAGE, DETECT, ORCHESTRATOR, ".claude/hooks"])
def test_a_link_out_of_the_project_is_refused(clone: Clone, name: str) -> None:
    """A repository can bring one: nothing is written through it."""
    outside = clone.home / "outside"
    outside.mkdir()
    (clone.root / name).parent.mkdir(parents=True, exist_ok=True)
    (clone.root / name).symlink_to(outside)
    before = clone.picture()
    said = "is a link" if name == TOML else "out of this worktree"
    assert said in refused(clone.run("init", "--stages"))
    assert clone.picture() == before
    assert list(outside.iterdir()) == []


@pytest.mark.once("what is planned is written or shown, whatever was asked for")
@pytest.mark.parametrize("arguments", [["--stages"], ["--stages", "--shared"], ["--remove"]])
def test_a_dry_run_shows_every_file_and_writes_nothing(clone: Clone, arguments: list[str]) -> None:
    """A diff with a head for each file that would change."""
    if "--remove" in arguments:
        ok(clone.run("init", "--stages"))
    before = clone.picture()
    shown = ok(clone.run("init", "--dry-run", *arguments))
    assert "Nothing was written." in shown
    assert clone.picture() == before
    done = json.loads(ok(clone.run("init", "--json", *arguments)))
    names = {Path(change["path"]).name for change in done["changes"]}
    assert {"detect_stage.sh", "workflow_orchestrator.sh", "oracle-review.md", TOML} <= names
    for name in names:
        heads = [line for line in shown.splitlines() if line.startswith(("--- ", "+++ "))]
        assert any(name in head for head in heads)


def test_new_files_have_the_users_mode(clone: Clone) -> None:
    """The umask decides; whoever may read a script may start it."""
    before = os.umask(0o027)
    try:
        ok(clone.run("init", "--stages"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((clone.root / REVIEW_PAGE).stat().st_mode) == 0o640
    for name in (DETECT, ORCHESTRATOR):
        assert stat.S_IMODE((clone.root / name).stat().st_mode) == 0o750


def test_the_workflows_log_goes_with_the_rest(clone: Clone) -> None:
    """The log and those before it: nothing would keep them out of git. A dry run does not print them."""
    before = contents(clone)
    ok(clone.run("init", "--stages"))
    for name in LOGS:
        clone.write(name, "[2025-12-17 10:30:15] Hook triggered\n")
    shown = ok(clone.run("init", "--remove", "--dry-run"))
    assert all(f"--- {name}\n+++ /dev/null\n" in shown for name in LOGS)
    assert "Hook triggered" not in shown
    ok(clone.run("init", "--remove"))
    assert contents(clone) == before


@pytest.mark.parametrize("is_link", [False, True])
def test_a_log_that_was_there_before_or_is_a_link_is_kept(clone: Clone, *, is_link: bool) -> None:
    """A script of somebody's own wrote it; or it leads to a file of theirs."""
    log = clone.root / LOGS[0]
    theirs = clone.write("theirs.txt" if is_link else LOGS[0], "theirs\n")
    ok(clone.run("init", "--stages"))
    if is_link:
        log.symlink_to(theirs)
    ok(clone.run("init", "--remove"))
    assert (log.read_text(), theirs.read_text()) == ("theirs\n", "theirs\n")


def test_a_strangers_mark_takes_out_nothing_of_others(clone: Clone) -> None:
    """It may claim files, keys and variables: only what is really ours goes."""
    clone.write(".claude/commands/theirs.md", "theirs\n")
    clone.write(TOML, '[stages]\nlabel = "x"\nuse = true\n')
    clone.write(SHARED, json.dumps({"env": {"A": "1", CAP: "9"}}, indent=2))
    ok(clone.run("init", "--stages", "--shared"))
    before = {name: clone.read(name) for name in (".claude/commands/theirs.md", TOML)}
    digest = "6b1b7b2ad1f6c9c0f8a2d6a0b0b8c2d5f9c8e7d6a5b4c3d2e1f0a9b8c7d6e5f4"
    mark = json.loads(clone.read(MARK))
    mark["sha256"][".claude/commands/theirs.md"] = digest
    mark["settings"]["variables"] = {"A": "1"}
    mark["switched"] = [{"before": "", "after": 'label = "x"\n'}]
    clone.write(MARK, json.dumps(mark))
    ok(clone.run("init", "--remove"))
    assert settings(clone, SHARED) == {"env": {"A": "1", CAP: "9"}}
    assert {name: clone.read(name) for name in before} == before


@pytest.mark.parametrize(
    "change",
    [
        {"sha256": {"../../outside": "x"}},
        {"sha256": {".claude/commands/../../x.md": "x"}},
        {"switched": [1]},
    ],
)
def test_a_mark_that_is_none_of_ours_is_refused(clone: Clone, change: dict[str, Any]) -> None:
    """It may come with a strange repository: nothing is written on its word."""
    ok(clone.run("init", "--stages"))
    clone.write(MARK, json.dumps({**json.loads(clone.read(MARK)), **change}))
    before = clone.picture()
    assert MARK in refused(clone.run("init", "--remove"))
    assert clone.picture() == before


def test_a_mark_that_was_cut_by_hand_is_refused(clone: Clone) -> None:
    """What it does not say any more would be left in the project without a word; the way out is said."""
    before = contents(clone)
    ok(clone.run("init"))
    whole = json.loads(clone.read(MARK))
    for cut in ("created", "settings"):
        clone.write(MARK, json.dumps({name: whole[name] for name in whole if name != cut}))
        assert f"{MARK} cannot be read" in refused(clone.run("init", "--remove"))
    clone.write(MARK, json.dumps(whole))
    ok(clone.run("init", "--remove"))
    assert contents(clone) == before


def test_a_fresh_worktree_gets_the_workflow_too(clone: Clone) -> None:
    """What git does not carry: the cap, the commands, the scripts, the untracked toml."""
    clone.git("commit", "--quiet", "--allow-empty", "-m", "x")
    ok(clone.run("init", "--stages"))
    new = Clone(clone.root.parent / "b new", clone.home)
    clone.git("worktree", "add", "--quiet", "-b", "b", str(new.root))
    copy_to(clone.root, new.root, environment=clone.environment)
    assert not (new.root / TOML).exists()
    assert config.load(new.root, {}).stages.use
    assert settings(new)["env"][CAP] == "58"
    for name in (REVIEW_PAGE, start_page(clone), DETECT, ORCHESTRATOR):
        assert new.read(name) == clone.read(name)
    assert new.git("status", "--porcelain", "--untracked-files=all") == ""


def test_a_linked_worktree_is_switched_on_with_the_main_one(clone: Clone) -> None:
    """While the main one's settings, which count there, are off, that is said and nothing is written."""
    clone.git("commit", "--quiet", "--allow-empty", "-m", "x")
    clone.write(TOML, 'remote = "fork"\n')
    new = Clone(clone.root.parent / "b new", clone.home)
    clone.git("worktree", "add", "--quiet", "-b", "b", str(new.root))
    before = contents(new)
    assert "run lifecycle init --stages there" in refused(new.run("init", "--stages"))
    assert contents(new) == before
    ok(clone.run("init", "--stages"))
    ok(new.run("init", "--stages"))
    assert not (new.root / TOML).exists()
    here = config.load(new.root, {})
    assert (here.remote, here.stages.use) == ("fork", True)
    clone.write(TOML, "[stages]\nuse = false\n")
    assert "stages.use = false, which was kept" in ok(new.run("init"))
    ok(new.run("init", "--remove"))
    assert contents(new) == before


@pytest.mark.once("what is which stage, stages/test_detect has")
@pytest.mark.parametrize(
    ("said", "stage"),
    [
        ("some text ::: WORKFLOW_STAGE: CODING_COMPLETE :::", Detected.CODING_COMPLETE),
        ("ran bd close with success", Detected.ISSUE_CLOSED),
        ("working on implementation", Detected.UNKNOWN),
    ],
)
def test_the_stage_is_detected_by_the_script(clone: Clone, said: str, stage: str) -> None:
    """`echo "…" | ./detect_stage.sh`, where the script lies, prints the stage."""
    ok(clone.run("init", "--stages"))
    line = f'echo "{said}" | ./detect_stage.sh'
    done = script(clone, line, cwd=(clone.root / DETECT).parent)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{stage}\n", "")


def test_without_the_command_the_script_says_so(clone: Clone) -> None:
    """One sentence, and an exit code."""
    ok(clone.run("init", "--stages"))
    done = script(clone, f"echo x | {DETECT}", HOME="/nowhere", PATH="/usr/bin:/bin")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("No lifecycle command was found, so no stage was detected;")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("shared", [(), ("--shared",)])
def test_the_old_script_leaves_the_stop_to_the_wired_hook(
    clone: Clone, shell: str, shared: tuple[str, ...]
) -> None:
    """Where init wired on-stop, the script that settings may call besides does nothing at all."""
    ok(clone.run("init", "--stages", *shared))
    on_stop = spied(clone)
    assert script(clone, f"{shell} {ORCHESTRATOR}").stdout == ""
    (clone.root / (SHARED if shared else LOCAL)).write_text("{}")
    (clone.home / ".claude").mkdir()
    (clone.home / ".claude/settings.json").write_text(f'{{"command": "{on_stop}"}}')
    assert script(clone, f"{shell} {ORCHESTRATOR}").stdout == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_old_script_becomes_on_stop(clone: Clone, shell: str) -> None:
    """Where nothing else runs on-stop, it is handed the event, once, with its exit code."""
    ok(clone.run("init", "--stages"))
    (clone.root / LOCAL).write_text('{"hooks": {"Stop": []}}')
    spied(clone)
    done = script(clone, f"echo '{{\"a\": 1}}' | {shell} {ORCHESTRATOR}")
    assert (done.returncode, done.stdout, done.stderr) == (2, 'on-stop {"a": 1}\n', "")
    assert script(clone, f"{shell} {ORCHESTRATOR}", HOME="/nowhere", PATH="/bin").returncode == 0


def spied(clone: Clone) -> Path:
    """Let the user's folder lead to an on-stop that says what it was given."""
    folder = clone.home / "lifecycle/_hooks"
    folder.mkdir(parents=True)
    path = folder / "on-stop"
    path.write_text('#!/bin/sh\nread -r line\necho "on-stop $line"\nexit 2\n')
    path.chmod(0o755)
    (clone.home / ".config/lifecycle/hooks").write_text(f"{folder}\n")
    return path


def script(
    clone: Clone, line: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a line of shell here."""
    return subprocess.run(
        ["sh", "-c", line],
        cwd=cwd or clone.root,
        env={**clone.environment, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("is_review", [True, False])
def test_the_commands_speak_of_commands_that_exist(clone: Clone, *, is_review: bool) -> None:
    """Every command line on a supplied page is one of the product's or of git's, and may be run."""
    import re
    import shlex

    import click

    ok(clone.run("init", "--stages"))
    text = clone.read(REVIEW_PAGE if is_review else start_page(clone))
    front, body = text.split("---\n", 2)[1:]
    assert text.count("$ARGUMENTS") == 1
    assert not any(sign in body for sign in ("{{", "!`", "$(", "${"))
    allowed = re.findall(r"Bash\(([^:]+):\*\)", front)
    lines = [
        code for code in re.findall(r"`([^`]+)`", body) if code.split()[0] in ("lifecycle", "git")
    ]
    for line in lines:
        if line in ("lifecycle", "lifecycle init --stages"):
            continue
        assert any(line.startswith(prefix) for prefix in allowed), line
        words = shlex.split(line)
        if words[0] == "lifecycle":
            found = main.group.get_command(click.Context(main.group), words[1])
            assert isinstance(found, click.Group)
            verb = found.get_command(click.Context(found), words[2])
            assert verb is not None, line
            verb.make_context(words[2], words[3:])
    assert len(lines) >= 3


def test_a_label_of_its_own_stands_in_the_command(clone: Clone) -> None:
    """The command that begins with a task asks for the project's label."""
    clone.write(TOML, "[stages]\nuse = true\nlabel = 'robots'\nstart = '/task-start'\n")
    told = ok(clone.run("init", "--stages"))
    assert 'Next: put the label "robots" on a task.' in told
    assert "--label robots" in clone.read(start_page(clone))
