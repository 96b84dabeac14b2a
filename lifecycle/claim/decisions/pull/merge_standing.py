"""Judge the merge of an open pull request: queue, auto-merge, a branch behind its base, whom it waits for.

Pure. Each look that reads the checks judges it again. What a person switched off stays off, and GitHub is
asked for each thing once for each head.

If a pull request waits for several (`awaited`), its author comes first, who has to fix something before
others can continue; the merge comes last, when nothing else is left. The state of the merge is told in the
words of `merge_messages`, here as everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.claim.decisions.derive import AUTO_CONSENT, may_try
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.record.claim_file import message
from lifecycle.claim.record.sections import MergeRecord, Whom
from lifecycle.core import plan
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages import merge_messages as words
from lifecycle.core.plan import Audience, Notice
from lifecycle.core.values.checks import Bucket, Verdict
from lifecycle.core.values.model import Conversations, Ejection, PullRequest

CONFLICTING, BEHIND = "CONFLICTING", "BEHIND"

SETTLES = 60.0
"""Seconds after which GitHub shows what came of a change.

A pull request that is still open by then, after it left the merge queue, was not merged by it: GitHub
reports the leaving in either case, and may show the merge a moment later.

Source: https://github.com/objectstack-ai/objectstack/issues/19343
"""

UNTESTED_SECONDS = 600.0
"""Seconds in which a check of a queue's commit should begin: else its event was lost, or nothing hears it.

Source: https://github.com/loopdive/js2/issues/1357
"""

EVENTS = ("conflict", "ejected", "queue", "standing", "auto-merge", "auto-kept", "updated")
"""The events of this module's notices."""

_WAITING = ("BLOCKED", BEHIND)
_READY = ("CLEAN", "HAS_HOOKS")


def known(before: MergeRecord, pull: PullRequest, now: float) -> MergeRecord:
    """The record of the merge after a look that read the checks.

    Args:
        before: the record of the last such look.
        pull: as it was read.
        now: seconds since the epoch.
    """
    ejection = pull.ejection.id if pull.ejection is not None else ""
    is_new = ejection != before.ejection
    merging = replace(before, head=pull.head_sha, has_queue=pull.has_queue, ejection=ejection)
    if ejection and is_new:
        # The head of the previous look was thrown out; one that was pushed since then is a new attempt.
        head = before.head or (pull.head_sha if _leaving(pull) else "")
        merging = replace(merging, ejected=head, asked={**merging.asked, plan.AUTO_MERGE: head})
    was_queued, queue = bool(before.queued), pull.queue
    commit = queue.commit if queue and queue.state == "AWAITING_CHECKS" else ""
    untested = commit if queue and not queue.has_checks else ""
    queued = (before.queued or pull.head_sha) if queue is not None else ""
    since = before.untested_since if untested == before.untested else now
    # Once it is queued again, a person may take the same head out that a hand-off took out before.
    handed_out = before.handed_out if queue is None or was_queued else ""
    merging = replace(merging, queued=queued, handed_out=handed_out)
    merging = replace(merging, untested=untested, untested_since=since)
    if pull.is_auto_merge:
        # A look that read auto-merge before we switched it off still shows it on. Whoever switched it on
        # since then may also switch it off.
        is_back = before.asked.get(plan.AUTO_MERGE_OFF) == pull.head_sha
        return replace(merging, auto_on="" if is_back else pull.head_sha, is_left_off=False)
    is_asked = before.asked.get(plan.AUTO_MERGE) == pull.head_sha != merging.ejected
    # Somebody may have switched it off before any look saw it on.
    was_on = before.is_ours and is_asked and now - before.asked_at >= SETTLES
    was_on = was_on or before.auto_on == pull.head_sha
    is_off = was_on and not (queue or was_queued or is_new)
    is_left_off = before.is_left_off or is_off or _is_taken_out(pull, merging, now)
    is_left_off = is_left_off and queue is None
    is_ours = before.is_ours and bool((is_asked and not is_off) or queue)
    return replace(merging, auto_on="", is_left_off=is_left_off, is_ours=is_ours)


