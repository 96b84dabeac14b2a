"""Begin a look: the owner of the claim, the first snapshot, and the reads from GitHub for a decision.

Two sessions may run in one worktree. The session that claimed the task or handed it off is woken with its
news, and no other session takes a sentence that is meant for it; another one is told at its start that the
claim is held. A session holds nothing if it ended, if its client is gone, or (if its client is unknown) if
it gave no sign of life for an hour: then the next session continues the claim.

Remote and repository come from settings, and those from a file in the tree: another checkout may name
others. Then the lease would be left behind, and another repository's issue with the same number be closed.
So both are kept with the claim, and a checkout that names others is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from lifecycle.claim.decisions import card_and_link, derive
from lifecycle.claim.decisions.decide import apply_observation, judge_hints, look
from lifecycle.claim.decisions.pull import pace, review
from lifecycle.claim.decisions.snapshot import Snapshot
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.linked import linked_writes
from lifecycle.claim.record import sections
from lifecycle.claim.record.claim_file import sentence
from lifecycle.core.errors import BadConfig, LifecycleError, NotFound, Refused, Transient
from lifecycle.core.light_dataclass import dataclass, field, replace
from lifecycle.core.messages import review_messages as words
from lifecycle.core.plan import Action, Audience, Hooks, Notice, Wake
from lifecycle.core.redact import redact
from lifecycle.core.timing import DeadlineReached
from lifecycle.core.values import checks, model
from lifecycle.git.tracked_files import exclude_own_files
from lifecycle.storage import log, signs_of_life
from lifecycle.storage.state_file import ACCESS, PENDING, WATCHED

if TYPE_CHECKING:
    from lifecycle.claim.record.claim_store import ClaimStore, Loaded
    from lifecycle.claim.record.state import Record
    from lifecycle.core.world import World
    from lifecycle.git.lease import LeaseStanding


def is_mine(record: Record, session: str) -> bool:
    """True if this session owns the claim, or if either session is unknown."""
    return not record.ownership.session or not session or record.ownership.session == session


def is_held(claim_store: ClaimStore, record: Record, session: str) -> bool:
    """True if another session than this one, which seems to be alive, holds the claim."""
    return not is_mine(record, session) and claim_store.seems_alive(record)


def owned(claim_store: ClaimStore, record: Record, session: str) -> Record:
    """The record with this session as owner, unless another live session holds it.

    The claim of another session counts as inherited: this session has not heard what that one was told.
    """
    before = record.ownership.session
    if not session or before == session or is_held(claim_store, record, session):
        return record
    now, inherited = claim_store.clock.now(), session if before else ""
    return record.with_ownership(session=session, session_at=now, inherited=inherited)


def deliverable(record: Record, session: str, audiences: Collection[Audience]) -> list[Audience]:
    """The audiences that this session may read: only a claim's owner gets its news."""
    return [each for each in audiences if each is Audience.NOTE or is_mine(record, session)]


def standing(world: World, record: Record, number: int) -> LeaseStanding:
    """Read the state of the claim's lease from the remote; raises GitFailed, Transient."""
    from lifecycle.git import lease  # needed only if somebody else may have the task

    sha, agent = record.ownership.lease, record.claim.agent_id
    return lease.standing(world.git, world.remote, number, sha=sha, agent=agent)


def demand_same_place(world: World, record: Record) -> Record:
    """The record, if remote and repository here are those with which it was taken; else Refused.

    A repository that was renamed on GitHub is still the same; if the names differ, one request finds that
    out. A remote that the user renamed is also the same: git does not list its old name any more.

    Returns:
        The record with the present names; a name that the record does not have is not added.

    Raises:
        Refused: remote or repository lead elsewhere; the sentence says how to go back.
        BadConfig: the settings cannot be used.
        Transient, Rejected: GitHub does not say what the repository is called now.
    """
    if record.ownership.remote:
        remote = world.settings.remote
        if remote != record.ownership.remote and record.ownership.remote in world.git.remotes():
            raise _elsewhere(record, "remote", record.ownership.remote, remote)
        record = record.with_ownership(remote=remote)
    if record.ownership.repository:
        base = str(world.base)
        is_same = base.casefold() == record.ownership.repository.casefold()
        if not (is_same or _is_renamed(world, record, base)):
            raise _elsewhere(record, "repository", record.ownership.repository, base)
        record = record.with_ownership(repository=base)
    return record


