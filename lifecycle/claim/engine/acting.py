"""Carry out actions: one action in, one fact out. Nothing else in `claim/` writes to GitHub or git.

A *set* is re-applicable and verified from what came back. A *create* is never resent blindly: after
a lost answer it is looked for, and what is found is the fact.
"""

from __future__ import annotations

import contextlib
from functools import partial
from typing import assert_never

from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.pull import opening
from lifecycle.claim.engine.briefing import BOARD_CACHE
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record.claim_file import Claim
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.state import Record
from lifecycle.core import plan
from lifecycle.core.errors import HeldByAnother, LifecycleError, PullRequestExists, Rejected
from lifecycle.core.light_dataclass import replace
from lifecycle.core.messages import loss_messages
from lifecycle.core.redact import redact
from lifecycle.core.values.model import BoardItem, PullRequest, PullState
from lifecycle.core.world import World
from lifecycle.git import lease
from lifecycle.github.operations.unclear_writes import settled
from lifecycle.storage.store import FEEDBACK, Folder


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
            case plan.RemarkOnPull():
                return _remark(action, world)
            case plan.RerunJobs():
                world.reports.run_again(action.run, action.attempt)
                return plan.JobsRerun(action.run, action.attempt)
            case plan.AdvancePullRequest():
                return _advance(action, world)
            case plan.AddToBoard() | plan.SetBoard():
                return _put_on_board(action, world, record.claim)
            case plan.PostComment():
                world.forge.comment(action.issue, action.body)
                return plan.Commented(action.marker)
            case plan.SetLinked():
                return linked_writes.set_linked(action, world, record)
            case _:
                return _end(action, world, claim_store, record)
    except LifecycleError as error:
        error.sentence = redact(error.sentence, world.environment)
        return plan.Failed(action, error)


_Ending = plan.CloseIssue | plan.Unassign | plan.ReleaseLease | plan.ForgetClaim


def _end(
    action: _Ending, world: World, claim_store: ClaimStore | None, record: Record
) -> plan.Fact:
    """Carry out one step of closing or releasing."""
    match action:
        case plan.CloseIssue():
            return _close(action, world)
        case plan.Unassign():
            return _unassign(action, world)
        case plan.ReleaseLease():
            return _release(action, world, is_ours=claim_store is not None)
        case plan.ForgetClaim():
            return _forget(claim_store, record)
        case _:
            assert_never(action)


def imagine(action: plan.Action) -> plan.Fact:
    """The fact that a dry run assumes in place of carrying out the action."""
    match action:
        case plan.OpenPullRequest():
            owner, _, branch = action.head.partition(":")
            pull = PullRequest(0, "(new)", action.title, PullState.OPEN, branch, owner, "")
            return plan.PullRequestOpened(replace(pull, body=f"#{action.issue}"))
        case plan.LinkPullRequest():
            text = PullRequest(action.number, "", "", PullState.OPEN, "", "", "", body=action.line)
            return plan.PullRequestLinked(text)
        case plan.RemarkOnPull():
            return plan.PullRemarked(action.mark)
        case plan.RerunJobs():
            return plan.JobsRerun(action.run, action.attempt)
        case plan.AdvancePullRequest():
            return plan.PullRequestAdvanced(action)
        case plan.AddToBoard():
            return plan.OnBoard(BoardItem("(new)"))
        case plan.SetBoard():
            item = BoardItem(action.item_id, action.status, action.agent)
            wrote_agent = "" if action.clear_agent else action.agent
            return plan.BoardIs(item, action.status, wrote_agent)
        case plan.PostComment():
            return plan.Commented(action.marker)
        case plan.SetLinked():
            return plan.LinkedIs(action.id, action.wanted)
        case _:
            return _imagine_end(action)


def _imagine_end(action: _Ending) -> plan.Fact:
    match action:
        case plan.CloseIssue():
            return plan.IssueClosed(action.issue)
        case plan.Unassign():
            return plan.Unassigned(action.login)
        case plan.ReleaseLease():
            return plan.LeaseReleased()
        case plan.ForgetClaim():
            return plan.ClaimForgotten()


