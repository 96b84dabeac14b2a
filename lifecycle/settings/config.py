"""Settings: the environment wins over the user's config.toml, and that over `.lifecycle.toml`.

A project's file comes with the repository, from whoever wrote that. So it may not name an API host or a
command that prints a token: those come from the environment (GITHUB_API_URL and GITHUB_GRAPHQL_URL, as
GitHub Actions sets them; GH_TOKEN or GITHUB_TOKEN), or from `CONFIG` in the user's own folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from lifecycle.core.errors import BadConfig, NoToken, did_you_mean
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.settings import readers, resources
from lifecycle.storage import regular_files, store

if TYPE_CHECKING:
    from lifecycle.core.values.configured import Addresses, Settings

CONFIG_FILE = regular_files.CONFIG_FILE

NAME, CONFIG = "lifecycle", "config.toml"
"""The user's own folder below `~/.config`, and the settings in it."""

PROJECT_VARIABLES = ("LIFECYCLE_PROJECT_NUMBER", "MOLTNET_PROJECT_NUMBER")
"""Either of these makes lifecycle serve a repository, even without a claim."""

OWNER_VARIABLES = ("LIFECYCLE_PROJECT_OWNER", "MOLTNET_PROJECT_OWNER")
"""Either of these decides the owner of the board, whatever a project's file says."""

_ENVIRONMENT: dict[str, tuple[tuple[str, ...], Any]] = {
    "project_number": (PROJECT_VARIABLES, readers.project_number),
    "project_owner": (OWNER_VARIABLES, readers.login),
    "repository": (("LIFECYCLE_REPOSITORY",), readers.repository),
    "hook_seconds": (("LIFECYCLE_HOOK_SECONDS",), readers.positive),
}
"""For each name in `Settings`, the variables that win over the file, and the reader of the value."""

TOKEN_VARIABLES = ("GH_TOKEN", "GITHUB_TOKEN")
APP_VARIABLES = {
    "id": "LIFECYCLE_APP_ID",
    "installation": "LIFECYCLE_APP_INSTALLATION",
    "private_key": "LIFECYCLE_APP_PRIVATE_KEY_FILE",
    "pem": "LIFECYCLE_APP_PRIVATE_KEY",
}
# We do not read these, but gh prints them for any host of its own, as it does the first two.
_GHS_OWN = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
SECRETS = frozenset({*TOKEN_VARIABLES, *APP_VARIABLES.values(), *_GHS_OWN})
"""The variables that hold a token or say where an App's key lies."""


Keys = Mapping[str, tuple[str, Any]]
"""For each key of a file, the name of its value in the settings, and its reader."""


def is_served(root: Path, environment: Mapping[str, str]) -> bool:
    """True if this repository opted in without a claim: a config file or a project variable."""
    return file_of(root).is_file() or any(environment.get(v) for v in PROJECT_VARIABLES)


def file_of(root: Path) -> Path:
    """The settings file of this worktree, whether or not it exists."""
    return Path(regular_files.settings_path(str(root)))


def own_folder(environment: Mapping[str, str]) -> Path | None:
    """The user's folder, whether or not it exists; None if the environment names no home.

    Source: the XDG Base Directory Specification, which says to ignore a base folder that is not absolute.
    """
    base = Path(environment.get("XDG_CONFIG_HOME", ""))
    if base.is_absolute():
        return base / NAME
    home = Path(environment.get("HOME", ""))
    return home / ".config" / NAME if home.is_absolute() else None


def own_path(name: str, environment: Mapping[str, str]) -> str:
    """The path of a file in the user's folder as a person would write it."""
    place = own_folder(environment)
    if place is None:
        return f"~/.config/{NAME}/{name}"
    home = environment.get("HOME", "")
    path = str(place / name)
    return f"~{path.removeprefix(home)}" if home and path.startswith(f"{home}/") else path


@dataclass(frozen=True, slots=True)
class AppKey:
    """A GitHub App whose installation tokens are used; `pem` is a secret.

    Attributes:
        id: the client ID, or the App's number.
        installation: the installation's number, or None for the repository's.
        key_file: the file with the private key, or None if `pem` has the key.
        where: the names of the settings for id, installation and private_key, for sentences.
    """

    id: str
    installation: int | None
    key_file: Path | None
    pem: str = field(default="", repr=False)
    where: Mapping[str, str] = field(default_factory=lambda: APP_VARIABLES)


