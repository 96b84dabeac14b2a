"""Check runs and commit statuses, kept as they are wanted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from typing import Literal

from lifecycle.core.errors import Refused, Rejected
from lifecycle.core.values.shapes import Annotation, CheckRunFacts, Ensured, StatusFacts
from lifecycle.github.operations.unclear_writes import if_wanted, redacts, same, settled, whole_sha
from lifecycle.github.pulls.commit_calls import ANNOTATIONS, CommitCalls

RunStatus = Literal["queued", "in_progress", "completed"]
Conclusion = Literal[
    "", "success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required"
]
Page = Mapping[str, str]
State = Literal["error", "failure", "pending", "success"]
_LONGEST_DESCRIPTION = 140
_BOT = "[bot]"


@redacts
class CheckOperations:
    """What may be asked of check runs."""

    def __init__(self, calls: CommitCalls) -> None:
        self._calls = calls
        self._app = ""

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

        The newest that fits is adopted and changed, so a re-run that is to stand beside the old one
        has an external id of its own. Another app's run of that name is left alone: GitHub lets only
        the app that made one change it. GitHub appends annotations and removes none: those that are
        missing are sent, up to 50 a request, and others stay.

        Args:
            name: as the page shows it, and as a rule may require it.
            sha: the commit, all 40 digits.
            external_id: what tells it from other runs of the name; "" adopts any.
            status: how far it is.
            conclusion: given with `completed`, and only then.
            title: of its page; needed as soon as there is a summary, a text or an annotation.
            summary: of its page, Markdown, at most 65,535 characters.
            text: the details on its page, Markdown, at most 65,535 characters.
            annotations: remarks on lines.
            details_url: where more is to be seen; "" leaves it alone.
            started_at: seconds since the epoch, kept to the second; None leaves it alone.
            completed_at: likewise.

        Requests: unchanged 1 (for each hundred runs of the name), and 1 for each hundred annotations
        that it has if some are wanted; made or changed 1 more; 1 more for each 50 annotations. An
        object that finds a run before it made one asks 1 or 2 more, once: whose token it is.
        Sources: https://docs.github.com/rest/checks/runs#create-a-check-run and
        https://docs.github.com/rest/checks/runs#update-a-check-run

        Raises:
            Refused: a conclusion without `completed`, or the other way round; a page without title; a
                commit without its 40 digits.
            NoPermission: the token is no app's: only apps (that of Actions too) write check runs.
            Rejected: GitHub says no, or goes on showing something else.
            Transient: not now, or it is unknown whether it was made.
        """
        sha = whole_sha(sha)
        has_page = bool(title or summary or text or annotations)
        _demand_whole(status, conclusion, title, has_page=has_page)
        fields: dict[str, object] = {"status": status}
        optional: dict[str, object] = {
            "conclusion": conclusion,
            "external_id": external_id,
            "details_url": details_url,
            "started_at": _stamp(started_at),
            "completed_at": _stamp(completed_at),
        }
        fields |= {key: value for key, value in optional.items() if value}
        page = {"title": title, "summary": summary, "text": text}
        if has_page:
            fields["output"] = page
        found = self._find(sha, name, external_id)
        if found is None:
            made = settled(
                lambda: self._calls.create_check_run({"name": name, "head_sha": sha, **fields}),
                lambda: self._find(sha, name, external_id),
            )
            self._app = made.now.app
            # What a lost answer left behind is what was sent, or somebody else's: it is compared.
            now = self._with_fields(made.now, fields)[0]
            return Ensured(self._annotated(now, page, annotations)[0], changed=True)
        now, is_edited = self._with_fields(found, fields)
        now, is_annotated = self._annotated(now, page, annotations)
        return Ensured(now, changed=is_edited or is_annotated)

    def _find(self, sha: str, name: str, external_id: str) -> CheckRunFacts | None:
        runs = self._calls.check_runs(sha, name)
        fitting = [one for one in runs if external_id in {"", one.external_id}]
        return max(filter(self._is_ours, fitting), key=lambda one: one.id, default=None)

    def _is_ours(self, run: CheckRunFacts) -> bool:
        """True if the token's app made the run; of a token that is no app's, GitHub has to judge.

        An app is `SLUG[bot]` where it acts.
        Source: https://github.com/fullsend-ai/fullsend/pull/1953
        """
        if not self._app:
            login = self._calls.calls.login
            self._app = login.removesuffix(_BOT) if login.endswith(_BOT) else ""
        return not self._app or run.app.casefold() == self._app.casefold()

    def _with_fields(
        self, found: CheckRunFacts, fields: dict[str, object]
    ) -> tuple[CheckRunFacts, bool]:
        if not _differing(found, fields):
            return found, False
        look = if_wanted(
            partial(self._calls.check_run, found.id), lambda now: not _differing(now, fields)
        )
        now = settled(partial(self._calls.edit_check_run, found.id, fields), look).now
        if left := _differing(now, fields):
            raise Rejected(
                f'GitHub accepted the check run "{found.name}" and shows another {", ".join(left)}, so '
                "it is not as it should be; look at it there."
            )
        return now, True

    def _annotated(
        self, run: CheckRunFacts, page: Page, wanted: tuple[Annotation, ...]
    ) -> tuple[CheckRunFacts, bool]:
        """Append what is missing, 50 a request; each batch is counted before the next is sent."""
        left = self._left(run, wanted) if wanted else ()
        for start in range(0, len(left), ANNOTATIONS):
            run = self._appended(run, page, left[start : start + ANNOTATIONS])
        return run, bool(left)

    def _appended(
        self, run: CheckRunFacts, page: Page, batch: tuple[Annotation, ...]
    ) -> CheckRunFacts:
        count = run.annotations + len(batch)
        look = if_wanted(
            partial(self._calls.check_run, run.id), lambda now: now.annotations >= count
        )
        return settled(partial(self._calls.annotate, run.id, page, batch), look).now

    def _left(self, run: CheckRunFacts, wanted: tuple[Annotation, ...]) -> tuple[Annotation, ...]:
        there = Counter(self._calls.annotations(run.id)) if run.annotations else Counter()
        found = []
        for one in wanted:
            if there[one]:
                there[one] -= 1
            else:
                found.append(one)
        return tuple(found)


