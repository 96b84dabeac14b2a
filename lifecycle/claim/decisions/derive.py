"""Derive what is true of a claim, whatever its file says: from GitHub, and from the user's yes to closing.

An agent may write any phase at any moment; only GitHub knows the state of a pull request.

The design keeps a human in the loop for the last step: the agent asks, the user answers, and only
then is the phase `done`. An agent can write `done` by itself, so something else has to show the yes:
a prompt that a person wrote, which the hook on prompts notes (`Snapshot.answered_at`). `lifecycle close`, a
nudge with its reason, and `close = "auto"` in the settings are a yes by themselves, and the closing
comment says which it was.

A task may be taken over, or released, from another machine. The worktree that had the claim learns of it
only at its next look: by another's lease or name on the card (`apply_loss`), or by a lease that is gone
(`engine/observing.py`). What people change by hand (assignees, the card's Status) ends no claim.

This module also says which write an earlier failure delays (`may_try`, `is_given_up`).
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable

from lifecycle.claim.decisions.snapshot import NOTHING, Decision, Snapshot
from lifecycle.claim.decisions.table import IN_REVIEW, PHASES, Phase
from lifecycle.claim.record.claim_file import Claim, message
from lifecycle.claim.record.sections import Trouble
from lifecycle.claim.record.state import BEST_EFFORT_TRIES, Record, kind_of, mark_of
from lifecycle.core import hidden_marker
from lifecycle.core.messages import messages, review_messages
from lifecycle.core.plan import ASKED, Action, Audience, Notice
from lifecycle.core.timing import CLOCK_SKEW
from lifecycle.core.values.model import Comment, Hold, Issue, Observation, PullRequest, PullState

AUTO_CONSENT = "auto"
PROMPT_CONSENT = "prompt"

QUESTION = "merged"
"""The event of the question about closing; the question's key begins with it."""

REFUSED = "not-answered:"
"""The beginning of the key of the notice that a `done` does not count; it asks as well."""

QUESTIONS = (QUESTION, REFUSED.removesuffix(":"))
"""The events whose notices ask about closing, as `is_question` knows them."""

_WHOLE_SECOND = 1.0
"""GitHub gives the second in which a merge began: a prompt in the same second may have come before it."""


def pull_request_of(snapshot: Snapshot) -> PullRequest | None:
    """The pull request that the claim is about, or None: there is none, or GitHub was not read."""
    observed = snapshot.observation
    if observed is None:
        return None
    return pull_of(snapshot.record, observed, snapshot.head_owner, snapshot.settings.base)


def pull_of(
    record: Record, observed: Observation, head_owner: str, base: str | None
) -> PullRequest | None:
    """The pull request that this claim is about, or None; its branch is in `head_owner`'s repository.

    It is the one whose number the claim names, if its head is the claim's branch (or if this claim opened
    it: the head of a deleted fork has no owner any more). Once that one is closed, it is the branch's open
    one, or the one in which the work continued (`went_on_in`). If the claim names none, it is the branch's
    open one; else the newest merged one that refers to the issue, unless it merged before this claim was
    taken, or into another base, like a backport. A closed pull request of a reused branch is never adopted,
    and neither is one from somebody else's branch of the same name.
    """
    claim, named = record.claim, observed.by_number
    ours = [pull for pull in observed.by_branch if is_ours(pull, claim, head_owner)]
    opened = _open(ours)
    if named and (named.number == record.pull.opened or is_ours(named, claim, head_owner)):
        if named.state is not PullState.CLOSED:
            return named
        merged = [pull for pull in ours if _closes(pull, record, observed.repository)]
        return opened or went_on_in(named, merged) or named
    ours = [pull for pull in ours if not merged_elsewhere(pull, base, observed)]
    return opened or next((p for p in ours if _closes(p, record, observed.repository)), None)


