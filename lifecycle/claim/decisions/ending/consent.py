"""The user's yes to closing an issue.

The design keeps a human in the loop for the last step: the agent asks, the user answers, and only
then is the phase `done`. An agent can write `done` by itself, so what counts is shown by something else:
a prompt that a person wrote, which the hook on prompts notes (`Snapshot.answered_at`). `lifecycle close`, a
nudge with its reason, and `close = "auto"` in the settings are a yes by themselves, and the closing
comment says which it was.
"""

from __future__ import annotations

from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.record.state import Record
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.model import PullRequest

AUTO = "auto"
PROMPT = "prompt"

RULE = (
    "The agent's own `done` counts if a person wrote a prompt after the merge, and after the question "
    "if one was put, or where no session is, as in a run by hand on a terminal; otherwise it becomes "
    "the question, and where prompts are not heard (no `user-prompt-submit` hook) only `lifecycle "
    "close` is the yes."
)
"""What holds, in the words of the README and docs/hooks.md."""

QUESTION = "merged"
"""The question's event: how its key begins."""

_REFUSED = "not-answered:"

_WHOLE_SECOND = 1.0
"""GitHub tells the second in which a merge began: a prompt within it may have come before."""


def given(record: Record, who: str) -> Record:
    """The record with who said yes to closing; "" takes that back."""
    return replace(record, ending=replace(record.ending, consent=who))


def question_key(number: int | None) -> str:
    """Under which the ledger keeps the question, behind the claim's own key."""
    return f"{QUESTION}:{number}"


def refusal_key(record: Record) -> str:
    """The same for the answer to a `done` that does not count; another edit is another attempt."""
    return f"{_REFUSED}{record.touched}"


def is_question(key: str, record: Record) -> bool:
    """True if the sentence with this key, as the ledger has it, asks about closing this claim's issue."""
    claim, _, event = key.partition("/")
    is_asking = event == question_key(record.claim.pr_number) or event.startswith(_REFUSED)
    return claim == record.claim_key and is_asking


def is_asked(record: Record) -> bool:
    """True if the question was put for the pull request that the claim has now."""
    return record.pull.asked is not None and record.pull.asked == record.claim.pr_number


def is_waited_for(record: Record) -> bool:
    """True if the question was put and the claim still waits for the answer."""
    return is_asked(record) and record.claim.phase == Phase.MERGED_DETECTED


def counts_done(record: Record, *, hears_prompts: bool) -> bool:
    """True if `done` in the file can be the yes; else only `lifecycle close` is.

    Args:
        record: the claim; it belongs to a session of the client, or was made and is run by hand.
        hears_prompts: the hook on the user's prompts is installed.
    """
    return hears_prompts or not record.ownership.session


def is_given(snapshot: Snapshot) -> bool:
    """True if `done` counts whatever the pull request is like: a command, the settings, no session."""
    record = snapshot.record
    if record.ending.override or record.ending.consent or snapshot.rules.closes_itself:
        return True
    return not (record.ownership.session or snapshot.hears_prompts)


def is_pending(snapshot: Snapshot) -> bool:
    """True if the question was put and nothing came since that could be the answer."""
    if is_given(snapshot) or not is_asked(snapshot.record):
        return False
    return not snapshot.hears_prompts or snapshot.answered_at is None


def is_missing(snapshot: Snapshot, merged: PullRequest) -> bool:
    """True if nobody has said yes to closing after this merge.

    `merged_at` is GitHub's clock and a prompt's moment is this machine's, as everywhere in the engine.
    """
    if is_given(snapshot):
        return False
    if not snapshot.hears_prompts or snapshot.answered_at is None:
        return True
    if is_asked(snapshot.record):
        return False  # the mark of an earlier prompt goes when the question is put
    return merged.merged_at is None or snapshot.answered_at < merged.merged_at + _WHOLE_SECOND
