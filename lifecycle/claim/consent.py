"""The user's yes to closing an issue.

The design keeps a human in the loop for the last step: the agent asks, the user answers, and only
then is the phase `done`. A session that was woken with the question could write `done` by itself. So
where the hook on the user's prompts is installed, `done` in the file counts only once a person has
written something after the question was put. `lifecycle close`, a nudge with its reason, and
`close = "auto"` in the settings are a yes by themselves, and the closing comment says which it was.
"""

from __future__ import annotations

from lifecycle.claim.seen import Seen
from lifecycle.claim.state import Record
from lifecycle.claim.table import Phase

AUTO = "auto"
PROMPT = "prompt"


def question_key(number: int | None) -> str:
    """Under which the ledger keeps the question, behind the claim's own key."""
    return f"merged:{number}"


def is_asked(record: Record) -> bool:
    """True if the question was put for the pull request that the claim has now."""
    return record.asked_pr is not None and record.asked_pr == record.claim.pr_number


def is_waited_for(record: Record) -> bool:
    """True if the question was put and the claim still waits for the answer."""
    return is_asked(record) and record.claim.phase == Phase.MERGED_DETECTED


def is_missing(seen: Seen) -> bool:
    """True if the question was put, a prompt would have been heard, and none came since."""
    record = seen.record
    if record.override or record.consent or seen.rules.closes_itself:
        return False
    return is_asked(record) and seen.hears_prompts and not seen.is_answered