def web_host(api_url: str) -> str:
    """The host of the pages and repositories of a GitHub, from its API's address."""
    netloc = urlsplit(api_url).netloc.casefold()
    return "github.com" if netloc == "api.github.com" else netloc.removeprefix("api.")


def renaming(name: object, remote: str = "origin") -> str:
    """The command that gives a remote its repository's new name, whatever its URL looks like."""
    # ssh or https, with a port or a token: everything but the last two parts of the URL is kept.
    return (
        f'git remote set-url {remote} "$(git remote get-url {remote} | '
        f"sed 's,[^/:]*/[^/]*$,{name}.git,')\""
    )


def is_known_to_gh(host: str) -> bool:
    """True for a host that gh can log in at; it knows no ports."""
    return "." in host and ":" not in host and not host.replace(".", "").isdecimal()


def gh_option(api_url: str) -> str:
    """The option with which a gh command uses this GitHub, after a space; "" for github.com."""
    host = web_host(api_url)
    return f" --hostname {host}" if is_known_to_gh(host) and host != "github.com" else ""


def addresses(environment: Mapping[str, str]) -> Addresses:
    """GitHub's addresses according to the environment and the user's file; raises BadConfig."""
    return _addresses(environment, user_settings(environment))


def names_github(environment: Mapping[str, str]) -> bool:
    """True if the environment or the user's file names GitHub's address."""
    named = any(environment.get(name) for name in ("GITHUB_API_URL", "GITHUB_GRAPHQL_URL"))
    return named or bool({"api_url", "graphql_url"} & user_settings(environment).keys())


def variable_token(environment: Mapping[str, str], gh: str = "") -> tuple[str, str] | None:
    """The token of GH_TOKEN, else of GITHUB_TOKEN, and the variable's name; None if neither is set.

    `gh`: the result of `gh_option`, for the advice.

    Raises:
        BadConfig: the value cannot be sent as a header.
    """
    for name in TOKEN_VARIABLES:
        if value := environment.get(name, "").strip():
            way = f"Set it again: export {name}=$(gh auth token{gh})"
            return readers.token(name, value, way), name
    return None


def for_child(child: str, environment: Mapping[str, str], *, keeps: bool = False) -> dict[str, str]:
    """The variables that a program which we start for a project sees: git, its validation, bd.

    It does not see those from which we take a token or an App's key, unless the user's own file names the
    program in `pass_tokens_to`. A file that cannot be used counts as naming none; other code that reads the
    settings reports what is wrong with it.

    Args:
        child: the program's name in `pass_tokens_to` of the user's file: "git", "validate", "check",
            "tracker".
        environment: variables that are added to this process's own, and override them.
        keeps: the program needs the secrets for its work.

    Returns:
        All variables, without `SECRETS` unless `keeps` is set or the user's file names the child.
    """
    variables = {**os.environ, **environment}
    for name in ("PYTHONPATH", "PYTHONHOME"):  # `hooks/common` keeps them from our own Python alone
        if kept := variables.pop(f"LIFECYCLE_{name}", ""):
            variables.setdefault(name, kept)
    if keeps or SECRETS.isdisjoint(variables):
        return variables
    with suppress(BadConfig):
        if child in user_settings(variables).get("pass_tokens_to", ()):
            return variables
    return {name: value for name, value in variables.items() if name not in SECRETS}


def tracker_folders(environment: Mapping[str, str]) -> tuple[Path, ...]:
    """The folders outside of a repository in which the user allows a project's tasks; raises BadConfig."""
    folders: tuple[str, ...] = user_settings(environment).get("tracker_folders", ())
    read = partial(readers.own_file, "tracker.folders", environment=environment)
    return tuple(read(folder).resolve() for folder in folders)


