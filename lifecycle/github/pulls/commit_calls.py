"""What hangs on commits over REST: check runs with annotations, statuses, and refs.

Each method is one request unless it says otherwise, and returns what the answer shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from functools import partial

from lifecycle.core import timing
from lifecycle.core.errors import AlreadyExists, HeadMoved, LifecycleError, NotFound
from lifecycle.core.values.shapes import Annotation, CheckRunFacts, RefFacts, StatusFacts
from lifecycle.github.client.rest import Calls, Json
from lifecycle.github.client.rest_paths import part
from lifecycle.github.failures.failure_case import Answer

ANNOTATIONS = 50
"""How many annotations one request may bring.

Source: https://docs.github.com/rest/checks/runs#create-a-check-run
"""


class CommitCalls:
    """Check runs, statuses and refs of one repository."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def check_runs(self, sha: str, name: str) -> Iterator[CheckRunFacts]:
        """Every run of this name on a commit, the newest of each suite or not; a hundred a request.

        Source: https://docs.github.com/rest/checks/runs#list-check-runs-for-a-git-reference
        """
        subject = f"check runs of {sha[:12]}"
        query = {"check_name": name, "filter": "all"}
        path = f"commits/{sha}/check-runs"
        for one in self.calls.pages(path, subject, query, key="check_runs"):
            # A redirect after a renaming loses the query: then the list holds all.
            if one.get("name") == name:
                yield self.calls.shaped(subject, _check_run, one)

    def check_run(self, number: int) -> CheckRunFacts:
        """One run by its id.

        Source: https://docs.github.com/rest/checks/runs#get-a-check-run
        """
        return self.calls.read(f"check-runs/{number}", f"check run {number}", _check_run)

    def annotations(self, number: int) -> Iterator[Annotation]:
        """A run's annotations; a hundred a request.

        Source: https://docs.github.com/rest/checks/runs#list-check-run-annotations
        """
        subject = f"annotations of check run {number}"
        return self.calls.values(f"check-runs/{number}/annotations", subject, _annotation)

    def create_check_run(self, body: Mapping[str, object]) -> CheckRunFacts:
        """Make a check run; sent once. Only apps may, that of Actions among them.

        Source: https://docs.github.com/rest/checks/runs#create-a-check-run
        """
        subject = f'the check run "{body["name"]}"'
        return self.calls.create("POST", "check-runs", subject, _check_run, body)

    def edit_check_run(self, number: int, changes: Mapping[str, object]) -> CheckRunFacts:
        """Change a check run: fields are set, so it may be applied twice.

        Source: https://docs.github.com/rest/checks/runs#update-a-check-run
        """
        path, subject = f"check-runs/{number}", f"check run {number}"
        return self.calls.set("PATCH", path, subject, _check_run, changes)

    def annotate(
        self, number: int, page: Mapping[str, str], some: Iterable[Annotation]
    ) -> CheckRunFacts:
        """Append up to 50 annotations; sent once, since GitHub appends them each time.

        Args:
            number: the run's id.
            page: title, summary and text, which GitHub wants with them.
            some: the annotations.

        Source: https://docs.github.com/rest/checks/runs#update-a-check-run
        """
        subject = f"annotations of check run {number}"
        output = {**page, "annotations": [_annotation_body(one) for one in some]}
        path = f"check-runs/{number}"
        return self.calls.create("PATCH", path, subject, _check_run, {"output": output})

    def status(self, sha: str, context: str) -> StatusFacts | None:
        """The newest status of a context on a commit, or None; a hundred contexts a request.

        Source: https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
        """
        subject = f"statuses of {sha[:12]}"
        for one in self.calls.pages(f"commits/{sha}/status", subject, key="statuses"):
            # GitHub shows one context of two that differ in case only.
            if str(one.get("context")).casefold() == context.casefold():
                return self.calls.shaped(subject, partial(_status, sha), one)
        return None

    def create_status(self, sha: str, body: Mapping[str, object]) -> StatusFacts:
        """Add a status, which supersedes the one before; sent once.

        Source: https://docs.github.com/rest/commits/statuses#create-a-commit-status
        """
        subject = f'the status "{body["context"]}" of {sha[:12]}'
        shape = partial(_status, sha)
        return self.calls.create("POST", f"statuses/{sha}", subject, shape, body)

    def ref(self, name: str) -> RefFacts | None:
        """A ref by its whole name, or None.

        Source: https://docs.github.com/rest/git/refs#get-a-reference
        """
        return self.calls.read_if_any(f"git/ref/{_below(name)}", f"ref {name}", _ref)

    def create_ref(self, name: str, sha: str) -> RefFacts:
        """Make a ref; AlreadyExists.

        Source: https://docs.github.com/rest/git/refs#create-a-reference
        """
        subject = f"ref {name}"
        body = {"ref": name, "sha": sha}
        return self.calls.create("POST", "git/refs", subject, _ref, body, own=_ref_exists)

    def move_ref(self, name: str, sha: str, *, force: bool) -> RefFacts:
        """Move a ref; HeadMoved if `sha` is no descendant of what it holds, unless `force`.

        Source: https://docs.github.com/rest/git/refs#update-a-reference
        """
        subject = f"ref {name}"
        body = {"sha": sha, "force": force}
        path = f"git/refs/{_below(name)}"
        return self.calls.set("PATCH", path, subject, _ref, body, own=_not_forward)

    def delete_ref(self, name: str) -> None:
        """Delete a ref; NotFound if there is none.

        Source: https://docs.github.com/rest/git/refs#delete-a-reference
        """
        self.calls.delete(f"git/refs/{_below(name)}", f"ref {name}", _ref_absent)


