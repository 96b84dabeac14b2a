"""The control endpoint: a human's hands, the weather, and a look at everything.

`POST /_sandbox/VERB` with a JSON object of the verb's keyword arguments; the answer is JSON. No
auth, and loopback only: it is a test's remote control, and no part of GitHub.
"""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lifecycle.sandbox import checks, issues, pulls, reviews
from lifecycle.sandbox.errors import ActionRefused, ApiError, SeedError
from lifecycle.sandbox.faults import Fault
from lifecycle.sandbox.seed import shaped
from lifecycle.sandbox.snapshot import snapshot
from lifecycle.sandbox.state import (
    CheckStatus,
    Conclusion,
    Field,
    Item,
    PlannedCheck,
    ReviewState,
    StatusState,
    World,
)
from lifecycle.sandbox.world import add_item, new_option, signature

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lifecycle.sandbox.site import Site

METHODS = {"merge", "squash", "rebase"}


def merge_pull(site: Site, *, number: int, method: str, delete_branch: bool, by: str) -> Any:
    """Press the merge button."""
    if method not in METHODS:
        raise ActionRefused(f"There is no merge method {method!r}; use merge, squash or rebase.")
    user = site.world.human(by)
    return pulls.merge(site.world, number, user, method, delete_branch=delete_branch)


def close_pull(site: Site, *, number: int, by: str) -> None:
    """Close a pull request unmerged."""
    pull = site.world.pull(number)
    if not pull.is_open:
        raise ActionRefused(f"Pull request {number} is not open; nothing was done.")
    issues.close(pull.issue, site.world.human(by), None)


def reopen_pull(site: Site, *, number: int) -> None:
    """Open a closed pull request again."""
    pulls.reopen(site.world, site.world.pull(number))


def open_pull(
    site: Site, *, head: str, base: str | None, title: str, body: str | None, by: str, draft: bool
) -> int:
    """Open a pull request by hand."""
    world = site.world
    try:
        made = pulls.open_pull(
            world,
            world.human(by),
            title=title,
            body=body,
            head=head,
            base=base or world.default_branch,
            draft=draft,
        )
    except ApiError as error:
        raise ActionRefused(f"The pull request was not opened: {error.body()['errors']}.") from None
    return made.number


def review(site: Site, *, number: int, state: str, body: str, login: str) -> str:
    """Review a pull request, or dismiss what `login` said of it."""
    world = site.world
    wanted = shaped(state, ReviewState, "the review's state")
    return reviews.review(world, world.pull(number), world.human(login), wanted, body).node_id


def require_reviews(site: Site, *, approvals: int) -> None:
    """How many approvals the base branch wants, as a protected branch does; 0 wants none."""
    site.world.required_approvals = approvals


def push_commit(
    site: Site, *, branch: str, files: dict[str, str | None], message: str, start: str, by: str
) -> str:
    """Commit to a branch, which begins at `start` if there is none of that name."""
    world = site.world
    user = world.human(by)
    if not world.git.is_branch_name(branch):
        raise ActionRefused(f"{branch!r} is no name for a branch; nothing was pushed.")
    parent = world.heads.get(f"refs/heads/{branch}") or world.git.resolve(
        start or world.default_branch
    )
    if parent is None:
        raise ActionRefused(f"There is no commit {start!r}; nothing was pushed.")
    sha = world.git.commit_files(branch, files, message, signature(user), parent=parent)
    pulls.refresh(world, user)
    return sha


def delete_branch(site: Site, *, branch: str, by: str) -> None:
    """Delete a branch, which closes its pull requests."""
    pulls.remove_branch(site.world, branch)
    pulls.refresh(site.world, site.world.human(by))


def close_issue(site: Site, *, number: int, reason: str, by: str) -> None:
    """Close an issue."""
    issues.close(
        site.world.issue(number), site.world.human(by), shaped(reason, issues.Reason, "the reason")
    )


def reopen_issue(site: Site, *, number: int) -> None:
    """Open a closed issue again."""
    issues.reopen(site.world.issue(number))


def comment(site: Site, *, number: int, body: str, by: str) -> int:
    """Write a comment."""
    world = site.world
    return issues.comment(world, world.issue(number), world.human(by), body).id


def assign(site: Site, *, number: int, logins: list[str]) -> None:
    """Add assignees."""
    for login in logins:
        site.world.human(login)
    issues.assign(site.world, site.world.issue(number), logins)


def unassign(site: Site, *, number: int, logins: list[str]) -> None:
    """Remove assignees."""
    issues.unassign(site.world.issue(number), logins)


def _field(world: World, name: str) -> Field:
    found = world.board().field_named(name)
    if found is None:
        raise ActionRefused(f"The board has no field {name!r}; nothing was done.")
    return found


def _card(world: World, issue: int) -> Item:
    found = world.board().item_of(world.issue(issue))
    if found is None:
        raise ActionRefused(f"Issue {issue} is not on the board; nothing was done.")
    return found


def set_field(site: Site, *, issue: int, field: str, value: str | None) -> None:
    """Move a card: set a field of an issue's item by name, or clear it."""
    column, card = _field(site.world, field), _card(site.world, issue)
    if value is None:
        card.values.pop(column.id, None)
        return
    if column.data_type == "SINGLE_SELECT":
        ids = {option.name: option.id for option in column.options}
        if value not in ids:
            raise ActionRefused(f"{field!r} has no option {value!r}; it has {', '.join(ids)}.")
        value = ids[value]
    card.values[column.id] = value


