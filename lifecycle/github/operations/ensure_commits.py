"""Operations on commits: their check runs and statuses, and the refs (branches, tags) that name them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import partial
from typing import Any, Literal

from lifecycle.core import timing
from lifecycle.core.errors import AlreadyExists, HeadMoved, NotFound, Refused
from lifecycle.core.light_dataclass import asdict, fields_of
from lifecycle.core.values.shapes import Annotation, CheckRunFacts, Ensured, RefFacts, StatusFacts
from lifecycle.github.client.client_common import given, path_part, read_as, texts, times
from lifecycle.github.client.rest import Calls, Json
from lifecycle.github.failures import answered, first_of, sentence
from lifecycle.github.operations.inputs import Guarded, same, whole_sha
from lifecycle.github.operations.unclear_writes import fitted, if_wanted, removed, settled

RunStatus = Literal["queued", "in_progress", "completed"]
Conclusion = Literal[
    "", "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"
]
Page = Mapping[str, str]
Remarks = tuple[Annotation, ...]
_BOT = "[bot]"
ANNOTATIONS = 50
"""How many annotations one request may contain.

Source: https://docs.github.com/rest/checks/runs#create-a-check-run
"""


class CheckOperations(Guarded[Calls]):
    """Operations on check runs."""

    _app = ""

    def ensure_check_run(
        self,
        name: str,
        sha: str,
        *,
        external_id: str = "",
        status: RunStatus = "completed",
        conclusion: Conclusion = "",
        title: str = "",
        summary: str = "",
        text: str = "",
        annotations: tuple[Annotation, ...] = (),
        details_url: str = "",
        started_at: float | None = None,
        completed_at: float | None = None,
    ) -> Ensured[CheckRunFacts]:
        """There is one check run of ours of this name and external id on this commit, in this state.

        The newest matching run is adopted and changed, so give a re-run an external id of its own if the
        old run should stay. Another app's run of that name is left alone: GitHub lets only the app that
        made a run change it. GitHub appends annotations and removes none: missing ones are sent, up to
        50 a request, and others stay.

        Args:
            name: the name that pages show and that a rule may require.
            sha: the commit, all 40 digits.
            external_id: distinguishes the run from others of the same name; "" adopts any.
            status: how far the run is.
            conclusion: given with `completed`, and only then.
            title: the title of its page; needed with a summary, a text or an annotation.
            summary: the summary on its page, Markdown, at most 65,535 characters.
            text: the details on its page, Markdown, at most 65,535 characters.
            annotations: remarks on lines.
            details_url: an address with more details; "" leaves the old one.
            started_at: seconds since the epoch, kept to the second; None leaves the old time.
            completed_at: likewise.

        Requests: unchanged 1 (for each hundred runs of the name), and 1 for each hundred annotations
        of the run if some are wanted; created or changed 1 more; 1 more for each 50 annotations. An
        object that finds a run before it made one asks 1 or 2 more, once: whose token it is.
        Sources: https://docs.github.com/rest/checks/runs#create-a-check-run and
        https://docs.github.com/rest/checks/runs#update-a-check-run

        Raises:
            Refused: a conclusion without `completed`, or the other way round; a page without a title; a
                sha that does not have 40 digits.
            NoPermission: the token is not an app's: only apps (that of Actions too) write check runs.
            Rejected: GitHub says no, or still shows something else.
            Transient: not now, or it is unknown whether the run was created.
        """
        sha = whole_sha(sha)
        has_page = bool(title or summary or text or annotations)
        if (status == "completed") != bool(conclusion):
            raise Refused(sentence("half-conclusion"))
        if has_page and not title:
            raise Refused(sentence("page-without-title"))
        named = given(conclusion=conclusion, external_id=external_id, details_url=details_url)
        stamps = given(started_at=_stamp(started_at), completed_at=_stamp(completed_at))
        fields: dict[str, Any] = {"status": status, **named, **stamps}
        page = {"title": title, "summary": summary, "text": text}
        if has_page:
            fields["output"] = page
        find = partial(self._find, sha, name, external_id)
        check_run = find()
        is_new = check_run is None
        if check_run is None:
            body, subject = {"name": name, "head_sha": sha, **fields}, f'the check run "{name}"'
            create = partial(self._calls.create, "POST", "check-runs", subject, _check_run, body)
            check_run = settled(create, find).now
            self._app = check_run.app
        # A run found after a lost answer may be ours or somebody else's: it is compared, too.
        fitting = self._with_fields(check_run, fields)
        lacking = self._left(fitting.now, annotations) if annotations else ()
        now = fitting.now
        # Each batch is counted before the next is sent.
        for start in range(0, len(lacking), ANNOTATIONS):
            now = self._appended(now, page, lacking[start : start + ANNOTATIONS])
        return Ensured(now, changed=is_new or fitting.changed or bool(lacking))

    def _find(self, sha: str, name: str, external_id: str) -> CheckRunFacts | None:
        subject = f"check runs of {sha[:12]}"
        query = {"check_name": name, "filter": "all"}
        listed = self._calls.pages(f"commits/{sha}/check-runs", subject, query, key="check_runs")
        # A redirect after a rename loses the query: then the list has runs of all names.
        named = (entry for entry in listed if entry.get("name") == name)
        runs = [self._calls.shaped(subject, _check_run, entry) for entry in named]
        fitting = [run for run in runs if external_id in {"", run.external_id}]
        return max(filter(self._is_ours, fitting), key=lambda run: run.id, default=None)

    def _is_ours(self, run: CheckRunFacts) -> bool:
        """True if the token's app made the run; if the token is not an app's, GitHub has to judge.

        An app acts as the account `SLUG[bot]`.
        Source: https://github.com/fullsend-ai/fullsend/pull/1953
        """
        if not self._app:
            login = self._calls.login
            self._app = login.removesuffix(_BOT) if login.endswith(_BOT) else ""
        return not self._app or run.app.casefold() == self._app.casefold()

    def _with_fields(self, run: CheckRunFacts, fields: dict[str, Any]) -> Ensured[CheckRunFacts]:
        path, subject = f"check-runs/{run.id}", f"check run {run.id}"
        edit = partial(self._calls.set, "PATCH", path, subject, _check_run, fields)

        def differs(now: CheckRunFacts) -> str:
            names = ", ".join(_differing(now, fields))
            return sentence("check-run-differs", name=run.name, differing=names)

        read = partial(self._read, run.id)
        return fitted(run, lambda now: not _differing(now, fields), edit, read, differs)

    def _appended(self, run: CheckRunFacts, page: Page, batch: Remarks) -> CheckRunFacts:
        count = run.annotations + len(batch)
        look = if_wanted(partial(self._read, run.id), lambda now: now.annotations >= count)
        output = {**page, "annotations": [_annotation_body(annotation) for annotation in batch]}
        path, subject = f"check-runs/{run.id}", f"annotations of check run {run.id}"
        # Sent once, since GitHub appends them each time. It requires the page's texts with them.
        append = partial(self._calls.create, "PATCH", path, subject, _check_run, {"output": output})
        return settled(append, look).now

    def _left(self, run: CheckRunFacts, wanted: Remarks) -> Remarks:
        """The wanted annotations that the run does not have."""
        path, subject = f"check-runs/{run.id}/annotations", f"annotations of check run {run.id}"
        shown = self._calls.values(path, subject, _annotation) if run.annotations else ()
        return tuple((Counter(wanted) - Counter(shown)).elements())

    def _read(self, number: int) -> CheckRunFacts:
        return self._calls.read(f"check-runs/{number}", f"check run {number}", _check_run)


def _stamp(moment: float | None) -> str:
    """Seconds since the epoch as GitHub writes them."""
    return "" if moment is None else timing.render_time(moment)


def _differing(run: CheckRunFacts, fields: dict[str, Any]) -> list[str]:
    """The names of the fields in which a run is not as wanted."""
    wanted = {**fields, **fields.get("output", {})}
    wanted.pop("output", None)
    stamps = {"started_at": _stamp(run.started_at), "completed_at": _stamp(run.completed_at)}
    shown = {**fields_of(run, *wanted), **stamps}
    return [name for name, value in wanted.items() if not same(value, shown[name])]


def _check_run(run: Json) -> CheckRunFacts:
    output = run.get("output") or {}
    page = {**output, "annotations": output.get("annotations_count")}
    named = {"sha": run["head_sha"], **texts(run, app="app.slug", url="html_url")}
    moments = times(run, started_at="started_at", completed_at="completed_at")
    return read_as(CheckRunFacts, {**run, **page, **named, **moments})


def _annotation(annotation: Json) -> Annotation:
    shown = texts(annotation, path="path", level="annotation_level", message="message")
    return read_as(Annotation, {**annotation, **shown})


_NEEDED = {"path", "start_line", "end_line", "annotation_level", "message"}


def _annotation_body(annotation: Annotation) -> dict[str, object]:
    """An annotation's fields as GitHub calls them, without the optional ones that are empty."""
    body = asdict(annotation)
    body["annotation_level"] = body.pop("level")
    return {name: value for name, value in body.items() if value or name in _NEEDED}


