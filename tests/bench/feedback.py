"""What each path of feedback asks of GitHub: a packet, reviews, an answer, the merge, a wait."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox
from lifecycle.sandbox.wire.links import PREFIX as STORAGE
from tests.bench.paths import environment

JOBS, REMARKS = 3, 12
PACKET = f"the packet of {JOBS} failed jobs"
AGAIN = "the same packet again"
MERGE = "what keeps the merge back"
REVIEWS = f"reviews, {REMARKS} remarks"
REPLY = "an answer to a thread"
SAME = "the same answer again"
WAIT = "a wait that ends at once"
MOST = {PACKET: 1 + JOBS, AGAIN: 1, MERGE: 1, REVIEWS: 1, REPLY: 3, SAME: 1, WAIT: 3}
"""Requests that each path may take. What a log is stored in is not GitHub's API, and not counted."""


@dataclass(frozen=True, slots=True)
class AskedPath:
    """A path, and how many requests and points it took."""

    name: str
    requests: int
    points: int


@dataclass(frozen=True, slots=True)
class _Clone:
    """A clone, and its GitHub."""

    root: Path
    seen: Mapping[str, str]
    control: Control

    def run(self, *words: str, code: int = 0) -> str:
        """What a command prints."""
        command = [sys.executable, "-m", "lifecycle", *words]
        done = subprocess.run(
            command, cwd=self.root, env=self.seen, capture_output=True, text=True, check=False
        )
        if done.returncode != code:
            raise RuntimeError(f"{words} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def asked(self, name: str, *words: str, code: int = 0) -> AskedPath:
        """What a command asks of GitHub."""
        self.control.clear_requests()
        self.run(*words, code=code)
        requests = self.control.requests()
        found = [r for r in requests if r.kind != "git" and not r.path.startswith(STORAGE)]
        return AskedPath(name, len(found), sum(one.points or 0 for one in found))


def feedback_rows(folder: Path) -> list[AskedPath]:
    """Each path once, by its command, in a clone of a GitHub of its own."""
    with Sandbox() as sandbox:
        info, root = sandbox.info, folder / "feedback"
        subprocess.run(["git", "clone", "--quiet", info.git_url, root], check=True)
        seen = environment(
            root,
            GITHUB_API_URL=info.api_url,
            GITHUB_GRAPHQL_URL=info.graphql_url,
            GH_TOKEN=info.token,
        )
        clone = _Clone(root, seen, Control(info.control_url))
        return _rows(clone, _pull(clone.control))


def _pull(control: Control) -> str:
    """The number of a pull request with failed checks and remarks."""
    lines = "".join(f"line {n}\n" for n in range(REMARKS))
    control.push_commit("work", {"lines.txt": lines}, "Work", start="main", by="octocat")
    number = control.open_pull("work", "Work", by="octocat")
    for job in range(JOBS):
        log = f"FAILED test_shop.py::test_{job} - assert {job}\n##[error]Exit code 1.\n"
        control.set_check(number, f"test-{job}", conclusion="failure", log=log)
    said = [{"path": "lines.txt", "line": n + 1, "body": f"Why {n}?"} for n in range(REMARKS)]
    control.review(number, "COMMENTED", comments=said)
    return str(number)


def _rows(clone: _Clone, number: str) -> list[AskedPath]:
    (clone.root / "answer.md").write_text("Because of the lock.\n")
    thread = json.loads(clone.run("feedback", "reviews", number, "--json"))["unanswered"][0]
    reply = ("feedback", "reply", thread, "--text-file", "answer.md")
    return [
        clone.asked(PACKET, "feedback", number),
        clone.asked(AGAIN, "feedback", number),
        clone.asked(MERGE, "feedback", "merge", number),
        clone.asked(REVIEWS, "feedback", "reviews", number),
        clone.asked(REPLY, *reply),
        clone.asked(SAME, *reply),
        clone.asked(WAIT, "wait", number, "--for", "ci", code=10),
    ]


def feedback_table(rows: Sequence[AskedPath]) -> Table:
    """Requests and points of each path."""
    table = Table(title="what feedback asks of GitHub", title_justify="left")
    table.add_column("path")
    for name in ("requests", "at most", "points"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(row.name, str(row.requests), str(MOST[row.name]), str(row.points))
    return table


def judge_feedback(rows: Sequence[AskedPath]) -> list[str]:
    """Which path asks more than it may, in words; empty if all is well."""
    return [
        f"{row.name} takes {row.requests} requests, and may take {MOST[row.name]}"
        for row in rows
        if row.requests > MOST[row.name]
    ]
