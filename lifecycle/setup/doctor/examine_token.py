"""The token: where it is, whose, of what kind, what it was given; and the clock. No value is shown."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lifecycle.core import timing
from lifecycle.core.errors import BadCredentials, LifecycleError, NoToken, Rejected, Transient
from lifecycle.core.values.model import RepositoryAccess, TokenFacts
from lifecycle.settings import config, user_folder
from lifecycle.setup.doctor.doctor_finding import (
    ON_GITHUB,
    DoctorFinding,
    FixStep,
    cause,
    fail,
    ok,
    warn,
)
from lifecycle.setup.doctor.examined import Examined

FEW_REQUESTS = 100
"""Of an hour's requests; an hour of one claim's polls costs about thirty."""

DAY = 86_400.0
FEW_DAYS = 7
"""Fewer than these left of a token are worth a remark."""

_REPO_STEPS = (FixStep.CLAIM, FixStep.PR, FixStep.CLOSE)


def check(case: Examined) -> Iterator[DoctorFinding]:
    """What GitHub says of the token."""
    facts = case.facts
    if isinstance(facts, LifecycleError):
        yield from _nothing(case, facts)
        return
    yield ok("token.found", f"{_owner(facts)}, from {case.token_source}.")
    if facts.server_version:
        api = case.addresses.api_url
        yield ok(
            "token.server", f"GitHub Enterprise Server {facts.server_version} answers at {api}."
        )
    yield from _end(case, facts)
    yield from _key_file(case)
    yield from _scopes(case, facts)
    yield from _kind(case, facts)
    yield from _rate(facts)


def _nothing(case: Examined, error: LifecycleError) -> Iterator[DoctorFinding]:
    source = case.token_source
    if error is case.settings_problem:
        return  # said with the settings
    if isinstance(error, NoToken) and not error.is_absent:
        yield fail("token.found", cause(error), ON_GITHUB, "export GH_TOKEN=$(gh auth token)")
    elif isinstance(error, NoToken):
        path = user_folder.shown(user_folder.CONFIG, case.environment)
        yield fail(
            "token.found",
            f"No token: neither GH_TOKEN nor GITHUB_TOKEN is set, {path} names no token_command and no "
            "App, and gh is not logged in.",
            ON_GITHUB,
            "gh auth login",
        )
    elif error is case.token and isinstance(error, Rejected):
        yield fail("token.app", cause(error), ON_GITHUB, f"compare it at {case.web}/settings/apps")
    elif isinstance(error, BadCredentials):
        fix = "unset GH_TOKEN GITHUB_TOKEN; gh auth login && export GH_TOKEN=$(gh auth token)"
        if not isinstance(case.token, LifecycleError) and case.token.renew is not None:
            # The next one is a new one.
            fix = f"rm {user_folder.shown(user_folder.TOKENS, case.environment)}"
        yield fail(
            "token.valid", f"GitHub does not accept the token from {source}.", ON_GITHUB, fix
        )
    elif isinstance(error, Transient):
        says = cause(error).partition(" when asked")[0].rstrip(".")
        api = case.addresses.api_url
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


def _end(case: Examined, facts: TokenFacts) -> Iterator[DoctorFinding]:
    """When the token ends; an App's is followed by another without anybody's doing.

    Source: https://docs.github.com/authentication/keeping-your-account-and-data-secure/token-expiration-and-revocation
    """
    token = case.token
    now = facts.server_time or case.clock.now()
    if not isinstance(token, LifecycleError) and token.expires_at is not None:
        minutes = max(int((token.expires_at - case.clock.now()) / 60), 0)
        says = f"It ends in {minutes} minutes, and is renewed before."
        yield ok("token.expires", says)
    elif facts.expires_at is not None:
        days = int((facts.expires_at - now) / DAY)
        says = f"It ends on {timing.render_time(facts.expires_at)[:10]}, in {days} days."
        if days >= FEW_DAYS:
            yield ok("token.expires", says)
        else:
            yield warn(
                "token.expires", says, ON_GITHUB, f"make a new one at {case.web}/settings/tokens"
            )


def _key_file(case: Examined) -> Iterator[DoctorFinding]:
    """Whether others on this machine can read the App's private key."""
    for of_user in (False, True):
        app = config.app(case.environment, of_user=of_user)
        file = app.key_file if app is not None else None
        if file is not None and file.exists() and file.stat().st_mode & 0o077:
            yield warn(
                "token.key",
                f"Others on this machine can read the App's private key ({file}).",
                fix=f"chmod 600 {shlex.quote(str(file))}",
            )


