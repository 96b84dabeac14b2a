"""What the agent's tools show of a stage, where it said no marker.

TABLE is the whole of it: the tool, what its text looks like, how it came out, and the stage. A call
beats a word about it: if tests ran, what the agent says of them does not count.

A completion that is followed by an edit (Edit, Write, …) is stale, but for the closing of the issue. So is
one that a command follows which is known to change files (`sed -i`, `git stash pop`, `cat >file`), and a
green run that one follows of which that is not known. Background commands show nothing until they end.

Imported at stops that are looked at: what reads command lines and texts is imported where it is needed.
"""

from __future__ import annotations

import posixpath
import re
from enum import StrEnum
from functools import cache

from lifecycle.core.stage_names import MARKERS, Detected, Stage
from lifecycle.evidence.outcomes import Outcome
from lifecycle.evidence.printed_output import CallEnd
from lifecycle.stages.transcript.turn import StageFinding, Tier, ToolCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import TypeAlias

    from lifecycle.evidence import command_lines
    from lifecycle.evidence.test_runs import SuiteRun
    from lifecycle.trackers import command_signs


class Sort(StrEnum):
    """What a call is about."""

    CLOSE = "closes a task"
    SHOW = "shows a task"
    TESTS = "runs tests"
    REVIEW = "asks for a review"
    REQUIREMENTS = "reviews the requirements"
    CLEAR = "clears the session"
    EDIT = "edits a file"
    WORK = "does anything else"


if TYPE_CHECKING:
    Seen: TypeAlias = tuple[Sort, str, tuple[str, ...], str]
    """What a call is about, how it came out, the tasks it names, and its name for the log."""

ANY = "*"
TEXT = "the text"
"""What a state was found in that the agent only told of."""

UNREAD = "a run that nobody could read"
"""What the agent tells of, where it says that tests pass, and what it ran does not show it."""

VERDICT = "a verdict"
"""What it was found in if a review of the agent's own ended with one."""

REOPENED = "reopened"
"""How a command came out that takes back that a task is closed."""

_REVIEWERS = "Skill SlashCommand Agent Task Bash typed"

TABLE: tuple[tuple[str, Sort, str, Detected], ...] = (
    ("Bash", Sort.CLOSE, "done", Detected.ISSUE_CLOSED),
    ("Bash", Sort.TESTS, "passed", Detected.TESTS_PASSING),
    ("Bash", Sort.TESTS, ANY, Detected.IN_TESTING),
    (_REVIEWERS, Sort.REVIEW, "approved", Detected.ORACLE_APPROVED),
    (_REVIEWERS, Sort.REVIEW, ANY, Detected.IN_ORACLE_REVIEW),
    (_REVIEWERS, Sort.REQUIREMENTS, "approved", Detected.REQUIREMENTS_REVIEWED),
    (_REVIEWERS, Sort.REQUIREMENTS, ANY, Detected.IN_PROGRESS),
    ("Edit Write MultiEdit NotebookEdit Bash", Sort.EDIT, ANY, Detected.IN_PROGRESS),
    ("SlashCommand typed", Sort.CLEAR, ANY, Detected.SESSION_CLEARED),
    (ANY, Sort.SHOW, ANY, Detected.IN_PROGRESS),
    (ANY, Sort.WORK, ANY, Detected.IN_PROGRESS),
)
"""(tools, what the call is about, how it came out, the state); the first row that fits counts.

"typed" is a command that a person typed; `*` is anything. What a text says is `stage_words.STAGES`.
"""

EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})

_ORDER = tuple(MARKERS.values())
_STALE = frozenset(_ORDER[:4])
"""What an edit makes undone."""


@cache
def hints() -> dict[Sort, tuple[str, ...]]:
    """What a command has that may be about one of these: without any it is not taken apart."""
    from lifecycle.evidence.words import word_tables

    listed = word_tables.table("words/hints")
    return {sort: tuple(listed[sort.name]) for sort in Sort if sort.name in listed}