def went_on_in(closed: PullRequest, pulls: Iterable[PullRequest]) -> PullRequest | None:
    """The newest pull request, into any base, that was opened after the closed one was over; or None.

    A backport does not count: it is opened while its original is open, or after its original's merge.
    """
    over = closed.closed_at
    later = [pull for pull in pulls if over is not None and (pull.opened_at or 0.0) >= over]
    return max(later, key=lambda pull: pull.number, default=None)


def merged_elsewhere(pull: PullRequest, base: str | None, observed: Observation) -> str:
    """The base that it merged into, if neither the configured `base` nor the default branch; else ""."""
    is_known = pull.state is PullState.MERGED and pull.base and observed.default_branch
    return pull.base if is_known and pull.base not in (base, observed.default_branch) else ""


def open_pull_request_of(
    claim: Claim, observed: Observation, head_owner: str, base: str = ""
) -> PullRequest | None:
    """The open pull request of the claim's branch (into `base`, if given), or None."""
    ours = (pull for pull in observed.by_branch if is_ours(pull, claim, head_owner))
    return _open(pull for pull in ours if pull.base in (base or pull.base, ""))


def merged_as_pushed(snapshot: Snapshot, observed: Observation) -> PullRequest | None:
    """The pull request that merged exactly what is pushed, so that there is nothing left to open; or None.

    One that the claim does not name counts too, unless it merged into another base. After a squash the
    branch's commits are not in the base, so GitHub would open another pull request.
    """
    claim, base = snapshot.record.claim, snapshot.settings.base
    here = (pull for pull in observed.by_branch if not merged_elsewhere(pull, base, observed))
    for pull in filter(None, (observed.by_number, *here)):
        is_claims = is_ours(pull, claim, snapshot.head_owner) and mentions(pull, claim.issue_number)
        if is_claims and pull.state is PullState.MERGED and pull.head_sha == snapshot.pushed_head:
            return pull
    return None


def merged_meanwhile(snapshot: Snapshot) -> PullRequest | None:
    """The pull request of the claim that was merged while the claim was at work, or None.

    It is the one that the claim names. If the claim names none, it is one whose merge closed the issue:
    somebody else opened it from the claim's branch.
    """
    record, observed = snapshot.record, snapshot.observation
    if observed is None or record.judged == Phase.MERGED_DETECTED:
        return None  # a merge that was seen was told; work after that is for something new
    pull, issue = pull_request_of(snapshot), observed.issue
    if pull is None or pull.state is not PullState.MERGED:
        return None
    number = record.claim.pr_number
    is_by_others = number is None and issue is not None and not issue.is_open
    return pull if is_by_others or pull.number == number else None


def _closes(pull: PullRequest, record: Record, repository: str) -> bool:
    """True if the pull request merged for the claim's issue, and not before the claim was taken."""
    number, is_merged = record.claim.issue_number, pull.state is PullState.MERGED
    is_for_it = is_merged and number is not None and refers(pull, number, repository)
    return is_for_it and not is_earlier(pull, record)


def is_earlier(pull: PullRequest, record: Record) -> bool:
    """True if the merge belongs to an earlier claim: it came before this claim, which does not name it."""
    is_own = not record.is_taken or pull.number == record.claim.pr_number
    is_before = pull.merged_at is not None and pull.merged_at < record.created_at - CLOCK_SKEW
    return is_before and not is_own


def ended_before_reopening(pull: PullRequest, issue: Issue) -> bool:
    """True if somebody reopened the issue after the pull request ended: there is more to do than it did.

    Of two events of one second GitHub does not show the first: then it counts as reopened, and a person is
    asked.
    """
    ended_at, reopened_at = pull.merged_at or pull.closed_at, issue.reopened_at
    return ended_at is not None and reopened_at is not None and ended_at <= reopened_at


def phase_of(pull: PullRequest | None) -> Phase:
    """The phase that goes with a pull request's state; coding if there is none."""
    return _PHASE_BY_STATE[pull.state] if pull is not None else Phase.CODING


