"""The commit of a story: the worktree's files, in the platform's format, through git's own hooks."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any, Final

from lifecycle.core.errors import GitFailed
from lifecycle.core.light_dataclass import dataclass
from lifecycle.core.redact import listed, redact, visible
from lifecycle.evidence.tree_hash import is_own
from lifecycle.git import worktree_files
from lifecycle.git.commits import added_lines, empty_tree, head_of
from lifecycle.git.process import GitRepository
from lifecycle.run.state import Run, Story
from lifecycle.run.texts.told import refused, sentence

FORMAT: Final = "{type}: {title} ({id})"
"""The commit's subject, unless the platform has another."""

_LONGEST = 200


@dataclass(frozen=True, slots=True)
class StoryCommit:
    """What was committed: the commit ("" if there was nothing), its files, and what was left out."""

    commit: str
    subject: str
    paths: tuple[str, ...]
    secrets: tuple[str, ...]


def subject_of(story: Story, conventions: Mapping[str, Any]) -> str:
    """The first line of a story's commit, by the platform's convention of commits that contains {title}."""
    texts = (text for name, text in conventions.items() if name.casefold().startswith("commit"))
    template = next((text for text in texts if isinstance(text, str) and "{title}" in text), FORMAT)
    parts = {"type": "feat", "title": story.title, "id": story.id, "story": story.id}
    line = re.sub(r"\{(\w+)\}", lambda match: parts.get(match[1], match[0]), template)
    return visible(redact(" ".join(line.split())))[:_LONGEST]


def commit_story(writing: GitRepository, message: str, outputs: Mapping[str, str]) -> StoryCommit:
    """Commit every uncommitted file except excluded ones; git's hooks run as usual.

    Args:
        writing: git in the worktree, until the command has to be over.
        message: the commit's message; secrets in it are masked.
        outputs: by path, the name of the content that a check left there, which is not committed.

    Raises:
        Refused: a git operation is unfinished, a file is staged that we never commit, or something to be
            committed looks like a secret. Nothing was committed.
        GitFailed, Transient: git or a hook of the project failed. Nothing was committed.
    """
    git = worktree_files.opened(writing)
    worktree_files.refuse_under_way(git, git.root)
    changes = worktree_files.uncommitted(git, is_own, outputs)
    if changes.strange:
        names = visible(listed(changes.strange))
        strange = shlex.quote(visible(changes.strange[0]))
        raise refused("staged-is-kept-out", names=names, strange=strange)
    if changes.modules:
        names = visible(listed(changes.modules))
        module = shlex.quote(visible(changes.modules[0]))
        raise refused("changed-in-module", names=names, module=module)
    if not changes.paths:
        return StoryCommit("", "", (), changes.secrets)
    with worktree_files.files_aside(git, is_own) as aside:
        _refuse_secrets(aside.git, aside.tree, changes.paths)
    writing = worktree_files.NamesGit(git.root, git.deadline, writing.environment)
    worktree_files.add_paths(writing, list(changes.unstaged))
    try:
        writing.run("commit", "--quiet", "--file=-", stdin=redact(message))
    except GitFailed as error:
        raise GitFailed(sentence("not-committed", error=error), evidence=error.evidence) from None
    return StoryCommit(head_of(git), message.partition("\n")[0], changes.paths, changes.secrets)


def with_commit(run: Run, story: str, commit: str) -> Run:
    """The run with the commit recorded in its story; a completed story keeps the reviewed commit.

    Raises:
        Refused: there is no such story.
    """
    noted = run.story(story)
    return run.with_story(noted.but(commit=commit)) if noted.is_open else run


def _refuse_secrets(git: GitRepository, tree: str, paths: tuple[str, ...]) -> None:
    """Refuse if a line to be committed contains what looks like a secret."""
    wanted = set(paths)
    for path, line in added_lines(git, head_of(git) or empty_tree(git), tree):
        is_wanted = path in wanted or path.startswith('"')  # git quotes a strange name
        if is_wanted and redact(line, {}) != line:
            raise refused("holds-secret", path=visible(path))
