"""Decide what a claim needs next. Pure: values in, values out; no clock, no file, no network.

`look` says what has to be read before a decision (None: nothing, not one request), `judge_hints` and
`apply_observation` fold what was read into the record, and `decide` gives the next step. A dry run follows
the steps as if every action succeeded (`foresee`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf

from lifecycle.claim.decisions import card_and_link, derive
from lifecycle.claim.decisions.ending import closing, releasing
from lifecycle.claim.decisions.pull import opening, pace, review
from lifecycle.claim.decisions.snapshot import Decision, Snapshot
from lifecycle.claim.decisions.table import IN_REVIEW, PHASES, Phase
from lifecycle.claim.record.claim_file import complaint, message
from lifecycle.claim.record.state import Record, fold, kind_of, of_pull
from lifecycle.core import plan
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import messages
from lifecycle.core.plan import ASKED, Action, Audience, Fact, Notice, Wake
from lifecycle.core.redact import named
from lifecycle.core.values.model import BoardItem, Look, Observation, PullRequest, PullState


def look(snapshot: Snapshot) -> Look | None:
    """What this wake has to read from GitHub, or None if it needs nothing or has to wait."""
    return None if _look_is_held(snapshot) else _wanted(snapshot)


def _wanted(snapshot: Snapshot) -> Look | None:
    """What phase, wake and hints require to be read, even if a failed look delays the reading."""
    record, wake = snapshot.record, snapshot.wake
    claim, phase = record.claim, PHASES.get(record.claim.phase)
    is_leaving = record.ending.releasing is not None
    if claim.issue_number is None or record.ending.outcome or not (phase or is_leaving):
        return None
    is_ending = is_leaving or phase is Phase.DONE
    is_opening, polls = phase is Phase.READY_FOR_PR and not is_leaving, wake is not Wake.STOP
    # A look by command tells what GitHub shows, and so does the look of a returning session.
    is_asked, checks = wake in (*ASKED, Wake.START), False
    if is_ending:
        needed = is_asked or closing.may_go_on(snapshot)
    elif is_opening and not opening.missing(snapshot):
        needed = derive.may_try(snapshot, opening.opening(snapshot, claim.branch))
    elif phase in IN_REVIEW:
        needed = polls or not derive.is_confirmed(record)
        due = pace.next_poll(record, snapshot.settings.poll_seconds, snapshot.now)
        checks = wake is Wake.TICK or (wake is Wake.IDLE and snapshot.now >= due)
    else:
        needed = is_asked or not derive.is_confirmed(record)
    is_doubtful = not record.card.is_known or record.card.moved_to or record.ownership.taken_by
    if not (needed or (card_and_link.is_unsynced(snapshot) and is_doubtful) or snapshot.hints):
        return None
    is_sweep = wake is Wake.SWEEP
    # An earlier look may have failed because of these extra questions, which are not essential.
    is_begun = "Look" not in record.troubles and not is_sweep
    return Look(
        issue=claim.issue_number,
        branch=claim.branch,
        pr_number=snapshot.hints.get("pr_number") or claim.pr_number,
        checks=checks,
        comments=is_ending,
        board=snapshot.has_board,
        insists=wake in ASKED or is_ending,
        reviews=phase in IN_REVIEW and polls and not is_sweep,
        writes=is_begun and (is_opening or (is_ending and not is_leaving)),
        opens=is_opening,
        # A claim that is known only from its file may have lost its lease before.
        lease=bool(record.ownership.lease) or not (record.is_taken or is_sweep),
    )


def decide(snapshot: Snapshot) -> Decision:
    """The next step, or a final decision if this look is finished."""
    record, claim = snapshot.record, snapshot.record.claim
    phase, is_leaving = PHASES.get(claim.phase), record.ending.releasing is not None
    if record.ending.outcome:
        return Decision()
    if claim.issue_number is None:
        return derive.condition("no-issue", message("no-issue-number"))
    if is_leaving:
        step = releasing.decide(snapshot)
    elif phase is None:
        text = messages.unknown_phase(claim.phase, [p.value for p in Phase])
        return derive.condition(f"unknown-phase:{claim.phase}", text)
    elif record.is_lost:
        return _lost(record)
    else:
        step = _RULES[phase](snapshot)
    if step.record == record:
        step = replace(step, record=None)
    shown = () if is_leaving else _shown(snapshot, (step.record or record).claim.phase)
    notices = (*step.notices, *complaints(record), *shown, *card_and_link.link_notices(record))
    if is_leaving or phase is Phase.DONE or step.record or step.action:
        return replace(step, notices=notices)
    board = card_and_link.card_step(snapshot)
    link = derive.attempt(snapshot, card_and_link.link_action(record))
    last = board if board.action else link if link.action else _lead_step(snapshot)
    return replace(last, notices=(*notices, *board.notices))


def _lead_step(snapshot: Snapshot) -> Decision:
    """The step that makes the lease name the pull request's branch, if it was seen to name another."""
    claim, observed = snapshot.record.claim, snapshot.observation
    hold = observed.hold if observed is not None and claim.phase in IN_REVIEW else None
    is_ours = hold is not None and hold.sha == snapshot.record.ownership.lease
    if hold is None or not is_ours or hold.branch in ("", claim.branch):
        return Decision()
    return derive.attempt(snapshot, plan.LeadLease(claim.issue, hold.sha, claim.branch))


