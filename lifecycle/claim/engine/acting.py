"""Carry out actions: one action in, one fact out. Nothing else in `claim/` writes to GitHub or git.

A *set* is re-applicable and verified from what came back. A *create* is never resent blindly: after
a lost answer it is looked for, and what is found is the fact.

Several actions are one request where what was just read excludes that GitHub refuses any but the last
(`joined`): those that `decide` gives one after the other, each believed to come about. The intent of all is
committed first. Where one does not come about all the same, everything is read back, and the engine goes on
from what is true with one write at a time: so a card that was written ahead of a pull request or of a
closing is put back by the same decisions that keep every card.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING, assert_never

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.decide import (
    apply_fact,
    apply_observation,
    decide,
    look,
)
from lifecycle.claim.decisions.ending import closing
from lifecycle.claim.decisions.pull import opening
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.engine.briefing import BOARD_CACHE
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record.claim_file import Claim
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.sections import CardAhead
from lifecycle.claim.record.state import Record, kind_of
from lifecycle.core import plan
from lifecycle.core.errors import (
    HeldByAnother,
    LifecycleError,
    MissingScope,
    NoPermission,
    NotFound,
    PullRequestExists,
    Rejected,
    Transient,
    Unsupported,
)
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import loss_messages
from lifecycle.core.redact import redact
from lifecycle.core.values.model import PullRequest, PullState
from lifecycle.core.world import World
from lifecycle.git import lease
from lifecycle.github.operations.unclear_writes import settled_after
from lifecycle.storage import log
from lifecycle.storage.state_file import ACCESS
from lifecycle.storage.store import FEEDBACK, Folder

if TYPE_CHECKING:
    from lifecycle.claim.engine.observing import LookUnderWay


def perform(
    action: plan.Action, world: World, claim_store: ClaimStore | None, record: Record
) -> plan.Fact:
    """Carry out one action and return the fact; an expected failure is returned as `Failed`.

    Without a claim_store there is no claim file, and forgetting it is nothing to do.
    """
    try:
        match action:
            case plan.OpenPullRequest():
                return plan.PullRequestOpened(_open(action, world))
            case plan.LinkPullRequest():
                return plan.PullRequestLinked(_link(action, world))
            case plan.AddToBoard() | plan.SetBoard():
                return _put_on_board(action, world, record.claim)
            case plan.SetLinked():
                return linked_writes.set_linked(action, world, record)
            case _:
                _carry_out(action, world, claim_store, record)
                return plan.Done(action)
    except LifecycleError as error:
        error.sentence = redact(error.sentence, world.environment)
        return plan.Failed(action, error)


def _carry_out(
    action: plan.PlainAction, world: World, claim_store: ClaimStore | None, record: Record
) -> None:
    match action:
        case plan.RemarkOnPull():
            _remark(action, world)
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
            _release(action, world, record, is_ours=claim_store is not None)
        case plan.ForgetClaim():
            _forget(claim_store, record)
        case _:
            assert_never(action)


def _release(action: plan.ReleaseLease, world: World, record: Record, *, is_ours: bool) -> None:
    """End the lease; releasing for another agent fails if the lease has changed since it was read.

    By one request where that was found to work when the task was taken; else, and if it fails, by a push,
    which finds out what is there.
    """
    where = record.ownership.refs_in
    if where and action.sha == record.ownership.lease:
        try:
            ref = lease.ref_of(action.issue)
            world.forge.move_ref(where, ref, action.sha, lease.NOTHING)
        except LifecycleError as error:
            log.write(world.root, f"pushed: {redact(error.sentence, world.environment)}")
        else:
            return
    was_there = lease.release(world.git, world.remote, action.issue, action.sha)
    if not (was_there or is_ours):
        raise HeldByAnother(
            f"The lease on #{action.issue} changed meanwhile, so somebody works on it; it was left."
        )


def _forget(claim_store: ClaimStore | None, record: Record) -> None:
    if claim_store is not None:
        claim_store.forget(replace(record, ending=replace(record.ending, outcome=record.end)))
        with contextlib.suppress(OSError):  # what is left there is bounded, and can be read again
            Folder(claim_store.root, FEEDBACK).clear()


def texts_of(action: plan.OpenPullRequest, world: World) -> dict[str, str]:
    """Title and body of the pull request."""
    summary = action.title
    if action.is_draft:
        summary = f"{summary}\n\n{loss_messages.draft_of_left_work()}"
    # As the commit has it: a link in the worktree could lead to any file of the user's.
    commit = action.pushed or action.head.partition(":")[2]
    template = world.git.committed(commit, opening.TEMPLATES)
    link = world.settings.issue_link
    body = opening.body(template, summary=summary, issue=action.issue, link=link)
    body = world.with_run(body, action.head.partition(":")[2])
    return {"title": opening.title(action.title), "body": body}


def _open(action: plan.OpenPullRequest, world: World) -> PullRequest:
    texts = texts_of(action, world)
    try:
        return world.forge.create_pull_request(
            title=texts["title"],
            body=texts["body"],
            head=action.head,
            base=action.base,
            is_draft=action.is_draft,
        )
    except LifecycleError as error:
        look = partial(_find_open, action, world)
        return settled_after(error, look, told=(PullRequestExists,)).now


def _find_open(action: plan.OpenPullRequest, world: World) -> PullRequest | None:
    owner, _, branch = action.head.partition(":")
    for pull in world.forge.pull_requests_of(branch):
        if pull.state is PullState.OPEN and pull.head_owner.casefold() == owner.casefold():
            return pull
    return None


def _link(action: plan.LinkPullRequest, world: World) -> PullRequest:
    """Append the link to the body as GitHub has it now: somebody may have edited it meanwhile."""
    pull = world.forge.pull_request(action.number)
    if derive.mentions(pull, action.issue):
        return pull
    body = f"{pull.body.rstrip()}\n\n{action.line}".lstrip()
    return world.forge.set_pull_request_body(action.number, body)


def _remark(action: plan.RemarkOnPull, world: World) -> None:
    """Append the remark to the text as GitHub has it now, once."""
    pull = world.forge.pull_request(action.number)
    if action.mark not in pull.body:
        remark = world.public(action.remark, "remark on weakened checks")
        body = f"{pull.body.rstrip()}\n\n{remark}\n\n{action.mark}".lstrip()
        world.forge.set_pull_request_body(action.number, body)


def _advance(action: plan.AdvancePullRequest, world: World) -> None:
    """Ask GitHub for it at the head that was judged; what brings it on is refused at any other."""
    if action.how == plan.UPDATE_BRANCH:
        world.merges.ensure_branch_updated(action.number, sha=action.head)
    elif action.how == plan.AUTO_MERGE_OFF:
        world.merges.ensure_no_auto_merge(action.number)
    else:
        world.merges.ensure_auto_merge(action.number, sha=action.head, method=action.method)


def _put_on_board(
    action: plan.AddToBoard | plan.SetBoard, world: World, claim: Claim
) -> plan.OnBoard | plan.BoardIs:
    if isinstance(action, plan.AddToBoard):
        if world.board is None:
            raise Rejected("No board is configured.")
        return plan.OnBoard(world.board.add(action.issue_id))
    agent = "" if action.clear_agent else action.agent
    item = world.cards.write(
        claim.issue,
        action.item_id,
        status=action.status,
        agent=agent,
        standing=claim.status,
    )
    world.cache.put(BOARD_CACHE, None)
    return plan.BoardIs(item, action.status, agent)


def _close(action: plan.CloseIssue, world: World) -> None:
    issue = world.forge.close_issue(action.issue)
    if issue.is_open:
        raise Rejected(
            f"GitHub accepted the request but still shows #{action.issue} open; it is tried again "
            "at the next look."
        )


def _unassign(action: plan.Unassign, world: World) -> None:
    left = world.forge.unassign(action.issue, action.login)
    if any(name.casefold() == action.login.casefold() for name in left):
        raise Rejected(
            f"GitHub left {action.login} assigned to #{action.issue} (no right to change that?)."
        )


APART_SECONDS = 86_400.0
"""For how long a token that may not write several things in one request is believed not to."""

_APART = "writes_apart"
_JOINT = (plan.OpenPullRequest, plan.PostComment, plan.CloseIssue, plan.SetBoard)
"""What may share a request."""
_OF_ACCESS = (MissingScope, NoPermission, NotFound, Unsupported)

Missed = tuple[plan.Action, LifecycleError]
"""The first action that did not come about, as far as is known, and why."""


def joined(
    working: LookUnderWay, action: plan.Action, behind: Iterable[plan.Action]
) -> tuple[tuple[tuple[plan.Action, plan.Fact], ...], Missed | None] | None:
    """Carry out an action and those that follow it in one request; None if it is to be done alone.

    Args:
        working: the look; what is to be done is decided, and nothing of it is sent.
        action: the next one.
        behind: those that follow, if each comes about (`following`).

    Returns:
        What came about, and what did not: then `apart` has to be called.
    """
    actions = _chain(working, action, behind)
    world, seen = working.world, working.seen.observation
    if len(actions) < 2 or seen is None:
        return None
    before = working.seen.record.card.ahead
    _intend(working, actions)
    try:
        texts = texts_of(action, world) if isinstance(action, plan.OpenPullRequest) else {}
        facts, error = world.joint.send(actions, seen, texts)
    except LifecycleError as refused:
        refused.sentence = redact(refused.sentence, world.environment)
        if isinstance(refused, Transient) and refused.is_ambiguous:
            return (), (action, refused)
        _set_ahead(working, before)  # nothing was done
        if isinstance(refused, Transient):
            _leave(working)
            return ((action, plan.Failed(action, refused)),), None
        _forget_intent(working, action)
        _note_apart(working, refused)
        return None
    pairs = tuple(zip(actions, facts, strict=False))
    if error is None:
        return pairs, None
    error.sentence = redact(error.sentence, world.environment)
    return pairs, (actions[len(facts)], error)


def _chain(
    working: LookUnderWay, action: plan.Action, behind: Iterable[plan.Action]
) -> tuple[plan.Action, ...]:
    """The action and those behind it that can be sent with it."""
    seen, world = working.seen, working.world
    if working.is_apart or not _fits(seen, action, world) or _is_off(world):
        return ()
    # What a look promised was refused: it would be refused again, and the card moved to and fro.
    refused = {kind for kind, trouble in seen.record.troubles.items() if trouble.is_final}
    kinds, chain = {kind_of(action)}, [action]
    for one in behind:
        if refused & kinds or kind_of(one) in kinds or not _fits(seen, one, world):
            break
        kinds.add(kind_of(one))
        chain.append(one)
    return tuple(chain)


def _fits(seen: Snapshot, action: plan.Action, world: World) -> bool:
    """True if what was read says that GitHub takes this write, and all that it needs is known.

    Who may write to a repository may comment on its issues and close them, also locked ones; and opens a
    pull request of a branch that has commits of its own. Between repositories no comparison is shown.
    """
    observed = seen.observation
    if observed is None or not observed.writable:
        return False
    match action:
        case plan.OpenPullRequest():
            is_here = str(world.head).casefold() == str(world.base).casefold()
            is_default = action.base == observed.default_branch and not action.is_draft
            return is_here and is_default and observed.is_ahead
        case plan.PostComment() | plan.CloseIssue():
            return observed.issue is not None and bool(observed.issue.id)
        case plan.SetBoard():
            item = observed.item
            is_this = item is not None and item.id == action.item_id and not item.is_archived
            # A card without a Status could not be put back: GitHub is only ever asked to set one.
            has_status = item is not None and bool(item.status)
            return is_this and has_status and world.cards.is_ready(action.item_id)
        case _:
            return False


def _intend(working: LookUnderWay, actions: tuple[plan.Action, ...]) -> None:
    """Commit what is about to be sent: the creates, and what the card has before."""
    for one in actions:
        if isinstance(one, plan.OpenPullRequest | plan.PostComment):
            working.seen = apply_fact(working.seen, plan.Intended(one))
        elif isinstance(one, plan.SetBoard) and one.status is not None:
            observed = working.seen.observation
            item = observed.item if observed is not None else None
            before = (item.status or "", item.agent or "") if item is not None else ()
            kept = working.seen.record.card.ahead  # half written by a former one
            _set_ahead(working, kept or CardAhead(one.status, *before))
            working.world.cache.put(BOARD_CACHE, None)
    working.claim_store.remember(working.seen.record)
    working.claim_store.save()


def _set_ahead(working: LookUnderWay, ahead: CardAhead | None) -> None:
    record = working.seen.record
    record = replace(record, card=replace(record.card, ahead=ahead))
    working.seen = replace(working.seen, record=record)


def apart(working: LookUnderWay, missed: Missed) -> tuple[plan.Action, plan.Fact] | None:
    """Read back all that was sent, and go on one by one; what has to be taken for failed, or None.

    Raises:
        DeadlineReached: it could not be read in time.
    """
    action, error = missed
    is_unknown = isinstance(error, Transient) and error.is_ambiguous
    if not is_unknown:
        _forget_intent(working, action)
    _note_apart(working, error)
    if not _read_back(working, error):
        _leave(working)
        return action, plan.Failed(action, error)
    is_missed = isinstance(action, plan.OpenPullRequest) and decide(working.seen).action == action
    if is_unknown and is_missed:
        return action, plan.Failed(action, error)
    observed = working.seen.observation
    if (
        is_unknown
        and isinstance(action, plan.PostComment)
        and not closing.is_posted(action, observed)
    ):
        working.problem = working.problem or error  # else it was found, or goes on alone
    return None


def _leave(working: LookUnderWay) -> None:
    """Send nothing of it again in this look: the next one reads first."""
    failed = working.seen.failed | {kind.__name__ for kind in _JOINT}
    working.seen = replace(working.seen, failed=failed)


def _read_back(working: LookUnderWay, error: LifecycleError) -> bool:
    """Look once more, at all that was sent; False if that could not be read, or GitHub said to wait."""
    from lifecycle.claim.engine.observing import could_not_look

    world, wanted = working.world, look(working.seen)
    if wanted is None:
        return False
    if isinstance(error, Transient) and error.retry_after is not None:
        could_not_look(working, error)
        return False
    try:
        observed = world.forge.observe(replace(wanted, writes=False))
    except LifecycleError as unread:
        log.write(world.root, f"read back: {redact(unread.sentence, world.environment)}")
        return False
    record = apply_observation(working.seen.record, observed, working.seen.now)
    working.seen = replace(working.seen, record=record, observation=observed)
    return True


def _forget_intent(working: LookUnderWay, action: plan.Action) -> None:
    record = working.seen.record
    intents = {kind: one for kind, one in record.intents.items() if kind != kind_of(action)}
    working.seen = replace(working.seen, record=replace(record, intents=intents))


def _note_apart(working: LookUnderWay, error: LifecycleError) -> None:
    """Nothing more is joined in this look; nor for a day, if it is the token or the server that cannot."""
    world = working.world
    working.is_apart = True
    log.write(world.root, f"written one by one: {redact(error.sentence, world.environment)}")
    if isinstance(error, _OF_ACCESS):
        until = world.clock.now() + APART_SECONDS
        world.cache.put(_APART, {"until": until, ACCESS: world.access})


def _is_off(world: World) -> bool:
    kept = world.cache.get(_APART)
    if not isinstance(kept, dict) or kept.get(ACCESS) != world.access:
        return False
    return world.clock.now() < float(kept.get("until", 0))
