"""Settings: `.lifecycle.toml` in the worktree root, then environment variables, which win.

A project file never names an API host or a token: those come from the environment alone
(GITHUB_API_URL and GITHUB_GRAPHQL_URL, as GitHub Actions sets them; GH_TOKEN or GITHUB_TOKEN).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.errors import BadConfig
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
        api_url, graphql_url: where GitHub answers; from the environment only.
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
    api_url: str = API_URL
    graphql_url: str = GRAPHQL_URL
    hook_seconds: float = HOOK_SECONDS


def is_served(root: Path, environment: Mapping[str, str]) -> bool:
    """True if this repository opted in without a claim: a config file or a project variable."""
    return (root / CONFIG_FILE).is_file() or any(environment.get(v) for v in PROJECT_VARIABLES)


def load(root: Path, environment: Mapping[str, str]) -> Settings:
    """Read the settings for one worktree.

    Raises:
        BadConfig: the file is no TOML, or a key or value cannot be used; the sentence names it.
    """
    values = _from_file(root / CONFIG_FILE)
    for name, variables in _ENVIRONMENT.items():
        given = next((environment[v] for v in variables if environment.get(v)), None)
        if given is not None:
            values[name] = _number(variables[0], given) if name == "project_number" else given
    values["api_url"] = (environment.get("GITHUB_API_URL") or API_URL).rstrip("/")
    values["graphql_url"] = environment.get("GITHUB_GRAPHQL_URL") or _graphql_of(values["api_url"])
    for name in ("api_url", "graphql_url"):
        _check_url(name, values[name])
    limit = environment.get("LIFECYCLE_HOOK_SECONDS")
    if limit:
        values["hook_seconds"] = min(_positive("LIFECYCLE_HOOK_SECONDS", limit), HOOK_SECONDS)
    return Settings(**values)


def token(environment: Mapping[str, str]) -> tuple[str, str] | None:
    """The token and the name of the variable that it came from, or None.

    Raises:
        BadConfig: the value cannot be sent as a header.
    """
    for name in ("GH_TOKEN", "GITHUB_TOKEN"):
        value = environment.get(name, "").strip()
        if not value:
            continue
        if not value.isascii() or not value.isprintable() or " " in value:
            raise BadConfig(
                f"{name} holds something that cannot be a token (spaces, line breaks or special "
                "characters); nothing was asked of GitHub. Set it anew: export "
                f"{name}=$(gh auth token)"
            )
        return value, name
    return None


def _from_file(path: Path) -> dict[str, Any]:
    try:
        content = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError):
        return {}
    import tomllib

    try:
        data = tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadConfig(f"{CONFIG_FILE} is not valid TOML ({error}); nothing was done.") from None
    values: dict[str, Any] = {}
    for key, value in _flat(data):
        reader = _KEYS.get(key)
        if reader is None:
            known = ", ".join(_KEYS)
            raise BadConfig(f'{CONFIG_FILE} has an unknown key "{key}"; the keys are: {known}.')
        name, convert = reader
        values[name] = convert(f"{key} in {CONFIG_FILE}", value)
    return values


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


def _check_url(name: str, url: str) -> None:
    if not re.fullmatch(r"https?://[^\s/@]+(/[^\s@]*)?", url):
        variable = "GITHUB_API_URL" if name == "api_url" else "GITHUB_GRAPHQL_URL"
        raise BadConfig(f"{variable} must be an http or https URL without credentials.")


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
    "project.owner": ("project_owner", _text),
    "project.number": ("project_number", _number),
    "checks.poll_seconds": ("poll_seconds", _positive),
}
