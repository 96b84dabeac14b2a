"""A check that is run: what is kept of it, on which tree it is evidence, and what voids it."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.core.errors import Refused
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.values.configured import Settings, StageSettings
from lifecycle.evidence import records, tree_hash
from lifecycle.evidence.checks.check_engine import CheckDone, CheckRun
from lifecycle.evidence.checks.check_reading import picking
from lifecycle.evidence.checks.known_checks import KnownCheck
from lifecycle.evidence.command_lines import Words
from lifecycle.evidence.outcomes import Counts, Outcome
from lifecycle.evidence.records import Evidence, EvidenceRoom, RunRecord
from lifecycle.evidence.runners import runner_table
from lifecycle.storage import journal
from tests.conftest import ManualClock

VARIABLES = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
}


class Project:
    """A worktree whose checks are scripts for sh."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = ManualClock()
        self.printed = b""
        self.environment: Mapping[str, str] = {**os.environ, **VARIABLES}
        root.mkdir()
        self.git("init", "--quiet")
        (root / "code.py").write_text("one = 1\n")
        (root / ".gitignore").write_text("ignored/\n")
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "Begin")

    def git(self, *arguments: str) -> str:
        """Run git here; it must succeed."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def check(self, *scripts: str, name: str = "lint", **more: object) -> CheckDone:
        """Run a check of these scripts, one after another."""
        commands = tuple(("sh", "-c", script) for script in scripts)
        known = KnownCheck(name, commands, "a test", is_projects=False)

        def take(part: bytes) -> None:
            self.printed += part

        place = (self.root, self.environment, self.clock, Settings())
        run = CheckRun(*place, known, take, take, seconds=60.0)
        return replace(run, **more).result()  # type: ignore[arg-type]  # its fields

    def standing(self) -> Evidence:
        """What the runs of `lint` say of the files as they are."""
        room = EvidenceRoom(self.root)
        deadline = Deadline.after(SystemClock(), 30)
        tree = tree_hash.fingerprint(self.root, deadline, VARIABLES)
        return records.standing(room.records(), tree, "lint")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """The worktree."""
    return Project(tmp_path / "worktree")


BUSY = "i=0; while test $i -lt 30000; do i=$((i+1)); done"
"""Work for sh that is not over at once."""


def test_a_laptop_that_sleeps_during_a_check_takes_no_time_from_its_commands(
    project: Project,
) -> None:
    """As within one command, of which the system counts only what it ran."""
    done = project.check("echo 1", f"{BUSY}; echo 2", out=lambda _: project.clock.sleep(3600))
    assert (done.record.outcome, done.record.tail) == (Outcome.PASSED, "1\n2\n")


def test_all_of_a_run_is_kept(project: Project) -> None:
    """Words, folder, status, times, tree, log and tail; the tree is as git writes it."""
    done = project.check("echo out; echo err >&2", session="s-1")
    record = done.record
    assert (record.outcome, record.status, record.name) == (Outcome.PASSED, 0, "lint")
    assert record.commands == (("sh", "-c", "echo out; echo err >&2"),)
    assert (record.folder, record.session) == (str(project.root), "s-1")
    assert record.started <= record.at <= project.clock.now()
    tree = project.git("rev-parse", "HEAD^{tree}")
    assert (record.tree, record.tree_before, record.tree_after) == (tree, tree, tree)
    assert sorted(record.tail.splitlines()) == ["err", "out"]
    assert (project.root / record.log).read_text() == record.tail == project.printed.decode()
    assert (done.remarks, done.signal) == ((), 0)
    assert EvidenceRoom(project.root).records() == (record,)
    (entry,) = journal.read(project.root)
    assert (entry.kind, entry.detail["outcome"], entry.detail["check"]) == (
        "check",
        "green",
        "lint",
    )


def test_it_is_evidence_for_this_very_tree_alone(project: Project) -> None:
    """Before and after a commit; an edit, or a new file, voids it until it is undone."""
    (project.root / "new.py").write_text("two = 2\n")
    project.check("true")
    assert project.standing() is Evidence.GREEN
    project.git("add", ".")
    project.git("commit", "--quiet", "-m", "Two")
    assert project.standing() is Evidence.GREEN
    for path in ("code.py", "another.py"):
        before = (project.root / path).read_text() if (project.root / path).exists() else None
        (project.root / path).write_text("three = 3\n")
        assert project.standing() is Evidence.CHANGED
        if before is None:
            (project.root / path).unlink()
        else:
            (project.root / path).write_text(before)
        assert project.standing() is Evidence.GREEN
    project.check("exit 1")
    assert project.standing() is Evidence.RED


def test_our_own_files_are_no_part_of_the_tree(project: Project) -> None:
    """Those of the claim, of the workflow's log and of beads may come and go."""
    project.check("true")
    for name in (".agent-claim.json", ".claude/workflow_orchestrator.log", ".beads/issue-0.jsonl"):
        path = project.root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("{}")
        assert project.standing() is Evidence.GREEN
    assert (project.root / ".lifecycle/evidence/records.json").exists()


