"""The token: where it is, whose, of what kind, and what it was given. Its value is never shown."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle import home
from lifecycle.doctor.case import Case
from lifecycle.doctor.finding import ON_GITHUB, Finding, Step, cause, fail, ok, warn
from lifecycle.errors import BadCredentials, LifecycleError, NoToken, Transient
from lifecycle.model import RepositoryAccess, TokenFacts

FEW_REQUESTS = 100
"""Of an hour's requests; an hour of one claim's polls costs about thirty."""

_REPO_STEPS = (Step.CLAIM, Step.PR, Step.CLOSE)


def check(case: Case) -> Iterator[Finding]:
    """What GitHub says of the token."""
    facts = case.facts
    if isinstance(facts, LifecycleError):
        yield from _nothing(case, facts)
        return
    yield ok("token.found", f"{_owner(facts)}, from {case.token_source}.")
    yield from _scopes(case, facts)
    yield from _kind(case, facts)
    yield from _rate(facts)


def _nothing(case: Case, error: LifecycleError) -> Iterator[Finding]:
    source = case.token_source
    if error is case.settings_problem:
        return  # said with the settings
    if (
        isinstance(error, NoToken)
        and source == "token_command"
        and "token_command" in error.sentence
    ):
        yield fail("token.found", cause(error), ON_GITHUB, "export GH_TOKEN=$(gh auth token)")
    elif isinstance(error, NoToken):
        path = home.shown(home.CONFIG, case.environment)
        yield fail(
            "token.found",
            f"No token: neither GH_TOKEN nor GITHUB_TOKEN is set, and {path} names no token_command.",
            ON_GITHUB,
            "export GH_TOKEN=$(gh auth token)",
        )
    elif isinstance(error, BadCredentials):
        fix = "unset GH_TOKEN GITHUB_TOKEN; gh auth login && export GH_TOKEN=$(gh auth token)"
        yield fail(
            "token.valid", f"GitHub does not accept the token from {source}.", ON_GITHUB, fix
        )
    elif isinstance(error, Transient):
        says = cause(error).partition(" when asked")[0].rstrip(".")
        api = case.settings.api_url
        yield fail(
            "token.answer",
            f"{says} ({api}), so nothing that needs it was looked at.",
            ON_GITHUB,
            f"curl -sSI {api}",
        )
    else:
        yield fail("token.valid", cause(error), ON_GITHUB, "export GH_TOKEN=$(gh auth token)")


def _owner(facts: TokenFacts) -> str:
    kind = {
        "fine-grained": "A fine-grained token",
        "classic": "A classic token",
        "oauth": "A token of an OAuth app, such as gh",
        "app": "A token of a GitHub App",
        "actions": "The token of GitHub Actions",
    }.get(facts.kind, "A token of unknown kind")
    return f"{kind} of {facts.login}" if facts.login else kind


def _scopes(case: Case, facts: TokenFacts) -> Iterator[Finding]:
    """What an OAuth scope allows is known; the permissions of other kinds are listed nowhere."""
    if facts.scopes is None:
        return
    is_public = isinstance(case.access, RepositoryAccess) and not case.access.is_private
    missing = []
    hinders: tuple[Step, ...] = ()
    if "repo" not in facts.scopes and not (is_public and "public_repo" in facts.scopes):
        missing.append("repo")
        hinders += _REPO_STEPS
    if case.settings.project_number is not None and "project" not in facts.scopes:
        missing.append("project")
        hinders += (Step.BOARD,)
    if not missing:
        yield ok("token.scopes", f"Its scopes suffice: {', '.join(facts.scopes)}.")
        return
    names = " and ".join(missing)
    given = ", ".join(facts.scopes) or "none"
    yield fail(
        "token.scopes",
        f"It lacks the scope{'s' if len(missing) > 1 else ''} {names}; it has: {given}.",
        hinders,
        _refresh(case, ",".join(missing)),
    )


def _refresh(case: Case, scopes: str) -> str:
    """The command for more scopes; gh does nothing to its own token while a variable holds another."""
    refresh = f"gh auth refresh -s {scopes}"
    source = case.token_source
    if source == "token_command":
        return refresh
    return f"unset {source}; {refresh} && export {source}=$(gh auth token)"


def _kind(case: Case, facts: TokenFacts) -> Iterator[Finding]:
    has_board = case.settings.project_number is not None
    if facts.kind == "fine-grained":
        board = "; Projects: read and write, on boards of an organisation only" if has_board else ""
        yield warn(
            "token.permissions",
            "What it may do is listed nowhere; it needs Issues and Pull requests: read and write; "
            f"Contents, Actions and Commit statuses: read{board}.",
            fix=f"compare at {case.web}/settings/personal-access-tokens",
        )
    elif facts.kind == "actions":
        board = " and cannot touch a board" if has_board else ""
        yield (fail if has_board else warn)(
            "token.permissions",
            f"It starts no workflows for PRs that it opens{board}.",
            (Step.CI, *((Step.BOARD,) if has_board else ())),
            "use a token of a person or of a GitHub App as GH_TOKEN",
        )


def _rate(facts: TokenFacts) -> Iterator[Finding]:
    if facts.remaining is None or facts.limit is None:
        return
    says = f"{facts.remaining} of {facts.limit} requests of this hour are left."
    if facts.remaining < FEW_REQUESTS:
        yield warn("token.rate", says, (Step.CI, Step.MERGE), "gh api rate_limit")
    else:
        yield ok("token.rate", says)