def mended_first(snapshot: Snapshot, pull: PullRequest, merging: MergeRecord) -> Iterator[Notice]:
    """Notices about what the agent has to fix before the merge: a conflict, an ejection."""
    number, head = pull.number, pull.head_sha
    if pull.mergeable == CONFLICTING:
        text = message("conflicts", number=number, base=pull.base)
        yield Notice(f"conflict:{number}:{head}:{pull.base}", text, Audience.NEWS)
    out, is_of_it = ejection_of(pull), merging.ejected in ("", head)
    if out is not None and is_of_it and _is_settled(out, snapshot.now):
        text = message("ejected", number=number, out=words.thrown_out(out.reason), url=pull.url)
        yield Notice(f"ejected:{number}:{out.commit}:{out.id}", text, Audience.NEWS)


def ejection_of(pull: PullRequest) -> Ejection | None:
    """How the merge queue last threw it out; None if it is queued again, or a check began since then."""
    ejection = _leaving(pull)
    return None if ejection is None or ejection.is_by_hand else ejection


def _is_taken_out(pull: PullRequest, merging: MergeRecord, now: float) -> bool:
    """True if a person took it out of the queue; a hand-off, which also does so, pushes right after."""
    ejection, head = _leaving(pull), merging.ejected
    if ejection is None or not ejection.is_by_hand or (head and head == merging.handed_out):
        return False
    return head not in ("", pull.head_sha) or _is_settled(ejection, now)


def _leaving(pull: PullRequest) -> Ejection | None:
    """How it last left the merge queue; None if it is queued again, or a check began since then."""
    ejection = pull.ejection if pull.queue is None else None
    if ejection is None or ejection.at is None:
        return None
    runs = pull.checks.runs if pull.checks is not None else ()
    is_newer = any(run.started_at is not None and run.started_at > ejection.at for run in runs)
    return None if is_newer else ejection


def _is_settled(ejection: Ejection, now: float) -> bool:
    return ejection.at is not None and now - ejection.at >= SETTLES


