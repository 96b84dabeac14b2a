"""Every sentence about whose failed checks are, and about changes that weaken them. Pure.

What happened, what was kept, what to do next; what others wrote stands in quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from lifecycle.core.messages.figures import count
from lifecycle.core.redact import named, quoted, short, visible
from lifecycle.feedback.failures.ladder import BETWEEN, FailureFact
from lifecycle.feedback.failures.tampering import TamperFinding

SHOWN = 5
GO_ON = "lifecycle feedback go-on"
"""The command that is run once the user says to go on."""
_NAME, _IDENTITY, _LINE = 80, 160, 120


def run_again(number: int, head: str, failures: Sequence[FailureFact]) -> str:
    """To the person: the runner failed, and another attempt was asked for."""
    broken = ", ".join(dict.fromkeys(failure.broken for failure in failures))
    return (
        f"CI of PR #{number} at {head[:7]}: {_checks(failures)} failed by what it ran on ({broken}); the "
        "failed jobs are run again, and the agent was not woken."
    )


def inherited(number: int, head: str, failures: Sequence[FailureFact], base: str, path: str) -> str:
    """To the agent: the base fails alike."""
    return (
        f"CI: {_checks(failures)} failed on PR #{number} at {head[:7]}, and fails alike on its base at "
        f"{base[:7]}: {_identities(failures)}. It is not this PR's, so do not fix it here; tell the user. "
        f"It is looked at again when the base moves. What the logs say is in {path}."
    )


def mended(number: int, failures: Sequence[FailureFact], base: str) -> str:
    """To the agent: the base does not fail any more."""
    return (
        f"CI: {_checks(failures)} failed on PR #{number} as on its base, which does not fail any more at "
        f"{base[:7]}. Merge the base branch, run the tests and push; the new head is watched."
    )


def stopped(number: int, why: str, asked: Sequence[str], packets: Sequence[str], most: int) -> str:
    """To the person, by the agent: mending comes to nothing."""
    reason = {
        "attempts": f"it failed at {count(most, 'head')}",
        "no change": "the last fix changed nothing in what fails",
        "heads": "the agent was woken for that at many heads already",
    }[why]
    return (
        f"CI of PR #{number} is red again with {_shown(asked)}: {reason}, so the agent is not woken for it "
        f"any more. Ask the user what is to be done; if that is to go on: {GO_ON}. What the logs say is in "
        f"{', '.join(packets[-SHOWN:])}."
    )


def still_stopped(number: int, head: str, failures: Sequence[FailureFact], path: str) -> str:
    """To the person: what they were asked about fails still."""
    return (
        f"CI of PR #{number} at {head[:7]}: {_checks(failures)} fails as you were told, and the agent was "
        f"not woken; what the logs say is in {path}."
    )


def opened(number: int, stopped: Sequence[str]) -> str:
    """To the user who said to go on with what they were asked about."""
    if not stopped:
        return f"The agent is woken for whatever fails on PR #{number}; nothing was to be opened again."
    return (
        f"The agent is woken again for {_shown(stopped)} on PR #{number}; how often it failed is counted "
        "anew. The next head that is pushed is watched."
    )


def weakened(findings: Iterable[TamperFinding]) -> tuple[str, ...]:
    """What a change takes from the checks, each in a few words."""
    return tuple(
        f"{finding.what} in {named(finding.path, _LINE)}"
        + (f": {quoted(finding.line, _LINE)}" if finding.line else "")
        for finding in findings
    )


def weakens(number: int, red: str, head: str, changes: Sequence[str], *, is_agents: bool) -> str:
    """To the agent or the person: the commits since a red head weaken the checks."""
    end = (
        "If that is no part of the task, take it back and push. The user and the PR are told; the issue is "
        "closed only after the user's yes."
        if is_agents
        else "It stands in the PR's text, and the issue is closed only after your yes."
    )
    return (
        f"What was pushed to PR #{number} since {red[:7]} failed weakens its checks (at {head[:7]}): "
        f"{'; '.join(changes[:SHOWN])}{_more(changes)}. {end}"
    )


def shown(identity: str) -> str:
    """An identity as people call it: without the word that says what kind it is."""
    return re.sub(r"^(?:test|error) ", "", identity)


def _checks(failures: Sequence[FailureFact]) -> str:
    names = [name.rpartition(BETWEEN)[2] for failure in failures for name in failure.checks]
    return ", ".join(named(name, _NAME) for name in names[:SHOWN]) + _more(names)


def _identities(failures: Sequence[FailureFact]) -> str:
    return _shown([name for failure in failures for name in failure.identities])


def _shown(identities: Sequence[str]) -> str:
    names = list(dict.fromkeys(identities))
    texts = (quoted(visible(short(shown(identity), _IDENTITY))) for identity in names[:SHOWN])
    return ", ".join(texts) + _more(names)


def _more(names: Sequence[str]) -> str:
    return f" (+{len(names) - SHOWN} more)" if len(names) > SHOWN else ""
