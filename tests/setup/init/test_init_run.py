"""`lifecycle init --run` in a real clone: in, again, out, and what is somebody's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from lifecycle.core.values.configured import RunSettings
from lifecycle.setup.init.hook_table import CAP, PERMISSIONS, RUN_PERMISSIONS, STAGE_PERMISSIONS
from lifecycle.setup.init.init_mark import MARK, PERMITS
from lifecycle.setup.init.supplies import (
    AGENTS,
    COMMANDS,
    CORE,
    RUN_AGENTS,
    RUN_COMMANDS,
    SHIM_FILES,
    SKILL_FILE,
    runs,
)
from tests.cli.outcome import ok, refused
from tests.repeated import crossed
from tests.setup.init.conftest import Clone
from tests.setup.init.test_init import LOCAL, SHARED, THEIRS, WAYS, settings

NAMES = [file.name for file in runs()]


@pytest.mark.once("test_settings and test_variables have every form of the file, by properties")
@pytest.mark.parametrize(
    ("theirs", "options"),
    crossed(
        {"theirs": THEIRS, "none": None, "cap": f'{{"env": {{"{CAP}": "9"}}}}'},
        {
            f"{name}{''.join(stages)}": (*shared, *stages)
            for name, shared in WAYS.items()
            for stages in ((), ("--stages",))
        },
    ),
)
def test_out_again_is_as_before(clone: Clone, theirs: str | None, options: tuple[str, ...]) -> None:
    """Every file to the byte with its mode, and no file or folder more; with the stages, too."""
    if theirs is not None:
        clone.write(SHARED if "--shared" in options else LOCAL, theirs).chmod(0o640)
    clone.write(".claude/agents/poet.md", "mine")
    before = clone.contents()
    ok(clone.run("init", "--run", *options))
    assert all((clone.root / name).is_file() for name in NAMES)
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


def test_what_a_run_needs_is_there(clone: Clone) -> None:
    """Two command files, the skill, seven agents, three commands, the limit, the permissions."""
    last = ok(clone.run("init", "--run")).splitlines()[-1]
    assert "Next: lifecycle claim <number>, or in a session /workflow <goal>." in last
    wanted = [f"{CORE}state.py", f"{CORE}platform.py", SKILL_FILE]
    wanted += [f"{AGENTS}{name}.md" for name in RUN_AGENTS]
    wanted += [f"{COMMANDS}{name}.md" for name in (*RUN_COMMANDS, "status")]
    assert all((clone.root / name).is_file() for name in wanted)
    data = settings(clone)
    assert int(data["env"][CAP]) >= RunSettings().max_iterations
    assert data["permissions"]["allow"] == [*PERMISSIONS, *RUN_PERMISSIONS]


def test_both_workflows_have_the_higher_limit_and_all_permissions(clone: Clone) -> None:
    """Whichever is put in first: the limit is that of the one that goes on longer."""
    ok(clone.run("init", "--stages"))
    assert settings(clone)["env"][CAP] == "58"
    ok(clone.run("init", "--run"))
    data = settings(clone)
    assert data["env"][CAP] == "108"
    assert set(data["permissions"]["allow"]) == {
        *PERMISSIONS,
        *STAGE_PERMISSIONS,
        *RUN_PERMISSIONS,
    }


def test_more_iterations_need_a_higher_limit(clone: Clone) -> None:
    """The limit follows `run.max_iterations` at the next run of init."""
    ok(clone.run("init", "--run"))
    clone.write(".lifecycle.toml", "[run]\nmax_iterations = 300\n")
    ok(clone.run("init", "--run"))
    assert settings(clone)["env"][CAP] == "308"


@pytest.mark.parametrize("verb", ["resume", "user-fix-complete", "stop", "check-user-fix"])
def test_what_a_person_has_to_do_is_never_unasked(verb: str) -> None:
    """Undoing a brake is a person's, and a command that the agent named runs on a person's yes."""
    rules = [rule.removeprefix("Bash(").removesuffix(":*)") for rule in RUN_PERMISSIONS]
    assert not [rule for rule in rules if f"lifecycle run {verb}".startswith(rule)]
    assert not [rule for rule in rules if "python" in rule or "state.py" in rule]


def test_the_designs_command_lines_reach_the_command(clone: Clone) -> None:
    """`python .claude/core/platform.py ...` is `lifecycle platform ...`, as init leaves it."""
    ok(clone.run("init", "--run"))
    clone.write("package.json", '{"scripts": {"test": "x"}}')

    def line(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**clone.environment, "LIFECYCLE_BIN": str(clone.command)}
        return subprocess.run(
            [sys.executable, *words],
            cwd=clone.root,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    wanted = ok(clone.run("platform", "get-command", "test"))
    assert ok(line(f"{CORE}platform.py", "get-command", "test")) == wanted
    unknown = line(f"{CORE}platform.py", "get-command", "no such")
    assert (unknown.returncode, unknown.stdout) == (1, "")


def test_for_one_person_git_shows_nothing(clone: Clone) -> None:
    """What init and a run write is kept out of git; shared, what init wrote is to be committed."""
    ok(clone.run("init", "--run"))
    clone.write(".claude/workflow-state.json", "{}")
    clone.write(".claude/workflow-progress.txt", "")
    status = ("status", "--porcelain", "--untracked-files=all")
    assert clone.git(*status) == ""
    ok(clone.run("init", "--run", "--shared"))
    shown = {line.removeprefix("?? ") for line in clone.git(*status).splitlines()}
    claims = {f"{COMMANDS}{name}.md" for name in ("claim", "handoff", "status")}
    assert shown == {".gitignore", ".lifecycle.toml", MARK, SHARED, *NAMES, *claims}
    assert str(Path.home()) not in "".join(clone.read(name) for name in NAMES)


@pytest.mark.once("one table of files, each with its digest")
@pytest.mark.parametrize("name", [SHIM_FILES[1], SKILL_FILE, f"{AGENTS}tester.md"])
def test_what_a_person_changed_since_is_kept(clone: Clone, name: str) -> None:
    """Neither a second run nor the removal touches it; what was not changed goes."""
    ok(clone.run("init", "--run"))
    clone.write(name, clone.read(name) + "\n# mine\n")
    changed = clone.read(name)
    ok(clone.run("init", "--run"))
    assert clone.read(name) == changed
    ok(clone.run("init", "--remove"))
    assert clone.read(name) == changed
    assert [other for other in NAMES if (clone.root / other).exists()] == [name]


def test_what_an_earlier_version_wrote_is_renewed(clone: Clone) -> None:
    """A file that is as init wrote it becomes today's, and goes with the rest."""
    before = clone.contents()
    ok(clone.run("init", "--run"))
    name = SHIM_FILES[0]
    today, old = clone.read(name), clone.read(name) + "# of an earlier version\n"
    clone.write(name, old)
    from lifecycle.setup.init.planned_files import digest

    mark = clone.read(MARK).replace(digest(today.encode()), digest(old.encode()))
    clone.write(MARK, mark)
    ok(clone.run("init"))
    assert clone.read(name) == today
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


