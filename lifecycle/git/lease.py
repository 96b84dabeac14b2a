"""The lease: at most one agent holds a task, even two of one account.

Assignees, labels and board fields cannot be compared and set, so they cannot say who was first. A ref
can: `refs/agent-claims/N` is pushed with the demand that it does not exist yet, and git's server
accepts exactly one. Each lease is a commit of its own (an empty tree and a nonce), since two pushes of
the same object would both succeed.
"""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from lifecycle.core.errors import GitFailed, HeldByAnother, Transient
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.messages.messages import forcing
from lifecycle.core.ports import Git
from lifecycle.core.redact import named, redact
from lifecycle.core.timing import CLOCK_SKEW, earlier
from lifecycle.core.values.survey import LEASES, parse_lease
from lifecycle.git.process import sentence

if TYPE_CHECKING:
    from lifecycle.core.world import World

_FORBIDDEN = re.compile(
    "returned error: 403|denied|declined|permission|not allowed|prohibited|protected|read-only|"
    "authentication failed|funny refname"
)
"""The words of git and its servers for a ref that may not be written at all; others may mean a race."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds the task, according to the lease commit, and since when, by its committer date.

    `began` is when the first of the claims took it that were taken over, else the same.

    `nonce` distinguishes one attempt from every other: agents of one account may share a name. `branch` is
    where the work is, "" if the lease does not say.
    """

    sha: str
    agent: str
    since: str
    nonce: str = ""
    branch: str = ""
    began: str = ""


def ref_of(issue: int) -> str:
    """The lease's ref."""
    return f"{LEASES}{issue}"


NOTHING = "0" * 40
"""The value of a ref that does not exist."""


def new_nonce() -> str:
    """A random word that distinguishes one attempt to take a lease from every other."""
    import secrets  # needed only when a task is taken

    return secrets.token_hex(8)


def dated(world: World) -> float:
    """The time for a new lease: GitHub's if this clock is wrong, since others compare it with GitHub's."""
    now, theirs = world.clock.now(), world.server_time
    return now if theirs is None or abs(now - theirs) <= CLOCK_SKEW else theirs


def take(
    git: Git,
    remote: str,
    issue: int,
    agent: str,
    *,
    branch: str = "",
    nonce: str = "",
    instead_of: str = "",
    began: str = "",
    at: float | None = None,
) -> str:
    """Take the lease and return its sha.

    Args:
        git: the worktree's git.
        remote: the remote that holds the leases.
        issue: the task.
        agent: who takes it.
        branch: where the work will be, for those who see only GitHub.
        nonce: the attempt's nonce, by which an interrupted one is recognised; a new one unless given.
        instead_of: the sha of a lease to take over; "" means that there must be no lease.
        began: when the work of that lease began: what was merged since then is this claim's as well.
        at: its date; now unless given.

    Raises:
        HeldByAnother: somebody was first; the sentence says who, since when and where.
        GitFailed: there is no write access, so exclusion is impossible.
        Transient: the lease was not taken; if it is ambiguous, the remote did not answer, and a read could
            not settle it.
    """
    nonce = nonce or new_nonce()
    tree = git.run("hash-object", "-t", "tree", "-w", "--stdin")
    by = f"{_IDENTITY} {int(time.time() if at is None else at)} +0000"
    head = f"tree {tree}\nauthor {by}\ncommitter {by}"
    sha = _written(git, head, _word(redact(agent), issue, nonce, branch, began))
    ref = ref_of(issue)
    try:
        _push(git, remote, ref, sha, instead_of=instead_of)
    except (GitFailed, Transient) as error:
        failure = error
    else:
        return sha
    # Whatever the push said, only the remote's present lease shows who was first.
    holder = _read_for_certain(git, remote, issue)
    # A killed run's push may have succeeded after it was killed, and after this run's look.
    if holder is not None and (holder.sha == sha or holder.nonce == nonce):
        return holder.sha
    is_as_read = holder is not None and holder.sha == instead_of
    is_refusal = isinstance(failure, GitFailed)
    if holder is not None and not is_as_read:
        words = {"ref": ref, "remote": remote, "since": holder.since, "way": forcing(issue)}
        raise HeldByAnother(sentence("held", issue=issue, agent=named(holder.agent), **words))
    why = failure.evidence if is_refusal else failure.sentence
    if is_refusal and not is_as_read and _FORBIDDEN.search(why.casefold()):
        raise failure
    if holder is not None and is_refusal:  # nobody was quicker
        refused = {"ref": ref, "remote": remote, "agent": named(holder.agent), "why": why}
        raise HeldByAnother(sentence("not-taken-over", issue=issue, **refused))
    # A push that was refused took nothing; one without an answer may still arrive.
    text = sentence("not-taken", issue=issue, why=why.rstrip("."))
    raise Transient(text, is_ambiguous=not is_refusal)


