"""One worktree while its overview is read: what every part uses, and how a failing part is reported."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import fields
from lifecycle.core.redact import redact, short, visible
from lifecycle.core.timing import Deadline
from lifecycle.storage import journal, regular_files
from lifecycle.views.overview.overview_values import AwaitedPerson

T = TypeVar("T")

TEXT = 200
"""The most characters of a text that somebody else wrote."""

_ADDRESS = re.compile(r"https?://[!-~]{1,1000}")


def plain(text: object, limit: int = TEXT) -> str:
    """Anybody's text as one line that can be shown anywhere: no secret, no control character, not long."""
    return visible(short(redact(" ".join(str(text or "").split())), limit))


def address(text: object) -> str:
    """An address that is safe for a browser: http or https, in plain characters; else ""."""
    return text if isinstance(text, str) and _ADDRESS.fullmatch(text) else ""


def copied(part: type[T], source: object, **given: Any) -> T:
    """A part of an overview: fields not in `given` come from the source's of the same name, made plain.

    Args:
        part: the part's class.
        source: the value that was read.
        given: fields that the source lacks, or has in another form.
    """
    for own in fields(part):  # type: ignore[arg-type]  # a class of values
        if (name := own.name) not in given:
            value = getattr(source, name)
            given[name] = plain(value) if isinstance(value, str) else value
    return part(**given)


class WorktreeRead:
    """One worktree while it is read: where it is, and the results so far.

    Attributes:
        root, environment, deadline: the worktree's; git must answer within the deadline.
        awaited: the matters that wait for a person.
        troubles: by part, why it could not be read.
    """

    def __init__(self, root: Path, environment: Mapping[str, str], deadline: Deadline) -> None:
        self.root, self.environment, self.deadline = root, environment, deadline
        self.awaited: list[AwaitedPerson] = []
        self.troubles: dict[str, str] = {}

    @property
    def now(self) -> float:
        """The present, in seconds since the epoch."""
        return self.deadline.clock.now()

    def await_person(self, part: str, what: str, since: float, where: str = "") -> None:
        """Note once that `what` waits for a person: in which part, since when, and where to act."""
        what = plain(what, 500)
        if all(wait.what != what for wait in self.awaited):
            self.awaited.append(AwaitedPerson(part, what, since, where))

    def await_session(self, part: str, task: str, since: float) -> None:
        """Note that the session that works on this task has ended."""
        what = f"The session that works on {task} is over; start one that goes on with it"
        self.await_person(part, what, since)

    def part(self, name: str, read: Callable[[WorktreeRead], T], otherwise: T) -> T:
        """The result of `read`; if it fails, `otherwise`, and a sentence in `troubles`."""
        try:
            return read(self)
        except (LifecycleError, regular_files.StrangeFileError) as error:
            why = error.sentence
        except OSError as error:
            why = f"{error.filename or name}: {error.strerror or error}; it was left as it is."
        except Exception as error:  # noqa: BLE001 -- whatever a file holds, the other parts are shown
            why = (
                f"The {name} cannot be shown ({type(error).__name__}: {error}); its files were left as "
                "they are, and everything else is shown. See: lifecycle doctor"
            )
        self.troubles[name] = plain(why, 500)
        return otherwise


def last_move(reading: WorktreeRead, system: str, task: str, target: str) -> float:
    """When, by the journal, this task last entered `target`; 0.0 if unknown."""
    newest = partial(journal.read, count=1, kind=journal.TRANSITION, system=system, target=target)

    def moment(worktree: WorktreeRead) -> float:
        return max((entry.at for entry in newest(worktree.root, task=task)), default=0.0)

    return reading.part("events", moment, 0.0)  # it says the same as the part with the entries