_PHASE_BY_STATE = {
    PullState.OPEN: Phase.CHECKS_RUNNING,
    PullState.MERGED: Phase.MERGED_DETECTED,
    PullState.CLOSED: Phase.PR_CLOSED,
}


def is_confirmed(record: Record) -> bool:
    """False if the phase needs a pull request that GitHub did not show: somebody wrote that phase."""
    claim, phase = record.claim, PHASES.get(record.claim.phase)
    if phase in IN_REVIEW:
        return bool(claim.pr_number) and record.judged in IN_REVIEW
    return phase is not Phase.MERGED_DETECTED or record.judged == phase


def is_rejected(record: Record) -> bool:
    """True if the issue was seen closed without a merge of this claim: then no pull request is opened."""
    return record.ending.issue_closed and record.judged != Phase.MERGED_DETECTED


def phase_before(record: Record) -> Phase:
    """The last phase in the file's history that needs no pull request."""
    return last_of(record, (Phase.CODING, Phase.READY_FOR_PR))


def last_of(record: Record, phases: Container[Phase | None]) -> Phase:
    """The last of these phases in the file's history; coding if it had none of them."""
    past = (PHASES.get(str(values.get("phase"))) for values in reversed(record.past))
    return next((phase for phase in past if phase is not None and phase in phases), Phase.CODING)


def was_merge_seen(record: Record) -> bool:
    """True if GitHub showed the merge, or let the issue be closed without one; a phase alone is a wish."""
    return record.judged in (Phase.MERGED_DETECTED, Phase.DONE)


def happened_at(pull_number: int | None, observed: Observation) -> float | None:
    """The time of the last event on GitHub that decides the task's Status, or None.

    It is the later of two times: when the issue was closed, and when its pull request was opened, or closed
    without a merge. None for an open issue while the claim has no pull request.
    """
    issue, pull = observed.issue, observed.by_number
    moments = [issue.closed_at] if issue is not None and not issue.is_open else []
    if pull is not None and pull.number == (pull_number or 0):  # 0: an imagined pull request
        moments.append(pull.closed_at if pull.state is PullState.CLOSED else pull.opened_at)
    return max((at for at in moments if at is not None), default=None)


def is_ours(pull: PullRequest, claim: Claim, head_owner: str) -> bool:
    """True if the pull request's head is the claim's branch in the repository that we push to."""
    return pull.branch == claim.branch and pull.head_owner.casefold() == head_owner.casefold()


def refers(pull: PullRequest, issue: int, repository: str) -> bool:
    """True if title or body refer to the issue in any of the forms that GitHub turns into a link.

    Source:
    https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
    """
    if mentions(pull, issue):
        return True
    text, name = f"{pull.title}\n{pull.body}", re.escape(repository)
    ways = rf"(?<!\w)GH-{issue}(?!\d)|(?<![\w./-]){name}#{issue}(?!\d)|/{name}/issues/{issue}(?!\d)"
    return bool(re.search(ways, text, re.IGNORECASE))


def mentions(pull: PullRequest, issue: int | None) -> bool:
    """True if title or body say `#issue`."""
    # One pattern for all numbers: compiling one for each would be a sweep's largest cost.
    return str(issue) in re.findall(r"(?<![\w/])#(\d+)", f"{pull.title}\n{pull.body}")


def mentioned(pull: PullRequest) -> tuple[int, ...]:
    """The numbers that title or body mention as `#N`, in the order of the text, each once."""
    numbers = re.findall(r"(?<![\w/])#(\d{1,9})(?!\d)", f"{pull.title}\n{pull.body}")
    return tuple(dict.fromkeys(int(number) for number in numbers))


def _open(pulls: Iterable[PullRequest]) -> PullRequest | None:
    """The first open pull request, or None."""
    return next((pull for pull in pulls if pull.state is PullState.OPEN), None)


def login_of(agent: str) -> str:
    """The account that made a claim: `login` in the agent's name `login-<seconds>`, or empty."""
    login, _, seconds = agent.rpartition("-")
    return login if seconds.isdecimal() and "\n" not in login else ""


