"""docs/reference.md says what is so: settings, variables, commands, exit codes, hooks, files."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

import click
from click.testing import CliRunner

from lifecycle.cli import endings, main
from lifecycle.cli.main import COMMANDS
from lifecycle.core.stage_names import Detected
from lifecycle.core.values.configured import Settings
from lifecycle.git.tracked_files import exclude_own_files
from lifecycle.sandbox.control.faults import Fault
from lifecycle.settings import config, resources
from lifecycle.storage import log
from lifecycle.storage.log import MAX_BYTES
from lifecycle.storage.store import CLAIM_FILE
from tests.batches import each_row
from tests.bench.paths import BUDGET
from tests.conftest import COMMAND, Place
from tests.docs.pages import REFERENCE, ROOT, Page, codes_in
from tests.docs.reference_tables import verbs_of
from tests.e2e.staged import Ground, marker
from tests.trackers.beads import simulated

PAGE = Page(REFERENCE)

NOT_SETTINGS = re.compile(r"GIT_\w+|LIFECYCLE_PYTHON\w+")
"""What is no setting of ours: what git is given, what hooks keep of Python's."""

OURS = r"\b(?:LIFECYCLE|MOLTNET|GITHUB|GH|CLAUDE|GIT|NO)_[A-Z_]+\b|\bCLAUDECODE\b"
OF_CLIENTS = r"\b[A-Z]+_PROXY\b|\b[A-Z]+_CA_BUNDLE\b|\bSSL_CERT_FILE\b|\bPYTHON(?:PATH|HOME)\b"
"""What names proxies and certificates to any client of HTTP, and so to ours; and modules to any Python."""

FLEETING = {
    ".lifecycle/wait-*": "lifecycle/storage/signs_of_life.py",
    ".agent-claim.json.*.tmp": "lifecycle/storage/store.py",
    ".lifecycle/*.*.tmp": "lifecycle/storage/store.py",
    ".lifecycle/adopted-*": "lifecycle/storage/workflow_marks.py",
    ".lifecycle/ask": "lifecycle/hooks/quick_idle.py",
    ".lifecycle/started": "lifecycle/storage/workflow_marks.py",
    ".lifecycle/workflow-gates.json": "lifecycle/workflow/store/workflow_store.py",
    ".lifecycle/waiter": "lifecycle/storage/signs_of_life.py",
    ".lifecycle/waiter.lock": "lifecycle/storage/signs_of_life.py",
    ".lifecycle/closing.json": "lifecycle/claim/record/claim_store.py",
    ".lifecycle/feedback/*.md": "lifecycle/feedback/reviews/review_watch.py",
    ".lifecycle/review-*.diff": "lifecycle/cli/run/run_review.py",
}
"""Files that are there for a moment, in a run, after a review or a second idle look, and their module."""


def test_every_setting_is_in_the_table_and_nothing_else() -> None:
    """The keys that .lifecycle.toml may hold are the page's, in the same order."""
    assert PAGE.table("Configuration").codes() == list(config._KEYS)


def test_the_defaults_in_the_table_are_the_defaults(tmp_path: Path) -> None:
    """A .lifecycle.toml that spells the page's defaults out changes nothing."""
    rows = [(codes_in(row[0])[0], codes_in(row[1])) for row in PAGE.table("Configuration").rows]
    lines = [f"{key} = {codes[0]}" for key, codes in rows if codes]
    assert len(lines) == 22
    (tmp_path / config.CONFIG_FILE).write_text("\n".join(lines))
    assert config.load(tmp_path, {}) == Settings()


def test_every_variable_is_in_the_table_and_nothing_else() -> None:
    """The environment variables that code and scripts name are those that the page explains."""
    sources = [*(ROOT / "lifecycle").rglob("*.py"), *(ROOT / "hooks").iterdir()]
    text = "\n".join(source.read_text(encoding="utf-8") for source in sources)
    named = set(re.findall(f"{OURS}|{OF_CLIENTS}", text))
    wanted = {name for name in named if not NOT_SETTINGS.fullmatch(name)}
    (table,) = [t for t in PAGE.tables if t.header[0] == "variable"]
    assert set(table.codes()) == wanted
    aliases = {name for names, _ in config._ENVIRONMENT.values() for name in names}
    assert aliases | set(config.PROJECT_VARIABLES) <= wanted


def test_every_command_is_in_the_table_and_nothing_else() -> None:
    """The page lists the commands of the command line, in the order of its help."""
    shown = list(dict.fromkeys(code.split()[1] for code in PAGE.table("Commands").codes()))
    assert shown == list(COMMANDS)


def test_the_help_has_a_sentence_for_each_command() -> None:
    """`--help` imports no command, so the sentences stand in their rows, and each command has its own."""
    context = click.Context(main.group)
    found = {name: main.group.get_command(context, name) for name in COMMANDS}
    own = {name: one.short_help for name, one in found.items() if one is not None}
    assert list(own) == list(COMMANDS) == main.group.list_commands(context)
    assert own == {name: row["short"] for name, row in COMMANDS.items()}
    assert not [name for name, one in found.items() if one is None or one.hidden]
    helped = CliRunner().invoke(main.group, ["--help"], prog_name="lifecycle").output
    assert all(f"{name} " in helped and said and said in helped for name, said in own.items())


