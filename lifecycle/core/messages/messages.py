"""What an agent or a person is told about a claim, as functions from values to sentences.

Where a sentence lives. A sentence that a decision gives as a notice, or that goes onto GitHub, is a row of
`claim/messages.toml`. It is a function in this folder instead if a rule puts it together, if `status` or
the start of a session shows it, or if two rooms use it: here, about a claim, its end, its loss and its
linked task; in `review_messages` and `merge_messages`, about an open pull request. A sentence that only one
module uses is in that module: what a command prints is in its module of `cli/`. A room with many sentences
keeps them in a TOML file beside its modules, and uses them by name (`settings/resources.py`): refusals
about claims, GitHub, git, runs, workflows, trackers, settings, worktrees and `lifecycle init`, and findings
of `reconcile/` and of the doctor. A longer text, whose parts depend on what there is, is a template in the
room's folder `templates/`, unless a hook without news says it: those load no library.

How it is written. It says what happened, what was kept, what to do next, in the words of
docs/glossary.md. Names that others chose pass `quoted` or `named`. No sentence contains a secret. The
function's docstring says on what occasion the sentence is used.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.core.messages import figures
from lifecycle.core.redact import named, quoted, unlinked

HAND_OFF = "lifecycle handoff --summary-file - <<'EOF' (then the summary in one line, then EOF)"
"""The command for a hand-off: the shell interprets nothing in the summary, whatever quotes it has."""


def pr_created(number: int, url: str) -> str:
    """The new pull request."""
    return f"PR #{number} created: {url}"


def judged_next(phase: str, *, has_hooks: bool = True) -> str:
    """A phase in the claim file that GitHub has not confirmed or refused yet."""
    then = "the next stop asks GitHub; to" if has_hooks else "nobody has asked GitHub;"
    known = f"It is not known yet whether {phase} is true: only the claim file says so, and"
    return f"{known} {then} ask now: lifecycle tick"


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


NOT_OPENED = "no PR is opened for it"
"""What a hand-off does not do for a closed issue."""


def status_kept(status: str, *, is_labels: bool) -> str:
    """The end of a claim met a card that somebody had moved, or the label that replaces it."""
    stays = "Status label stays" if is_labels else "card stays in"
    return f"The {stays} {quoted(status)}, as somebody left it."


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


def comment_unknown(issue: int | None, again: str) -> str:
    """Closing waits for a comment that may not have been posted; `again`: when reads will show it."""
    return (
        f"#{issue} is closed. It is not known whether its comment was posted: a stop or "
        f"lifecycle tick checks from {again} on, and then the claim ends."
    )


def withheld(names: Sequence[str]) -> str:
    """A secret was removed from texts on their way to GitHub."""
    listed = " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
    return (
        f'What looks like a secret in the {listed} was replaced by "***" before publishing; everything '
        "else was done. Tell the user: if the secret is real, it has to be renewed."
    )


def forcing(task: int | str | None) -> str:
    """The command that takes a task although it is held, is not in Todo, or waits for other tasks."""
    return f"lifecycle takeover {task}"


def released_from_afar(issue: int | None) -> str:
    """The task's lease is gone: somebody else released the task, or closed it, or deleted the lease."""
    return (
        f"#{issue} was released or closed, or its lease was deleted, while this claim was quiet: this "
        "claim no longer writes anything; its branch and commits are kept. To continue it, run: "
        f"lifecycle claim {issue}; otherwise leave the task with: lifecycle release"
    )


def release_headline(agent: str, by: str, others: str, *, is_open: bool) -> str:
    """The first line of the comment on the issue when a task is released.

    `by`: who released it instead of the agent, or "". `others`: who stays assigned, or "". A closed issue
    is free for nobody, and an assigned one only for its assignees.
    """
    # Whoever pushes a lease, or edits a card, chooses the name.
    whose = unlinked(agent) or "an agent"
    who = f"{by}, in the place of {whose}" if by else whose
    free = f"it stays assigned to {others}" if others else "the task is free again"
    state = free if is_open else "the issue is closed"
    return f"Released by {who}; {state}, and nothing of the work was deleted."


def release_comment(headline: str, branch: str, progress: str, pull: str, reason: str) -> str:
    """The whole comment; `pull` is the sentence on the open PR, or ""."""
    name = branch.replace("`", "'")  # it would end the quotation
    work = f"Branch `{name}`: {progress}" if branch else progress[:1].upper() + progress[1:]
    return "\n".join(filter(None, (headline, work, pull, f"Reason: {reason}" if reason else "")))


def released(issue: int | None, board: str, branch: str, pull: str = "", others: str = "") -> str:
    """The end of a claim that was released.

    `board` is the sentence about the board, `pull` the one about an open PR, `others` who stays assigned;
    each may be empty.
    """
    work = f"branch {branch}" if branch else "the work"
    kept = f"Nothing of {work} was deleted."
    parts = (f"Issue #{issue} released.", board, kept, pull, "The claim file was deleted.")
    sentence = " ".join(part for part in parts if part)
    stays = f"#{issue} stays assigned to {others}; anybody else takes it with: {forcing(issue)}"
    return f"{sentence} {stays}" if others else sentence


def releasing(issue: int | None) -> str:
    """A release that could not be finished yet."""
    return (
        f"#{issue} is being released; what was done is kept, and the next look does the rest. To "
        "look now: lifecycle tick"
    )


def taken_over(issue: int | None, agent: str) -> str:
    """The lease, or the card, names another agent instead of this claim's."""
    return (
        f"#{issue} was taken over by {named(agent)}: this claim no longer writes anything; its branch "
        "and commits are kept. Talk to them, or leave the task with: lifecycle release"
    )


def linked_pending(task: str, issue: int, wanted: str) -> str:
    """A linked task that has still to be closed or released, after the claim ended."""
    unknown = f"A linked task of #{issue}, if there is one,"
    name = f"The linked task {task} of #{issue}" if task else unknown
    return f"{name} is still to be {wanted}: a later look does that; to do it now: lifecycle tick"


def linked_held_by(task: str, by: str, *, goes_on: bool = True) -> str:
    """Somebody else has the linked task by now; `goes_on`: the claim continues."""
    who = named(by) if by else "somebody else"
    end = "; the claim continues" if goes_on else ""
    return f"The linked task {task} is now held by {who} and was left as it is{end}."


def linked_gone(task: str, *, goes_on: bool = True) -> str:
    """The linked task does not exist any more."""
    end = "; the claim continues without it" if goes_on else ""
    return f"The linked task {task} no longer exists{end}."
