"""The token: where it is, whose, of what kind, what it was given; and the clock. No value is shown."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from lifecycle.core import timing
from lifecycle.core.errors import BadCredentials, LifecycleError, NoToken, Rejected, Transient
from lifecycle.core.values.model import RepositoryAccess, TokenFacts
from lifecycle.settings import config, user_folder
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, FixStep, cause, finding
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
    yield finding("token.found.whose", whose=_owner(facts), source=case.token_source)
    if facts.server_version:
        api = case.addresses.api_url
        yield finding("token.server", version=facts.server_version, api=api)
    yield from _end(case, facts)
    yield from _key_file(case)
    yield from _scopes(case, facts)
    yield from _kind(case, facts)
    if facts.remaining is not None and facts.limit is not None:
        is_little = facts.remaining < FEW_REQUESTS
        yield finding("token.rate.few" if is_little else "token.rate.enough", facts=facts)


def _nothing(case: Examined, error: LifecycleError) -> Iterator[DoctorFinding]:
    if error is case.settings_problem:
        return  # said with the settings
    if isinstance(error, NoToken) and not error.is_absent:
        yield finding("token.found.unusable", cause=cause(error))
    elif isinstance(error, NoToken):
        path = user_folder.shown(user_folder.CONFIG, case.environment)
        yield finding("token.found.none", path=path)
    elif error is case.token and isinstance(error, Rejected):
        yield finding("token.app", cause=cause(error), web=case.web)
    elif isinstance(error, BadCredentials):
        fix = "unset GH_TOKEN GITHUB_TOKEN; gh auth login && export GH_TOKEN=$(gh auth token)"
        if not isinstance(case.token, LifecycleError) and case.token.renew is not None:
            # The next one is a new one.
            fix = f"rm {user_folder.shown(user_folder.TOKENS, case.environment)}"
        yield finding("token.valid.refused", source=case.token_source, fix=fix)
    elif isinstance(error, Transient):
        silence = cause(error).partition(" when asked")[0].rstrip(".")
        yield finding("token.answer", cause=silence, api=case.addresses.api_url)
    else:
        yield finding("token.valid.other", cause=cause(error))


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
        yield finding("token.expires.renewed", minutes=minutes)
    elif facts.expires_at is not None:
        days, date = int((facts.expires_at - now) / DAY), timing.render_time(facts.expires_at)[:10]
        key = "token.expires.late" if days >= FEW_DAYS else "token.expires.soon"
        yield finding(key, date=date, days=days, web=case.web)


def _key_file(case: Examined) -> Iterator[DoctorFinding]:
    """Whether others on this machine can read the App's private key."""
    for of_user in (False, True):
        app = config.app(case.environment, of_user=of_user)
        file = app.key_file if app is not None else None
        if file is not None and file.exists() and file.stat().st_mode & 0o077:
            yield finding("token.key", file=file, quoted=shlex.quote(str(file)))


def _by_labels(case: Examined) -> str:
    """The end of a sentence that says where the Status is kept without a board; empty if nowhere."""
    if case.settings.project_number is None or case.settings.labels_use == "never":
        return ""
    return f'; the Status is kept as labels ("{case.settings.labels_prefix}in progress")'


def _scopes(case: Examined, facts: TokenFacts) -> Iterator[DoctorFinding]:
    """Whether an OAuth token has the scopes that are needed; tokens of other kinds list nothing."""
    if facts.scopes is None:
        return
    is_public = isinstance(case.access, RepositoryAccess) and not case.access.is_private
    missing = []
    hinders: list[str] = []
    if "repo" not in facts.scopes and not (is_public and "public_repo" in facts.scopes):
        missing.append("repo")
        hinders += _REPO_STEPS
    if case.settings.project_number is not None and "project" not in facts.scopes:
        missing.append("project")
        hinders.append(FixStep.BOARD)
    if not missing:
        yield finding("token.scopes.enough", given=", ".join(facts.scopes))
        return
    words = {
        "plural": "s" if len(missing) > 1 else "",
        "names": " and ".join(missing),
        "given": ", ".join(facts.scopes) or "none",
        "labels": _by_labels(case) if "project" in missing else "",
    }
    fix = _refresh(case, ",".join(missing))
    yield finding("token.scopes.missing", **words, fix=fix, hinders=hinders)


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
        yield finding("token.permissions.unlisted", board=board, web=case.web)
    elif facts.kind == "actions":
        labels = _by_labels(case)
        if has_board and not labels:
            yield finding("token.permissions.boardless")
            return
        board = f" and cannot touch a board{labels}" if has_board else ""
        hinders = (FixStep.BOARD,) if has_board else ()
        yield finding("token.permissions.actions", board=board, hinders=hinders)


MOST_SECONDS = 30.0
"""A difference that disturbs nothing; an answer may be some seconds on its way."""


def check_clock(case: Examined) -> Iterator[DoctorFinding]:
    """How far this clock is from GitHub's, by the time of GitHub's last answer."""
    facts, asked_at = case.facts, case.asked_at
    if not isinstance(facts, TokenFacts) or facts.server_time is None:
        return
    apart = asked_at - facts.server_time
    if abs(apart) <= MOST_SECONDS:
        yield finding("clock.time.right")
        return
    direction = "ahead of" if apart > 0 else "behind"
    yield finding("clock.time.wrong", span=_span(abs(apart)), direction=direction)


def _span(seconds: float) -> str:
    for size, name in ((86_400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {name}"
    return f"{seconds:.0f} seconds"