def assigned(names: Iterable[str], login: str) -> str | None:
    """The account as these assignees' names spell it, or None: its case does not matter."""
    return next((name for name in names if name.casefold() == login.casefold()), None)


def is_app(login: str) -> bool:
    """True if the account is an App's; GitHub assigns none to an issue."""
    return login.endswith("[bot]")


def is_issue_gone(record: Record) -> bool:
    """True if GitHub showed no such issue when last asked, so that there is nothing to close."""
    return gone_key(record) in record.conditions


def lacks_issue(snapshot: Snapshot) -> bool:
    """True if GitHub shows no such issue, and showed none closed before: then nobody is asked about it."""
    observed, record = snapshot.observation, snapshot.record
    is_gone = is_issue_gone(record) if observed is None else observed.issue is None
    return is_gone and not record.ending.issue_closed


def gone_notice(record: Record) -> Notice:
    """The notice about an issue that GitHub does not show."""
    text = message("issue-gone", issue=record.claim.issue_number)
    return Notice(gone_key(record), text, Audience.ACT, stands=True)


def gone_key(record: Record) -> str:
    """The key of the notice about an issue that GitHub does not show."""
    return f"no-such-issue:{record.claim.issue_number}"


def question_key(record: Record, number: int | None) -> str:
    """The question's key in the ledger, after the claim's own key; `number` is the pull request's.

    After a reopening or a revert it is another question.
    """
    return ":".join((QUESTION, str(number), *_undone(record)))


def is_question(key: str, record: Record) -> bool:
    """True if the notice with this key of the ledger asks about closing this claim's issue."""
    claim, _, event = key.partition("/")
    is_asking = event == question_key(record, record.claim.pr_number) or event.startswith(REFUSED)
    return claim == record.claim_key and is_asking


def is_question_put(record: Record) -> bool:
    """True if the question was asked for the claim's present pull request."""
    return record.pull.asked is not None and record.pull.asked == record.claim.pr_number


def left_out(record: Record, *, is_closed: bool) -> list[str]:
    """The sentence about commits of the branch that the merge lacks; an empty list if there are none."""
    count, claim = record.pull.left_out, record.claim
    if not count:
        return []
    return [messages.left_out(claim.pull, count, claim.branch, is_closed=is_closed)]


def open_parts(record: Record) -> list[str]:
    """The sentence about open sub-issues of the issue; an empty list if there are none."""
    parts = record.ending.open_parts
    return [messages.open_parts(record.claim.issue_number, parts)] if parts else []


def question(record: Record, number: int) -> str:
    """The question about closing after the merge of a pull request, with what the merge left undone."""
    issue, pull, ending = record.claim.issue_number, record.pull, record.ending
    how = {"is_open": not ending.issue_closed, "is_reopened": ending.is_reopened}
    sentences = [messages.merged(number, issue, into=pull.merged_into, **how)]
    sentences += [messages.reverted(number, pull.reverted_by)] * bool(pull.reverted_by)
    sentences += [*open_parts(record), *left_out(record, is_closed=False)]
    sentences += [f"{review_messages.unanswered(number, pull.unanswered)}."] * bool(pull.unanswered)
    sentences += [review_messages.holds(pull.tampering)] * bool(pull.tampering)
    return " ".join(sentences)


def is_answer_awaited(record: Record) -> bool:
    """True if the question was asked and the claim still waits for the answer."""
    return is_question_put(record) and record.claim.phase == Phase.MERGED_DETECTED


def counts_done(record: Record, *, hears_prompts: bool, is_unheard: bool = False) -> bool:
    """True if `done` in the file can be the yes; else only `lifecycle close` is one.

    Args:
        record: the claim, of a session or made by hand.
        hears_prompts: the hook on the user's prompts is installed.
        is_unheard: as `Snapshot.is_unheard`.
    """
    return hears_prompts or not (record.ownership.session or is_unheard)


