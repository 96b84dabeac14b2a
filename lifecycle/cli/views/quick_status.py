"""`lifecycle status`; without click, if the command line has no option but `--json`.

It is asked for often, and click takes longer to import than the files to read.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack

from lifecycle.cli import endings, terminal
from lifecycle.cli.command_session import Session, claim_data
from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import replace
from lifecycle.storage import regular_files
from lifecycle.storage.state_file import PENDING
from lifecycle.views.overview import overview_values, overview_words
from lifecycle.views.overview.overview_reading import overview

_SETTINGS = ".claude/settings.local.json"
_LONG = 1_000_000
_ON_STOP = re.compile(rb'"(/[^"]*/on-stop)"')
"""A script that may be a hook of ours, in the text of settings."""

_OF_THE_CLAIM = ("claim", "pull", "checks")


def run(*, as_json: bool) -> int:
    """Run `lifecycle status` without click, and return its exit code."""

    def work() -> int:
        with ExitStack() as at_end:
            return status(Session(as_json, at_end=at_end))

    with terminal.guarded():
        return endings.answered(work, as_json=as_json)


def status(session: Session) -> int:
    """Show the claim with its PR and checks as last seen, the stage, the run, the workflow, what waits.

    Asks nothing of GitHub; `lifecycle tick` looks again, `lifecycle watch` stays open.
    """
    worktree_overview = overview(session.root, session.world.environment, session.world.deadline)
    if lost := _lost_hooks(session):
        troubles = {**worktree_overview.troubles, "hooks": lost}
        worktree_overview = replace(worktree_overview, troubles=troubles)
    lines, waiting = list[str](), list[str]()
    record, is_held, problem = None, False, None
    try:
        record = session.claim_store.shown()
        lines = session.claim_lines(record)
        is_held = record is not None and session.is_held(record)
        lines += _still_linked(session)
        notices = session.claim_store.notices_of(record)
        waiting = [notice.text.partition("\n")[0] for notice in notices]
    except (LifecycleError, regular_files.StrangeFileError) as error:
        problem = error
    # Only the session that holds the claim sees what the claim waits for.
    hidden = _OF_THE_CLAIM if is_held else ()
    awaited = [person for person in worktree_overview.awaited if person.part not in hidden]
    # One queued sentence may be in two lines of the claim: the question and what to do.
    claim_text = " ".join(lines)
    more = [text for text in waiting if text not in claim_text]
    lines = [line for line in lines if not any(line in text for text in more)]
    lines = overview_words.since_when(lines, awaited, worktree_overview.at)
    lines += more
    lines += overview_words.lines_below(worktree_overview, awaited, lines)
    claim = claim_data(record)
    data = overview_values.overview_json(worktree_overview)
    data |= {"claim": claim and {**(data["claim"] or {}), **claim}, "waiting": waiting}
    if problem is not None:
        data["error"] = {"kind": type(problem).__name__, "sentence": problem.sentence}
    return session.show_all_but(problem, lines, data)


def _still_linked(session: Session) -> list[str]:
    """The lines about another tracker's tasks that an ended claim left to be closed or released."""
    if not session.claim_store.state.get(PENDING):
        return []
    from lifecycle.claim.linked import linked_writes
    from lifecycle.core.messages import messages

    left = linked_writes.waiting(session.claim_store.state)
    return [messages.linked_pending(write.id, write.issue, write.wanted) for write in left]


def _lost_hooks(session: Session) -> str:
    """The sentence about configured hooks that no longer exist, as after a move of Python; else ""."""
    root = str(session.root)
    places = filter(None, (root, regular_files.main_worktree(root)))
    texts = [regular_files.whole(f"{place}/{_SETTINGS}", _LONG) or b"" for place in places]
    # To find out whose they are costs more than all of this: only if one is missing.
    if all(os.path.isfile(path) for text in texts for path in _ON_STOP.findall(text)):  # noqa: PTH113
        return ""
    from lifecycle.setup.init.found_hooks import ClientSetup

    setup = ClientSetup.read(session.root, session.world.environment)
    lost = [entry for entry in setup.entries if entry.is_inits and not entry.is_there]
    if not lost:
        return ""
    return (
        f"{lost[0].script} no longer exists, so the hooks that lifecycle init set up here do nothing; to "
        "set them up again: lifecycle init"
    )
