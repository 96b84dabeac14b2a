"""Take a task: find it, check that it may be taken, take the lease, write the claim.

The order makes a crash harmless: first the intent is committed, then come the lease (which decides who was
first), the branch, the assignee, the board, and last the claim file. Taking the same task again continues
where it stopped.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from lifecycle.claim.commands import admission, moves, task_branch, unfinished_claims
from lifecycle.claim.commands.admission import TaskAsked, holder_of, refuse_elsewhere
from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import briefing, observing
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record.claim_file import BLANK, sentence
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.sections import Attempt, CardRecord, LinkRecord, OwnershipRecord
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import GitFailed, HeldByAnother, LifecycleError, Refused
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages import messages
from lifecycle.core.timing import DeadlineReached
from lifecycle.core.values.branch_names import branch_name, is_branch
from lifecycle.core.values.model import BoardItem, PullRequest, PullState
from lifecycle.core.values.priorities import Status
from lifecycle.core.world import World
from lifecycle.git import lease, tracked_files
from lifecycle.settings import user_folder
from lifecycle.storage import log

_DIGITS = 6
_NAMES = 10**_DIGITS


@dataclass(frozen=True, slots=True)
class Taken:
    """The claim on a task that was taken, or was held already, and remarks for the person.

    `is_again`: the task was taken again in a worktree that had lost its claim on it.
    """

    record: Record
    title: str
    notes: tuple[str, ...] = ()
    is_new: bool = True
    is_again: bool = False

    @property
    def where(self) -> str:
        """Text on the claim's branch, the pull request that it begins with, and how to hand it off."""
        claim = self.record.claim
        # For a claim that was held already, no branch was switched to.
        where = "On branch" if self.is_new else "Its branch is"
        shown = f", which has PR #{claim.pr_number} (phase {claim.phase}): {self.record.pull.url}"
        pull = shown if claim.pr_number else ""
        return f"{where} {claim.branch}{pull}. When done: {messages.HAND_OFF}"


def take(
    world: World, claim_store: ClaimStore, query: str, *, force: bool = False, is_any: bool = False
) -> Taken:
    """Take the task that `query` names: a number, `#number`, an issue URL, or a part of its title.

    A task that this worktree has claimed is taken again if that claim lost it: it was released, or its
    lease is gone or another agent's. Otherwise the claim stays as it is.

    Args:
        world: what may be touched.
        claim_store: the claim file and state.json.
        query: which task; or the id of a task in the worktree's other tracker that is linked to an issue.
        force: take the task although its Status is not Todo, a dependency is open, or another holds it.
        is_any: any other task would do, so a task with an open pull request is refused.

    Raises:
        Refused: the task may not be taken; the sentence says why. Nothing was claimed.
        HeldByAnother: somebody else holds the task.
        NotFound, Transient, Rejected: GitHub or git said no, or did not answer.
    """
    world.refuse_tracked()
    world.refuse_strange_remote()
    with claim_store.folder.locked(world.deadline.remaining(at_most=30.0)):
        return _take(world, claim_store, query, force=force, is_any=is_any)


def _take(world: World, claim_store: ClaimStore, query: str, *, force: bool, is_any: bool) -> Taken:
    """Take the task under the lock; first undo an unfinished claim of another task."""
    loaded = claim_store.load()
    notes: list[str] = []
    cards = admission.cards_here(world, notes)
    number, chosen = admission.which_task(world, cards, query, notes)
    mine = loaded.record
    if mine is not None:
        _check_held(mine, number, "takeover" if force else "claim")
        observing.demand_same_place(world, mine)
    is_begun = unfinished_claims.is_begun(claim_store.state, number)
    if not is_begun:
        notes += linked_writes.finish(world, claim_store, mine)
    task = admission.read_task(world, number, cards, mine or _remembered(claim_store, number))
    if mine is not None:
        remarks: list[str] = []
        if not (is_begun or admission.is_lost(world, mine, task.seen, remarks)):
            record = _held(world, claim_store, mine, loaded.hints)
            return Taken(record, task.issue.title, tuple(remarks), is_new=False)
        task = replace(task, lost=mine)
    undone = "" if is_begun else unfinished_claims.undo(world, claim_store)
    notes += filter(None, [undone])
    with unfinished_claims.answered_for(world, claim_store, undone):
        attempt = replace(_attempt(world, claim_store, task), chosen=chosen, force=force)
        if task.issue.is_open and not attempt.insists:
            task = replace(task, blockers=world.forge.blockers(number))
        notes += admission.admit(world, task, attempt)
        # The former holder may have used a branch of their own: the work and its PR are there.
        former = admission.holder_of(world, number) if force and task.before is None else None
        led = former.branch if former is not None else ""
        taking = _Taking(world, claim_store, task, attempt, notes, led)
        if is_any and task.seen.closers and not attempt.resumes:
            taking.refuse_rivals()
        return taking.both()


