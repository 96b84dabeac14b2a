"""The merge queue of a branch: each entry is tested with all before it, and merged in order.

Each entry has a commit of its own below `gh-readonly-queue/`, on top of the previous entry's; the
required checks have to pass there, in runs of the event `merge_group`. An entry that conflicts with the
previous ones stays as UNMERGEABLE, and is neither tested nor removed
(https://github.com/AlexanderMattTurner/agent-glovebox/issues/5801).
Source:
https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue
"""

from __future__ import annotations

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.base.errors import ActionRefused
from lifecycle.sandbox.base.times import now
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.git.store import objects
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.merging import actions as merging
from lifecycle.sandbox.pulls.merging import mergeability
from lifecycle.sandbox.pulls.state import PullRequest, PullTables, QueueEntry
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.rules import actions as rules

BOT = "github-merge-queue[bot]"


def bot(world: World) -> User:
    """The bot that merges from queues, with its id on github.com."""
    return world.users.setdefault(BOT, User(118_344_674, BOT, BOT, "bot"))


def enqueue(
    pull: PullRequest, user: User, *, sha: str | None = None, jump: bool = False
) -> QueueEntry:
    """Add a pull request to the queue of its base, at the end or, with `jump`, at the front.

    Raises:
        ActionRefused: There is no queue, it is queued already, or it is not ready to be merged.

    Sources: https://github.com/ClickHouse/ClickHouse/pull/109183 and
    https://github.com/devantler-tech/platform/pull/3138
    """
    repo = pull.repository
    if not rules.has_queue(repo, pull.base):
        raise ActionRefused("Pull request Merge queue is not enabled for this branch")
    if pull.queue_entry is not None:
        raise ActionRefused("Pull request Pull request is already in the queue")
    if sha is not None and sha != pull.head_sha:
        raise ActionRefused(merging.HEAD_MOVED)
    if not pull.is_open:
        raise ActionRefused("Pull request Pull request is closed")
    if pull.draft:
        raise ActionRefused("Pull request Pull request is in draft state")
    if not mergeability.compute(pull):
        raise ActionRefused("Pull request Pull request is not mergeable")
    missing = rules.unmet(pull)
    if missing:
        raise ActionRefused("Pull request " + " ".join(missing[0].sentences))
    return enter(pull, user, jump=jump)


def enter(pull: PullRequest, user: User, *, jump: bool = False) -> QueueEntry:
    """Add a pull request that is ready to the queue."""
    repo = pull.repository
    number, node = repo.new_id("MQE")
    entry = pull.queue_entry = QueueEntry(number, node, pull, user, now())
    line = PullTables.of(repo).queues.setdefault(pull.base, [])
    line.insert(0 if jump else len(line), entry)
    repo.world.register(node, entry)
    issues.note(pull.issue, user, "added_to_merge_queue")
    repo.touch()
    return entry


def run(repo: Repository) -> None:
    """Advance every queue of a repository as far as possible."""
    tables = PullTables.of(repo)
    for branch in list(tables.queues):
        while tables.queues[branch] and _step(repo, branch):
            pass


def _step(repo: Repository, branch: str) -> bool:
    """Test the entries in order, then merge or eject the first; False if nothing was done."""
    line = PullTables.of(repo).queues[branch]
    tip = repo.heads.get(f"refs/heads/{branch}")
    if tip is None:
        return False
    for entry in list(line):
        if not entry.pull.is_open:
            reason = "merged" if entry.pull.merged_at else "dequeued"
            pulls.leave_queue(entry, bot(repo.world), reason)
            return True
        is_tested = _tested(repo, entry) == (tip, entry.pull.head_sha)
        if not is_tested and not _test(repo, entry, tip):
            if entry is not line[0]:
                continue  # it conflicts with an entry before it, and waits until that one is gone
            pulls.leave_queue(entry, bot(repo.world), "merge_conflict")
            return True
        tip = entry.head_sha or tip
    return _judge(repo, branch, line[0])


def _tested(repo: Repository, entry: QueueEntry) -> tuple[str | None, str | None]:
    """The base and head from which an entry's commit was made."""
    commit = objects.commit(repo.git, entry.head_sha) if entry.head_sha is not None else None
    if commit is None or len(commit.parents) != 2:
        return None, None
    return commit.parents[0], commit.parents[1]


def _test(repo: Repository, entry: QueueEntry, base: str) -> bool:
    """Make an entry's commit on top of a base; False if it conflicts."""
    pull = entry.pull
    tree = repo.git.merged_tree(base, pull.head_sha)
    pulls.drop_queue_branch(repo, entry)
    if tree is None:
        entry.head_sha, entry.state = None, "UNMERGEABLE"
        return False
    merge = merging.commit_of(pull, bot(repo.world), merging.How(), base)
    entry.head_sha = objects.write_commit(
        repo.git, tree, [base, pull.head_sha], f"{merge.title}\n\n{merge.message}\n",
        author=merge.author, committer=merge.committer,
    )  # fmt: skip
    entry.base_sha, entry.state = base, "AWAITING_CHECKS"
    repo.git.text("update-ref", pulls.queue_ref(entry), entry.head_sha)
    checks.announce(repo, entry.head_sha, event="merge_group")
    return True


def _judge(repo: Repository, branch: str, entry: QueueEntry) -> bool:
    """Merge the first entry if its checks passed, eject it if one failed; False if it has to wait."""
    sha = entry.head_sha or ""
    states = {
        rules.standing(repo, sha, rule, name)
        for rule in rules.of_branch(repo, branch)
        for name in rule.contexts
    }
    if "failing" in states:
        pulls.leave_queue(entry, bot(repo.world), "failed_checks")
        return True
    if states - {"passed"}:
        return False
    entry.state = "MERGEABLE"
    pull, base = entry.pull, entry.base_sha or ""
    repo.git.update(f"refs/heads/{branch}", sha, base)
    pulls.leave_queue(entry, bot(repo.world), "merged")
    merging.complete(pull, bot(repo.world), base, sha)
    return True
