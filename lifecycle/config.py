"""Settings: the environment wins over the user's config.toml, and that over `.lifecycle.toml`.

A project's file comes with the repository, from whoever wrote it. So it names no API host and no
command that prints a token: those come from the environment (GITHUB_API_URL and GITHUB_GRAPHQL_URL, as
GitHub Actions sets them; GH_TOKEN or GITHUB_TOKEN), or from the user's own file, `home.CONFIG`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lifecycle import home, store
from lifecycle.errors import BadConfig, NoToken
from lifecycle.model import Repository

CONFIG_FILE = ".lifecycle.toml"
API_URL = "https://api.github.com"
GRAPHQL_URL = "https://api.github.com/graphql"

_ENVIRONMENT = {
    "project_number": ("LIFECYCLE_PROJECT_NUMBER", "MOLTNET_PROJECT_NUMBER"),
    "project_owner": ("LIFECYCLE_PROJECT_OWNER", "MOLTNET_PROJECT_OWNER"),
}
PROJECT_VARIABLES = _ENVIRONMENT["project_number"]
"""Either of these makes a repository one that lifecycle serves, claim or not."""

HOOK_SECONDS = 8.0
"""The wall-clock deadline of on-stop and on-idle; LIFECYCLE_HOOK_SECONDS can only shorten it."""

LINKS = ("Refs", "Closes")
CLOSES = ("ask", "auto")

TOKEN_VARIABLES = ("GH_TOKEN", "GITHUB_TOKEN")
_NAME = r"[A-Za-z0-9._-]+"


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that can be configured, with its default.

    Attributes:
        repository: the base repository of issues and PRs, or None to take it from the remote.
        remote: the git remote that branches are pushed to.
        base: the PR's base branch, or None for the repository's default branch.
        issue_link: "Refs" or "Closes"; "Closes" lets GitHub close the issue at the merge.
        validate: commands that `handoff` runs first, each by the shell; all must exit 0.
        project_owner: login of the project's owner, or None for the repository's owner.
        project_number: the project's number, or None if there is no board.
        poll_seconds: backoff between two polls of the checks.
        close: "ask" (a person says yes to closing) or "auto" (the merge is the yes).
        api_url, graphql_url: where GitHub answers; never from a project's file.
        hook_seconds: the wall-clock deadline of on-stop and on-idle.
    """

    repository: Repository | None = None
    remote: str = "origin"
    base: str | None = None
    issue_link: str = "Refs"
    validate: tuple[str, ...] = ()
    project_owner: str | None = None
    project_number: int | None = None
    poll_seconds: float = 120.0
    close: str = "ask"
    api_url: str = API_URL
    graphql_url: str = GRAPHQL_URL
    hook_seconds: float = HOOK_SECONDS