def _is_renamed(world: World, record: Record, base: str) -> bool:
    """True if GitHub calls the repository of the claim `base` by now."""
    owner, _, name = record.ownership.repository.partition("/")
    request = model.Look(issue=record.claim.issue, branch="")
    try:
        name_now = world.forge_of(model.Repository(owner, name)).observe(request).repository
    except NotFound:
        return False
    return name_now.casefold() == base.casefold()


def _elsewhere(record: Record, kind: str, taken: str, named: str) -> Refused:
    """The refusal: the remote or repository is `named` here, and was `taken` at the claim."""
    import shlex  # for this refusal alone

    claim, branch = record.claim, shlex.quote(record.claim.branch)
    way = f", or go back to its branch: git switch {branch}" if claim.branch else ""
    words = {"number": claim.issue_number, "taken": taken, "kind": kind, "named": named}
    return Refused(sentence("elsewhere", way=way, **words))


BOARD_OFF_SECONDS = 600.0
"""Seconds for which hooks do not read a board again that could not be read."""

TOO_LATE = "GitHub did not answer in time; the claim was kept, and the next look tries again."

_BOARD_OFF = "board_off"

_OF_CARD = ("moved", "off-board", "archived")
"""Events of notices on the card as it was last shown: a person may undo what they tell of."""


@dataclass(slots=True)
class LookUnderWay:
    """The state of one look while it runs.

    Attributes:
        seen: the snapshot as it is now.
        actions: what was done so far.
        problem: the first failure, or None.
        stated: the ledger's keys of the notices that this look queued or ended.
        repeated: of those, the ones that are only repeated for whoever asked for this look.
        papers: texts of files that notices name, by the file's name.
        conditions: what the last decision told somebody to correct, except failures, as in the record.
        flakes: checks that failed and passed at the same commit, each with what failed.
        may_read: the reasons of failed checks may be read, if that is due again.
        is_finished: nothing is left to do now.
        is_gone: the claim file is gone.
        was_edited: the agent edited the claim file during the look.
        is_apart: from here on, writes are sent one by one.
    """

    world: World
    claim_store: ClaimStore
    seen: Snapshot
    actions: list[Action] = field(default_factory=list)
    problem: LifecycleError | None = None
    stated: set[str] = field(default_factory=set)
    repeated: set[str] = field(default_factory=set)
    papers: dict[str, str] = field(default_factory=dict)
    conditions: dict[str, str] = field(default_factory=dict)
    flakes: list[tuple[str, str]] = field(default_factory=list)
    may_read: bool = False
    is_finished: bool = False
    is_gone: bool = False
    was_edited: bool = False
    is_apart: bool = False

    @property
    def record(self) -> Record:
        """The claim as it is now."""
        return self.seen.record

    @record.setter
    def record(self, record: Record) -> None:
        self.seen = replace(self.seen, record=record)


def queue(working: LookUnderWay, notices: Iterable[Notice]) -> None:
    """Queue notices under this claim's keys.

    A look for a session that has inherited the claim repeats notices that still apply, since only its
    predecessor may have heard them. So does a look by command, but only to whoever runs it.
    """
    record, claim_store = working.record, working.claim_store
    for notice in notices:
        key = f"{record.claim_key}/{notice.key}"
        is_unheard = record.is_inherited and not claim_store.has_heard(record, key)
        # Notices of this look itself are not repeated.
        repeats = key not in working.stated and (notice.stands or notice.audience is Audience.ASK)
        working.stated.add(key)
        again = repeats and (is_unheard or working.seen.wake is Wake.TICK)
        keyed = replace(kept_to(working.world, claim_store, record, notice), key=key)
        if claim_store.ledger.queue(keyed, again=again) and not is_unheard:
            working.repeated.add(key)


def kept_to(world: World, claim_store: ClaimStore, record: Record, notice: Notice) -> Notice:
    """The notice; if nobody watches, its text does not say that anything is watched."""
    if hooks_for(world, claim_store, record) is Hooks.WATCH:
        return notice
    return replace(notice, text=notice.text.replace(words.WATCHED, words.BY_HAND))


def hooks_for(world: World, claim_store: ClaimStore, record: Record) -> Hooks:
    """What hooks do by themselves for this claim, according to the store; without settings, none looks."""
    try:
        waits = world.settings.waits_unattended
    except BadConfig:
        waits = None
    return claim_store.hooks_for(record, world.environment, waits=waits)