def test_a_run_that_changes_a_file_proves_nothing(project: Project) -> None:
    """Changed, deleted or, where git tracks it, put back: named, and no evidence; the next run is."""
    done = project.check("echo x >>code.py; rm .gitignore")
    assert (done.record.outcome, done.record.tree) == (Outcome.PASSED, "")
    assert done.record.changed == (".gitignore", "code.py")
    assert ".gitignore, code.py changed while it ran, so it is no evidence" in done.remarks[0]
    assert project.standing() is Evidence.SPOILED
    assert project.check("true").record.tree
    assert project.standing() is Evidence.GREEN


def test_new_output_is_named_and_voids_nothing(project: Project) -> None:
    """A report that git neither tracks nor ignores; also made anew, and whatever check left it."""
    script = "date +%N >coverage.xml; mkdir -p ignored; date +%N >ignored/more"
    done = project.check(script)
    assert (done.record.made, done.record.changed) == (("coverage.xml",), ())
    assert "coverage.xml, which git neither tracks nor ignores" in done.remarks[0]
    assert done.record.tree_before != done.record.tree_after
    assert project.standing() is Evidence.GREEN
    other = project.check("echo b >build.log", name="build")
    assert (other.record.made, other.record.tree) == (("build.log",), done.record.tree)
    assert project.standing() is Evidence.GREEN
    again = project.check(script)
    assert (again.record.made, again.record.tree) == (("coverage.xml",), done.record.tree)
    assert project.standing() is Evidence.GREEN
    (project.root / "coverage.xml").unlink()
    assert project.standing() is Evidence.GREEN


def test_output_that_somebody_edits_is_a_file_like_any_other(project: Project) -> None:
    """What a check made counts again as soon as it is not as the check left it."""
    project.check("echo one >made.txt")
    (project.root / "made.txt").write_text("two\n")
    assert project.standing() is Evidence.CHANGED
    for _ in range(2):
        spoiled = project.check("date +%N >>made.txt")
        assert (spoiled.record.changed, spoiled.record.made) == (("made.txt",), ())
        assert "If made.txt is output, delete it or name it in .gitignore" in spoiled.remarks[0]
        assert project.standing() is Evidence.SPOILED
    (project.root / "made.txt").unlink()
    assert project.check("echo four >made.txt").record.made == ("made.txt",)
    assert project.standing() is Evidence.GREEN


def test_code_that_is_new_after_a_run_is_no_output_of_it(project: Project) -> None:
    """Somebody may have written it meanwhile, and the run knew nothing of it: it passed on these files."""
    done = project.check("echo 1 >new.py; echo 1 >report.js")
    assert (done.record.made, done.record.changed, done.record.tree) == (
        ("report.js",),
        ("new.py",),
        "",
    )
    assert "new.py changed while it ran, so it is no evidence" in done.remarks[1]
    assert project.standing() is Evidence.SPOILED
    assert project.check("echo 1 >new.py").record.tree
    assert project.standing() is Evidence.GREEN


def test_several_commands_run_in_order_until_one_fails(project: Project) -> None:
    """All of them have to pass; the status is that of the one that failed."""
    done = project.check("echo 1", "echo 2; exit 7", "echo 3")
    assert (done.record.outcome, done.record.status) == (Outcome.FAILED, 7)
    assert project.printed == b"1\n2\n"
    assert project.check("echo 1", "echo 2").record.outcome is Outcome.PASSED
    with pytest.raises(Refused, match="2 commands"):
        project.check("true", "true", extra=("-k", "one"))


def test_with_more_words_it_is_a_part(project: Project) -> None:
    """They are the command's own last words; what failed has failed."""
    done = project.check('printf "%s|" "$@"', extra=("sh", "-k", "a b"))
    assert (project.printed, done.record.outcome) == (b"-k|a b|", Outcome.PARTIAL)
    assert project.standing() is Evidence.PARTIAL
    assert project.check("exit 1", extra=("x",)).record.outcome is Outcome.FAILED


