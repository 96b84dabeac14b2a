"""Where an event of GitHub Actions says to look; payloads have the keys that GitHub documents."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.values.model import Repository
from lifecycle.reconcile.scope import Scope, Shard, Trigger, narrowed, read_event

REPOSITORY = "octo-org/hello-service"
HERE = Repository("octo-org", "hello-service")
ALL = Scope((HERE,))

REPOSITORY_PART = {"full_name": REPOSITORY, "name": "hello-service", "owner": {"login": "octo-org"}}
PERSON = {"login": "octocat", "type": "User"}
APP = {"login": "octo-sweeper[bot]", "type": "Bot"}


def payload(sender: dict[str, str] = PERSON, **parts: Any) -> str:
    """An event's file."""
    return json.dumps({"repository": REPOSITORY_PART, "sender": sender, **parts})


@pytest.mark.parametrize(
    ("name", "parts", "scope"),
    [
        ("issues", {"action": "closed", "issue": {"number": 42}}, Scope((HERE,), issues=(42,))),
        ("issue_comment", {"issue": {"number": 42}, "comment": {}}, Scope((HERE,), issues=(42,))),
        (
            "issue_comment",
            {"issue": {"number": 46, "pull_request": {"url": "https://api.github.com/x"}}},
            Scope((HERE,), pulls=(46,)),
        ),
        (
            "pull_request",
            {"number": 46, "pull_request": {"number": 46}},
            Scope((HERE,), pulls=(46,)),
        ),
        ("pull_request_target", {"pull_request": {"number": 46}}, Scope((HERE,), pulls=(46,))),
        ("schedule", {"schedule": "7 * * * *"}, ALL),
        ("workflow_dispatch", {"inputs": {"issue": {"number": 42}}}, ALL),
        ("push", {"ref": "refs/heads/main", "issue": {"number": 42}}, ALL),
        ("", {}, ALL),
    ],
)
def test_an_event_narrows_to_what_it_is_about(
    name: str, parts: dict[str, Any], scope: Scope
) -> None:
    """Issues and comments: that issue; pull requests and comments on them: that one; else all."""
    assert narrowed(ALL, read_event(name, payload(**parts), REPOSITORY)) == (scope, "")


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"issue": 42}',
        '{"issue": {"number": "42"}}',
        '{"issue": {"number": true}}',
        '{"issue": {"number": 0}}',
        '{"pull_request": {"number": 46}}',
        "[" * 100_000,
    ],
)
def test_a_payload_that_says_nothing_narrows_nothing_and_says_so(text: str | None) -> None:
    """Missing, broken or strange: everything is looked at, with a note that names the event."""
    scope, note = narrowed(ALL, read_event("issues", text, REPOSITORY))
    assert scope == ALL
    assert note.startswith("The event issues was not used, because its payload ")
    assert note.endswith("so everything was looked at.")


def test_without_a_repository_in_the_payload_it_is_that_of_the_run() -> None:
    """GITHUB_REPOSITORY fills in, also for a name that cannot be one."""
    for where in ({}, {"repository": {"full_name": "a/b/c\n"}}):
        event = read_event("issues", json.dumps({"issue": {"number": 42}, **where}), REPOSITORY)
        assert event.repository == REPOSITORY


def test_an_owner_is_narrowed_to_the_repository_of_the_event() -> None:
    """A run over an organisation, started by an issue of one repository, looks at that issue."""
    event = read_event("issues", payload(issue={"number": 42}), "octo-org/.github")
    assert narrowed(Scope(owner="Octo-Org"), event) == (Scope((HERE,), issues=(42,)), "")


@pytest.mark.parametrize(
    "scope",
    [
        Scope((Repository("octo-org", "other"),)),
        Scope(owner="others"),
        Scope((HERE,), shard=Shard(1 if not Shard(1, 2).has(REPOSITORY) else 2, 2)),
    ],
)
def test_an_event_of_elsewhere_narrows_nothing(scope: Scope) -> None:
    """What is not in the scope cannot be a part of it; the note says where it happened."""
    found, note = narrowed(scope, read_event("issues", payload(issue={"number": 42}), REPOSITORY))
    assert found == scope
    assert REPOSITORY in note


def test_who_named_an_issue_is_not_narrowed() -> None:
    """A number on the command line is the caller's own word."""
    for named in (Scope((HERE,), issues=(7,)), Scope((HERE,), pulls=(8,))):
        event = read_event("issues", payload(issue={"number": 42}), REPOSITORY)
        assert narrowed(named, event) == (named, "")


@pytest.mark.parametrize(
    ("sender", "login", "is_own"),
    [
        (APP, "octo-sweeper[bot]", True),
        (APP, "Octo-Sweeper", True),
        (APP, "github-actions[bot]", False),
        (PERSON, "octocat", False),
        ({"login": "octo-sweeper", "type": "User"}, "octo-sweeper[bot]", False),
        ({"type": "Bot"}, "", False),
        ({}, "octocat", False),
    ],
)
def test_only_an_apps_own_event_is_its_own(
    sender: dict[str, str], login: str, is_own: bool
) -> None:
    """A person's event is never passed over, though a personal token acts under the same name."""
    event = read_event("issues", payload(sender, issue={"number": 42}), REPOSITORY)
    assert event.is_caused_by(login) is is_own


@given(
    st.text(),
    st.recursive(
        st.none() | st.integers() | st.text(),
        lambda x: (
            st.lists(x)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "issue",
                        "pull_request",
                        "number",
                        "sender",
                        "login",
                        "repository",
                        "full_name",
                    ]
                ),
                x,
            )
        ),
    ),
)
def test_no_payload_is_an_error(name: str, data: object) -> None:
    """Whatever stands in the file, there is a scope, and it is no larger than what was asked for."""
    for event_name in (name, "issues", "pull_request"):
        event = read_event(event_name, json.dumps(data), REPOSITORY)
        assert isinstance(event, Trigger)
        scope, _ = narrowed(ALL, event)
        assert scope.repositories == (HERE,)