def _check_held(mine: Record, number: int, command: str) -> None:
    """Refuse if this worktree's claim is on another task, or is being released."""
    own = mine.claim.issue_number
    if own != number:
        is_merged = mine.claim.phase == Phase.MERGED_DETECTED
        closing = "close it first, once the user agrees (lifecycle close)"
        way = closing if is_merged else "finish it first"
        how = f"already holds #{own} (phase {mine.claim.phase}); {way}"
        if mine.is_lost:
            how = f"has a claim on #{own} that was lost; leave it with: lifecycle release"
        raise Refused(sentence("holds-another", how=how, command=command, number=number))
    if mine.ending.releasing is not None:
        raise Refused(sentence("being-released", number=own))


def _held(world: World, claim_store: ClaimStore, mine: Record, hints: Mapping[str, Any]) -> Record:
    """Give the claim that exists here already to this command's session, and return it."""
    session = moves.session_of(world)
    if session in ("", mine.ownership.session):
        return mine
    taken = mine.with_ownership(session=session, session_at=world.clock.now())
    return claim_store.commit(taken, hints).record


@dataclass(frozen=True, slots=True)
class _Taking:
    """An attempt to take the task that was read, under the lock; `notes` gets remarks for the person.

    `led`: in a takeover, the branch that the former holder's lease names; else "".
    """

    world: World
    claim_store: ClaimStore
    task: TaskAsked
    attempt: Attempt
    notes: list[str]
    led: str = ""

    @property
    def branches(self) -> tuple[str, str]:
        """The base branch of the task, and the name of the task's branch, existing or new."""
        task = self.task
        base = self.world.settings.base or task.seen.default_branch
        made = branch_name(task.issue.title, task.issue.number)
        names = (self.led, task.branch)  # an agent may have written anything
        return base, next((name for name in names if is_branch(name) and name != base), made)

    def refuse_rivals(self) -> None:
        """Refuse a task for which a pull request is open from another branch than the task's own."""
        base, branch = self.branches
        pull = admission.pull_request_of(self.world, self.task, branch, base, None)
        others = admission.rivals(self.task, pull)
        if others:
            raise Refused(sentence("rivals", others=others, number=self.task.issue.number))

    def both(self) -> Taken:
        """Take the linked task, if there is one, then the issue; if that fails, release the linked task."""
        world, claim_store, number = self.world, self.claim_store, self.task.issue.number
        for place in admission.list_places(world):
            # A released task leaves its branch checked out there, and git checks out no branch twice.
            if place.branch == self.branches[1] and place.path.resolve() != world.root.resolve():
                refuse_elsewhere(world, number)
                raise admission.has_place(place.path, number)
        linked = linked_writes.hold(world, claim_store, self.attempt, self.notes)
        try:
            taken = self._issue(linked)
        except LifecycleError as error:
            remarks = linked_writes.finish(world, claim_store, None)
            error.sentence = " ".join([error.sentence, *remarks])
            raise
        linked_writes.settle(claim_store, linked.link)
        return taken

    def _issue(self, linked: LinkRecord) -> Taken:
        """Take the issue: note, lease, branch, assignee, card, claim file, in this order.

        In a takeover the former holder is unassigned after that.
        """
        world, claim_store, task, notes = self.world, self.claim_store, self.task, self.notes
        number, agent = task.issue.number, self.attempt.agent
        login = derive.login_of(agent)
        base, branch = self.branches
        unfinished_claims.note(world, claim_store, task, self.attempt)
        sha, former = self._lease(branch)
        refs_in = ""
        if sha and str(world.head).casefold() == str(world.base).casefold():
            refs_in = _probed(world, task, sha)
        elif sha:  # agents that push elsewhere do not see it
            notes.append(sentence("in-fork", world=world))
        notes += task_branch.switch(world, branch, base)
        pull = admission.pull_request_of(world, task, branch, base, former)
        others = admission.rivals(task, pull)
        way = "Look there before you begin; to leave the task to that PR, run: lifecycle release"
        notes += [f"{others}. {way}"] if others else []
        # From here on, the issue and its card are written to.
        unfinished_claims.amend(claim_store, is_held=True)
        is_app = derive.is_app(login)
        issue = world.forge.issue(number) if is_app else world.forge.assign(number, login)
        if not issue.is_open:  # the former holder has closed the issue since it was read
            raise Refused(sentence("closed", number=number))
        if not is_app and login not in issue.assignees:
            notes.append(f"GitHub did not assign {login} (no write access?); the task is claimed.")
        values = _values(task, branch, agent, pull)
        item = self._put_on_board(values["status"])
        tracked_files.exclude_own_files(world.root)
        card = CardRecord()
        if item is not None:
            values |= {"item_id": item.id, "last_synced_status": values["status"]}
            card = CardRecord(is_known=True, agent=agent)
        record = Record(
            values,
            created_at=world.clock.now(),
            is_taken=True,
            title=task.issue.title,
            card=card,
            ownership=OwnershipRecord(
                lease=sha,
                refs_in=refs_in,
                session=moves.session_of(world),
                remote=world.remote,
                repository=str(world.base),
            ),
            linked=linked,
        )
        record = admission.write(claim_store, task.lost, _going_on(record, task, pull, base))
        # After the file: until then an undone attempt gives the lease back to an agent still assigned.
        notes += _relieved(world, task, login, derive.login_of(former.agent) if former else "")
        unfinished_claims.over(claim_store)
        user_folder.note_clone(world.root, world.environment)
        return Taken(record, task.issue.title, tuple(notes), is_again=task.lost is not None)

    def _put_on_board(self, status: str) -> BoardItem | None:
        """Write Status and Agent of the card; None, with a remark, if they cannot be written."""
        world, task, seen = self.world, self.task, self.task.seen
        if not task.has_board or world.board is None:
            self._remark(seen.board_problem or "")
            return None
        self.notes.extend(filter(None, [seen.board_note]))
        try:
            item, agent = seen.item or world.board.add(task.issue.id), self.attempt.agent
            card = world.cards.write(task.issue.number, item.id, status=status, agent=agent)
        except LifecycleError as error:
            self._remark(error.sentence, "The board was not updated: ")
            return None
        world.cache.put(briefing.BOARD_CACHE, None)
        if card.is_labels and not seen.board_note and world.choice.note:
            self.notes.append(world.choice.note)
        return replace(item, id=card.id, status=card.status, agent=card.agent)

    def _remark(self, problem: str, prefix: str = "") -> None:
        """Add a remark on a problem with the board, unless there was one when the cards were read."""
        if problem and not any(problem in note for note in self.notes):
            self.notes.append(f"{prefix}{problem}")

    def _lease(self, branch: str) -> tuple[str, lease.Lease | None]:
        """Take the lease; return its sha and the lease that was taken over, or None.

        The sha is "", and there is a remark, if leases cannot be written here.
        """
        world, attempt, number = self.world, self.attempt, self.task.issue.number
        git, remote = world.git, world.remote
        holder = lease.read(git, remote, number) if attempt.insists else None
        is_ours = holder and (holder.nonce == attempt.nonce or holder.sha == attempt.held)
        if holder is not None and attempt.resumes and is_ours:
            return holder.sha, unfinished_claims.former(world, self.claim_store)
        former = holder if attempt.force else None
        instead_of, began = (former.sha, former.began) if former is not None else ("", "")
        unfinished_claims.amend(self.claim_store, instead_of=instead_of)
        agent, nonce = attempt.agent, attempt.nonce
        try:
            how = {"branch": branch, "nonce": nonce, "instead_of": instead_of, "began": began}
            sha = lease.take(git, remote, number, agent, **how, at=lease.dated(world))
        except HeldByAnother:
            if (winner := holder_of(world, number)) is not None:
                refuse_elsewhere(world, number, winner.agent)
            raise
        except GitFailed as error:
            words = {"remote": remote, "evidence": error.evidence}
            self.notes.append(sentence("not-exclusive", **words))
            return "", None
        return sha, former


