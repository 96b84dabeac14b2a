"""Find the token to use, and GitHub's addresses for it.

A token belongs to a person or an App, and to one GitHub. A token from a variable or the user's file is used
for the addresses that are named there, else for github.com; one that gh keeps is used for gh's host. So if
a clone's remote is on another host, it gets no token that was not made for that host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifecycle.core import timing
from lifecycle.core.errors import BadConfig, NoToken
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.values.configured import Addresses
from lifecycle.core.values.model import Repository, RepositoryAccess, TokenFacts
from lifecycle.github.failures.failure_case import sentence
from lifecycle.settings import config, credentials, readers
from lifecycle.settings.credentials import kept_by_gh

if TYPE_CHECKING:
    from lifecycle.core.ports import Clock

GH = "gh"

RENEW_SECONDS = 300.0
"""Seconds before its end at which long-lived callers replace a token."""


# Source: https://docs.github.com/authentication/keeping-your-account-and-data-secure/about-authentication-to-github#githubs-token-formats
_KINDS = {
    "ghp_": "classic",
    "github_pat_": "fine-grained",
    "gho_": "oauth",
    "ghu_": "app",
    "ghs_": "app",
}
PEOPLES = frozenset({"classic", "oauth", "unknown"})
"""Kinds of tokens that see everything that their owner sees, if they have the scope for it."""


def kind_of(token: str) -> str:
    """The kind of a token, from its first letters."""
    return next((name for letters, name in _KINDS.items() if token.startswith(letters)), "unknown")


@dataclass(frozen=True, slots=True)
class Token:
    """A token; its value is never part of a text.

    Attributes:
        value: the secret.
        source: its origin: a variable's name, `token_command`, a description of an App, or `gh`.
        expires_at: its end by this machine's clock, None if that is unknown before its use.
        renew: forgets the kept token, so that the next one is new; None except for Apps.
        permissions: an App's, by GitHub's names; None if GitHub does not say.
        check: raises if the next one cannot be made, as with a wrong key; None except for Apps.
    """

    value: str = field(repr=False)
    source: str
    expires_at: float | None = None
    renew: Callable[[], None] | None = field(default=None, repr=False, compare=False)
    permissions: Mapping[str, str] | None = None
    check: Callable[[], None] | None = field(default=None, repr=False, compare=False)

    def is_ending(self, now: float) -> bool:
        """True if it ends so soon that no work should be begun with it."""
        return self.expires_at is not None and now >= self.expires_at - RENEW_SECONDS


class Keeper:
    """Keeps the token of a long-lived object: found at first use, and again when necessary.

    Args:
        find: finds the token, as the function `find` does.
        clock: time.
    """

    def __init__(self, find: Callable[[], Token], clock: Clock) -> None:
        self._find = find
        self._clock = clock
        self._token: Token | None = None

    def current(self) -> Token:
        """The currently valid token; raises as `find` does."""
        if self._token is None or self._token.is_ending(self._clock.now()):
            self._token = self._find()
        return self._token

    def refused(self) -> None:
        """Forget the token, here and where it is kept, since GitHub does not accept it."""
        token, self._token = self._token, None
        if token is not None and token.renew is not None:
            token.renew()


@dataclass(frozen=True, slots=True)
class TokenPlace:
    """Where to look for a token, and for what.

    Attributes:
        environment: variables, PATH and the user's folder.
        addresses: GitHub's addresses.
        root: the worktree, in which no private key may be; None if there is none.
        repository: the repository that an App's token is for; called only if it is needed.
        deadline: the limit for requests to GitHub.
    """

    environment: Mapping[str, str] = field(repr=False)
    addresses: Addresses
    root: Path | None
    repository: Callable[[], Repository]
    deadline: timing.Deadline


def find(place: TokenPlace) -> Token:
    """The token: the first of the variables' App, GH_TOKEN, GITHUB_TOKEN, user's App, token_command, gh.

    Raises:
        NoToken: there is none; the sentence names the ways to get one.
        BadConfig: a configured one cannot be used.
        BadCredentials, NotFound, NoPermission, Transient: an App's token could not be made.
    """
    environment, option = place.environment, config.gh_option(place.addresses.api_url)
    of_variables = partial(config.variable_token, gh=option)
    for of_user, given in ((False, of_variables), (True, credentials.command_token)):
        token = _of_app(place, of_user=of_user)
        if token is not None:
            return token
        value_and_source = given(environment)
        if value_and_source is not None:
            return Token(*value_and_source)
    token = of_gh(config.web_host(place.addresses.api_url), environment)
    if token is not None:
        return token
    file = config.own_path(config.CONFIG, environment)
    raise NoToken(sentence("no-token", gh=option, file=file), is_absent=True)


def of_gh(host: str, environment: Mapping[str, str]) -> Token | None:
    """The token that gh keeps for a host, or None; gh knows no ports.

    Raises:
        NoToken: gh did not answer in time.
        BadConfig: its output cannot be a token.
    """
    if not config.is_known_to_gh(host):
        return None
    value = kept_by_gh(host, environment)
    if value is None:
        return None
    way = f"Set it again: gh auth login --hostname {host}"
    return Token(readers.token("What gh auth token printed", value, way), GH)


def addresses_of(
    remote_host: str, environment: Mapping[str, str]
) -> tuple[Addresses, Token | None]:
    """GitHub's addresses if none are configured: those of the remote's host, if gh is logged in there.

    Args:
        remote_host: the host of the remote, "" if it names none.
        environment: PATH and HOME, for gh.

    Returns:
        The addresses, github.com's if gh does not know the host; and the token, if it was found at the
        same time.

    Raises:
        NoToken: gh did not answer in time.
    """
    host = remote_host.removeprefix("ssh.").removeprefix("www.")
    token = of_gh(host, environment) if host not in ("", "github.com") else None
    return (Addresses(), None) if token is None else (Addresses.of_host(host), token)


def _of_app(place: TokenPlace, *, of_user: bool) -> Token | None:
    app = config.app(place.environment, of_user=of_user)
    if app is None:
        return None
    _refuse_inside(app, place.root)
    from lifecycle.github.auth.app_token import AppTokens

    api_url, environment = place.addresses.api_url, place.environment
    kept = AppTokens(app, place.repository, api_url, environment, place.deadline)
    made = kept.current()
    renew = partial(kept.forget, made.token)
    source = f"the GitHub App {app.id}"
    return Token(made.token, source, made.expires_at, renew, made.permissions, kept.check)


def _refuse_inside(app: config.AppKey, root: Path | None) -> None:
    """Refuse a private key inside the repository: one commit could publish it."""
    if root is None or app.key_file is None:
        return
    if app.key_file.resolve().is_relative_to(root.resolve()):
        raise BadConfig(sentence("app-key-inside", app=app))


_ACTIONS_LIMIT = 1000
"""Requests per hour and repository; an app has at least 5,000.