State = Literal["error", "failure", "pending", "success"]
_LONGEST_DESCRIPTION = 140


class StatusOperations(Guarded[Calls]):
    """Operations on commit statuses."""

    def ensure_status(
        self, sha: str, context: str, state: State, *, description: str = "", target_url: str = ""
    ) -> Ensured[StatusFacts]:
        """The newest status of this context on this commit has this state and text.

        A status cannot be changed or removed: a newer one supersedes it; a commit and context can have
        at most 1,000.

        Args:
            sha: the commit, all 40 digits.
            context: which status; case is ignored.
            state: error, failure, pending or success.
            description: at most 140 characters.
            target_url: an address with more details.

        Requests: unchanged 1 (for each hundred contexts), else 1 more.
        Sources: https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
        and https://docs.github.com/rest/commits/statuses#create-a-commit-status

        Raises:
            Refused: the description is too long, or `sha` does not have 40 digits.
            Rejected: GitHub says no: no such commit, or too many statuses.
            Transient: not now, or it is unknown whether the status was added.
        """
        sha = whole_sha(sha)
        if len(description) > _LONGEST_DESCRIPTION:
            words = {"count": len(description), "most": _LONGEST_DESCRIPTION}
            raise Refused(sentence("long-description", context=context, **words))

        wanted = {"state": state, "description": description, "target_url": target_url}
        newest = partial(self._newest, sha, context)
        look = if_wanted(newest, lambda now: fields_of(now, *wanted) == wanted)
        status = look()
        if status is not None:
            return Ensured(status, changed=False)
        texts = given(description=description, target_url=target_url)
        body = {"state": state, "context": context, **texts}
        subject = f'the status "{context}" of {sha[:12]}'
        create = partial(self._calls.create, "POST", f"statuses/{sha}", subject)
        return settled(partial(create, partial(_status, sha), body), look)

    def _newest(self, sha: str, context: str) -> StatusFacts | None:
        """The newest status of a context on a commit, or None; one request for each hundred contexts."""
        subject = f"statuses of {sha[:12]}"
        for entry in self._calls.pages(f"commits/{sha}/status", subject, key="statuses"):
            # Of two contexts that differ only in case, GitHub shows one.
            if str(entry.get("context")).casefold() == context.casefold():
                return self._calls.shaped(subject, partial(_status, sha), entry)
        return None


