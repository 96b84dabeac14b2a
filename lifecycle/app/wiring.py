"""The composition root: one worktree's world, each part built when it is first touched."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lifecycle.core.errors import BadConfig, LifecycleError, Moved, Refused, Rejected
from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.messages import messages
from lifecycle.core.redact import redact, visible
from lifecycle.core.values import configured
from lifecycle.git import process, tracked_files
from lifecycle.settings import config, resources, user_folder
from lifecycle.storage import log, workflow_marks
from lifecycle.storage.store import clone_of

if TYPE_CHECKING:
    from lifecycle.core import ports
    from lifecycle.core.timing import Deadline
    from lifecycle.core.tracker import Tracker
    from lifecycle.core.values.model import Repository
    from lifecycle.core.values.shapes import CardWords
    from lifecycle.core.world import JointWriter
    from lifecycle.feedback.waiting.shared_looks import SharedLooks
    from lifecycle.github.board.board_client import ProjectRef
    from lifecycle.github.board.status_fallback import Choice, EitherBoard
    from lifecycle.github.client.client_common import Keeper, Token
    from lifecycle.github.client.rest import Calls
    from lifecycle.github.clients import GitHubClients


sentence: Final = resources.Sentences("app/refusals.toml")


@dataclass(eq=False)
class WorktreeWorld:
    """What one wake may touch. Building it costs nothing; touching a part builds that part.

    Attributes:
        root: the worktree root.
        environment: where settings and the token are read from.
        clock: time.
        deadline: when everything has to be over.
        cache: where ids are kept that seldom change.
        is_hook: set while a hook is answered: then slow or risky work is left to others.
        is_unheard: set if that hook belongs to a client that is not served.
        by_library: what is sent through a library, in processes so long-lived that its start is cheap.
        withheld: the texts from which a secret was removed on their way to GitHub, until somebody has
            been told (`told_withheld`).

    Settings that were read already may be given; else they are read when first touched.
    """

    root: Path
    environment: Mapping[str, str] = field(repr=False)
    clock: ports.Clock
    deadline: Deadline
    cache: ports.Cache
    _given_settings: configured.Settings | None = None
    is_hook: bool = False
    is_unheard: bool = False
    by_library: Collection[str] = ()
    withheld: list[str] = field(default_factory=list)

    def close(self) -> None:
        """Close the connections that were opened; the next request opens others."""
        if "clients" in self.__dict__:
            self.clients.close()

    @property
    def asked(self) -> Mapping[str, object] | None:
        """The JSON of the first document that GitHub was asked with; None if none was."""
        return self.clients.graph.asked if "clients" in self.__dict__ else None

    def public(self, text: str, name: str) -> str:
        """A text for others, without secrets; `name` is noted if the text had one."""
        clean = redact(text, self.environment)
        if clean != text and name not in self.withheld:
            self.withheld.append(name)
        return clean

    def with_run(self, body: str, branch: str) -> str:
        """A pull request's text with the outcome of the worktree's run, if that can be read."""
        if not (self.root / workflow_marks.RUN_FILE).is_file():
            return body
        from lifecycle.run.finish.completion import with_run

        with log.Surviving(self.root, "the pull request is opened without the run", LifecycleError):
            return with_run(self, body, branch)
        return body

    def told_withheld(self) -> str:
        """The sentence about the `withheld` texts, which count as told then; "" if there are none."""
        names = tuple(self.withheld)
        self.withheld.clear()
        return messages.withheld(names) if names else ""

    @cached_property
    def settings(self) -> configured.Settings:
        """The settings; raises BadConfig."""
        return self._given_settings or config.load(self.root, self.environment)

    @cached_property
    def git(self) -> process.GitRepository:
        """Git in this worktree."""
        from lifecycle.claim.decisions.pull.opening import TEMPLATES

        return process.GitRepository(self.root, self.deadline, self.environment, files=TEMPLATES)

    @cached_property
    def remote(self) -> str:
        """The remote that branches and leases are pushed to.

        A project's file may only choose a remote that the user has set up: git takes any other word for a
        path or a URL, and a path may be a repository that came with the tree, including hooks.

        Raises:
            BadConfig: `git remote` does not list the remote.
        """
        self.refuse_strange_remote()
        return self.settings.remote

    def refuse_strange_remote(self) -> None:
        """Refuse a remote that the user has not set up, before anything that needs it is begun.

        Raises:
            BadConfig: `git remote` does not list what the settings name.
        """
        self.git.demand_remote(self.settings.remote)

    @cached_property
    def head(self) -> Repository:
        """The repository that branches are pushed to; raises BadConfig."""
        try:
            return process.head_repository(self.git, self.settings.remote, self.addresses.api_url)
        except BadConfig:
            if self._configured is None:
                raise
            return self._configured

    @cached_property
    def base(self) -> Repository:
        """The repository of issues and pull requests; raises BadConfig."""
        return self._configured or self.head

    @property
    def base_remote(self) -> str:
        """The remote of `base`; in a fork, it is not the remote that branches are pushed to."""
        wanted, remotes = str(self.base).casefold(), self.git.remotes()
        for name in (self.settings.remote, *remotes):
            places = filter(None, map(process.parse_remote, remotes.get(name, ())))
            if any(str(place.repository).casefold() == wanted for place in places):
                return name
        return self.remote

    def refuse_renamed(self, name: str, outcome: str) -> None:
        """Refuse a repository that has another name now, before anything in it is changed.

        Reads follow the rename, but a write would be refused later, when there is something to undo.

        Args:
            name: `owner/name`, as GitHub has it.
            outcome: the consequence, as a clause.

        Raises:
            Moved: `name` is not the repository that is configured or that the remote names.
        """
        if name.casefold() != str(self.base).casefold():
            words = {"outcome": outcome, "command": config.renaming(name, self.base_remote)}
            raise Moved(sentence("renamed", base=self.base, name=name, **words), evidence=name)

    def refuse_tracked(self) -> None:
        """Refuse if git tracks the claim or anything in `.lifecycle/`.

        Such a file came with the repository: it is not this worktree's claim, and the repository's author
        wrote its content. This runs one git process, and none if the index shows that nothing is tracked.
        Without a repository, or without git, nothing is refused.

        Raises:
            Refused: a file is tracked; the sentence names it and how to remove it from git.
        """
        tracked_files.refuse(self.root, self.deadline, self.environment)

    def is_tracked(self, name: str) -> bool:
        """True if git tracks this file, or anything in this folder, of the worktree's root."""
        return bool(tracked_files.tracked(self.root, self.deadline, self.environment, [name]))

    def refuse_untrusted(self, commands: Sequence[str]) -> None:
        """Refuse to run commands of a project's file that the user has not trusted.

        Raises:
            Refused: there are such commands; the sentence names them and says how to trust them.
            BadConfig: the user's list of trusted commands cannot be read.
        """
        clone = clone_of(self.root)
        if not commands or user_folder.allowed(self.environment, clone, "commands") == [*commands]:
            return
        shown = ", ".join(f"`{visible(command)}`" for command in commands)
        raise Refused(sentence("untrusted", file=config.CONFIG_FILE, shown=shown))

    @cached_property
    def _configured(self) -> Repository | None:
        """The repository that the settings name, or None; raises BadConfig.

        A project's file may only name a repository that is one of the user's remotes: otherwise a strange
        project could make the user's token write to any repository.
        """
        named = self.settings.repository
        if named is None or self.environment.get("LIFECYCLE_REPOSITORY"):
            return named
        remotes = process.remote_repositories(self.git, self.addresses.api_url)
        if str(named).casefold() in {str(remote).casefold() for remote in remotes}:
            return named
        raise BadConfig(sentence("strange-repository", file=config.CONFIG_FILE, named=named))

    @property
    def addresses(self) -> configured.Addresses:
        """Where GitHub answers: as configured, else on the remote's host if gh is logged in there."""
        return self._placed[0]

    @cached_property
    def _placed(self) -> tuple[configured.Addresses, Token | None]:
        """The addresses, and the token if it was found while searching for them."""
        settings = self.settings
        if config.names_github(self.environment):
            return configured.Addresses(settings.api_url, settings.graphql_url), None
        from lifecycle.github.auth.find_token import addresses_of

        remote = process.parse_remote(self.git.remote_url(settings.remote) or "")
        return addresses_of(remote.host if remote is not None else "", self.environment)

    @cached_property
    def access(self) -> str:
        """A word that differs for each token or configuration of one, and reveals neither."""
        from lifecycle.settings.credentials import fingerprint

        return fingerprint(self.root, self.environment)

    @property
    def token(self) -> Token:
        """The current token; raises NoToken, BadConfig and, for an App's token, GitHub's errors."""
        return self.tokens.current()

    @cached_property
    def tokens(self) -> Keeper:
        """Gives the token, and another one if it is about to end or was refused; raises as `token`."""
        from lifecycle.github.client.client_common import Keeper

        return Keeper(self._found_token, self.clock, self._placed[1] or self._found_token())

    def _found_token(self) -> Token:
        from lifecycle.github.auth.find_token import TokenPlace, find, of_gh

        addresses, refused = self._placed
        if refused is not None:  # no other source has a token for this host
            return of_gh(config.web_host(addresses.api_url), self.environment) or refused
        base = partial(getattr, self, "base")
        return find(TokenPlace(self.environment, addresses, self.root, base, self.deadline))

    @cached_property
    def clients(self) -> GitHubClients:
        """The clients that speak to GitHub with the token; raises NoToken, BadConfig."""
        from lifecycle.github.client.client_common import Sending
        from lifecycle.github.clients import GitHubClients

        # Before the token: a strange board is refused without asking for one.
        project = self._project
        sending = Sending(self.tokens, self.deadline, self.cache, self.withheld, self.by_library)
        return GitHubClients(self.addresses, sending, self.settings, project)

    @cached_property
    def forge(self) -> ports.Forge:
        """Issues, pull requests, checks; raises NoToken, BadConfig."""
        return self.forge_of(self.base)

    def forge_of(self, repository: Repository) -> ports.Forge:
        """Issues, pull requests and checks of another repository; raises NoToken, BadConfig."""
        return self.clients.forge(repository)

    @property
    def reports(self) -> ports.CheckReports:
        """Reader of the reports of failed checks; raises NoToken, BadConfig."""
        return self.clients.reports(self.base)

    @cached_property
    def failures(self) -> ports.FailureFeedback:
        """The feedback on failed checks; what it reads is kept in this world."""
        from lifecycle.feedback.failures.failure_watch import FailureWatch

        return FailureWatch(self)

    @property
    def merges(self) -> ports.Merges:
        """Operations on the merge of pull requests; raises NoToken, BadConfig."""
        from lifecycle.github.operations.ensure_merge import MergeOperations

        return MergeOperations(self.clients.forge(self.base))

    @property
    def reviews(self) -> ports.ReviewFeedback:
        """The feedback of people and bots on a pull request; raises NoToken, BadConfig."""
        from lifecycle.feedback.reviews.review_watch import ReviewWatch

        return ReviewWatch(self.clients.graph, self.base)

    @property
    def looks(self) -> SharedLooks | None:
        """The looks that this token's waiters share; None without a home; raises NoToken, BadConfig."""
        from lifecycle.feedback.waiting import shared_looks

        path = shared_looks.place(self.environment, self.addresses.graphql_url, self.token.value)
        if path is None:
            return None
        given = self.clock, self.root, self.settings.poll_seconds
        return shared_looks.SharedLooks(path, lambda: self.clients.graph, *given)

    @cached_property
    def survey(self) -> ports.Survey:
        """Many repositories at once; raises NoToken, BadConfig."""
        return self.clients.survey

    @property
    def spent(self) -> tuple[int, int]:
        """How many requests were made so far, and how many points those of GraphQL cost."""
        return self.clients.spent if "clients" in self.__dict__ else (0, 0)

    @property
    def server_time(self) -> float | None:
        """GitHub's clock at its last answer, None if it is not known."""
        return self.clients.server_time

    def beside(
        self, root: Path, environment: Mapping[str, str], cache: ports.Cache
    ) -> WorktreeWorld:
        """The world of another worktree, with this one's time; `cache` is that worktree's."""
        return WorktreeWorld(root, environment, self.clock, self.deadline, cache)

    def elsewhere(self, repository: Repository, url: str, place: Path) -> WorktreeWorld:
        """The world of a repository that is not checked out here, with this one's clients and settings.

        Args:
            repository: the repository of issues and pull requests.
            url: the address of its page; with `.git` appended, git finds the repository.
            place: an empty folder, which becomes a bare repository when git is first asked to push.

        Raises:
            NoToken, BadConfig: there is no token, or the settings cannot be used.
        """
        from lifecycle.app.bare_repository import REMOTE, BareRepository, authorization

        clients = self.clients
        settings = replace(self.settings, repository=repository, remote=REMOTE)
        token = authorization(self.environment, url, clients.tokens.current().value)
        git = BareRepository(place, self.deadline, self.environment, for_servers=token)
        git.url = f"{url}.git"
        shared = (self.clock, self.deadline, self.cache)
        world = WorktreeWorld(place, self.environment, *shared, settings)
        # A part that is given is not made: a cached property that was set stays as it is.
        world.clients, world.tokens = clients, clients.tokens
        world._placed = clients.addresses, None
        world.git, world.head, world.base = git, repository, repository
        return world

    @cached_property
    def board(self) -> EitherBoard | None:
        """Where the Status is kept, or None if nowhere; raises NoToken, BadConfig."""
        return self.clients.either_board(self.base) if self.settings.has_board else None

    @property
    def cards(self) -> EitherBoard:
        """Where the Status is written; raises NoToken, BadConfig, and Rejected if it is kept nowhere."""
        board = self.board
        if board is None:
            raise Rejected("No board is configured.")
        return board

    @property
    def joint(self) -> JointWriter:
        """Several writes in one request; raises NoToken, BadConfig."""
        return self.clients.joint

    def card_of(self, number: int) -> CardWords | None:
        """What the board says of an issue; as `GitHubClients.card_of`, raises NoToken, BadConfig."""
        return self.clients.card_of(self.base, number)

    @cached_property
    def tracker(self) -> Tracker:
        """The tracker of this worktree, as configured or as found; raises BadConfig."""
        from lifecycle.app import tracker_opening

        return tracker_opening.tracker_of(self)

    @cached_property
    def issues(self) -> Tracker:
        """GitHub's issues as a tracker, whichever one the worktree uses; raises BadConfig."""
        from lifecycle.app import tracker_opening

        return tracker_opening.issues_of(self)

    def inner_as(self, agent: str, name: str = "") -> Tracker | None:
        """The tracker, unless it is GitHub, in the name of this agent; raises BadConfig.

        `agent`: whoever is about to claim; "" for the present agent.

        `name`: the tracker in which a link was made, whatever the settings say now.
        """
        from lifecycle.app import tracker_opening

        return tracker_opening.inner_of(self, agent, name)

    @property
    def calls(self) -> Calls:
        """The REST calls of the base repository; raises NoToken, BadConfig."""
        return self.clients.calls(self.base)

    @property
    def choice(self) -> Choice:
        """Whether labels take the place of the board; raises as `token` does."""
        return self.clients.choice

    @cached_property
    def _project(self) -> ProjectRef | None:
        """The board that the settings name; raises BadConfig."""
        from lifecycle.github.board.board_client import ProjectRef

        number = self.settings.project_number
        if number is None:
            return None
        self.refuse_strange_board()
        return ProjectRef(self.settings.project_owner or self.base.owner, number)

    def refuse_strange_board(self) -> None:
        """Refuse a board, named in a project's file, whose owner owns none of the remotes here.

        The user's token may write to many boards: task titles would be read from them and written there.

        Raises:
            BadConfig: the project's file names such a board, and no variable of the user does.
        """
        owner = self.settings.project_owner
        if owner is None or any(self.environment.get(name) for name in config.OWNER_VARIABLES):
            return
        repositories = [*process.remote_repositories(self.git, self.addresses.api_url)]
        if self.environment.get("LIFECYCLE_REPOSITORY"):
            repositories.append(self.base)
        if owner.casefold() not in {repository.owner.casefold() for repository in repositories}:
            words = {"file": config.CONFIG_FILE, "variable": config.OWNER_VARIABLES[0]}
            raise BadConfig(sentence("strange-board", owner=owner, **words))
