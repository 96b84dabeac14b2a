"""A worktree for one task: create it, find it again, remove it if the claim failed.

One git command adds a new worktree, detached and *locked*, with a reason that names the task. The lock is
removed once the claim exists. So the next run recognises the worktree of a run that was killed in between,
however far it got, and continues in the same folder or removes it. It waits for a run that is still alive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lifecycle.claim.commands import admission
from lifecycle.claim.commands.taking import Taken, take
from lifecycle.claim.commands.unfinished_claims import is_begun
from lifecycle.claim.record.claim_file import sentence
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.errors import GitFailed, LifecycleError, Refused
from lifecycle.core.ports import Git
from lifecycle.core.tracker import Task
from lifecycle.core.values.branch_names import named_issue
from lifecycle.core.world import World
from lifecycle.storage.store import locked

SESSION = "CLAUDE_CODE_SESSION_ID"
"""The variable in which the client gives the session's id to the commands that its agent runs."""

Prepare = Callable[[Path, Path], object]
"""A function that copies what a fresh checkout lacks from the first root to the second."""


def take_in_worktree(
    world: World, query: str, path: Path | None, *, force: bool, prepare: Prepare
) -> tuple[Taken, Path]:
    """Take a task in its own worktree: the one that it has, or a new one.

    Args:
        world: the world of the worktree in which the command runs, which is left as it is.
        query: which task, as for `take`.
        path: the folder, absolute; None for `<its name>-<number>` beside the main worktree.
        force: as for `take`.
        prepare: called once for a new worktree, before the task is taken there.

    Returns:
        What was taken, and the worktree's root.

    Raises:
        Refused: the folder is something else, or the task's branch is checked out elsewhere.
        LockBusy: another process in this clone was taking the task the whole time.
        HeldByAnother, NotFound, Transient, Rejected: as `take`; a worktree that was made for the task is
            removed again, unless the claim was begun: the next run continues it.
    """
    world.refuse_strange_remote()
    number, chosen = admission.which_task(world, admission.cards_here(world, []), query, [])
    with _alone(world, number):
        places = admission.list_places(world)
        target = path or _beside(places[0], number)
        place = _find(places, target, number, is_given=path is not None)
        root = place.path if place is not None else target
        if place is not None and root.exists() and place.lock != _reason(number):
            return _take(world, root, number, chosen, force=force), root
        if not (place is not None and root.exists()):
            _add(world.git, root, number, is_known=place is not None)
        try:
            prepare(world.root, root)
            taken = _take(world, root, number, chosen, force=force)
        except LifecycleError as error:
            error.sentence += _left(world, root, number)
            raise
        world.git.run("worktree", "unlock", str(root))
        return taken, root


@contextmanager
def _alone(world: World, number: int) -> Iterator[None]:
    """Hold the clone's lock on taking this task in a worktree; the lock file exists only meanwhile."""
    shared = world.root / world.git.run("rev-parse", "--git-common-dir") / "lifecycle"
    shared.mkdir(exist_ok=True)
    path = shared / f"claim-{number}.lock"
    busy = sentence("taken-by-another-process", number=number)
    with locked(path, world.deadline.remaining(at_most=30.0), busy):
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def _take(world: World, root: Path, number: int, chosen: Task | None, *, force: bool) -> Taken:
    """Take the task in the worktree at `root`, in the name of no session."""
    claim_store = ClaimStore(root, world.clock)
    # The session that asks stays in its own worktree: the claim is for one that starts in the new worktree.
    environment = {name: value for name, value in world.environment.items() if name != SESSION}
    with closing(world.beside(root, environment, claim_store.file)) as task_world:
        if chosen is not None and task_world.inner_as("") is None:
            raise Refused(sentence("linked-not-seen", task=chosen.id, number=number))
        query = chosen.id if chosen is not None else str(number)
        return take(task_world, claim_store, query, force=force)


def _left(world: World, root: Path, number: int) -> str:
    """After a failure, remove the worktree unless a claim was made or begun in it; return text to add."""
    claim_store = ClaimStore(root, world.clock)
    if is_begun(claim_store.file.reload(repair=False), number) or claim_store.disk.path.exists():
        return f" The worktree {root} was kept; the same command continues there."
    try:
        # `--force` twice: the worktree is locked, and what was prepared in it is untracked.
        world.git.run("worktree", "remove", "--force", "--force", str(root))
    except GitFailed as error:
        return f" The worktree {root} could not be removed: {error.evidence}"
    return ""


def _reason(number: int) -> str:
    """The reason of the lock on a worktree in which a task is being claimed."""
    return f"lifecycle is claiming #{number} here"


def _beside(main: admission.ListedWorktree, number: int) -> Path:
    """The default folder of a task's worktree: beside the main one, `<its name>-<number>`.

    A bare repository in a hidden folder (`.bare`) is called as the folder that it is in.
    """
    path = main.path
    is_hidden = main.is_bare and path.name.startswith(".")
    name = path.parent.name if is_hidden else path.name.removesuffix(".git")
    return path.parent / f"{name}-{number}"


def _find(
    places: list[admission.ListedWorktree], target: Path, number: int, *, is_given: bool
) -> admission.ListedWorktree | None:
    """The existing worktree to use, or None if a new one has to be made at `target`."""
    at_target = next((place for place in places if place.path.resolve() == target.resolve()), None)
    if at_target is not None:
        if _is_for(at_target, number):
            return at_target
        raise Refused(sentence("another-worktree", target=target, number=number))
    existing = next((place for place in places if _is_for(place, number)), None)
    if existing is not None and not is_given and admission.claimed(existing.path) == number:
        return existing
    if existing is not None and existing.path.exists():
        raise admission.has_place(existing.path, number)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise Refused(sentence("no-worktree", target=target, number=number))
    return None


def _is_for(place: admission.ListedWorktree, number: int) -> bool:
    """True if the worktree is this task's: by its claim, its branch, or the lock of a killed run."""
    is_locked = place.lock == _reason(number)
    return is_locked or number in (admission.claimed(place.path), named_issue(place.branch))


def _add(git: Git, root: Path, number: int, *, is_known: bool) -> None:
    """Add a detached, locked worktree; `is_known`: git lists one there whose folder is gone."""
    # git still lists a folder that was deleted by hand, with its lock: `--force` twice makes it again.
    options = ("--force", "--force") if is_known else ()
    lock = ("--lock", "--reason", _reason(number))
    try:
        git.run("worktree", "add", "--quiet", *options, "--detach", *lock, str(root), "HEAD")
    except GitFailed as error:
        if (root / ".git").exists():
            return  # only its post-checkout hook failed: git removes a worktree that it cannot finish
        text = sentence("not-added", root=root, evidence=error.evidence, number=number)
        if not git.run("rev-parse", "--verify", "--quiet", "HEAD", check=False):
            text = sentence("no-first-commit", root=root, number=number)
        raise GitFailed(text, evidence=error.evidence) from None
