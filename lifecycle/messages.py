"""Every sentence that an agent or a person reads, as functions.

The texts that the design gives stand here as it gives them. A sentence says what happened, what was
kept, what to do next; none of them holds a secret.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lifecycle.model import Checks

SHOWN_NAMES = 5
"""How many failing checks are named; the rest is counted."""


def pr_created(number: int, url: str) -> str:
    """The new pull request."""
    return f"PR #{number} created: {url}"


def pr_adopted(number: int, url: str, branch: str) -> str:
    """An open pull request that was there already."""
    return f"PR #{number} was already open for {branch} and goes on as this claim's PR: {url}"


def pr_missing(branch: str) -> str:
    """A phase that needs a pull request, and none is there."""
    return (
        f"GitHub shows no pull request for branch {branch or '(none)'}; the claim was kept. Push the "
        'branch and run: lifecycle handoff --summary "…"'
    )


def missing_fields(names: Sequence[str]) -> str:
    """A hand-off that lacks what a pull request is made of."""
    both = " and ".join(names)
    return (
        f"No PR yet: {both} {'is' if len(names) == 1 else 'are'} missing in .agent-claim.json. "
        f"Fill {'it' if len(names) == 1 else 'them'} in; the PR is opened at the next stop."
    )


def branch_is_base(branch: str) -> str:
    """A hand-off from the branch that the pull request would go into."""
    return (
        f"No PR yet: the claim's branch is {branch}, which is also the PR's base. Commit on a branch "
        "of its own, push it, and set branch in .agent-claim.json."
    )


def checks_running(passed: int, total: int, running: int) -> str:
    """Poll with some checks pending; shown by `status`, and never worth a turn."""
    return f"CI: {passed}/{total} passed, {running} running..."


def checks_passed(checks: Checks, number: int) -> str:
    """Poll with every check green."""
    total = len(checks.runs)
    green = f"All {total} checks green" if total != 1 else "The only check is green"
    return f"CI passed! {green}. PR #{number} is ready to merge."


def checks_failed(checks: Checks, number: int) -> str:
    """Poll with failures: their count and the first five names."""
    failed = checks.failed
    names = ", ".join(check.name for check in failed[:SHOWN_NAMES])
    more = f" (+{len(failed) - SHOWN_NAMES} more)" if len(failed) > SHOWN_NAMES else ""
    return (
        f"CI: {len(failed)} FAILED — {names}{more} on PR #{number} at {checks.sha[:7]}. "
        "Fix, commit and push; the new head is looked at when the session idles."
    )


def merged(number: int, issue: int | None) -> str:
    """The question that closing waits for."""
    return f"PR #{number} merged! Should I close issue #{issue}?"


def how_to_close() -> str:
    """What the agent does with the user's answer."""
    return 'Ask the user; on a yes, run "lifecycle close" or write "phase": "done".'


def closed_unmerged(number: int, issue: int | None) -> str:
    """The pull request was closed without a merge."""
    return (
        f"PR #{number} was closed without being merged; issue #{issue} stays open and the claim was "
        'kept. Reopen the PR, or hand off again with: lifecycle handoff --summary "…"'
    )


def reopened(number: int) -> str:
    """A closed pull request is open again."""
    return f"PR #{number} was reopened."


def done_refused(reason: str, issue: int | None, phase: str) -> str:
    """`done` without a merge; what is next depends on what GitHub shows instead."""
    wait = {
        "checks_running": "Wait for the merge",
        "pr_closed": "Reopen the PR or hand off again",
    }.get(phase, "Hand off the work first")
    return (
        f"Issue #{issue} was not closed: {reason}. The phase is {phase} again. {wait}, or have a "
        'person run: lifecycle close --override "reason"'
    )


def completed_comment(number: int) -> str:
    """The comment on the issue."""
    return f"Completed in #{number}"


def overridden_comment(number: int | None, reason: str) -> str:
    """The comment when a person closed without a merge."""
    where = f" (PR #{number} is not merged)" if number else ""
    return f"Closed without a merged pull request{where}, by explicit override: {reason}"


def taken_over(issue: int | None, agent: str) -> str:
    """The card shows another agent where this claim's stood."""
    return (
        f"#{issue} was taken over by {agent}: this claim writes nothing any more, and its branch and "
        "commits are kept. Talk to them, or delete .agent-claim.json and claim another task."
    )


def closed_elsewhere(issue: int | None) -> str:
    """Somebody closed the issue before there was a merge."""
    return (
        f"Issue #{issue} was closed on GitHub meanwhile; the claim and the work are kept. If nothing is "
        "to come of it, delete .agent-claim.json; otherwise reopen the issue."
    )