def _by_labels(case: Examined) -> str:
    """What becomes of the Status without the board, as the end of a sentence; empty if nothing."""
    if case.settings.project_number is None or case.settings.labels_use == "never":
        return ""
    return f'; the Status is kept as labels ("{case.settings.labels_prefix}in progress")'


def _scopes(case: Examined, facts: TokenFacts) -> Iterator[DoctorFinding]:
    """What an OAuth scope allows is known; the permissions of other kinds are listed nowhere."""
    if facts.scopes is None:
        return
    is_public = isinstance(case.access, RepositoryAccess) and not case.access.is_private
    missing = []
    hinders: tuple[FixStep, ...] = ()
    if "repo" not in facts.scopes and not (is_public and "public_repo" in facts.scopes):
        missing.append("repo")
        hinders += _REPO_STEPS
    if case.settings.project_number is not None and "project" not in facts.scopes:
        missing.append("project")
        hinders += (FixStep.BOARD,)
    if not missing:
        yield ok("token.scopes", f"Its scopes suffice: {', '.join(facts.scopes)}.")
        return
    names = " and ".join(missing)
    given = ", ".join(facts.scopes) or "none"
    labels = _by_labels(case) if "project" in missing else ""
    yield fail(
        "token.scopes",
        f"It lacks the scope{'s' if len(missing) > 1 else ''} {names}; it has: {given}{labels}.",
        hinders,
        _refresh(case, ",".join(missing)),
    )


def _refresh(case: Examined, scopes: str) -> str:
    """The command for more scopes; gh does nothing to its own token while a variable holds another."""
    refresh = f"gh auth refresh -s {scopes}"
    source = case.token_source
    if source == "token_command":
        return refresh
    return f"unset {source}; {refresh} && export {source}=$(gh auth token)"


def _kind(case: Examined, facts: TokenFacts) -> Iterator[DoctorFinding]:
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
        labels = _by_labels(case)
        board = f" and cannot touch a board{labels}" if has_board else ""
        yield (fail if has_board and not labels else warn)(
            "token.permissions",
            f"It starts no workflows for PRs that it opens{board}.",
            (FixStep.CI, *((FixStep.BOARD,) if has_board else ())),
            "use a token of a person or of a GitHub App as GH_TOKEN",
        )


def _rate(facts: TokenFacts) -> Iterator[DoctorFinding]:
    if facts.remaining is None or facts.limit is None:
        return
    says = f"{facts.remaining} of {facts.limit} requests of this hour are left."
    if facts.remaining < FEW_REQUESTS:
        yield warn("token.rate", says, (FixStep.CI, FixStep.MERGE), "gh api rate_limit")
    else:
        yield ok("token.rate", says)


MOST_SECONDS = 30.0
"""A difference that disturbs nothing; an answer may be some seconds on its way."""


def check_clock(case: Examined) -> Iterator[DoctorFinding]:
    """How far apart both are, as GitHub's last answer tells."""
    facts, asked_at = case.facts, case.asked_at
    if not isinstance(facts, TokenFacts) or facts.server_time is None:
        return
    apart = asked_at - facts.server_time
    if abs(apart) <= MOST_SECONDS:
        yield ok("clock.time", "The clock agrees with GitHub's.")
        return
    yield warn(
        "clock.time",
        f"The clock is {_span(abs(apart))} {'ahead of' if apart > 0 else 'behind'} GitHub's: pauses "
        "between polls, the age of a lease and the wait before a comment is sent again are wrong.",
        (FixStep.CI, FixStep.LEASE, FixStep.CLOSE),
        "sudo timedatectl set-ntp true",
    )


def _span(seconds: float) -> str:
    for size, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
