"""The control endpoint: requests that act as people, set faults, or show the whole world.

`POST /_sandbox/VERB` with a JSON object of the verb's keyword arguments; the answer is JSON. It needs no
authentication and is on loopback only: it is a test's remote control, not a part of GitHub.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, get_args

from lifecycle.sandbox.base.errors import ActionRefused, ApiError, SeedError
from lifecycle.sandbox.base.times import now, set_clock, stamp
from lifecycle.sandbox.boards import actions as cards
from lifecycle.sandbox.boards.actions import add_item, new_option
from lifecycle.sandbox.boards.state import BoardTables, Field, Item
from lifecycle.sandbox.checks import actions as checks
from lifecycle.sandbox.checks import suites
from lifecycle.sandbox.checks.state import (
    Annotation,
    CheckStatus,
    CheckTables,
    Conclusion,
    PlannedCheck,
    StatusState,
    Step,
)
from lifecycle.sandbox.control.faults import Fault
from lifecycle.sandbox.control.snapshot import snapshot
from lifecycle.sandbox.git.store.importing import commit_files, signature
from lifecycle.sandbox.git.store.repository import is_ref_name
from lifecycle.sandbox.issues import actions as issues
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.pulls import actions as pulls
from lifecycle.sandbox.pulls.merging import actions as merging
from lifecycle.sandbox.pulls.merging import automerge
from lifecycle.sandbox.pulls.reviews import actions as reviews
from lifecycle.sandbox.pulls.reviews import threads
from lifecycle.sandbox.pulls.state import MergeMethod, PullTables, ReviewState
from lifecycle.sandbox.repositories import actions as repositories
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.rules import actions as rules
from lifecycle.sandbox.seed import shaped
from lifecycle.sandbox.seed.dumping import as_yaml, seed_of
from lifecycle.sandbox.wire import links
from lifecycle.sandbox.wire.site import At, Site


def _field(world: World, name: str) -> Field:
    field = BoardTables.of(world).first().field_named(name)
    if field is None:
        raise ActionRefused(f"The board has no field {name!r}; nothing was done.")
    return field


def _card(at: At, issue: int) -> Item:
    card = BoardTables.of(at.world).first().item_of(IssueTables.of(at.repo).issue(issue))
    if card is None:
        raise ActionRefused(f"Issue {issue} is not on the board; nothing was done.")
    return card


def set_field(at: At, *, issue: int, field: str, value: str | None, by: str = "") -> None:
    """Set or clear a field of an issue's card by name."""
    column, card = _field(at.world, field), _card(at, issue)
    if value is None:
        card.drop(column.id)
        return
    if column.data_type == "SINGLE_SELECT":
        ids = {option.name: option.id for option in column.options}
        if value not in ids:
            raise ActionRefused(f"{field!r} has no option {value!r}; it has {', '.join(ids)}.")
        value = ids[value]
    card.give(column.id, value, at.human(by))


def archive_item(at: At, *, issue: int, archived: bool) -> None:
    """Archive an issue's card, or restore it."""
    _card(at, issue).archived = archived


def remove_item(at: At, *, issue: int) -> None:
    """Remove an issue from the board."""
    cards.remove_item(at.world, _card(at, issue))


def put_item(at: At, *, issue: int) -> str:
    """Add an issue to the board and return the card's id."""
    return add_item(
        at.world,
        BoardTables.of(at.world).first(),
        IssueTables.of(at.repo).issue(issue),
        at.repo.owner,
    ).id


def add_option(at: At, *, field: str, name: str) -> str:
    """Add an option to a single select field and return its id."""
    column = _field(at.world, field)
    option = new_option(column, name, next(at.world.serial))
    column.options.append(option)
    return option.id


