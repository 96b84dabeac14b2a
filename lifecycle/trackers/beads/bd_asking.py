"""The parts of bd's verbs: the version of this bd, reads, and writes that are verified if unclear.

The version is asked once, and kept in `<git folder>/lifecycle/beads.json` for this very file.

Source: which version has what: CHANGELOG.md, https://github.com/steveyegge/beads.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from lifecycle.core import errors
from lifecycle.core.light_dataclass import object_in, replace
from lifecycle.core.redact import short
from lifecycle.core.tracker import Note, Task
from lifecycle.storage import log, regular_files, store
from lifecycle.trackers.beads import bd_decode
from lifecycle.trackers.beads.bd_process import Runner, verb_of
from lifecycle.trackers.refusals import sentence

Value = TypeVar("Value")


class Asking(Runner):
    """Reads and writes of one workspace.

    Attributes:
        has_strange: an issue was left out because its id is not a plain word.
    """

    has_strange = False

    @cached_property
    def version(self) -> str:
        """The version that this bd reports; "" if it reports none.

        Raises:
            NotInstalled: there is no bd.
            VersionUnsupported: it is older than any version that was tried.
        """
        path = self.program
        program = [path, *regular_files.version_of(os.path.realpath(path))]
        place = self.shared / NAME
        file = store.read(place, follow=False)
        kept = object_in(file.content if file is not None else b"")
        version = kept.get("version")
        # Of one that is too old: the same script may start another program now.
        if kept.get("program") != program or not isinstance(version, str) or _is_old(version):
            ran = self.run("version", "--json")
            version = str(bd_decode.payload(ran, due=dict, doing="version").get("version", ""))
            text = json.dumps({"program": program, "version": version}, indent=1)
            store.write(place, text.encode() + b"\n")
        if _is_old(version):
            words = {"version": version, "oldest": f"{OLDEST[0]}.{OLDEST[1]}"}
            raise errors.VersionUnsupported(sentence("bd-too-old", **words))
        return version

    def is_from(self, first: tuple[int, ...]) -> bool:
        """True if this bd has that version or a later one; False if its version is unknown."""
        return _numbers(self.version) >= first

    @cached_property
    def sends(self) -> str:
        """The words of bd's command that sends; "" if there is no remote, or that is unknown."""
        if not self.is_from(PUSHES):
            common = store.common_folder(self.root)
            settings = store.read(common / "config") if common else None
            has_remote = settings is not None and b'[remote "' in settings.content
            return "sync" if has_remote and not self.is_from(SYNCS_UNTIL) else ""
        # Publishing is a convenience: if the remote cannot be determined, it is not offered.
        with contextlib.suppress(errors.LifecycleError):
            ran = self.run("dolt", "remote", "list", "--json")
            if bd_decode.payload(ran, due=list, doing="dolt remote"):
                return "dolt push"
        return ""

    def rows(self, *words: str) -> tuple[bd_decode.IssueRow, ...]:
        """The issues that a command shows; one whose id is not a plain word is left out, and logged."""
        ran = self.run(*words, "--json")
        issues = bd_decode.payload(ran, due=list, doing=verb_of(words))
        plain = [raw for raw in issues if not bd_decode.has_strange_id(raw)]
        if len(plain) < len(issues):
            self.has_strange = True
            left_out = ", ".join(short(repr(raw["id"]), 60) for raw in issues if raw not in plain)
            strange = f"tracker: left out, since no plain word is its id: {left_out}"
            log.write(self.root, strange)
        return tuple(bd_decode.row_of(raw) for raw in plain)

    def show(self, name: str) -> bd_decode.IssueRow:
        """One issue in full; bd accepts the part after the prefix as an id. NotFound."""
        with contextlib.suppress(errors.NotFound):  # not every build names the task
            for row in self.rows("show", name) if bd_decode.ID.fullmatch(name) else ():
                is_it = row.task.id == name or row.task.id.endswith(f"-{name}")
                if is_it and row.task.raw_status != bd_decode.DELETED:
                    return row
        raise bd_decode.unknown(name)

    def notes(self, name: str) -> tuple[tuple[Note, str], ...]:
        """The comments of an issue with their marks, the oldest first. NotFound."""
        if not bd_decode.ID.fullmatch(name):
            raise bd_decode.unknown(name)
        ran = self.run("comments", name, "--json")
        try:
            answer = bd_decode.payload(ran, due=list, doing=f"comments {name}")
        except errors.NotFound:  # not every build names the task
            raise bd_decode.unknown(name) from None
        notes = [bd_decode.note_of(comment) for comment in answer]
        return tuple(sorted(notes, key=lambda pair: pair[0].created_at or 0.0))

    def change(self, before: Task, verb: str, *words: str, so: Callable[[Task], bool]) -> Task:
        """Run a write whose answer shows the changed task, and return that task.

        Args:
            before: the task before; its blockers are kept, since such answers do not name them.
            verb: the command.
            words: the words after the task's id.
            so: whether a task has the wanted state.
        """

        def seen(raw: Any) -> Task | None:
            tasks = (bd_decode.row_of(issue).task for issue in raw)
            fits = (task for task in tasks if task.id == before.id and so(task))
            return next((replace(task, blocked_by=before.blocked_by) for task in fits), None)

        def read() -> Task | None:
            task = self.show(before.id).task
            return task if so(task) else None

        return self.write(verb, before.id, *words, "--json", due=list, seen=seen, read=read)

    def write(
        self,
        *words: str,
        due: type = dict,
        seen: Callable[[Any], Value | None],
        read: Callable[[], Value | None],
    ) -> Value:
        """Run a write, and return the state afterwards.

        Args:
            words: the command.
            due: the type of the answer: `list` or `dict`.
            seen: returns the state in the answer; None if it is not the wanted one.
            read: reads the state if the answer is unclear; None if it is not the wanted one.

        Raises:
            Transient: ambiguous; no answer came, and a read does not show the result.
            LifecycleError: bd refused, and nothing was done.
        """
        doing, refused = verb_of(words), None
        try:
            ran = self.run(*words, is_write=True)
            value = seen(bd_decode.payload(ran, due=due, doing=doing))
            unclear = "gave an answer that does not fit"
        except errors.LifecycleError as error:
            # No answer, an empty one, or a refusal in unknown words: the write may have happened.
            is_lost = isinstance(error, errors.Transient) and error.is_ambiguous
            refused = error if type(error) is errors.Rejected else None
            if not (is_lost or refused or isinstance(error, errors.ProtocolError)):
                raise
            why = error.evidence or error.sentence.partition(";")[0]
            value, unclear = None, f"gave no clear answer ({why})"
        if value is None:
            # If the state cannot be read, the result remains unclear.
            with contextlib.suppress(errors.LifecycleError):
                value = read()
        if value is None:
            undone = sentence("bd-not-seen-done", doing=doing, unclear=unclear)
            raise refused or errors.Transient(undone, is_ambiguous=True)
        return value