def with_merge(
    record: Record, pull: PullRequest, base: str | None, observed: Observation | None
) -> Record:
    """The record with what came of a merge: another base, a revert, and whether the issue was reopened.

    If a reopening or a revert is news, the question that was put is not the one that is put now. If GitHub
    showed nothing of it, what was seen before counts.
    """
    if observed is None or not observed.default_branch:
        return record
    issue = observed.issue
    is_reopened = issue is not None and issue.is_open and ended_before_reopening(pull, issue)
    into = merged_elsewhere(pull, base, observed)
    after = record.with_ending(is_reopened=is_reopened)
    after = after.with_pull(merged_into=into, reverted_by=pull.reverted_by)
    return after.with_pull(asked=None) if {*_undone(after)} - {*_undone(record)} else after


def closes_itself(snapshot: Snapshot) -> bool:
    """True if the settings are a yes to closing after the recorded merge.

    They are not if checks were weakened, after a merge into another base or one that was reverted, or if
    somebody reopened the issue after the merge: a person judges those.
    """
    pull = snapshot.record.pull
    is_doubtful = pull.tampering or pull.merged_into or _undone(snapshot.record)
    return snapshot.settings.close == AUTO_CONSENT and not is_doubtful


def _undone(record: Record) -> list[str]:
    """What was seen after the merge: that the issue was reopened, that the merge was reverted; or []."""
    is_reopened, is_reverted = record.ending.is_reopened, bool(record.pull.reverted_by)
    return ["reopened"] * is_reopened + ["reverted"] * is_reverted


def is_outdated(before: Record, snapshot: Snapshot) -> bool:
    """True if this look is the first to show a reopening, or a revert: no yes was given to that.

    Only a command's yes was, if it looks at once; `before`: the claim as it was known until this look.
    """
    is_typed = before.ending.consent not in ("", AUTO_CONSENT, PROMPT_CONSENT)
    is_first = {*_undone(snapshot.record)} - {*_undone(before)}
    is_judged = _needs_yes(snapshot) or before.judged == Phase.DONE  # a closing that was cut off
    return bool(is_first) and is_judged and not (is_typed and snapshot.wake in ASKED)


def _needs_yes(snapshot: Snapshot) -> bool:
    """False if a person wrote `done`, since there is no session; in a client not served, its agent did."""
    return bool(snapshot.record.ownership.session or snapshot.hears_prompts or snapshot.is_unheard)


def is_consent_missing(snapshot: Snapshot, merged: PullRequest) -> bool:
    """True if nobody has said yes to closing after this merge: none is recorded, and somebody has to.

    A command that was killed before its look may have recorded a yes from before the merge. `merged_at` is
    GitHub's clock and a prompt's moment is this machine's, as everywhere in the engine.
    """
    record = snapshot.record
    is_recorded = bool(record.ending.consent)
    is_recorded &= was_merge_seen(record) or snapshot.wake in ASKED
    # A closing may have been cut off, and the issue reopened or the merge reverted since.
    is_recorded &= not (_undone(record) and record.ending.consent == AUTO_CONSENT)
    is_agreed = bool(record.ending.override) or is_recorded or closes_itself(snapshot)
    if is_agreed or not _needs_yes(snapshot):
        return False
    answered_at = snapshot.answered_at if snapshot.hears_prompts else None
    if answered_at is None:
        return True
    if is_question_put(snapshot.record):
        # This prompt is newer than the question, which deleted the mark of any earlier prompt.
        return False
    return merged.merged_at is None or answered_at < merged.merged_at + _WHOLE_SECOND


def may_try(snapshot: Snapshot, action: Action) -> bool:
    """False while an earlier failure of the same action delays it.

    In a look by command, only a failure of that look itself delays it.
    """
    if kind_of(action) in snapshot.failed:
        return False
    trouble = _trouble_of(snapshot.record, action)
    return snapshot.wake in ASKED or trouble is None or snapshot.now >= trouble.until


