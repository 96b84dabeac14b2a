"""What an agent or a person is told about a claim, as functions from values to sentences.

Where a sentence lives. A sentence that a decision gives as a notice, that goes onto GitHub, or that two
modules use is in this folder: here, about a claim and its end; in `review_messages` and `merge_messages`,
about an open pull request; in `linked_messages`, about a task of another tracker; in `loss_messages`, about
a task that is released or lost. A sentence that only one module uses is in that module: what a command
prints is in its module of `cli/`. A room with many sentences keeps them in a TOML file beside its modules,
and uses them by name (`settings/resources.py`): refusals about claims, GitHub, git, runs, workflows,
trackers, settings, worktrees and `lifecycle init`, and findings of `reconcile/` and of the doctor.

How it is written. It says what happened, what was kept, what to do next, in the words of
docs/glossary.md. Names that others chose pass `quoted` or `named`. No sentence contains a secret. The
function's docstring says on what occasion the sentence is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.core.messages import figures
from lifecycle.core.redact import named, quoted

HAND_OFF = "lifecycle handoff --summary-file - <<'EOF' (then the summary in one line, then EOF)"
"""The command for a hand-off: the shell interprets nothing in the summary, whatever quotes it has."""


def pr_created(number: int, url: str) -> str:
    """The new pull request."""
    return f"PR #{number} created: {url}"


def pr_adopted(number: int, url: str, branch: str) -> str:
    """An open pull request that existed already and was not changed."""
    return (
        f"PR #{number} was already open for {branch} and is now the claim's; its title and text "
        f"were kept: {url}"
    )


def pr_missing(branch: str) -> str:
    """A phase that needs a pull request, but there is none."""
    return (
        f"GitHub shows no pull request for branch {branch or '(none)'}; the claim was kept. Push the "
        f"branch and run: {HAND_OFF}"
    )


def phase_without_pull(written: str, branch: str, phase: str) -> str:
    """A phase written by hand that needs a pull request, but there is none; it is `phase` again."""
    then = ' When the work is done, run: lifecycle handoff --summary "…"'
    return (
        f"GitHub shows no pull request for branch {branch or '(none)'}, so the claim cannot be in phase "
        f"{written}; it is {phase} again.{then if phase == 'coding' else ''}"
    )


def judged_next(phase: str, *, has_hooks: bool = True) -> str:
    """A phase in the claim file that GitHub has not confirmed or refused yet."""
    then = "the next stop asks GitHub; to" if has_hooks else "nobody has asked GitHub;"
    known = f"It is not known yet whether {phase} is true: only the claim file says so, and"
    return f"{known} {then} ask now: lifecycle tick"


def missing_fields(names: Sequence[str]) -> str:
    """A hand-off that lacks fields which a pull request needs."""
    listed = " and ".join(names)
    return (
        f"No PR yet: {listed} {'is' if len(names) == 1 else 'are'} missing in .agent-claim.json. "
        f"Fill {'it' if len(names) == 1 else 'them'} in; the PR is opened at the next stop."
    )


def branch_is_base(branch: str) -> str:
    """A hand-off from the branch that the pull request would go into."""
    return (
        f"No PR yet: the claim's branch is {branch}, which is also the PR's base. Commit to a "
        "separate branch, push it, and set branch in .agent-claim.json."
    )


def merged_and_closing(number: int, issue: int | None, *, is_open: bool, is_left: bool) -> str:
    """The merge, if nobody has to be asked about closing.

    Args:
        number: the pull request's number.
        issue: the issue's number.
        is_open: the issue is open, so GitHub has not closed it already.
        is_left: this account may not close the issue.
    """
    if is_left and is_open:
        return f"PR #{number} merged; issue #{issue} stays open: this account may not close it."
    state = "is closed now" if is_open else "was already closed, and the claim ends now"
    return f'PR #{number} merged; issue #{issue} {state}, since close = "auto" is configured.'


def not_answered(
    issue: int | None, *, was_asked: bool, counts_done: bool, is_open: bool, is_outdated: bool
) -> str:
    """`done` without a yes: the question, which follows, was not answered, or never asked.

    `is_open`: the issue is open; else only the claim has to be ended. `is_outdated`: it was reopened, or
    the merge reverted, and that was not known when the user was asked.
    """
    since = "the question was put" if was_asked else "the merge"
    unheard = f"the user has written no prompt since {since} (a choice in a dialog does not count)"
    undone = "the issue was reopened, or the merge reverted, and nobody has said yes since"
    why = undone if is_outdated else unheard if counts_done else "nobody has said yes"
    kept = f"Issue #{issue} was not closed" if is_open else f"The claim on #{issue} was not ended"
    return f"{kept}: {why}."


def merged(
    number: int, issue: int | None, *, is_open: bool, into: str = "", is_reopened: bool = False
) -> str:
    """The question that closing waits for; `is_open`: the issue is open, not closed by GitHub already.

    `into`: the base, if that is neither the configured nor the default one. `is_reopened`: the issue was
    reopened after the merge.
    """
    stands = f"Issue #{issue} was reopened after that. " if is_reopened else ""
    if not is_open:
        stands = f"Issue #{issue} is already closed; to continue it, reopen it. "
    where = f" into {named(into)}, which is neither the default branch nor the configured base"
    where = where if into else ""
    deed = f"close issue #{issue}" if is_open else f"end the claim on #{issue}"
    return f"PR #{number} merged{where}! {stands}Should I {deed}?"


def open_parts(issue: int | None, parts: int) -> str:
    """Sub-issues of the issue are open; GitHub closes the issue all the same."""
    return f"{parts} of #{issue}'s sub-issues {'is' if parts == 1 else 'are'} still open."


def reverted(number: int, by: int) -> str:
    """The merge was taken back."""
    return f"PR #{by} reverted PR #{number}."


def left_out(number: int, commits: int, branch: str, *, is_closed: bool) -> str:
    """Commits of the local branch that came too late for the merge, and what happens to them."""
    are, stay = ("is", "stays") if commits == 1 else ("are", "stay")
    then = f", and {stay} on the branch"
    if not is_closed:
        then = f"; for another PR, first run: {HAND_OFF}"
    return f"{figures.count(commits, 'commit')} of {branch} {are} not in PR #{number}{then}."


def merged_before(number: int) -> str:
    """The claim's pull request was merged while its agent was working on more."""
    return f"PR #{number} has been merged in the meantime; later commits go into another PR."


