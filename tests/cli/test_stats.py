"""`lifecycle stats`, as a process on a real journal."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from lifecycle.storage import journal
from lifecycle.storage.journal import JournalEntry
from lifecycle.storage.store import Folder
from tests.cli.outcome import ok
from tests.conftest import COMMAND, Place
from tests.views.stats.journals import CLAIMED, NOW, WHOLE, moved, phase
from tests.views.stats.test_summary import HARD

SOAKED = pytest.mark.soak(
    "cli/test_stats.py::test_the_tables", "views/stats/test_summary.py::test_times"
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone."""
    made = tmp_path / "clone"
    subprocess.run(["git", "init", "--quiet", made], check=True)
    Folder(made).make()
    return made


def run(root: Path, *words: str, width: int = 80) -> Any:
    """Run the command on a terminal so wide."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(root), "COLUMNS": str(width)}
    return subprocess.run(
        [COMMAND, "stats", *words],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def said(root: Path, *words: str, width: int = 80) -> str:
    """What it prints, if all is well."""
    done = run(root, *words, width=width)
    assert (done.returncode, done.stderr) == (0, "")
    return str(done.stdout)


def test_the_tables(root: Path) -> None:
    """Stages, phases, what holds work up, labels and agents."""
    journal.note(root, *WHOLE, *CLAIMED)
    lines = [line.split() for line in said(root).splitlines()]
    for line in (
        "2 tasks, 1 done 2026-11-18 11:06 to 2026-11-19 03:07 UTC",
        "stage visits median mean 9 of 10 attempts success",
        "CODING 1 30 min 30 min 30 min 1 100 %",
        "checks_running 1 15.0 h 15.0 h 15.0 h 1 100 %",
        "1. CODING: 48 % of all time",
        "label tasks done median failed success",
        "auto-workflow 1 1 1.1 h 0 100 %",
        "octocat-1 2 1 1.1 h 0 100 %",
    ):
        assert line.split() in lines


def test_a_task_that_went_straight_through_failed_at_nothing(root: Path) -> None:
    """Of whole tasks the attempts in vain are told: that there were six stages is no news of the task."""
    journal.note(root, *WHOLE, *HARD)
    rows = {line.split()[0]: line.split() for line in said(root).splitlines() if line[:1] == "#"}
    assert ["task", "time", "failed", "done", "(UTC)"] in [
        s.split() for s in said(root).splitlines()
    ]
    # title and unit are words, too: the number stands before date and time
    assert {name: row[-3] for name, row in rows.items() if row[-1] != "-"} == {
        "#42": "0", "#1": "0", "#2": "1", "#3": "4",
    }  # fmt: skip
    tasks = {one["id"]: one for one in json.loads(said(root, "--json"))["tasks"]}
    assert (tasks["#42"]["attempts"], tasks["#42"]["passed"]) == (6, 6)
    assert (tasks["#3"]["attempts"] - tasks["#3"]["passed"]) == 4


def test_of_what_has_no_stages_nothing_is_said_to_have_failed(root: Path) -> None:
    """A workflow is in the journal and in no stage: how often its phases failed is not told here."""
    began = JournalEntry(NOW, journal.WORKFLOW, journal.TRANSITION, "wf_1", target="phase_1")
    journal.note(root, began, *WHOLE)
    rows = {line.split()[0]: line.split() for line in said(root).splitlines()[1:] if line}
    assert rows["wf_1"][1:] == ["-", "-", "-"]


def test_agents_are_as_few_as_tasks(root: Path) -> None:
    """Each claim has an agent's name of its own: ten of them have a row, and --json has all."""
    claims = [phase(n, "", "coding", f"#{n}", actor=f"octocat-{n}") for n in range(1, 13)]
    journal.note(root, *claims)
    text = said(root)
    assert text.count("octocat-") == 10
    assert text.count("and 2 more: --json has all") == 2
    assert len(json.loads(said(root, "--json"))["agents"]) == 12