def _lost(record: Record) -> Decision:
    """Tell that another agent has the task, or nobody, and take back a yes: its holder closes the issue."""
    holder = record.ownership.taken_by
    key = f"taken-over:{holder}" if holder else "given-back-from-afar"
    correction = derive.condition(key, derive.loss_line(record), ends=review.WHILE_OPEN)
    if record.claim.phase != Phase.DONE:
        return correction
    before = record.judged if record.judged != Phase.DONE else ""
    phase = PHASES.get(before, derive.phase_before(record))
    withdrawn = record.with_values({"phase": phase.value})
    return replace(correction, record=withdrawn.with_ending(consent="", override=""))


def apply_fact(snapshot: Snapshot, fact: Fact) -> Snapshot:
    """The snapshot after a fact: record and observation updated for the next decision."""
    record, observed = fold(snapshot.record, fact, snapshot.now), snapshot.observation
    match fact:
        case plan.Failed() | plan.Done(plan.LinkPullRequest()):
            # The text was read before the line was added to it: that is not done again.
            return replace(snapshot, record=record, failed=snapshot.failed | {kind_of(fact.action)})
        case plan.OnBoard(item) if observed is not None:
            observed = replace(observed, item=item)
        case plan.PullRequestOpened(pull) if observed is not None:
            observed = replace(observed, by_number=pull, by_branch=(pull, *observed.by_branch))
    if observed is not None and observed is not snapshot.observation:
        # A Status that somebody set before the pull request was opened no longer counts.
        record = card_and_link.apply_card(record, observed)
    return replace(snapshot, record=record, observation=observed)


def apply_observation(record: Record, observed: Observation, now: float) -> Record:
    """The record after an observation: a step that GitHub shows as done is not written again."""
    if observed.issue is not None:
        record = replace(record, title=observed.issue.title or record.title)
        parts, was_closed = observed.issue.open_parts, record.ending.issue_closed
        if was_closed and observed.issue.is_open:
            # A yes was for the issue that it closed: somebody has reopened it since.
            if record.ending.override:
                record = record.with_ending(override="", comment_done=False, is_reopened=True)
            record = record.with_ending(consent="")
        record = record.with_ending(issue_closed=not observed.issue.is_open, open_parts=parts)
    record = derive.apply_loss(record, card_and_link.apply_card(record, observed), observed)
    if record.ending.releasing is not None:
        return releasing.apply_observation(record, observed, now)
    is_closing = record.claim.phase == Phase.DONE
    return closing.apply_observation(record, observed, now) if is_closing else record


_SILENT = ("last_check_poll", "last_synced_status", "item_id", "schema_version")
"""Fields whose refused edits are not told: the engine's value returns without a notice."""


def judge_hints(snapshot: Snapshot) -> tuple[Record, list[Notice]]:
    """Judge every hint, an agent's edit of an engine's field, by what GitHub shows.

    Another issue's number never counts: lease, card and branch are those of the claim's own task. Without
    an observation no hint is judged: it stays in the file.

    Returns the record with the edited values that GitHub shows as well, and what to tell the agent about
    the refused ones.
    """
    record = snapshot.record
    notices = []
    for name, value in snapshot.hints.items():
        kept = snapshot.record.values.get(name)
        if _is_borne_out(snapshot, name, value):
            record = of_pull(record, value) if name == "pr_number" else record
            record = record.with_values({name: value})
        elif name not in _SILENT:
            refused = "hint-refused" if kept else "hint-undone"
            is_issue = name == "issue_number"
            words = {"name": name, "value": str(value), "kept": str(kept)}  # lists would be joined
            text = message("issue-kept" if is_issue else refused, **words)
            notices.append(Notice(f"hint:{name}:{value}:{kept}", text, Audience.ACT))
    return record, notices


