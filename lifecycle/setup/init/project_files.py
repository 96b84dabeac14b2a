"""Drafts of the files of one project that `init` writes: what goes into each, and out of it again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from lifecycle.core.errors import Refused
from lifecycle.core.messages.figures import count
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.git.process import GitRepository
from lifecycle.git.tracked_files import OWN_LINES
from lifecycle.run import run_store
from lifecycle.settings import known_clones
from lifecycle.setup.init import client_settings, init_mark, planned_files, supplies
from lifecycle.setup.init.hook_table import NAMES, Form
from lifecycle.setup.init.init_mark import EXCLUDE, LOCAL, MARK, PERMITS, SETTINGS, InitMark
from lifecycle.setup.init.planned_files import PutLines, add_lines, sentence
from lifecycle.setup.init.staged_setup import LOG_LINE, StagedFiles
from lifecycle.setup.init.status_line import LINE_MARK
from lifecycle.storage import store
from lifecycle.workflow.store import document_files

FOLDER = ".claude/"
_GIT_SECONDS = 20.0


class ProjectFiles(StagedFiles):
    """One worktree and the draft of its files; nothing is written yet."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.root / ".git").exists():
            raise Refused(sentence("no-worktree", root=self.root))
        for name in (*SETTINGS.values(), MARK, PERMITS, LINE_MARK):
            self.need_inside(name)
        if os.path.lexists(self.root / FOLDER.rstrip("/")) and not (self.root / FOLDER).is_dir():
            raise Refused(sentence("no-folder"))

    def need_inside(self, name: str) -> None:
        """Refuse a symbolic link on the way to a file that leads out of the worktree, or nowhere in it.

        A repository can bring such a link: what is written through it would lie in somebody's home.
        """
        target = Path(os.path.realpath(self.root / name))
        if not target.is_relative_to(os.path.realpath(self.root)):
            raise Refused(sentence("outside", name=name, target=target))

    def mark(self, name: str = MARK) -> InitMark | None:
        """The mark that an earlier run left, or None."""
        content = self.draft.read(name)
        return init_mark.parse(content) if content is not None else None

    def new_mark(self, mode: str = LOCAL) -> InitMark:
        """The mark of a first run; the folder of the client's settings is made by it if it is not there."""
        return InitMark(mode, created=() if (self.root / FOLDER).exists() else (FOLDER,))

    def put_into(self, mark: InitMark, form: Form | None, extra: init_mark.Extra) -> None:
        """Put hooks of this form (None: no hooks) and `extra` into the settings."""
        name = SETTINGS[mark.mode]
        content = self.draft.read(name)
        text = decoded(content, name)
        text, mark.settings = client_settings.wire(text, name, form, mark.settings, extra)
        hooks = f"{len(NAMES)} hooks, " if form is not None else ""
        what = f"{hooks}{len(mark.settings.permissions)} permissions"
        self.draft.write(name, text.encode(), what)
        mark.note_created(name, is_new=content is None)

    def unwired(self, before: InitMark, what: str) -> None:
        """Take out of the settings what the mark lists; a settings file that `init` made is deleted."""
        name = SETTINGS[before.mode]
        content = self.draft.read(name)
        if content is None:
            return
        text = client_settings.unwire(decoded(content, name), name, before.settings)
        is_gone = is_bare(text) and name in before.created
        self.draft.write(name, None if is_gone else text.encode(), what)
        if not is_gone:
            for event, script in client_settings.left(text, name):
                self.note("left-entry", name=name, script=script, event=event)

    def marked(self, new: InitMark, name: str = MARK, what: str = "what --remove reads") -> None:
        """Keep our own files out of git, then draft the mark, which lists that too."""
        self._listed(new, name)
        self.draft.write(name, init_mark.render(new), what)

    def _listed(self, mark: InitMark, mark_name: str) -> None:
        """Keep our own files out of git: everybody's in `.gitignore`, one person's in `info/exclude`."""
        lines = (
            *OWN_LINES,
            *((LOG_LINE,) if mark.stages else ()),
            *(run_store.LINES if mark.run else ()),
            *(document_files.LINES if mark.workflow else ()),
        )
        name, path = init_mark.IGNORE, self.root / init_mark.IGNORE
        if mark.mode == LOCAL:
            # What is one person's is excluded in this clone alone, and nothing of it is there to commit.
            name, path = EXCLUDE, self._exclude()
            new_files = (SETTINGS[LOCAL], supplies.SECTION_PAGE)
            created = [file for file in new_files if file in mark.created]
            lines = (*lines, *(f"/{file}" for file in (mark_name, *created, *mark.sha256)))
        if path.is_symlink():
            self.note("link", name=name)
            return
        content = self.draft.read(path)
        added, put = add_lines(content or b"", lines, mark.lines.get(name, PutLines()))
        if added != (content or b""):
            self.draft.write(path, added, count(len(put.lines), "line"), _shown(name))
            mark.note_created(name, is_new=content is None)
            mark.lines[name] = put

    def unlisted(self, before: InitMark, names: Iterable[str]) -> None:
        """Take our lines out of the files that keep files out of git."""
        for name in names:
            path = self._exclude() if name == EXCLUDE else self.root / name
            content, put = self.draft.read(path), before.lines.get(name)
            if content is None or put is None or path.is_symlink():
                continue
            after = planned_files.take_out_lines(content, put)
            is_gone = not after and name in before.created
            self.draft.write(path, None if is_gone else after, "lifecycle's lines go", _shown(name))

    def claims_listed(self) -> None:
        """Keep claims that are still in a worktree of this clone out of git, by the one `info/exclude`."""
        git, path = store.common_folder(self.root), self._exclude()
        others = (
            known_clones.worktrees_of(known_clones.KnownClone(git, None)) if git is not None else ()
        )
        if path.is_symlink() or not any(
            (worktree / store.CLAIM_FILE).exists() for worktree in (self.root, *others)
        ):
            return
        before = self.draft.read(path) or b""
        after, _ = add_lines(before, OWN_LINES, PutLines())
        if after != before:
            self.draft.write(path, after, "keeps claims out of git still", _shown(EXCLUDE))

    def sectioned(self, mark: InitMark) -> None:
        """Put our section into CLAUDE.md, unless somebody wrote one of their own."""
        name = supplies.SECTION_PAGE
        self.need_inside(name)
        if os.path.lexists(self.root / name) and not (self.root / name).is_file():
            self.note("no-file", name=name)
            return
        content = self.draft.read(name)
        after, mark.section = supplies.with_section(content or b"", mark.section)
        if after is None:
            self.note("own-section", name=name)
        elif after != content:
            self.draft.write(name, after, f'the section "{supplies.SECTION_TITLE}"')
            mark.note_created(name, is_new=content is None)

    def unsectioned(self, before: InitMark) -> None:
        """Take the section of CLAUDE.md out, unless somebody changed it."""
        name = supplies.SECTION_PAGE
        content = self.draft.read(name) if before.section else None
        if content is None:
            return
        self.need_inside(name)
        after = supplies.without_section(content, before.section)
        if after is None:
            self.note("changed-section", name=name)
            return
        is_gone = not after and name in before.created
        self.draft.write(name, None if is_gone else after, f'without "{supplies.SECTION_TITLE}"')

    def _exclude(self) -> Path:
        git = git_of(self.root, self.environment)
        return self.root / git.run("rev-parse", "--git-path", EXCLUDE)


def git_of(root: Path, environment: Mapping[str, str]) -> GitRepository:
    """Git in a worktree, with the time that a plan may take for it."""
    return GitRepository(root, Deadline.after(SystemClock(), _GIT_SECONDS), environment)


def _shown(name: str) -> str:
    return f".git/{name}" if name == EXCLUDE else name


def is_bare(text: str) -> bool:
    """True for settings that are empty, or an object with nothing in it, not even a comment."""
    return not text.strip("\ufeff{} \t\r\n")


def decoded(content: bytes | None, name: str) -> str:
    """The text of a file's content, "" for None; raises Refused where it is no UTF-8."""
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise planned_files.unwritten(f"{name} is not UTF-8 (byte {error.start + 1})") from None