PARSED = 40
"""How many of a turn's commands are taken apart, from the last one back."""

WORDS = (
    *("clos", "approv", "lgtm", "pass", "succe", "green", "satisf", "met", "verif", "fulfil"),
    *("complete", "done", "finish", "clear", "fail", "reject", "request", "await", "worked"),
    *("implemented", "coded", "written", "in place", "verdict", "addressed"),
    *("confirmed", "good to me", "meets", "cover"),
)
"""A text without any of these says nothing of a stage."""

RECENT = 12
"""How many of a turn's last texts are listened to."""

_UNDER_WAY = (Detected.IN_ORACLE_REVIEW, Detected.IN_TESTING, Detected.IN_PROGRESS)
_REVIEW = (
    r"(?i)^/\S*review\b|^[\w:-]*(?:review|oracle)[\w-]* |\b(?:oracle|code)[- ]review\b|\breview "
    r"(?:the|this|my|our|these|all|every)\b[^.\n]*\b(?:diff|changes?|code|branch|commits?|patch"
    r"|pull request|implementation)\b"
)
_REQUIREMENTS_REVIEW = r"(?i)\brequirements?[- ]review"
"""Made a pattern where a call may ask for a review: most turns have none."""
REVIEW = "review"
REQUIREMENTS = "every requirement"
"""What a turn can be about, for `stage_words.said`."""

SHELLS = ("Bash", "PowerShell")
"""The tools that a test run is seen in."""

_VERDICT = 500
"""Characters of an agent's task in which it is told that it reviews."""


def infer(
    steps: tuple[str | ToolCall, ...],
    *,
    asked: Stage | None = None,
    heard: Stage | None = None,
    tests: tuple[str, ...] = (),
    review: str = "",
    runners: tuple[Mapping[str, object], ...] = (),
    is_cut: bool = False,
    root: str = "",
) -> StageFinding:
    """What the steps of a turn come to: a completed stage, one under way, or UNKNOWN.

    Args:
        steps: texts and calls, in their order.
        asked: the stage in force. Its own completion counts then, and that the issue was closed; a
            green test run in the middle of coding is work. None: the furthest completion counts.
        heard: the stage whose completion counts in words alone; None: `asked`, or else any.
        tests: the project's own test commands.
        review: the project's own review command.
        runners: the project's own rows of the table of runners, as they stand in its file.
        is_cut: nobody knows yet which stage is in force: what completes any of them counts.
        root: the worktree's top folder; "" where nobody knows it.
    """
    is_reading = is_cut or asked is Stage.REQUIREMENTS_REVIEW
    watch = Watch(is_review_of_requirements=is_reading, heard=heard or asked)
    sorts = _sorts(steps, tests, review, heard or asked, runners, root)
    left = sum(isinstance(step, str) for step in steps)
    for place, step in enumerate(steps):
        if not isinstance(step, str):
            watch.see(step, sorts[place])
            continue
        if left <= RECENT:
            watch.hear(step)
        left -= 1
    return watch.found(asked)