def _is_borne_out(snapshot: Snapshot, name: str, value: object) -> bool:
    """True if GitHub shows the value that somebody wrote into an engine field."""
    observed, claim = snapshot.observation, snapshot.record.claim
    pull, item = (observed.by_number, observed.item) if observed is not None else (None, None)
    if name == "pr_number":
        return pull is not None and derive.is_ours(pull, claim, snapshot.head_owner)
    shown = {"item_id": "id", "agent_id": "agent", "last_synced_status": "status"}
    return item is not None and name in shown and getattr(item, shown[name]) == value


_RULES = {
    Phase.CODING: opening.at_work,
    Phase.READY_FOR_PR: opening.decide,
    **dict.fromkeys(IN_REVIEW, opening.follow),
    Phase.MERGED_DETECTED: closing.after_merge,
    Phase.DONE: closing.close_if_answered,
}


_ARCHIVED = "archived-repository"


def _shown(snapshot: Snapshot, phase: str) -> Iterator[Notice]:
    """Notices about what GitHub shows of repository and issue, which may go on; `phase` is the next one.

    They tell of a repository that accepts no more writes; of others who are assigned to the open issue of
    an active claim, while its account is not; and of an issue that was closed or deleted during the work.
    There is none if its merge closed it, nor if the phase is `pr_closed` from here on: the notice about
    that says both.
    """
    record, claim, observed = snapshot.record, snapshot.record.claim, snapshot.observation
    if observed is None:
        return
    if observed.is_archived:
        text = message("repository-archived", issue=claim.issue_number)
        yield Notice(_ARCHIVED, text, Audience.NOTE, stands=True)
    if claim.phase == Phase.DONE:
        return
    issue, login = observed.issue, derive.login_of(claim.agent_id)
    if issue is None:
        yield derive.gone_notice(record)
    elif issue.is_open:
        names = issue.assignees
        if names and login and not derive.is_app(login) and derive.assigned(names, login) is None:
            words = {"issue": issue.number, "login": login, "others": ", ".join(map(named, names))}
            text = message("assigned-elsewhere", **words)
            yield Notice(f"assigned:{','.join(names)}", text, Audience.NOTE)
    elif phase not in (Phase.MERGED_DETECTED, Phase.PR_CLOSED):
        pull = derive.pull_request_of(snapshot)
        if pull is None or pull.state is not PullState.MERGED:
            withheld = messages.NOT_OPENED if phase == Phase.READY_FOR_PR else ""
            key, audience = (":pr", Audience.ACT) if withheld else ("", Audience.NOTE)
            text = messages.closed_elsewhere(claim.issue_number, withheld)
            yield Notice(f"closed-elsewhere{key}", text, audience, stands=True)


def unjudged(snapshot: Snapshot) -> tuple[str, ...]:
    """The keys of notices about GitHub's state, if this look did not read it: they remain as they are."""
    keys = (_ARCHIVED, "closed-elsewhere", "closed-elsewhere:pr", derive.gone_key(snapshot.record))
    return keys if snapshot.observation is None else ()


def complaints(record: Record) -> Iterator[Notice]:
    """Notices about refusals that still apply, each to the audience that can do something about it.

    And one that the pull request could not be opened yet and will be retried; none after a final refusal.
    """
    phase, number = record.claim.phase, record.claim.issue_number
    is_ending = record.ending.releasing is not None or phase == Phase.DONE
    told_at_the_end = ("ReleaseLease", "SetBoard", "SetLinked") if is_ending else ("ReleaseLease",)
    for kind, trouble in record.troubles.items():
        if trouble.is_final and kind not in told_at_the_end:
            text = complaint(kind, trouble.sentence, number)
            # Nothing happens before the jobs run again, and only a person can rerun them by hand.
            is_rerun = kind == "RerunJobs"
            audience = Audience.ASK if is_rerun else Audience.NOTE
            audience = Audience.ACT if trouble.for_agent else audience
            ends = ("rerun",) if is_rerun else ()
            key = f"refused:{kind}:{trouble.mark}:{trouble.sentence}"
            yield Notice(key, text, audience, stands=True, ends=ends)
    kinds = ("OpenPullRequest", "Look") if phase == Phase.READY_FOR_PR and not is_ending else ()
    waits = next((record.troubles[kind] for kind in kinds if kind in record.troubles), None)
    if waits is not None and not waits.is_final:
        text = message("not-created-yet", number=number, why=waits.sentence)
        yield Notice("pr-waits", text, Audience.NOTE, stands=True)