def rename_option(at: At, *, field: str, old: str, new: str) -> str:
    """Give an option another name and id, also on the cards with this option; return the id."""
    column = _field(at.world, field)
    option = next((o for o in column.options if o.name == old), None)
    if option is None:
        raise ActionRefused(f"{field!r} has no option {old!r}; nothing was renamed.")
    fresh = new_option(column, new, next(at.world.serial))
    for item in BoardTables.of(at.world).first().items:
        if item.values.get(column.id) == option.id:
            item.values[column.id] = fresh.id
    option.id, option.name = fresh.id, fresh.name
    return option.id


BOARD_VERBS = (add_option, archive_item, put_item, remove_item, rename_option, set_field)


def merge_pull(at: At, *, number: int, method: str, delete_branch: bool, by: str) -> Any:
    """Press the merge button."""
    if method not in get_args(MergeMethod):
        raise ActionRefused(f"There is no merge method {method!r}; use merge, squash or rebase.")
    user = at.human(by)
    pull = PullTables.of(at.repo).pull(number)
    if not pull.is_open:
        raise ActionRefused(f"Pull request {number} is not open, so it was not merged.")
    how = merging.How(shaped(method, MergeMethod, "the merge method"))
    return merging.merge(pull, user, how, delete_branch=delete_branch)


def close_pull(at: At, *, number: int, by: str) -> None:
    """Close a pull request unmerged."""
    pull = PullTables.of(at.repo).pull(number)
    if not pull.is_open:
        raise ActionRefused(f"Pull request {number} is not open; nothing was done.")
    pulls.close(pull, at.human(by))


def reopen_pull(at: At, *, number: int) -> None:
    """Open a closed pull request again."""
    pulls.reopen(at.repo, PullTables.of(at.repo).pull(number))


def open_pull(
    at: At, *, head: str, base: str | None, title: str, body: str | None, by: str, draft: bool
) -> int:
    """Open a pull request by hand."""
    repo = at.repo
    try:
        pull = pulls.open_pull(
            repo,
            at.human(by),
            title=title,
            body=body,
            head=head,
            base=base or repo.default_branch,
            draft=draft,
        )
    except ApiError as error:
        raise ActionRefused(f"The pull request was not opened: {error.body()['errors']}.") from None
    return pull.number


def review(
    at: At, *, number: int, state: str, body: str, login: str, comments: list[dict[str, Any]]
) -> str:
    """Review a pull request, also lines of it, or dismiss the last review of `login`."""
    repo = at.repo
    wanted = shaped(state, ReviewState, "the review's state")
    pull, who = PullTables.of(repo).pull(number), at.human(login)
    submitted = reviews.review(pull, who, wanted, body)
    try:
        for line_comment in comments:
            names = {"path", "line", "side", "start_line"} & line_comment.keys()
            place = threads.Place(**{name: line_comment[name] for name in names})
            threads.begin(pull, who, place, line_comment["body"], submitted)
    except ActionRefused:
        submitted.state = "PENDING"
        reviews.delete(submitted)
        raise
    return submitted.node_id


def require_reviews(at: At, *, approvals: int) -> None:
    """Set how many approvals the base branch requires, as a protected branch; 0 requires none."""
    rules.demand_reviews(at.repo, approvals)


def push_commit(
    at: At, *, branch: str, files: dict[str, str | None], message: str, start: str, by: str
) -> str:
    """Commit to a branch; a new one begins at `start`."""
    repo = at.repo
    user = at.human(by)
    if not is_ref_name(f"refs/heads/{branch}"):
        raise ActionRefused(f"{branch!r} is no name for a branch; nothing was pushed.")
    parent = repo.heads.get(f"refs/heads/{branch}") or repo.git.resolve(
        start or repo.default_branch
    )
    if parent is None:
        raise ActionRefused(f"There is no commit {start!r}; nothing was pushed.")
    sha = commit_files(repo.git, branch, files, message, signature(user), parent=parent)
    pulls.refresh(repo, user)
    return sha


def delete_branch(at: At, *, branch: str, by: str) -> None:
    """Delete a branch, which closes its pull requests."""
    pulls.remove_branch(at.repo, branch)
    pulls.refresh(at.repo, at.human(by))


