"""Drafts the project files that `init` writes: what is added to each, and removed again."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from lifecycle.core.errors import Refused
from lifecycle.core.light_dataclass import dataclass, field
from lifecycle.core.messages.figures import count
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.core.values.configured import Settings, StageSettings
from lifecycle.git.process import GitRepository
from lifecycle.git.tracked_files import OWN_LINES
from lifecycle.run import run_store
from lifecycle.settings import config, user_folder
from lifecycle.setup.init import client_settings, hook_table, init_mark, planned_files, supplies
from lifecycle.setup.init.found_hooks import places_of
from lifecycle.setup.init.init_mark import EXCLUDE, IGNORE, LOCAL, MARK, SETTINGS, InitMark, Put
from lifecycle.setup.init.planned_files import FileChange, add_lines, digest, sentence, unwritten
from lifecycle.setup.init.stages_switch import switch_on
from lifecycle.storage import store
from lifecycle.storage.log import STAGED_LINES, STAGED_LOG
from lifecycle.trackers import registry
from lifecycle.workflow.store import document_files

Taking = Callable[[str, str, Put], str]
"""Removes our parts from a settings file, given its text, its name and what was put in."""

MARKS = (MARK, init_mark.PERMITS, client_settings.LINE_MARK)
FOLDER = ".claude/"
_GIT_SECONDS = 20.0

_LINES = {"stages": STAGED_LINES, "run": run_store.LINES, "workflow": document_files.LINES}
"""What keeps the files of each part out of git."""

FOLDERS = (
    *(supplies.COMMANDS, supplies.SCRIPTS, supplies.CORE, supplies.AGENTS),
    *(f"{supplies.SKILLS}{supplies.RUN_SKILL}/", supplies.SKILLS),
    *("scripts/", "hooks/PostToolUse/", "hooks/", FOLDER),
)
"""Folders that get files, inner ones first: those that `init` made are removed with the files."""


@dataclass
class ProjectFiles:
    """One worktree, and the changes of its files in memory; nothing is written yet.

    Attributes:
        root: the worktree's root.
        environment: names the user's home, and is used to detect a tracker.
        only_wires: leave files alone that a person edits.
        notes: what a person should know, each sentence once; methods add to it.
        seen: the content of each file that was read; None if it does not exist.
        drafted: the change of each file that was written to, in the order of the first writes.
    """

    root: Path
    environment: Mapping[str, str]
    only_wires: bool = False
    notes: dict[str, None] = field(default_factory=dict)
    seen: dict[Path, bytes | None] = field(default_factory=dict)
    drafted: dict[Path, FileChange] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (self.root / ".git").exists():
            raise Refused(sentence("no-worktree", root=self.root))
        for name in (*SETTINGS.values(), *MARKS):
            self._place(name)
        if os.path.lexists(self.root / FOLDER.rstrip("/")) and not (self.root / FOLDER).is_dir():
            raise Refused(sentence("no-folder"))

    @property
    def changes(self) -> tuple[FileChange, ...]:
        """The changes that differ from the files."""
        return tuple(change for change in self.drafted.values() if change.before != change.after)

    def _place(self, name: str | Path) -> Path:
        """The path of a file; an absolute path stays as it is, and may be anywhere.

        Raises:
            Refused: a symbolic link leads from the name out of the worktree, or is broken: a repository can
                contain such a link, and writes follow links. One at `.gitignore` is never followed.
        """
        path = self._exclude if name == EXCLUDE else self.root / name
        if isinstance(name, str) and name not in (EXCLUDE, IGNORE):
            target = Path(os.path.realpath(path))
            if not target.is_relative_to(os.path.realpath(self.root)):
                raise Refused(sentence("outside", name=name, target=target))
        return path

    def read(self, name: str | Path) -> bytes | None:
        """The content with the changes so far; None if the file does not exist; raises as `_place` does."""
        path = self._place(name)
        if path in self.drafted:
            return self.drafted[path].after
        if path not in self.seen:
            content = store.read(path)
            self.seen[path] = content.content if content is not None else None
        return self.seen[path]

    def write(self, name: str | Path, content: bytes | None, what: str, **kind: bool) -> None:
        """Set a file's new content, None to delete it; `what` and `kind` are as in FileChange.

        A path instead of a name is that of a file in the user's own folder.

        Raises:
            Refused: a folder is in its place, or as `_place` does.
        """
        self.read(name)
        path, shown = self._place(name), f".git/{name}" if name == EXCLUDE else str(name)
        if isinstance(name, Path):
            shown, kind = config.own_path(name.name, self.environment), {"is_private": True}
        if content is not None and path.is_dir():
            raise Refused(sentence("is-folder", name=shown))
        self.drafted[path] = FileChange(path, shown, self.seen[path], content, what, **kind)

    def put(self, mark: InitMark, name: str, content: bytes, what: str) -> None:
        """Draft a file with something of ours in it; if it is new, the mark lists it as made."""
        mark.note_created(name, is_new=self.read(name) is None)
        self.write(name, content, what)

    def take(self, before: InitMark, name: str, content: bytes, what: str) -> None:
        """Draft a file without our part of it; one that `init` made is deleted if nothing else is in it."""
        # Bare, or an object without anything, even a comment.
        is_gone = not content.strip(b"\xef\xbb\xbf{} \t\r\n") and name in before.created
        self.write(name, None if is_gone else content, what)

    def mark(self, name: str | Path = MARK) -> InitMark | None:
        """The mark that an earlier run left, or None."""
        content = self.read(name)
        return init_mark.parse(content, str(name)) if content is not None else None

    def new_mark(self, mode: str = LOCAL) -> InitMark:
        """The mark of a first run; it lists the client's settings folder as made, if that is missing."""
        return InitMark(mode, created=() if (self.root / FOLDER).exists() else (FOLDER,))

    def put_into(self, mark: InitMark, form: hook_table.Form | None, extra: Put) -> None:
        """Put hooks of this form (None: no hooks), and `extra`, into the settings."""
        name = SETTINGS[mark.mode]
        text = decoded(self.read(name), name)
        text, mark.settings = client_settings.wire(text, name, form, mark.settings, extra)
        hooks = f"{len(hook_table.NAMES)} hooks, " if form is not None else ""
        what = f"{hooks}{len(mark.settings.permissions)} permissions"
        self.put(mark, name, text.encode(), what)

    def unwired(self, before: InitMark, what: str, take: Taking = client_settings.unwire) -> None:
        """Remove the entries in the mark from the settings."""
        name = SETTINGS[before.mode]
        if (content := self.read(name)) is not None:
            text = take(decoded(content, name), name, before.settings)
            self.take(before, name, text.encode(), what)

    def marked(self, new: InitMark, name: str = MARK, what: str = "what --remove reads") -> None:
        """Keep our own files out of git, then draft the mark, which lists that too."""
        self._listed(new, name)
        self.write(name, init_mark.render(new), what)

    def _listed(self, mark: InitMark, mark_name: str) -> None:
        """Keep our own files out of git: everybody's in `.gitignore`, one person's in `info/exclude`."""
        lines = (*OWN_LINES, *(line for part in mark.parts for line in _LINES[part]))
        name, before = IGNORE, mark.lines.get(IGNORE, ())
        if mark.mode == LOCAL:
            # One person's files are excluded in this clone only, and there is nothing to commit.
            name = EXCLUDE
            new_files = (SETTINGS[LOCAL], supplies.SECTION_PAGE)
            created = [file for file in new_files if file in mark.created]
            lines = (*lines, *map(self._line, (mark_name, *created, *mark.sha256)))
            shared = [piece for piece in self._others_lines() if piece.strip() in lines]
            before = (*dict.fromkeys((*mark.lines.get(name, ()), *shared)),)
        if self._place(name).is_symlink():
            self.note("link", name=name)
            return
        content = self.read(name) or b""
        added, mark.lines[name] = add_lines(content, lines, before)
        if added != content:
            self.put(mark, name, added, count(len(mark.lines[name]), "line"))

    def _line(self, name: str) -> str:
        """The pattern for one file, by its real path: git looks at nothing behind a link."""
        place = os.path.relpath(os.path.realpath(self.root / name), os.path.realpath(self.root))
        return "/" + re.sub(r"[\\*?\[]", r"\\\g<0>", place)

    def unlisted(self, before: InitMark, names: Iterable[str], needed: Container[str] = ()) -> None:
        """Remove our lines from the files that keep files out of git, unless they are still needed."""
        for name in names:
            content, others = self.read(name), self._others_lines() if name == EXCLUDE else ()
            gone = [line for line in before.lines.get(name, ()) if line.strip() not in needed]
            pieces = [piece for piece in gone if piece not in others]
            if content is not None and not self._place(name).is_symlink():
                after = planned_files.take_out_lines(content, pieces)
                self.take(before, name, after, "lifecycle's lines go")

    def _others_lines(self) -> list[str]:
        """What other worktrees of this clone, wired for one person, need in the shared `info/exclude`."""
        pieces: list[str] = []
        for path in (worktree / name for worktree in self._others() for name in MARKS):
            with contextlib.suppress(Refused):  # a broken mark is that worktree's problem
                mark = self.mark(path) if Path(os.path.realpath(path)) == path else None
                pieces += mark.lines.get(EXCLUDE, ()) if mark is not None else ()
        return pieces

    def _others(self) -> list[Path]:
        """The other worktrees of this clone."""
        git = store.common_folder(self.root)
        folders = user_folder.worktrees_of(user_folder.KnownClone(git, None)) if git else ()
        paths = [Path(os.path.realpath(folder)) for folder in folders]
        return [path for path in paths if path != Path(os.path.realpath(self.root))]

    def needed_lines(self) -> set[str]:
        """The lines for claims, runs and workflows that are still in worktrees of this clone."""
        by_file = {
            store.CLAIM_FILE: OWN_LINES,
            run_store.PATH: run_store.LINES,
            document_files.CURRENT: document_files.LINES,
        }
        places = (self.root, *self._others())
        left = [file for file in by_file if any((place / file).exists() for place in places)]
        return {line for file in left for line in by_file[file]}

    def sectioned(self, mark: InitMark) -> None:
        """Put our section into CLAUDE.md, unless somebody wrote one of their own."""
        name = supplies.SECTION_PAGE
        content = self.read(name)
        if os.path.lexists(self.root / name) and not (self.root / name).is_file():
            self.note("no-file", name=name)
            return
        after, mark.section = supplies.with_section(content or b"", mark.section)
        if after is None:
            self.note("own-section", name=name)
        elif after != content:
            self.put(mark, name, after, f'the section "{supplies.SECTION_TITLE}"')

    @cached_property
    def _git(self) -> GitRepository:
        """Git in the worktree, with the time limit of a plan."""
        deadline = Deadline.after(SystemClock(), _GIT_SECONDS)
        return GitRepository(self.root, deadline, self.environment)

    @cached_property
    def _exclude(self) -> Path:
        return self.root / self._git.run("rev-parse", "--git-path", EXCLUDE)

    def note(self, of: str, /, **words: object) -> None:
        """Note a sentence of `sentences.toml` for the person."""
        self.notes[sentence(of, **words)] = None

    @cached_property
    def _configured(self) -> Settings:
        return config.load(self.root, self.environment)

    @property
    def settings(self) -> StageSettings:
        """The settings of the staged workflow; raises BadConfig."""
        return self._configured.stages

    @cached_property
    def start(self) -> str:
        """The client's command that begins a task, by this worktree's tracker."""
        return registry.start(self.root, self.environment, self._configured) or supplies.START

    def extras(self, parts: Iterable[str]) -> Put:
        """Permissions and cap for the settings: from claim to close, and for each of these parts."""
        blocks = [self.settings.max_blocks] if "stages" in parts else []
        blocks += [self._configured.run.max_iterations] if "run" in parts else []
        # The claim's own sentences at a stop count as well: they get the client's default number.
        cap = {hook_table.CAP: str(max(blocks) + hook_table.DEFAULT_CAP)} if blocks else {}
        rules = [rule for part in parts for rule in hook_table.PARTS[part]]
        return Put(permissions=(*hook_table.PERMISSIONS, *rules), variables=cap)

    def staged(self, mark: InitMark, *, is_new: bool) -> None:
        """Add the workflow's missing files, and its switch in `.lifecycle.toml`.

        Args:
            mark: the mark of an earlier run.
            is_new: the workflow was not added before.
        """
        if not self.only_wires:
            self._switched_on(mark, is_new=is_new)
        if is_new and not os.path.lexists(self.root / STAGED_LOG):
            mark.created += (STAGED_LOG,)  # the hooks will write it
        # Not the commands for which the settings name others.
        review = supplies.REVIEW if self.settings.review in ("", supplies.REVIEW) else ""
        start, label = self.settings.start or self.start, self.settings.label
        start = start if start == self.start or supplies.page_of(start) in mark.sha256 else ""
        self.supply(mark, supplies.supplies(review=review, start=start, label=label))

    def supply(self, mark: InitMark, files: Sequence[supplies.Supply]) -> None:
        """Add the files that are missing and that a person has nowhere else."""
        for file in files:
            elsewhere = places_of(file.name, self.root, self.environment)[1:]
            if mark.mode != LOCAL or not any(map(Path.is_file, elsewhere)):
                self._supplied(mark, file)

    def _supplied(self, mark: InitMark, supply: supplies.Supply) -> None:
        name, text = supply.name, supply.text.encode()
        content, recorded = self.read(name), mark.sha256.get(name)
        # One person needs no copy of what is in everybody's repository.
        is_needed = content != text or recorded is not None or mark.mode != LOCAL
        if content is None and os.path.lexists(self.root / name):  # a folder, or a broken link
            self.note("no-file", name=name)
        elif content is not None and content != text and digest(content) != recorded:
            note = "own-orchestrator" if name == supplies.ORCHESTRATOR else "own-file"
            self.note(note, name=name)
            mark.sha256.pop(name, None)
        elif is_needed or not self._git.run("ls-files", "--", name):
            for folder in FOLDERS:
                is_new = name.startswith(folder) and not (self.root / folder).exists()
                mark.note_created(folder, is_new=is_new)
            self._whole(mark, supply)

    def _whole(self, mark: InitMark, supply: supplies.Supply) -> None:
        """Draft a file that is entirely ours, and note its digest, by which it is recognised."""
        text = supply.text.encode()
        self.write(supply.name, text, supply.what)
        mark.sha256[supply.name] = digest(text)

    def settle(self, mark: InitMark) -> None:
        """Add a commented `.lifecycle.toml`, if no file has that name."""
        name = config.CONFIG_FILE
        if not os.path.lexists(self.root / name) and self.read(name) is None:
            what = "every key with its default, commented out"
            self._supplied(mark, supplies.Supply(name, supplies.settings_file(), what))

    def _switched_on(self, mark: InitMark, *, is_new: bool) -> None:
        name = config.CONFIG_FILE
        path = self.root / name
        content = self.read(name)
        values = {"review": supplies.REVIEW, "start": self.settings.start or self.start}
        is_ours = content is not None and digest(content) == mark.sha256.get(name) and is_new
        above = config.file_of(self.root)
        if above != path:  # in a linked worktree the main worktree's counts
            content = above.read_bytes()
        elif is_ours or not os.path.lexists(path):
            what = "the staged workflow, and every key with its default"
            return self._whole(mark, supplies.Supply(name, supplies.staged(**values), what))
        if content is None:
            raise unwritten(f"{name} is no file", "move it away")
        added = switch_on(decoded(content, name), name, values)
        if added and above != path:
            problem = f"{name} of the main worktree counts here, and has the staged workflow off"
            raise unwritten(problem, "run lifecycle init --stages there")
        if added:
            self.write(name, content + added.encode(), "the staged workflow is switched on")
            mark.switched += (init_mark.PutPiece("", added),)
        elif not self.settings.use:
            self.note("left-off", name=name)
        return None


def decoded(content: bytes | None, name: str) -> str:
    """The text of a file's content, "" for None; raises Refused if it is not UTF-8."""
    try:
        return (content or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise unwritten(f"{name} is not UTF-8 (byte {error.start + 1})") from None