def test_at_its_limit_it_is_a_part(project: Project) -> None:
    """124, and nothing is said of the tree but the part; the limit is of all commands together."""
    done = project.check("true", "exec sleep 1000", seconds=0.3)
    assert (done.record.outcome, done.record.status) == (Outcome.PARTIAL, 124)
    assert "0.3 seconds" in done.record.why
    assert project.standing() is Evidence.PARTIAL


def test_what_is_not_there_is_told(project: Project) -> None:
    """127, with the name of the program."""
    known = KnownCheck("lint", (("no-such-program",),), "a test", is_projects=False)
    done = project.check(check=known)
    assert (done.record.outcome, done.record.status) == (Outcome.FAILED, 127)
    assert done.record.why == "no-such-program is not installed, or not on PATH"
    assert done.record.log == ""


def test_when_we_are_told_to_end_it_is_kept_as_a_part(project: Project) -> None:
    """The record is there before the command ends as the signal says."""
    done = project.check(f"kill -TERM {os.getpid()}; exec sleep 1000")
    assert (done.signal, done.record.status) == (signal.SIGTERM, 143)
    assert (done.record.outcome, done.record.why) == (Outcome.PARTIAL, "it was stopped (SIGTERM)")
    assert EvidenceRoom(project.root).records()[-1].outcome is Outcome.PARTIAL


def test_a_check_that_runs_itself_is_refused(project: Project) -> None:
    """Its commands see which checks they are a part of; another one may run in it."""
    project.check("echo $LIFECYCLE_CHECK", name="all")
    project.environment = {**project.environment, "LIFECYCLE_CHECK": "all"}
    project.check("echo $LIFECYCLE_CHECK", name="lint")
    assert project.printed == b"all\nall,lint\n"
    with pytest.raises(Refused, match="endless loop"):
        project.check("true", name="all")


def test_it_sees_no_token(project: Project) -> None:
    """Nor does the log hold one that it printed all the same."""
    secret = "ghp_abcdefghijklmnopqrst0123"
    project.environment = {**project.environment, "GH_TOKEN": secret}
    done = project.check(f"echo ${{GH_TOKEN-none}} {secret[:4]}''{secret[4:]}")
    assert project.printed == f"none {secret}\n".encode()
    assert done.record.tail == (project.root / done.record.log).read_text() == "none ***\n"


def test_what_is_odd_beside_the_last_run_is_said(project: Project) -> None:
    """Far quicker, or far fewer tests, than when it passed last; nothing else follows from it."""
    room = EvidenceRoom(project.root)
    now = project.clock.now()
    before = RunRecord(now, "x", Outcome.PASSED, "t", name="lint", kind="lint", started=now - 60)
    room.add(replace(before, id="1", counts=Counts(passed=40)))
    done = project.check("true")
    assert done.record.outcome is Outcome.PASSED
    assert "and 60.0 when it passed last" in done.remarks[0]
    assert project.check("true").remarks == ()
    assert project.standing() is Evidence.GREEN


def test_where_git_cannot_say_what_the_files_are_nothing_is_proven(project: Project) -> None:
    """The command runs all the same, and it is said."""
    (project.root / ".git/index").write_bytes(b"broken")
    done = project.check("true")
    assert (done.record.outcome, done.record.tree) == (Outcome.PASSED, "")
    assert any("git could not read" in remark for remark in done.remarks)


def test_what_cannot_be_kept_is_no_evidence(project: Project) -> None:
    """It is said, and the command's end is told all the same."""
    (project.root / ".lifecycle").mkdir(mode=0o700)
    (project.root / ".lifecycle/checks").symlink_to(project.root.parent)
    done = project.check("echo x; exit 3")
    assert (done.record.status, done.record.tree) == (3, "")
    assert "It was not recorded, so it is no evidence" in done.remarks[-1]


REPORT = """<testsuites><testsuite><testcase classname="tests.test_sum" name="test_one"/>
<testcase classname="tests.test_sum" name="test_two">{}</testcase></testsuite></testsuites>"""


