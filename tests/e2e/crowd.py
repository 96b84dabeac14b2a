"""One member of a crowd on one claim: a process that plays its part as often as it is told to.

`python -m tests.e2e.crowd PART ROOT ROUNDS` runs in the environment of a hook, and prints what it heard as
a JSON list. A part's process is new, its rounds are not: each round builds what a new process would.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lifecycle.api import Phase, Worktree
from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.engine import look as engine
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.plan import Audience, Notice, Wake
from lifecycle.core.timing import Deadline, SystemClock
from lifecycle.hooks import client_contract
from lifecycle.hooks.answers import on_idle, on_stop, session_start, user_prompt_submit
from lifecycle.hooks.answers.call import HookCall
from lifecycle.hooks.client_contract import Reply
from lifecycle.settings.running_client import Client
from lifecycle.storage.store import CLAIM_FILE, Folder

SECONDS = 60.0
HEARD = re.compile(r"news-\d+|flaky-\d+")
"""What the crowd's news and its failing checks are called."""


def call(root: Path, hook: str, **event: Any) -> HookCall:
    """What a hook's process makes of an event."""
    clock = SystemClock()
    claim_store = ClaimStore(root, clock)
    world = WorktreeWorld(root, os.environ, clock, Deadline.after(clock, SECONDS), claim_store.file)
    session = os.environ["CLAUDE_CODE_SESSION_ID"]
    return HookCall(hook, event, session, world, claim_store, Client.ATTENDED)


def stop(root: Path, _round: int) -> Reply:
    """on-stop."""
    return on_stop.answer(call(root, "on-stop"))


def idle(root: Path, _round: int) -> Reply:
    """on-idle."""
    return on_idle.answer(call(root, "on-idle"))


def watch(root: Path, _round: int) -> Reply:
    """One look of the waiter's."""
    made = call(root, "ci-waiter")
    report = engine.tick(made.world, made.claim_store, Wake.IDLE, to=made.listener)
    return client_contract.render(made.hook, report.said)


def prompt(root: Path, number: int) -> Reply:
    """UserPromptSubmit; every fourth one was made by a wake, and brings nothing."""
    if number % 4:
        return user_prompt_submit.answer(call(root, "user-prompt-submit", prompt="go on"))
    text = "<task-notification>\nCI passed!\n</task-notification>"
    reply = user_prompt_submit.answer(call(root, "user-prompt-submit", prompt=text))
    assert reply == Reply()
    return reply


def start(root: Path, number: int) -> Reply:
    """SessionStart, each from another source, so that none is another's copy."""
    reply = session_start.answer(call(root, "session-start", source=f"source {number}"))
    assert "Claim: issue #42" in reply.stdout
    return reply


def nudge(root: Path, number: int) -> Reply:
    """`lifecycle nudge`: the phase is set by hand, against the agent's own."""
    with Worktree(root, seconds=SECONDS) as tree:
        tree.move(Phase.CODING, force=True, reason=f"nudge {number}")
    return Reply()


def command(root: Path, _round: int) -> Reply:
    """`lifecycle status`, and a look by the public API."""
    with Worktree(root, seconds=SECONDS) as tree:
        assert tree.status() is not None
        return Reply(stdout=json.dumps([say.text for say in tree.tick(Wake.STOP).said]))


def look(root: Path, _round: int) -> Reply:
    """`lifecycle tick` in the agent's session."""
    with Worktree(root, seconds=SECONDS) as tree:
        report = tree.tick()
        assert report.problem is None, report.problem
        return Reply(stdout=json.dumps([say.text for say in report.said]))


def tell(root: Path, number: int) -> Reply:
    """Somebody has news, for each audience in turn, and puts it on the queue."""
    claim_store = ClaimStore(root, SystemClock())
    with claim_store.folder.locked(SECONDS):
        claim_store.load()
        audience = list(Audience)[number % len(Audience)]
        claim_store.ledger.queue(Notice(f"news:{number}", f"This is news-{number}.", audience))
        claim_store.save()
    return Reply()


def read(root: Path, _round: int) -> Reply:
    """Whoever reads without the lock finds whole files."""
    state = root / ".lifecycle/state.json"
    assert json.loads(state.read_bytes())["record"]["values"]["issue_number"] == 42
    assert json.loads((root / CLAIM_FILE).read_bytes())["issue_number"] == 42
    return Reply()


class Poll:
    """Commits the time of a poll, as a look at the checks does, and finds it again before the next one."""

    def __init__(self) -> None:
        self.last: str | None = None

    def __call__(self, root: Path, number: int) -> Reply:
        """One poll."""
        claim_store = ClaimStore(root, SystemClock())
        with claim_store.folder.locked(SECONDS):
            loaded = claim_store.load()
            assert loaded.record is not None
            assert loaded.record.claim.last_check_poll == self.last
            self.last = f"poll {number}"
            claim_store.commit(
                loaded.record.with_values({"last_check_poll": self.last}), loaded.hints
            )
        return Reply()


class Agent:
    """Edits the claim by hand, as a whole, without a lock, from a copy that may be old."""

    def __init__(self) -> None:
        self.chance = random.Random(7)
        self.mine: dict[str, Any] = {}
        self.branch: dict[str, str] = {}

    def __call__(self, root: Path, number: int) -> Reply:
        """One edit; before it, nothing of the last one may be lost."""
        path = root / CLAIM_FILE
        content = json.loads(path.read_bytes())
        if content | self.mine != content:
            # For the moment of an exchange the file may hold the engine's copy; never beyond its lock.
            with Folder(root).locked(SECONDS):
                content = json.loads(path.read_bytes())
        assert content | self.mine == content, (number, self.mine, content)
        self.mine = {"summary": f"Summary {number}", "x_count": number}
        if os.environ["AGENT"] == "moody" and number % 40 == 0:
            self.branch = {"branch": f"claude/turn-{number}"}
        self.mine |= self.branch
        for _ in range(self.chance.choice([0, 1000, 50_000, 300_000])):
            pass  # it thinks
        edit = {**content, **self.mine, **phase_of(number)}
        # By a rename: half-written files have tests of their own, and cost a pause each.
        temporary = root / f".edit-{number}"
        temporary.write_text(json.dumps(edit))
        temporary.replace(path)
        return Reply()


def phase_of(number: int) -> Mapping[str, str]:
    """Which phase the agent writes with its edit, if it writes one: a moody one has phases of its own."""
    if os.environ["AGENT"] == "moody":
        return {"phase": f"odd-{number}"} if number % 4 == 0 else {}
    return {"phase": "ready_for_pr", "status": "In Review"} if number % 10 == 0 else {}


PARTS: dict[str, Callable[[Path, int], Reply]] = {
    "stop": stop,
    "idle": idle,
    "watch": watch,
    "prompt": prompt,
    "start": start,
    "nudge": nudge,
    "command": command,
    "look": look,
    "tell": tell,
    "read": read,
    "poll": Poll(),
    "agent": Agent(),
}


def main(part: str, root: str, rounds: str) -> None:
    """Play the part."""
    heard: list[str] = []
    for number in range(int(rounds)):
        reply = PARTS[part](Path(root), number)
        heard += HEARD.findall(reply.stdout + reply.stderr)
        if reply.printed is not None:
            reply.printed()
    sys.stdout.write(json.dumps(heard))


if __name__ == "__main__":
    main(*sys.argv[1:])
