"""Tasks as GitHub shows them, in a sandbox of their own, and runs over them.

A task is told in hours ago; what is not told is that of a claim that is worked on and in step.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import structs

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Repository
from lifecycle.reconcile.finding import Finding, SweepReport
from lifecycle.reconcile.reconcile_run import reconcile
from lifecycle.reconcile.scope import Policy, Scope
from lifecycle.sandbox.control import Control, LoggedRequest
from lifecycle.sandbox.seed import (
    Seed,
    SeedBranch,
    SeedCommit,
    SeedField,
    SeedIssue,
    SeedItem,
    SeedMark,
    SeedOrganization,
    SeedProject,
    SeedPull,
    SeedRef,
    SeedRepository,
    SeedToken,
    SeedUser,
)
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from lifecycle.storage.state_file import MemoryCache
from tests.conftest import ManualClock, environment_of
from tests.graphql_texts import graphql_document
from tests.worlds import FIELDS, TOKEN, lease

HOME = "octo-org/hello-service"
AGENT = "octocat-1738000000"
ALL = Policy(closes=True, releases=True)
STATUSES = ["Todo", "In Progress", "Blocked", "In Review", "Done"]
COLUMNS = [
    SeedField("Status", "SINGLE_SELECT", options=[*STATUSES]) if one.name == "Status" else one
    for one in FIELDS
]


@dataclass(frozen=True)
class Given:
    """One task; all times are hours ago.

    Attributes:
        status: what its card says; None for a card without a Status.
        has_card: False for an issue that is not on the board.
        set_at: when the card's Status was set.
        leased_by: who holds the lease, "" for nobody.
        pull: "", "open", "draft", "merged" or "closed": the claim's own.
        body: of the pull request; `#N` is the issue.
        pushed: when the branch's tip was committed; None for no branch (a pull request has one).
    """

    number: int = 42
    repository: str = HOME
    is_open: bool = True
    closed: float = 1.0
    status: str | None = "In Progress"
    has_card: bool = True
    is_archived: bool = False
    agent: str = AGENT
    set_at: float = 9.9
    leased_by: str = AGENT
    taken: float = 10.0
    names_branch: bool = True
    pull: str = ""
    body: str = "Refs #N"
    opened: float = 8.0
    ended: float = 6.0
    pushed: float | None = None
    assignees: tuple[str, ...] = ("octocat",)
    labels: tuple[str, ...] = ()

    @property
    def branch(self) -> str:
        """The claim's branch."""
        return f"claude/task-{self.number}"

    @property
    def pull_number(self) -> int:
        """The number of its pull request, if it has one."""
        return 1000 + self.number


def seed_of(
    *tasks: Given,
    now: float,
    repositories: dict[str, dict[str, Any]] | None = None,
    **changes: Any,
) -> Seed:
    """The world of these tasks, with one board; `changes` are of the seed, or of its repositories.

    The board knows a column that the product does not: Blocked.
    """
    names = list(dict.fromkeys([HOME, *(one.repository for one in tasks)]))
    made = [
        structs.replace(
            _repository(name, [one for one in tasks if one.repository == name], now),
            **(repositories or {}).get(name, {}),
        )
        for name in names
    ]
    cards = [_item(one, now) for one in tasks if one.has_card]
    seed = Seed(
        users=[
            SeedUser("octocat"),
            SeedUser("maria", role="admin"),
            SeedUser("sam"),
            SeedUser("visitor", role="read"),
            SeedUser("robot[bot]", kind="bot"),
        ],
        organizations=[SeedOrganization("octo-org", members=["octocat", "maria", "sam"])],
        tokens=[SeedToken(TOKEN, "octocat", ["repo", "project"])],
        repositories=made,
        projects=[SeedProject(1, "Tasks", fields=COLUMNS, items=cards, repositories=[])],
    )
    return structs.replace(seed, **changes)


def _ago(now: float, hours: float) -> datetime:
    return datetime.fromtimestamp(int(now), UTC) - timedelta(hours=hours)