def believed(world: World, claim_store: ClaimStore, record: Record) -> Record:
    """The record without refusals of another token: with the present token, the actions are tried again.

    Their queued notices are withdrawn. Nothing is saved here.
    """
    old = [kind for kind, trouble in record.troubles.items() if trouble.is_of_access]
    if not old or claim_store.state.get(ACCESS) == world.access:
        return record
    for kind in old:
        claim_store.ledger.withdraw(f"{record.claim_key}/refused:{kind}:")
    return record.without(*old)


def snapshot_of(
    world: World, claim_store: ClaimStore, wake: Wake, record: Record, hints: Mapping[str, Any]
) -> Snapshot:
    """The snapshot at the start of a wake, before GitHub is asked."""
    settings, marks = world.settings, claim_store.marks
    # An ending always reads the board, since no look follows it.
    is_ending = record.claim.phase == Phase.DONE or record.ending.releasing is not None
    is_tried = wake is Wake.TICK or is_ending
    handed_off = record.claim.branch if record.claim.phase == Phase.READY_FOR_PR else ""
    pushed = world.git.remote_head_of(handed_off, settings.remote) if handed_off else None
    return Snapshot(
        wake,
        world.clock.now(),
        record,
        settings,
        hints,
        has_board=settings.has_board and (is_tried or not is_off(world, _BOARD_OFF)),
        pushed_head=pushed,
        answered_at=marks.answered_at,
        hears_prompts=marks.hears_prompts(record.created_at),
        is_unheard=world.is_unheard,
    )


def is_off(world: World, key: str) -> bool:
    """True while the cache remembers that GitHub refused this with the present token."""
    noted = world.cache.get(key)
    if not isinstance(noted, dict) or noted.get(ACCESS) != world.access:
        return False
    return world.clock.now() < float(noted.get("until", 0))


def observe(working: LookUnderWay) -> None:
    """Read what the decision needs from the claim's own repository, if anything, and judge hints by it."""
    world, now = working.world, working.world.clock.now()
    request = look(working.seen)
    if request is None:
        return
    try:
        record = demand_same_place(world, working.record)
        # A claim written by hand gets them at its first look.
        remote = record.ownership.remote or world.remote
        working.record = record.with_ownership(remote=remote, repository=str(world.base))
        head_owner, observation = world.head.owner, world.forge.observe(request)
        releasing = working.record.ending.releasing
        if releasing is not None and not releasing.is_begun:
            # The comment would be refused, but the rest of the release would be done.
            world.refuse_renamed(observation.repository, "so the release waits")
    except (LifecycleError, DeadlineReached) as error:
        could_not_look(working, error)
        return
    working.record = working.record.without("Look")
    working.seen = replace(working.seen, head_owner=head_owner, observation=observation)
    working.seen = replace(working.seen, looked_at_checks=request.checks)
    if observation.board_problem:
        world.cache.put(_BOARD_OFF, {"until": now + BOARD_OFF_SECONDS, ACCESS: world.access})
    if working.seen.hints:
        record, notices = judge_hints(working.seen)
        queue(working, notices)
        working.seen = replace(working.seen, record=record, hints={})
    _take_over(working, observation, now)


def _take_over(working: LookUnderWay, observed: model.Observation, now: float) -> None:
    """Fold what was read into the record, and queue what the feedback says about it."""
    _note_watched(working.world, observed)
    is_board_read = working.seen.has_board and not observed.board_problem
    # What is still so is queued again by this look.
    shown = ("assigned", *(_OF_CARD if is_board_read else ()))
    working.claim_store.ledger.end(working.record.claim_key, shown)
    working.record = _made_sure(working, apply_observation(working.record, observed, now), observed)
    working.seen = replace(working.seen, left_out=_left_out(working))
    if card_and_link.wants_link(working.seen):
        was_left = bool(working.record.linked.left)
        working.record, notices = linked_writes.learned(working.world, working.seen)
        queue(working, notices)
        if was_left and not working.record.linked.left:  # if it is left again, that is said again
            working.claim_store.ledger.withdraw(f"{working.record.claim_key}/linked-left:")
    pull = observed.by_number
    if pull is not None and pull.state is model.PullState.OPEN:
        events = [*review.over(working.record.pull, pull)]
        # It may have been taken out of the queue, or auto-merge switched off, and that was taken back.
        out = f"queue:{pull.number}:{working.record.pull.merging.ejection}:out"
        events += [out] * (pull.queue is not None)
        events += [f"auto-merge:{pull.number}:off"] * pull.is_auto_merge
        working.claim_store.ledger.end(working.record.claim_key, events)
        _hear_failures(working, pull)
        _hear_reviews(working, pull)


