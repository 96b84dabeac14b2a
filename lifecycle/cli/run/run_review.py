"""`lifecycle run verify` and `lifecycle run review`: what is said of a story, and what reviewers found."""

from __future__ import annotations

import sys

import click

from lifecycle.cli.command_session import option
from lifecycle.cli.run.run_session import RunSession, in_run
from lifecycle.core.errors import Refused
from lifecycle.run.gates import gate_records, reviews
from lifecycle.run.state import WordCheck, data_of
from lifecycle.run.table import APPROVING, REVIEWERS, SHOWN_BY, ReviewVerdict, StoryCheck

_MOST = 1_000_000
"""Characters of a report."""

_ROLES = {row[0]: role for role, row in REVIEWERS.items()}
_CHECKS = click.Choice([one.value for one in StoryCheck], case_sensitive=False)


@click.command("verify", short_help="Say how a check of a story stands.")
@click.argument("story", metavar="STORY")
@click.argument("check", metavar="CHECK", type=_CHECKS)
@click.option("--passed/--failed", "passed", default=None, help="What is said of it.")
@option("--details TEXT", 'More on it, as "85%".', default="")
@option("--by WHO", "Who says it. Default: the client's session, or the terminal.", default="")
@in_run
def verify(
    given: RunSession, *, story: str, check: str, passed: bool | None, details: str, by: str
) -> None:
    """Say of a check of STORY that it passed, or failed.

    The checks are testsPass, coverageMet, reviewApproved and securityCleared. It is kept as what somebody
    said. Tests and coverage are shown by their gates alone; a review by hand counts for the files as they
    are, and an edit voids it.
    """
    if passed is None:
        raise click.UsageError("Say --passed or --failed.")
    which = StoryCheck(check)
    who, now = by or given.who, given.now
    gate_records.at_work(given.store.demanded(), story, is_begun=False)
    tree = given.tree_if_known
    word = "PASSED" if passed else "FAILED"
    with given.store.changing() as change:
        one = gate_records.at_work(change.run, story, is_begun=False)
        said = WordCheck(which, passed, details, who, now)
        change.run = gate_records.with_word(change.run, one, said)
        if which in _ROLES:
            role = _ROLES[which]
            _, approved, refused = REVIEWERS[role]
            verdict = approved if passed else refused
            record = reviews.review_of(role, verdict, (), tree=tree, by=who, now=now)
            one = change.run.story(story)
            change.run = reviews.reviewed(change.run, one, record, now, is_word=True)
        told = change.news(f"Said of {one.id}: {which} {word}")
    lines = [
        f"Verification recorded: {one.id} {which} {word}" + (f" ({details})" if details else "")
    ]
    gate = SHOWN_BY[which]
    if which in _ROLES:
        lines.append(f"By {who}, on tree {tree[:12]}; an edit of any file voids it.")
    else:
        lines.append(f"That is a word, and shows nothing: lifecycle run gate {gate} {one.id} does.")
    lines += told
    data = {"story": one.id, "check": which, "passed": passed, "by": who, "tree": tree}
    given.show(lines, {**data, "is_word": which not in _ROLES, "shown_by": gate})


@click.command("review", short_help="Record a review of a story, by severity.")
@click.argument("story", metavar="STORY")
@option("--by ROLE", "reviewer or security.", type=click.Choice([*REVIEWERS]), required=True)
@option(
    "--verdict VERDICT",
    "APPROVED or CHANGES_REQUESTED; of security CLEARED or REMEDIATION_NEEDED.",
    type=click.Choice([one.value for one in ReviewVerdict]),
    required=True,
)
@option(
    "--finding TEXT...",
    "One finding, with [BLOCKING], [SUGGESTION] or [INFO] before it; may be given several times.",
    "findings",
)
@option(
    "--report", "Read the reviewer's whole report from standard input, its sections by severity."
)
@option(
    "--resolved N...",
    "The number of an earlier BLOCKING finding that is mended, as review-context lists them.",
    type=int,
)
@in_run
def review(
    given: RunSession,
    *,
    story: str,
    by: str,
    verdict: str,
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
    record = reviews.review_of(
        by, ReviewVerdict(verdict), found, tree=given.tree_if_known, by=who, now=now
    )
    with given.store.changing() as change:
        one = change.run.story(story)
        change.run = reviews.reviewed(
            change.run,
            one,
            record,
            now,
            is_word=not found and not report,
            resolved=(*resolved, *reviews.resolved_in(text)),
        )
        told = change.news(f"Review of {one.id} by {by}: {record.verdict}")
        new = [failure.id for failure in change.failures]
    lines = reviews.review_lines(one, record)
    if record.verdict != verdict:
        why = "something is BLOCKING" if record.verdict not in APPROVING else "nothing is BLOCKING"
        lines.append(f"The verdict given was {verdict}; {why}, so it counts as {record.verdict}.")
    lines += told
    given.show(lines, {"story": one.id, **data_of(record), "failures": new})


def _reported() -> str:
    text = sys.stdin.read(_MOST + 1)
    if len(text) > _MOST:
        raise Refused(f"The report has more than {_MOST:,} characters; nothing was recorded.")
    return text