def merged_earlier(number: int, branch: str) -> str:
    """The handed-off work was merged before the claim was taken, for example if the issue was reopened."""
    return (
        f"No PR yet: all of {branch} was merged in PR #{number}, before this claim. Commit the work, then "
        'hand off again; if nothing is left to do, the user may close with: lifecycle close --override "…"'
    )


def how_to_close(*, counts_done: bool = True) -> str:
    """What the agent does with the user's answer; `counts_done`: `done` in the claim can be the yes."""
    yes = 'on a yes, run "lifecycle close" or write "phase": "done"'
    if not counts_done:
        yes = (
            'on a yes, run "lifecycle close": "phase": "done" does not count here until a hook has '
            "received a prompt from the user"
        )
    return f"Ask the user; {yes}; on a no, continue: the next hand-off opens another PR."


def closed_unmerged(number: int, issue: int | None, *, is_open: bool = True) -> str:
    """The pull request was closed without a merge; `is_open`: the issue is open."""
    if not is_open:
        return (
            f"PR #{number} was closed without being merged, and issue #{issue} is closed, too; the claim "
            "and the work are kept. Ask the user: if the task is to be dropped, run: lifecycle release; "
            "otherwise the issue has to be reopened first."
        )
    return (
        f"PR #{number} was closed without being merged; issue #{issue} stays open and the claim was "
        'kept. Ask the user, who may close with lifecycle close --override "…" if the work was taken '
        f"without a merge; otherwise reopen the PR, or hand off again with: {HAND_OFF}"
    )


def reopened(number: int) -> str:
    """A closed pull request is open again."""
    return f"PR #{number} was reopened."


def done_refused(reason: str, issue: int | None, phase: str, *, is_open: bool = True) -> str:
    """`done` without a merge; what to do next depends on what GitHub shows instead.

    `is_open`: the issue is open; a sentence of its own tells that an issue was closed, and what then.
    """
    ways = {"checks_running": "Wait for the merge", "pr_closed": "Reopen the PR or hand off again"}
    wait = ways.get(phase, "Hand off the work first")
    if not is_open:  # a hand-off for a closed issue is refused
        then = f" {wait}." if phase == "checks_running" else ""
        return f"The claim on #{issue} was not ended: {reason}. The phase is {phase}.{then}"
    return (
        f"Issue #{issue} stays open: {reason}. The phase is {phase}. {wait}, or have a "
        'person run: lifecycle close --override "reason"'
    )


def yes_not_kept(issue: int | None, phase: str) -> str:
    """A yes to closing while nobody could see whether there is a merge."""
    return (
        f"Issue #{issue} was not closed, and the yes was not kept: GitHub could not be asked whether its "
        f"PR is merged. The phase is {phase}. Once GitHub answers, close it with: lifecycle close"
    )


def completed_comment(number: int) -> str:
    """The closing comment on the issue."""
    return f"Completed in #{number}"


