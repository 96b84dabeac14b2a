"""What each step of a sequence does. A step that finds nothing to do is counted apart.

A function takes the ground and the step, and gives False if there was nothing to do: no claim to edit, no
pull request to merge. `STEPS` has them by name.
"""

from __future__ import annotations

import http.client
import json
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from lifecycle.sandbox.control import ControlError
from tests.conftest import BRANCH
from tests.e2e.client import _STOP
from tests.soak.ground import Clone, Ground
from tests.soak.sequence import CLOSE, HANDOFF, RELEASE, STOP, WORK, Step

Doing = Callable[[Ground, Step], bool]
ISSUE = 42


def pull_of(at: Ground, *states: str) -> int | None:
    """The newest pull request in one of these states."""
    pulls = at.after["pulls"].items()
    return max((int(n) for n, pull in pulls if pull["state"] in states), default=None)


def _people(act: Callable[[Ground, dict[str, Any]], object]) -> Doing:
    """A step of a person's, which the embedded GitHub may refuse."""

    def done(at: Ground, step: Step) -> bool:
        try:
            return act(at, dict(step.given)) is not False
        except ControlError:
            return False

    return done


def _on_pull(*states: str) -> Callable[[Callable[..., object]], Doing]:
    """A step of a person's on the newest pull request in one of these states."""

    def made(act: Callable[..., object]) -> Doing:
        def done(at: Ground, given: dict[str, Any]) -> object:
            number = pull_of(at, *states)
            return False if number is None else act(at, number, **given)

        return _people(done)

    return made


def _rest(at: Ground, method: str, path: str, body: dict[str, Any]) -> None:
    """Somebody edits by GitHub's own page: no verb of the control's, so by the API."""
    request = urllib.request.Request(
        f"{at.sandbox.info.api_url}/repos/{at.sandbox.info.repository}/{path}",
        data=json.dumps(body).encode(),
        method=method,
        headers={"Authorization": f"Bearer {at.sandbox.info.token}"},
    )
    try:
        urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=30)
    except (OSError, http.client.HTTPException) as error:  # a fault strikes a person's edit as well
        raise ControlError(str(error)) from None


# --- the client


def on_stop(at: Ground, step: Step) -> bool:
    """The client runs on-stop."""
    at.hook(step, "on-stop", "Stop", **_STOP)
    return True


def ci_waiter(at: Ground, step: Step) -> bool:
    """The client starts ci-waiter, and is gone when it begins to wait."""
    at.hook(step, "ci-waiter", "Stop", **_STOP)
    return True


def on_idle(at: Ground, step: Step) -> bool:
    """The client runs on-idle."""
    at.hook(step, "on-idle", "Notification", message="", notification_type="idle_prompt")
    return True


def on_clear(at: Ground, step: Step) -> bool:
    """The client runs on-clear."""
    at.hook(step, "on-clear", "SessionStart", source="clear")
    return True


def session_start(at: Ground, step: Step) -> bool:
    """The client starts the session, or goes on with it."""
    at.hook(step, "session-start", "SessionStart", source=step.given.get("source", "startup"))
    return True


def session_end(at: Ground, step: Step) -> bool:
    """The client ends the session."""
    at.hook(step, "session-end", "SessionEnd", reason="prompt_input_exit")
    return True


def other_session(at: Ground, step: Step) -> bool:
    """The client goes on with another session, the last one having ended or not."""
    at.clone(step.by).sessions += 1
    return True


def prompt(at: Ground, step: Step) -> bool:
    """Somebody writes, or a wake's text comes as a prompt."""
    at.hook(step, "user-prompt-submit", "UserPromptSubmit", prompt=step.given["text"])
    return True


def cli(at: Ground, step: Step) -> bool:
    """Agent or person runs a command."""
    clone = at.clone(step.by)
    had = clone.content
    at.cli(step, *step.given["arguments"], is_person=bool(step.given.get("is_person")))
    clone.life += had is None and clone.content is not None
    return True


# --- a team


def team(at: Ground, step: Step) -> bool:
    """Everybody has a machine of their own, with its clock, its clone and an account."""
    at.clones.clear()
    at.machines = step.given["machines"]
    for number in range(1, len(at.machines)):
        at.clone(number)
    return True


def sweep(at: Ground, step: Step) -> bool:
    """A maintainer's sweep, on a machine that has no clone."""
    at.sweep(step, *step.given["arguments"])
    return True


def go_on(at: Ground, step: Step) -> bool:
    """A command that was held in the middle goes on to its end."""
    if step.by not in at.held:
        return False
    at.go_on(step.by)
    return True


