"""`lifecycle run verify|review|review-context`: what is said of a story; what reviewers get and find."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.run.run_session import RunSession
from lifecycle.evidence.tree_hash import is_own
from lifecycle.git.commits import empty_tree, head_of
from lifecycle.git.worktree_files import files_aside
from lifecycle.run.finish.completion import read_from
from lifecycle.run.gates import gate_records, reviews
from lifecycle.run.state import WordCheck, data_of
from lifecycle.run.table import APPROVING, REVIEWERS, SHOWN_BY, ReviewVerdict, StoryCheck
from lifecycle.run.texts.agent_contexts import review_lines
from lifecycle.run.texts.told import refused
from lifecycle.storage.store import FOLDER

_MOST = 1_000_000
"""Characters of a report."""

_ROLES = {row[0]: role for role, row in REVIEWERS.items()}


def verify(
    given: RunSession, *, story: str, check: StoryCheck, passed: bool | None, details: str, by: str
) -> None:
    """Say of a check of STORY that it passed, or failed.

    The checks are testsPass, coverageMet, reviewApproved and securityCleared. It is kept as what somebody
    said. Tests and coverage are shown by their gates alone; a review by hand counts for the files as they
    are, and an edit voids it.
    """
    if passed is None:
        raise click.UsageError("Say --passed or --failed.")
    who, now, is_review = by or given.who, given.now, check in _ROLES
    gate_records.at_work(given.store.demanded(), story, is_begun=False)
    tree = given.tree_if_known
    with given.store.changing() as change:
        one = gate_records.at_work(change.run, story, is_begun=False)
        word = WordCheck(check, passed, details, who, now)
        change.run = gate_records.with_word(change.run, one, word)
        if is_review:
            role = _ROLES[check]
            _, approved, refused = REVIEWERS[role]
            verdict = approved if passed else refused
            record = reviews.review_of(role, verdict, (), tree=tree, by=who, now=now)
            one = change.run.story(story)
            change.run = reviews.reviewed(change.run, one, record, now, is_word=True)
        result = f"{one.id} {check} {'PASSED' if passed else 'FAILED'}"
        news = change.news(f"Said of {result.replace(' ', ': ', 1)}")
    gate = SHOWN_BY[check]
    counts = f"By {who}, on tree {tree[:12]}; an edit of any file voids it."
    if not is_review:
        counts = f"That is a word, and shows nothing: lifecycle run gate {gate} {one.id} does."
    first = f"Verification recorded: {result}" + (f" ({details})" if details else "")
    data = {"story": one.id, "check": check, "passed": passed, "by": who, "tree": tree}
    given.show([first, counts, *news], {**data, "is_word": not is_review, "shown_by": gate})


def review(
    given: RunSession,
    *,
    story: str,
    by: str,
    verdict: ReviewVerdict,
    findings: tuple[str, ...],
    report: bool,
    resolved: tuple[int, ...],
) -> None:
    """Record a review of STORY on the files as they are; an edit of any file voids it.

    A completed story is reviewed again for what was changed after it. What was BLOCKING stays so on the
    same files; on others the review that approves calls it resolved (RESOLVED: 1, 2 in a report).

    What is BLOCKING refuses, whatever the verdict says; a review that found suggestions and remarks alone
    approves. What refuses is added to the story's failures.
    """
    now, who = given.now, f"{by} ({given.who})"
    given.store.demanded().story(story)
    text = _reported() if report else ""
    found = (*reviews.marked(findings), *reviews.findings_in(text))
    mended = (*resolved, *reviews.resolved_in(text))
    record = reviews.review_of(by, verdict, found, tree=given.tree_if_known, by=who, now=now)
    is_word = not found and not report
    with given.store.changing() as change:
        run, one = change.run, change.run.story(story)
        change.run = reviews.reviewed(run, one, record, now, is_word=is_word, resolved=mended)
        news = change.news(f"Review of {one.id} by {by}: {record.verdict}")
        new = [failure.id for failure in change.failures]
    lines = reviews.review_lines(one, record)
    if record.verdict != verdict:
        why = "something is BLOCKING" if record.verdict not in APPROVING else "nothing is BLOCKING"
        lines.append(f"The verdict given was {verdict}; {why}, so it counts as {record.verdict}.")
    given.show([*lines, *news], {"story": one.id, **data_of(record), "failures": new})


def _reported() -> str:
    text = sys.stdin.read(_MOST + 1)
    if len(text) > _MOST:
        raise refused("long-report", most=_MOST)
    return text


_PLAIN = ("diff", "--no-color", "--no-ext-diff", "--no-textconv")


def review_context(given: RunSession, *, story: str) -> None:
    """Print what a reviewer of STORY gets: criteria, design, and the logs of RED and GREEN.

    The diff since the story began, new files with it, is written to .lifecycle/review-STORY.diff, where an
    agent that runs nothing can read it. Files that are named like secrets are left out.
    """
    run = given.store.demanded()
    one = run.story(story)
    with files_aside(given.git, is_own) as aside:
        base = read_from(aside.git, run, one) or head_of(aside.git) or empty_tree(aside.git)
        stat = aside.git.run(*_PLAIN, "--shortstat", base, aside.tree).strip()
        diff = aside.git.run(*_PLAIN, base, aside.tree)
    name = f"review-{one.id}.diff"
    given.store.folder.make()
    given.store.folder.write(name, f"{diff}\n".encode("utf-8", "replace"))
    path = f"{FOLDER}/{name}"
    lines = review_lines(one, path, stat)
    given.show(lines, {"story": one.id, "diff": path, "stat": stat, "base": base, "text": lines})