def _made_sure(working: LookUnderWay, record: Record, observed: model.Observation) -> Record:
    """The record with who has the lease; git makes sure if GitHub shows none, or only an old one.

    By its date, another's lease may be older than the claim because a read lags, or because of the clock of
    either machine. If GitHub never shows the lease (a fork's remote), what a hand-off saw counts.
    """
    claim, own, world, hold = record.claim, record.ownership, working.world, observed.hold
    is_open = observed.issue is not None and observed.issue.is_open
    is_clear = hold is not None and (own.taken_by or derive.is_own(hold, record) or not hold.agent)
    if is_clear or record.ending.lease_done or not is_open:
        return record.with_ownership(is_leaseless=False)
    is_known = own.is_leaseless or record.ending.releasing is not None  # a release asked itself
    is_here = own.lease and str(world.head).casefold() == str(world.base).casefold()
    if is_known or not (is_here and claim.issue_number):
        return record.with_ownership(is_leaseless=own.is_leaseless and hold is None)
    with log.Surviving(world.root, "whose the lease is", LifecycleError):
        stands = standing(world, record, claim.issue_number)
        taken_by = stands.other.agent if stands.other is not None else own.taken_by
        return record.with_ownership(is_leaseless=stands.is_gone, taken_by=taken_by)
    return record


def _left_out(working: LookUnderWay) -> int:
    """How many commits of the local branch its merged pull request lacks, as far as is known."""
    record, pull = working.record, derive.pull_request_of(working.seen)
    if pull is None or pull.state is not model.PullState.MERGED or not pull.head_sha:
        return 0
    git, branch, remote = working.world.git, record.claim.branch, working.world.remote
    words = ["rev-list", "--count", "--no-merges", f"refs/heads/{branch}", f"^{pull.head_sha}"]
    # git failed, or had no time: GitHub's answer is still reported.
    with log.Surviving(working.world.root, "commits that the merge does not have", LifecycleError):
        count = git.run(*words, check=False)
        # A head that this clone lacks has somebody's later commits: compare the commit pushed from here.
        if not count and (pushed := git.remote_head_of(branch, remote)):
            words[-1] = f"^{pushed}"
            count = git.run(*words, check=False)
        if count in ("", "0"):
            return 0
        # Commits that the branch got from its base since then are not work that the merge missed.
        base = git.remote_head_of(pull.base, remote)
        return int(git.run(*words, f"^{base}")) if base else int(count)
    return record.pull.left_out


def _hear_failures(working: LookUnderWay, pull: model.PullRequest) -> None:
    """Ask the feedback about failed checks: queue its notices, keep in the record what is to be written."""
    snapshot, pull_record = working.seen, working.record.pull
    may_fetch = snapshot.wake in (Wake.IDLE, Wake.TICK)
    if not may_fetch and not (snapshot.wake is Wake.START and pull_record.failures):
        return
    failures, known = working.world.failures, pull_record.failures
    news = failures.heard(pull, known, may_read=working.may_read, may_fetch=may_fetch)
    if news.is_settled or news.is_due:
        prefix = f"{snapshot.record.claim_key}/failed:{pull.number}:{pull.head_sha}:"
        working.claim_store.ledger.withdraw(prefix)
    before = pull_record.tampering
    weakened = before if news.tampering is None else news.tampering
    remarked = [change for change in before[: pull_record.remarked] if change in weakened]
    if {*before} != {*weakened}:  # earlier notices about them are not true any more
        working.claim_store.ledger.withdraw(f"{snapshot.record.claim_key}/weaken")
    # Once the failed checks run again, passed, or turn out to be somebody's fault, no rerun is left to do.
    is_red = pull.checks is None or pull.checks.verdict is checks.Verdict.FAILED
    is_wanted = is_red and (news.known["red"], news.known["kind"]) == (pull.head_sha, "rerun")
    reruns = news.reruns or (pull_record.reruns if is_wanted else ())
    record = snapshot.record if reruns else snapshot.record.without("RerunJobs")
    working.record = record.with_pull(
        failures=news.known,
        announced=None if news.is_due else pull_record.announced,
        reruns=reruns,
        tampering=tuple(dict.fromkeys((*remarked, *weakened))),
        remarked=len(remarked),
    )
    working.flakes += news.flakes
    queue(working, news.notices)


