"""What branches demand: classic protection and rulesets, at merges and at pushes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.sandbox.rules.actions import _expression
from lifecycle.sandbox.server import Sandbox
from tests.sandbox.crowd import crowd

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]
    Ask = Callable[..., Any]
    Git = Callable[..., subprocess.CompletedProcess[str]]

BARE: dict[str, Any] = {
    "required_status_checks": None,
    "enforce_admins": False,
    "required_pull_request_reviews": None,
    "restrictions": None,
}


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """The built-in world with everybody's tokens."""
    with Sandbox(crowd()) as running:
        yield running


@pytest.fixture
def number(control: Control) -> int:
    """An open pull request of octocat's from `work`."""
    control.push_commit("work", {"a.txt": "a"}, "Work", by="octocat")
    return control.open_pull("work", "Work", by="octocat")


def protect(api: Api, **changes: Any) -> Any:
    """Protect main with these fields."""
    answer = api("PUT", "branches/main/protection", json={**BARE, **changes}, token="maria")
    assert answer.status_code == 200, answer.text
    return answer.json()


def demand(*contexts: str, strict: bool = False) -> dict[str, Any]:
    """The field that demands checks."""
    return {"strict": strict, "contexts": list(contexts)}


def state(api: Api, number: int) -> str:
    """What stands in the way, asked until GitHub knows."""
    api("GET", f"pulls/{number}")
    return str(api("GET", f"pulls/{number}").json()["mergeable_state"])


def refusal(api: Api, number: int, token: str | None = None) -> tuple[int, str]:
    """What a merge is refused with."""
    answer = api("PUT", f"pulls/{number}/merge", token=token)
    return answer.status_code, answer.json()["message"]


def test_protection_is_what_was_put(api: Api) -> None:
    """PUT answers with all of it, GET shows the same, DELETE ends it; only for administrators."""
    assert api("GET", "branches/main/protection", token="maria").json()["message"] == (
        "Branch not protected"
    )
    made = protect(
        api,
        required_status_checks={"strict": True, "checks": [{"context": "ci", "app_id": 4711}]},
        required_pull_request_reviews={"required_approving_review_count": 2},
        required_conversation_resolution=True,
    )
    assert made["required_status_checks"]["checks"] == [{"context": "ci", "app_id": 4711}]
    assert made["required_pull_request_reviews"]["required_approving_review_count"] == 2
    assert made["required_conversation_resolution"] == {"enabled": True}
    assert api("GET", "branches/main/protection", token="maria").json() == made
    assert api("GET", "branches/main/protection").status_code == 404
    checks = api("GET", "branches/main/protection/required_status_checks", token="maria").json()
    assert (checks["strict"], checks["contexts"]) == (True, ["ci"])
    assert api("GET", "branches/main").json()["protected"] is True
    assert api("DELETE", "branches/main/protection", token="maria").status_code == 204
    assert api("GET", "branches/main/protection", token="maria").status_code == 404
    assert api("PUT", "branches/none/protection", json=BARE, token="maria").status_code == 404
    assert api("PUT", "branches/main/protection", json={}, token="maria").status_code == 422


def test_required_checks_block_until_they_pass(api: Api, control: Control, number: int) -> None:
    """Absent is `expected`, then in progress, then failing; GitHub names each in its sentence."""
    protect(api, required_status_checks=demand("test"))
    assert state(api, number) == "blocked"
    assert refusal(api, number) == (405, 'Required status check "test" is expected.')
    control.set_check(number, "test", status="in_progress")
    assert refusal(api, number) == (405, 'Required status check "test" is in progress.')
    control.set_check(number, "test", conclusion="failure")
    assert refusal(api, number) == (405, 'Required status check "test" is failing.')
    control.set_check(number, "test")
    assert state(api, number) == "clean"
    assert api("PUT", f"pulls/{number}/merge").status_code == 200


def test_several_checks_are_counted(api: Api, control: Control, number: int) -> None:
    """One sentence for all that are alike, another that tells the kinds apart."""
    protect(api, required_status_checks=demand("a", "b", "c"))
    assert refusal(api, number)[1] == "3 of 3 required status checks are expected."
    control.set_status(number, "a", "pending")
    control.set_check(number, "c", conclusion="skipped")
    assert refusal(api, number)[1] == (
        "2 of 3 required status checks have not succeeded: 1 pending and 1 expected."
    )


def test_administrators_need_not_wait_unless_it_says_so(
    api: Api, control: Control, number: int
) -> None:
    """Without enforce_admins an administrator merges; with it nobody does."""
    protect(api, required_status_checks=demand("test"), enforce_admins=True)
    assert refusal(api, number, "maria")[0] == 405
    protect(api, required_status_checks=demand("test"))
    assert refusal(api, number)[0] == 405
    assert api("PUT", f"pulls/{number}/merge", token="maria").status_code == 200