def _look_is_held(snapshot: Snapshot) -> bool:
    """True while a failed look of the claim delays the next one; a look by command is never delayed."""
    trouble = snapshot.record.troubles.get("Look")
    if trouble is None or snapshot.wake in ASKED:
        return False
    is_of_this = trouble.mark == repr(sorted(snapshot.record.values.items()))
    held_until = pace.held_until(snapshot.record, snapshot.settings.poll_seconds)
    return is_of_this and snapshot.now < held_until


_OF_REVIEW = ("LinkPullRequest", "RemarkOnPull", "AdvancePullRequest", "LeadLease")


def still_wanted(snapshot: Snapshot, kind: str) -> bool:
    """True if the claim still wants what an action of this kind was to do."""
    record, phase = snapshot.record, snapshot.record.claim.phase
    is_ending = phase == Phase.DONE or record.ending.releasing is not None
    is_unsynced = card_and_link.is_unsynced(snapshot)
    wants = {
        "OpenPullRequest": phase == Phase.READY_FOR_PR,
        # A card that is gone has a notice of its own.
        "SetBoard": is_ending or (record.card.is_known and is_unsynced),
        "AddToBoard": is_unsynced,
        "RerunJobs": bool(record.pull.reruns),
        "Look": "Look" in snapshot.failed or _wanted(snapshot) is not None,
        "SetLinked": record.linked.link is not None,
        **dict.fromkeys(_OF_REVIEW, phase in IN_REVIEW),
    }
    return wants.get(kind, is_ending)


MAX_STEPS = 24
"""How many decisions one look may take; it takes far fewer, so this only ends an endless loop."""


def foresee(
    snapshot: Snapshot, imagine: Callable[[Action], Fact]
) -> Iterator[tuple[Snapshot, Decision]]:
    """The decisions from a snapshot on, if each action is followed by the fact that `imagine` gives.

    Each comes with the snapshot that has its changes applied.
    """
    for _ in range(MAX_STEPS):
        step = decide(snapshot)
        after = replace(snapshot, record=step.record or snapshot.record)
        yield after, step
        if step.action is None and step.record is None:
            return
        snapshot = apply_fact(after, imagine(step.action)) if step.action is not None else after


def following(snapshot: Snapshot, action: Action) -> tuple[Action, ...]:
    """The actions that follow this one if it and each of them succeeds."""
    fact = imagine(action)
    if isinstance(fact, plan.PullRequestOpened):  # a real one has a number that is not 0
        fact = plan.PullRequestOpened(replace(fact.pull_request, number=1))
    steps = foresee(apply_fact(snapshot, fact), imagine)
    return tuple(step.action for _, step in steps if step.action is not None)


def imagine(action: plan.Action) -> plan.Fact:
    """The fact that a dry run assumes in place of carrying out the action."""
    match action:
        case plan.OpenPullRequest():
            owner, _, branch = action.head.partition(":")
            state, body = PullState.OPEN, f"#{action.issue}"
            pull = PullRequest(action.draft, "(new)", action.title, state, branch, owner, "")
            # Opened now, it is newer than anything seen so far, such as a Status that somebody set.
            opened_at = None if action.draft else inf
            return plan.PullRequestOpened(replace(pull, body=body, opened_at=opened_at))
        case plan.AddToBoard():
            return plan.OnBoard(BoardItem("(new)"))
        case plan.SetBoard():
            item = BoardItem(action.item_id, action.status, action.agent)
            return plan.BoardIs(item, action.status, "" if action.clear_agent else action.agent)
        case plan.LeadLease():
            return plan.LeaseIs("(new)")
        case plan.SetLinked():
            return plan.LinkedIs(action.id, action.wanted)
        case _:
            return plan.Done(action)