class Watch:
    """What was seen so far, in the order of the steps."""

    def __init__(self, *, is_review_of_requirements: bool, heard: Stage | None = None) -> None:
        self.heard = heard
        self.reviewed: Detected | None = None  # what the last review was about
        self.denied: set[Detected] = set()  # what it asked changes of
        self.has_shell = self.is_unread = self.has_failed = False
        self.states: dict[Detected, tuple[str, tuple[str, ...]]] = {}
        self.by_call: set[Detected] = set()
        self.under_way: dict[Detected, str] = {}
        self.about: tuple[str, ...] = (REQUIREMENTS,) if is_review_of_requirements else ()
        self.is_closed = False
        self.has_closed_badly = False
        self.has_worked = False

    def see(self, call: ToolCall, seen: Seen) -> None:
        """A call: its row of TABLE, and what that makes undone."""
        sort, outcome, subjects, name = seen
        state = _row(call.tool or "typed", sort, outcome)
        self.is_unread = False
        if sort is Sort.EDIT and call.outcome is not CallEnd.FAILED:
            self._forget(_STALE)
            self.under_way.pop(Detected.IN_TESTING, None)
        if sort is Sort.TESTS:
            self._forget({Detected.TESTS_PASSING})
            self.under_way.pop(Detected.IN_TESTING, None)
            self.by_call |= {Detected.TESTS_PASSING, Detected.IN_TESTING}
            self.has_failed = outcome == Outcome.FAILED or call.outcome is not CallEnd.OK
        if sort in _REVIEWS:
            self.reviewed, about = _REVIEWS[sort]
            self._forget({self.reviewed})
            self.denied.discard(self.reviewed)
            self.about += (about,)
            if outcome in ("changes", str(CallEnd.FAILED)):
                self.denied.add(self.reviewed)
        if sort is Sort.SHOW:
            self.about += (REQUIREMENTS,)
        if sort is Sort.CLOSE:
            self._forget({Detected.ISSUE_CLOSED} if outcome == REOPENED else set())
            self.is_closed = self.is_closed or outcome == "done"
            self.has_closed_badly = outcome != "done"
        self.has_shell = self.has_shell or call.tool in SHELLS
        if call.tool:
            self.has_worked = True
            self._forget({Detected.SESSION_CLEARED})
        if state.is_completion:
            self._complete(state, (name, subjects))
        elif call.tool or sort is not Sort.WORK:
            self.under_way[state] = name

    def hear(self, text: str) -> None:
        """A text, where no call says otherwise: a verdict in its form, else words."""
        lower = text.lower()
        if not any(word in lower for word in WORDS) and TEXT not in {
            w for w, _ in self.states.values()
        }:
            return
        from lifecycle.stages.detection import stage_words

        verdict = stage_words.verdict(text)
        reviewed = self._reviewed(lower) if verdict else None
        if reviewed is not None:
            self._judged(reviewed, verdict)
            return
        said = stage_words.said(text, self.about)
        told = {state for state, (why, _) in self.states.items() if why == TEXT}
        self._forget(told if told and stage_words.takes_back(text) else set())
        for state in said:
            is_denied = state is Detected.ISSUE_CLOSED and self.has_closed_badly
            is_seen = state is Detected.TESTS_PASSING and self.has_shell
            if state is Detected.TESTS_PASSING:
                self.is_unread = (is_seen or state in self.by_call) and not self.has_failed
            if is_denied or is_seen or state in self.by_call or state in self.denied:
                continue
            if state.is_completion:
                if self.heard is None or state is MARKERS[self.heard]:
                    self._complete(state, self.states.get(state, (TEXT, ())))
            else:
                self.under_way[state] = TEXT
                if state is Detected.IN_ORACLE_REVIEW:
                    self._forget({Detected.ORACLE_APPROVED})

    def _reviewed(self, text: str) -> Detected | None:
        """What a verdict of the agent's own is about: the last review, the stage in force, its words."""
        if self.reviewed is not None:
            return self.reviewed
        if self.heard is not None:
            return next((of for of, _ in _REVIEWS.values() if of is MARKERS[self.heard]), None)
        if re.search(_REQUIREMENTS_REVIEW, text):
            return Detected.REQUIREMENTS_REVIEWED
        return Detected.ORACLE_APPROVED if re.search(r"\b(?:oracle|review)", text) else None

    def _judged(self, reviewed: Detected, verdict: str) -> None:
        if verdict == "approved" and reviewed not in self.denied:
            self._complete(reviewed, (VERDICT, ()))
        elif verdict != "approved":
            self._forget({reviewed})
            is_oracle = reviewed is Detected.ORACLE_APPROVED
            state = Detected.IN_ORACLE_REVIEW if is_oracle else Detected.IN_PROGRESS
            self.under_way[state] = VERDICT

    def found(self, asked: Stage | None) -> StageFinding:
        """The furthest completion that counts, else what is under way."""
        counts = set(_ORDER) if asked is None else {MARKERS[asked]}
        if asked is not Stage.NEXT_TASK and self.is_closed:
            counts.add(Detected.ISSUE_CLOSED)
        for state in reversed(_ORDER):
            if state in self.states and state in counts:
                why, subjects = self.states[state]
                return StageFinding(state, Tier.INFERENCE, why, subjects)
        if self.is_unread and asked is Stage.TESTING:
            return StageFinding(Detected.UNKNOWN, why=UNREAD)
        for state in _UNDER_WAY:
            if state in self.under_way:
                return StageFinding(state, Tier.INFERENCE, self.under_way[state])
        if self.has_worked:
            return StageFinding(Detected.IN_PROGRESS, Tier.INFERENCE, "tools")
        return StageFinding(Detected.UNKNOWN)

    def _complete(self, state: Detected, by: tuple[str, tuple[str, ...]]) -> None:
        self.states[state] = by
        if state is Detected.ORACLE_APPROVED:
            self.under_way.pop(Detected.IN_ORACLE_REVIEW, None)

    def _forget(self, states: frozenset[Detected] | set[Detected]) -> None:
        for state in states:
            self.states.pop(state, None)


