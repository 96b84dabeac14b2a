"""What git keeps of a run's work: checkpoints, and the commit of each story.

Checkpoints are refs, `refs/lifecycle/checkpoints/<run>/<name>`, which pushing a branch does not push. Each
is a commit with the worktree's files as its tree and HEAD's commit as its parent, so that both can be
restored. As in git's stash, a second parent has the index, if that differs from HEAD's commit and from the
files. The message has the stories as they were. Sources: https://git-scm.com/docs/git-commit-tree,
https://git-scm.com/docs/git-update-ref, https://git-scm.com/docs/git-stash#_discussion.

A rollback first saves the present state; then it restores files, branch and stories. The files are
restored through a temporary index of the present files. git would overwrite ignored files, so these are
checked first. Source: https://git-scm.com/docs/git-read-tree

A story's commit has the worktree's files, in the platform's format, and goes through git's own hooks.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from lifecycle.core.errors import GitFailed, did_you_mean
from lifecycle.core.light_dataclass import dataclass, fields_of
from lifecycle.core.redact import listed, redact, visible
from lifecycle.evidence.records import EvidenceRoom
from lifecycle.evidence.tree_hash import is_own
from lifecycle.git import worktree_files
from lifecycle.git.commits import added_lines, commit_at, empty_tree, head_of, moved_modules
from lifecycle.git.process import GitRepository
from lifecycle.git.worktree_files import AUTHOR, Aside, files_aside
from lifecycle.run.state import Checkpoint, Criterion, Run, Story, data_of
from lifecycle.run.table import RunPhase, StoryStatus
from lifecycle.run.texts.told import refused, sentence, there

NAMESPACE = "refs/lifecycle/checkpoints"
MARK, SAVED = "mark", "saved"
"""The beginnings of the names of checkpoints that are made by hand, and that a rollback saves."""

_BRANCH, _RECORD = "Branch: ", "Record: "


def prefix_of(run: Run) -> str:
    """The prefix of the refs of a run's checkpoints."""
    return f"{NAMESPACE}/{run.id}/"


def marked(git: GitRepository, run: Run, now: float, story: str = "") -> Run:
    """The run with the present worktree as its last checkpoint: the story's, else a mark by hand.

    Raises:
        GitFailed, Transient: git cannot keep it.
    """
    with files_aside(git, is_own) as aside:
        about = f"Story {story}" if story else "Marked by hand"
        checkpoint = keep(aside, run, now, story or MARK, about, story)
    run = run.but(checkpoints=(*run.checkpoints, checkpoint))
    return run.with_story(run.story(story).but(checkpoint=checkpoint.ref)) if story else run