@SOAKED
@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_every_terminal_is_wide_enough(root: Path, width: int) -> None:
    """No line is longer than the terminal; what has no room is left to --json."""
    away = moved(4000, "CODING", "REQUIREMENTS_REVIEW", "#43")
    journal.note(root, *WHOLE, *CLAIMED, *HARD, away)
    for words in ((), ("--task", "#42")):
        text = said(root, *words, width=width)
        assert max(map(len, text.splitlines())) <= width
        assert "REQUIREMENTS_REVIEW" in text or width < 60


def test_a_column_without_room_stands_below_with_its_name(root: Path) -> None:
    """Nothing is left out on a narrow terminal, and on a wide one each figure has its column."""
    journal.note(root, *WHOLE, *CLAIMED, *HARD)
    narrow, wide = (said(root, width=width).splitlines() for width in (40, 120))
    assert "success 100 %" in map(str.strip, narrow)
    assert not [line for line in wide if line.strip().startswith("success")]


@SOAKED
def test_all_worktrees_of_the_clone_count(root: Path, tmp_path: Path) -> None:
    """What one worktree noted is shown in another."""
    git = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@example.com"]
    subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "--quiet", str(tmp_path / "other")], check=True)
    journal.note(tmp_path / "other", *WHOLE)
    assert said(root).startswith("2 tasks, 1 done")


def test_json(root: Path) -> None:
    """The same numbers for machines: one object, seconds and parts as numbers."""
    journal.note(root, *WHOLE)
    data = json.loads(said(root, "--json"))
    assert data["tasks_done"] == 1
    assert data["tasks"][0]["title"] == "Fix the race"
    (coding,) = [one for one in data["stages"] if one["name"] == "CODING"]
    assert coding["seconds"] == dict.fromkeys(("mean", "median", "p90", "total"), 1800) | {
        "count": 1
    }
    assert coding["success_rate"] == 1
    assert data["page"] is None


@SOAKED
def test_one_task_and_its_way(root: Path) -> None:
    """`--task` shows each visit of the task, and nothing of another."""
    journal.note(root, *WHOLE, *HARD)
    text = said(root, "--task", "42")
    assert text.startswith("1 task, 1 done")
    assert "ORACLE_REVIEW          2026-11-18 11:51  15 min         1  COMMIT_CLOSE" in text
    assert "#3" not in text


@SOAKED
def test_labels_and_periods(root: Path) -> None:
    """`--label` and `--since` leave out what they do not name; both together as well."""
    journal.note(root, *HARD)
    assert said(root, "--label", "auto:1").startswith("2 tasks, 2 done")
    assert said(root, "--since", "2026-11-18T14:30:00Z").startswith("2 tasks, 2 done")
    both = said(root, "--label", "auto:1", "--since", "2026-11-18T14:30:00Z")
    assert both.startswith("1 task, 1 done")


@SOAKED
def test_an_empty_journal_is_one_helpful_sentence(root: Path) -> None:
    """Before anything was noted it says when there will be something, and makes no page."""
    sentence = (
        "Nothing is in the journal of this clone yet; claims and the staged workflow write to it, so "
        "begin with: lifecycle claim <number>\n"
    )
    assert said(root) == sentence
    assert "no page was written" in said(root, "--html", "page.html")
    assert not (root / "page.html").exists()
    assert json.loads(said(root, "--json"))["entries"] == 0
    assert not (root / ".git/lifecycle").exists()


@SOAKED
def test_nothing_that_fits_is_said(root: Path) -> None:
    """A label that no task has is named, with how much there is without it."""
    journal.note(root, *WHOLE)
    assert said(root, "--label", "nope") == (
        "Nothing in the journal fits all tasks with the label nope; it has 7 entries: leave out --since, "
        "--label or --task to see more.\n"
    )