def load(root: Path, environment: Mapping[str, str]) -> Settings:
    """Read the settings for one worktree.

    Raises:
        BadConfig: a file is not TOML, or a key or value cannot be used; the sentence names it.
    """
    from lifecycle.core.values import configured  # needed only if settings are read

    path = file_of(root)
    written_ns = regular_files.mtime_ns(str(path), follow=True)  # a later edit has another date
    values = _from_file(path, CONFIG_FILE, _KEYS, follow=False)
    for name, (variables, read) in _ENVIRONMENT.items():
        value = next((environment[v] for v in variables if environment.get(v)), None)
        if value is not None:
            values[name] = read(variables[0], value)
    if "hook_seconds" in values:
        values["hook_seconds"] = min(values["hook_seconds"], configured.HOOK_SECONDS)
    user = user_settings(environment)
    addresses = _addresses(environment, user)
    values |= {"api_url": addresses.api_url, "graphql_url": addresses.graphql_url}
    values |= {"merge": user["merge"]} if "merge" in user else {}
    for part, kind in (("stages", configured.StageSettings), ("run", configured.RunSettings)):
        names = [name for name in values if name.startswith(f"{part}/")]
        own = {name.removeprefix(f"{part}/"): values.pop(name) for name in names}
        values[part] = kind(**own)
    return configured.Settings(**values, written_ns=written_ns)


def app(environment: Mapping[str, str], *, of_user: bool) -> AppKey | None:
    """The GitHub App that the environment names, or the user's file; None if it names none.

    A key from the user's file is used only for the addresses that this file names, not for others that
    happen to be in the environment.

    Args:
        environment: the variables, which also say where the user's file is.
        of_user: read the file, not the variables.

    Raises:
        BadConfig: a value cannot be used, or one is missing.
        NoToken: the file's App is for other addresses.
    """
    if of_user:
        file_name = own_path(CONFIG, environment)
        user = user_settings(environment)
        values = {key: user.get(f"app_{key}") for key in APP_VARIABLES}
        shown = {key: f"app.{key} in {file_name}" for key in APP_VARIABLES}
    else:
        values = {key: environment.get(name) or None for key, name in APP_VARIABLES.items()}
        shown = dict(APP_VARIABLES)
    if not any(values.values()):
        return None
    if values["id"] is None or not (values["private_key"] or values["pem"]):
        missing = "id" if values["id"] is None else "private_key"
        in_action = "" if of_user else f" (in the Action: app-{missing.replace('_', '-')})"
        raise BadConfig(resources.sentence("app-in-part", key=shown[missing], action=in_action))
    if of_user:
        demand_own_hosts(environment, user, f"GitHub App in {file_name}")
    id_, number = readers.app_id(shown["id"], values["id"]), values["installation"]
    installation = readers.number(shown["installation"], number) if number else None
    file, pem = values["private_key"], str(values["pem"] or "")
    key_file = readers.own_file(shown["private_key"], file, environment) if file else None
    where = shown if file else {**shown, "private_key": shown["pem"]}
    return AppKey(id_, installation, key_file, pem, where)


def demand_own_hosts(environment: Mapping[str, str], user: Mapping[str, Any], secret: str) -> None:
    """Refuse to use the user's own secret for addresses that only the environment names; NoToken."""
    strange_hosts = _addresses(environment, user).hosts - _addresses({}, user).hosts
    if strange_hosts:
        raise NoToken(resources.sentence("other-host", secret=secret, host=min(strange_hosts)))


def user_settings(environment: Mapping[str, str]) -> dict[str, Any]:
    """The settings in the user's config.toml."""
    place = own_folder(environment)
    if place is None:
        return {}
    return _from_file(place / CONFIG, own_path(CONFIG, environment), USER_KEYS)


def _addresses(environment: Mapping[str, str], user: Mapping[str, Any]) -> Addresses:
    """The addresses of REST and GraphQL; the file's one of GraphQL counts only with the file's REST."""
    from lifecycle.core.values.configured import API_URL, Addresses

    rest_url = environment.get("GITHUB_API_URL")
    api_url = readers.url("GITHUB_API_URL", rest_url) if rest_url else user.get("api_url", API_URL)
    if graphql := environment.get("GITHUB_GRAPHQL_URL"):
        return Addresses(api_url, readers.url("GITHUB_GRAPHQL_URL", graphql))
    if not rest_url and "graphql_url" in user:
        return Addresses(api_url, user["graphql_url"])
    return Addresses.of_api(api_url)


