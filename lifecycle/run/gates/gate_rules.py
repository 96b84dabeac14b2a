"""Which records show that a gate passed, for a story or for the run, on the current tree.

What is not recorded is pending, and a record is valid only for its own tree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from lifecycle.core.redact import listed
from lifecycle.evidence.file_kinds import FileKind, kind_of
from lifecycle.evidence.outcomes import NOT_INSTALLED, Outcome
from lifecycle.evidence.records import RunRecord
from lifecycle.run import table
from lifecycle.run.gates.work_facts import WorkFacts
from lifecycle.run.state import GatePart, GateRecord, Run, Story, newest
from lifecycle.run.texts.told import sentence

HOLDS = frozenset({table.CheckState.PASS, table.CheckState.NOT_APPLICABLE})
"""The states of a check that block nothing."""


JUDGED = frozenset({table.CriterionState.MET, table.CriterionState.MANUAL})
"""The states of a criterion with which its story can be completed."""

WITHOUT_STORY = "there is no story (lifecycle run add-story)"
"""What a run lacks before its design is judged, and at its end."""

_WAIVABLE = (FileKind.DOCS, FileKind.CONFIGURATION)


def review_state(story: Story, check: table.StoryCheck, tree: str | None) -> table.CheckState:
    """PASS or FAIL by the last review of this kind on this tree (None: any); PENDING without one."""
    review = newest(story.reviews, check, tree)
    if review is None:
        return table.CheckState.PENDING
    return table.CheckState.PASS if review.approves else table.CheckState.FAIL


def check_states(story: Story, tree: str) -> dict[table.StoryCheck, table.CheckState]:
    """The state of each check of a story on a tree; all are pending if the tree is not known."""
    states = {check: review_state(story, check, tree) for check in table.StoryCheck}
    for check in table.SHOWN_BY.keys() - table.ROLES:
        record = newest(story.gates, table.SHOWN_BY[check], tree)
        states[check] = table.CheckState.PENDING if record is None else record.state
    if not story.security:
        states[table.StoryCheck.SECURITY_CLEARED] = table.CheckState.NOT_APPLICABLE
    if story.unneeded:
        states[table.StoryCheck.COVERAGE_MET] = table.CheckState.NOT_APPLICABLE
    return states


def missing_for(story: Story, facts: WorkFacts) -> tuple[str, ...]:
    """What a story lacks before its completion, one clause each; () if it may be completed.

    This is the one place that knows the rule.

    Args:
        story: the story.
        facts: the worktree's facts, with `changed` since the story's base.
    """
    lacks = [*story_lacks(story), *_unproven(story, facts)]
    for number, stands in unmet(story, facts.tree):
        lacks.append(sentence("criterion-open", story=story, number=number, stands=stands))
    if not facts.tree:
        return (*lacks, "git does not say what the files are, so nothing is shown for them")
    for check, state in check_states(story, facts.tree).items():
        if state in HOLDS:
            continue
        gate, by = table.SHOWN_BY[check], table.ROLES.get(check)
        name = f"{gate} ({check})" if gate is not None else check
        way = f"review {story.id} --by {by} …" if by else f"gate {gate} {story.id}"
        stands = "FAILED" if state is table.CheckState.FAIL else "has no PASSED record"
        lacks.append(f"{name} {stands} on the current tree (lifecycle run {way})")
    if facts.uncommitted:
        lacks.append(sentence("uncommitted", paths=listed(facts.uncommitted), story=story.id))
    return tuple(lacks)


def _unproven(story: Story, facts: WorkFacts) -> list[str]:
    """What the proof lacks that a story was made test first, or that it needed no change."""
    if story.unneeded:
        changed = listed(facts.changed)
        return [f"no change was said to be needed, and {changed} changed"] if changed else []
    lacks = [sentence("nothing-changed", story=story)] if facts.tree and not facts.changed else []
    if not story.waived:
        red, green = story.red, story.green
        if red is None:
            lacks.append(f"RED is not proven (lifecycle run tdd-phase {story.id} red)")
        elif green is None:
            lacks.append(f"GREEN is not proven (lifecycle run tdd-phase {story.id} green)")
        elif green.tree != facts.tree:
            lacks.append(sentence("green-elsewhere", story=story))
    elif not story.waived_on and (code := tested_among(facts.changed)):
        rule = sentence("refactoring")
        lacks.append(f"its RED and GREEN were waived, and {listed(code)} changed ({rule})")
    return lacks


def tested_among(paths: Iterable[str]) -> list[str]:
    """Those of the paths that are neither documents nor configuration: no waiver covers them."""
    return [path for path in paths if kind_of(path) not in _WAIVABLE]


def unmet(story: Story, tree: str) -> list[tuple[int, str]]:
    """The criteria that were not found met on this tree: the number and the state of each."""
    rows = []
    for number, criterion in enumerate(story.criteria, 1):
        is_met, is_here = criterion.state is table.CriterionState.MET, criterion.tree in ("", tree)
        if is_met and tree and not is_here:
            rows.append((number, "was met on another tree"))
        elif criterion.state not in JUDGED:
            rows.append((number, f"is {criterion.state}"))
    return rows


def story_lacks(story: Story) -> tuple[str, ...]:
    """What a story's own design lacks before it is developed, one clause each."""
    design = {"acceptance criteria": story.criteria, "design": story.design.strip()}
    lacking = [name for name, part in {**design, "files": story.files}.items() if not part]
    return (f"{story.id} has no {', no '.join(lacking)}",) if lacking else ()


