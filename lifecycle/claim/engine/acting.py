"""Carry out actions: one action in, one fact out. Nothing else in `claim/` writes to GitHub or git.

A *set* may be repeated, and is verified from GitHub's answer. A *create* is never sent again blindly: after
a lost answer the thing is looked for, and what is found is the fact.

Several actions share one request (`joined`) if, by what was just read, GitHub can refuse only the last: the
actions that `decide` would give one after the other if each succeeds. The intents of all are committed
first, and each of them gives its own fact. What was refused is sent alone, so that its own refusal is
told; what is unclear is left to the next look, which reads first. So a card that was written before a pull
request or a closing that failed is put back by the same decisions that keep every card.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from typing import assert_never

from lifecycle.claim.decisions import decide, derive
from lifecycle.claim.decisions.ending import closing, releasing
from lifecycle.claim.decisions.pull import opening
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.engine.briefing import BOARD_CACHE
from lifecycle.claim.engine.observing import LookUnderWay, is_off
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record.claim_file import message, sentence
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.state import Record, kind_of
from lifecycle.core import errors, hidden_marker, plan
from lifecycle.core.light_dataclass import replace
from lifecycle.core.redact import redact
from lifecycle.core.values.model import Look, Observation, PullRequest, PullState
from lifecycle.core.world import World
from lifecycle.git import lease
from lifecycle.github.operations.unclear_writes import settled
from lifecycle.storage import log, store
from lifecycle.storage.state_file import ACCESS


def perform(
    action: plan.Action, world: World, claim_store: ClaimStore | None, record: Record
) -> plan.Fact:
    """Carry out one action and return the fact; an expected failure is returned as `Failed`.

    Without a `claim_store` there is no claim file, which `ForgetClaim` could delete.
    """
    try:
        match action:
            case plan.OpenPullRequest():
                return plan.PullRequestOpened(_open(action, world))
            case plan.AddToBoard():
                return plan.OnBoard(world.cards.add(action.issue_id))
            case plan.SetBoard():
                agent = "" if action.clear_agent else action.agent
                write = partial(world.cards.write, record.claim.issue, action.item_id)
                item = write(status=action.status, agent=agent, standing=record.claim.status)
                world.cache.put(BOARD_CACHE, None)
                return plan.BoardIs(item, action.status, agent)
            case plan.LeadLease():
                place = world.git, world.remote, action.issue
                return plan.LeaseIs(lease.led_to(*place, action.sha, action.branch))
            case plan.SetLinked():
                return linked_writes.set_linked(action, world, record)
            case _:
                return plan.Done(action, is_new=_carry_out(action, world, claim_store, record))
    except errors.LifecycleError as error:
        error.sentence = redact(error.sentence, world.environment)
        return plan.Failed(action, error)


def _carry_out(
    action: plan.PlainAction, world: World, claim_store: ClaimStore | None, record: Record
) -> bool:
    """Carry out the action; False if there turned out to be nothing to do."""
    match action:
        case plan.LinkPullRequest():
            _append(world, action.number, action.line, partial(derive.mentions, issue=action.issue))
        case plan.RemarkOnPull():
            remark = world.public(action.remark, "remark on weakened checks")
            marked = f"{remark}\n\n{action.mark}"
            _append(world, action.number, marked, lambda pull: action.mark in pull.body)
        case plan.RerunJobs():
            world.reports.run_again(action.run, action.attempt)
        case plan.AdvancePullRequest():
            _advance(action, world)
        case plan.PostComment():
            world.forge.comment(action.issue, action.body)
        case plan.CloseIssue():
            _close(action, world)
        case plan.Unassign():
            _unassign(action, world)
        case plan.ReleaseLease():
            return _release(action, world, record, is_ours=claim_store is not None)
        case plan.ForgetClaim():
            _forget(claim_store, world, record)
        case _:
            assert_never(action)
    return True


def _release(action: plan.ReleaseLease, world: World, record: Record, *, is_ours: bool) -> bool:
    """End the lease; for another agent (not `is_ours`) only if it has not changed since it was read.

    False if our own lease was gone before. One API request does it if that worked when the task was taken;
    else, or if it fails, a push does, which also finds out what the ref is now. If another agent took over
    a task meanwhile that is released here, its comment is deleted, and the next look leaves them the rest.
    """
    node_id = record.ownership.refs_in
    if node_id and action.sha == record.ownership.lease:
        try:
            world.forge.move_ref(node_id, lease.ref_of(action.issue), action.sha, lease.NOTHING)
        except errors.LifecycleError as error:
            log.write(world.root, f"pushed: {redact(error.sentence, world.environment)}")
        else:
            return True
    place = world.git, world.remote, action.issue
    was_there = lease.release(*place, action.sha)
    if is_ours and not was_there:  # a look killed after `LeadLease` has not noted the new sha
        stands = lease.standing(*place, sha=action.sha, agent=record.claim.agent_id)
        if stands.other is not None and record.ending.releasing and not record.ownership.taken_by:
            _thin_out(action.issue, world, record.with_ownership(taken_by=stands.other.agent))
            raise errors.Transient(sentence("lease-changed", number=action.issue), retry_after=1.0)
        was_there = stands.sha not in ("", action.sha) and lease.release(*place, stands.sha)
    if not was_there and record.ending.comment_done:
        _thin_out(action.issue, world, record)
    if not (was_there or is_ours):
        raise errors.HeldByAnother(sentence("lease-changed", number=action.issue))
    return was_there


def _thin_out(issue: int, world: World, record: Record) -> None:
    """Leave one comment on the ending: whoever ended the lease may have posted one at the same time.

    Only one of those who end a claim at once ends the lease, after its comment, so the others see it here.
    Without a lease, each run and each release looks when nothing else is left to do.
    """
    ending = closing if record.ending.releasing is None else releasing
    try:
        seen = world.forge.observe(Look(issue, record.claim.branch, comments=True)).issue
        for surplus in ending.surplus(record, (seen.comments or ()) if seen is not None else ()):
            world.forge.delete_comment(surplus)
    except errors.LifecycleError as error:  # a comment too many keeps no claim
        log.write(world.root, f"comments: {redact(error.sentence, world.environment)}")


def _forget(claim_store: ClaimStore | None, world: World, record: Record) -> None:
    """Delete the claim file, and the feedback's files with it."""
    # A claim's own closing takes no request for that: a run beside it does.
    is_thinned = claim_store is None or record.ending.releasing is not None
    has_ended_lease = record.ownership.lease and record.ending.lease_done
    if is_thinned and record.ending.comment_done and not has_ended_lease:
        _thin_out(record.claim.issue, world, record)
    if claim_store is not None:
        claim_store.forget(record.with_ending(outcome=record.end))
        with contextlib.suppress(OSError):  # files that stay are few, and can be fetched again
            store.Folder(claim_store.root, store.FEEDBACK).clear()