@redacts
class StatusOperations:
    """What may be asked of commit statuses."""

    def __init__(self, calls: CommitCalls) -> None:
        self._calls = calls

    def ensure_status(
        self, sha: str, context: str, state: State, *, description: str = "", target_url: str = ""
    ) -> Ensured[StatusFacts]:
        """The newest status of this context on this commit says this.

        A status cannot be changed or removed: another one supersedes it, at most 1,000 for each
        commit and context.

        Args:
            sha: the commit, all 40 digits.
            context: which status; case is ignored.
            state: error, failure, pending or success.
            description: at most 140 characters.
            target_url: where more is to be seen.

        Requests: unchanged 1 (for each hundred contexts), else 1 more.
        Sources: https://docs.github.com/rest/commits/statuses#get-the-combined-status-for-a-specific-reference
        and https://docs.github.com/rest/commits/statuses#create-a-commit-status

        Raises:
            Refused: the description is too long, or the commit has no 40 digits.
            Rejected: GitHub says no: no such commit, or too many statuses.
            Transient: not now, or it is unknown whether it was added.
        """
        sha = whole_sha(sha)
        if len(description) > _LONGEST_DESCRIPTION:
            raise Refused(
                f"The description of status {context} has {len(description)} characters, so nothing was "
                f"done; GitHub takes {_LONGEST_DESCRIPTION}."
            )

        def look() -> StatusFacts | None:
            found = self._calls.status(sha, context)
            if found is None or found.state != state:
                return None
            has_texts = found.description == description and found.target_url == target_url
            return found if has_texts else None

        found = look()
        if found is not None:
            return Ensured(found, changed=False)
        texts = {"description": description, "target_url": target_url}
        body = {"state": state, "context": context} | {k: v for k, v in texts.items() if v}
        return settled(lambda: self._calls.create_status(sha, body), look)


def _demand_whole(status: RunStatus, conclusion: str, title: str, *, has_page: bool) -> None:
    if (status == "completed") != bool(conclusion):
        raise Refused(
            "A check run has a conclusion if, and only if, it is completed; nothing was done: give both "
            "or neither."
        )
    if has_page and not title:
        raise Refused(
            "A check run's summary, text and annotations need a title; nothing was done: give one."
        )


def _stamp(moment: float | None) -> str:
    """Seconds since the epoch as GitHub writes them."""
    if moment is None:
        return ""
    return datetime.fromtimestamp(int(moment), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _differing(found: CheckRunFacts, fields: dict[str, object]) -> list[str]:
    """The names of the fields in which a run is not as wanted."""
    output = fields.get("output")
    texts = dict(output) if isinstance(output, dict) else {}
    shown: dict[str, object] = {
        "status": found.status,
        "conclusion": found.conclusion,
        "external_id": found.external_id,
        "details_url": found.details_url,
        "started_at": _stamp(found.started_at),
        "completed_at": _stamp(found.completed_at),
    }
    differing = [name for name, value in shown.items() if name in fields and fields[name] != value]
    pages = {"title": found.title, "summary": found.summary, "text": found.text}
    return differing + [name for name in texts if not same(str(texts[name]), pages[name])]