NEXT = {"coding": (WORK, HANDOFF), "merged_detected": (CLOSE,)}
"""What comes next for a claim in a phase; a stop in the others."""


def advance(at: Ground, step: Step) -> bool:
    """An agent, or whoever it waits for, does what comes next for its claim, or it takes a task."""
    clone = at.clone(step.by)
    claim = clone.claim
    if claim.get("phase") == "checks_running" and str(claim["pr_number"]) in at.after["pulls"]:
        return _people(lambda at, _: at.control.merge_pull(claim["pr_number"], method="squash"))(
            at, step
        )
    taking = Step("cli", {"arguments": ("claim", str(step.given["issue"]))})
    nexts = (RELEASE,) if clone.is_lost else NEXT.get(claim.get("phase", ""), (STOP,))
    for one in nexts if claim else (taking,):
        STEPS[one.name](at, replace(one, by=step.by, kill=step.kill))
    return True


# --- the agent


def write_by_hand(at: Ground, step: Step) -> bool:
    """The agent writes a claim, whole, as the design shows it."""
    clone = at.clone(step.by)
    if clone.content is not None:
        return False
    content = {
        "schema_version": 1,
        "item_id": at.after["board"].get(str(ISSUE), {}).get("id", "TEST"),
        "issue_number": ISSUE,
        "branch": BRANCH,
        "agent_id": "octocat-1",
        "summary": "Fix race condition",
        "status": "In Progress",
        "pr_number": None,
        "last_check_poll": None,
        "last_synced_status": None,
        **step.given,
    }
    clone.claim_path.write_text(json.dumps(content))
    clone.life += 1
    return True


IDENTITY = ("branch", "issue_number", "agent_id")
"""Fields of which another value may make another claim; of the issue's number GitHub decides."""


def edit(at: Ground, step: Step) -> bool:
    """The agent changes a field: in place, by a rename, or in a copy that may be old."""
    clone = at.clone(step.by)
    given = dict(step.given)
    how = given.pop("how", "in place")
    claim = before = clone.claim
    if not claim:
        return False
    if how == "from an old copy" and clone.kept:
        claim = json.loads(clone.kept[0])
        clone.kept.clear()
    claim = {**claim, **given}
    content = json.dumps(claim)
    if how == "rename":
        temporary = clone.claim_path.with_name(".edit")
        temporary.write_text(content)
        temporary.replace(clone.claim_path)
    else:
        clone.claim_path.write_text(content)
    changed = {name for name in IDENTITY if claim.get(name) != before.get(name)}
    clone.life += bool(changed)
    clone.renumbered += changed == {"issue_number"}
    return True


def break_claim(at: Ground, step: Step) -> bool:
    """The agent leaves something in the claim's place that is no claim."""
    at.clone(step.by).claim_path.write_text(step.given["text"])
    return True


def delete_claim(at: Ground, step: Step) -> bool:
    """The agent deletes the claim."""
    clone = at.clone(step.by)
    if clone.content is None:
        return False
    clone.claim_path.unlink()
    clone.life += 1
    return True


def work(at: Ground, step: Step) -> bool:
    """The agent commits on the claim's branch, and pushes it or not; a push may fail."""
    clone = at.clone(step.by)
    branch = clone.claim.get("branch")
    place = clone.place
    if not isinstance(branch, str) or branch in ("", "main"):
        return False
    if place.run("git", "switch", "--quiet", branch).returncode:
        place.run("git", "switch", "--quiet", "-c", branch)
    with (place.root / f"work-{step.by}.txt").open("a") as file:
        file.write(f"step {at.index}\n")
    place.run("git", "add", f"work-{step.by}.txt")
    place.run("git", "commit", "--quiet", "-m", f"Step {at.index}")
    clone.commits.append(place.git("rev-parse", "HEAD"))
    if step.given["push"]:
        place.run("git", "push", "--quiet", "origin", branch)
    return True


def force_push(at: Ground, step: Step) -> bool:
    """The agent rewrites its last commit and pushes that."""
    place = at.clone(step.by).place
    branch = place.git("branch", "--show-current")
    if branch in ("main", ""):
        return False
    place.run("git", "commit", "--quiet", "--amend", "-m", f"Step {at.index}, anew")
    return bool(place.run("git", "push", "--quiet", "--force", "origin", branch).returncode == 0)


def git_add_all(at: Ground, step: Step) -> bool:
    """The agent commits whatever lies there."""
    place = at.clone(step.by).place
    place.run("git", "add", "--all")
    return bool(place.run("git", "commit", "--quiet", "-m", "All").returncode == 0)