@SOAKED
def test_a_page_is_written(root: Path) -> None:
    """`--html` writes it, says where it is, and replaces one that is there."""
    journal.note(root, *WHOLE)
    (root / "page.html").write_text("old")
    assert said(root, "--html", "page.html").endswith(f"The page is {root}/page.html\n")
    html = (root / "page.html").read_text()
    assert html.startswith("<!doctype html>")
    assert "Fix the race" in html
    assert json.loads(said(root, "--json", "--html", "two.html"))["page"] == f"{root}/two.html"


@SOAKED
@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--since", "soon"), 2, "'soon' is no period, so nothing was counted; use a number with"),
        (("--html", "no/such/page.html"), 1, "no/such/page.html: No such file or directory"),
        (("--html", "."), 2, "is a directory"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    root: Path, words: tuple[str, ...], code: int, sentence: str
) -> None:
    """A wrong period, a page that cannot be written, a folder in its place."""
    journal.note(root, *WHOLE)
    done = run(root, *words)
    assert (done.returncode, done.stdout) == (code, "")
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


@SOAKED
def test_a_broken_journal_is_one_sentence(root: Path) -> None:
    """It is left for the next writer to set aside, and nothing is shown of it."""
    journal.note(root, *WHOLE)
    (root / ".git/lifecycle/journal.db").write_bytes(b"no database" * 1000)
    done = run(root)
    assert (done.returncode, done.stdout) == (1, "")
    assert "cannot be read (file is not a database), and was left as it is" in done.stderr


@SOAKED
def test_outside_of_a_clone(tmp_path: Path) -> None:
    """There is no journal where there is no repository; the sentence says where to go."""
    done = run(tmp_path)
    assert done.returncode == 1
    assert "is in no git worktree" in done.stderr


@SOAKED
def test_nothing_of_a_stranger_reaches_the_terminal_raw(root: Path) -> None:
    """Control characters in labels, agents and tasks are shown as escapes, and markup is text."""
    evil = "\x1b[31m[bold]x[/bold]\x07"
    journal.note(
        root,
        moved(0, "", "CODING", evil, actor=evil, detail={"labels": [evil], "title": evil}),
        moved(1, "CODING", "TESTING", evil, actor=evil),
    )
    text = said(root, width=200) + said(root, "--task", evil, width=200)
    assert "\x1b" not in text
    assert "\x07" not in text
    assert "\\x1b[31m[bold]x[/bold]\\x07" in text


def test_a_claimed_task_has_its_title_and_its_time(place: Place) -> None:
    """What a claim noted is shown by the issue's title, with the time and the attempts of the task."""
    assert place.cli("claim", "42").returncode == 0
    place.write(phase="ready_for_pr", summary="Done")
    place.hook("on-stop")
    (task,) = json.loads(place.cli("stats", "--json").stdout)["tasks"]
    assert (task["id"], task["title"]) == ("#42", "Fix race condition in task queue")
    assert task["seconds"] is not None
    assert task["attempts"] >= 1
    table = place.cli("stats", COLUMNS="100").stdout
    assert "#42 Fix race condition in task queue" in table


@pytest.mark.soak(
    "cli/test_stats.py::test_a_claimed_task_has_its_title_and_its_time",
    "cli/test_commands.py::test_a_sweep_follows_the_agent_to_a_branch_of_its_own",
)
def test_a_task_that_reconcile_closed_is_done_once_its_worktree_has_seen_it(place: Place) -> None:
    """What the run wrote is not this clone's; the claim's end is, and takes no deed of another."""
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    ok(place.cli("handoff", "--summary", "Fix it"))
    ok(place.cli("tick"))
    place.control.merge_pull(place.pull())
    ok(place.cli("reconcile", "--close"))
    assert json.loads(ok(place.cli("stats", "--json")))["tasks_done"] == 0
    ended = ok(place.cli("close"))
    assert "Issue #42 closed." in ended
    assert "release the lease" not in ended
    assert json.loads(ok(place.cli("stats", "--json")))["tasks_done"] == 1