def _sorts(
    steps: tuple[str | ToolCall, ...],
    tests: tuple[str, ...],
    review: str,
    asked: Stage | None,
    runners: tuple[Mapping[str, object], ...],
    root: str,
) -> dict[int, Seen]:
    """What each call is about, by its place.

    Judged from the last one back: once a test run was found, those before it change nothing, and so it
    is with a task that was closed. A command that is not worth it is work, whatever it was.
    """
    open_, left = {Sort.TESTS, Sort.CLOSE, Sort.SHOW, Sort.REVIEW, Sort.EDIT}, PARSED
    sorts: dict[int, Seen] = {}
    hints = (*tests, *commands_of(runners))
    for place in range(len(steps) - 1, -1, -1):
        call = steps[place]
        if isinstance(call, str):
            continue
        if call.tool == "Bash":
            is_worth = left > 0 and bool(hinted(call.text, hints, review) & open_)
            if not is_worth:
                sorts[place] = (Sort.WORK, "", (), call.tool)
                continue
            left -= 1
        seen = sorts[place] = classify(call, tests, review, asked, runners, root)
        if seen[0] is Sort.TESTS:
            open_ -= {Sort.TESTS, Sort.EDIT}
            if seen[1] == Outcome.PASSED:
                sorts |= {
                    later: _EDITED for later in sorts if _may_edit(steps[later], sorts[later])
                }
        if seen[0] is Sort.CLOSE and seen[1] == "done":
            open_.discard(Sort.CLOSE)
    return sorts


_EDITED: Seen = (Sort.EDIT, "", (), "a command that may have changed files")


def _may_edit(step: str | ToolCall, seen: Seen) -> bool:
    """True for a command behind a green run of which nobody knows that it leaves the files as they are."""
    if isinstance(step, str) or step.tool != "Bash" or seen[0] is not Sort.WORK:
        return False
    from lifecycle.evidence import command_lines, test_runs

    every = command_lines.commands(step.text)
    return not all(test_runs.is_beside(each) and each.words[0] != "tee" for each in every)


