"""Sessions: their hooks, the cap on continuations, the waiter, and the log's last failure."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

from lifecycle.claim.decisions.table import IN_REVIEW
from lifecycle.core.errors import LifecycleError
from lifecycle.core.redact import visible
from lifecycle.settings.running_client import session_of
from lifecycle.setup.doctor.doctor_finding import DoctorFinding, finding
from lifecycle.setup.doctor.examined import Examined
from lifecycle.setup.init.hook_table import CAP, DEFAULT_CAP
from lifecycle.storage import log, signs_of_life


def check(case: Examined) -> Iterator[DoctorFinding]:
    """Whether its hooks were seen at work, and the cap, as the environment or a settings file sets it."""
    yield from _seen(case)
    value, where = _value(case)
    if value is None:
        yield finding("session.cap.unset", least=DEFAULT_CAP)
        return
    if value.isdecimal() and int(value) >= DEFAULT_CAP:
        yield finding("session.cap.enough", value=value, where=where)
        return
    fix = f"unset {CAP}" if where == "environment" else f"take {CAP} out of {where}"
    yield finding("session.cap.low", value=value, where=where, least=DEFAULT_CAP, fix=fix)


def cap_of(case: Examined) -> tuple[int, str]:
    """The cap that counts, and what sets it; "" where nothing does, or sets it to what is no number."""
    value, where = _value(case)
    if value is not None and value.isdecimal():
        return int(value), where
    return DEFAULT_CAP, ""


def _value(case: Examined) -> tuple[str | None, str]:
    for file in reversed(case.client.files):
        if CAP in file.variables:
            return str(file.variables[CAP]), file.shown
    return case.environment.get(CAP), "environment"


def _seen(case: Examined) -> Iterator[DoctorFinding]:
    """What settings say is one thing, and what the client does with them another."""
    session = session_of({}, case.environment)
    if not case.is_worktree or not session:
        return
    has_hooks = signs_of_life.has_met(case.claim_store.folder, session)
    yield finding("session.hooks.met" if has_hooks else "session.hooks.unmet")


RECENT_SECONDS = 86_400.0
"""What went wrong earlier is history."""

_LINE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),\d+ \d+ (.*)")
_WRONG = re.compile(
    r"\w+ failed: |(?:look|on-stop|on-idle|ci-waiter|session-\w+|user-prompt-submit): |deadline"
)
_LONGEST = 200


def check_waiter(case: Examined) -> Iterator[DoctorFinding]:
    """Whether somebody waits for news, and the last line of the log that tells of a failure."""
    if not case.is_worktree:
        return
    if signs_of_life.is_live(case.claim_store.folder, case.clock.now()):
        yield finding("waiter.live.now")
    elif _has_pull_request(case):
        yield finding("waiter.live.later" if has_met(case) else "waiter.live.never")
    wrong = _last_wrong(case)
    if wrong is not None:
        moment, text = wrong
        yield finding("waiter.log", moment=moment, what=visible(text))


def has_met(case: Examined) -> bool:
    """True if a hook of the session that runs this was seen; on a terminal, of any session."""
    return signs_of_life.has_met(case.claim_store.folder, session_of({}, case.environment))


def _has_pull_request(case: Examined) -> bool:
    try:
        record = case.claim_store.load(repair=False).record
    except LifecycleError:
        return False  # said with the worktree
    return record is not None and record.claim.phase in IN_REVIEW


def _last_wrong(case: Examined) -> tuple[str, str] | None:
    """When and what, unless something was done since."""
    content = case.claim_store.folder.read(log.LOG)
    lines = content.content.decode("utf-8", "replace").splitlines() if content is not None else []
    for line in reversed(lines):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        if " done for " in match[2]:
            return None
        if _WRONG.match(match[2]):
            return (match[1], _cut(match[2])) if _is_recent(case, match[1]) else None
    return None


def _cut(text: str) -> str:
    """At most so much of it, cut between two words."""
    if len(text) <= _LONGEST:
        return text
    start, gap, _ = text[:_LONGEST].rpartition(" ")
    return f"{start if gap else text[: _LONGEST - 1]}…"


def _is_recent(case: Examined, moment: str) -> bool:
    try:
        then = time.mktime(time.strptime(moment, "%Y-%m-%d %H:%M:%S"))
    except (ValueError, OverflowError):
        return False
    return case.clock.now() - then < RECENT_SECONDS
