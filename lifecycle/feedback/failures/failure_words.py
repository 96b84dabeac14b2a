"""Every sentence about who has to fix failed checks, and about changes that weaken checks. Pure.

Each says what happened, what was kept, what to do next; others' words are in quotation marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from lifecycle.core.messages.figures import count
from lifecycle.core.redact import few, named, quoted, short, visible
from lifecycle.settings import resources

if TYPE_CHECKING:
    from lifecycle.feedback.checks.packet import CheckFailure, FailurePacket
    from lifecycle.feedback.failures.tampering import TamperFinding

SHOWN = 5
GO_ON = "lifecycle feedback go-on"
"""The command to run after the user says to continue."""
_NAME, _IDENTITY, _LINE = 80, 160, 120

sentence: Final = resources.Sentences("feedback/failures/sentences.toml")


def of_head(key: str, packet: FailurePacket, failed: Sequence[CheckFailure], base: str = "") -> str:
    """The sentence of this name on failures of a head: their cause, and what follows."""
    about = {"packet": packet, "number": packet.pull, "head": packet.head[:7], "base": base[:7]}
    reasons = ", ".join(dict.fromkeys(failure.broken for failure in failed))
    identities = _shown([name for failure in failed for name in failure.identities])
    checks = (named(name, _NAME) for failure in failed for name in failure.names)
    return sentence(key, **about, checks=few(checks, SHOWN), broken=reasons, identities=identities)


def stopped(number: int, why: str, asked: Sequence[str], packets: Sequence[str], most: int) -> str:
    """To the person, through the agent: the fixes do not help."""
    reason = {
        "attempts": f"it failed at {count(most, 'head')}",
        "no change": "the last fix did not change what fails",
        "heads": "the agent was already woken for it at many heads",
    }[why]
    words = {"asked": _shown(asked), "packets": ", ".join(packets[-SHOWN:])}
    return sentence("stopped", number=number, reason=reason, go_on=GO_ON, **words)


def opened(number: int, stopped: Sequence[str]) -> str:
    """To the user who said to continue with the failures that they were asked about."""
    if not stopped:
        return sentence("nothing-opened", number=number)
    return sentence("opened", number=number, stopped=_shown(stopped))


def weakened(findings: Iterable[TamperFinding]) -> tuple[str, ...]:
    """How a change weakens the checks, each finding in a few words."""
    return tuple(
        f"{finding.what} in {named(finding.path, _LINE)}"
        + (f": {quoted(finding.line, _LINE)}" if finding.line else "")
        for finding in findings
    )


def weakens(number: int, red: str, head: str, changes: Sequence[str], *, is_agents: bool) -> str:
    """To the agent or the person: the commits since a red head weaken the checks."""
    end = sentence("weakens-to-agent" if is_agents else "weakens-to-person")
    commits = {"red": red[:7], "head": head[:7]}
    return sentence("weakens", number=number, changes=few(changes, SHOWN, "; "), end=end, **commits)


def shown(identity: str) -> str:
    """An identity as people call it: without the word that says what kind it is."""
    return re.sub(r"^(?:test|error) ", "", identity)


def _shown(identities: Sequence[str]) -> str:
    names = dict.fromkeys(identities)
    return few((quoted(visible(short(shown(name), _IDENTITY))) for name in names), SHOWN)