def is_served(root: Path, environment: Mapping[str, str]) -> bool:
    """True if this repository opted in without a claim: a config file or a project variable."""
    return (root / CONFIG_FILE).is_file() or any(environment.get(v) for v in PROJECT_VARIABLES)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where GitHub answers, REST and GraphQL."""

    api_url: str = API_URL
    graphql_url: str = GRAPHQL_URL

    @property
    def hosts(self) -> set[str]:
        """The scheme, host and port of both."""
        both = (urlsplit(url) for url in (self.api_url, self.graphql_url))
        return {f"{parts.scheme}://{parts.netloc.casefold()}" for parts in both}


def load(root: Path, environment: Mapping[str, str]) -> Settings:
    """Read the settings for one worktree.

    Raises:
        BadConfig: a file is no TOML, or a key or value cannot be used; the sentence names it.
    """
    values = _from_file(root / CONFIG_FILE, CONFIG_FILE, _KEYS)
    for name, variables in _ENVIRONMENT.items():
        given = next((environment[v] for v in variables if environment.get(v)), None)
        if given is not None:
            values[name] = _number(variables[0], given) if name == "project_number" else given
    repository = environment.get("LIFECYCLE_REPOSITORY")
    if repository:
        values["repository"] = _repository("LIFECYCLE_REPOSITORY", repository)
    addresses = _addresses(environment, _of_user(environment))
    values |= {"api_url": addresses.api_url, "graphql_url": addresses.graphql_url}
    limit = environment.get("LIFECYCLE_HOOK_SECONDS")
    if limit:
        values["hook_seconds"] = min(_positive("LIFECYCLE_HOOK_SECONDS", limit), HOOK_SECONDS)
    return Settings(**values)


def token(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """The token and where it came from, or None: a variable, else the user's token_command.

    The command is the user's, and so is the token that it prints: it is run only for the addresses
    that the user's file names (or GitHub's own, if it names none), not for others that happen to be
    in the environment.

    Raises:
        BadConfig: the value cannot be sent as a header, or the user's file cannot be used.
        NoToken: the command is for other hosts, failed, took too long or printed nothing.
    """
    for name in TOKEN_VARIABLES:
        value = environment.get(name, "").strip()
        if value:
            return _sendable(value, name, f"export {name}=$(gh auth token)"), name
    user = _of_user(environment)
    command: tuple[str, ...] = user.get("token_command", ())
    if not command:
        return None
    where = home.shown(home.CONFIG, environment)
    others = _addresses(environment, user).hosts - _addresses({}, user).hosts
    if others:
        raise NoToken(
            f"The token_command in {where} was not run and nothing was asked of GitHub: the environment "
            f"names {min(others)}, which that file does not. Set GH_TOKEN for it, or api_url in "
            "that file."
        )
    from lifecycle.credentials import printed_by

    value = printed_by(command, where, environment)
    return _sendable(
        value, f"What the token_command in {where} printed", command[0]
    ), "token_command"


def _sendable(value: str, name: str, way: str) -> str:
    if not value.isascii() or not value.isprintable() or " " in value:
        raise BadConfig(
            f"{name} holds something that cannot be a token (spaces, line breaks or special "
            f"characters); nothing was asked of GitHub. Set it anew: {way}"
        )
    return value


def _of_user(environment: Mapping[str, str]) -> dict[str, Any]:
    """What the user's config.toml says."""
    place = home.folder(environment)
    if place is None:
        return {}
    where = home.shown(home.CONFIG, environment)
    return _from_file(place / home.CONFIG, where, USER_KEYS)


def _addresses(environment: Mapping[str, str], user: Mapping[str, Any]) -> Addresses:
    """Both addresses. GraphQL's goes with the REST address that stands in the same place."""
    given = environment.get("GITHUB_API_URL")
    api_url = _url("GITHUB_API_URL", given) if given else user.get("api_url", API_URL)
    graphql = environment.get("GITHUB_GRAPHQL_URL")
    if graphql:
        return Addresses(api_url, _url("GITHUB_GRAPHQL_URL", graphql))
    if not given and "graphql_url" in user:
        return Addresses(api_url, user["graphql_url"])
    return Addresses(api_url, _graphql_of(api_url))


