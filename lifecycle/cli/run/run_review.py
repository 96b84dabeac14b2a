"""`lifecycle run verify|review|review-context`: record a statement or review, print what to review."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.run.run import RunSession
from lifecycle.evidence.tree_hash import is_own
from lifecycle.git.commits import empty_tree, head_of
from lifecycle.git.worktree_files import files_aside
from lifecycle.run.finish.completion import read_from
from lifecycle.run.gates import reviews, run_moves
from lifecycle.run.state import ReviewRecord, data_of
from lifecycle.run.table import APPROVING, REVIEWERS, ROLES, SHOWN_BY, ReviewVerdict, StoryCheck
from lifecycle.run.texts import report_text, told
from lifecycle.storage.store import FOLDER

_MOST = 1_000_000
"""Most characters of a report on stdin; a longer one is refused."""


def verify(
    session: RunSession, story: str, check: StoryCheck, passed: bool | None, details: str, by: str
) -> None:
    """Record that a check of STORY passed or failed.

    The checks are testsPass, coverageMet, reviewApproved and securityCleared. It is noted as a statement:
    only their gates show tests and coverage. A review by hand counts for the present files, and an edit
    voids it.
    """
    if passed is None:
        raise click.UsageError("Give --passed or --failed.")
    who, now, is_review = by or session.who, session.now, check in ROLES
    run_moves.at_work(session.store.demanded(), story, is_begun=False)
    tree = session.tree
    with session.store.changing() as change:
        target = run_moves.at_work(change.run, story, is_begun=False)
        if is_review:
            _, approved, refusing = REVIEWERS[ROLES[check]]
            verdict = approved if passed else refusing
            record = reviews.counted(ReviewRecord(check, verdict, now, tree, who))
            change.run = reviews.reviewed(change.run, target, record, is_word=True)
        result = f"{target.id} {check} {'PASSED' if passed else 'FAILED'}"
        more = f" ({told.kept_words(details, 500)})" if details else ""
        news = change.news(f"Said of {result.replace(' ', ': ', 1)}{more} by {who}")
    gate = SHOWN_BY[check]
    counts = f"By {who}, on tree {tree[:12]}; an edit of any file voids it."
    if not is_review:
        counts = f"That is recorded, but not shown: lifecycle run gate {gate} {target.id} shows it."
    first = f"Verification recorded: {result}" + (f" ({details})" if details else "")
    data = {"story": target.id, "check": check, "passed": passed, "by": who, "tree": tree}
    session.show([first, counts, *news], {**data, "is_word": not is_review, "shown_by": gate})


def review(
    session: RunSession,
    *,
    story: str,
    by: str,
    verdict: ReviewVerdict,
    findings: tuple[str, ...],
    report: bool,
    resolved: tuple[int, ...],
) -> None:
    """Record a review of STORY on the files as they are; an edit of any file voids it.

    A completed story is reviewed again for later changes. A BLOCKING finding stays on the same files; on
    changed ones, the review that approves marks it as resolved (RESOLVED: 1, 2 in a report).

    A BLOCKING finding refuses the story, whatever the verdict says; a review with only suggestions and
    remarks approves it. Findings that refuse are added to the story's failures.
    """
    now, who = session.now, f"{by} ({session.who})"
    session.store.demanded().story(story)
    text = sys.stdin.read(_MOST + 1) if report else ""
    if len(text) > _MOST:
        raise told.refused("long-report", most=_MOST)
    marked = (*reviews.marked(findings), *reviews.findings_in(text))
    mended = (*resolved, *reviews.resolved_in(text))
    given = ReviewRecord(REVIEWERS[by][0], verdict, now, session.tree, who, marked)
    record = reviews.counted(given)
    is_word = not marked and not report
    with session.store.changing() as change:
        run, target = change.run, change.run.story(story)
        change.run = reviews.reviewed(run, target, record, is_word=is_word, resolved=mended)
        news = change.news(f"Review of {target.id} by {by}: {record.verdict}")
        new = [failure.id for failure in change.failures]
    lines = told.drawn("reviewed", story=target, record=record)
    if record.verdict != verdict:
        why = "something is BLOCKING" if record.verdict not in APPROVING else "nothing is BLOCKING"
        lines.append(f"The verdict was {verdict}, but {why}, so it counts as {record.verdict}.")
    session.show([*lines, *news], {"story": target.id, **data_of(record), "failures": new})


_PLAIN = ("diff", "--no-color", "--no-ext-diff", "--no-textconv", "--submodule=diff")


def review_context(session: RunSession, *, story: str) -> None:
    """Print a reviewer's context for STORY: criteria, design, and the logs of RED and GREEN.

    The diff since the story began, including new files, is written to .lifecycle/review-STORY.diff, where
    an agent that may not run commands can read it. Files that are named like secrets are left out.
    """
    run = session.store.demanded()
    target = run.story(story)
    with files_aside(session.world.git, is_own) as aside:
        base = read_from(aside.git, run, target) or head_of(aside.git) or empty_tree(aside.git)
        stat = aside.git.run(*_PLAIN, "--shortstat", base, aside.tree).strip()
        diff = aside.git.run(*_PLAIN, base, aside.tree)
    name = f"review-{target.id}.diff"
    session.store.folder.make()
    session.store.folder.write(name, f"{diff}\n".encode("utf-8", "replace"))
    path = f"{FOLDER}/{name}"
    lines = report_text.review_lines(target, path, stat)
    data = {"story": target.id, "diff": path, "stat": stat, "base": base, "text": lines}
    session.show(lines, data)