def _trouble_of(record: Record, action: Action) -> Trouble | None:
    """The earlier failure of this very attempt, or None."""
    trouble = record.troubles.get(kind_of(action))
    return trouble if trouble is not None and trouble.mark == mark_of(action) else None


def condition(key: str, text: str, *, ends: tuple[str, ...] = ()) -> Decision:
    """A decision that only tells the agent what to correct."""
    return Decision(notices=(Notice(key, text, Audience.ACT, stands=True, ends=ends),))


def attempt(snapshot: Snapshot, action: Action | None, notices: Iterable[Notice] = ()) -> Decision:
    """The decision to do this next; without the action while an earlier failure delays it."""
    tried = action if action is not None and may_try(snapshot, action) else None
    return Decision(action=tried, notices=tuple(notices)) if tried or notices else NOTHING


def is_given_up(record: Record, action: Action) -> bool:
    """True if a best-effort step was refused, or failed too often: the ending continues without it."""
    trouble = _trouble_of(record, action)
    return trouble is not None and (trouble.is_final or trouble.tries >= BEST_EFFORT_TRIES)


def ending_step(snapshot: Snapshot, action: Action | None) -> Decision | None:
    """The decision to do this step of an ending; None if it is needless or given up: the next follows."""
    is_over = action is None or is_given_up(snapshot.record, action)
    return None if is_over else attempt(snapshot, action)


def apply_loss(before: Record, record: Record, observed: Observation) -> Record:
    """The record after an observation, with the agent that took the task over, or "".

    Its lease says so, which outweighs a card; else the card. A lease whose date is older than this claim
    may come from a read that lags: it counts once git was asked (`engine/observing.py`). If the claim is
    known only from its file, nothing says which is older. A missing lease shows nothing here, and neither
    does a card without an agent once the issue is closed: whoever took the task closed it.

    Args:
        before: the claim as it was known before this observation.
        record: the same after `apply_card`.
        observed: what GitHub showed.
    """
    hold, issue, known = observed.hold, observed.issue, before.ownership.taken_by
    if not before.past or issue is None:
        return record  # a record that a sweep made up, without a claim file; no agent holds it
    if hold is None:
        names_none = observed.item is None or not observed.item.agent
        return record.with_ownership(taken_by=known) if names_none and not issue.is_open else record
    if is_own(hold, record):
        return record.with_ownership(taken_by="")
    is_newer = hold.since is None or hold.since >= int(before.created_at) or not before.is_taken
    is_other = hold.agent and (is_newer or hold.agent == known)
    return record.with_ownership(taken_by=hold.agent) if is_other else record


def is_own(hold: Hold, record: Record) -> bool:
    """True if the lease is the claim's."""
    return hold.sha == record.ownership.lease or hold.agent == record.claim.agent_id


def loss_line(record: Record) -> str:
    """The sentence about a lost task, and what to do."""
    number, holder = record.claim.issue_number, record.ownership.taken_by
    if holder:
        return messages.taken_over(number, holder)
    return messages.released_from_afar(number)


def told_at(issue: Issue, agent: str | None) -> int | None:
    """The time of the newest release comment for an agent's (None: any) claim on the issue, or None.

    A release that is resumed without state.json uses the same time, and so finds its comment again.
    """
    return max((at for _, at in tellings(issue.comments or (), issue.number, agent)), default=None)


def tellings(posted: Iterable[Comment], number: int, agent: str | None) -> list[tuple[int, int]]:
    """Id and time of each comment on the release of an agent's (None: any) claim on an issue, by id."""
    by = re.escape(hidden_marker.word(agent)) if agent is not None else r"[\w.-]*"
    mark = hidden_marker.of("released", issue=number, by=by, at=r"(\d{1,12})")
    marks = ((note.id, re.fullmatch(mark, hidden_marker.mark_in(note.body))) for note in posted)
    return sorted((number, int(match[1])) for number, match in marks if match)
