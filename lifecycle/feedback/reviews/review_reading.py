"""Read a pull request's conversation: every page of its threads, reviews and comments.

`review_bots.toml` has the bots that may speak to the agent, and how their texts are read.

One request returns up to fifty threads, a hundred reviews and a hundred comments; each further page needs
one more request. GitHub cannot filter threads by state, so resolved ones are read, too.
Source: https://docs.github.com/graphql/reference/objects#pullrequest
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from lifecycle.core import timing
from lifecycle.core.errors import NotFound, Transient
from lifecycle.core.values.model import Repository
from lifecycle.feedback.reviews.remarks import (
    PullConversation,
    Remark,
    ReviewPoint,
    ReviewThread,
    Trusted,
)
from lifecycle.github.client.client_common import Json, nodes, number, part, text, texts
from lifecycle.github.client.graph import GraphClient
from lifecycle.github.failures import AskedRequest
from lifecycle.github.pulls.translate import is_of_owner
from lifecycle.settings import resources

sentence: Final = resources.Sentences("feedback/reviews/sentences.toml")
"""The refusals of reading and answering reviews, filled in."""

_INSIDERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
"""The insiders: https://docs.github.com/graphql/reference/enums#commentauthorassociation"""

table = partial(resources.table, "feedback/reviews/review_bots.toml")
"""The content of `review_bots.toml`."""

_LONG = 3_000
"""Characters from which a text is a review, even if it says that there was none."""

MOST_PAGES = 40
"""Requests for one pull request: two thousand threads. Of a longer one nothing is said."""

_LISTS = {"reviewThreads": "threads", "reviews": "reviews", "comments": "comments"}
"""Each list of the document, and the variable with the cursor of its next page."""


def plain_login(login: str) -> str:
    """A login in the form used for comparison: GraphQL omits `[bot]`, REST does not."""
    return login.removesuffix("[bot]").casefold()


def trusted(login: str, *, is_bot: bool, association: str, is_ours: bool) -> Trusted:
    """The kind of a remark's author; it decides who gets the remark.

    A bot is recognised by its exact login and by GitHub's statement that it is a bot: anybody may choose a
    name that looks like a bot's.
    """
    if is_ours:
        return Trusted.OURS
    if is_bot:
        return Trusted.BOT if plain_login(login) in table()["logins"] else Trusted.STRANGER
    return Trusted.PERSON if association in _INSIDERS else Trusted.STRANGER


def about(body: str) -> dict[str, Any]:
    """What a listed bot's text is, as the fields of `Remark` that say so.

    It may say that the bot did not review, or summarise the change and ask for nothing. The severity is ""
    if the bot gives its finding none, or an unknown one.
    """
    words = table()
    severities = (name for name, patterns in words["severity"].items() if _has(patterns, body))
    return {
        "is_limited": len(body) < _LONG and _has(words["limited"], body),
        "is_summary": _has(words["summary"], body),
        "severity": next(severities, ""),
    }


def _has(patterns: Iterable[str], body: str) -> bool:
    return any(re.search(pattern, body, re.IGNORECASE | re.MULTILINE) for pattern in patterns)


def read(graph: GraphClient, repository: Repository, number: int) -> PullConversation:
    """Read the whole conversation on a pull request, page by page.

    Raises:
        NotFound: GitHub shows no such pull request.
        Transient: it has more pages than are read.
        Transient, NoPermission, BadCredentials: as for every read; if one part is refused, all is.
    """
    lists: dict[str, list[Json]] = {name: [] for name in _LISTS}
    asked = {**repository.variables, "number": number, **dict.fromkeys(_LISTS.values())}
    unread = dict(_LISTS)
    pull: Json = {}
    for _ in range(MOST_PAGES):
        asked |= {f"reads{variable.title()}": name in unread for name, variable in _LISTS.items()}
        pull = _page(graph, repository, dict(asked), unread)
        for name, variable in [*unread.items()]:
            lists[name] += nodes(pull, name)
            info = part(part(pull, name), "pageInfo")
            asked[variable] = info.get("endCursor")
            if not info.get("hasNextPage"):
                del unread[name]
        if not unread:
            break
    else:
        raise Transient(sentence("too-much", number=number))
    reviews = (node for node in lists["reviews"] if node.get("state") != "PENDING")
    comments = (ReviewPoint(f"C{entry.id}", entry) for entry in map(remark, lists["comments"]))
    people = (part(request, "requestedReviewer") for request in nodes(pull, "reviewRequests"))
    requested = tuple(plain_login(text(who, "login")) for who in people if who)
    threads, written = map(thread, lists["reviewThreads"]), (*map(_review, reviews), *comments)
    url, head = text(pull, "url"), text(pull, "headRefOid")
    return PullConversation(number, url, head, tuple(threads), written, requested)


