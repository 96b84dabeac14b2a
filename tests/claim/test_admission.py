"""Whether a task may be taken, of what is known of it: each refusal, its way out, and each remark."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.claim.commands import admission, taking
from lifecycle.claim.commands.admission import TaskAsked, admit
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import observing
from lifecycle.claim.record.sections import Attempt
from lifecycle.core.errors import HeldByAnother, Refused, Transient
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.model import LABELS_ITEM, BoardItem, Card, PullState
from lifecycle.core.world import World
from lifecycle.git import lease
from lifecycle.git.lease import LeaseStanding
from lifecycle.storage.state_file import CLAIMING
from tests.factories import BRANCH, issue, observation, pull, record

NOTHING_IS_ASKED = cast("World", None)
"""What is decided here is decided of what was read before: neither GitHub nor git is asked for more."""

MINE = Attempt(42, "octo-1738000000", "n", resumes=False)
AGAIN = Attempt(42, "octo-1738000000", "n", resumes=True)
FORCED = replace(AGAIN, force=True)
FREE = BoardItem("PVTI_1", "Todo")
SAMS = lease.Lease("5a" * 20, "sam-1", "2026-01-31T12:00:00Z")
OURS = BoardItem("PVTI_1", "In Progress", MINE.agent)


def card(number: int = 42, item: BoardItem = FREE, *, is_open: bool = True, **fields: Any) -> Card:
    """A card of the board that is ready, unless something else is said."""
    known = {"readiness": "Ready for Agent", **fields}
    return Card(item, number, "Fix thing", "u", "octo-org/hello", is_open, **known)


def asked(
    *others: Card, item: BoardItem | None = FREE, shown: dict[str, Any] | None = None, **fields: Any
) -> TaskAsked:
    """Issue 42, with its card and other ones; `shown` are fields of the issue, `fields` of its card."""
    own = card(item=item, **fields) if item is not None else None
    seen = issue(**(shown or {}))
    cards = (own, *others) if own is not None else others
    return TaskAsked(seen, observation(issue=seen, item=item), own, cards, has_board=True)


@pytest.mark.parametrize(
    ("task", "kind", "why"),
    [
        (
            asked(shown={"is_open": False}),
            Refused,
            "#42 is closed; nothing was claimed. Choose another task.",
        ),
        (
            asked(item=BoardItem("PVTI_1", "In Review")),
            Refused,
            (
                '#42 has Status "In Review", not "Todo"; nothing was claimed. Move it to Todo, or '
                "take it anyway: lifecycle takeover 42"
            ),
        ),
        (
            asked(shown={"assignees": ("maria", "OCTO")}),
            HeldByAnother,
            (
                "#42 is assigned to maria; nothing was claimed. Choose another task, or if they are gone: "
                "lifecycle takeover 42"
            ),
        ),
        (
            asked(card(36), dependencies="#36"),
            Refused,
            (
                "#42 depends on #36, still open; nothing was claimed. Close it first, or take it "
                "anyway: lifecycle takeover 42"
            ),
        ),
        (
            asked(card(36), card(37), card(38, is_open=False), dependencies="#36, #37, #38"),
            Refused,
            (
                "#42 depends on #36, #37, still open; nothing was claimed. Close them first, or take "
                "it anyway: lifecycle takeover 42"
            ),
        ),
    ],
)
def test_what_stands_in_the_way_is_said_with_the_way_out(
    task: TaskAsked, kind: type[Refused], why: str
) -> None:
    """Nothing is claimed; by force all but a closed one is taken, by whom it was begun before."""
    with pytest.raises(kind) as refused:
        admit(NOTHING_IS_ASKED, task, MINE)
    assert (type(refused.value), refused.value.sentence) == (kind, why)
    if task.issue.is_open:
        assert admit(NOTHING_IS_ASKED, task, FORCED) == []


@pytest.mark.parametrize(
    ("task", "notes"),
    [
        (asked(), []),
        (asked(item=BoardItem("PVTI_1")), []),
        (asked(item=None), []),
        (asked(shown={"assignees": ("Octo",)}), []),
        (asked(card(36, is_open=False), dependencies="#36"), []),
        (asked(readiness="Draft"), ['Readiness is "Draft", not "Ready for Agent".']),
        (
            asked(card(36, is_open=False), readiness=None),
            ['Readiness is not set, not "Ready for Agent".'],
        ),
        (asked(card(36, readiness=None), readiness=None), []),
        (asked(item=BoardItem(LABELS_ITEM, "Todo"), readiness="Draft"), []),
        (asked(item=replace(OURS, agent="sam-1", is_archived=True)), []),
    ],
)
def test_a_free_task_is_taken_with_a_remark_at_most(task: TaskAsked, notes: list[str]) -> None:
    """In Todo, in no column, or on no board; where no card says how ready it is, nothing is missing.

    An archived card says who had the task once: a release may not write it.
    """
    assert admit(NOTHING_IS_ASKED, task, MINE) == notes


def test_what_github_says_of_a_task_stands_in_the_way_as_its_card_does() -> None:
    """Each issue that it waits for is named once, one of another repository with its name."""
    task = asked(card(36), dependencies="#36")
    task = replace(task, blockers=("36", "37", "octo-org/other#9"))
    with pytest.raises(Refused, match=r"#42 depends on #36, #37, octo-org/other#9, still open;"):
        admit(NOTHING_IS_ASKED, task, MINE)
    assert admit(NOTHING_IS_ASKED, task, FORCED) == []


def test_what_this_worktree_began_is_gone_on_with() -> None:
    """Its own card is in no way any more; another one's is."""
    assert admit(NOTHING_IS_ASKED, asked(item=OURS), AGAIN) == []
    moved = BoardItem("PVTI_1", "In Review", "")
    with pytest.raises(Refused, match='has Status "In Review"'):
        admit(NOTHING_IS_ASKED, asked(item=moved), AGAIN)