def design_lacks(run: Run) -> tuple[str, ...]:
    """What the design lacks for G1, one clause each; () if it is complete."""
    if not run.stories:
        return (WITHOUT_STORY,)
    lacks = [clause for story in run.stories for clause in story_lacks(story)]
    when = (table.ClarificationPhase.PRE_ANALYSIS, table.ClarificationPhase.PRE_PLAN)
    asked = {entry.phase for entry in run.clarifications}
    lacks += [sentence("clarification-lacks", phase=phase) for phase in when if phase not in asked]
    return (*lacks, *open_questions(run))


def open_questions(run: Run) -> tuple[str, ...]:
    """The unanswered questions, one clause each."""
    unanswered = (entry for entry in run.clarifications if not entry.answer.strip())
    return tuple(sentence("question-open", entry=entry) for entry in unanswered)


def part_of(
    record: RunRecord, tree: str, threshold: float | None = None, earlier: Iterable[RunRecord] = ()
) -> GatePart:
    """The part of a gate's record for one run of a check.

    A check that passed and changed files, as one that formats does, has to be run once more: it is pending.
    If it changes what it was run on or left before, running it again does not help, so it fails.

    Args:
        record: the record of that run.
        tree: the tree that the gate is about.
        threshold: percent that coverage has to reach; None for no threshold.
        earlier: the records of the check's runs before.
    """
    state = table.CheckState.PASS if record.outcome is Outcome.PASSED else table.CheckState.FAIL
    why = record.why or ("" if state is table.CheckState.PASS else record.outcome.value)
    if state is table.CheckState.PASS and (not tree or record.tree != tree):
        ran_on, changed = record.tree_before, record.changed
        same = (run for run in earlier if run.changed == changed != ())
        is_again = any(ran_on in (run.tree_before, run.tree_after) for run in same)
        state = table.CheckState.FAIL if is_again else table.CheckState.PENDING
        what = f"{listed(changed) or 'files'} changed {'again' if is_again else 'meanwhile'}"
        if not (tree and (record.tree or changed)):
            what = "it is not known on which files it ran"
        why = f"{what}, so it shows nothing"
    percent, tests = -1.0, -1 if record.counts is None else record.counts.total
    measured = record.percent if record.name == table.COVERAGE else None
    if measured is not None and state is table.CheckState.PASS:  # the threshold decides
        percent = measured
        state, stands = table.CheckState.NOT_APPLICABLE, "; no threshold is known"
        if threshold is not None:
            state, stands = table.CheckState.PASS, f" of the {threshold:g}% needed"
            if percent < threshold:
                state, stands = table.CheckState.FAIL, f" is below the {threshold:g}% needed"
        why = f"{percent:g}%{stands}"
    part = GatePart(record.name, state, record.command, why, tests, percent)
    return part.but(log=record.log, failures=record.failures)


def not_installed(record: GateRecord) -> str:
    """What a failed gate did not find, and how to install it; "" if the code itself failed."""
    parts = (part for part in record.parts if part.state is table.CheckState.FAIL)
    return next((part.why for part in parts if NOT_INSTALLED in part.why), "")


def state_of(parts: Collection[GatePart], waived: str = "") -> table.CheckState:
    """The state of a gate, from its parts; a part that was not run is pending, and so is the gate.

    Args:
        parts: the parts of one run of the gate.
        waived: why failed lint is accepted; "" if it is not.
    """
    states = {part.state for part in parts if not (waived and part.check == table.LINT)}
    for state in (table.CheckState.FAIL, table.CheckState.PENDING, table.CheckState.PASS):
        if state in states:
            return state
    return table.CheckState.NOT_APPLICABLE if parts else table.CheckState.PENDING


def lint_left(run: Run) -> str:
    """Why lint that failed in the last run of G7 is accepted; "" if it passed or is not accepted."""
    last = newest(run.gates, table.Gate.G7)
    is_linted = last is not None and last.part(table.LINT).state is table.CheckState.PASS
    return "" if is_linted else run.lint_waived


def failed_on_lint_alone(record: GateRecord) -> bool:
    """True if build and tests passed, and lint did not."""
    others_hold = all(record.part(name).state in HOLDS for name in (table.BUILD, table.TESTS))
    return others_hold and record.part(table.LINT).state is table.CheckState.FAIL