def _release(action: plan.ReleaseLease, world: World, *, is_ours: bool) -> plan.LeaseReleased:
    """End the lease; releasing for another agent fails if the lease has changed since it was read."""
    was_there = lease.release(world.git, world.remote, action.issue, action.sha)
    if not (was_there or is_ours):
        raise HeldByAnother(
            f"The lease on #{action.issue} changed meanwhile, so somebody works on it; it was left."
        )
    return plan.LeaseReleased()


def _forget(claim_store: ClaimStore | None, record: Record) -> plan.ClaimForgotten:
    if claim_store is not None:
        claim_store.forget(replace(record, ending=replace(record.ending, outcome=record.end)))
        with contextlib.suppress(OSError):  # what is left there is bounded, and can be read again
            Folder(claim_store.root, FEEDBACK).clear()
    return plan.ClaimForgotten()


def _open(action: plan.OpenPullRequest, world: World) -> PullRequest:
    summary = action.title
    if action.is_draft:
        summary = f"{summary}\n\n{loss_messages.draft_of_left_work()}"
    # As the commit has it: a link in the worktree could lead to any file of the user's.
    commit = action.pushed or action.head.partition(":")[2]
    template = world.git.committed(commit, opening.TEMPLATES)
    link = world.settings.issue_link
    body = opening.body(template, summary=summary, issue=action.issue, link=link)
    return settled(
        partial(
            world.forge.create_pull_request,
            title=opening.title(action.title),
            body=world.with_run(body, action.head.partition(":")[2]),
            head=action.head,
            base=action.base,
            is_draft=action.is_draft,
        ),
        partial(_find_open, action, world),
        told=(PullRequestExists,),
    ).now


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


def _remark(action: plan.RemarkOnPull, world: World) -> plan.PullRemarked:
    """Append the remark to the text as GitHub has it now, once."""
    pull = world.forge.pull_request(action.number)
    if action.mark not in pull.body:
        remark = world.public(action.remark, "remark on weakened checks")
        body = f"{pull.body.rstrip()}\n\n{remark}\n\n{action.mark}".lstrip()
        world.forge.set_pull_request_body(action.number, body)
    return plan.PullRemarked(action.mark)


def _advance(action: plan.AdvancePullRequest, world: World) -> plan.PullRequestAdvanced:
    """Ask GitHub for it at the head that was judged; what brings it on is refused at any other."""
    if action.how == plan.UPDATE_BRANCH:
        world.merges.ensure_branch_updated(action.number, sha=action.head)
    elif action.how == plan.AUTO_MERGE_OFF:
        world.merges.ensure_no_auto_merge(action.number)
    else:
        world.merges.ensure_auto_merge(action.number, sha=action.head, method=action.method)
    return plan.PullRequestAdvanced(action)


def _put_on_board(
    action: plan.AddToBoard | plan.SetBoard, world: World, claim: Claim
) -> plan.OnBoard | plan.BoardIs:
    if isinstance(action, plan.AddToBoard):
        if world.board is None:
            raise Rejected("No board is configured.")
        return plan.OnBoard(world.board.add(action.issue_id))
    item = world.cards.write(
        claim.issue,
        action.item_id,
        status=action.status,
        agent=action.agent,
        clear_agent=action.clear_agent,
        standing=claim.status,
    )
    world.cache.put(BOARD_CACHE, None)
    return plan.BoardIs(
        item,
        wrote_status=action.status,
        wrote_agent="" if action.clear_agent else action.agent,
    )


def _close(action: plan.CloseIssue, world: World) -> plan.IssueClosed:
    issue = world.forge.close_issue(action.issue)
    if issue.is_open:
        raise Rejected(
            f"GitHub accepted the request but still shows #{action.issue} open; it is tried again "
            "at the next look."
        )
    return plan.IssueClosed(action.issue)


def _unassign(action: plan.Unassign, world: World) -> plan.Unassigned:
    left = world.forge.unassign(action.issue, action.login)
    if any(name.casefold() == action.login.casefold() for name in left):
        raise Rejected(
            f"GitHub left {action.login} assigned to #{action.issue} (no right to change that?)."
        )
    return plan.Unassigned(action.login)