def closed(issue: int | None, board: str) -> str:
    """The end of a claim; `board` is the sentence about the board."""
    return f"Issue #{issue} closed. {board} Signal file cleaned up."


def board_done() -> str:
    """The board followed."""
    return "Board → Done."


def board_absent() -> str:
    """There is no board to keep."""
    return "No board is configured."


def board_not_done(why: str) -> str:
    """The board did not follow."""
    return f"The board was not set to Done: {why}"


def board_moved(issue: int | None, found: str, synced: str | None) -> str:
    """Somebody moved the card."""
    return (
        f'The card of #{issue} was moved to "{found}" by hand (last set here: "{synced}"); it was '
        f'left there. Move it back to "{synced}" on the board if the claim should go on keeping it.'
    )


def board_kept(found: str) -> str:
    """Closing met a card that somebody had moved."""
    return f'The card stays in "{found}", where somebody moved it.'


def archived(issue: int | None, board: str) -> str:
    """The item cannot be written."""
    return (
        f"The card of #{issue} on {board} is archived, so its Status is not kept; issue and PR go on. "
        "Restore the card on the board to have it kept again."
    )


def not_on_board(issue: int | None, board: str) -> str:
    """The issue has no item."""
    return (
        f"Issue #{issue} is not on {board} (if there is such a project), so its Status is not kept; "
        "issue and PR go on. Add the issue to the project on GitHub, or correct the project's number."
    )


def branch_merged(branch: str, title: str, number: int) -> str:
    """Without a claim: the branch's pull request was merged, and there is a next task."""
    return (
        f"Your PR on branch {branch} was merged! Next available task: {title} (#{number}). "
        "Use /claim to pick it up."
    )


def branch_merged_alone(branch: str) -> str:
    """Without a claim and without a board."""
    return f"Your PR on branch {branch} was merged!"


def branch_merged_last(branch: str) -> str:
    """Without a claim: the branch's pull request was merged, and nothing is left."""
    return f"Your PR on branch {branch} was merged! No task is left in Todo."


def corrupt_claim(reason: str, kept: str, *, restored: bool) -> str:
    """The claim file was no JSON."""
    then = (
        "the claim was restored as it was last known: make your edit again."
        if restored
        else "claim again with: lifecycle claim <number>"
    )
    return f".agent-claim.json could not be read ({reason}). It was kept as {kept}; {then}"


def unknown_phase(phase: str, known: Sequence[str]) -> str:
    """A phase that the table does not have."""
    return (
        f'.agent-claim.json has the phase "{phase[:40]}", which does not exist; nothing was done. '
        f"The phases are: {', '.join(known)}."
    )


def no_issue_number() -> str:
    """A claim that is about nothing."""
    return (
        ".agent-claim.json has no usable issue_number; nothing was done. Write the number of the "
        "issue that this work is for."
    )


def issue_kept(value: object, kept: object) -> str:
    """The claim's issue was edited to one that it cannot be for."""
    return (
        f"issue_number in .agent-claim.json was edited to {value}; this claim stays on #{kept}. For "
        "another task, finish this one, or claim it in another worktree."
    )


def hint_refused(name: str, value: object, kept: object) -> str:
    """An edit of an engine field that GitHub does not bear out."""
    if kept in (None, ""):
        return (
            f"{name} in .agent-claim.json was edited to {value}; GitHub shows none, and none it is."
        )
    return (
        f"{name} in .agent-claim.json was edited to {value}; GitHub shows {kept}, which was kept."
    )


def not_created(why: str, _issue: int | None) -> str:
    """The pull request could not be opened."""
    return f"The PR was not opened: {why}"


def not_commented(why: str, issue: int | None) -> str:
    """The comment could not be posted."""
    return f"Issue #{issue} got no closing comment: {why}"


def not_closed(why: str, issue: int | None) -> str:
    """The issue could not be closed."""
    return f"Issue #{issue} is not closed, and the claim was kept: {why}"


def not_on_the_board(why: str, issue: int | None) -> str:
    """The board could not be written."""
    return f"The card of #{issue} was not updated; issue and PR go on. {why}"


def not_seen(why: str, _issue: int | None) -> str:
    """GitHub could not be read; the sentence says why by itself."""
    return why


COMPLAINTS: dict[str, Callable[[str, int | None], str]] = {
    "OpenPullRequest": not_created,
    "PostComment": not_commented,
    "CloseIssue": not_closed,
    "SetBoard": not_on_the_board,
    "Look": not_seen,
}
"""For each kind of action, the sentence about its refusal."""


def issue_unknown(issue: int | None) -> str:
    """The issue cannot be read."""
    return (
        f"GitHub shows no issue #{issue} to this token, so it cannot be closed; the claim was kept. "
        "Correct issue_number in .agent-claim.json, or the token's access."
    )