def overridden_comment(number: int | None, reason: str) -> str:
    """The closing comment if a person closed the issue without a merge."""
    where = f" (PR #{number} is not merged)" if number else ""
    return f"Closed without a merged pull request{where}, by explicit override: {reason}"


_BY_ITSELF = {
    "auto": 'Closed without asking: `close = "auto"` is configured.',
    "reconcile": "Closed by `lifecycle reconcile`, which is allowed to after a merge.",
}


def confirmed(consent: str, *, is_open: bool = True) -> str:
    """Who said yes, for the comment's second line; "" if the user was simply asked.

    `is_open`: the issue was open until this closing. A sweep tells only of its own closing.
    """
    nudged, _, reason = consent.partition(": ")
    if nudged == "nudge" and reason:
        return f"Nudged to done: {reason}"
    if consent == "close":
        return "Confirmed with `lifecycle close`."
    return _BY_ITSELF.get(consent, "") if is_open or consent == "reconcile" else ""


def closed_elsewhere(issue: int | None, withheld: str = "") -> str:
    """Somebody closed the issue before a merge; `withheld`: a clause on what is not done therefore."""
    kept, way = "the claim and the work are kept", "reopen the issue."
    if withheld:
        kept = f"{withheld}, and the claim and the work are kept"
        way = "ask the user to reopen the issue, then run: lifecycle tick"
    return (
        f"Issue #{issue} was closed on GitHub in the meantime; {kept}. If the task is to be "
        f"dropped, run: lifecycle release; otherwise {way}"
    )


def assigned_elsewhere(issue: int, login: str, others: Sequence[str]) -> str:
    """Somebody assigned the issue of a claim to others on GitHub, and unassigned the claim's account."""
    return (
        f"#{issue} is assigned to {', '.join(map(named, others))} and not to {login}, who has the claim; "
        "it goes on. If the task is theirs now, leave it with: lifecycle release; else assign "
        f"{login} on GitHub again."
    )


NOT_OPENED = "no PR is opened for it"
"""What a hand-off does not do for a closed issue."""


def repository_archived(issue: int | None, *, is_asked: bool = False) -> str:
    """The repository accepts no more writes; `is_asked`: somebody wanted to release the task."""
    way = "unarchive it first."
    if is_asked:
        way += " To leave the claim here alone, delete .agent-claim.json."
    deed = "was not released" if is_asked else "cannot proceed"
    return (
        f"#{issue} {deed}: its repository is archived on GitHub and takes no push, merge or comment. The "
        f"claim and the work are kept; an administrator of the repository has to {way}"
    )


def merged_alone(number: int) -> str:
    """The merge, if there is no issue that could be closed."""
    return f"PR #{number} merged."


def issue_gone(issue: int | None) -> str:
    """The issue of a claim cannot be read, during the work or at its end."""
    return (
        f"GitHub shows no issue #{issue} to this token: it was deleted or moved, or the token may not see "
        "it; the claim and the work are kept. If the issue is gone, leave the task with: lifecycle release"
    )


def closed(issue: int | None, board: str) -> str:
    """The end of a claim; `board` is the sentence about the board."""
    return f"Issue #{issue} closed. {board} The claim file was deleted."


def closed_meanwhile(issue: int) -> str:
    """To the session that asked about closing: somebody answered elsewhere."""
    return (
        f"Issue #{issue} was closed meanwhile: somebody said yes on a terminal or in another session. The "
        "claim has ended, so nothing about it is left to ask or to do."
    )


def left_open(issue: int | None) -> str:
    """The end of a claim whose account (a contributor's, say) may not close the issue."""
    return (
        f"Issue #{issue} stays open, since this account may not close it: ask somebody who can. The claim "
        "has ended, and its file was deleted."
    )


def status_set(status: str, *, is_labels: bool) -> str:
    """The board was updated, or the label that replaces it."""
    return f"{'Status label' if is_labels else 'Board'} → {status}."


def status_not_set(status: str, why: str, *, is_labels: bool = False) -> str:
    """The board, or the label that replaces it, could not be updated."""
    return f"The {'Status label' if is_labels else 'board'} was not set to {status}: {why}"


def board_absent() -> str:
    """No board is configured."""
    return "No board is configured."


def board_moved(issue: int | None, status: str, synced: str | None) -> str:
    """Somebody moved the card."""
    return (
        f'The card of #{issue} was moved to {quoted(status)} (last set here: "{synced}"), or that option '
        "was renamed; the card stays there until the task moves on."
    )


def label_moved(issue: int | None, status: str, synced: str | None) -> str:
    """Somebody gave the issue another Status label."""
    return (
        f'The Status label of #{issue} was changed to {quoted(status)} (last set here: "{synced}"); it was '
        f'left unchanged. Put "{synced}" back on the issue to have lifecycle update it again.'
    )