def test_approvals_by_writers_count(api: Api, control: Control, number: int) -> None:
    """A stranger's approval does not; a request for changes outweighs; a push may dismiss all."""
    wanted = {"required_approving_review_count": 1, "dismiss_stale_reviews": True}
    protect(api, required_pull_request_reviews=wanted)
    control.review(number, "APPROVED", login="visitor")
    sentence = "At least 1 approving review is required by reviewers with write access."
    assert refusal(api, number) == (405, sentence)
    control.review(number, "APPROVED", login="sam")
    assert state(api, number) == "clean"
    control.review(number, "CHANGES_REQUESTED", login="maria")
    assert state(api, number) == "blocked"
    control.review(number, "APPROVED", login="maria")
    assert state(api, number) == "clean"
    control.push_commit("work", {"a.txt": "b"}, "More", by="octocat")
    assert state(api, number) == "blocked"
    left = {one["state"] for one in control.world()["pulls"][str(number)]["reviews"]}
    assert left == {"DISMISSED", "CHANGES_REQUESTED"}


def test_a_strict_base_wants_the_head_up_to_date(api: Api, control: Control, number: int) -> None:
    """Behind is a state of its own and 409; updating the branch mends it."""
    protect(api, required_status_checks=demand("test", strict=True))
    control.push_commit("main", {"m.txt": "m"}, "Meanwhile")
    control.set_check(number, "test")
    assert state(api, number) == "behind"
    assert refusal(api, number)[0] == 409
    api("PUT", f"pulls/{number}/update-branch")
    assert state(api, number) == "blocked"  # the new head has no check yet
    control.set_check(number, "test")
    assert state(api, number) == "clean"


def test_open_conversations_block(api: Api, control: Control, number: int) -> None:
    """With required_conversation_resolution each has to be resolved first."""
    protect(api, required_conversation_resolution=True)
    sha = control.world()["pulls"][str(number)]["head_sha"]
    body = {"body": "Why?", "commit_id": sha, "path": "a.txt", "line": 1}
    assert api("POST", f"pulls/{number}/comments", json=body, token="sam").status_code == 201
    assert state(api, number) == "blocked"
    assert "conversation" in refusal(api, number)[1]


RULESET = {
    "name": "main",
    "enforcement": "active",
    "conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
    "rules": [
        {"type": "deletion"},
        {"type": "non_fast_forward"},
        {
            "type": "pull_request",
            "parameters": {
                "required_approving_review_count": 1,
                "dismiss_stale_reviews_on_push": False,
                "require_code_owner_review": False,
                "require_last_push_approval": False,
                "required_review_thread_resolution": False,
            },
        },
        {
            "type": "required_status_checks",
            "parameters": {
                "strict_required_status_checks_policy": False,
                "required_status_checks": [{"context": "test"}],
            },
        },
    ],
}


def test_rulesets_bind_everybody(api: Api, control: Control, number: int) -> None:
    """Made, listed, shown; their sentences come in a paragraph, for administrators too."""
    made = api("POST", "rulesets", json=RULESET, token="maria")
    assert made.status_code == 201
    listed = api("GET", "rulesets").json()
    assert [(one["name"], "rules" in one) for one in listed] == [("main", False)]
    found = api("GET", "rules/branches/main").json()
    assert [one["type"] for one in found] == [
        "deletion", "non_fast_forward", "pull_request", "required_status_checks",
    ]  # fmt: skip
    assert {one["ruleset_id"] for one in found} == {made.json()["id"]}
    assert api("GET", "rules/branches/work").json() == []
    code, message = refusal(api, number, "maria")
    assert code == 405
    assert message.startswith("Repository rule violations found\n\nAt least 1 approving review")
    place = f"rulesets/{made.json()['id']}"
    assert api("PUT", place, json={"enforcement": "disabled"}, token="sam").status_code == 404
    assert api("PUT", place, json={"enforcement": "disabled"}, token="maria").status_code == 200
    assert api("GET", "rules/branches/main").json() == []
    assert state(api, number) == "clean"
    assert api("DELETE", place, token="maria").status_code == 204
    assert api("GET", place).status_code == 404


def test_a_rule_that_the_sandbox_does_not_know_is_said(api: Api) -> None:
    """501 names it, so that nobody believes in a rule that does not hold."""
    body = {**RULESET, "rules": [{"type": "required_signatures"}]}
    answer = api("POST", "rulesets", json=body, token="maria")
    assert (answer.status_code, "required_signatures" in answer.text) == (501, True)


def test_protected_branches_refuse_pushes(
    api: Api, control: Control, git: Git, clone: Path
) -> None:
    """GH006 in GitHub's words for the protected ref only; who administers may push."""
    protect(api, required_pull_request_reviews={}, required_status_checks=demand("test"))
    (clone / "x.txt").write_text("x")
    git("add", "x.txt", cwd=clone)
    git("commit", "--quiet", "--message", "Directly", cwd=clone)
    refused = git("push", "origin", "HEAD:main", "HEAD:side", cwd=clone, ok=False)
    assert refused.returncode == 1
    assert "remote: error: GH006: Protected branch update failed for refs/heads/main." in (
        refused.stderr
    )
    assert "remote: - Changes must be made through a pull request." in refused.stderr
    assert 'remote: - Required status check "test" is expected.' in refused.stderr
    assert "! [remote rejected] HEAD -> main (protected branch hook declined)" in refused.stderr
    assert "HEAD -> side" in refused.stderr
    found = control.world()["refs"]
    assert found["refs/heads/side"] != found["refs/heads/main"]
    token = {"token": "maria"}
    git("remote", "set-url", "origin", _as(clone, git, token["token"]), cwd=clone)
    git("push", "--quiet", "origin", "HEAD:main", cwd=clone)
    assert control.world()["refs"]["refs/heads/main"] == found["refs/heads/side"]


