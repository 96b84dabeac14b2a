"""Release a claim: mark it as releasing; the engine's looks carry out the release.

For the comment on the issue, this module reads what only this machine knows: how far the work got, and
who holds the lease.
"""

from __future__ import annotations

import shlex
from contextlib import suppress

from lifecycle.claim.commands import moves, unfinished_claims
from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import briefing, observing
from lifecycle.claim.record.claim_file import sentence
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.claim.record.sections import Releasing
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import GitFailed, LifecycleError, Refused, Transient
from lifecycle.core.light_dataclass import dataclass, replace
from lifecycle.core.messages import figures
from lifecycle.core.redact import listed, named
from lifecycle.core.world import World
from lifecycle.evidence.tree_hash import is_own
from lifecycle.git import worktree_files
from lifecycle.storage.signs_of_life import ALWAYS


@dataclass(frozen=True, slots=True)
class ReleaseOutcome:
    """The state of a release after the command.

    Attributes:
        record: the claim; if it was never finished, as far as it got.
        notes: what the person should know.
        said: the sentence for the person if nothing is left to do: the task was released before, or an
            unfinished claim was undone; else "".
    """

    record: Record
    notes: tuple[str, ...] = ()
    said: str = ""


def release_claim(
    world: World, claim_store: ClaimStore, reason: str, *, dry_run: bool = False
) -> ReleaseOutcome:
    """Mark the claim as releasing; the engine's next look, or a later one, carries out the release.

    Calling it again changes nothing: a release under way continues, and a finished one stays finished.

    Args:
        world: what may be touched.
        claim_store: the claim file and state.json.
        reason: why, for the issue's comment; may be empty.
        dry_run: return the record as it would be, and write nothing.

    Raises:
        Refused: there is no claim; another live session holds it; its PR is merged, or its phase is done,
            so the claim should be closed instead.
        ClaimRefused: the claim file cannot be read.
    """
    world.refuse_tracked()
    reason = world.public(" ".join(reason.split()), "reason")
    if dry_run:
        record = claim_store.load(repair=False).record
        ended = None if record is not None else _ended(world, claim_store, dry_run=True)
        record = record or unfinished_claims.without_file(claim_store)
        return ended or _leaving(world, claim_store, record, reason)
    with claim_store.folder.locked(world.deadline.remaining(at_most=30.0)):
        loaded = claim_store.load()
        record = loaded.record
        try:
            if record is not None:
                # The claim file exists, so the claim is finished, however the run that wrote it ended.
                unfinished_claims.over(claim_store)
            elif ended := _ended(world, claim_store, dry_run=False):
                return ended
            elif left := unfinished_claims.without_file(claim_store):
                record = claim_store.create(left)
            releasing = _leaving(world, claim_store, record, reason)
        finally:
            claim_store.save()
        # If this process is killed right after the commit, the next wake continues the release.
        claim_store.wait_for(ALWAYS, ALWAYS)
        tried_anew = replace(releasing.record, troubles={})
        return replace(releasing, record=claim_store.commit(tried_anew, loaded.hints).record)


def _ended(world: World, claim_store: ClaimStore, *, dry_run: bool) -> ReleaseOutcome | None:
    """Undo a claim that was never finished here; or the outcome of one that was released already.

    None if there is neither. The issue of an unfinished claim gets no comment.
    """
    begun, last = unfinished_claims.of(claim_store.state), claim_store.remembered()
    if begun is not None and dry_run:
        text = f"would release the unfinished claim on #{begun.issue}"
        return ReleaseOutcome(begun.record, said=text)
    if begun is not None:
        try:
            text = unfinished_claims.undo(world, claim_store)
        except LifecycleError as error:
            error.sentence = f"{error.sentence} {unfinished_claims.left(claim_store)}"
            raise
        return ReleaseOutcome(begun.record.with_ending(outcome="released"), said=text)
    if last is not None and last.ending.outcome == "released":
        text = f"#{last.claim.issue_number} was already released; nothing was done."
        return ReleaseOutcome(last, said=text)
    return None


