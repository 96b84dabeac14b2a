"""The three kinds of expected errors, and their subclasses.

Every error carries one sentence for a person: what happened, what was kept, what to do next. None of
them ever carries a token: adapters build sentences from status codes and GitHub's own messages only.

* `Refused`: a rule of ours forbids it. Nothing was written.
* `Transient`: unknown, or not now. Look again after `retry_after` seconds.
* `Rejected`: GitHub (or git) answered, and the answer is no. `evidence` has its own words.
"""

from __future__ import annotations

from collections.abc import Iterable


def did_you_mean(name: str, candidates: Iterable[str]) -> str:
    """` Did you mean "bug"?` for a name that is nearly one of the candidates, else ""."""
    from difflib import get_close_matches  # needed only if something was misspelt

    by_case = {candidate.casefold(): candidate for candidate in candidates}
    near = get_close_matches(name.casefold(), by_case)
    return f' Did you mean "{by_case[near[0]]}"?' if near else ""


class LifecycleError(Exception):
    """An expected failure, whose text is one sentence for a person.

    Attributes:
        for_agent: True if the agent itself can fix it (edit the claim, commit, push): then a hook tells
            the agent; every other error goes to the person.
        is_of_access: True if another token, or other rights of it, may bring another answer.
        evidence: the other side's own words, shortened, without secrets; "" if there are none.
    """

    for_agent = False
    is_of_access = False

    def __init__(self, sentence: str, *, evidence: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.evidence = evidence

    def __str__(self) -> str:
        return self.sentence


class Refused(LifecycleError):
    """A rule of the product forbids it; nothing was written."""


class ClaimRefused(Refused):
    """The claim file has content that the product cannot act on; the file is kept as it is."""

    for_agent = True


class IllegalMove(Refused):
    """The phase table has no such transition; the sentence names the legal ones."""

    for_agent = True


class NoToken(Refused):
    """There is no token, or none that may be used here.

    Attributes:
        is_absent: no token was given; otherwise the sentence says what is wrong with the given one.
    """

    is_of_access = True

    def __init__(self, sentence: str, *, is_absent: bool = False) -> None:
        super().__init__(sentence)
        self.is_absent = is_absent


class BadConfig(Refused):
    """`.lifecycle.toml`, an environment variable or a remote cannot be used."""

    is_of_access = True


class HeldByAnother(Refused):
    """Somebody else holds the task; the CLI exits with 4."""


class Transient(LifecycleError):
    """Unknown or not now: a time-out, a 5xx, a rate limit, a lost connection, a lagging read.

    Attributes:
        retry_after: seconds to wait before looking again, or None if the server named no time.
        is_ambiguous: True if a write may have been done although no answer came back.
    """

    def __init__(
        self,
        sentence: str,
        *,
        retry_after: float | None = None,
        is_ambiguous: bool = False,
        evidence: str = "",
    ) -> None:
        super().__init__(sentence, evidence=evidence)
        self.retry_after = retry_after
        self.is_ambiguous = is_ambiguous


class LockBusy(Transient):
    """Another lifecycle process works on this claim."""


class Rejected(LifecycleError):
    """The other side answered no; `evidence` has its own words."""


class BadCredentials(Rejected):
    """GitHub does not know the token (401)."""

    is_of_access = True


class NoPermission(Rejected):
    """The token may not do this (403, or 404 where GitHub hides what it protects)."""

    is_of_access = True


class NotFound(Rejected):
    """GitHub knows no such repository, issue, pull request or project."""

    is_of_access = True


class Transferred(NotFound):
    """The issue was moved to another repository; `evidence` is its new address."""

    is_of_access = False


class MissingScope(Rejected):
    """The token lacks a scope; the sentence names it and the command that adds it."""

    is_of_access = True


class Unsupported(Rejected):
    """This server does not know a field or a type that is needed (an older Enterprise Server)."""


class Moved(Rejected):
    """The repository has another name now: reads follow it, but a write is refused with the new name."""


class LogExpired(Rejected):
    """GitHub has deleted the log of this job by now (410)."""


class PullRequestExists(Rejected):
    """There is an open pull request for this head and base (422)."""


class NothingToMerge(Rejected):
    """The head branch has no commit that the base lacks (422 "No commits between")."""

    for_agent = True


class HeadMissing(Rejected):
    """The head branch does not exist on the remote (422, field head)."""

    for_agent = True


class AlreadyExists(Rejected):
    """The label, milestone, ref or relation exists already (422)."""


class NotMergeable(Rejected):
    """The pull request cannot be merged as it is: a conflict, a rule, a missing check (405)."""


class HeadMoved(Rejected):
    """The branch is not where the caller saw it: somebody pushed meanwhile (409)."""

    for_agent = True


class UnknownOption(Rejected):
    """The board has no such field or option; the sentence names those that exist."""

    for_agent = True


class StaleFields(Rejected):
    """A cached field or option id no longer belongs to the board; refresh the cache once."""


class ItemArchived(Rejected):
    """The board item is archived and cannot be updated."""


class ItemMissing(Rejected):
    """The board has no such item (any more)."""


class GitFailed(Rejected):
    """git ran and failed; `evidence` is its last line."""


class NotInstalled(Refused):
    """The tracker's own program is missing, or cannot be run."""


class NoWorkspace(Refused):
    """There is no database of the tracker here."""


class VersionUnsupported(Refused):
    """The tracker's program has a version that cannot be used."""


class Lacking(Refused):
    """The tracker cannot do that; nothing was done.

    Attributes:
        capability: the missing capability, as `tracker.Capability` names it.
    """

    def __init__(self, sentence: str, *, capability: str = "") -> None:
        super().__init__(sentence)
        self.capability = capability


class AlreadyClaimed(HeldByAnother):
    """Somebody else holds the task; `by` is their name as the tracker writes it, or "" if unknown."""

    def __init__(self, sentence: str, *, by: str = "") -> None:
        super().__init__(sentence)
        self.by = by


class NotClaimable(Refused):
    """The task may not be begun; `status` is the tracker's own word for its state."""

    def __init__(self, sentence: str, *, status: str = "") -> None:
        super().__init__(sentence)
        self.status = status


class BlockedBy(Refused):
    """Open tasks block it; `ids` are their ids, as far as the tracker names them."""

    def __init__(self, sentence: str, *, ids: tuple[str, ...] = ()) -> None:
        super().__init__(sentence)
        self.ids = ids


class Invalid(Rejected):
    """The tracker does not accept this value: an unknown status, an empty title, a circle."""


class Busy(Transient):
    """The tracker's database is in use; nothing was done."""


class ProtocolError(Rejected):
    """The tracker's answer cannot be understood; `evidence` is a part of it."""


class Crashed(Transient):
    """The tracker's program ended in the middle of its work; the work may have been done."""


class TimedOut(Transient):
    """The tracker did not answer in time and was ended; a write may have been done."""
