"""What the paths cost where GitHub is 100 ms away, git's requests too: beside the floor and `gh`.

Cold is a worktree whose cached ids of the board are gone, warm is the next one. The floor is what the
path cannot do without: one request for whatever has to be read or written together, sent one after the
other on one connection by a Python that imports no more than that takes. Floor, ours and `gh` are
measured in the same run, and `gh` (with git for the lease) leaves the same behind as ours.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlsplit

from lifecycle.api import Worktree
from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.settings.resources import hook_script
from lifecycle.storage.store import CLAIM_FILE
from tests.bench.paths import environment
from tests.bench.timing import age, seconds_of

LATENCY = 0.1
"""Seconds to GitHub and back."""

STOP, POLL, SYNC, PULL, DONE = (
    "stop, unchanged", "idle poll", "status sync", "pull request", "done",
)  # fmt: skip


FLOORS = {STOP: 0, POLL: 1, SYNC: 1, PULL: 2, DONE: 3}
"""The least requests of each path.

The idle poll is on-idle's, which asks where no waiter runs: a waiter polls without a start.
Opening looks, and writes what it saw was wanted; closing looks, writes, and ends the lease, which is
somebody else's task from then on: so it goes behind what has to be true before.
"""
MOST = {
    STOP: (0, 0),
    POLL: (1, 1),
    SYNC: (2, 1),
    PULL: (2, 2),
    DONE: (3, 3),
}
"""Requests to the API that each path may take, cold and warm."""
MOST_GIT = {STOP: 0, POLL: 0, SYNC: 0, PULL: 0, DONE: 0}
"""Requests of git's: where the lease is ended by a push, that asks who it is, what there is, and sends."""