def status_kept(status: str, *, is_labels: bool) -> str:
    """The end of a claim met a card that somebody had moved, or the label that replaces it."""
    stays = "Status label stays" if is_labels else "card stays in"
    return f"The {stays} {quoted(status)}, as somebody left it."


def archived(issue: int | None, board: str) -> str:
    """The item cannot be written."""
    return (
        f"The card of #{issue} on {board} is archived, so its Status is not updated; issue and PR are not "
        "affected. Restore the card on the board to have it updated again."
    )


def not_on_board(issue: int | None, board: str) -> str:
    """The issue is not on the board."""
    return (
        f"Issue #{issue} is not on {board} (if there is such a project), so its Status is not "
        "updated; issue "
        "and PR are not affected. Add the issue to the project on GitHub, or correct the project's number."
    )


def branch_merged(branch: str, then: str = "") -> str:
    """Without a claim: the branch's pull request was merged; `then` is the sentence on what comes next."""
    return f"Your PR on branch {branch} was merged! {then}".rstrip()


def next_task(title: str, number: int) -> str:
    """Without a claim: the task that comes next."""
    return f"Next available task: {quoted(title)} (#{number}). Use /claim to pick it up."


def no_hooks() -> str:
    """No hook has been seen at work."""
    return (
        "No hook has run for this worktree in this session, so nothing happens by itself here. To see "
        "why, run: lifecycle doctor"
    )


def unknown_phase(phase: str, phases: Sequence[str]) -> str:
    """A phase that the table does not have."""
    return (
        f'.agent-claim.json has the phase "{phase[:40]}", which does not exist; nothing was done. '
        f"Write one of these: {', '.join(phases)}."
    )


def no_issue_number() -> str:
    """A claim without an issue number."""
    return (
        ".agent-claim.json has no usable issue_number; nothing was done. Set it to the number of "
        "the issue that this work is for."
    )


def issue_kept(value: object, kept: object) -> str:
    """The claim's issue number was edited: a claim stays on its task."""
    return (
        f"issue_number in .agent-claim.json was edited to {value}; this claim stays on #{kept}. For "
        "another task, finish this one, or claim it in another worktree."
    )


def hint_refused(name: str, value: object, kept: object) -> str:
    """An edit of an engine field that GitHub does not confirm."""
    kept = "none, so the edit was undone" if kept in (None, "") else f"{kept}, which was kept"
    return f"{name} in .agent-claim.json was edited to {value}; GitHub shows {kept}."


def not_created_yet(why: str, issue: int | None) -> str:
    """The pull request could not be opened for now."""
    return f"The PR for #{issue} is not open yet; the next look tries again: {why}"


def comment_unknown(issue: int | None, again: str) -> str:
    """Closing waits for a comment that may not have been posted; `again`: when reads will show it."""
    return (
        f"#{issue} is closed. It is not known whether its comment was posted: a stop or "
        f"lifecycle tick checks from {again} on, and then the claim ends."
    )


COMPLAINTS = {
    "OpenPullRequest": "The PR was not opened: {0}",
    "LinkPullRequest": "The PR's text does not refer to #{1}, and nothing was added to it. {0}",
    "RemarkOnPull": "The PR's text does not say that its checks were weakened. {0}",
    "RerunJobs": "CI jobs that failed because of their runner were not run again: {0} The change did "
    "not cause this, so fix nothing; ask the user to run them again on the PR's page (Checks, "
    "Re-run failed jobs). The result is watched.",
    "AdvancePullRequest": "GitHub refused to move the PR of #{1} towards its merge; the PR was "
    "kept. {0}",
    "AddToBoard": "Issue #{1} was not put on the board; issue and PR are not affected. {0}",
    "PostComment": "Issue #{1} got no comment: {0}",
    "CloseIssue": "Issue #{1} is not closed, and the claim was kept: {0}",
    "Unassign": "The assignee of #{1} was not removed; everything else was done. {0}",
    "SetBoard": "The card of #{1} was not updated; issue and PR are not affected. {0}",
    "Look": "{0}",  # GitHub could not be read: the error's sentence says enough
    "LeadLease": "The lease on #{1} names a branch other than the PR's, and sweeps and takeovers rely "
    "on it; issue and PR are not affected. {0}",
    "SetLinked": "The task linked to #{1} was not updated; issue and PR are not affected. {0}",
}
"""For each kind of action, the sentence about its refusal, with places for the error's and the issue."""


def withheld(names: Sequence[str]) -> str:
    """A secret was removed from texts on their way to GitHub."""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return (
        f'What looks like a secret in the {listed} was replaced by "***" before publishing; everything '
        "else was done. Tell the user: if the secret is real, it has to be renewed."
    )