@worktree_files.taking()
def keep(aside: Aside, run: Run, now: float, kind: str, about: str, story: str = "") -> Checkpoint:
    """Commit the files of a temporary index, and give that commit the next free name of its kind."""
    date = f"{int(now)} +0000"
    names = {**AUTHOR, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    git = GitRepository(aside.git.root, aside.git.deadline, {**aside.git.environment, **names})
    parent = head_of(git)
    words = ["-p", parent] if parent else []
    branch = git.current_branch() or ""
    subject = visible(redact(f"{about}, run {run.id}: {' '.join(run.goal.split())[:80]}"))
    text = f"{subject}\n\n{_BRANCH}{branch}\n"
    held = (aside.tree, git.run("rev-parse", f"{parent}^{{tree}}") if parent else aside.staged)
    if aside.staged and aside.staged not in held:
        words += ["-p", git.run("commit-tree", aside.staged, *words, stdin=f"Index: {text}")]
    # ASCII only: a user's git may keep messages in another encoding.
    then = Run(run.id, "", 0.0, stories=run.stories, checkpoints=run.checkpoints)
    record = json.dumps(data_of(then))
    commit = git.run("commit-tree", aside.tree, *words, stdin=f"{text}{_RECORD}{record}\n")
    ref, pattern = kind, rf"{re.escape(kind)}(?:-\d+)?"
    taken = [name for name in refs_of(git, run) if re.fullmatch(pattern, name)]
    # `mark-1`, `mark-2` and so on; for a story its id, then `S1-2`.
    if kind in (MARK, SAVED) or kind in taken:
        numbers = [int(name.rpartition("-")[2]) if "-" in name else 1 for name in taken]
        ref = f"{kind}-{max(numbers, default=0) + 1}"
    place = f"{prefix_of(run)}{ref}"
    git.run("update-ref", "-m", "lifecycle: checkpoint", place, commit, "0" * len(commit))
    return Checkpoint(ref, commit, now, story, aside.tree)


def base_of(git: GitRepository, commit: str) -> str:
    """The commit that HEAD was on when a checkpoint was made; "" if there was none."""
    return commit_at(git, f"{commit}^1")


def _noted(git: GitRepository, commit: str, key: str) -> str:
    lines = git.run("log", "-1", "--format=%B", commit).splitlines()
    return next((line.removeprefix(key) for line in lines if line.startswith(key)), "")


def _record(git: GitRepository, run: Run, commit: str) -> Run:
    """Stories and checkpoints of the run when a checkpoint was made; none if it is not ours."""
    try:
        return msgspec.json.decode(_noted(git, commit, _RECORD), type=Run)
    except ValueError:
        return Run(run.id, "", 0.0)


def refs_of(git: GitRepository, run: Run) -> dict[str, str]:
    """Every checkpoint of a run that git has: its name, and its commit; the oldest first."""
    words = ("--sort=creatordate", "--format=%(refname) %(objectname)", prefix_of(run))
    lines = [line.rpartition(" ") for line in git.run("for-each-ref", *words).splitlines()]
    return {ref.removeprefix(prefix_of(run)): commit for ref, _, commit in lines}


def find(git: GitRepository, run: Run, name: str) -> Checkpoint:
    """The checkpoint of this name: a story's id, or a ref; without a name the last one of the run.

    Raises:
        Refused: there is no such checkpoint; the sentence lists the existing ones.
    """
    kept = refs_of(git, run)
    # Newest first: a name that somebody deleted from git may have been used again.
    noted = [checkpoint for checkpoint in reversed(run.checkpoints) if checkpoint.ref in kept]
    ref = name.removeprefix(prefix_of(run))
    for checkpoint in noted:
        if ref in ("", checkpoint.ref) or ref.upper() == checkpoint.story:
            return checkpoint.but(commit=kept[checkpoint.ref])
    if ref in kept:
        return Checkpoint(ref, kept[ref], 0.0)
    stands = there([*kept], "make one with: lifecycle run mark-working-state")
    what = f'no checkpoint "{visible(name)}"' if name else "no checkpoint yet"
    raise refused("no-checkpoint", what=what, there=stands, near=did_you_mean(name, kept))


_DONE = "status tdd started completed base gates red green waived_on unneeded commit checkpoint"
"""Fields of a story that record what was done for it."""


@dataclass(frozen=True, slots=True)
class Return:
    """The result of `go_back`.

    Attributes:
        checkpoint: the checkpoint that was restored.
        record: stories and checkpoints of the run at that checkpoint.
        saved: the name under which the files and the head from before the rollback are kept.
        former, head: HEAD's commit before and after; "" for none.
        branch: the branch; "" if HEAD is on none.
        notes: a clause for each submodule that the checkpoint has at another commit: its folder was left.
    """

    checkpoint: Checkpoint
    record: Run
    saved: Checkpoint
    former: str
    head: str
    branch: str
    notes: list[str]


def go_back(writing: GitRepository, run: Run, name: str, now: float) -> Return:
    """Restore files, index and branch of a checkpoint; files that git ignores are left.

    Args:
        writing: git in the worktree, until the command has to be over.
        run: the run with the checkpoints.
        name: a story's id, or a checkpoint's name; "" for the last one.
        now: the present, in seconds since the epoch.

    Raises:
        Refused: there is no such checkpoint, something is under way, or HEAD is on another branch.
        GitFailed, Transient: git cannot; the sentence says what was kept.
    """
    git = worktree_files.opened(writing)
    worktree_files.refuse_under_way(git, git.root)
    checkpoint = find(git, run, name)
    _refuse_other_branch(git, checkpoint)
    with worktree_files.files_aside(git, is_own) as aside:
        saved = keep(aside, run, now, SAVED, f"Before going back to {checkpoint.ref}")
        former, base = head_of(git), base_of(git, checkpoint.commit)
        target = worktree_files.with_own_files(aside, checkpoint.commit, is_own)
        try:
            worktree_files.put_back(aside, target)
            _move_head(writing, former, checkpoint.commit)
        except GitFailed as error:
            why = sentence("not-gone-back", checkpoint=checkpoint, error=error, saved=saved)
            raise GitFailed(why, evidence=error.evidence) from None
        modules = moved_modules(aside.git, aside.tree, target)
    branch, record = git.current_branch() or "", _record(git, run, checkpoint.commit)
    way = "was left as it was; move it with: git submodule update --"
    notes = [f"the submodule {path} {way} {shlex.quote(path)}" for path in modules]
    return Return(checkpoint, record, saved, former, base, branch, notes)


def rolled_back(run: Run, checkpoint: Checkpoint, record: Run) -> Run:
    """The run after its worktree was set back to a checkpoint: later work has to be done again.

    A story that was begun or completed later is pending, and its records do not count. A story that was
    at work or completed then is so again, with the records of that time. Failures, clarifications,
    blockers and the iterations of the run are kept; a blocked story stays blocked.

    Args:
        run: before.
        checkpoint: where the worktree is.
        record: stories and checkpoints of the run as they were then.
    """
    then = {story.id: story for story in record.stories}
    pairs = ((story, then.get(story.id, Story(story.id, story.title))) for story in run.stories)
    stories = tuple(_story_then(*pair, checkpoint) for pair in pairs)
    own = (candidate for candidate in run.checkpoints if candidate.ref == checkpoint.ref)
    kept = tuple(dict.fromkeys((*record.checkpoints, *own)))  # a clock may have been set back
    is_late = run.phase in (RunPhase.COMPLETION, RunPhase.LINT_FIX)
    phase = RunPhase.DEVELOPMENT if is_late else run.phase
    reported = min(run.reported_stories, sum(not story.is_open for story in stories))
    run = run.but(stories=stories, checkpoints=kept, phase=phase, reported_stories=reported)
    return run.but(lint_waived="", lint_attempts=())


def _story_then(story: Story, then: Story, checkpoint: Checkpoint) -> Story:
    """The story as it was at a checkpoint; a story that is blocked now stays blocked.

    A story that was blocked then, but is not any more, waits for its turn.
    """
    if story.status is StoryStatus.BLOCKED:
        return story
    if then.status is StoryStatus.BLOCKED:
        then = then.but(status=StoryStatus.PENDING)
    # The checkpoint was made right before the completion was recorded.
    if story.id == checkpoint.story:
        then = then.but(checkpoint=checkpoint.ref)
    return story if then == story else as_shown(story, then)


def as_shown(story: Story, then: Story) -> Story:
    """The story with the work and the records of that earlier time; a new `then` has none.

    Its iterations keep counting, and BLOCKING findings remain: otherwise it could be tried without end, or
    a rollback could remove the findings.
    """
    judged = {criterion.text: criterion for criterion in then.criteria}
    criteria = tuple(judged.get(c.text, Criterion(c.text)) for c in story.criteria)
    late = tuple(review for review in story.standing_reviews if review not in then.reviews)
    story = story.but(**fields_of(then, *_DONE.split()), criteria=criteria)
    return story.but(reviews=(*then.reviews, *late))


def _refuse_other_branch(git: GitRepository, checkpoint: Checkpoint) -> None:
    """Refuse to move a branch that is not the checkpoint's; a renamed one is recognized by its commits."""
    made_on, here = _noted(git, checkpoint.commit, _BRANCH), git.current_branch() or ""
    if made_on == here:
        return
    if made_on and git.head_of(made_on):
        about = {"made_on": made_on, "here": here or "no branch", "quoted": shlex.quote(made_on)}
        raise refused("other-branch", checkpoint=checkpoint, **about)
    base, head = base_of(git, checkpoint.commit), head_of(git)
    if base and head and not git.run("merge-base", base, head, check=False):
        raise refused("no-common-commit", checkpoint=checkpoint)


def _move_head(git: GitRepository, former: str, checkpoint: str) -> None:
    """Set branch and index to those of a checkpoint, or of an empty repository; the files are left."""
    base, index = base_of(git, checkpoint), commit_at(git, f"{checkpoint}^2")
    if base:
        git.run("reset", "--quiet", "--mixed", base)
        if index:
            git.run("read-tree", "-i", "-m", index)
        return
    git.run("read-tree", "--empty")
    if former:
        git.run("update-ref", "-m", "lifecycle: rollback", "-d", "HEAD", former)


FORMAT: Final = "{type}: {title} ({id})"
"""The commit's subject, unless the platform has another."""

_LONGEST = 200


def subject_of(story: Story, conventions: Mapping[str, Any]) -> str:
    """The first line of a story's commit, by the platform's convention of commits that contains {title}."""
    texts = (text for name, text in conventions.items() if name.casefold().startswith("commit"))
    template = next((text for text in texts if isinstance(text, str) and "{title}" in text), FORMAT)
    parts = {"type": "feat", "title": story.title, "id": story.id, "story": story.id}
    line = re.sub(r"\{(\w+)\}", lambda match: parts.get(match[1], match[0]), template)
    return visible(redact(" ".join(line.split())))[:_LONGEST]


def commit_story(writing: GitRepository, message: str) -> tuple[str, worktree_files.Uncommitted]:
    """Commit every uncommitted file except excluded ones and what checks wrote; git's hooks run as usual.

    Returns the commit ("" if there was nothing to commit), and what was found uncommitted before.

    Args:
        writing: git in the worktree, until the command has to be over.
        message: the commit's message; secrets in it are masked.

    Raises:
        Refused: a git operation is unfinished, a file is staged that we never commit, or something to be
            committed looks like a secret. Nothing was committed.
        GitFailed, Transient: git or a hook of the project failed. Nothing was committed.
    """
    git = worktree_files.opened(writing)
    worktree_files.refuse_under_way(git, git.root)
    changes = worktree_files.uncommitted(git, is_own, EvidenceRoom(git.root).outputs())
    never = changes.strange or changes.modules
    if never:
        refusal = "staged-is-kept-out" if changes.strange else "changed-in-module"
        first = shlex.quote(visible(never[0]))
        raise refused(refusal, names=visible(listed(never)), first=first)
    if not changes.paths:
        return "", changes
    wanted = {*changes.paths}
    with worktree_files.files_aside(git, is_own) as aside:
        before = head_of(aside.git) or empty_tree(aside.git)
        for path, line in added_lines(aside.git, before, aside.tree):
            is_wanted = path in wanted or path.startswith('"')  # git quotes a strange name
            if is_wanted and redact(line, {}) != line:
                raise refused("holds-secret", path=visible(path))
    worktree_files.add_paths(git, list(changes.unstaged))
    try:
        git.run("commit", "--quiet", "--file=-", stdin=redact(message))
    except GitFailed as error:
        raise GitFailed(sentence("not-committed", error=error), evidence=error.evidence) from None
    return head_of(git), changes


def with_commit(run: Run, story: str, commit: str) -> Run:
    """The run with the commit recorded in its story; a completed story keeps the reviewed commit.

    Raises:
        Refused: there is no such story.
    """
    noted = run.story(story)
    return run.with_story(noted.but(commit=commit)) if noted.is_open else run