def notices(snapshot: Snapshot, pull: PullRequest, merging: MergeRecord) -> Iterator[Notice]:
    """Notices about the queue, and about what was asked of GitHub or switched off there.

    Args:
        snapshot: as it was before this look was judged.
        pull: as it was read.
        merging: what is known about the merge after this look.
    """
    number, head, before = pull.number, pull.head_sha, snapshot.record.pull.merging
    here = f"{number}:{head}"
    if pull.queue is not None and merging.queued != head:
        text = message("pushed-into-queue", number=number)
        yield Notice(f"queue:{here}:pushed", text, Audience.NEWS)
    is_stuck = pull.queue is not None and pull.queue.state == "UNMERGEABLE"
    if is_stuck and pull.mergeable == "MERGEABLE":
        text = message("queue-stuck", number=number, base=pull.base)
        yield Notice(f"queue:{here}:stuck", text, Audience.NOTE)
    waited = snapshot.now - merging.untested_since
    if merging.untested and waited >= UNTESTED_SECONDS:
        minutes, commit = int(waited // 60), merging.untested
        text = message("queue-silent", minutes=minutes, commit=commit, number=number)
        yield Notice(f"queue:{number}:{merging.untested}:silent", text, Audience.NOTE)
    if merging.asked.get(plan.UPDATE_BRANCH) == head:
        text = message("updated", number=number, base=pull.base)
        yield Notice(f"updated:{here}", text, Audience.NEWS)
    if before.asked.get(plan.AUTO_MERGE) == head != merging.ejected:
        text = message("auto-merge", number=number, head=head)
        yield Notice(f"auto-merge:{here}", text, Audience.NOTE)
    if before.asked.get(plan.AUTO_MERGE_OFF) == head:
        text = message("auto-merge-taken-back", number=number)
        yield Notice(f"auto-merge:{here}:back", text, Audience.NOTE, ends=("auto-merge",))
    elif snapshot.record.pull.tampering and pull.is_auto_merge and not merging.is_ours:
        text = message("auto-merge-kept", number=number)
        yield Notice(f"auto-kept:{number}", text, Audience.ASK)
    # What a person undid is left undone: its place in the queue, or auto-merge.
    is_out = pull.ejection is not None and pull.ejection.is_by_hand
    if _is_taken_out(pull, merging, snapshot.now):
        text = message("taken-out", number=number, url=pull.url)
        yield Notice(f"queue:{number}:{merging.ejection}:out", text, Audience.NOTE)
    elif merging.is_left_off and snapshot.settings.merge == AUTO_CONSENT and not is_out:
        text = message("auto-merge-left-off", number=number)
        yield Notice(f"auto-merge:{number}:off", text, Audience.NOTE)


def moved(snapshot: Snapshot, pull: PullRequest, merging: MergeRecord) -> Iterator[Notice]:
    """A notice if the state of a head's merge changed since it was told, but not by the agent or by us.

    So did it if what held the head back is over without a push: a review's request, or a conflict.
    A changed place in the queue gets no notice: `status` shows it.
    """
    before, how = snapshot.record.pull.merging, merging.standing
    is_same = how in ("", before.standing) or before.head != pull.head_sha
    is_queued = before.queued if pull.queue is not None else merging.is_ours
    was_told = before.standing or before.is_owed
    if was_told and not (is_same or is_queued or _is_unknown(pull)):
        # It may have stood so before, too, and was told then: an approval was dismissed, and given again.
        key = f"standing:{pull.number}:{pull.head_sha}:{how}:{int(snapshot.now)}"
        yield Notice(key, words.standing(pull.number, how), Audience.NOTE, ends=("standing",))


def stands(
    before: MergeRecord, pull: PullRequest, now: float, *, is_unchecked: bool = False
) -> MergeRecord:
    """The record of the merge after a look that read the checks, with how it stands and whom it waits for.

    It waits for whom `awaited` says, and by what the record knows beyond that. Its state is "" if another
    notice says everything, or it is unknown. A head that the queue threw out counts as thrown out until
    another one is pushed, or it is queued again. A head that `is_unchecked` waits for no checks: it has
    none, and none will come.
    """
    merging = known(before, pull, now)
    if merging.is_ours:  # asked for in this look, or not shown yet
        pull = replace(pull, is_auto_merge=True)
    awaiting, how = awaited(pull), words.readiness(pull, is_reported=False)
    # The agent opened it for review: whoever made it a draft again has to mark it ready.
    whom: str = Whom.REVIEWERS if pull.is_draft and awaiting.why == how else awaiting.whom
    is_held = pull.mergeable == CONFLICTING or bool(pull.changes_due)
    is_told = _is_green(pull) or is_unchecked or pull.queue is not None or pull.is_auto_merge
    out = pull.ejection if pull.queue is None and merging.ejected == pull.head_sha else None
    # That it is in the queue is not so any more, whatever GitHub still reckons.
    is_known = before.standing and before.head == pull.head_sha and not before.queued
    if is_held:  # notices of their own tell of it
        how = ""
    elif out is not None and not out.is_by_hand:
        whom, how = Whom.AUTHOR, words.still_out(out.reason) if _is_settled(out, now) else ""
    elif is_told and _is_unknown(pull) and is_known:
        # What changed meanwhile is told once GitHub knows; recorded now, it would count as told.
        whom, how = before.awaits or whom, before.standing
    elif not is_told or (_is_unknown(pull) and how.startswith("is ready")):
        how = ""
    # When a base moves, GitHub does not know for a while whether the conflict is gone. Once the checks are
    # green for the first time, or again after a failure, their own notice tells how it stands.
    was_told = before.head == pull.head_sha and (before.is_owed or (is_held and before.standing))
    is_owed = bool(was_told or (is_held and _is_green(pull))) and not (how or _is_red(pull))
    return replace(merging, standing=how, awaits=str(whom), is_owed=is_owed)


def _is_unknown(pull: PullRequest) -> bool:
    return "UNKNOWN" in (pull.mergeable, pull.merge_state) and pull.queue is None


def advance(snapshot: Snapshot, pull: PullRequest) -> plan.AdvancePullRequest | None:
    """What to ask of GitHub because of the settings: auto-merge on or off, an update; None for nothing."""
    if not snapshot.looked_at_checks or pull.checks is None or pull.queue is not None:
        return None
    is_our_auto = pull.is_auto_merge and snapshot.record.pull.merging.is_ours
    if snapshot.record.pull.tampering and is_our_auto:
        back = plan.AdvancePullRequest(pull.number, pull.head_sha, plan.AUTO_MERGE_OFF)
        return back if may_try(snapshot, back) else None
    is_held = pull.is_draft or pull.changes_requested or pull.mergeable == CONFLICTING
    if is_held or _is_red(pull):
        return None
    if pull.merge_state == BEHIND and snapshot.settings.update_branch:
        return updating(snapshot, pull)
    method = snapshot.observation.merge_method if snapshot.observation is not None else "merge"
    action = plan.AdvancePullRequest(pull.number, pull.head_sha, plan.AUTO_MERGE, method)
    return action if _wants_auto_merge(snapshot, pull) and may_try(snapshot, action) else None


def updating(snapshot: Snapshot, pull: PullRequest) -> plan.AdvancePullRequest | None:
    """The update of a green branch that is behind its base; None if it was asked for, or failed."""
    action = plan.AdvancePullRequest(pull.number, pull.head_sha, plan.UPDATE_BRANCH)
    is_asked = snapshot.record.pull.merging.asked.get(plan.UPDATE_BRANCH) == pull.head_sha
    return action if _is_green(pull) and not is_asked and may_try(snapshot, action) else None


def is_updated(snapshot: Snapshot, pull: PullRequest) -> bool:
    """True if GitHub brings the branch up to date, so that the agent need not."""
    is_asked = snapshot.record.pull.merging.asked.get(plan.UPDATE_BRANCH) == pull.head_sha
    return snapshot.settings.update_branch and (is_asked or updating(snapshot, pull) is not None)


def _wants_auto_merge(snapshot: Snapshot, pull: PullRequest) -> bool:
    """True if the user wants auto-merge, and it was neither asked for this head nor switched off.

    If no rule holds the merge back, GitHub does not wait but merges at once: so all checks have to be green
    first.
    """
    merging = snapshot.record.pull.merging
    is_asked = merging.asked.get(plan.AUTO_MERGE) == pull.head_sha
    is_over = pull.is_auto_merge or merging.is_left_off or is_asked
    # If something was taken from the checks, a person has to look first.
    is_open = pull.conversations is not None and pull.conversations.unanswered
    is_asked = snapshot.settings.merge == AUTO_CONSENT
    if not is_asked or is_over or is_open or snapshot.record.pull.tampering:
        return False
    return pull.merge_state in _WAITING or (_is_green(pull) and pull.merge_state in _READY)


def _is_green(pull: PullRequest) -> bool:
    return pull.checks is not None and pull.checks.is_green


def _is_red(pull: PullRequest) -> bool:
    return pull.checks is not None and pull.checks.verdict is Verdict.FAILED


@dataclass(frozen=True, slots=True)
class Awaiting:
    """Whom a pull request waits for, and its state as a verb phrase; `names` are logins and teams."""

    whom: Whom
    why: str
    names: tuple[str, ...] = ()


def awaited(pull: PullRequest) -> Awaiting:
    """Whom an open pull request waits for, by the first row that holds of it.

    If a reviewer who asked for changes is asked for another review, the reviewer acts next; and while
    anybody is asked for a review, open conversations and a moved base wait for that.
    """
    how, checks, requested = words.readiness(pull, is_reported=False), pull.checks, pull.requested
    authors = [review.author for review in pull.changes_due]
    is_refused = pull.review_decision == "CHANGES_REQUESTED" and not requested
    is_required = pull.review_decision == "REVIEW_REQUIRED"
    talks = pull.conversations or Conversations("")
    # Conversations that a look saw answered wait for whoever began them; else all wait for the author.
    to_answer = talks.unanswered if talks.digest else talks.unresolved
    is_behind = pull.merge_state == BEHIND and not requested
    is_running = checks is not None and checks.count(Bucket.PENDING) > 0
    demanded = words.waits_for(pull)
    review = demanded if is_required else "a review that was asked for"
    rows: tuple[tuple[object, Whom, str], ...] = (
        (pull.mergeable == CONFLICTING, Whom.AUTHOR, words.conflicting(pull.base)),
        (_is_red(pull), Whom.AUTHOR, words.red()),
        (authors or is_refused, Whom.AUTHOR, words.changes(authors)),
        (pull.queue is not None, Whom.QUEUE, how),
        (pull.is_draft, Whom.AUTHOR, how),
        (to_answer and not requested, Whom.AUTHOR, words.unresolved(to_answer)),
        (is_behind, Whom.AUTHOR, how),
        (requested or is_required, Whom.REVIEWERS, words.waiting(review, is_running=is_running)),
        (is_running, Whom.CHECKS, words.waiting("its checks")),
        (demanded, Whom.REVIEWERS, how),
        (pull.is_auto_merge, Whom.AUTO_MERGE, how),
        (pull.merge_state != "BLOCKED", Whom.MERGE, how),
        (checks is not None and checks.missing, Whom.CHECKS, how),
        (True, Whom.RULE, how),
    )
    whom, why = next((whom, why) for holds, whom, why in rows if holds)
    names = {Whom.AUTHOR: (pull.author,) if pull.author else (), Whom.REVIEWERS: requested}
    return Awaiting(whom, why, names.get(whom, ()))
