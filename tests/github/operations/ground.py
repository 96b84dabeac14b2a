"""What the tests of the operations share: a sandbox, the operations on it, and counting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, TypeVar

from msgspec.structs import replace

from lifecycle.api import Ensured, GitHub
from lifecycle.sandbox.control import Control, LoggedRequest
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.seed import Seed, SeedField, SeedToken, SeedUser, default_seed
from lifecycle.sandbox.seed.form import SeedIteration
from lifecycle.sandbox.server import Sandbox, SandboxInfo
from tests.asserted import check

T = TypeVar("T")
READS = {"FindItem", "DiscoverBoard", "Viewer"}
MARIA = "maria-token"
VISITOR = "visitor-token"
APP = "ghs_app-token"
PERMISSIONS = ["checks:write", "contents:write", "issues:write", "pull_requests:write"]


@cache
def seed() -> Seed:
    """The built-in world with more tokens, and a board with a field of every kind."""
    given = default_seed()
    (board,) = given.projects
    fields = [
        *board.fields,
        SeedField(name="Points", type="NUMBER"),
        SeedField(name="Due", type="DATE"),
        SeedField(
            name="Sprint",
            type="ITERATION",
            iterations=[
                SeedIteration(title="Sprint 1", start="2026-01-05", duration=14, completed=True),
                SeedIteration(title="Sprint 2", start="2026-01-19", duration=14),
            ],
        ),
    ]
    return replace(
        given,
        users=[*given.users, SeedUser(login="checker[bot]", kind="bot", role="write")],
        tokens=[
            *given.tokens,
            SeedToken(token=MARIA, user="maria", scopes=["project", "repo"]),
            SeedToken(token=VISITOR, user="visitor", scopes=["project", "repo"]),
            SeedToken(token=APP, user="checker[bot]", scopes=PERMISSIONS, kind="app"),
        ],
        projects=[replace(board, fields=fields)],
    )


class PatientClock:
    """A clock on which sleeping takes no time."""

    def __init__(self) -> None:
        self.moment = 1_700_000_000.0

    def now(self) -> float:
        """The moment."""
        return self.moment

    def monotonic(self) -> float:
        """The same moment."""
        return self.moment

    def sleep(self, seconds: float) -> None:
        """Move time on."""
        self.moment += seconds


@dataclass
class Ground:
    """A sandbox and the operations on its repository, as one person would use them."""

    info: SandboxInfo
    hub: GitHub
    control: Control = field(init=False)

    def __post_init__(self) -> None:
        self.control = Control(self.info.control_url)
        self.control.clear_requests()

    def asked(self) -> list[str]:
        """What was asked since the last call: GraphQL operations, and REST as METHOD path."""
        found = [_named(one, self.info.repository) for one in self.control.requests()]
        self.control.clear_requests()
        return found

    def written(self) -> list[LoggedRequest]:
        """The writes since the log was last cleared."""
        return [one for one in self.control.requests() if is_write(one)]

    def world(self) -> dict[str, Any]:
        """Everything in the sandbox."""
        return dict(self.control.world())

    def pushed(self, branch: str = "work", *, start: str = "") -> str:
        """A branch with a commit more than main; its head."""
        sha: str = self.control.push_commit(
            branch, {f"{branch}.txt": "work\n"}, "Work", start=start
        )
        return sha

    @check
    def twice(self, operation: Callable[[], Ensured[T]]) -> tuple[T, list[str], list[str]]:
        """Do it, and do it again: what is true, and what each asked. The second changes nothing."""
        self.asked()
        first = operation()
        assert first.changed, first
        asked, before = self.asked(), still(self.world())
        self.control.clear_requests()
        second = operation()
        assert not second.changed, second
        assert self.written() == []
        assert still(self.world()) == before
        return second.now, asked, self.asked()

    def unanswered(
        self, when: Literal["before", "after"], method: str | None, path: str, **more: Any
    ) -> None:
        """The next such request gets a 502, before or after it is done."""
        self.control.add_fault(
            Fault("status", when=when, method=method, path=path, status=502, **more)
        )

    @contextmanager
    def other(self, token: str) -> Iterator[GitHub]:
        """The operations with another token."""
        with hub_on(self.info, token) as hub:
            yield hub


def still(world: dict[str, Any]) -> dict[str, Any]:
    """A world without what GitHub reckons out when somebody looks: whether a merge would conflict."""
    pulls = {
        number: {key: value for key, value in pull.items() if not key.startswith("mergeable")}
        for number, pull in world["pulls"].items()
    }
    refs = {name: sha for name, sha in world["refs"].items() if not name.endswith("/merge")}
    return {**world, "pulls": pulls, "refs": refs}


def is_write(request: LoggedRequest) -> bool:
    """True if a request changes something: not a read of REST, not a query."""
    if request.kind == "graphql":
        return request.operation not in READS
    return request.kind == "rest" and request.method != "GET"


def _named(one: LoggedRequest, repository: str) -> str:
    path = one.path.replace(f"/repos/{repository}", "") or "/"
    return one.operation or f"{one.method} {path}"


@contextmanager
def ground(token: str | None = None) -> Iterator[Ground]:
    """A fresh sandbox, and the operations with one of its tokens."""
    with Sandbox(seed()) as running, hub_on(running.info, token) as hub:
        yield Ground(running.info, hub)


def hub_on(info: SandboxInfo, token: str | None = None) -> GitHub:
    """The operations on a sandbox's repository."""
    return GitHub(
        info.repository,
        token=token or info.token,
        api_url=info.api_url,
        graphql_url=info.graphql_url,
        environment={},
        clock=PatientClock(),
    )