# --- time and weather


def time(at: Ground, step: Step) -> bool:
    """Time passes."""
    at.pass_time(step.given["seconds"])
    return True


def fault(at: Ground, step: Step) -> bool:
    """GitHub is about to fail."""
    given = dict(step.given)
    at.control.add_fault(given.pop("fault"), **given)
    return True


def network_off(at: Ground, _step: Step) -> bool:
    """Nothing is reached any more."""
    at.control.add_fault("connection-cut", count=1_000_000)
    return True


def lag(at: Ground, step: Step) -> bool:
    """What is new is missing from the next read."""
    at.control.set_lag(**{step.given["what"]: 1})
    return True


def few_scopes(at: Ground, _step: Step) -> bool:
    """The token loses the board."""
    at.control.set_scopes(["repo"])
    return True


def calm(at: Ground, _step: Step) -> bool:
    """All is well again."""
    at.control.clear_faults()
    at.control.set_lag()
    at.control.set_scopes(["repo", "project"])
    return True


# --- people


def _field(name: str) -> Doing:
    def done(at: Ground, given: dict[str, Any]) -> None:
        issue = given.pop("issue", ISSUE)
        (value,) = given.values()
        at.control.set_field(issue, name, value)

    return _people(done)


def _on_issue(verb: str) -> Doing:
    def done(at: Ground, given: dict[str, Any]) -> None:
        getattr(at.control, verb)(given.pop("issue", ISSUE), *given.values())

    return _people(done)


def _push(at: Ground, number: int) -> str:
    branch = at.after["pulls"][str(number)]["head"].rpartition(":")[2]
    return at.control.push_commit(branch, {"theirs.txt": f"step {at.index}\n"}, "Theirs")


def _set_check(at: Ground, number: int, **given: Any) -> None:
    status = "completed" if given["conclusion"] else "in_progress"
    at.control.set_check(number, status=status, rerun=bool(at.index % 2), **given)


def _delete_branch(at: Ground, number: int) -> None:
    at.control.delete_branch(at.after["pulls"][str(number)]["head"].rpartition(":")[2])


def _open_pull(at: Ground, _given: dict[str, Any]) -> object:
    branches = [ref.removeprefix("refs/heads/") for ref in at.after["refs"] if "claude/" in ref]
    if not branches:
        return False
    return at.control.open_pull(branches[-1], "By hand", body=f"Refs #{ISSUE}")


STEPS: dict[str, Doing] = {
    **{
        act.__name__: act
        for act in (
            on_stop, ci_waiter, on_idle, on_clear, session_start, session_end, other_session, prompt,
            cli, write_by_hand, edit, break_claim, delete_claim, work, force_push, git_add_all, time,
            fault, network_off, lag, few_scopes, calm, team, sweep, go_on, advance,
        )
    },
    "merge": _on_pull("open")(lambda at, n, **given: at.control.merge_pull(n, **given)),
    "close_pull": _on_pull("open")(lambda at, n: at.control.close_pull(n)),
    "reopen_pull": _on_pull("closed")(lambda at, n: at.control.reopen_pull(n)),
    "review": _on_pull("open")(lambda at, n, **given: at.control.review(n, **given, body="So.")),
    "set_check": _on_pull("open")(_set_check),
    "push_commit": _on_pull("open")(_push),
    "delete_branch": _on_pull("open", "merged", "closed")(_delete_branch),
    "edit_title": _on_pull("open")(lambda at, n: _rest(at, "PATCH", f"pulls/{n}", {"title": "T"})),
    "edit_body": _on_pull("open")(lambda at, n: _rest(at, "PATCH", f"pulls/{n}", {"body": ""})),
    "open_pull": _people(_open_pull),
    "move_card": _field("Status"),
    "name_agent": _field("Agent"),
    "assign": _on_issue("assign"),
    "unassign": _on_issue("unassign"),
    "close_issue": _on_issue("close_issue"),
    "reopen_issue": _on_issue("reopen_issue"),
    "comment": _people(lambda at, _: at.control.comment(ISSUE, "Completed in #46\n\nsays maria")),
    "archive_card": _on_issue("archive_item"),
    "remove_card": _on_issue("remove_item"),
    "put_card": _on_issue("put_item"),
}  # fmt: skip
"""A step's name → what it does."""


def keep_copy(clone: Clone) -> None:
    """The agent reads the claim, and may write that copy back some time."""
    if clone.claim:
        clone.kept[:0] = [clone.content or b"{}"]
        del clone.kept[6:]