def test_red_and_green_are_told_by_name(tmp_path: Path) -> None:
    """What failed by its assertion, in which file of which content; and that this very test passed later.

    Tests that never failed are not named: the records stay small.
    """
    project = Project(tmp_path / "project")
    tests = project.root / "tests"
    tests.mkdir()
    (tests / "test_sum.py").write_text("def test_one(): ...\ndef test_two(): ...\n")
    (project.root / ".gitignore").write_text("junit.xml\nreport-*\n")
    states = {"red": "<failure message='assert 3 == 4'/>", "broken": "<error/>", "green": ""}
    for state, element in states.items():
        (project.root / f"report-{state}").write_text(REPORT.format(element))
    done = project.check("cp report-red junit.xml; false", name="test").record
    assert (done.outcome, done.failures) == (Outcome.FAILED, ("tests.test_sum::test_two",))
    assert done.asserted == ("tests.test_sum::test_two",)
    content = project.git("hash-object", "tests/test_sum.py")
    assert done.files == (("tests/test_sum.py", content),)
    broken = project.check("cp report-broken junit.xml; false", name="test").record
    assert (broken.failures, broken.asserted) == (("tests.test_sum::test_two",), ())
    done = project.check("cp report-green junit.xml", name="test").record
    assert (done.outcome, done.failures) == (Outcome.PASSED, ())
    assert done.passed == ("tests.test_sum::test_two",)
    kept = EvidenceRoom(project.root).records()
    assert [(run.asserted, run.passed, bool(run.files)) for run in kept] == [
        (("tests.test_sum::test_two",), (), True),
        ((), (), True),
        (None, ("tests.test_sum::test_two",), False),
    ]


@pytest.mark.parametrize(
    ("variable", "name", "outcome"),
    [
        ("GTEST_FILTER=A*", "test", Outcome.PARTIAL),
        ("PYTEST_ADDOPTS=-k one", "test", Outcome.PARTIAL),
        ("PYTEST_ADDOPTS=--collect-only", "test", Outcome.PARTIAL),
        ("GTEST_FILTER=*", "test", Outcome.PASSED),
        ("PYTEST_CURRENT_TEST=a::b", "test", Outcome.PASSED),
        ("OUR_TEST_CLIENT=/srv/client", "test", Outcome.PASSED),
        ("GTEST_FILTER=A*", "lint", Outcome.PASSED),
    ],
)
def test_a_variable_that_picks_tests_makes_a_part_of_a_check_of_tests(
    project: Project, variable: str, name: str, outcome: Outcome
) -> None:
    """It is none of the project's: whoever started the check had it; the reason names it."""
    key, _, value = variable.partition("=")
    project.environment = {**project.environment, key: value}
    record = project.check("echo '3 passed in 0.1s'", name=name).record
    assert record.outcome is outcome
    assert (key in record.why) == (outcome is Outcome.PARTIAL)


def test_a_variable_picks_tests_of_a_runner_that_only_the_project_knows_too() -> None:
    """A check of any name whose command its own rows know is one of tests."""
    own = runner_table.rows(({"name": "mine", "commands": ["./mine"]},))
    picked = [
        picking("unit", ("./mine",), {"GTEST_FILTER": "A*"}, rows)
        for rows in (own, runner_table.rows())
    ]
    assert picked == ["the variable GTEST_FILTER picks tests", ""]


def test_a_variable_that_the_check_sets_itself_is_the_projects_word(project: Project) -> None:
    """What the command is configured with is the suite, whatever the shell has."""
    project.environment = {**project.environment, "GTEST_FILTER": "A*"}
    commands = (("env", "GTEST_FILTER=B*", "true"),)
    known = KnownCheck("test", commands, "a test", is_projects=False)
    assert project.check("true", name="test", check=known).record.outcome is Outcome.PASSED


def test_a_check_of_some_of_several_test_commands_shows_those(project: Project) -> None:
    """As one of a single line of `validate`; where the check `test` has a command of its own, it is all."""
    for name in ("unit", "api", "all"):
        (project.root / name).write_text("#!/bin/sh\n")
        (project.root / name).chmod(0o755)
    tests = ("./unit", "./api")
    several = Settings(stages=StageSettings(test=tests))

    def suites(*commands: str, name: str = "test", settings: Settings = several) -> Words:
        words = tuple((command,) for command in commands)
        known = KnownCheck(name, words, "a test", is_projects=False)
        return project.check(check=known, settings=settings).record.suites

    assert suites("./unit") == ("./unit",)
    assert suites("./unit", "./api") == tests
    assert suites("./all") == tests
    assert suites("./unit", name="lint") == ()
    assert suites("./unit", settings=Settings()) == ()