def label_words(labels: tuple[str, ...]) -> tuple[str, ...]:
    """The filter for any of these labels; () if bd has no filter for them (`auto:*`)."""
    if not labels or any(label.endswith("*") for label in labels):
        return ()
    return (f"--label-any={listed(labels)}",) if labels[1:] else (f"--label={listed(labels)}",)


def listed(values: tuple[str, ...]) -> str:
    """Several values in the form that a flag takes: a line of CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


OLDEST = (0, 30)
CLAIMS = (0, 49, 4)
"""From this version on, `--claim` compares and swaps in one step; before, it read and then wrote."""
CLAIMS_NEXT = (1, 0, 4)
"""From this version on, `ready --claim` chooses and claims in one step."""
PUSHES, SYNCS_UNTIL = (1, 0), (0, 51)
"""From the first on, `dolt push` sends to a remote; before the second, `sync` did, with git."""
LEASES = (1, 3)
"""From this version on, a claim ends unless `heartbeat` renews it."""

NAME = "beads.json"


def _is_old(version: str) -> bool:
    """True if the version is known to be older than any that was tried."""
    return () < _numbers(version) < OLDEST


def _numbers(version: str) -> tuple[int, ...]:
    """The numbers at the beginning of a version; () if there are none."""
    match = re.match(r"v?(\d+)\.(\d+)(?:\.(\d+))?", version)
    return tuple(int(part or 0) for part in match.groups()) if match else ()