def _going_on(record: Record, task: TaskAsked, pull: PullRequest | None, base: str) -> Record:
    """The new record with its pull request, and the earlier claim's summary and session."""
    before = task.before
    if before is not None:
        record = record.with_ownership(session=record.ownership.session or before.ownership.session)
        record = record.with_values({"summary": before.claim.summary})
    if pull is None:
        return record
    opened = pull.number if before is not None and before.pull.opened == pull.number else None
    record = record.with_pull(url=pull.url, head=pull.head_sha, opened=opened)
    record = derive.with_merge(record, pull, base, task.seen)
    return replace(record, judged=record.claim.phase)


def _values(task: TaskAsked, branch: str, agent: str, pull: PullRequest | None) -> dict[str, Any]:
    """The fields of the new claim file: in phase `coding`, or as GitHub shows the pull request."""
    is_shown = pull is not None and pull.state is not PullState.CLOSED
    return {
        **BLANK,
        "issue_number": task.issue.number,
        "branch": branch,
        "agent_id": agent,
        "phase": derive.phase_of(pull).value,
        "status": Status.IN_REVIEW if is_shown else Status.IN_PROGRESS,
        "pr_number": pull.number if pull is not None else None,
    }


def _remembered(claim_store: ClaimStore, number: int) -> Record | None:
    """This worktree's claim on the task that has not ended although its file is gone; or None."""
    last = claim_store.remembered()
    is_here = last is not None and not last.ending.outcome and last.claim.issue_number == number
    return last if is_here else None


