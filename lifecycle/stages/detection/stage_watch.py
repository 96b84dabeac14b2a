"""What the agent's calls and words show of a stage, if it emitted no marker.

TABLE has every rule: the call's subject, its outcome, and the stage. A call counts more than words about
it: if tests ran, what the agent says of them does not count.

A completion, except the closing of the issue, is stale if it is followed by an edit (Edit, Write, …) or
by a command that is known to change files (`sed -i`, `git stash pop`, `cat >file`). A green run is stale,
too, if a command of unknown effect follows it. Background commands show nothing until they end.

Imported at stops that are looked at: modules that read texts are imported only when they are needed.
"""

from __future__ import annotations

import re

from lifecycle.core.stage_names import MARKERS, Detected, Stage
from lifecycle.evidence.outcomes import CallEnd, Outcome
from lifecycle.stages.detection import call_sorts
from lifecycle.stages.detection.call_sorts import Seen, Sort
from lifecycle.stages.transcript.turn import ANY_PROJECT, OwnCommands, StageFinding, Tier, ToolCall

ANY = "*"
TEXT = "the text"
"""The `why` of a state that only the agent's words show."""

UNREAD = "a run that nobody could read"
"""The `why` if the agent says that tests pass, but what it ran does not show it."""

VERDICT = "a verdict"
"""The `why` of a state if the agent's own review ended with a verdict."""

TABLE = {
    (Sort.CLOSE, "done"): Detected.ISSUE_CLOSED,
    (Sort.TESTS, "passed"): Detected.TESTS_PASSING,
    (Sort.TESTS, ANY): Detected.IN_TESTING,
    (Sort.REVIEW, "approved"): Detected.ORACLE_APPROVED,
    (Sort.REVIEW, ANY): Detected.IN_ORACLE_REVIEW,
    (Sort.REQUIREMENTS, "approved"): Detected.REQUIREMENTS_REVIEWED,
    (Sort.CLEAR, ANY): Detected.SESSION_CLEARED,
}
"""The state that a call shows, by its subject and its outcome, or ANY outcome; without a row, IN_PROGRESS.

For what a text says, see STAGES.
"""

_ORDER = tuple(MARKERS.values())
_STALE = frozenset(_ORDER[:4])
"""The completions that an edit undoes."""


PARSED = 40
"""How many of a turn's commands are parsed, from the last one back."""

RECENT = 12
"""How many of a turn's last texts are read."""

_UNDER_WAY = (Detected.IN_ORACLE_REVIEW, Detected.IN_TESTING, Detected.IN_PROGRESS)
SHELLS = ("Bash", "PowerShell")
"""The tools that a test run is seen in."""


STAGES = {
    "closed": Detected.ISSUE_CLOSED,
    "approved": Detected.ORACLE_APPROVED,
    "tested": Detected.TESTS_PASSING,
    "satisfied": Detected.REQUIREMENTS_REVIEWED,
    "coded": Detected.CODING_COMPLETE,
    "cleared": Detected.SESSION_CLEARED,
}
"""The stage that each claim of `own_words` completes."""

OPEN = {"tested": Detected.IN_TESTING, "approved": Detected.IN_ORACLE_REVIEW}
"""The stage that is under way if a text says that this is still open."""


def said(text: str, about: tuple[str, ...] = (), heard: Stage | None = None) -> list[Detected]:
    """The stages that the text says are completed, the furthest first; then those it says are under way.

    Args:
        text: the agent's text.
        about: words for the turn's other subjects; after a request for a review, for example,
            "approved" need not say what was approved.
        heard: the only stage whose completion is looked for; None for any.
    """
    from lifecycle.evidence.words import own_words

    wanted = next((name for name, state in STAGES.items() if heard and state is MARKERS[heard]), "")
    claims, still = own_words.said(text, about, wanted)
    return [*(STAGES[name] for name in claims), *(OPEN[name] for name in still)]


