"""Every text of a run, whole: `whole_texts.txt` has them as agents and people read them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace as put
from difflib import unified_diff
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lifecycle.core import redact
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.records import RunRecord
from lifecycle.platforms import platform_tables
from lifecycle.platforms.selection import Detection
from lifecycle.run import state
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import (
    Blocker,
    Clarification,
    Criterion,
    Failure,
    GatePart,
    ReviewRecord,
    Run,
    Story,
    UserFix,
)
from lifecycle.run.stories.story_edits import QUESTIONS
from lifecycle.run.table import (
    TIERS,
    CheckState,
    ClarificationPhase,
    CriterionState,
    FailureCategory,
    Gate,
    ReviewVerdict,
    RunPhase,
    RunStatus,
    Severity,
    StoryCheck,
    StoryStatus,
)
from lifecycle.run.texts import report_text, standing, told
from tests.run.texts.texts_ground import (
    FACTS,
    NOW,
    OLD,
    TREE,
    a_run,
    at_work,
    done,
    gate,
    question_lines,
)

WHOLE = Path(__file__).with_name("whole_texts.txt")
LATE = NOW + TIERS[1].until

RUN = a_run()
FIX = UserFix("B2", "Add the key", NOW, story="S3")
NEWS = (
    *RUN.blockers,
    replace(
        RUN.blockers[1],
        id="B3",
        resolved_at=NOW + 5,
        notes="it is in .env",
        check_command=("true",),
    ),
    replace(RUN.blockers[1], id="B4", resolved_at=NOW + 3),
    replace(RUN.blockers[1], id="B5", resolved_at=NOW + 1),
)
TRIED = replace(at_work(), failures=at_work().failures * 4)
RESOLVED = replace(
    RUN, blockers=NEWS, led_on_at=NOW + 1, stories=(done(1), TRIED, *RUN.stories[2:])
)
PROVEN = state.TestProof(NOW, files={"t.py": "1"})
WORDY = replace(
    at_work(),
    title="t" * 400,
    design="d" * 30_000,
    criteria=(Criterion("c" * 3_000),),
    failures=(),
    red=replace(PROVEN, tests=tuple(f"t::{n}" for n in range(6))),
    green=PROVEN,
)
LONG_WORDS = replace(
    RUN,
    goal="g" * 3_000,
    stories=(
        replace(done(1), title="t" * 400, design="d" * 3_000),
        Story("S9", "Bare", status=StoryStatus.COMPLETED),
        WORDY,
        Story("S4", "u" * 400, depends_on=("S9",)),
    ),
    clarifications=(Clarification("q" * 3_000, "a" * 3_000, NOW),),
    blockers=tuple(
        Blocker(f"B{n}", "b" * 3_000, "high", NOW, resolved_at=NOW + n) for n in range(8)
    ),
    led=(replace(RUN.led[0], session="s" * 300),),
)
RUNS: dict[str, Run] = {
    "at work": RUN,
    "begun": Run("abc12345", "Pay", NOW, phase=RunPhase.PLANNING),
    "asked": replace(
        RUN,
        clarifications=(
            replace(RUN.clarifications[0], answer="", phase=ClarificationPhase.PRE_PLAN),
        ),
        gates=(gate(Gate.G7, OLD, CheckState.FAIL), gate(Gate.G7, TREE), gate(Gate.G1, OLD)),
        pull_request="https://github.com/o/r/pull/7",
    ),
    "resolved": RESOLVED,
    "resolved, checked": replace(
        RESOLVED,
        fix=replace(FIX, blocker="B3", check_command=("true",), checked_at=NOW, verified=True),
    ),
    "resolved, failed": replace(
        RESOLVED, fix=replace(FIX, blocker="B3", check_command=("true",), checked_at=NOW)
    ),
    "resolved, unchecked": replace(
        RESOLVED, fix=replace(FIX, blocker="B3", check_command=("true",))
    ),
    "resolved, another": replace(RESOLVED, fix=replace(FIX, check_command=("true",))),
    "fixed": replace(RUN, stories=(done(1), *RUN.stories[2:]), fix=replace(FIX, completed_at=NOW)),
    "waiting": replace(RUN, status=RunStatus.AWAITING_USER, fix=FIX),
    "waiting for nobody knows what": replace(RUN, status=RunStatus.AWAITING_USER),
    "stopped": replace(RUN, status=RunStatus.STOPPED, why="it reached its cap"),
    "stopped by nobody knows whom": replace(RUN, status=RunStatus.STOPPED),
    "stories done": replace(
        RUN, stories=tuple(done(n, NOW + n) for n in range(1, 31)), blockers=()
    ),
    "completed": replace(RUN, status=RunStatus.COMPLETED, stories=(done(1),)),
    "of long words": LONG_WORDS,
    "resolved, none at work": replace(LONG_WORDS, stories=LONG_WORDS.stories[1::2]),
}
"""A run in each of the ways in which it can stand."""

FAILURES = tuple(
    Failure(
        f"F{n}", category, f"error {n}", NOW + n, source=source, file=file, line=line, iteration=n
    )
    for n, (category, source, file, line) in enumerate(
        (
            (FailureCategory.INFRA, "", "", 0),
            (FailureCategory.CODE, "G4", "pay.py", 0),
            (FailureCategory.TEST, "G5", "t.py", 7),
        )
    )
)
BLOCKED = ReviewRecord(
    StoryCheck.REVIEW_APPROVED,
    ReviewVerdict.CHANGES_REQUESTED,
    NOW + 9,
    TREE,
    "reviewer",
    (replace(done(1).reviews[0].findings[0], severity=Severity.BLOCKING, text="it | leaks"),),
)
PROOF = state.TestProof(NOW, ("t::a",), files={"t.py": "1"})
MANY = tuple(f"t::{n}" for n in range(21))
STORIES: dict[str, Story] = {
    "at work": at_work(),
    "to come": Story("S4", "Reports"),
    "done": done(1),
    "failed": replace(
        at_work(),
        failures=FAILURES,
        reviews=(BLOCKED,),
        criteria=(Criterion("it works", CriterionState.UNMET),),
        gates=(
            replace(
                gate(Gate.G5, TREE, CheckState.FAIL),
                parts=(GatePart("test", CheckState.FAIL, "pytest", failures=MANY[:11]),),
            ),
        ),
    ),
    "failed often": replace(
        at_work(),
        failures=tuple(
            replace(one, id=f"F{n}", iteration=2) for n, one in enumerate(FAILURES[1:] * 6)
        ),
        gates=tuple(
            replace(gate(name, TREE, CheckState.FAIL), parts=(GatePart("test", failures=names),))
            for name, names in ((Gate.G4, ()), (Gate.G5, tuple(f"t::{n}" for n in range(10))))
        ),
    ),
    "failed once": replace(
        at_work(), failures=FAILURES[2:], gates=(gate(Gate.G5, TREE, CheckState.FAIL),)
    ),
    "proven": replace(
        at_work(),
        red=replace(PROOF, tests=MANY, command="pytest", log="l", total=4, failed=1, note="a note"),
        green=replace(PROOF, tests=MANY[:20], total=4, changed=("t.py",)),
    ),
    "proven by counts": replace(at_work(), red=replace(PROOF, tests=(), total=0), green=None),
    "waived": replace(at_work(), red=None, waived="documents", design=""),
    "unneeded": Story("S5", "Tidy", unneeded="it is there", status=StoryStatus.IN_PROGRESS),
}
"""A story in each of the ways in which it can stand."""


def seen(*outcomes: tuple[str, Outcome, str]) -> WorkFacts:
    """What is known of the files, with checks of these kinds that ended so on these trees."""
    records = (
        RunRecord(NOW, "make | it", outcome, tree, kind=kind) for kind, outcome, tree in outcomes
    )
    return put(FACTS, records=tuple(records))


SEEN: dict[str, WorkFacts] = {
    "nothing": WorkFacts(),
    "clean": FACTS,
    "edited": put(FACTS, uncommitted=tuple(f"a{n}.py" for n in range(6))),
    "of long words": put(FACTS, uncommitted=("p" * 70,)),
    "green": seen(("build", Outcome.PASSED, TREE), ("test", Outcome.PASSED, TREE)),
    "red": seen(("build", Outcome.PASSED, OLD), ("test", Outcome.FAILED, TREE)),
    "odd": seen(("build", Outcome.NOTHING_RAN, TREE), ("test", Outcome.UNKNOWN, TREE)),
}


def runs() -> Iterator[tuple[str, Any]]:
    """The texts about each run."""
    of_a_run: dict[str, Callable[[Run], Any]] = {
        "report": lambda run: report_text.report(run, FACTS, NOW + 2_405)[0],
        "report, as data": lambda run: report_text.report(run, FACTS, NOW + 2_405)[1],
        "context": lambda run: report_text.context(run, FACTS, NOW)[0],
        "context of a long run": lambda run: report_text.context(run, FACTS, LATE)[0],
        "context, as data": lambda run: report_text.context(run, FACTS, LATE)[1],
        "status": lambda run: report_text.status(
            run, FACTS, LATE, written=LATE - 1_200, every=False
        )[0],
        "status, as data": lambda run: report_text.status(
            run, FACTS, NOW + 4_000, written=0.0, every=False
        )[1],
        "recovery": lambda run: standing.recovery(run, LATE, NOW)[0],
        "recovery, as data": lambda run: standing.recovery(run, LATE, NOW)[1],
        "start": lambda run: standing.start_lines(run, SEEN["clean"], LATE),
        "kept": lambda run: standing.kept_lines(run, SEEN["clean"]),
        "held": standing.held_line,
        "resuming": lambda run: report_text.resuming(run)[0],
        "resuming, as data": lambda run: report_text.resuming(run)[1],
    }
    for name, run in RUNS.items():
        for text, made in of_a_run.items():
            if name != "stories done" or not text.startswith(
                "status"
            ):  # a row for each is too long
                yield f"{text}: {name}", made(run)
    yield "recovery: none", standing.recovery(None, NOW, NOW)[0]
    yield "recovery, as data: none", standing.recovery(None, NOW, NOW)[1]
    for there, of in (("a run", RUN), ("none", None)):
        for phase in QUESTIONS:
            yield f"questions {phase}: {there}", question_lines(phase, of)
        unknown = Detection((), None, "No platform fits.", ())
        yield (
            f"platform: {there}",
            told.drawn("platform", run=of, platform=platform_tables.drawn("context", unknown)),
        )


def stories() -> Iterator[tuple[str, Any]]:
    """The texts about each story."""
    for name, story in STORIES.items():
        yield f"review: {name}", report_text.review_lines(story, "a.diff", "2 files")
        retry, _ = report_text.retry(story, WorkFacts(TREE, changed=("a.py", "b.py")))
        yield f"retry: {name}", retry
    bare = report_text.review_lines(STORIES["to come"], "a.diff", "")
    yield "review: nothing changed", bare
    for count in (0, 100, 101):
        paths = [f"{n}.py" for n in range(count)]
        lines, _ = report_text.retry(at_work(), WorkFacts(changed=tuple(paths)))
        kept = [line for line in lines if not line.endswith(".py") or line in ("- 0.py", "- 99.py")]
        yield f"retry: {count} files", kept


def worktrees() -> Iterator[tuple[str, Any]]:
    """The texts about the files."""
    for name, worktree in SEEN.items():
        yield f"start: {name}", standing.start_lines(RUN, worktree, NOW)
        yield f"kept: {name}", standing.kept_lines(RUN, worktree)


_MANY = re.compile(r"([a-z])\1{19,}")


def spoken() -> Iterator[str]:
    """The lines of whole_texts.txt as the code says them now.

    The first text of a kind is there whole, of the others the lines that it has not, and how many of its
    they have not. A letter that stands there many times is written once, with its number.
    """
    first: dict[str, list[str]] = {}
    for name, text in (*runs(), *stories(), *worktrees()):
        kind = name.partition(":")[0]
        is_text = isinstance(text, (list, str))
        made = text if is_text else json.dumps(text, ensure_ascii=False, indent=1)
        rows = made if isinstance(made, list) else made.splitlines()
        lines = [_MANY.sub(lambda many: f"{many[1]}*{len(many[0])}", row) for row in rows]
        if kind in first:
            changes = [*unified_diff(first[kind], lines, n=0, lineterm="")][2:]
            left = sum(line[0] == "-" for line in changes)
            yield f"=== {name}, without {left}" if left else f"=== {name}"
            yield from (line for line in changes if line[0] == "+")
        else:
            first[kind] = lines
            yield f"=== {name}"
            yield from lines


def test_each_text_is_whole() -> None:
    """After a change on purpose: `python -m tests.run.texts.test_whole_texts` writes them anew."""
    assert "\n".join(spoken()).splitlines() == WHOLE.read_text(encoding="utf-8").splitlines()


def test_lists_are_cut_where_they_are() -> None:
    """At each of their edges."""
    assert redact.listed(["a", "b"], 2) == "a, b"
    assert redact.listed(["a", "b", "c"], 2) == "a, b and 1 more"
    assert redact.few(["a", "b", "c"], 2, "; ") == "a; b (+1 more)"
    assert told.there(["a"], "none", 1) == "there is a"
    assert told.there(["a", "b"], "none", 1) == "there are …, b"
    assert told.there([], "none") == "none"


if __name__ == "__main__":
    WHOLE.write_text("\n".join([*spoken(), ""]), encoding="utf-8")