def led_to(git: Git, remote: str, issue: int, sha: str, branch: str) -> str:
    """Make the lease `sha` name the branch where the work is now; returns its new sha.

    Holder, attempt and date do not change. A lease that names the branch already is left as it is.

    Raises:
        GitFailed, Transient: the lease was not changed, or that is unknown.
    """
    head, _, message = git.run("cat-file", "commit", sha).partition("\n\n")
    agent, nonce, named_branch, began = parse_lease(message)
    if named_branch == branch:
        return sha
    new = _written(git, head, _word(agent, issue, nonce, branch, began))
    try:
        _push(git, remote, ref_of(issue), new, instead_of=sha)
    except (GitFailed, Transient):  # the push may have succeeded without an answer
        if _listed(git, remote, issue) != new:
            raise
    return new


def _written(git: Git, head: str, word: str) -> str:
    """Write a lease's commit with this head and first line; returns its sha."""
    commit = f"{head}\n\n{word}\n\n[skip ci]\n"
    return git.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=commit)


_UNKNOWN = "an unknown holder"


def _word(agent: str, issue: int, nonce: str, branch: str, began: str) -> str:
    """The first line of a lease's commit message."""
    content = {"agent": agent, "issue": issue, "nonce": nonce, "branch": branch, "began": began}
    return f"lease {json.dumps({name: value for name, value in content.items() if value})}"


def _read_for_certain(git: Git, remote: str, issue: int) -> Lease | None:
    try:
        return read(git, remote, issue)
    except GitFailed as error:
        text = sentence("not-known-free", issue=issue, why=error.evidence)
        raise Transient(text, is_ambiguous=True) from None
    except Transient as error:
        error.is_ambiguous = True
        raise


def read(git: Git, remote: str, issue: int) -> Lease | None:
    """The lease as the remote has it, or None if there is none.

    Raises:
        GitFailed, Transient: the remote could not be read, so nothing is known.
    """
    sha = _listed(git, remote, issue)
    return _fetched(git, remote, issue, sha) if sha else None


@dataclass(frozen=True, slots=True)
class LeaseStanding:
    """The state of a claim's lease: `other` is somebody else's lease instead, `is_gone`: there is none.

    `sha` is that of the claim's own lease: as on the remote, else as it was known; "" if it has none.
    """

    other: Lease | None = None
    is_gone: bool = False
    sha: str = ""


def standing(git: Git, remote: str, issue: int, *, sha: str, agent: str) -> LeaseStanding:
    """The state of a claim's lease on the remote; without a `sha` the claim had none that could be gone.

    Args:
        git: the worktree's git.
        remote: the remote that holds the leases.
        issue: the task.
        sha: the sha of the lease that this claim took, or "" if it is not known to have one.
        agent: the claim's agent, whose name identifies a lease if `sha` was lost.

    Raises:
        GitFailed, Transient: the remote could not be read, so nothing is known.
    """
    shown = _listed(git, remote, issue)
    if not shown or shown == sha:
        return LeaseStanding(is_gone=bool(sha) and not shown, sha=shown)
    holder = _fetched(git, remote, issue, shown)
    is_ours = holder.agent == agent and (not sha or _is_same_attempt(git, sha, holder))
    return LeaseStanding(other=None if is_ours else holder, sha=shown if is_ours else sha)


