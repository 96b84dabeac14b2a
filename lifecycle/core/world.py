"""Everything that one wake may use, as a Protocol: the composition root in `app/` builds it.

Systems take a `World` and import no adapter. Each part is built when it is first used, and raises NoToken
or BadConfig if there is no token, no repository, or no usable setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lifecycle.core import ports
    from lifecycle.core.plan import Action, Fact
    from lifecycle.core.timing import Deadline
    from lifecycle.core.tracker import Tracker
    from lifecycle.core.values.configured import Addresses, Settings
    from lifecycle.core.values.model import Observation, Repository


class JointWriter(Protocol):
    """Sends several writes in one request."""

    def send(
        self, actions: Sequence[Action], seen: Observation, texts: Mapping[str, str]
    ) -> tuple[Fact, ...]:
        """The fact of each action; raises if none was done.

        A Transient that `is_ambiguous` means that the result is unknown. `texts` are title and body of a
        pull request.
        """


class World(Protocol):
    """One worktree, or a repository without a local checkout, with the adapters for it."""

    root: Path
    environment: Mapping[str, str]
    clock: ports.Clock
    deadline: Deadline
    is_hook: bool
    """Set if a hook is answered: slow or fallible actions are then left to other callers."""
    is_unheard: bool
    """Set if the hook's client is not served: what its agent wrote does not count as a person's yes."""

    @property
    def cache(self) -> ports.Cache:
        """The cache for ids that seldom change."""

    @property
    def settings(self) -> Settings:
        """The settings."""

    @property
    def addresses(self) -> Addresses:
        """GitHub's addresses."""

    @property
    def git(self) -> ports.Git:
        """Git in this worktree."""

    @property
    def remote(self) -> str:
        """The remote for pushes of branches and leases; BadConfig if `git remote` does not list it."""

    @property
    def base_remote(self) -> str:
        """The remote of the repository of pull requests; the one for pushes if there is none."""

    @property
    def head(self) -> Repository:
        """The repository that branches are pushed to."""

    @property
    def base(self) -> Repository:
        """The repository of issues and pull requests."""

    @property
    def access(self) -> str:
        """A hash that differs for each token and configuration, and reveals nothing of them."""

    @property
    def forge(self) -> ports.Forge:
        """Issues, pull requests, checks."""

    def forge_of(self, repository: Repository) -> ports.Forge:
        """Issues, pull requests and checks of another repository."""

    @property
    def reports(self) -> ports.CheckReports:
        """The reports of failed checks."""

    @property
    def failures(self) -> ports.FailureFeedback:
        """Decides what follows from failed checks."""

    @property
    def merges(self) -> ports.Merges:
        """The actions on the merge of pull requests."""

    @property
    def reviews(self) -> ports.ReviewFeedback:
        """Reports what people and bots say about a pull request."""

    @property
    def survey(self) -> ports.Survey:
        """Many repositories at once."""

    @property
    def board(self) -> ports.Board | None:
        """The place of the Status: the board or labels; None if there is none."""

    @property
    def choice(self) -> ports.StatusPlace:
        """Decides whether labels take the place of the board."""

    @property
    def tracker(self) -> Tracker:
        """The tracker of this worktree's tasks."""

    @property
    def issues(self) -> Tracker:
        """GitHub's issues as a tracker, whatever the worktree's tracker is."""

    def inner_as(self, agent: str, name: str = "") -> Tracker | None:
        """The worktree's tracker, if it is not GitHub, in the name of this agent.

        `name` is the tracker's, "" for the configured one.
        """

    @property
    def spent(self) -> tuple[int, int]:
        """The number of requests so far, and the points that GraphQL's cost."""

    @property
    def server_time(self) -> float | None:
        """GitHub's clock at its last answer, None if it is not known."""

    @property
    def cards(self) -> ports.Board:
        """The writer of an issue's Status; Rejected if there is no place for it."""

    @property
    def joint(self) -> JointWriter:
        """Sends several writes in one request."""

    def public(self, text: str, name: str) -> str:
        """A text for others to read, without secrets; `name` is noted if a secret was removed."""

    def with_run(self, body: str, branch: str) -> str:
        """A pull request's text with the results of the worktree's run on this branch, if there is one."""

    def told_withheld(self) -> str:
        """The sentence about texts from which a secret was removed, once; "" if there are none."""

    def refuse_strange_remote(self) -> None:
        """Refuse a remote that the user has not set up; BadConfig."""

    def refuse_renamed(self, name: str, outcome: str) -> None:
        """Refuse a repository that was renamed on GitHub, with the outcome. Raises Moved."""

    def refuse_tracked(self) -> None:
        """Refuse to continue if git tracks the claim or anything in `.lifecycle/`; Refused."""

    def refuse_untrusted(self, commands: Sequence[str]) -> None:
        """Refuse to run commands of a project's file without the user's yes; Refused."""

    def beside(self, root: Path, environment: Mapping[str, str], cache: ports.Cache) -> World:
        """The world of another worktree, with this one's time; `cache` is the other worktree's."""

    def elsewhere(self, repository: Repository, url: str, place: Path) -> World:
        """The world of a repository without a local checkout, with this one's clients and settings.

        Args:
            repository: the repository of issues and pull requests.
            url: its page; git finds it below `.git`.
            place: an empty folder, which becomes a bare repository at the first push.
        """

    def close(self) -> None:
        """Close the open connections; the next request opens others."""