def _page(graph: GraphClient, repository: Repository, asked: Json, unread: Iterable[str]) -> Json:
    """The pull request with a page of each list that is still unread."""
    number = asked["number"]
    subject = f"the reviews of pull request #{number} in {repository}"
    reply = graph.read("read_reviews", asked, subject=subject)
    for problem in reply.problems:
        if problem.type == "NOT_FOUND":
            why = sentence("no-pull", number=number, repository=repository)
            raise NotFound(why, evidence=problem.message)
        raise graph.failures.of_problem(problem, AskedRequest(subject))
    pull = part(reply.data, "repository.pullRequest")
    if not pull or not all(isinstance(pull.get(name), Mapping) for name in unread):
        raise graph.failures.of_nonsense(AskedRequest(subject))
    return pull


def thread(node: Json) -> ReviewThread:
    """A thread from a GraphQL node: its first and newest remarks; those between are only counted."""
    root = nodes(node, "root")
    newest = [remark(comment, *root) for comment in nodes(node, "comments")]
    first = [remark(comment, comment) for comment in root]
    ids = {entry.id for entry in newest}
    remarks = (*(entry for entry in first if entry.id not in ids), *newest)
    total = number(part(node, "comments").get("totalCount"))
    is_now = node.get("line") is not None
    names = ("line", "startLine") if is_now else ("originalLine", "originalStartLine")
    line, start = (number(node.get(name)) for name in names)
    return ReviewThread(
        **texts(node, id="id", path="path"),
        line=line,
        start=start,
        is_of_base=node.get("diffSide") == "LEFT",
        remarks=remarks,
        is_resolved=bool(node.get("isResolved")),
        is_outdated=bool(node.get("isOutdated")),
        can_reply=bool(node.get("viewerCanReply", True)),
        can_resolve=bool(node.get("viewerCanResolve")),
        left_out=max((total or 0) - len(remarks), 0),
    )


def remark(node: Json, *root: Json) -> Remark:
    """A remark from a GraphQL node, a comment or a review; `root` is the first of its conversation."""
    author, body = part(node, "author"), text(node, "body")
    login = text(author, "login")
    is_bot, is_ours = text(author, "__typename") == "Bot", bool(node.get("viewerDidAuthor"))
    association = text(node, "authorAssociation")
    whose = trusted(login, is_bot=is_bot, association=association, is_ours=is_ours)
    whose = Trusted.OWNER if is_of_owner(node, *root) else whose
    return Remark(
        **texts(node, id="fullDatabaseId", url="url", hunk="diffHunk"),
        author=login.removesuffix("[bot]"),
        trusted=whose,
        body=body,
        at=timing.parse_time(node.get("createdAt") or node.get("submittedAt")),
        edited_at=timing.parse_time(node.get("lastEditedAt")),
        is_hidden=bool(node.get("isMinimized")) or node.get("state") == "PENDING",
        sha=text(part(node, "originalCommit") or part(node, "commit"), "oid"),
        **(about(body) if whose is Trusted.BOT else {}),
    )


def _review(node: Json) -> ReviewPoint:
    return ReviewPoint(text(node, "id"), remark(node, node), review_state=text(node, "state"))