def texts_of(action: plan.OpenPullRequest, world: World) -> dict[str, str]:
    """Title and body of the pull request."""
    left = f"\n\n{message('draft-of-left-work')}" if action.is_draft else ""
    # The template is read from the commit: a link in the worktree could lead to any file of the user.
    branch, link = action.head.partition(":")[2], world.settings.issue_link
    template = world.git.committed(action.pushed or branch, opening.TEMPLATES)
    body = opening.body(template, summary=f"{action.title}{left}", issue=action.issue, link=link)
    body, title = world.with_run(body, branch), opening.title(action.title)
    if action.is_draft:
        body = hidden_marker.signed(body, opening.left_work_mark(title, body))
    return {"title": title, "body": body}


def _open(action: plan.OpenPullRequest, world: World) -> PullRequest:
    """Create the pull request; after an unclear answer, or if there is one already, look for it."""
    texts = texts_of(action, world)
    if action.draft:
        return _finished(world.forge.pull_request(action.draft), texts, world)
    named = {"head": action.head, "base": action.base}
    create = partial(world.forge.create_pull_request, **texts, **named, is_draft=action.is_draft)
    find = partial(_find_open, action, world)
    return settled(create, find, already=(errors.PullRequestExists,)).now


def _finished(pull: PullRequest, texts: dict[str, str], world: World) -> PullRequest:
    """Give a draft of left work the hand-off's texts, unless somebody edited it meanwhile.

    Its marker is removed last, so that the next look finishes an edit that was cut off.
    """
    if not opening.is_left_work(pull):
        return pull
    if pull.is_draft:
        world.forge.mark_ready(pull.number, pull.node_id)
    return world.forge.set_pull_request_texts(pull.number, **texts)