def _as(clone: Path, git: Git, token: str) -> str:
    url = git("remote", "get-url", "origin", cwd=clone).stdout.strip()
    scheme, _, rest = url.partition("://")
    return f"{scheme}://x-access-token:{token}@{rest.rpartition('@')[2]}"


def test_nobody_forces_or_deletes_a_protected_branch(
    api: Api, control: Control, git: Git, clone: Path
) -> None:
    """Not even who administers, where protection does not allow it."""
    control.push_commit("keep", {"k.txt": "k"}, "Keep")
    body = {**BARE}
    assert api("PUT", "branches/keep/protection", json=body, token="maria").status_code == 200
    git("remote", "set-url", "origin", _as(clone, git, "maria"), cwd=clone)
    git("commit", "--quiet", "--allow-empty", "--message", "Elsewhere", cwd=clone)
    forced = git("push", "--force", "origin", "HEAD:keep", cwd=clone, ok=False)
    assert "- Cannot force-push to this branch" in forced.stderr
    deleted = git("push", "origin", ":keep", cwd=clone, ok=False)
    assert "- Cannot delete this branch" in deleted.stderr
    assert "refs/heads/keep" in control.world()["refs"]


def test_rulesets_refuse_pushes_in_their_own_words(
    api: Api, control: Control, git: Git, clone: Path
) -> None:
    """GH013, with the page of the rules and a reason of its own."""
    assert api("POST", "rulesets", json=RULESET, token="maria").status_code == 201
    git("commit", "--quiet", "--allow-empty", "--message", "Directly", cwd=clone)
    refused = git("push", "origin", "HEAD:main", cwd=clone, ok=False)
    assert "remote: error: GH013: Repository rule violations found for refs/heads/main." in (
        refused.stderr
    )
    assert "/octo-org/hello-service/rules?ref=refs%2Fheads%2Fmain" in refused.stderr
    assert "(push declined due to repository rule violations)" in refused.stderr


def test_graphql_shows_the_rules(graphql: Ask, api: Api, control: Control, number: int) -> None:
    """refUpdateRule for everybody, the rule itself for administrators; isRequired by the number."""
    protect(api, required_status_checks=demand("test", "absent"))
    control.set_check(number, "test")
    control.set_check(number, "other")
    text = """query R($n: Int!) { repository(owner: "octo-org", name: "hello-service") {
      pullRequest(number: $n) {
        mergeStateStatus
        baseRef { name refUpdateRule { requiredStatusCheckContexts viewerCanPush }
          branchProtectionRule { requiresStrictStatusChecks } }
        statusCheckRollup { contexts(first: 9) { nodes {
          ... on CheckRun { name isRequired(pullRequestNumber: $n) } } } } } } }"""
    graphql(text, n=number)
    found = graphql(text, n=number)["data"]["repository"]["pullRequest"]
    assert found["mergeStateStatus"] == "BLOCKED"
    assert found["baseRef"]["refUpdateRule"] == {
        "requiredStatusCheckContexts": ["test", "absent"],
        "viewerCanPush": True,
    }
    assert found["baseRef"]["branchProtectionRule"] is None
    assert found["statusCheckRollup"]["contexts"]["nodes"] == [
        {"name": "test", "isRequired": True},
        {"name": "other", "isRequired": False},
    ]
    shown = graphql(text, n=number, token="maria")["data"]["repository"]["pullRequest"]
    assert shown["baseRef"]["branchProtectionRule"] == {"requiresStrictStatusChecks": False}


@pytest.mark.parametrize(
    ("pattern", "branch", "does"),
    [
        ("main", "main", True),
        ("main", "mains", False),
        ("release/*", "release/1", True),
        ("release/*", "release/1/x", False),
        ("**/fix", "a/b/fix", True),
        ("**/fix", "fix", True),
        ("v?.0", "v1.0", True),
        ("v[0-9]", "v7", True),
        ("a.b", "axb", False),
    ],
)
def test_patterns_stop_at_a_slash(pattern: str, branch: str, does: bool) -> None:
    """`*` is within one part of a name, `**/` is any number of parts; a dot is a dot."""
    assert (_expression(pattern).fullmatch(branch) is not None) is does


@given(st.text(alphabet="abc/.-", min_size=1, max_size=12))
def test_a_name_matches_itself(name: str) -> None:
    """A pattern without wildcards is the one branch of that name."""
    assert _expression(name).fullmatch(name)
    assert not _expression(name).fullmatch(f"{name}x")
