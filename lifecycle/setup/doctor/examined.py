"""The objects that the checks of `lifecycle doctor` examine, each read once and on demand; their findings.

They are a worktree, its settings, and GitHub, which is only read, each question with its own time limit. A
finding says what the state is, what will not happen because of it, and how to correct it.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from enum import StrEnum
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.errors import BadConfig, LifecycleError, Transient
from lifecycle.core.light_dataclass import asdict, dataclass
from lifecycle.core.ports import Clock
from lifecycle.core.timing import Deadline
from lifecycle.core.values.configured import Addresses, Settings
from lifecycle.core.values.model import Repository, RepositoryAccess, TokenFacts
from lifecycle.github.client.client_common import Sending, Token
from lifecycle.github.clients import GitHubClients
from lifecycle.settings import config, resources
from lifecycle.setup.init.found_hooks import ClientSetup, places_of
from lifecycle.storage.state_file import MemoryCache

SECONDS = 24.0
"""How long all checks may take together; a person waits for them."""

_NOWHERE = Path(os.devnull)
"""A root without any project file: then the settings are the user's and the environment's."""


T = TypeVar("T")

ANSWER_SECONDS = 8.0
"""Seconds that one question to GitHub may take, with its retries."""

_GRACE = 0.5


class Examined:
    """One worktree under examination. Most is read only when a check asks for it.

    Args:
        root: the worktree's root, or None outside of any.
        environment: settings and the token are read from here.
        clock: the clock.

    Attributes:
        settings: if the project's file is broken, only those of the user and the environment.
        settings_problem: why the settings cannot be used, or None if they can.
        is_lost: even GitHub's address is unknown: then no token is sent anywhere.
        is_tracker_silent: its own check found that the tracker does not answer.
        asked_at: when GitHub answered the question about the token.
        findings: the findings so far, each once.
    """

    def __init__(self, root: Path | None, environment: Mapping[str, str], clock: Clock) -> None:
        self.is_worktree = root is not None
        self.root = root or Path.cwd()
        self.environment = environment
        self.clock = clock
        self.deadline = Deadline.after(clock, SECONDS)
        self.claim_store = ClaimStore(self.root, clock)
        self.client = ClientSetup.read(self.root, environment)
        self.settings, self.settings_problem, self.is_lost = _loaded(self.root, environment)
        self.is_tracker_silent = False
        self._silence: LifecycleError | None = None
        self.asked_at = 0.0
        self.findings: list[DoctorFinding] = []

    def find(
        self, key: str, /, *, hinders: Iterable[str] = (), fix: str = "", **words: object
    ) -> None:
        """Add the finding of one row of `findings.toml`.

        Args:
            key: the row, such as "token.found.none"; its first two words are the finding's name.
            hinders: steps that do not happen because of it, in addition to those of the row.
            fix: the fix, unless the row has one.
            words: values for the names in braces in the row's texts.
        """
        group, subject, *names_of_case = key.split(".")
        row = table()[group][subject]
        for name in names_of_case:
            row = row[name]
        level = next(level for level in Level if level in row)
        names = [name.format(**words) for name in row.get("hinders", ())]
        steps = dict.fromkeys(step for name in (*names, *hinders) for step in _steps(name))
        fix, text = row.get("fix", "").format(**words) or fix, row[level].format(**words)
        finding = DoctorFinding(f"{group}.{subject}", level, text, tuple(steps), fix)
        if finding not in self.findings:  # several families find the same strange file
            self.findings.append(finding)

    @property
    def is_ok(self) -> bool:
        """True if no finding has the level FAIL."""
        return all(finding.level is not Level.FAIL for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        """The findings for `--json`."""
        return {"ok": self.is_ok, "findings": [finding.as_json() for finding in self.findings]}

    def close(self) -> None:
        """Close the opened connections, unless a request still waits on one."""
        clients = vars(self).get("_clients")
        if self._silence is None and isinstance(clients, GitHubClients):
            clients.close()

    def places_of(self, name: str) -> list[Path]:
        """The paths at which the client looks for a file that `init` supplies."""
        return places_of(name, self.root, self.environment)

    @cached_property
    def world(self) -> WorktreeWorld:
        """Git and the repository, with the settings as far as they are usable."""
        around = (self.root, self.environment, self.clock, self.deadline)
        return WorktreeWorld(*around, MemoryCache(), self.settings)

    @cached_property
    def base(self) -> Repository | None:
        """The repository of issues and PRs; None if unknown: other checks say why."""
        with suppress(LifecycleError):
            return self.world.base if self.is_worktree else None
        return None

    @property
    def web(self) -> str:
        """The beginning of URLs of GitHub's pages and git, such as "https://github.com"."""
        parts = urlsplit(self.addresses.api_url)
        return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"

    @property
    def gh(self) -> str:
        """The prefix with which a gh command uses this GitHub; without it gh uses github.com."""
        return config.gh_option(self.addresses.api_url)

    @property
    def addresses(self) -> Addresses:
        """The addresses of GitHub's API; the configured ones if git cannot answer about the remote."""
        with suppress(LifecycleError):
            return self.world.addresses
        return Addresses(self.settings.api_url, self.settings.graphql_url)

    @cached_property
    def token(self) -> Token | LifecycleError:
        """The token, or why there is none."""
        return _or_error(lambda: self.world.token)

    @property
    def token_source(self) -> str:
        """The variable or setting that the token comes from, or would come from."""
        if not isinstance(self.token, LifecycleError):
            return self.token.source
        names = (name for name in config.TOKEN_VARIABLES if self.environment.get(name, "").strip())
        return next(names, "token_command")

    @property
    def permissions(self) -> Mapping[str, str] | None:
        """An App token's permissions, by GitHub's names; None for tokens that do not list any."""
        return None if isinstance(self.token, LifecycleError) else self.token.permissions

    def ask(self, act: Callable[[GitHubClients], T]) -> T:
        """Call `act` with GitHub's clients on a thread of its own, and return what it returns.

        A thread, since some waits (for a name server) cannot be interrupted. Each question has a limit;
        after one without an answer no more are asked: they would take as long, and fail alike.

        Raises:
            Transient, Rejected, Refused: there is no result.
        """
        clients = self._clients if self._silence is None else self._silence
        if isinstance(clients, LifecycleError):
            raise clients
        answer: Future[T] = Future()

        def run() -> None:
            try:
                answer.set_result(act(clients))
            except BaseException as error:  # noqa: BLE001 -- raised again on the asking thread
                answer.set_exception(error)

        # So that others can be asked, too.
        seconds = min(ANSWER_SECONDS, max(self.deadline.left, 0.1))
        try:
            with self.deadline.keeping(max(self.deadline.left - seconds, 0.0)):
                threading.Thread(target=run, daemon=True).start()
                return answer.result(seconds + _GRACE)
        except TimeoutError:
            self._silence = Transient(f"GitHub gave no answer within {seconds:.1g} seconds.")
            raise self._silence from None
        except Transient as error:
            self._silence = error
            raise

    @cached_property
    def _clients(self) -> GitHubClients | LifecycleError:
        """GitHub's clients, or why GitHub cannot be asked."""
        if self.settings_problem is not None and self.is_lost:
            return self.settings_problem
        if isinstance(self.token, LifecycleError):
            return self.token
        return GitHubClients(self.addresses, Sending(self.world.tokens, self.deadline))

    @cached_property
    def facts(self) -> TokenFacts | LifecycleError:
        """GitHub's facts about the token, or why there are none."""
        facts = _or_error(lambda: self.ask(lambda clients: clients.rest.token_facts()))
        self.asked_at = self.clock.now()
        return facts

    @property
    def is_answering(self) -> bool:
        """True while GitHub answers: a check that got no answer has reported that."""
        return isinstance(self.facts, TokenFacts) and self._silence is None

    @cached_property
    def access(self) -> RepositoryAccess | LifecycleError | None:
        """The permissions in the repository, or why they are unknown; None if it cannot be asked."""
        base = self.base
        if base is None or not self.is_answering:
            return None
        return _or_error(lambda: self.ask(lambda clients: clients.rest.repository_access(base)))


