"""What claim, run and staged workflow say at a stop becomes one reply: each pair of verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.core.plan import Audience, Notice, StopVerdict, StopWord
from lifecycle.core.timing import Deadline, DeadlineReached, SystemClock
from lifecycle.hooks.answers import on_stop
from lifecycle.hooks.answers.on_stop import folded
from lifecycle.hooks.client_contract import render
from lifecycle.settings.running_client import Client

PASS, BLOCK, LET_GO = StopVerdict.PASS, StopVerdict.BLOCK, StopVerdict.LET_GO
NOTE = Notice("note", "The card was moved.", Audience.NOTE)
ACTS = Notice("act", "Branch and summary are missing.", Audience.ACT)


def word(verdict: StopVerdict, name: str) -> StopWord:
    """What one of the others says."""
    reason = (f"{name} goes on",) if verdict is BLOCK else ()
    return StopWord(verdict, reason, (f"{name} tells",))


def goes_on(notices: Sequence[Notice], reason: Sequence[str], person: Sequence[str]) -> bool:
    """True if what is printed of it makes the agent go on."""
    reply = render("on-stop", notices, reason=reason, person=person)
    return '"decision": "block"' in reply.stdout


PAIRS = {
    (PASS, PASS): PASS,
    (PASS, BLOCK): BLOCK,
    (PASS, LET_GO): LET_GO,
    (BLOCK, PASS): BLOCK,
    (BLOCK, BLOCK): BLOCK,
    (BLOCK, LET_GO): LET_GO,
    (LET_GO, PASS): LET_GO,
    (LET_GO, BLOCK): LET_GO,
    (LET_GO, LET_GO): LET_GO,
}
"""Verdicts of two parts, and what becomes of the stop."""


@pytest.mark.parametrize(("pair", "becomes"), PAIRS.items())
def test_run_and_workflow(pair: tuple[StopVerdict, StopVerdict], becomes: StopVerdict) -> None:
    """To let go outweighs to go on, and that outweighs silence; the run's lines come first."""
    notices, reason, person = folded((), word(pair[0], "run"), word(pair[1], "workflow"))
    assert goes_on(notices, reason, person) is (becomes is BLOCK)
    assert person == ("run tells", "workflow tells")
    names = [
        name for name, verdict in zip(("run", "workflow"), pair, strict=True) if verdict is BLOCK
    ]
    assert reason == (() if becomes is LET_GO else tuple(f"{name} goes on" for name in names))


@pytest.mark.parametrize("claims", [PASS, BLOCK])
@pytest.mark.parametrize("others", [PASS, BLOCK, LET_GO])
@pytest.mark.parametrize("name", ["run", "workflow"])
def test_the_claim_and_one_of_the_others(
    claims: StopVerdict, others: StopVerdict, name: str
) -> None:
    """The claim lets nobody go; where another does, only what is for the person is said now."""
    said = (NOTE, ACTS) if claims is BLOCK else (NOTE,)
    notices, reason, person = folded(said, word(others, name))
    assert goes_on(notices, reason, person) is (PAIRS[claims, others] is BLOCK)
    assert notices == ((NOTE,) if others is LET_GO else said)
    assert person == (f"{name} tells",)


def test_the_claim_alone() -> None:
    """With nobody else it is as it was said."""
    assert folded((NOTE, ACTS)) == ((NOTE, ACTS), (), ())
    assert goes_on((NOTE, ACTS), (), ())
    assert folded(()) == ((), (), ())


def test_what_was_said_before_the_time_was_up_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run has spoken, and the stage that comes next takes too long."""

    def others(*_: object, **_named: object) -> Iterator[StopWord]:
        yield word(BLOCK, "The run")
        raise DeadlineReached

    monkeypatch.setattr(on_stop, "_others", others)
    monkeypatch.setattr(on_stop, "_claim", lambda _: ())
    monkeypatch.setattr(on_stop, "_has_stages", lambda *_: False)
    deadline = Deadline.after(SystemClock(), 8)
    call: Any = SimpleNamespace(
        world=SimpleNamespace(root=tmp_path, deadline=deadline),
        claim_store=SimpleNamespace(folder=SimpleNamespace(has=lambda _: True)),
        client=Client.ATTENDED,
        hook="on-stop",
        text=lambda _: "",
        told=lambda notices: notices,
    )
    assert "The run goes on" in on_stop.answer(call).stdout