def _note_watched(world: World, observed: model.Observation) -> None:
    """Keep in the cache the ids by which a waiter asks whether anything changed."""
    pull, item, issue = observed.by_number, observed.item, observed.issue
    if pull is not None and pull.node_id:
        card = item.id if item is not None and not item.id.startswith(model.LABELS_ITEM) else ""
        beside = card or (issue.id if issue is not None else "")
        world.cache.put(WATCHED, [pull.number, pull.node_id, *([beside] if beside else [])])


def _hear_reviews(working: LookUnderWay, pull: model.PullRequest) -> None:
    """Ask the feedback for news of an open pull request's reviews, and queue it.

    If the token may not read conversations, there is only the look's own notice about requested changes.
    """
    snapshot, ledger = working.seen, working.claim_store.ledger
    prefix = f"{snapshot.record.claim_key}/"
    if pull.conversations is None or snapshot.wake not in (Wake.IDLE, Wake.START, Wake.TICK):
        return
    try:
        reviews, known = working.world.reviews, snapshot.record.pull.reviews
        waiting = [notice.key.removeprefix(prefix) for notice in ledger.waiting()]
        is_asked = snapshot.wake is Wake.TICK
        news = reviews.heard(pull, known, snapshot.now, is_asked=is_asked, waiting=waiting)
    except (LifecycleError, DeadlineReached) as error:
        log.write(working.world.root, f"reviews: {redact(str(error), working.world.environment)}")
        return
    working.record = snapshot.record.with_pull(reviews=news.known)
    working.papers |= dict(news.papers)
    for key in news.withdrawn:
        ledger.withdraw(f"{prefix}{key}")
    queue(working, news.notices)


def could_not_look(working: LookUnderWay, error: LifecycleError | DeadlineReached) -> None:
    """Keep an error of reading GitHub as a trouble, which delays the next look for a while."""
    world, record = working.world, working.record
    if isinstance(error, DeadlineReached):
        error = Transient(TOO_LATE)
    error.sentence = redact(error.sentence, world.environment)
    log.write(world.root, f"look: {error.sentence}")
    wait = error.retry_after if isinstance(error, Transient) else None
    mark, pause = repr(sorted(record.values.items())), wait or pace.LOOK_AGAIN
    trouble = sections.Trouble.of(error, mark, world.clock.now() + pause)
    trouble = replace(trouble, is_guessed=wait is None)
    working.problem = error
    failed = working.seen.failed | {"Look"}
    working.seen = replace(working.seen, record=record.with_trouble("Look", trouble), failed=failed)


def taken_in(
    world: World, claim_store: ClaimStore, wake: Wake, loaded: Loaded, session: str
) -> Record | None:
    """Prepare what was loaded for a look, under the lock; returns the record, or None without a claim.

    Repairs linked tasks, takes secrets out of what others will read, and makes the claim this session's if
    it may be.

    Raises:
        Refused: the claim cannot be acted on.
    """
    if claim_store.state.get(PENDING):
        linked_writes.finish(world, claim_store, loaded.record, is_asked=wake is Wake.TICK)
    if loaded.record is None:
        return None
    if not loaded.record.touched:  # a claim that was written by hand, perhaps
        with log.Surviving(world.root, "our files are not excluded from git", OSError):
            exclude_own_files(world.root)
    record = loaded.record
    for name in ("summary", "agent_id"):  # the PR's title, and the agent's name
        value = record.values.get(name)
        if isinstance(value, str):
            record = record.with_values({name: world.public(value, f"{name} of .agent-claim.json")})
    mine = owned(claim_store, record, session)
    if mine.is_inherited and mine.ownership != record.ownership and derive.is_question_put(mine):
        # An earlier prompt was not an answer to this session's question.
        claim_store.folder.remove(signs_of_life.ANSWERED)
    return believed(world, claim_store, mine)
