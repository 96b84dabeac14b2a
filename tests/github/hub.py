"""What the tests of the adapters share: a clock, a cache, and the adapters on a sandbox."""

from __future__ import annotations

from typing import Any

from lifecycle.core.ports import Clock
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Repository
from lifecycle.github.board.board_client import GitHubBoard, ProjectRef
from lifecycle.github.board.status_fallback import Choice
from lifecycle.github.board.status_labels import StatusLabels
from lifecycle.github.client.client_common import Keeper, Sending, Token
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.client.rest import Calls, RestClient
from lifecycle.github.pulls.forge import GitHubForge
from lifecycle.github.sweep.sweeping import GitHubSurvey
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import SandboxInfo

TOKEN = "tell-nobody-0123456789"
REPOSITORY = Repository("octo-org", "hello-service")


class PatientClock:
    """A clock that moves only when somebody sleeps on it."""

    def __init__(self) -> None:
        self.moment = 1_700_000_000.0
        self.naps: list[float] = []

    def now(self) -> float:
        """The moment."""
        return self.moment

    def monotonic(self) -> float:
        """The same moment."""
        return self.moment

    def sleep(self, seconds: float) -> None:
        """Move time on."""
        self.naps.append(seconds)
        self.moment += seconds


class MemoryCache(dict[str, object]):
    """Fits ports.Cache."""

    def put(self, key: str, value: object) -> None:
        """Remember."""
        self[key] = value


def keeper(token: str, source: str = "GH_TOKEN") -> Keeper:
    """Gives this token at each use."""
    return Keeper(lambda: Token(token, source), PatientClock())


def sending(token: str, deadline: Deadline, *, source: str = "GH_TOKEN", **more: Any) -> Sending:
    """How clients send this token."""
    return Sending(keeper(token, source), deadline, **more)


def kept_to(project: ProjectRef | None, clock: Clock) -> Choice:
    """A choice that keeps to the project whatever GitHub says of it."""
    return Choice(project, "never", StatusLabels(), keeper(""), MemoryCache(), clock)


def forge_on(
    graph: GraphClient,
    rest: RestClient,
    project: ProjectRef | None,
    repository: Repository = REPOSITORY,
    board: GitHubBoard | None = None,
) -> GitHubForge:
    """A forge that knows no labels."""
    choice = kept_to(project, graph.deadline.clock)
    return GitHubForge(Calls(rest, repository), graph, choice, board)


def forge_over(rest: RestClient, repository: Repository = REPOSITORY) -> GitHubForge:
    """A forge of which only REST is asked."""
    graph = GraphClient("http://127.0.0.1", sending(TOKEN, rest.deadline))
    return forge_on(graph, rest, None, repository)


def survey_on(
    graph: GraphClient, rest: RestClient, project: ProjectRef | None = None
) -> GitHubSurvey:
    """A survey that knows no labels."""
    return GitHubSurvey(graph, rest, kept_to(project, graph.deadline.clock))


class Hub:
    """The adapters on a sandbox, and what a human may do there."""

    def __init__(self, info: SandboxInfo, deadline: Deadline) -> None:
        self.info = info
        self.control = Control(info.control_url)
        self.cache = MemoryCache()
        owner, name = info.repository.split("/")
        self.repository = Repository(owner, name)
        self.project = ProjectRef(info.project_owner or "", info.project_number or 0)
        self.graph = GraphClient(info.graphql_url, sending(info.token, deadline))
        self.rest = RestClient(info.api_url, sending(info.token, deadline))
        self.forge = forge_on(self.graph, self.rest, self.project, self.repository)
        self.board = GitHubBoard(self.project, self.graph, self.cache)

    def pushed(self, branch: str = "work") -> str:
        """A branch with one commit more than main; its head."""
        sha: str = self.control.push_commit(branch, {"work.txt": branch}, "work")
        return sha

    def asked(self) -> list[str]:
        """What was asked since the last call: GraphQL operations, and REST as METHOD PATH."""
        found = [one.operation or f"{one.method} {one.path}" for one in self.control.requests()]
        self.control.clear_requests()
        return [one.replace(f"/repos/{self.info.repository}", "") for one in found]

    def world(self) -> dict[str, Any]:
        """Everything in the sandbox."""
        return dict(self.control.world())