def classify(
    call: ToolCall,
    tests: tuple[str, ...] = (),
    review: str = "",
    asked: Stage | None = None,
    runners: tuple[Mapping[str, object], ...] = (),
    root: str = "",
) -> Seen:
    """What a call is about, how it came out, the tasks it names, and its name for the log.

    An agent that was asked in other words, and ends with a verdict, reviewed what the stage `asked` for.
    """
    if call.tool in EDITS:
        return Sort.EDIT, str(call.outcome), (), call.tool
    sort = _reviewing(call, review, asked)
    if sort is not None:
        return sort, _verdict(call), (), call.text.split("\n")[0][:60]
    if call.text.split(" ")[0] == "/clear" and call.tool in ("", "SlashCommand"):
        return Sort.CLEAR, str(call.outcome), (), "/clear"
    own = (*tests, *commands_of(runners))
    hints = hinted(call.text, own) if call.tool == "Bash" else set()
    if not hints:
        return Sort.WORK, "", (), call.tool or call.text[:60]
    from lifecycle.evidence import command_lines, reading, test_runs
    from lifecycle.evidence.runners import runner_table
    from lifecycle.trackers import command_signs

    verbs = _verbs(call.text) if hints & {Sort.CLOSE, Sort.SHOW} else {}
    closes = verbs.get(command_signs.CLOSE)
    if command_signs.REOPEN in verbs and call.outcome is CallEnd.OK:
        return Sort.CLOSE, REOPENED, (), call.tool
    if closes is not None:
        is_told = re.search(r"(?i)\bclosed\b", call.output) is not None
        is_done = (is_told or _decides(call.text)) and call.outcome is CallEnd.OK
        is_done = is_done and not command_signs.is_denied(call.output)
        return Sort.CLOSE, "done" if is_done else str(call.outcome), closes.ids, closes.name
    rows = runner_table.rows(runners) if Sort.TESTS in hints else ()
    run = test_runs.run_in(call.text, tests, rows) if rows else None
    if run is not None:
        outcome = reading.read_run(run, call.outcome, call.output, rows=rows).outcome
        known = str(outcome) if run.is_suite else "part"
        known = "elsewhere" if _leads_away(run, root) else known
        return Sort.TESTS, "stale" if any(map(_changes_files, run.behind)) else known, (), run.name
    if Sort.EDIT in hints and any(map(_changes_files, command_lines.commands(call.text))):
        return Sort.EDIT, str(call.outcome), (), call.tool
    return (Sort.SHOW if command_signs.SHOW in verbs else Sort.WORK), "", (), "tools"


def _leads_away(run: SuiteRun, root: str) -> bool:
    """True unless all that a line's runs are about is the worktree below `root`; "": nobody knows that."""
    from lifecycle.evidence.command_lines import listed

    top = here = root or "/-"
    for path, moves in run.places(top):
        there = posixpath.normpath(posixpath.join(here, path))
        is_elsewhere = not f"{there}/".startswith(f"{top}/")
        if not root and path.startswith("/"):
            is_elsewhere = path.startswith(tuple(listed("elsewhere")))
        if is_elsewhere or path[:1] in ("", "$", "~"):
            return True
        here = there if moves else here
    return False


def _changes_files(command: command_lines.Command) -> bool:
    """True for a command that is known to change files of the worktree."""
    from lifecycle.evidence.command_lines import listed

    name, rest = command.words[0], command.words[1:]
    if name == "git":
        moves = "--hard" in rest or not listed("moving").isdisjoint(rest[:1])
        return moves and listed("staying").isdisjoint(rest)
    if name in ("sed", "perl"):
        return any(re.match(r"--in-place|-[a-z]*i", word) for word in rest)
    pair = {name, f"{name}|{''.join(rest[:1])}"}
    if not listed("formatting").isdisjoint(pair) and listed("looking only").isdisjoint(rest):
        return True
    if not listed("linters").isdisjoint(pair) and not listed("fixing").isdisjoint(rest):
        return True
    elsewhere = tuple(listed("elsewhere"))
    if name in listed("changing"):
        plain = [word.rstrip("/") for word in rest if not word.startswith("-")]
        return not plain or not all(w.startswith(elsewhere) or w in listed("caches") for w in plain)
    return name in listed("writing") and any(not f.startswith(elsewhere) for f in command.files)


def commands_of(runners: tuple[Mapping[str, object], ...]) -> tuple[str, ...]:
    """How the runs of a project's own runners begin."""
    listed = (row.get("commands") for row in runners)
    return tuple(str(name) for names in listed if isinstance(names, list) for name in names)