@pytest.mark.parametrize(
    ("state", "phase", "status"),
    [
        (None, Phase.CODING, "In Progress"),
        (PullState.CLOSED, Phase.PR_CLOSED, "In Progress"),
        (PullState.OPEN, Phase.CHECKS_RUNNING, "In Review"),
        (PullState.MERGED, Phase.MERGED_DETECTED, "In Review"),
    ],
)
def test_a_claim_begins_with_the_status_of_its_phase(
    state: PullState | None, phase: Phase, status: str
) -> None:
    """In review where GitHub shows a pull request that is open or merged."""
    shown = pull(state=state) if state is not None else None
    values = taking._values(asked(), BRANCH, MINE.agent, shown)
    assert (values["phase"], values["status"]) == (phase, status)
    assert values["pr_number"] == (shown.number if shown is not None else None)


@pytest.mark.parametrize(
    ("place", "refusal"),
    [(None, "#42 is held by sam-1"), (Path("/there"), "#42 is already claimed in /there;")],
)
def test_who_was_quicker_since_the_task_was_read_has_it(
    monkeypatch: pytest.MonkeyPatch, place: Path | None, refusal: str
) -> None:
    """GitHub showed it as free to both: the lease alone says who was first, and the other one is told.

    If that was in another worktree of the clone, the refusal leads there.
    """

    def take(*_: Any, **__: Any) -> str:
        raise HeldByAnother("#42 is held by sam-1.")

    monkeypatch.setattr(lease, "take", take)
    monkeypatch.setattr(taking, "holder_of", lambda *_: SAMS)
    monkeypatch.setattr(admission, "place_of", lambda *_: place)
    monkeypatch.setattr(lease, "dated", lambda _: 0.0)
    both: Any = SimpleNamespace(git=None, remote="origin", state={CLAIMING: {}}, save=lambda: None)
    with pytest.raises(HeldByAnother, match=refusal):
        taking._Taking(both, both, asked(), MINE, [])._lease(BRANCH)


@pytest.mark.parametrize(
    ("memory", "stands", "holds"),
    [
        ({}, LeaseStanding(), True),
        ({}, LeaseStanding(is_gone=True), False),
        ({}, LeaseStanding(other=SAMS), False),
        ({}, None, True),
    ],
)
def test_a_claim_elsewhere_that_lost_its_task_leads_nobody_there(
    monkeypatch: pytest.MonkeyPatch,
    memory: dict[str, Any],
    stands: LeaseStanding | None,
    *,
    holds: bool,
) -> None:
    """Its record says so, or its lease; where that cannot be read, the record alone."""

    def standing(*_: Any) -> LeaseStanding:
        if stands is None:
            raise Transient("offline")
        return stands

    monkeypatch.setattr(observing, "standing", standing)
    assert admission._holds(NOTHING_IS_ASKED, record(memory=memory)) is holds
