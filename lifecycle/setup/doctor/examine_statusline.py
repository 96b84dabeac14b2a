"""The client's status line: whether ours is set, can be started, and calls the other one as it is now."""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.setup.doctor.doctor_finding import DoctorFinding, finding
from lifecycle.setup.doctor.examined import Examined
from lifecycle.setup.init.found_hooks import shown
from lifecycle.setup.init.status_line import (
    KEY,
    command_of,
    is_lost,
    other_status_line,
    own_status_line,
)


def check(case: Examined) -> Iterator[DoctorFinding]:
    """No finding where none of ours is set; the client shows that of the last file that has one."""
    if not case.is_worktree:
        return
    files = case.client.files
    places = [at for at, file in enumerate(files) if command_of(file.object(KEY))]
    if not places:
        return
    file, before = files[places[-1]], files[: places[-1]]
    line = own_status_line(file.object(KEY))
    if line is None:
        if any(own_status_line(other.object(KEY)) is not None for other in before):
            yield finding("statusline.hidden", file=file)
        return
    other = command_of(other_status_line(before))
    if is_lost(line):
        script = shown(line.script, case.root, case.environment)
        yield finding("statusline.lost", file=file, script=script)
    elif other and other != line.above:
        yield finding("statusline.other", file=file)
    else:
        yield finding("statusline.set", beside=", below the one that was set" if line.above else "")