def _from_file(path: Path, shown: str, keys: Mapping[str, tuple[str, Any]]) -> dict[str, Any]:
    try:
        found = store.read(path)
    except OSError as error:
        raise BadConfig(f"{shown} cannot be read ({error.strerror}); nothing was done.") from None
    if found is None:
        return {}
    import tomllib

    try:
        data = tomllib.loads(found.content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadConfig(f"{shown} is not valid TOML ({error}); nothing was done.") from None
    values: dict[str, Any] = {}
    for key, value in _flat(data):
        reader = keys.get(key)
        if reader is None:
            raise BadConfig(_unknown(key, shown, keys))
        name, convert = reader
        values[name] = convert(f"{key} in {shown}", value)
    return values


def _unknown(key: str, shown: str, keys: Mapping[str, tuple[str, Any]]) -> str:
    if key in USER_KEYS:
        return (
            f'{shown} names "{key}", and a project\'s file may not say where tokens go or come from; '
            f"nothing was done. If it is yours, it belongs into the {home.CONFIG} of your own folder: "
            f"~/.config/{home.NAME}/{home.CONFIG}"
        )
    if key in _KEYS:
        return (
            f'{shown} names "{key}", which is a project\'s; nothing was done. It belongs into '
            f"{CONFIG_FILE} at the top of the repository."
        )
    return f'{shown} has an unknown key "{key}"; the keys are: {", ".join(keys)}.'


def _flat(data: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    flat: list[tuple[str, Any]] = []
    for key, value in data.items():
        if isinstance(value, dict):
            flat += _flat(value, f"{prefix}{key}.")
        else:
            flat.append((prefix + key, value))
    return flat


def _text(where: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip() or value.startswith("-"):
        raise BadConfig(f"{where} must be a non-empty text, not {value!r}.")
    return value.strip()


def _repository(where: str, value: object) -> Repository:
    match = re.fullmatch(rf"({_NAME})/({_NAME})", value) if isinstance(value, str) else None
    if match is None:
        raise BadConfig(f'{where} must be "owner/name", not {value!r}.')
    return Repository(match[1], match[2])


def _link(where: str, value: object) -> str:
    found = next((link for link in LINKS if str(value).casefold() == link.casefold()), None)
    if found is None:
        raise BadConfig(f'{where} must be "Refs" or "Closes", not {value!r}.')
    return found


def _close(where: str, value: object) -> str:
    if value not in CLOSES:
        raise BadConfig(f'{where} must be "ask" or "auto", not {value!r}.')
    return str(value)


def _words(where: str, value: object) -> tuple[str, ...]:
    words = value if isinstance(value, list) else []
    if not words or not all(isinstance(w, str) and w and "\0" not in w for w in words):
        raise BadConfig(
            f'{where} must be a list of words, as in ["gh", "auth", "token"]; no shell reads it.'
        )
    return tuple(words)


def _commands(where: str, value: object) -> tuple[str, ...]:
    commands = [value] if isinstance(value, str) else value
    if not isinstance(commands, list) or not all(isinstance(c, str) and c for c in commands):
        raise BadConfig(f"{where} must be a command or a list of commands, not {value!r}.")
    return tuple(commands)


def _number(where: str, value: object) -> int:
    text = str(value).strip()
    if isinstance(value, bool) or not text.isascii() or not text.isdigit() or int(text) < 1:
        raise BadConfig(f"{where} must be a whole number from 1 on, not {value!r}.")
    return int(text)


def _positive(where: str, value: object) -> float:
    try:
        number = float(value)  # type: ignore[arg-type]  # a wrong type raises TypeError below
    except (TypeError, ValueError):
        number = -1.0
    if isinstance(value, bool) or not 0 < number < 1e9:
        raise BadConfig(f"{where} must be a number of seconds above 0, not {value!r}.")
    return number


def _url(where: str, value: object) -> str:
    """An address that a token may be sent to: https, or http on this machine."""
    pattern = r"https?://[^\s/@]+(/[^\s@]*)?"
    try:
        is_url = isinstance(value, str) and re.fullmatch(pattern, value) is not None
        parts = urlsplit(str(value))
    except ValueError:  # a bracket that is none
        is_url = False
    if not is_url:
        raise BadConfig(f"{where} must be an http or https URL without credentials.")
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise BadConfig(
            f"{where} is an http address, over which the token could be read on its way; nothing was "
            "asked of GitHub. Use https; http is for this machine alone (localhost, 127.0.0.1, ::1)."
        )
    return str(value).rstrip("/")


def _is_loopback(host: str) -> bool:
    """True for `localhost`, 127.0.0.0/8 and ::1, as they are written: no name is looked up."""
    if host == "localhost":
        return True
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _graphql_of(api_url: str) -> str:
    """GitHub Enterprise Server answers REST at /api/v3 and GraphQL at /api/graphql."""
    if api_url.endswith("/api/v3"):
        return f"{api_url.removesuffix('/v3')}/graphql"
    return f"{api_url}/graphql"


_KEYS: dict[str, tuple[str, Any]] = {
    "repository": ("repository", _repository),
    "remote": ("remote", _text),
    "base": ("base", _text),
    "issue_link": ("issue_link", _link),
    "validate": ("validate", _commands),
    "close": ("close", _close),
    "project.owner": ("project_owner", _text),
    "project.number": ("project_number", _number),
    "checks.poll_seconds": ("poll_seconds", _positive),
}
"""The keys of a project's file: the name in `Settings`, and what reads the value."""

USER_KEYS: dict[str, tuple[str, Any]] = {
    "api_url": ("api_url", _url),
    "graphql_url": ("graphql_url", _url),
    "token_command": ("token_command", _words),
}
"""The keys of the user's config.toml."""