def _status(sha: str, status: Json) -> StatusFacts:
    return read_as(StatusFacts, {**status, "sha": sha})


class RefOperations:
    """Operations on the repository's refs. git pushes the commits; this moves the refs that name them."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def ensure_ref(
        self, name: str, sha: str, *, expected: str = "", force: bool = False
    ) -> Ensured[RefFacts]:
        """The ref points to this object.

        Args:
            name: its full name: `refs/heads/main`, `refs/tags/v1`.
            sha: an object that GitHub has, all 40 digits.
            expected: the object that an existing ref has to hold before; "" accepts any. GitHub does
                not compare, so a write between the read and the move is noticed only without `force`.
            force: allow a commit that does not descend from the one that the ref holds.

        Requests: unchanged 1, else 2.
        Sources: https://docs.github.com/rest/git/refs#create-a-reference and
        https://docs.github.com/rest/git/refs#update-a-reference

        Raises:
            Refused: `sha` does not have 40 digits, or a part of the name is empty or only dots.
            HeadMoved: the ref holds something unexpected, or commits that would be lost.
            Rejected: GitHub says no: no such object, or a rule protects the ref.
            Transient: not now, or the outcome is unknown.
        """
        sha = whole_sha(sha)

        look = if_wanted(partial(self._ref, name), lambda now: now.sha == sha)
        ref, subject = self._ref(name), f"ref {name}"
        if ref is None:
            body: Json = {"ref": name, "sha": sha}
            create = partial(self._calls.create, "POST", "git/refs", subject, _ref, body)
            return settled(partial(create, own=_ref_exists), look, unless=(AlreadyExists,))
        if ref.sha == sha:
            return Ensured(ref, changed=False)
        _demand_expected(ref, expected)
        path, body = f"git/refs/{_below(name)}", {"sha": sha, "force": force}
        move = partial(self._calls.set, "PATCH", path, subject, _ref, body, own=_not_forward)
        return settled(move, look)

    def ensure_no_ref(self, name: str, *, expected: str = "") -> Ensured[None]:
        """There is no such ref.

        Args:
            name: its full name.
            expected: the object that it has to hold; "" accepts any. GitHub itself does not compare.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/rest/git/refs#delete-a-reference

        Raises:
            Refused: a part of the name is empty or only dots.
            HeadMoved: the ref holds something unexpected.
            Rejected: a rule protects the ref.
        """

        def delete(ref: RefFacts) -> None:
            _demand_expected(ref, expected)
            self._calls.delete(f"git/refs/{_below(name)}", f"ref {name}", _ref_absent)

        find = partial(self._ref, name)
        return removed(find(), delete, find, NotFound)

    def ensure_branch_deleted(self, branch: str, *, expected: str = "") -> Ensured[None]:
        """There is no such branch: `ensure_no_ref` for `refs/heads/…`.

        Args:
            branch: its name.
            expected: the head that it has to have, so that no new commit is lost; "" accepts any.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/rest/git/refs#delete-a-reference

        Raises:
            Refused, HeadMoved, Rejected: as `ensure_no_ref`.
        """
        return self.ensure_no_ref(f"refs/heads/{branch}", expected=expected)

    def _ref(self, name: str) -> RefFacts | None:
        """The ref with this full name, or None.

        Source: https://docs.github.com/rest/git/refs#get-a-reference
        """
        return self._calls.read_if_any(f"git/ref/{_below(name)}", f"ref {name}", _ref)


def _demand_expected(ref: RefFacts, expected: str) -> None:
    if expected and ref.sha != expected:
        raise HeadMoved(sentence("ref-moved", ref=ref, expected=expected))


def _below(name: str) -> str:
    """A ref's name in a path: without `refs/`, its slashes kept; Refused as `path_part`."""
    return "/".join(path_part(part) for part in name.removeprefix("refs/").split("/"))


_ref_exists = answered("ref-exists", AlreadyExists, 422, "already exists")
_not_forward = answered("ref-not-forward", HeadMoved, 422, "fast forward")
_ref_absent = first_of(
    answered("no-ref", NotFound, 404), answered("no-ref", NotFound, 422, "does not exist")
)


def _ref(ref: Json) -> RefFacts:
    return RefFacts(str(ref["ref"]), str(ref["object"]["sha"]))
