"""Find the token to use, and GitHub's addresses for it.

A token belongs to a person or an App, and to one GitHub. A token from a variable or the user's file is used
for the addresses that are named there, else for github.com; one that gh keeps is used for gh's host. So if
a clone's remote is on another host, it gets no token that was not made for that host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from lifecycle.core import timing
from lifecycle.core.errors import BadConfig, NoToken
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.values.configured import Addresses
from lifecycle.core.values.model import Repository
from lifecycle.github.client.client_common import Token
from lifecycle.github.failures import sentence
from lifecycle.settings import config, credentials, readers

GH = "gh"


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
    value = credentials.kept_by_gh(host, environment)
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
    root, key_file = place.root, app.key_file
    if root is not None and key_file and key_file.resolve().is_relative_to(root.resolve()):
        raise BadConfig(sentence("app-key-inside", app=app))  # one commit could publish it
    from lifecycle.github.auth.app_token import AppTokens

    api_url = place.addresses.api_url
    kept = AppTokens(app, place.repository, api_url, place.environment, place.deadline)
    made = kept.current()
    renew = partial(kept.forget, made.token)
    source = f"the GitHub App {app.id}"
    return Token(made.token, source, made.expires_at, renew, made.permissions, kept.check)