def _from_file(path: Path, shown: str, keys: Keys, *, follow: bool = True) -> dict[str, Any]:
    """The file's values, read and checked; a project's may not be a link, which could lead to any file."""
    try:
        file = store.read(path, follow=follow)
    except OSError as error:
        raise BadConfig(f"{shown} cannot be read ({error.strerror}); nothing was done.") from None
    if file is None:
        return {}
    import tomllib

    try:
        data = tomllib.loads(file.content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:  # also for a number that is too long to be read
        raise BadConfig(f"{shown} is not valid TOML ({error}); nothing was done.") from None
    values: dict[str, Any] = {}
    for key, value in _flat(data):
        reader = keys.get(key)
        if reader is None:
            raise BadConfig(_unknown(key, shown, keys))
        name, convert = reader
        values[name] = convert(f"{key} in {shown}", value)
    return values


def _unknown(key: str, shown: str, keys: Keys) -> str:
    """The sentence about a key that the file may not have."""
    if key in USER_KEYS:
        return resources.sentence("not-projects", shown=shown, key=key)
    if key in _KEYS:
        return resources.sentence("not-persons", shown=shown, key=key)
    names, near = ", ".join(keys), did_you_mean(key, keys)
    return resources.sentence("no-key", shown=shown, key=key, keys=names, near=near)


def _flat(data: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in data.items():
        if isinstance(value, dict) and prefix + key not in _TABLES:
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


_TABLES = frozenset({"checks.commands", "stages.workflows"})
"""Keys whose value is a table of the user's own words."""

_KEYS: Keys = {
    "repository": ("repository", readers.repository),
    "remote": ("remote", readers.remote),
    "base": ("base", readers.branch),
    "issue_link": ("issue_link", readers.link),
    "validate": ("validate", readers.commands),
    "close": ("close", partial(readers.choice, ("ask", "auto"))),
    "update_branch": ("update_branch", readers.flag),
    "project.owner": ("project_owner", readers.login),
    "project.number": ("project_number", readers.project_number),
    "checks.poll_seconds": ("poll_seconds", readers.positive),
    "checks.commands": ("check_commands", readers.check_commands),
    "checks.seconds": ("check_seconds", readers.positive),
    "ci.rerun": ("ci_rerun", readers.number_or_none),
    "ci.attempts": ("ci_attempts", readers.number),
    "wait.unattended": ("wait_unattended", readers.duration),
    "labels.use": ("labels_use", partial(readers.choice, ("auto", "always", "never"))),
    "labels.prefix": ("labels_prefix", readers.prefix),
    "reconcile.release": ("reconcile_release", readers.flag),
    "reconcile.silent_hours": ("silent_hours", readers.hours),
    "tdd.enforce": ("tdd_enforce", partial(readers.choice, ("off", "warn", "deny"))),
    "tracker.use": ("tracker_use", readers.tracker),
    "tracker.folder": ("tracker_folder", readers.text),
    "evidence.runners": ("evidence_runners", readers.tables),
    "stages.use": ("stages/use", readers.flag),
    "stages.label": ("stages/label", readers.label),
    "stages.test": ("stages/test", readers.commands),
    "stages.review": ("stages/review", readers.text),
    "stages.deploy": ("stages/deploy", readers.text),
    "stages.start": ("stages/start", readers.text),
    "stages.require_evidence": ("stages/require_evidence", readers.flag),
    "stages.max_blocks": ("stages/max_blocks", readers.number),
    "stages.workflows": ("stages/workflows", readers.workflows),
    "run.max_iterations": ("run/max_iterations", readers.number),
    "run.max_sessions": ("run/max_sessions", readers.number),
    "run.max_hours": ("run/max_hours", readers.hours),
    "run.max_tokens": ("run/max_tokens", readers.number),
}
"""The keys of a project's file: the name in `Settings`, or `part/name` in one of its parts; its reader."""

USER_KEYS: Keys = {
    "api_url": ("api_url", readers.url),
    "graphql_url": ("graphql_url", readers.url),
    "token_command": ("token_command", readers.words),
    "merge": ("merge", partial(readers.choice, ("ask", "auto"))),
    "pass_tokens_to": ("pass_tokens_to", readers.children),
    "tracker.folders": ("tracker_folders", readers.folders),
    "app.id": ("app_id", readers.app_id),
    "app.installation": ("app_installation", readers.number),
    "app.private_key": ("app_private_key", readers.text),
}
"""The keys of the user's config.toml."""