def _below(name: str) -> str:
    """A ref's name in a path: without `refs/`, its slashes kept; Refused as `part`."""
    return "/".join(part(one) for one in name.removeprefix("refs/").split("/"))


def _ref_exists(answer: Answer) -> LifecycleError | None:
    if answer.status == 422 and "already exists" in answer.words.casefold():
        return AlreadyExists(
            "GitHub has a ref of that name already; nothing was changed.", evidence=answer.words
        )
    return None


def _not_forward(answer: Answer) -> LifecycleError | None:
    if answer.status == 422 and "fast forward" in answer.words.casefold():
        return HeadMoved(
            "The ref holds commits that the new one lacks, so it was left as it is; somebody pushed: "
            "fetch and merge first.",
            evidence=answer.words,
        )
    return None


def _ref_absent(answer: Answer) -> LifecycleError | None:
    is_absent = answer.status == 422 and "does not exist" in answer.words.casefold()
    if is_absent or answer.status == 404:
        return NotFound(
            "GitHub shows no such ref to be deleted; nothing was changed.", evidence=answer.words
        )
    return None


def _check_run(found: Json) -> CheckRunFacts:
    output = found.get("output") or {}
    return CheckRunFacts(
        id=int(found["id"]),
        name=str(found["name"]),
        sha=str(found["head_sha"]),
        url=str(found.get("html_url") or ""),
        status=str(found["status"]),
        conclusion=str(found.get("conclusion") or ""),
        external_id=str(found.get("external_id") or ""),
        details_url=str(found.get("details_url") or ""),
        title=str(output.get("title") or ""),
        summary=str(output.get("summary") or ""),
        text=str(output.get("text") or ""),
        annotations=int(output.get("annotations_count") or 0),
        started_at=timing.parse_time(found.get("started_at")),
        completed_at=timing.parse_time(found.get("completed_at")),
        app=str((found.get("app") or {}).get("slug") or ""),
    )


def _annotation(found: Json) -> Annotation:
    return Annotation(
        path=str(found["path"]),
        start_line=int(found["start_line"]),
        end_line=int(found["end_line"]),
        level=str(found["annotation_level"]),
        message=str(found["message"]),
        title=str(found.get("title") or ""),
        raw_details=str(found.get("raw_details") or ""),
        start_column=found.get("start_column"),
        end_column=found.get("end_column"),
    )


_NEEDED = {"path", "start_line", "end_line", "annotation_level", "message"}


def _annotation_body(one: Annotation) -> dict[str, object]:
    """Its fields as GitHub calls them, without the optional ones that are empty."""
    body = {"annotation_level" if name == "level" else name: v for name, v in asdict(one).items()}
    return {name: value for name, value in body.items() if value or name in _NEEDED}


def _status(sha: str, found: Json) -> StatusFacts:
    return StatusFacts(
        id=int(found["id"]),
        sha=sha,
        context=str(found["context"]),
        state=str(found["state"]),
        description=str(found.get("description") or ""),
        target_url=str(found.get("target_url") or ""),
    )


def _ref(found: Json) -> RefFacts:
    return RefFacts(str(found["ref"]), str(found["object"]["sha"]))