def close_issue(at: At, *, number: int, reason: str, by: str) -> None:
    """Close an issue."""
    issues.close(
        IssueTables.of(at.repo).issue(number),
        at.human(by),
        shaped(reason, issues.Reason, "the reason"),
    )


def reopen_issue(at: At, *, number: int) -> None:
    """Open a closed issue again."""
    issues.reopen(IssueTables.of(at.repo).issue(number))


def comment(at: At, *, number: int, body: str, by: str) -> int:
    """Write a comment."""
    repo = at.repo
    return issues.comment(IssueTables.of(repo).issue(number), at.human(by), body).id


def assign(at: At, *, number: int, logins: list[str]) -> None:
    """Add assignees."""
    for login in logins:
        at.human(login)
    issues.assign(IssueTables.of(at.repo).issue(number), logins)


def unassign(at: At, *, number: int, logins: list[str]) -> None:
    """Remove assignees."""
    issues.unassign(IssueTables.of(at.repo).issue(number), logins)


def rename_repository(at: At, *, name: str) -> str:
    """Give the repository another name; the old one redirects."""
    repositories.rename(at.repo, name)
    return at.repo.full_name


def set_scopes(at: At, *, scopes: list[str], token: str | None) -> None:
    """Replace the scopes of a token (by default the first)."""
    tokens = at.world.tokens
    if token is not None and token not in tokens:
        raise ActionRefused("That token is not of this world; nothing was changed.")
    chosen = tokens[token] if token is not None else next(iter(tokens.values()))
    chosen.scopes = frozenset(scopes)


def _sha(repo: Repository, target: int | str) -> str:
    sha = (
        PullTables.of(repo).pull(target).head_sha
        if isinstance(target, int)
        else repo.git.resolve(target)
    )
    if sha is None:
        raise ActionRefused(f"There is no commit {target!r}; nothing was set.")
    return sha


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def set_check(
    at: At,
    *,
    target: int | str,
    name: str,
    status: str,
    conclusion: str | None,
    workflow: str | None,
    event: str,
    started_at: str | None,
    completed_at: str | None,
    rerun: bool,
    log: str | None,
    steps: list[dict[str, Any]] | None,
    annotations: list[dict[str, Any]] | None,
) -> int:
    """Set a check run on a pull request's head, a branch or a commit."""
    shaped(status, CheckStatus, "the check's status")
    shaped(conclusion, Conclusion | None, "the check's conclusion")
    check_run = checks.set_check(
        at.repo,
        _sha(at.repo, target),
        name,
        status=status,
        conclusion=conclusion,
        workflow=workflow,
        event=event,
        started_at=_moment(started_at),
        completed_at=_moment(completed_at),
        rerun=rerun,
    )
    check_run.log = check_run.log if log is None else log
    if steps is not None:
        check_run.steps = [_step(**step) for step in steps]
    if annotations is not None:
        check_run.output.annotations = [Annotation(**annotation) for annotation in annotations]
    return check_run.id


def _step(*, started_at: str | None, completed_at: str | None, **values: Any) -> Step:
    return Step(started_at=_moment(started_at), completed_at=_moment(completed_at), **values)


def break_workflow(at: At, *, target: int | str, workflow: str, event: str) -> int:
    """Make a workflow's file unreadable: its run, whose id is returned, fails without jobs."""
    suite = suites.job_suite(at.repo, _sha(at.repo, target), workflow, event)
    if suite.run is None:
        raise ActionRefused("A workflow has a name; nothing was set.")
    suite.run.unread = True
    return suite.run.id


def expire_logs(at: At) -> int:
    """Remove the logs of all jobs of the repository, and return how many there were."""
    check_runs = [run for runs in CheckTables.of(at.repo).checks.values() for run in runs]
    for run in check_runs:
        run.log_is_gone = True
    return len(check_runs)


def expire_links(at: At) -> int:
    """Let every link to a log expire, and return how many there are."""
    return links.expire(at.world)