def infer(
    steps: tuple[str | ToolCall, ...],
    *,
    asked: Stage | None = None,
    heard: Stage | None = None,
    own: OwnCommands = ANY_PROJECT,
    is_cut: bool = False,
) -> StageFinding:
    """The state that the steps of a turn show: a completed stage, one under way, or UNKNOWN.

    Args:
        steps: texts and calls, in their order.
        asked: the stage in force. Only its own completion and the closing of the issue count; a green
            test run in the middle of coding is work. None: the furthest completion counts.
        heard: the stage that words alone can complete; None: `asked`, or else any.
        own: the project's own commands.
        is_cut: the stage in force is not known yet: the completion of any stage counts.
    """
    is_reading = is_cut or asked is Stage.REQUIREMENTS_REVIEW
    watch = Watch((call_sorts.REQUIREMENTS,) if is_reading else (), heard or asked)
    sorts = _sorts(steps, own, heard or asked)
    recent = [place for place, step in enumerate(steps) if isinstance(step, str)][-RECENT:]
    for place, step in enumerate(steps):
        if not isinstance(step, str):
            watch.see(step, sorts[place])
        elif place in recent:
            watch.hear(step)
    return watch.found(asked)


class Watch:
    """What was seen so far, in the order of the steps; `about` are the subjects of words alone."""

    def __init__(self, about: tuple[str, ...] = (), heard: Stage | None = None) -> None:
        self.about, self.heard = about, heard
        self.reviewed: Detected | None = None  # the subject of the last review
        self.denied: set[Detected] = set()  # reviews that asked for changes
        self.has_shell = self.is_unread = self.has_failed = False
        self.states: dict[Detected, tuple[str, tuple[str, ...]]] = {}
        self.by_call: set[Detected] = set()
        self.under_way: dict[Detected, str] = {}

    def see(self, call: ToolCall, seen: Seen) -> None:
        """Take in a call: apply its row of TABLE, and drop the completions that it undoes."""
        sort, outcome, subjects, name = seen
        state = TABLE.get((sort, outcome)) or TABLE.get((sort, ANY), Detected.IN_PROGRESS)
        self.is_unread = False
        if sort is Sort.EDIT and call.outcome is not CallEnd.FAILED:
            self._forget(_STALE)
            # That review was of the earlier files.
            is_old = self.reviewed is Detected.ORACLE_APPROVED
            self.under_way |= {Detected.IN_ORACLE_REVIEW: VERDICT} if is_old else {}
            self.under_way.pop(Detected.IN_TESTING, None)
        if sort is Sort.TESTS:
            self._forget({Detected.TESTS_PASSING})
            self.under_way.pop(Detected.IN_TESTING, None)
            self.by_call.add(Detected.IN_TESTING)
            self.has_failed = outcome == Outcome.FAILED or call.outcome is not CallEnd.OK
        if sort in _REVIEWS:
            self.reviewed, about = _REVIEWS[sort]
            self._forget({self.reviewed})
            self.denied.discard(self.reviewed)
            self.by_call.discard(self.reviewed)
            self.by_call |= {self.reviewed} if call_sorts.has_answered(call) else set()
            self.about += (about,)
            if outcome in ("changes", str(CallEnd.FAILED)):
                self.denied.add(self.reviewed)
        if sort is Sort.SHOW:
            self.about += (call_sorts.REQUIREMENTS,)
        if sort is Sort.CLOSE:
            self._forget({Detected.ISSUE_CLOSED} if outcome == call_sorts.REOPENED else set())
            self.by_call.add(Detected.ISSUE_CLOSED)
        self.has_shell = self.has_shell or call.tool in SHELLS
        if call.tool:
            self.under_way.setdefault(Detected.IN_PROGRESS, "tools")
            self._forget({Detected.SESSION_CLEARED})
        if state.is_completion:
            self._complete(state, (name, subjects))
        elif call.tool or sort is not Sort.WORK:
            self.under_way[state] = name

    def hear(self, text: str) -> None:
        """Take in a text, unless a call says otherwise: a formal verdict, else plain words."""
        from lifecycle.evidence.words import own_words, word_tables

        lower, words = text.lower(), word_tables.table("words/hints")["claims"]
        is_there = any(word in lower for word in words)
        if not is_there and TEXT not in {w for w, _ in self.states.values()}:
            return
        verdict = own_words.verdict(text)
        reviewed = self._reviewed(lower) if verdict else None
        if reviewed is not None:
            if verdict != "approved":
                self._forget({reviewed})
                is_oracle = reviewed is Detected.ORACLE_APPROVED
                state = Detected.IN_ORACLE_REVIEW if is_oracle else Detected.IN_PROGRESS
                self.under_way[state] = VERDICT
            elif reviewed not in self.denied:
                self._complete(reviewed, (VERDICT, ()))
            return
        claimed = said(text, self.about, self.heard)
        by_text = {state for state, (why, _) in self.states.items() if why == TEXT}
        self._forget({state for state in by_text if own_words.takes_back(text)})
        for state in claimed:
            is_old = state is Detected.ORACLE_APPROVED and VERDICT in self.under_way.values()
            is_seen = state is Detected.TESTS_PASSING and self.has_shell
            if state is Detected.TESTS_PASSING:
                self.is_unread = is_seen and not self.has_failed
            if is_old or is_seen or state in self.by_call or state in self.denied:
                continue
            if state.is_completion:
                self._complete(state, self.states.get(state, (TEXT, ())))
            else:
                self.under_way[state] = TEXT
                if state is Detected.IN_ORACLE_REVIEW:
                    self._forget({Detected.ORACLE_APPROVED})

    def _reviewed(self, text: str) -> Detected | None:
        """The subject of the agent's own verdict: by the last review, the stage in force, or its words."""
        if self.reviewed is not None:
            return self.reviewed
        if self.heard is not None:
            return next((of for of, _ in _REVIEWS.values() if of is MARKERS[self.heard]), None)
        if re.search(call_sorts.REQUIREMENTS_REVIEW, text):
            return Detected.REQUIREMENTS_REVIEWED
        return Detected.ORACLE_APPROVED if re.search(r"\b(?:oracle|review)", text) else None

    def found(self, asked: Stage | None) -> StageFinding:
        """The furthest completion that counts, else what is under way."""
        counts = set(_ORDER) if asked is None else {MARKERS[asked]}
        if asked is not Stage.NEXT_TASK:
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
        return StageFinding(Detected.UNKNOWN)

    def _complete(self, state: Detected, by: tuple[str, tuple[str, ...]]) -> None:
        self.states[state] = by
        if state is Detected.ORACLE_APPROVED:
            self.under_way.pop(Detected.IN_ORACLE_REVIEW, None)

    def _forget(self, states: frozenset[Detected] | set[Detected]) -> None:
        for state in states:
            self.states.pop(state, None)


