"""Operations on pull requests: open (once), close, set text, base, draft and reviewers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial

from lifecycle.core.errors import PullRequestExists, Rejected
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.shapes import Ensured, PullFacts
from lifecycle.github.client.client_common import text
from lifecycle.github.failures import sentence
from lifecycle.github.operations.inputs import Guarded, Names, missing, names_of, present
from lifecycle.github.operations.unclear_writes import Edits, fitted, settled
from lifecycle.github.pulls.pull_calls import PullCalls, pull_facts

Slugs = tuple[str, ...]
Left = Callable[[Slugs, Slugs], Slugs]


class PullOperations(Guarded[PullCalls]):
    """Operations on the repository's pull requests. `MergeOperations` merges them."""

    def __init__(self, calls: PullCalls) -> None:
        super().__init__(calls)
        self._edits = Edits(calls.pull, calls.edit, "look at it there")

    def ensure_pull_request(
        self,
        head: str,
        *,
        title: str,
        body: str = "",
        base: str = "",
        draft: bool = False,
        update: bool = True,
    ) -> Ensured[PullFacts]:
        """There is one open pull request for this branch into this base, with this text.

        GitHub allows one open pull request for each head and base: it is adopted; a closed one is not.

        Args:
            head: the branch, or `owner:branch` for a branch of a fork.
            title: its title.
            body: its text.
            base: the branch to merge into; "" for the repository's default branch.
            draft: whether a new one is a draft; later, use `ensure_draft`.
            update: False leaves title and body of an existing one alone.

        Requests: unchanged 1; edited or opened 1 more; 1 more once if the default branch is not known.
        Sources: https://docs.github.com/rest/pulls/pulls#list-pull-requests,
        https://docs.github.com/rest/pulls/pulls#create-a-pull-request and
        https://docs.github.com/rest/pulls/pulls#update-a-pull-request

        Raises:
            NothingToMerge: the branch has no commit that the base lacks.
            HeadMissing: the branch is not on GitHub.
            Rejected: GitHub says no.
            Transient: not now; or GitHub says that there is one already, but no list shows it yet.
        """
        full_head = head if ":" in head else f"{self._calls.calls.repository.owner}:{head}"
        into = base or self._default_branch
        look = partial(self._calls.open_of, full_head, into)
        pull = look()
        if pull is None:
            texts = {"title": title, "body": body, "head": full_head, "base": into}
            create = partial(self._calls.create, **texts, draft=draft)
            opened = settled(create, look, already=(PullRequestExists,))
            # If somebody was quicker, or the answer was lost, it may be somebody else's: it is adopted.
            now = self._edits.text(opened.now, title, body) if update else opened
            return Ensured(now.now, changed=opened.changed or now.changed)
        return self._edits.text(pull, title, body) if update else Ensured(pull, changed=False)

    def ensure_text(
        self, number: int, *, title: str | None = None, body: str | None = None
    ) -> Ensured[PullFacts]:
        """The pull request has this title and this body; None leaves one alone.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/rest/pulls/pulls#update-a-pull-request

        Raises:
            NotFound: there is no such pull request.
            Rejected, Transient: as everywhere.
        """
        return self._edits.text(self._calls.pull(number), title, body)

    def ensure_base(self, number: int, base: str) -> Ensured[PullFacts]:
        """The pull request has this branch as its base.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/rest/pulls/pulls#update-a-pull-request

        Raises:
            Rejected: there is no such branch, or another pull request for this head and base is open.
        """
        return self._edits.fields(self._calls.pull(number), lambda now: now.base == base, base=base)

    def ensure_draft(self, number: int) -> Ensured[PullFacts]:
        """The pull request is a draft. A closed or merged one stays as it is.

        Requests: unchanged 1, else 2 (the second is GraphQL).
        Source: https://docs.github.com/graphql/reference/mutations#convertpullrequesttodraft

        Raises:
            Rejected: GitHub says no: the repository's plan has no drafts.
        """
        return self._set_draft(number, draft=True)

    def ensure_ready(self, number: int) -> Ensured[PullFacts]:
        """The pull request is ready for review, not a draft.

        Requests: unchanged 1, else 2 (the second is GraphQL).
        Source: https://docs.github.com/graphql/reference/mutations#markpullrequestreadyforreview

        Raises:
            NotFound: there is no such pull request.
            Rejected, Transient: as everywhere.
        """
        return self._set_draft(number, draft=False)

    def ensure_reviewers(
        self, number: int, *, people: Names = (), teams: Names = (), again: bool = False
    ) -> Ensured[PullFacts]:
        """These people and teams are asked for a review, or (people) have given one.

        GitHub removes a request once its review is submitted; so people who have reviewed are not asked
        again, unless `again` is set: then each call may ask people again who have answered meanwhile.

        Args:
            number: the pull request.
            people: logins; case is ignored.
            teams: short names (slugs) of teams of the organisation.
            again: ask also those who have reviewed.

        Requests: unchanged 1 if all are asked, else 1 more for each hundred reviews; to ask, 1 more.
        Sources: https://docs.github.com/rest/pulls/review-requests and
        https://docs.github.com/rest/pulls/reviews#list-reviews-for-a-pull-request

        Raises:
            Refused: a text is given instead of a list of texts. Nobody was asked.
            Rejected: GitHub says no: not a collaborator, or the author. Nobody was asked.
        """
        logins, slugs = names_of("people", people), names_of("teams", teams)
        pull = self._calls.pull(number)
        persons, groups = missing(logins, pull.reviewers), missing(slugs, pull.team_reviewers)
        if persons and not again:
            subject = f"the reviews of pull request #{number}"
            reviews = self._calls.calls.pages(f"pulls/{number}/reviews", subject)
            submitted = (review for review in reviews if review.get("state") != "PENDING")
            persons = missing(persons, tuple(text(review, "user.login") for review in submitted))
        return self._reviewers("POST", pull, persons, groups, missing)

    def ensure_not_reviewers(
        self, number: int, *, people: Names = (), teams: Names = ()
    ) -> Ensured[PullFacts]:
        """No review is asked of these people and teams; what they submitted stays.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/rest/pulls/review-requests#remove-requested-reviewers-from-a-pull-request

        Raises:
            Refused: a text is given instead of a list of texts. Nothing was changed.
        """
        logins, slugs = names_of("people", people), names_of("teams", teams)
        pull = self._calls.pull(number)
        persons, groups = present(logins, pull.reviewers), present(slugs, pull.team_reviewers)
        return self._reviewers("DELETE", pull, persons, groups, present)

    def ensure_closed(self, number: int) -> Ensured[PullFacts]:
        """The pull request is not open: closed unmerged, unless it was merged before.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/rest/pulls/pulls#update-a-pull-request

        Raises:
            NotFound: there is no such pull request.
            Rejected, Transient: as everywhere.
        """
        pull = self._calls.pull(number)
        return self._edits.fields(pull, lambda now: not now.is_open, state="closed")

    def ensure_open(self, number: int) -> Ensured[PullFacts]:
        """The pull request is open.

        Requests: unchanged 1, else 2.
        Source: https://docs.github.com/rest/pulls/pulls#update-a-pull-request

        Raises:
            Rejected: it was merged, its branch is gone, or another one for the branch is open.
        """
        pull = self._calls.pull(number)
        if pull.is_merged:
            raise Rejected(sentence("merged-pull", number=number))
        return self._edits.fields(pull, lambda now: now.is_open, state="open")

    def _reviewers(
        self, method: str, pull: PullFacts, people: Slugs, teams: Slugs, left: Left
    ) -> Ensured[PullFacts]:
        """Ask people and teams (by their short names) for a review, or withdraw the request.

        Returns:
            The pull request as it was read, with the reviewers from the answer (which lacks many fields).

        Raises:
            Rejected: some names are still `left` to be asked.
        """
        number, subject = pull.number, f"the reviewers of pull request #{pull.number}"
        path = f"pulls/{number}/requested_reviewers"
        body = {"reviewers": list(people), "team_reviewers": list(teams)}

        def ignored(shown: PullFacts) -> Slugs:
            return (*left(people, shown.reviewers), *left(teams, shown.team_reviewers))

        def differs(shown: PullFacts) -> str:
            return sentence("reviewers-ignored", number=number, names=", ".join(ignored(shown)))

        write = partial(self._calls.calls.set, method, path, subject, pull_facts, body)
        read, refusal = partial(self._calls.pull, number), differs if method == "POST" else None
        ensured = fitted(pull, lambda shown: not ignored(shown), write, read, refusal)
        now = ensured.now
        asked = replace(pull, reviewers=now.reviewers, team_reviewers=now.team_reviewers)
        return replace(ensured, now=asked)

    @cached_property
    def _default_branch(self) -> str:
        calls = self._calls.calls
        return calls.rest.repository_access(calls.repository).default_branch

    def _set_draft(self, number: int, *, draft: bool) -> Ensured[PullFacts]:
        pull = self._calls.pull(number)
        if not pull.is_open:
            return Ensured(pull, changed=False)

        def write() -> PullFacts:
            name = "convert_to_draft" if draft else "mark_ready"
            subject = f"making #{number} {'a draft' if draft else 'ready for review'}"
            shown = self._calls.mutate(name, {"pull": pull.id}, subject)
            return replace(pull, is_draft=bool(shown.get("isDraft")))

        read = partial(self._calls.pull, number)
        differs = sentence("draft-differs", number=number, shown="ready" if draft else "a draft")
        return fitted(pull, lambda now: now.is_draft == draft, write, read, lambda _: differs)