_FLOOR = """
import http.client, json, ssl, sys
port, token, requests = sys.argv[1:]
line = http.client.HTTPConnection("127.0.0.1", int(port))
headers = {"Authorization": "Bearer " + token, "User-Agent": "floor"}
for _ in range(int(requests)):
    line.request("POST", "/graphql", json.dumps({"query": "{ viewer { login } }"}), headers)
    json.loads(line.getresponse().read())
"""
"""Requests and nothing else: what a Python takes that knows what to ask and does nothing with it."""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of something came to; `git` are the requests that git made."""

    seconds: float
    requests: int
    points: int
    git: int = 0


@dataclass(frozen=True, slots=True)
class Row:
    """A path: its floor, what it costs cold and warm, and what `gh` takes for the same, if it is there."""

    name: str
    floor: Cost
    cold: Cost
    warm: Cost
    gh: Cost | None


@dataclass(slots=True)
class _Task:
    """One task on a GitHub of its own that is 100 ms away."""

    info: SandboxInfo
    root: Path
    samples: dict[str, Cost] = field(default_factory=dict)

    @property
    def control(self) -> Control:
        return Control(self.info.control_url)

    @property
    def environment(self) -> dict[str, str]:
        return environment(
            self.root,
            GITHUB_API_URL=self.info.api_url,
            GITHUB_GRAPHQL_URL=self.info.graphql_url,
            GH_TOKEN=self.info.token,
            LIFECYCLE_PROJECT_NUMBER=str(self.info.project_number),
        )

    def edit(self, **changes: object) -> None:
        """Edit the claim as an agent does."""
        path = self.root / CLAIM_FILE
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))

    def forget(self) -> None:
        """Lose the ids of the board, as a fresh worktree has none."""
        path = self.root / ".lifecycle" / "state.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), "cache": {}}))

    def measured(self, run: Callable[[], float]) -> Cost:
        """Run something; its seconds, and what GitHub counted."""
        self.control.clear_requests()
        self.control.set_latency(LATENCY, git=LATENCY)
        seconds = run()
        self.control.set_latency(0)
        every = self.control.requests()
        asked = [one for one in every if one.kind != "git"]
        points = sum(one.points or 0 for one in asked)
        return Cost(seconds, len(asked), points, len(every) - len(asked))

    def floor(self, requests: int) -> Cost:
        """So many requests and nothing else; without one, the start of a process and nothing else."""
        port = str(urlsplit(self.info.api_url).port)
        asks = (sys.executable, "-I", "-c", _FLOOR, port, self.info.token, str(requests))
        command = asks if requests else (shutil.which("true") or "/bin/true",)
        return self.measured(lambda: seconds_of(command, self.environment))

    def hook(self, name: str, *codes: int) -> Cost:
        """One run of a hook."""
        command = (str(hook_script(name)),)
        return self.measured(lambda: seconds_of(command, self.environment, *codes))


def remote_rows(folder: Path, cycles: int) -> list[Row]:
    """Measure every path, cold and warm, each cycle on a fresh GitHub; and `gh` at the same jobs."""
    floor: list[dict[str, Cost]] = []
    cold: list[dict[str, Cost]] = []
    warm: list[dict[str, Cost]] = []
    gh: list[dict[str, Cost]] = []
    for n in range(cycles):  # by turns, so that a slow moment of the machine hits all of them alike
        cold.append(_cycle(folder / f"cold-{n}", floor, is_cold=True))
        warm.append(_cycle(folder / f"warm-{n}", floor, is_cold=False))
        if shutil.which("gh"):
            gh.append(_gh(folder / f"gh-{n}"))
    return [
        Row(
            name,
            _middle([one[name] for one in floor]),
            _middle([one[name] for one in cold]),
            _middle([one[name] for one in warm]),
            _middle([one[name] for one in gh]) if gh else None,
        )
        for name in FLOORS
    ]


def _middle(costs: list[Cost]) -> Cost:
    """The median time, and the most requests and points."""
    return Cost(
        median(one.seconds for one in costs),
        max(one.requests for one in costs),
        max(one.points for one in costs),
        max(one.git for one in costs),
    )


def _cycle(root: Path, floor: list[dict[str, Cost]], *, is_cold: bool) -> dict[str, Cost]:
    """One task from claim to close; the floor of each path is measured beside it."""
    with Sandbox() as sandbox:
        task = _Task(sandbox.info, root)
        floor.append({name: task.floor(requests) for name, requests in FLOORS.items()})
        subprocess.run(["git", "clone", "--quiet", task.info.git_url, root], check=True)
        settings = root / ".lifecycle.toml"
        settings.write_text("[checks]\npoll_seconds = 0.001\n")
        age(settings)
        tree = Worktree(root, environment=task.environment)
        tree.claim(42)
        task.control.plan_checks(PlannedCheck(name="test", status="in_progress"))
        _commit(task)
        begin: Callable[[], Any] = task.forget if is_cold else bool

        begin()
        task.edit(status="Todo")
        task.samples[SYNC] = task.hook("on-stop")
        _rest(task)
        task.samples[STOP] = task.hook("on-stop")
        begin()
        tree.hand_off("Fix race condition")
        begin()
        task.samples[PULL] = task.hook("on-stop")
        for _ in range(2):  # a poll is one of many: the server has met its document before
            task.hook("on-idle")
        begin()
        task.samples[POLL] = task.hook("on-idle")
        pulls = task.control.world()["pulls"].items()
        task.control.merge_pull(next(int(n) for n, pull in pulls if pull["state"] == "open"))
        seconds_of((str(hook_script("on-idle")),), task.environment, 2)
        begin()
        task.edit(phase="done")
        task.samples[DONE] = task.hook("on-stop")
        if task.control.world()["issues"]["42"]["state"] != "closed":
            raise RuntimeError("the task did not end closed: its times say nothing")
        return task.samples


def _rest(task: _Task) -> None:
    """Wait for the stamp: it is set once nobody can write any more into a claim that was replaced."""
    age(task.root / CLAIM_FILE)
    for _ in range(40):
        seconds_of((str(hook_script("on-stop")),), task.environment)
        if (task.root / ".lifecycle" / "stamp").exists():
            return
        time.sleep(0.1)
    raise RuntimeError("no look left a stamp: the quiet path cannot be measured")


def _commit(task: _Task) -> None:
    (task.root / "work.txt").write_text("work\n")
    git = ["git", "-c", "user.name=Bench", "-c", "user.email=bench@example.com"]
    for words in (["add", "work.txt"], ["commit", "--quiet", "-m", "Work"]):
        subprocess.run([*git, *words], cwd=task.root, env=task.environment, check=True)


FIND_CARD = """query($number: Int!) { repository(owner: "octo-org", name: "hello-service") {
  issue(number: $number) { projectItems(first: 10) { nodes { id project { id
    field(name: "Status") { ... on ProjectV2SingleSelectField { id options { id name } } } } } } } } }"""
MOVE_CARD = """mutation($project: ID!, $item: ID!, $field: ID!, $option: String!) {
  updateProjectV2ItemFieldValue(input: {projectId: $project, itemId: $item, fieldId: $field,
    value: {singleSelectOptionId: $option}}) { projectV2Item { id } } }"""


@dataclass(slots=True)
class _Gh:
    """`gh` in a clone, as a script around it would call it."""

    task: _Task
    seen: Mapping[str, str]

    def cost(self, *calls: tuple[str, ...]) -> Cost:
        """A few calls, one after the other."""

        def run() -> float:
            return sum(self._seconds(call) for call in calls)

        return self.task.measured(run)

    def _seconds(self, call: tuple[str, ...]) -> float:
        program = shutil.which("gh") or "gh"
        command = ("/bin/sh", "-c", 'cd "$0" && exec "$@"', str(self.task.root), program, *call)
        return seconds_of(command, self.seen)

    def move(self, number: int, status: str) -> Cost:
        """Find the card, then set its status: two calls, and the first says what the second needs."""
        found = json.loads(
            subprocess.run(
                ["gh", "api", "graphql", "-f", f"query={FIND_CARD}", "-F", f"number={number}"],
                cwd=self.task.root, env=self.seen, check=True, capture_output=True,
            ).stdout
        )  # fmt: skip
        (card,) = found["data"]["repository"]["issue"]["projectItems"]["nodes"]
        options = {one["name"]: one["id"] for one in card["project"]["field"]["options"]}
        ids = {
            "project": card["project"]["id"], "item": card["id"],
            "field": card["project"]["field"]["id"], "option": options[status],
        }  # fmt: skip
        given = [word for name, value in ids.items() for word in ("-f", f"{name}={value}")]
        return self.cost(
            ("api", "graphql", "-f", f"query={FIND_CARD}", "-F", f"number={number}"),
            ("api", "graphql", "-f", f"query={MOVE_CARD}", *given),
        )


def _sum(*costs: Cost) -> Cost:
    return Cost(
        sum(one.seconds for one in costs),
        sum(one.requests for one in costs),
        sum(one.points for one in costs),
        sum(one.git for one in costs),
    )


def _gh(root: Path) -> dict[str, Cost]:
    """The same jobs by `gh`: what a script around it does at each of these moments."""
    git = shutil.which("git") or "git"
    with Sandbox() as sandbox:
        task = _Task(sandbox.info, root)
        subprocess.run(["git", "clone", "--quiet", task.info.git_url, root], check=True)
        task.control.push_commit("work", {"work.txt": "work\n"}, "Work", by="octocat")
        url = f"http://github.localhost/{task.info.repository}.git"
        for words in (
            ["fetch", "-q"],
            ["checkout", "-q", "work"],
            ["remote", "set-url", "origin", url],
        ):
            subprocess.run(["git", *words], cwd=root, check=True)
        gh = _Gh(
            task,
            environment(
                root,
                GH_HOST="github.localhost",
                GH_TOKEN=task.info.token,
                GH_CONFIG_DIR=str(root / ".gh"),
                GH_PROMPT_DISABLED="1",
                GH_NO_UPDATE_NOTIFIER="1",
                **dict.fromkeys(("HTTP_PROXY", "http_proxy"), task.info.api_url),
            ),
        )
        found = {SYNC: gh.move(42, "In Progress")}
        create = ("pr", "create", "--head", "work", "--title", "Work", "--body", "Refs #42")
        found[PULL] = _sum(gh.cost(create), gh.move(42, "In Review"))
        task.control.set_check("work", "test", status="in_progress")
        view = ("pr", "view", "work", "--json", "number,state,mergedAt,mergeable,headRefOid")
        found[STOP] = gh.cost(view)
        rollup = "number,state,mergeable,reviewDecision,latestReviews,statusCheckRollup"
        polls = [gh.cost(("pr", "view", "work", "--json", rollup)) for _ in range(2)]
        found[POLL] = polls[-1]
        closing = gh.cost(("issue", "close", "42", "--comment", "Done."))
        lease = "refs/agent-claims/42"
        subprocess.run(
            ["git", "push", "-q", task.info.git_url, f"work:{lease}"], cwd=root, check=True
        )
        push = (git, "-C", str(root), "push", "--quiet", task.info.git_url, f":{lease}")
        ended = task.measured(lambda: seconds_of(push, task.environment))
        found[DONE] = _sum(closing, gh.move(42, "Done"), ended)
        if lease in task.control.world()["refs"]:
            raise RuntimeError("git did not end the lease: its time says nothing")
        if task.control.world()["issues"]["42"]["state"] != "closed":
            raise RuntimeError("gh did not close the issue: its times say nothing")
        return found
