"""Operations on merging: now or as soon as GitHub allows it, at the judged head; and updating a branch."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from urllib.parse import quote

from lifecycle.core import errors
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.model import MergeMethod as Method
from lifecycle.core.values.model import PullState
from lifecycle.core.values.shapes import Ensured, PullFacts
from lifecycle.github.client.client_common import given
from lifecycle.github.failures import AskedRequest, Own, answered, first_of, sentence
from lifecycle.github.operations.inputs import Guarded, whole_sha
from lifecycle.github.operations.unclear_writes import Look, if_wanted, removed, settled
from lifecycle.github.pulls.pull_calls import PullCalls

_CLEAN = "is in clean status"
_BASE_MOVED = partial(errors.Transient, retry_after=5.0)


class MergeOperations(Guarded[PullCalls]):
    """Operations that merge one repository's pull requests, or bring their branches up to date."""

    def ensure_merged(
        self,
        number: int,
        *,
        sha: str = "",
        method: Method = "merge",
        title: str = "",
        message: str = "",
    ) -> Ensured[PullFacts]:
        """The pull request is merged, at the head that was judged.

        Args:
            number: the pull request.
            sha: the head that was judged, all 40 digits; "" accepts the head that this call reads.
            method: merge, squash or rebase; the repository may allow only some.
            title: the title of the merge's commit; "" leaves it to GitHub.
            message: the message of the merge's commit; "" leaves it to GitHub.

        Requests: unchanged 1, else 2. The merge is sent once; if its answer is lost, 1 more looks.
        Source: https://docs.github.com/rest/pulls/pulls#merge-a-pull-request

        Raises:
            Refused: `sha` does not have 40 digits.
            HeadMoved: the pull request has another head (409), or was merged at another one.
            NotMergeable: a conflict, a rule, a missing check, a draft, a method that is not allowed
                (405); or the pull request is closed.
            Transient: its base moved at that moment (405), or the outcome is unknown.
        """
        texts = given(commit_title=title, commit_message=message)
        return self._merged(self._at(number, sha), method, **texts)

    def ensure_auto_merge(
        self, number: int, *, sha: str = "", method: Method = "merge"
    ) -> Ensured[PullFacts]:
        """The pull request is merged as soon as GitHub allows it: later by GitHub, or now.

        GitHub refuses to wait if there is nothing to wait for ("clean"): then this call merges, at the
        head that it read. If only checks that nobody requires are not green ("unstable"), GitHub refuses
        too, and this call does not merge: it cannot know whether they matter.

        Args:
            number: the pull request.
            sha: the head that was judged, all 40 digits; "" accepts the head that this call reads.
            method: merge, squash or rebase. A merge queue has its own.

        To change the method, auto-merge is switched off and on again, since GitHub has no change of it.
        If GitHub then says no, the old method is switched on again.

        Requests: unchanged 1, switched on 2 (one is GraphQL), merged 3; another method than before
        1 more, and 1 more to restore the old one.
        Sources: https://docs.github.com/graphql/reference/mutations#enablepullrequestautomerge and,
        for the refusals, https://github.com/peter-evans/enable-pull-request-automerge/issues/343

        Raises:
            Refused, HeadMoved, NotMergeable, Transient: as `ensure_merged`.
            Rejected: GitHub says why: auto-merge is not allowed in the repository, or no rule of the
                base holds the merge back. The sentence says if auto-merge was on with another method
                and is off now.
        """
        pull = self._at(number, sha)
        if pull.is_merged or pull.auto_merge == method:
            return Ensured(pull, changed=False)
        self._demand_open(pull)
        if not pull.auto_merge:
            return self._switched_or_merged(pull, method)
        without = self._disabled(pull)
        try:
            return self._switched_or_merged(without, method)
        except errors.LifecycleError as error:
            raise self._put_back(pull, error) from None

    def ensure_no_auto_merge(self, number: int) -> Ensured[PullFacts]:
        """GitHub does not merge the pull request by itself; a merged one stays merged.

        Requests: unchanged 1, else 2 (the second is GraphQL).
        Source: https://docs.github.com/graphql/reference/mutations#disablepullrequestautomerge

        Raises:
            NotFound: there is no such pull request.
            Rejected, Transient: as everywhere.
        """
        pull = self._calls.pull(number)
        if not pull.auto_merge or not pull.is_open:
            return Ensured(pull, changed=False)
        look = self._look(number, lambda now: not now.auto_merge)
        return settled(partial(self._disabled, pull), look, unless=(errors.Rejected,))

    def ensure_branch_updated(self, number: int, *, sha: str = "") -> Ensured[PullFacts]:
        """The pull request's branch has every commit of its base, or GitHub is about to update it.

        GitHub accepts the update and makes it a moment later: `now` shows the head before it.

        Args:
            number: the pull request.
            sha: the head that was judged, all 40 digits; "" accepts the head that this call reads.

        Requests: unchanged 2, else 3.
        Sources: https://docs.github.com/rest/commits/commits#compare-two-commits and
        https://docs.github.com/rest/pulls/pulls#update-a-pull-request-branch

        Raises:
            Refused: `sha` does not have 40 digits.
            HeadMoved: the pull request has another head.
            NotMergeable: it conflicts with its base, or is closed.
            Transient: not now, or the outcome is unknown.
        """
        pull = self._at(number, sha)
        if pull.is_merged or (pull.is_open and not self._behind_by(pull)):
            return Ensured(pull, changed=False)
        self._demand_open(pull)

        def write() -> PullFacts:
            path, subject = f"pulls/{number}/update-branch", f"the branch of pull request #{number}"
            body, own = {"expected_head_sha": pull.head_sha}, _not_updated(number)
            # GitHub only accepts the update (202) and makes it a moment later.
            self._calls.calls.create("PUT", path, subject, lambda _: None, body, own=own)
            return pull

        try:
            return settled(write, self._look(number, lambda now: not self._behind_by(now)))
        except errors.AlreadyExists:
            return Ensured(pull, changed=False)

    def ensure_not_queued(self, number: int) -> Ensured[None]:
        """The pull request is not in the merge queue of its base, so that its branch can be pushed.

        Requests: unchanged 1, else 2, both GraphQL.
        Source: https://docs.github.com/graphql/reference/mutations#dequeuepullrequest

        Raises:
            NotFound: there is no such pull request.
            Rejected, Transient: as everywhere.
        """
        find = partial(self._calls.queued, number)
        return removed(find(), partial(self._calls.dequeue, number), find, errors.Rejected)

    def _look(self, number: int, is_wanted: Callable[[PullFacts], bool]) -> Look[PullFacts]:
        return if_wanted(partial(self._calls.pull, number), is_wanted)

    def _at(self, number: int, sha: str) -> PullFacts:
        sha = whole_sha(sha) if sha else ""
        pull = self._calls.pull(number)
        if sha and pull.head_sha != sha:
            verb = "was merged at" if pull.is_merged else "has"
            raise errors.HeadMoved(sentence("other-head", pull=pull, verb=verb, sha=sha))
        return pull

    def _demand_open(self, pull: PullFacts) -> None:
        if not pull.is_open:
            raise errors.NotMergeable(sentence("closed-pull", pull=pull))

    def _merged(self, pull: PullFacts, method: Method, **texts: str) -> Ensured[PullFacts]:
        if pull.is_merged:
            return Ensured(pull, changed=False)
        self._demand_open(pull)
        number, calls = pull.number, self._calls.calls
        body = {"merge_method": method, "sha": pull.head_sha, **texts}

        def write() -> PullFacts:
            subject, path = f"the merge of pull request #{number}", f"pulls/{number}/merge"
            done = calls.create("PUT", path, subject, dict, body, own=_not_merged(number))
            if not done.get("merged"):
                raise calls.rest.failures.of_nonsense(AskedRequest(subject, is_write=True))
            sha = str(done.get("sha") or "")
            return replace(pull, state=PullState.MERGED, merge_sha=sha, auto_merge="")

        look = self._look(number, lambda now: now.is_merged)
        return settled(write, look, unless=(errors.NotMergeable, errors.HeadMoved))

    def _switched_or_merged(self, pull: PullFacts, method: Method) -> Ensured[PullFacts]:
        look = self._look(pull.number, lambda now: now.is_merged or now.auto_merge == method)
        try:
            return settled(partial(self._enabled, pull, method), look)
        except errors.Rejected as error:
            if _CLEAN not in error.evidence.casefold():
                raise
        return self._merged(pull, method)

    def _put_back(self, pull: PullFacts, error: errors.LifecycleError) -> errors.LifecycleError:
        """Switch the old method on again after a clear no; return the error to raise.

        After any other error nobody knows which method is on, so nothing more is sent.
        """
        if isinstance(error, errors.Rejected):
            with suppress(errors.LifecycleError):  # then auto-merge is off, as the sentence says
                self._enabled(pull, pull.auto_merge)
                return error
        evidence = error.evidence.rstrip(".")
        why = f"GitHub: {evidence}" if evidence else "it gave no clear answer"
        error.sentence = sentence("auto-merge-off", pull=pull, why=why)
        return error

    def _behind_by(self, pull: PullFacts) -> int:
        """How many commits of its base a pull request's head lacks.

        Source: https://docs.github.com/rest/commits/commits#compare-two-commits
        """
        subject = f"the comparison of {pull.base} and {pull.head_sha[:12]}"
        path = f"compare/{quote(pull.base)}...{pull.head_sha}"
        read = self._calls.calls.read
        return read(path, subject, lambda shown: int(shown["behind_by"]), {"per_page": 1})

    def _enabled(self, pull: PullFacts, method: str) -> PullFacts:
        """Switch auto-merge on; Rejected if the merge is possible now, or if no rule holds it back.

        Source: https://docs.github.com/graphql/reference/mutations#enablepullrequestautomerge
        """
        variables = {"pull": pull.id, "method": method.upper(), "head": pull.head_sha}
        self._calls.mutate("enable_auto_merge", variables, f"auto-merge for #{pull.number}")
        return replace(pull, auto_merge=method)

    def _disabled(self, pull: PullFacts) -> PullFacts:
        """Switch auto-merge off.

        Source: https://docs.github.com/graphql/reference/mutations#disablepullrequestautomerge
        """
        subject = f"auto-merge for #{pull.number}"
        self._calls.mutate("disable_auto_merge", {"pull": pull.id}, subject)
        return replace(pull, auto_merge="")


def _not_merged(number: int) -> Own:
    return first_of(
        answered("base-moved", _BASE_MOVED, 405, "base branch was modified", number=number),
        answered("not-merged", errors.NotMergeable, 405, number=number),
        answered("pushed-meanwhile", errors.HeadMoved, 409, number=number),
    )


def _not_updated(number: int) -> Own:
    pushed = "expected_head_sha|head ref|expected head sha"
    return first_of(
        answered("is-updated", errors.AlreadyExists, 422, "no new commits", number=number),
        answered("pushed-meanwhile", errors.HeadMoved, 422, pushed, number=number),
        answered("base-conflict", errors.NotMergeable, 422, "conflict", number=number),
    )