def _is_same_attempt(git: Git, sha: str, holder: Lease) -> bool:
    """True if the lease `sha` was led to another branch since, by a run that was killed behind that."""
    with suppress(GitFailed):
        return bool(holder.nonce) and known(git, sha).nonce == holder.nonce
    return False  # it is not in this clone


def held(git: Git, remote: str) -> frozenset[int]:
    """The issues that have a lease; GitFailed or Transient if that is unknown."""
    lines = git.run("ls-remote", remote, f"{LEASES}*", remote=remote).splitlines()
    names = (line.rpartition(LEASES)[2] for line in lines)
    return frozenset(int(name) for name in names if name.isdecimal())


def _listed(git: Git, remote: str, issue: int) -> str:
    """The lease's sha on the remote, or "".

    HEAD is asked for with it: git takes an empty page (an answer of some proxies) for a repository without
    refs, so an answer without any ref does not show that the lease is gone.

    Raises:
        GitFailed, Transient: the remote could not be read, or showed nothing.
    """
    ref = ref_of(issue)
    lines = git.run("ls-remote", remote, "HEAD", ref, remote=remote).splitlines()
    shown = {name: sha for sha, _, name in (line.partition("\t") for line in lines)}
    if not shown and not git.run("ls-remote", remote, remote=remote):
        raise Transient(sentence("no-refs", remote=remote, issue=issue))
    return shown.get(ref, "")


def _fetched(git: Git, remote: str, issue: int, sha: str) -> Lease:
    """The content of a lease; it is fetched only if it is not yet in this clone."""
    plain = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules")
    if git.run("cat-file", "-t", sha, check=False) != "commit":
        git.run("fetch", *plain, remote, ref_of(issue), remote=remote)
    return known(git, sha)


def known(git: Git, sha: str) -> Lease:
    """The content of a lease in this clone; GitFailed if it is not there.

    Whoever may push can put a file in its place, of which git would show the text: nothing of it is read.
    """
    if git.run("cat-file", "-t", sha) != "commit":
        return Lease(sha, _UNKNOWN, "an unknown time")
    words = ("show", "--no-patch", "--no-show-signature", "--format=%cI %s", sha)
    since, _, subject = git.run(*words).partition(" ")
    agent, nonce, branch, began = parse_lease(subject)
    return Lease(sha, agent or _UNKNOWN, since, nonce, branch, earlier(began, since))


def release(git: Git, remote: str, issue: int, sha: str, *, back_to: str = "") -> bool:
    """Delete the lease if it is still this one; if not, there is nothing to release.

    Args:
        git: the worktree's git.
        remote: the remote that holds the leases.
        issue: the task.
        sha: the sha of the lease to end.
        back_to: the sha of the lease that it replaced, which is restored; it was fetched when it was read.

    Returns:
        True if the lease was still this one.

    Raises:
        GitFailed, Transient: the lease could not be deleted, or the remote could not be asked.
    """
    try:
        _push(git, remote, ref_of(issue), back_to, instead_of=sha)
    except Transient as error:
        error.sentence += f" Whether #{issue} is still held is not known; try again."
        raise
    except GitFailed as error:
        if _listed(git, remote, issue) != sha:
            return False
        if _FORBIDDEN.search(error.evidence.casefold()):
            error.sentence = sentence("lease-stays", issue=issue, why=error.evidence)
        raise
    return True


def _push(git: Git, remote: str, ref: str, sha: str, *, instead_of: str) -> None:
    """Set the ref to `sha` ("" deletes it) if it holds `instead_of` now ("": if it does not exist).

    Source: https://git-scm.com/docs/git-push#Documentation/git-push.txt---force-with-lease
    """
    guard = f"--force-with-lease={ref}:{instead_of}"
    # With `push.recurseSubmodules=only`, git would push nothing and still report success.
    words = ("--porcelain", "--no-verify", "--no-recurse-submodules", guard)
    git.run("push", *words, remote, f"{sha}:{ref}", remote=remote)


_IDENTITY = "lifecycle <lifecycle@users.noreply.github.com>"
"""The committer of a lease: the user's own name is not used, and need not be set."""
