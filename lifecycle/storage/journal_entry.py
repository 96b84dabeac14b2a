"""One line of the journal, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

WAIT_SECONDS = 0.2
"""How long a writer waits for another process."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One thing that happened.

    Attributes:
        at: seconds since the epoch, UTC.
        system: who writes: one of SYSTEMS.
        kind: one of KINDS. "transition": from `source` to `target`, a claim's phase or a stage (either
            may be empty: it began, or nobody knows). "write": something was written to GitHub or a
            tracker; `target` is what. "check": tests or a review were run; `source` is the stage,
            `detail["outcome"]` one of GREEN, RED, UNKNOWN. "block": the agent was told or asked
            something at its stop; `source` is the stage that was completed, `target` the one it was
            sent to. "refused": what it reported was not accepted; `source` is the stage that it took
            for complete, `target` the one that it stays in. "let_go": it was allowed to stop although
            something is left; `source` is the stage.
        task: the task's id as its tracker spells it, `#42` for a GitHub issue.
        actor: the agent's name.
        session: the client's session.
        key: makes an entry unique: a second one with the same key is not written. Empty: always written.
        detail: plain JSON values. `lifecycle stats` knows `labels` (a list of the task's labels),
            `title` (of the task) and `outcome`; the rest is for people. Secrets are taken out, long texts
            are cut.
    """

    at: float
    system: str
    kind: str
    task: str = ""
    actor: str = ""
    session: str = ""
    source: str = ""
    target: str = ""
    key: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
