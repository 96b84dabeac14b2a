"""What one wake may touch, as a Protocol: the composition root in `app/` builds it.

Systems take a `World` and import no adapter. Each part is built when it is first touched, and touching
one raises NoToken or BadConfig where there is no token, no repository, or no usable setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lifecycle.core import ports
    from lifecycle.core.errors import LifecycleError
    from lifecycle.core.plan import Action, Fact
    from lifecycle.core.timing import Deadline
    from lifecycle.core.tracker import Tracker
    from lifecycle.core.values.configured import Addresses, Settings
    from lifecycle.core.values.model import BoardItem, Observation, Repository


class CardWriter(Protocol):
    """Writes the Status of issues, wherever it is kept."""

    def write(
        self,
        issue: int,
        item_id: str,
        *,
        status: str | None,
        agent: str | None,
        standing: str | None = None,
    ) -> BoardItem:
        """Write it, and return what is there now."""

    def is_ready(self, item_id: str) -> bool:
        """True if a card can be written with nothing read before it and nothing written behind it."""


class JointWriter(Protocol):
    """Writes several things in one request."""

    def send(
        self, actions: Sequence[Action], seen: Observation, texts: Mapping[str, str]
    ) -> tuple[tuple[Fact, ...], LifecycleError | None]:
        """What came about, up to the first that did not, and why that did not; raises if nothing did.

        Transient that `is_ambiguous`: nobody knows. `texts` are title and body of a pull request.
        """


class World(Protocol):
    """One worktree, or one repository that nobody checked out, and what can be asked of it."""

    root: Path
    environment: Mapping[str, str]
    clock: ports.Clock
    deadline: Deadline
    is_hook: bool
    """Whoever answers a hook sets it: what is slow or may fail is left to others then."""
    is_unheard: bool
    """That hook is one of a client that is not served: what its agent wrote is no person's yes."""

    @property
    def cache(self) -> ports.Cache:
        """Where ids are kept that seldom change."""

    @property
    def settings(self) -> Settings:
        """The settings."""

    @property
    def addresses(self) -> Addresses:
        """Where GitHub answers."""

    @property
    def git(self) -> ports.Git:
        """Git in this worktree."""

    @property
    def remote(self) -> str:
        """The remote that branches and leases are pushed to; BadConfig if `git remote` lists none such."""

    @property
    def base_remote(self) -> str:
        """The remote that has the repository of pull requests; the one that is pushed to if none has."""

    @property
    def head(self) -> Repository:
        """The repository that branches are pushed to."""

    @property
    def base(self) -> Repository:
        """The repository of issues and pull requests."""

    @property
    def access(self) -> str:
        """A word that differs for each token and configuration of one, and says nothing of either."""

    @property
    def forge(self) -> ports.Forge:
        """Issues, pull requests, checks."""

    def forge_of(self, repository: Repository) -> ports.Forge:
        """Issues, pull requests and checks of another repository."""

    @property
    def reports(self) -> ports.CheckReports:
        """What failed checks say of themselves."""

    @property
    def failures(self) -> ports.FailureFeedback:
        """What becomes of failed checks."""

    @property
    def merges(self) -> ports.Merges:
        """What can be done about the merge of pull requests."""

    @property
    def reviews(self) -> ports.ReviewFeedback:
        """What people and bots say of a pull request."""

    @property
    def survey(self) -> ports.Survey:
        """Many repositories at once."""

    @property
    def board(self) -> ports.Board | None:
        """Where the Status is kept, or None if nowhere."""

    @property
    def choice(self) -> ports.StatusPlace:
        """Whether labels take the place of the board."""

    @property
    def tracker(self) -> Tracker:
        """What this worktree's tasks are kept in."""

    @property
    def issues(self) -> Tracker:
        """GitHub's issues, whatever its tasks are kept in."""

    @property
    def inner(self) -> Tracker | None:
        """The tracker of the worktree, if it is another than GitHub."""

    def inner_as(self, agent: str, name: str = "") -> Tracker | None:
        """`inner` in the name of this agent; `name` is the tracker's, "" for the configured one."""

    @property
    def spent(self) -> tuple[int, int]:
        """How many requests were made so far, and how many points GraphQL's cost."""

    @property
    def server_time(self) -> float | None:
        """GitHub's clock at the last answer to GraphQL, None if it is not known."""

    @property
    def cards(self) -> CardWriter:
        """Where the Status of an issue is written; Rejected if it is kept nowhere."""

    @property
    def joint(self) -> JointWriter:
        """Several writes in one request."""

    def public(self, text: str, name: str) -> str:
        """A text that is to be read by others, without secrets; `name` is noted if it held one."""

    def with_run(self, body: str, branch: str) -> str:
        """A pull request's text with what the worktree's run on this branch came to, if one is there."""

    def told_withheld(self) -> str:
        """The sentence about texts that held a secret, once; "" if none did."""

    def renew_token(self) -> None:
        """Begin anew with GitHub if the token is about to end, or GitHub does not accept it."""

    def refuse_strange_remote(self) -> None:
        """Refuse a remote that the user has not set up; BadConfig."""

    def refuse_renamed(self, name: str, what: str) -> None:
        """Refuse a repository that has another name on GitHub now; `what` was not done. Moved."""

    def renamed(self, name: str, outcome: str) -> str:
        """The sentence that the repository has another name now, with what follows; "" if it has none."""

    def refuse_tracked(self) -> None:
        """Refuse to go on where the claim or anything in `.lifecycle/` is tracked by git; Refused."""

    def refuse_untrusted(self, commands: Sequence[str]) -> None:
        """Refuse to run commands of a project's file that the user has not said yes to; Refused."""

    def beside(self, root: Path, environment: Mapping[str, str], cache: ports.Cache) -> World:
        """The world of another worktree, with this one's time; `cache` is that worktree's."""

    def elsewhere(self, repository: Repository, url: str, place: Path) -> World:
        """The world of a repository that nobody checked out here, with this one's clients and settings.

        Args:
            repository: whose issues and pull requests.
            url: its page; git finds it below `.git`.
            place: an empty folder, which becomes a bare repository when git is first asked to push.
        """

    def close(self) -> None:
        """Close the connections that were opened; the next request opens others."""