def _attempt(world: World, claim_store: ClaimStore, task: TaskAsked) -> Attempt:
    """The attempt to take the task: an unfinished one, or one by a lost claim's agent or a new agent."""
    number, begun = task.issue.number, unfinished_claims.of(claim_store.state)
    if begun is not None and begun.issue == number:
        return Attempt(number, begun.agent, begun.nonce, resumes=True)
    before, nonce = task.before, lease.new_nonce()
    if before is not None and derive.login_of(before.claim.agent_id):
        held = before.ownership.lease
        return Attempt(number, before.claim.agent_id, nonce, resumes=True, held=held)
    # With random digits, since others may claim in the same second: a tracker that knows agents only by
    # name would take two agents of the same name for one.
    agent = f"{world.forge.viewer()}-{int(world.clock.now())}{secrets.randbelow(_NAMES):0{_DIGITS}}"
    return Attempt(number, agent, nonce)


def _relieved(world: World, task: TaskAsked, login: str, former: str) -> list[str]:
    """Unassign the former holder's account, or the task would stay theirs alone after a release.

    Returns a remark; nothing if that account is not assigned, or is our own.
    """
    name = derive.assigned(task.issue.assignees, former)
    if name is None or former.casefold() == login.casefold():
        return []
    try:
        world.forge.unassign(task.issue.number, name)
    except (DeadlineReached, LifecycleError) as error:
        why = getattr(error, "sentence", "the command ran out of time.")
        return [f"{name}, who had it before, is still assigned: {why}"]
    return [f"{name}, who had it before, is no longer assigned to #{task.issue.number}."]


def _probed(world: World, task: TaskAsked, sha: str) -> str:
    """The repository's global id if the API can move the lease's ref (tried without a change); else ""."""
    node_id = task.seen.writable
    with log.Surviving(world.root, "the lease is ended by a push", LifecycleError):
        if node_id:
            world.forge.move_ref(node_id, lease.ref_of(task.issue.number), sha, sha)
        return node_id
    return ""