def archive_item(site: Site, *, issue: int, archived: bool) -> None:
    """Archive an issue's card, or take it out of the archive."""
    _card(site.world, issue).archived = archived


def remove_item(site: Site, *, issue: int) -> None:
    """Take an issue off the board."""
    site.world.board().items.remove(_card(site.world, issue))


def put_item(site: Site, *, issue: int) -> str:
    """Put an issue on the board."""
    return add_item(site.world, site.world.board(), site.world.issue(issue)).id


def add_option(site: Site, *, field: str, name: str) -> str:
    """Add an option to a single select field."""
    column = _field(site.world, field)
    option = new_option(column, name, next(site.world.serial))
    column.options.append(option)
    return option.id


def rename_option(site: Site, *, field: str, old: str, new: str) -> str:
    """Replace an option by one of another name and id; cards that had it keep it."""
    column = _field(site.world, field)
    option = next((o for o in column.options if o.name == old), None)
    if option is None:
        raise ActionRefused(f"{field!r} has no option {old!r}; nothing was renamed.")
    fresh = new_option(column, new, next(site.world.serial))
    for item in site.world.board().items:
        if item.values.get(column.id) == option.id:
            item.values[column.id] = fresh.id
    option.id, option.name = fresh.id, fresh.name
    return option.id


def set_scopes(site: Site, *, scopes: list[str], token: str | None) -> None:
    """Give a token (by default the first) other scopes."""
    tokens = site.world.tokens
    if token is not None and token not in tokens:
        raise ActionRefused("That token is not of this world; nothing was changed.")
    chosen = tokens[token] if token is not None else next(iter(tokens.values()))
    chosen.scopes = frozenset(scopes)


def _sha(world: World, target: int | str) -> str:
    sha = world.pull(target).head_sha if isinstance(target, int) else world.git.resolve(target)
    if sha is None:
        raise ActionRefused(f"There is no commit {target!r}; nothing was set.")
    return sha


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def set_check(
    site: Site,
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
) -> int:
    """Set a check run on a pull request's head, a branch or a commit."""
    shaped(status, CheckStatus, "the check's status")
    shaped(conclusion, Conclusion | None, "the check's conclusion")
    return checks.set_check(
        site.world,
        _sha(site.world, target),
        name,
        status=status,
        conclusion=conclusion,
        workflow=workflow,
        event=event,
        started_at=_moment(started_at),
        completed_at=_moment(completed_at),
        rerun=rerun,
    ).id


def set_status(
    site: Site, *, target: int | str, context: str, state: str, description: str | None
) -> int:
    """Add a commit status to a pull request's head, a branch or a commit."""
    shaped(state, StatusState, "the status's state")
    world = site.world
    return checks.set_status(world, _sha(world, target), context, state, description).id


def plan_checks(site: Site, *, plans: list[Any]) -> None:
    """Say which checks each head that arrives from now on will get, and after how many reads."""
    site.world.plans = tuple(shaped(plans, list[PlannedCheck], "the plan"))


def set_lag(site: Site, *, pulls: int, comments: int) -> None:
    """How many reads of lists miss what is created from now on."""
    site.world.lag.update(pulls=pulls, comments=comments)


def add_fault(site: Site, *, fault: dict[str, Any]) -> None:
    """Set a fault."""
    site.faults.add(shaped(fault, Fault, "the fault"))


def clear_faults(site: Site) -> None:
    """Forget all faults; who hangs already goes on hanging."""
    site.faults.clear()


def drop_connections(site: Site) -> int:
    """Close connections on which nothing is under way, as whoever stands between does."""
    return site.connections.shut(idle_only=True)


def clear_requests(site: Site) -> None:
    """Empty the request log."""
    site.log.clear()


def world(site: Site) -> Any:
    """Everything, for assertions."""
    return snapshot(site.world)


VERBS: Mapping[str, Callable[..., Any]] = {
    verb.__name__: verb
    for verb in (
        add_fault, add_option, archive_item, assign, clear_faults, clear_requests, close_issue,
        close_pull, comment, delete_branch, drop_connections, merge_pull, open_pull, plan_checks,
        push_commit, put_item, remove_item, rename_option, reopen_issue, reopen_pull,
        require_reviews, review, set_check, set_field, set_lag, set_scopes, set_status, unassign,
        world,
    )
}  # fmt: skip


def perform(site: Site, verb: str, arguments: Mapping[str, Any]) -> tuple[int, Any]:
    """Do what the control client asks: an HTTP status and a JSON value, or `{"error": …}`."""
    if verb == "requests":  # the log has a lock of its own: a wait must not stop the world
        arrived = site.log.await_count(
            int(arguments.get("count", 0)), float(arguments.get("seconds", 0))
        )
        return 200, {"arrived": arrived, "requests": site.log.listed()}
    if verb not in VERBS:
        return 404, {"error": f"The sandbox has no control verb {verb!r}."}
    try:
        inspect.signature(VERBS[verb]).bind(site, **arguments)
    except TypeError as error:
        return 400, {"error": f"The control verb {verb!r} was called wrongly: {error}."}
    with site.world.lock:
        try:
            return 200, VERBS[verb](site, **arguments)
        except (ActionRefused, SeedError) as refused:
            return 409, {"error": str(refused)}