def _row(tool: str, sort: Sort, outcome: str) -> Detected:
    """The state of the first row that fits."""
    for tools, about, came_out, state in TABLE:
        if about is sort and came_out in (ANY, outcome) and (tools == ANY or tool in tools.split()):
            return state
    return Detected.IN_PROGRESS


def hinted(line: str, tests: tuple[str, ...] = (), review: str = "") -> set[Sort]:
    """What a command line can be about, as far as it can be told without taking it apart."""
    sorts = {sort for sort, listed in hints().items() if any(hint in line for hint in listed)}
    own = (max(command.split(), key=len) for command in tests if command.strip())
    if any(word in line for word in own):
        sorts.add(Sort.TESTS)
    if review.strip() and review.rsplit(maxsplit=1)[-1] in line:
        sorts.add(Sort.REVIEW)
    return sorts


def _decides(line: str) -> bool:
    """True if the line ends with status 0 only where its command at the tracker did."""
    from lifecycle.evidence.command_lines import commands
    from lifecycle.trackers import command_signs

    return any(c.is_last for c in commands(line) if command_signs.read(c.words) is not None)


def _verbs(line: str) -> dict[str, command_signs.Sign]:
    """By what is done at a tracker, the last command of the line that does it."""
    from lifecycle.evidence.command_lines import commands
    from lifecycle.trackers import command_signs

    signs = (command_signs.read(command.words) for command in commands(line))
    return {sign.verb: sign for sign in signs if sign is not None}


def _reviewing(call: ToolCall, review: str, asked: Stage | None) -> Sort | None:
    """What kind of review the call asks for; None if for none."""
    is_there = call.tool in ("", "Skill", "SlashCommand", "Agent", "Task", "Bash")
    head = call.text.split(" ")[0] if call.tool != "Bash" else ""
    is_agents = call.tool in ("Agent", "Task")
    words = call.text[:_VERDICT] if is_agents else head
    if is_there and words and re.search(_REQUIREMENTS_REVIEW, words) and head != review:
        return Sort.REQUIREMENTS if is_agents or words.startswith("/") else None
    if _is_review(call, review):
        return Sort.REVIEW
    from lifecycle.stages.detection import stage_words

    if not (is_agents and stage_words.verdict(call.output)):
        return None
    return Sort.REQUIREMENTS if asked is Stage.REQUIREMENTS_REVIEW else Sort.REVIEW


def _is_review(call: ToolCall, review: str) -> bool:
    if call.tool in ("", "Skill", "SlashCommand"):
        own = review.split(" ", maxsplit=1)[0]
        return call.text.split(" ")[0] == own != "" or re.match(_REVIEW, call.text) is not None
    if call.tool in ("Agent", "Task"):
        return re.search(_REVIEW, call.text[:_VERDICT]) is not None
    mine = tuple(review.split())
    if call.tool != "Bash" or not mine or mine[-1] not in call.text:
        return False
    from lifecycle.evidence.command_lines import commands

    return any(command.words[: len(mine)] == mine for command in commands(call.text))


def _verdict(call: ToolCall) -> str:
    """How a review came out: "approved", "changes", "open", or how its call ended."""
    if call.outcome is not CallEnd.OK:
        return str(call.outcome)
    from lifecycle.stages.detection import stage_words

    verdict = stage_words.verdict(call.output)
    if verdict:
        return verdict
    lower = call.output.lower()
    if not any(word in lower for word in WORDS):
        return "open"
    if Detected.IN_ORACLE_REVIEW in stage_words.said(call.output, (REVIEW,)):
        return "changes"
    return "approved" if stage_words.approves(call.output) else "open"


_REVIEWS = {
    Sort.REVIEW: (Detected.ORACLE_APPROVED, REVIEW),
    Sort.REQUIREMENTS: (Detected.REQUIREMENTS_REVIEWED, REQUIREMENTS),
}
"""What each kind of review completes, and what a turn is about once it ran."""