def _repository(name: str, tasks: list[Given], now: float) -> SeedRepository:
    pushed = [one for one in tasks if one.pull or one.pushed is not None]
    return SeedRepository(
        name,
        created_at=_ago(now, 2000),
        issues=[_issue(one, now) for one in tasks],
        branches=[
            SeedBranch(
                one.branch,
                [
                    SeedCommit(
                        "Work",
                        {f"work-{one.number}.txt": "done\n"},
                        "octocat",
                        _ago(now, one.opened if one.pushed is None else one.pushed),
                    )
                ],
            )
            for one in pushed
        ],
        refs=[_lease(one, now) for one in tasks if one.leased_by],
        pulls=[_pull(one, now) for one in tasks if one.pull],
    )


def _lease(task: Given, now: float) -> SeedRef:
    branch = task.branch if task.names_branch else ""
    return lease(task.number, _ago(now, task.taken), agent=task.leased_by, branch=branch)


def _issue(task: Given, now: float) -> SeedIssue:
    return SeedIssue(
        task.number,
        f"Task {task.number}",
        body="What is to be done.",
        author="maria",
        assignees=list(task.assignees),
        labels=list(task.labels),
        state="open" if task.is_open else "closed",
        created_at=_ago(now, 1000),
        updated_at=_ago(now, min(task.taken, task.closed if not task.is_open else task.taken)),
        assigned_at=_ago(now, task.taken),
        closed_at=None if task.is_open else _ago(now, task.closed),
    )


def _pull(task: Given, now: float) -> SeedPull:
    is_open = task.pull in ("open", "draft")
    ended = None if is_open else _ago(now, task.ended)
    return SeedPull(
        task.pull_number,
        f"Work on task {task.number}",
        head=task.branch,
        body=task.body.replace("#N", f"#{task.number}"),
        author="octocat",
        draft=task.pull == "draft",
        state="open" if is_open else "closed",
        merged_at=ended if task.pull == "merged" else None,
        merged_by="maria" if task.pull == "merged" else None,
        closed_at=ended,
        created_at=_ago(now, task.opened),
        updated_at=_ago(now, task.opened if is_open else task.ended),
    )


def _item(task: Given, now: float) -> SeedItem:
    given = {"Status": task.status, "Agent": task.agent}
    values: dict[str, str | int | float] = {name: one for name, one in given.items() if one}
    mark = SeedMark("octocat", _ago(now, task.set_at), _ago(now, task.set_at))
    return SeedItem(
        task.number,
        values=values,
        marks=dict.fromkeys(values, mark),
        archived=task.is_archived,
        repository=task.repository,
        created_at=_ago(now, 900),
        updated_at=_ago(now, task.set_at),
    )


_MUTATIONS = frozenset(
    name
    for path in sorted(Path(__file__).parents[2].joinpath("graphql").glob("*.graphql"))
    for name in re.findall(r"^mutation (\w+)", graphql_document(path.stem), re.MULTILINE)
)


def is_write(request: LoggedRequest) -> bool:
    """True if a request changes something on GitHub: over REST, GraphQL or git."""
    if request.kind == "git":
        return request.method == "POST" and request.path.endswith("/git-receive-pack")
    if request.kind == "graphql":
        return request.operation in _MUTATIONS
    return request.method != "GET"


@dataclass
class Ground:
    """A sandbox, an empty folder, and runs that look at the one from the other."""

    sandbox: Sandbox
    folder: Path
    clock: ManualClock = field(default_factory=ManualClock)

    @property
    def info(self) -> SandboxInfo:
        """Where the sandbox is."""
        return self.sandbox.info

    @property
    def control(self) -> Control:
        """What people do."""
        return Control(self.info.control_url)

    @property
    def environment(self) -> dict[str, str]:
        """What a run sees."""
        return environment_of(self.info, self.folder) | {
            "LIFECYCLE_REPOSITORY": HOME,
            "LIFECYCLE_PROJECT_OWNER": "octo-org",
        }

    @contextmanager
    def world(self, *, seconds: float | None = None, **environment: str) -> Iterator[WorktreeWorld]:
        """A world for one run; a variable that is empty is not set."""
        given = {**self.environment, **environment}
        given = {name: value for name, value in given.items() if value}
        world = WorktreeWorld(
            self.folder, given, self.clock, Deadline.after(self.clock, seconds), MemoryCache()
        )
        try:
            yield world
        finally:
            world.close()

    def run(
        self,
        policy: Policy | None = None,
        *,
        scope: Scope | None = None,
        dry_run: bool = False,
        seconds: float | None = None,
        progress: Callable[[str, int, int | None], None] | None = None,
        **environment: str,
    ) -> SweepReport:
        """One run; over the home repository unless told."""
        scope = scope or scope_of(HOME)
        with self.world(seconds=seconds, **environment) as world:
            return reconcile(world, scope, policy or Policy(), dry_run=dry_run, progress=progress)

    def written(self) -> list[LoggedRequest]:
        """What was written since the last `clear`."""
        return [one for one in self.control.requests() if is_write(one)]

    def clear(self) -> None:
        """Forget the request log."""
        self.control.clear_requests()

    def later(self, hours: float) -> None:
        """Time passes, here and on GitHub."""
        self.clock.sleep(hours * 3600)
        self.control.advance(hours * 3600)

    def state(self, repository: str = HOME) -> dict[str, Any]:
        """A repository and its cards, as GitHub has them."""
        return self.control.at(repository).world()

    def shows(self, number: int = 42, repository: str = HOME) -> Shows:
        """One task, as GitHub has it."""
        return shown(self.state(repository), number)