def _leaving(
    world: World, claim_store: ClaimStore, record: Record | None, reason: str
) -> ReleaseOutcome:
    """The record marked as releasing, and remarks for the person; asks the remote who holds the lease.

    Refused if there is none, it should be closed instead, or another live session holds it.
    """
    if record is None:
        raise Refused(moves.none_here(world))
    observing.demand_same_place(world, record)
    if record.ending.releasing is not None:
        return ReleaseOutcome(record)
    if observing.is_held(claim_store, record, moves.session_of(world)):
        last_at = claim_store.signs(record).last_at
        raise Refused(f"Nothing was released. {briefing.held_line(record, last_at)}")
    number = record.claim.issue_number
    is_over = record.claim.phase in (Phase.DONE, Phase.MERGED_DETECTED)
    if is_over and not (record.is_lost or derive.is_issue_gone(record)):
        way = "a task whose PR is merged is closed instead: lifecycle close"
        if not derive.was_merge_seen(record):
            way = "GitHub does not show a merge yet; to look now: lifecycle tick"
        phase = record.claim.phase
        raise Refused(sentence("not-to-release", number=number, phase=phase, way=way))
    progress, notes = _progress(world, record)
    sha, holder, is_gone = record.ownership.lease, "", record.ownership.is_leaseless
    if number is not None:
        try:
            stands = observing.standing(world, record, number)
            sha, is_gone = stands.sha, stands.is_gone
            holder = stands.other.agent if stands.other is not None else ""
        except (GitFailed, Transient) as error:
            notes.append(f"It is not known who holds the lease, so the card decides. {error}")
    releasing = Releasing(world.clock.now(), reason, progress, holder)
    fresh = replace(record, intents={}).with_ownership(lease=sha, is_leaseless=is_gone)
    fresh = fresh.with_ending(comment_done=False, board_done=False, unassigned=False)
    fresh = fresh.with_ending(releasing=releasing, override="", consent="")
    return ReleaseOutcome(fresh, tuple(notes))


def _progress(world: World, record: Record) -> tuple[str, list[str]]:
    """How far the work got, as text for the issue; and remarks for the person on what exists only here."""
    git, branch, remote = world.git, record.claim.branch, world.settings.remote
    phase = f"phase {record.claim.phase}."
    pushed = _pushed(world, branch) if branch else None
    if not branch or git.head_of(branch) is None:
        known = f"and not known on {remote}"
        if pushed:
            known = f"but {remote} last had it at {pushed[:7]}"
        notes = [f"Branch {branch} is not in this clone, {known}."] if branch else []
        return f"not in the worktree that released it, {phase}", notes
    notes = []
    base = moves.base_of(world)
    start = f"refs/remotes/{remote}/{base}" if base and git.remote_head_of(base, remote) else ""
    commits = _count(world, f"{start}..refs/heads/{branch}") if start else None
    unpushed = _count(world, f"{pushed or start}..refs/heads/{branch}") if pushed or start else None
    if unpushed:
        here, share = figures.count(unpushed, "commit"), f"git push {remote} {shlex.quote(branch)}"
        notes.append(f"{here} of {branch} only here; to share: {share}")
    if git.current_branch() == branch:
        # Apart from our own files and those of repositories in folders here.
        new = (path for path in worktree_files.untracked(git) if not is_own(path))
        if names := listed(map(named, (*worktree_files.tracked_changes(git), *new)), 3):
            way = "commit and push what others should continue"
            notes.append(f"Uncommitted work is only here: {names}; {way}.")
    amount = figures.count(commits, "commit") if commits else "no commits"
    words = [amount] if commits is not None else []
    words += [f"pushed up to {pushed[:7]}" if pushed else "nothing pushed"]
    words += [f"{unpushed} not pushed"] if unpushed and pushed else []
    return f"{', '.join(words)}, {phase}", notes


def _pushed(world: World, branch: str) -> str | None:
    """The commit of the branch that the remote has, as known here; None if it is not known to have any.

    A clone of a single branch notes no push of another one, so the remote is asked before work is told to
    be here only.
    """
    git, remote = world.git, world.settings.remote
    known, head = git.remote_head_of(branch, remote), git.head_of(branch)
    if head and head != known:
        with suppress(GitFailed, Transient):
            there = git.run("ls-remote", remote, f"refs/heads/{branch}", remote=remote)
            # Fails if the remote has no such branch, or has commits that were never fetched here.
            return git.run("rev-parse", "--verify", there.split("\t")[0] + "^{commit}")
    return known


def _count(world: World, span: str) -> int:
    return int(world.git.run("rev-list", "--count", span))