def test_the_options_in_the_table_exist() -> None:
    """Each option that the page shows is one of the command's own, and none is left out."""
    rows = PAGE.table("Commands").rows
    assert len(rows) > len(COMMANDS)
    for row in rows:
        words = codes_in(row[0])[0].split()
        found = main.group.get_command(click.Context(main.group), words[1])
        if isinstance(found, click.Group):
            found = found.get_command(click.Context(found), words[2])
        assert found is not None, row[0]
        known = {
            option
            for parameter in found.params
            if not getattr(parameter, "hidden", False)
            for option in parameter.opts
            if option.startswith("--")
        }
        shown = {code.split()[0].rstrip(",") for code in codes_in(row[1]) if code.startswith("--")}
        assert shown == known - {"--json"}, row[0]


def test_json_is_where_the_page_says() -> None:
    """Every command takes --json, and so does every one of a group."""
    without = set()
    for name in COMMANDS:
        found = main.group.get_command(click.Context(main.group), name)
        assert found is not None
        below = verbs_of(found) if isinstance(found, click.Group) else {"": found}
        without |= {
            f"{name} {verb}".strip()
            for verb, one in below.items()
            if not any("--json" in parameter.opts for parameter in one.params)
        }
    assert without == set()
    assert "All take `--json`" in PAGE.text