@pytest.mark.once("one table of files")
@pytest.mark.parametrize("name", ["agents/tester.md", SKILL_FILE.removeprefix(".claude/")])
def test_what_the_person_has_elsewhere_is_not_supplied(clone: Clone, name: str) -> None:
    """The project's would hide the person's own. Everybody else lacks it."""
    own = clone.home / ".claude" / name
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    ok(clone.run("init", "--run"))
    assert not (clone.root / ".claude" / name).exists()
    ok(clone.run("init", "--run", "--shared"))
    assert (clone.root / ".claude" / name).exists()


def test_a_link_out_of_the_project_is_refused(clone: Clone, tmp_path: Path) -> None:
    """A repository can bring such a link; nothing is written anywhere."""
    (tmp_path / "elsewhere").mkdir()
    (clone.root / ".claude").mkdir()
    (clone.root / ".claude/core").symlink_to(tmp_path / "elsewhere")
    before = clone.contents()
    assert "nothing was written" in refused(clone.run("init", "--run"))
    assert clone.contents() == before
    assert not list((tmp_path / "elsewhere").iterdir())


def test_with_the_plugin_permissions_and_the_limit_alone(clone: Clone) -> None:
    """The plugin has skill, agents and commands: `--permissions --run` adds what no plugin can ship."""
    before = clone.contents()
    ok(clone.run("init", "--permissions", "--run"))
    data = settings(clone)
    assert data["permissions"]["allow"] == [*PERMISSIONS, *RUN_PERMISSIONS]
    assert (data["env"][CAP], "hooks" in data) == ("108", False)
    assert (clone.root / PERMITS).is_file()
    assert not [name for name in NAMES if (clone.root / name).exists()]
    ok(clone.run("init", "--remove"))
    assert clone.contents() == before


def test_permissions_once_asked_for_a_run_are_so_for_the_whole(clone: Clone) -> None:
    """Without --run no limit comes with them, also beside the staged workflow; --run is remembered."""
    clone.write(".lifecycle.toml", "[stages]\nuse = true\n")
    ok(clone.run("init", "--permissions"))
    assert "env" not in settings(clone)
    ok(clone.run("init", "--permissions", "--run"))
    ok(clone.run("init", "--permissions"))
    assert settings(clone)["env"][CAP] == "108"
    ok(clone.run("init"))
    assert all((clone.root / name).exists() for name in NAMES)


def test_remove_goes_with_no_other_option(clone: Clone) -> None:
    """It takes out whatever is there."""
    assert (
        "--remove cannot be combined with other options"
        in clone.run("init", "--remove", "--run").stderr
    )