def _sorts(
    steps: tuple[str | ToolCall, ...], own: OwnCommands, asked: Stage | None
) -> dict[int, Seen]:
    """The subject of each call, by its position.

    Calls are judged from the last one back: once a test run is found, earlier ones change nothing. A
    command that is not worth parsing counts as work, whatever it was.
    """
    open_, left = {Sort.TESTS, Sort.CLOSE, Sort.SHOW, Sort.REVIEW, Sort.EDIT}, PARSED
    sorts: dict[int, Seen] = {}
    calls = {place: step for place, step in enumerate(steps) if not isinstance(step, str)}
    for place, call in reversed(calls.items()):
        if call.tool == "Bash":
            if left <= 0 or not call_sorts.hinted(call.text, own) & open_:
                sorts[place] = (Sort.WORK, "", (), call.tool)
                continue
            left -= 1
        seen = sorts[place] = call_sorts.classify(call, own, asked)
        if seen[0] is Sort.TESTS:
            open_.discard(Sort.TESTS)
            if seen[1] == Outcome.PASSED:
                from lifecycle.evidence.line_effects import may_change_files

                work = [n for n in sorts if sorts[n][0] is Sort.WORK and calls[n].tool == "Bash"]
                edits = (n for n in work if may_change_files(calls[n].text))
                sorts |= dict.fromkeys(edits, _EDITED)
    return sorts


_EDITED: Seen = (Sort.EDIT, "", (), "a command that may have changed files")


_REVIEWS = {
    Sort.REVIEW: (Detected.ORACLE_APPROVED, call_sorts.REVIEW),
    Sort.REQUIREMENTS: (Detected.REQUIREMENTS_REVIEWED, call_sorts.REQUIREMENTS),
}
"""What each kind of review completes, and the subject of a turn after it ran."""