def _find_open(action: plan.OpenPullRequest, world: World) -> PullRequest | None:
    """The open pull request of the action's branch, or None."""
    owner, _, branch = action.head.partition(":")
    pulls = world.forge.pull_requests_of(branch)
    ours = (pull for pull in pulls if pull.head_owner.casefold() == owner.casefold())
    return next((pull for pull in ours if pull.state is PullState.OPEN), None)


def _append(world: World, number: int, text: str, is_there: Callable[[PullRequest], bool]) -> None:
    """Append a text, once, to the body as GitHub has it now: somebody may have edited it meanwhile."""
    pull = world.forge.pull_request(number)
    if not is_there(pull):
        world.forge.set_pull_request_texts(number, body=f"{pull.body.rstrip()}\n\n{text}".lstrip())


def _advance(action: plan.AdvancePullRequest, world: World) -> None:
    """Ask GitHub to update the branch, or to switch auto-merge on or off.

    At another head than the judged one, everything but switching off is refused.
    """
    if action.how == plan.UPDATE_BRANCH:
        world.merges.ensure_branch_updated(action.number, sha=action.head)
    elif action.how == plan.AUTO_MERGE_OFF:
        world.merges.ensure_no_auto_merge(action.number)
    else:
        world.merges.ensure_auto_merge(action.number, sha=action.head, method=action.method)


def _close(action: plan.CloseIssue, world: World) -> None:
    """Close the issue; Rejected if GitHub still shows it open."""
    if world.forge.close_issue(action.issue).is_open:
        raise errors.Rejected(sentence("still-open", number=action.issue))


def _unassign(action: plan.Unassign, world: World) -> None:
    """Take the account off the issue; Rejected if GitHub leaves it assigned."""
    if derive.assigned(world.forge.unassign(action.issue, action.login), action.login):
        raise errors.Rejected(sentence("still-assigned", login=action.login, number=action.issue))


APART_SECONDS = 86_400.0
"""For how long no joint request is tried with a token that was not allowed to make one."""

_APART = "writes_apart"
_JOINT = (plan.OpenPullRequest, plan.PostComment, plan.CloseIssue, plan.SetBoard)
"""The kinds of actions that may share a request."""
_OF_ACCESS = (errors.MissingScope, errors.NoPermission, errors.NotFound, errors.Unsupported)
"""Errors that are due to the token or the server, so that the next joint request would fail as well."""


def joined(working: LookUnderWay, action: plan.Action) -> list[tuple[plan.Action, plan.Fact]]:
    """Carry out an action and those that follow it in one request. None of them has been sent before.

    Returns:
        Actions with their facts; none if the action has to be sent alone, as each that has no fact here.
    """
    if not isinstance(action, plan.OpenPullRequest | plan.PostComment | plan.CloseIssue):
        return []
    actions = _chain(working, action)
    world, observed = working.world, working.seen.observation
    if len(actions) < 2 or observed is None:
        return []
    before = working.record
    _intend(working, actions, observed)
    try:
        texts = texts_of(action, world) if isinstance(action, plan.OpenPullRequest) else {}
        facts = world.joint.send(actions, observed, texts)
    except errors.LifecycleError as error:
        facts = (plan.Failed(action, error),)
        if not (isinstance(error, errors.Transient) and error.is_ambiguous):
            working.record = before  # nothing was done
    failures = [fact for fact in facts if isinstance(fact, plan.Failed)]
    for failure in failures:
        _note_failure(working, failure)
    refused = [each for each in failures if not isinstance(each.error, errors.Transient)]
    return [pair for pair in zip(actions, facts, strict=False) if pair[1] not in refused]