def _or_error(ask: Callable[[], T]) -> T | LifecycleError:
    """The result of `ask`, or its error."""
    try:
        return ask()
    except LifecycleError as error:
        return error


def _loaded(root: Path, environment: Mapping[str, str]) -> tuple[Settings, BadConfig | None, bool]:
    """The settings, what is wrong with them, and whether GitHub's address is therefore unknown."""
    try:
        return config.load(root, environment), None, False
    except BadConfig as error:
        problem = error
    try:
        return config.load(_NOWHERE, environment), problem, False
    except BadConfig:
        return Settings(), problem, True


class Level(StrEnum):
    """The severity of a finding; the values are those of `--json`."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One finding: a line of the list.

    Attributes:
        name: `group.subject`; stable, for programs.
        level: its severity.
        sentence: what was found.
        hinders: what will not happen, or not as it should: steps of `findings.toml`.
        fix: a command to copy, or what to do if no command can do it; "" if nothing is to be done.
    """

    name: str
    level: Level
    sentence: str
    hinders: tuple[str, ...] = ()
    fix: str = ""

    @property
    def group(self) -> str:
        """The group of the finding: the first word of its name."""
        return self.name.partition(".")[0]

    def as_json(self) -> dict[str, Any]:
        """The finding for `--json`."""
        fields = asdict(self) | {"hinders": list(self.hinders)}
        return {"says" if name == "sentence" else name: value for name, value in fields.items()}


_KEPT = re.compile(r"(?:\. That only reads)?[;,] (?:so )?(?:nothing|no board|no task) was ")


def cause(error: LifecycleError) -> str:
    """The first part of an error's sentence: without what was kept and what to do."""
    return f"{_KEPT.split(error.sentence)[0].rstrip('.')}."


def remedy(error: LifecycleError) -> str:
    """The last part of an error's sentence: what to do, if it says so after what was kept."""
    after = "".join(_KEPT.split(error.sentence, maxsplit=1)[1:])
    return "".join(re.split("[;.] ", after, maxsplit=1)[1:]).rstrip(".")


table = partial(resources.table, "setup/doctor/findings.toml")
"""The rows of `findings.toml`, which its first lines describe."""


def _steps(name: str) -> list[str]:
    """The steps that a name in `hinders` means: itself, or those of its row in [together]."""
    together = table()["together"]
    if name in together["each step"]:
        return [name]
    return [step for part in together[name] for step in _steps(part)]