@dataclass(frozen=True)
class Shows:
    """What GitHub shows of one task in the end; what only one of two runs could know is left out.

    Attributes:
        comments: the texts.
        pulls: branch, state, draft and text of each pull request of the task's branch.
        lease: the lease's sha, "" for none.
    """

    is_open: bool
    assignees: tuple[str, ...]
    comments: tuple[str, ...]
    card: tuple[str | None, str | None] | None
    pulls: tuple[tuple[str, str, bool, str], ...]
    lease: str
    labels: tuple[str, ...] = ()


def shown(state: dict[str, Any], number: int) -> Shows:
    """One task of a whole state."""
    issue, card = state["issues"][str(number)], state["board"].get(str(number))
    values = card["values"] if card else {}
    return Shows(
        is_open=issue["state"] == "open",
        assignees=tuple(sorted(issue["assignees"])),
        comments=tuple(one["body"] for one in issue["comments"]),
        card=(values.get("Status"), values.get("Agent") or None) if card else None,
        pulls=tuple(
            (pull["head"], pull["state"], pull["draft"], pull["body"] or "")
            for _, pull in sorted(state["pulls"].items())
            if pull["head"].endswith(f"claude/task-{number}")
        ),
        lease=state["refs"].get(f"refs/agent-claims/{number}", ""),
        labels=tuple(sorted(issue["labels"])),
    )


def in_short(comment: str) -> str:
    """A comment without its wording: which of ours it is, and its marker without the moment."""
    lines = comment.rstrip().splitlines()
    begin = " ".join(lines[0].split()[:2])
    return f"{begin} … {re.sub(r' at=[0-9]+', '', lines[-1])}"


@contextmanager
def ground(
    folder: Path, *tasks: Given, now: float | None = None, **changes: Any
) -> Iterator[Ground]:
    """A sandbox with these tasks; `changes` are of the seed, `now` is when its hours end."""
    clock = ManualClock()
    folder.mkdir(parents=True, exist_ok=True)
    with Sandbox(seed_of(*tasks, now=now or clock.now(), **changes)) as running:
        yield Ground(running, folder, clock)


def scope_of(*names: str, **changes: Any) -> Scope:
    """These repositories."""
    pairs = (name.partition("/") for name in names)
    return Scope(tuple(Repository(owner, name) for owner, _, name in pairs), **changes)


def kinds(report: SweepReport) -> list[str]:
    """What was found, in the report's order."""
    return [one.kind for one in report.findings]


def states(report: SweepReport) -> dict[str, str]:
    """What became of each kind."""
    return {one.kind: one.state.value for one in report.findings}


def only(report: SweepReport) -> Finding:
    """The one finding."""
    (finding,) = report.findings
    return finding


def texts(report: SweepReport) -> str:
    """All that a report says."""
    return json.dumps(report.as_json(), ensure_ascii=False)


def numbered(tasks: Iterable[Given]) -> list[Given]:
    """The tasks with numbers from 1 on."""
    return [replace(one, number=number) for number, one in enumerate(tasks, 1)]


def process_environment(one: Ground, **environment: str) -> dict[str, str]:
    """The environment of a `lifecycle` process on this ground."""
    return {
        **one.environment,
        **environment,
        "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
    }