def _note_failure(working: LookUnderWay, failure: plan.Failed) -> None:
    """Join no more writes in this look; nor for a day, if the token or the server does not allow it.

    If GitHub was away or its answer is unclear, no such action is sent again before the next read.
    """
    world, error = working.world, failure.error
    error.sentence = redact(error.sentence, world.environment)
    working.is_apart = True
    log.write(world.root, f"written one by one: {error.sentence}")
    if isinstance(error, errors.Transient):
        failed = working.seen.failed | {kind.__name__ for kind in _JOINT}
        working.seen = replace(working.seen, failed=failed)
        return
    working.record = working.record.without_intent(kind_of(failure.action))
    if isinstance(error, _OF_ACCESS):
        world.cache.put(_APART, {"until": world.clock.now() + APART_SECONDS, ACCESS: world.access})


def _chain(working: LookUnderWay, action: plan.Action) -> tuple[plan.Action, ...]:
    """The action and the following ones that can be sent with it."""
    snapshot, world = working.seen, working.world
    if working.is_apart or not _fits(snapshot, action, world) or is_off(world, _APART):
        return ()
    # An action that was refused would be refused again, and the card would move back and forth.
    refused = {kind for kind, trouble in snapshot.record.troubles.items() if trouble.is_final}
    chain = {kind_of(action): action}
    for follower in decide.following(snapshot, action):
        kind = kind_of(follower)
        if refused & chain.keys() or kind in chain or not _fits(snapshot, follower, world):
            break
        chain[kind] = follower
    return tuple(chain.values())


def _fits(snapshot: Snapshot, action: plan.Action, world: World) -> bool:
    """True if, by what was read, GitHub will accept this write, and all ids that it needs are known.

    Who may write to a repository may comment on its issues and close them, even locked ones, and may open a
    pull request of a branch with commits of its own. GitHub shows no comparison between repositories.
    """
    observed = snapshot.observation
    if observed is None or not observed.writable:
        return False
    match action:
        case plan.OpenPullRequest():
            is_here = str(world.head).casefold() == str(world.base).casefold()
            is_default = action.base == observed.default_branch and not action.is_draft
            return is_here and is_default and observed.is_ahead and not action.draft
        case plan.PostComment() | plan.CloseIssue():
            return observed.issue is not None and bool(observed.issue.id)
        case plan.SetBoard():
            item = observed.item
            is_this = item is not None and item.id == action.item_id and not item.is_archived
            # A card without a Status could not be put back: we only set a Status, and never clear it.
            has_status = item is not None and bool(item.status)
            return is_this and has_status and world.cards.is_ready(action.item_id)
        case _:
            return False


def _intend(working: LookUnderWay, actions: tuple[plan.Action, ...], seen: Observation) -> None:
    """Commit the intents of what is about to be sent: the creates, and a card in doubt."""
    for action in actions:
        if isinstance(action, plan.OpenPullRequest | plan.PostComment):
            working.seen = decide.apply_fact(working.seen, plan.Intended(action))
        elif isinstance(action, plan.SetBoard):
            # Whichever of both it says by then, nobody has moved it, and it is written again.
            both = (seen.item.status if seen.item is not None else None, action.status)
            record = working.record.with_values({"last_synced_status": None})
            card = replace(record.card, unsure=tuple(filter(None, both)))
            working.record = replace(record, card=card)
            working.world.cache.put(BOARD_CACHE, None)
    working.claim_store.keep(working.record)