def set_status(
    at: At, *, target: int | str, context: str, state: str, description: str | None
) -> int:
    """Add a commit status to a pull request's head, a branch or a commit."""
    shaped(state, StatusState, "the status's state")
    repo = at.repo
    return checks.set_status(repo, _sha(repo, target), context, state, description).id


def plan_checks(at: At, *, plans: list[Any]) -> None:
    """Set which checks each new head will get from now on, and after how many reads."""
    CheckTables.of(at.repo).plans = tuple(shaped(plans, list[PlannedCheck], "the plan"))


def set_lag(at: At, *, lag: dict[str, int]) -> None:
    """Set how many reads miss objects that are created from now on."""
    at.world.lag.clear()
    at.world.lag.update(shaped(lag, dict[str, int], "the lag"))


def add_fault(at: At, *, fault: dict[str, Any]) -> None:
    """Set a fault."""
    at.site.faults.add(shaped(fault, Fault, "the fault"))


def set_latency(at: At, *, seconds: float, git: float = 0.0) -> None:
    """Set by how many seconds each API request is delayed, and each of git's."""
    at.site.faults.latency, at.site.faults.git_latency = float(seconds), float(git)


def clear_faults(at: At) -> None:
    """Remove all faults; a request that hangs already stays hanging."""
    at.site.faults.clear()


def drop_connections(at: At) -> int:
    """Close idle connections, as a proxy between does, and return how many."""
    return at.site.connections.shut(idle_only=True)


def clear_requests(at: At) -> None:
    """Empty the request log."""
    at.site.log.clear()


def advance(at: At, *, seconds: float) -> str | None:
    """Let time pass for the whole world, and return the new time."""
    if seconds < 0:
        raise ActionRefused("Time does not go back; nothing was changed.")
    at.world.ahead += float(seconds)
    set_clock(at.world.ahead)
    return stamp(now())


def dump(at: At) -> str:
    """The seed of the present world, as YAML."""
    return as_yaml(seed_of(at.world))


def world(at: At) -> Any:
    """The repository and the first board as JSON, for assertions."""
    return snapshot(at.repo)


VERBS: Mapping[str, Callable[..., Any]] = {
    verb.__name__: verb
    for verb in (
        add_fault, advance, assign, break_workflow, clear_faults, clear_requests, close_issue,
        close_pull, comment, delete_branch, drop_connections, dump, expire_links, expire_logs,
        merge_pull, open_pull, plan_checks, push_commit, rename_repository, reopen_issue,
        reopen_pull, require_reviews, review, set_check, set_lag, set_latency, set_scopes,
        set_status, unassign, world,
        *BOARD_VERBS,
    )
}  # fmt: skip


def perform(site: Site, verb: str, arguments: Mapping[str, Any]) -> tuple[int, Any]:
    """Run a control verb: returns an HTTP status and a JSON value, which is `{"error": …}` if refused."""
    if verb == "requests":  # the log has its own lock: a wait must not block the world
        arrived = site.log.await_count(
            int(arguments.get("count", 0)), float(arguments.get("seconds", 0))
        )
        return 200, {"arrived": arrived, "requests": site.log.listed()}
    if verb not in VERBS:
        return 404, {"error": f"The sandbox has no control verb {verb!r}."}
    parameters = dict(arguments)
    name = parameters.pop("repository", None)
    with site.world.lock:
        repo = site.world.home if name is None else site.world.repository(str(name))
        if repo is None:
            return 409, {"error": f"There is no repository {name!r} in this world."}
        at = At(site, repo)
        try:
            inspect.signature(VERBS[verb]).bind(at, **parameters)
        except TypeError as error:
            return 400, {"error": f"The control verb {verb!r} was called wrongly: {error}."}
        try:
            result = VERBS[verb](at, **parameters)
        except (ActionRefused, SeedError) as refused:
            return 409, {"error": str(refused)}
        automerge.settle(site.world)
        return 200, result
