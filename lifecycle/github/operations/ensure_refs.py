"""Operations on commit statuses, and on refs (branches, tags and others), each by its full name."""

from __future__ import annotations

from functools import partial
from typing import Literal

from lifecycle.core.errors import AlreadyExists, HeadMoved, NotFound, Refused
from lifecycle.core.light_dataclass import fields_of
from lifecycle.core.values.shapes import Ensured, RefFacts, StatusFacts
from lifecycle.github.client.client_common import given, path_part, texts
from lifecycle.github.client.rest import Calls, Json
from lifecycle.github.failures.failure_case import answered, first_of, sentence
from lifecycle.github.operations.inputs import Guarded, whole_sha
from lifecycle.github.operations.unclear_writes import if_wanted, removed, settled

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
    context, state = str(status["context"]), str(status["state"])
    more = texts(status, description="description", target_url="target_url")
    return StatusFacts(int(status["id"]), sha, context, state, **more)


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
