"""The control client, with which a test or the demo acts as a person, and sets faults.

It needs only the sandbox's URL and the standard library.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from lifecycle.sandbox.control.catalogue import named

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lifecycle.sandbox.checks.state import Annotation, PlannedCheck, Step
    from lifecycle.sandbox.control.faults import Fault
    from lifecycle.sandbox.pulls.state import ReviewState

SECONDS = 30.0
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
"""Loopback never needs a proxy, whatever the environment says."""


class ControlError(Exception):
    """The sandbox refused a control verb; the text is the sandbox's sentence."""


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """A request to the sandbox. `status` is None if it has not been answered.

    Requests with one `connection` came on the same TCP connection.
    """

    n: int
    method: str
    path: str
    operation: str | None
    kind: Literal["rest", "graphql", "git"]
    status: int | None
    points: int | None
    connection: int


@dataclass(frozen=True, slots=True)
class Control:
    """A sandbox's remote control.

    People are named by login. The default is the first person who administers the repository: `maria`
    in the built-in world. It acts in `repository` (`owner/name`), by default the world's first. Every
    method raises ControlError with the sandbox's sentence if it is refused.
    """

    url: str
    repository: str | None = None

    def at(self, repository: str) -> Control:
        """The same remote control for another repository, `owner/name`."""
        return replace(self, repository=repository)

    def _do(self, verb: str, **arguments: Any) -> Any:
        if self.repository is not None:
            arguments["repository"] = self.repository
        request = urllib.request.Request(  # noqa: S310  the sandbox's own URL: http on loopback
            f"{self.url}/{verb}",
            data=json.dumps(arguments).encode(),
            headers={"Content-Type": "application/json"},
        )
        try:
            waits = arguments.get("seconds", 0) if verb == "requests" else 0
            with DIRECT.open(request, timeout=SECONDS + waits) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise ControlError(_reason(error.read(), error.code)) from None

    def merge_pull(
        self,
        number: int,
        *,
        method: Literal["merge", "squash", "rebase"] = "merge",
        delete_branch: bool = False,
        by: str = "",
    ) -> str:
        """Merge a pull request and return the base's new sha."""
        return str(
            self._do("merge_pull", number=number, method=method, delete_branch=delete_branch, by=by)
        )

    def close_pull(self, number: int, *, by: str = "") -> None:
        """Close a pull request unmerged."""
        self._do("close_pull", number=number, by=by)

    def reopen_pull(self, number: int) -> None:
        """Open a closed pull request again."""
        self._do("reopen_pull", number=number)

    def open_pull(
        self,
        head: str,
        title: str,
        *,
        base: str | None = None,
        body: str | None = None,
        draft: bool = False,
        by: str = "",
    ) -> int:
        """Open a pull request by hand and return its number."""
        pull = {"head": head, "title": title, "base": base, "body": body, "draft": draft, "by": by}
        return int(self._do("open_pull", **pull))

    def review(
        self,
        number: int,
        state: ReviewState,
        *,
        login: str = "",
        body: str = "",
        comments: Iterable[Mapping[str, Any]] = (),
    ) -> str:
        """Review a pull request and return the review's global id; a comment has path, line and body.

        A comment may have start_line and side, too.
        `DISMISSED` dismisses the last review of `login`. `visitor` may read, not write.
        """
        comment_values = [dict(comment) for comment in comments]
        arguments = {"state": state, "login": login, "body": body, "comments": comment_values}
        return str(self._do("review", number=number, **arguments))

    def require_reviews(self, approvals: int = 1) -> None:
        """Set how many approvals the base branch requires; without any, GitHub gives no verdict."""
        self._do("require_reviews", approvals=approvals)

    def push_commit(
        self,
        branch: str,
        files: Mapping[str, str | None],
        message: str,
        *,
        start: str = "",
        by: str = "",
    ) -> str:
        """Commit files (None deletes one) and return the sha.

        A new branch begins at `start`, by default the default branch.
        """
        arguments = {"branch": branch, "files": dict(files), "message": message}
        return str(self._do("push_commit", **arguments, start=start, by=by))

    def delete_branch(self, branch: str, *, by: str = "") -> None:
        """Delete a branch; its open pull requests close."""
        self._do("delete_branch", branch=branch, by=by)

    def close_issue(
        self,
        number: int,
        *,
        reason: Literal["completed", "not_planned", "duplicate"] = "completed",
        by: str = "",
    ) -> None:
        """Close an issue."""
        self._do("close_issue", number=number, reason=reason, by=by)

    def reopen_issue(self, number: int) -> None:
        """Open a closed issue again."""
        self._do("reopen_issue", number=number)

    def comment(self, number: int, body: str, *, by: str = "") -> int:
        """Comment on an issue or pull request and return the comment's id."""
        return int(self._do("comment", number=number, body=body, by=by))

    def assign(self, number: int, *logins: str) -> None:
        """Add assignees."""
        self._do("assign", number=number, logins=logins)

    def unassign(self, number: int, *logins: str) -> None:
        """Remove assignees."""
        self._do("unassign", number=number, logins=logins)

    def set_field(self, issue: int, field: str, value: str | None, *, by: str = "") -> None:
        """Set a field of an issue's card by name (an option by its name); None clears it."""
        self._do("set_field", issue=issue, field=field, value=value, by=by)

    def advance(self, seconds: float) -> str:
        """Let this many seconds pass for everything in the sandbox; return the new time.

        Later actions of people and programs have the later time. The tokens' hours, and the times that git
        clients write into their commits, follow the machines' clocks.
        """
        return str(self._do("advance", seconds=seconds))

    def archive_item(self, issue: int, *, archived: bool = True) -> None:
        """Archive an issue's card, or restore it."""
        self._do("archive_item", issue=issue, archived=archived)

    def remove_item(self, issue: int) -> None:
        """Remove an issue from the board."""
        self._do("remove_item", issue=issue)

    def put_item(self, issue: int) -> str:
        """Add an issue to the board and return the item's id."""
        return str(self._do("put_item", issue=issue))

    def add_option(self, field: str, name: str) -> str:
        """Add an option to a field and return its id."""
        return str(self._do("add_option", field=field, name=name))

    def rename_repository(self, name: str) -> str:
        """Give the repository another name and return its full name; the old one redirects."""
        return str(self._do("rename_repository", name=name))

    def rename_option(self, field: str, old: str, new: str) -> str:
        """Rename an option; returns its new id."""
        return str(self._do("rename_option", field=field, old=old, new=new))

    def set_scopes(self, scopes: Iterable[str], *, token: str | None = None) -> None:
        """Replace the scopes of a token (by default the one in the info line)."""
        self._do("set_scopes", scopes=sorted(scopes), token=token)

    def set_check(
        self,
        target: int | str,
        name: str,
        *,
        status: str = "completed",
        conclusion: str | None = "success",
        workflow: str | None = "CI",
        event: str = "pull_request",
        started_at: datetime | None = None,
        completed_at: datetime | None = None,
        rerun: bool = False,
        log: str | None = None,
        steps: Sequence[Step] | None = None,
        annotations: Sequence[Annotation] | None = None,
    ) -> int:
        """Set a check run on a pull request's head (number), or on a branch or commit (text).

        It updates the newest run of that name, workflow and event; `rerun` adds another one. `log` is the
        job's output, `steps` its steps. Returns the run's id.
        """
        return int(
            self._do(
                "set_check",
                target=target,
                name=name,
                status=status,
                conclusion=conclusion,
                workflow=workflow,
                event=event,
                started_at=started_at.isoformat() if started_at else None,
                completed_at=completed_at.isoformat() if completed_at else None,
                rerun=rerun,
                log=log,
                steps=None if steps is None else [_timed(asdict(step)) for step in steps],
                annotations=None
                if annotations is None
                else [asdict(annotation) for annotation in annotations],
            )
        )

    def set_status(
        self,
        target: int | str,
        context: str,
        state: Literal["error", "failure", "pending", "success"] = "success",
        *,
        description: str | None = None,
    ) -> int:
        """Add a commit status and return its id."""
        status = {"target": target, "context": context, "state": state, "description": description}
        return int(self._do("set_status", **status))

    def break_workflow(
        self, target: int | str, workflow: str = "CI", *, event: str = "pull_request"
    ) -> int:
        """Make a workflow's file unreadable; returns the number of its run."""
        return int(self._do("break_workflow", target=target, workflow=workflow, event=event))

    def expire_logs(self) -> int:
        """Let all logs expire, and return how many there are."""
        return int(self._do("expire_logs"))

    def expire_links(self) -> int:
        """Let all links to logs expire, and return how many there are."""
        return int(self._do("expire_links"))

    def plan_checks(self, *plans: PlannedCheck) -> None:
        """Replace the checks that each new head of a pull request gets from now on."""
        self._do("plan_checks", plans=[asdict(plan) for plan in plans])

    def set_lag(
        self,
        *,
        pulls: int = 0,
        issues: int = 0,
        comments: int = 0,
        items: int = 0,
        reads: int = 0,
    ) -> None:
        """Set how many reads miss objects that are made from now on.

        Lists omit pull requests, issues, comments and cards (`items`); `reads` is how often a read by
        number does not find an issue or pull request.
        """
        lag = {"pulls": pulls, "issues": issues, "comments": comments, "items": items}
        self._do("set_lag", lag={**lag, "reads": reads})

    def add_fault(self, fault: Fault | str, **changes: Any) -> None:
        """Add a fault after the existing ones: a `Fault`, or a name from the catalogue.

        `changes` replace parts of it: `add_fault("bad-gateway", path="/comments$", count=2)`.
        """
        chosen = named(fault, **changes) if isinstance(fault, str) else replace(fault, **changes)
        self._do("add_fault", fault=asdict(chosen))

    def set_latency(self, seconds: float, *, git: float = 0.0) -> None:
        """Delay each API request by this many seconds, as a network does; and each of git's by `git`."""
        self._do("set_latency", seconds=seconds, git=git)

    def clear_faults(self) -> None:
        """Remove all faults."""
        self._do("clear_faults")

    def requests(self) -> tuple[LoggedRequest, ...]:
        """Every request since the last `clear_requests`, except those to the control endpoint."""
        entries = self._do("requests")["requests"]
        return tuple(LoggedRequest(**entry) for entry in entries)

    def connections(self) -> int:
        """The number of TCP connections on which the requests of `requests` came, without git's."""
        return len({request.connection for request in self.requests() if request.kind != "git"})

    def drop_connections(self) -> int:
        """Close the idle connections, and return how many."""
        return int(self._do("drop_connections"))

    def clear_requests(self) -> None:
        """Empty the request log, to count from now on."""
        self._do("clear_requests")

    def wait_for_requests(
        self, count: int = 1, *, seconds: float = 10.0
    ) -> tuple[LoggedRequest, ...]:
        """Wait until this many requests are in the log (answered or not), and return them all.

        Raises:
            ControlError: They did not come in time.
        """
        answer = self._do("requests", count=count, seconds=seconds)
        if not answer["arrived"]:
            raise ControlError(
                f"Only {len(answer['requests'])} of {count} requests came within {seconds} s."
            )
        return tuple(LoggedRequest(**entry) for entry in answer["requests"])

    def dump(self) -> str:
        """The whole world as a seed, in YAML: `serve --seed` makes the same world from it."""
        return str(self._do("dump"))

    def world(self) -> dict[str, Any]:
        """Everything: issues, pulls and board by number as text, fields, refs, checks, statuses."""
        state: dict[str, Any] = self._do("world")
        return state


def _timed(values: dict[str, Any]) -> dict[str, Any]:
    """The same values, with times as ISO 8601 text."""
    return {
        key: value.isoformat() if isinstance(value, datetime) else value
        for key, value in values.items()
    }


def _reason(body: bytes, status: int) -> str:
    try:
        return str(json.loads(body)["error"])
    except (ValueError, KeyError, TypeError):
        return f"The sandbox answered {status} to a control request."