Source:
https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#primary-rate-limit-for-github_token-in-github-actions
"""


def token_facts(token: str, login: str, headers: Mapping[str, Any]) -> TokenFacts:
    """The facts about a token in its first letters and an answer's headers; the token is not kept.

    Args:
        token: only its first letters are used.
        login: its owner, "" if it has none.
        headers: an answer's, with names in lower case.
    """
    scopes = _scopes_in(headers.get("x-oauth-scopes"))
    limit = _decimal(headers.get("x-ratelimit-limit"))
    kind = kind_of(token)
    if token.startswith("ghs_") and limit == _ACTIONS_LIMIT:
        kind = "actions"
    if kind == "unknown" and scopes is not None:
        kind = "classic"  # made before tokens had prefixes, or on a server that has none
    return TokenFacts(
        login=login,
        kind=kind,
        scopes=scopes,
        server_time=timing.parse_time(headers.get("date")),
        limit=limit,
        remaining=_decimal(headers.get("x-ratelimit-remaining")),
        permissions=str(headers.get("x-accepted-github-permissions") or ""),
        expires_at=timing.parse_time(headers.get("github-authentication-token-expiration")),
        server_version=str(headers.get("x-github-enterprise-version") or ""),
    )


def repository_access(repository: Mapping[str, Any]) -> RepositoryAccess:
    """What the token's owner may do in a repository, from REST's JSON of the repository."""
    permissions = repository.get("permissions") or {}
    return RepositoryAccess(
        name=str(repository["full_name"]),
        default_branch=str(repository.get("default_branch") or ""),
        can_push=permissions.get("push"),
        is_private=bool(repository.get("private")),
        has_issues=bool(repository.get("has_issues", True)),
        is_archived=bool(repository.get("archived")),
        parent=str((repository.get("parent") or {}).get("full_name") or ""),
    )


def _scopes_in(header: object) -> tuple[str, ...] | None:
    """The scopes in their order; () for a token without any, None for one of a kind without scopes."""
    if not isinstance(header, str):
        return None
    return tuple(scope.strip() for scope in header.split(",") if scope.strip())


def _decimal(header: object) -> int | None:
    return int(header) if isinstance(header, str) and header.isdecimal() else None