@each_row("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    """`lifecycle NAME --help` prints its usage and exits 0."""
    done = CliRunner().invoke(main.group, [name, "--help"], prog_name="lifecycle")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith(f"Usage: lifecycle {name}")


def test_exit_codes_are_those_of_the_command_line() -> None:
    """The page's exit codes are the ones that the command line documents."""
    (table,) = [t for t in PAGE.tables if t.header[0] == "exit code"]
    documented = re.findall(r"(?:: |; )(\d+) ", " ".join((endings.__doc__ or "").split()))
    assert [row[0] for row in table.rows] == documented
    assert documented == ["0", "1", "2", "3", "4", "130"]


def test_the_line_that_finds_the_scripts_works(tmp_path: Path) -> None:
    """The command that prints where a hook lies prints a script that can be run."""
    (line,) = re.findall(r"`lifecycle (hook \S+ --path)`", PAGE.text)
    done = subprocess.run(
        [sys.executable, "-m", "lifecycle", *line.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert os.access(done.stdout.strip(), os.X_OK)


def test_the_line_that_tries_a_hook_works(place: Place) -> None:
    """The manual run on the page, in a repository with a hand-written claim, opens its PR."""
    (line,) = re.findall(r"^echo '\{\}' \|.*hooks/on-stop$", PAGE.text, re.MULTILINE)
    place.ready()
    line = line.replace("hooks/on-stop", shlex.quote(str(resources.hook_script("on-stop"))))
    done = place.run("sh", "-c", line)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"PR #{place.pull()} created" in done.stdout


def test_every_file_is_in_the_table(place: Place) -> None:
    """A task's whole life, with accidents, leaves no file that the table does not name.

    And every file that the table names was there, or is one of those that are there for a moment.
    """
    made = _live(place)
    patterns = PAGE.table("Every file that it keeps").codes()
    unnamed = {name for name in made if not any(fnmatch(name, p) for p in patterns)}
    assert unnamed == set()
    unmade = {p for p in patterns if not any(fnmatch(name, p) for name in made)}
    assert unmade == set(FLEETING)
    for pattern, module in FLEETING.items():
        assert re.split(r"[./]", pattern)[-1] in (ROOT / module).read_text(encoding="utf-8")


def _live(place: Place) -> set[str]:
    """Go from claim to close, with accidents; every file of ours that was ever seen."""
    place.control.add_fault(Fault(kind="status", status=502, method="POST", path="/pulls$"))
    made = set()
    for step in _steps(place):
        step()
        made |= _ours(place)
    return made


def _steps(place: Place) -> Iterator[Callable[[], object]]:
    path = place.root / CLAIM_FILE
    session = {"session_id": "one", "prompt": "go on"}
    yield lambda: place.cli("claim", "42", CLAUDE_CODE_SESSION_ID="one")
    phases = ("--phase", "Design", "--phase", "Build")
    yield lambda: place.cli("workflow", "start", "W", *phases, CLAUDE_CODE_SESSION_ID="one")
    compaction = {**session, "hook_event_name": "PreCompact", "trigger": "auto"}
    yield lambda: place.hook("pre-compact", compaction)
    place.work(str(place.claim()["branch"]), push=False)
    yield lambda: place.cli("handoff", "--summary", "Fix it")
    yield lambda: place.hook("on-stop")  # GitHub fails: it is due again
    yield lambda: place.cli("tick")
    yield lambda: os.utime(path, (1, 1))
    # A file that was just replaced is waited for, since somebody may write into it, and there is no stamp.
    yield lambda: shutil.rmtree(place.root / ".lifecycle/replaced")
    yield lambda: place.hook("on-stop")  # nothing new: stamped
    yield lambda: place.hook("on-idle")  # the guard compares moments
    yield lambda: place.hook("session-end", session, CLAUDE_CODE_SESSION_ID="one")
    yield lambda: path.write_text("{ no json")
    yield lambda: os.utime(path, (1, 1))
    yield lambda: place.cli("tick")
    yield lambda: (place.root / ".lifecycle/state.json").write_text("{ no json")
    yield lambda: place.cli("tick")
    yield lambda: place.control.set_check(
        place.pull(), "test", conclusion="failure", log="Error: boom\n"
    )
    yield lambda: place.cli("feedback")
    yield lambda: place.control.merge_pull(place.pull())
    yield lambda: place.cli("tick")  # a person looks: the question waits for the agent
    yield lambda: place.hook("user-prompt-submit", session)
    yield lambda: place.cli("close")
    assert not place.has_claim()
    for _ in range(2 * log.MAX_BYTES // log._MAX_LINE + 8):
        log.write(place.root, "x" * log._MAX_LINE)
    yield lambda: place.hook("on-stop")
    yield from _run_steps(place)
    yield from _staged_steps(place)


def _run_steps(place: Place) -> Iterator[Callable[[], object]]:
    """An autonomous run: something is clarified, it begins, it is over, and another one begins."""
    path = place.root / ".claude/workflow-state.json"
    yield lambda: place.cli("run", "add-clarification", "What?", "That")
    yield lambda: place.cli("run", "init", "Pay")
    completed = path.read_text().replace('"status": "active"', '"status": "completed"')
    yield lambda: path.write_text(completed)
    yield lambda: place.cli("run", "init", "Pay again")
    yield path.unlink


def _staged_steps(place: Place) -> Iterator[Callable[[], object]]:
    """The staged workflow: a stage is completed, tests are run, the log is full, it is switched off."""
    folder = place.root.parent / "bin"
    simulated.install(folder)
    simulated.workspace(place.root, folder)
    simulated.allow(place.root, place.environment)
    ground = Ground(place, folder, str(COMMAND))
    ground.settings('[checks.commands]\nlint = "echo linted"\n')
    yield lambda: place.cli("trust", "--yes")
    yield lambda: place.cli("check", "lint")
    task = ground.task("Write it")
    agent = ground.agent()
    agent.prompt("Write it.")
    yield lambda: agent.stops(marker(Detected.CODING_COMPLETE))
    yield lambda: agent.runs("pytest", "1 passed")
    yield lambda: agent.session.run(
        "post-tool-use",
        "PostToolUse",
        tool_name="Bash",
        tool_input={"command": "pytest"},
        tool_response={"stdout": "", "backgroundTaskId": "b1"},
    )
    path = agent.environment["PATH"]
    yield lambda: place.cli("tracker", "label", task, "--add", "seen", PATH=path)
    for _ in range(3):
        (place.root / ".claude/workflow_orchestrator.log").write_bytes(b"x" * (1 + MAX_BYTES))
        yield lambda: agent.stops(marker(Detected.REQUIREMENTS_REVIEWED))
    yield lambda: place.cli("stage", "off")


def _ours(place: Place) -> set[str]:
    """The files in the worktree that git does not track, by their paths in it."""
    tracked = set(place.git("ls-files").splitlines())
    paths = [path for path in place.root.rglob("*") if path.is_file()]
    names = {path.relative_to(place.root).as_posix() for path in paths}
    others = (
        ".git/",
        ".beads/",
        ".lifecycle.toml",
    )  # git's, the tracker's, and what a person writes
    return {name for name in names - tracked if not name.startswith(others)}


def test_the_requests_on_the_page_are_the_ones_that_the_bench_allows() -> None:
    """The page promises what `make bench` holds every path to, and nothing for nothing."""
    rows = {row[0]: row[1] for row in PAGE.table("How fast").rows}
    allowed = {name: f"at most {most}" if most > 1 else str(most) for name, most in BUDGET.items()}
    assert rows == {"nothing changed": "0", **allowed}


def test_the_users_own_keys_are_in_the_table_and_nothing_else() -> None:
    """The keys of the user's config.toml are the page's."""
    (table,) = [t for t in PAGE.tables if t.header[0] == "key of your own"]
    assert table.codes() == list(config.USER_KEYS)


def test_the_lines_in_git_exclude_are_the_ones_on_the_page(place: Place) -> None:
    """What `claim` adds to info/exclude is what the page says."""
    path = place.root / ".git/info/exclude"
    before = path.read_text().splitlines() if path.exists() else []
    exclude_own_files(place.root)
    added = [line for line in path.read_text().splitlines() if line not in before]
    assert len(added) == 2
    assert set(added) <= set(codes_in(PAGE.section("Every file that it keeps")))
