"""Each rule fails on what it is there for, and on nothing near it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.sandbox.control import LoggedRequest
from tests.soak import rules, team_rules
from tests.soak.ground import Ground, Said
from tests.soak.sequence import Step

TOKEN = "sandbox-token"
LEASE = "refs/agent-claims/42"


def violated(rule: rules.Rule, step: Step | None = None, **facts: Any) -> list[str]:
    """What a rule says of a ground of which this is known."""
    world: dict[str, Any] = {"issues": {}, "pulls": {}, "refs": {}, "board": {}}
    info = SimpleNamespace(token=TOKEN)
    usual = {"said": [], "requests": (), "known": {}, "clones": {}, "struck": 0, "index": 2,
             "machines": ()}  # fmt: skip
    ground = {**usual, "before": world, "after": world, **facts}
    at = cast("Ground", SimpleNamespace(**ground, sandbox=SimpleNamespace(info=info)))
    return list(rule(at, step or Step("on_stop")))


def hook(name: str = "on-stop", code: int = 0, stdout: str = "", stderr: str = "") -> Said:
    """What a hook printed."""
    return Said(name, code, stdout, stderr, 0.1, is_hook=True)


def command(name: str, code: int = 0, stdout: str = "") -> Said:
    """What a command printed."""
    return Said(name, code, stdout, "", 0.1, is_hook=False)


def world(**parts: Any) -> dict[str, Any]:
    """A world with these parts."""
    return {"issues": {}, "pulls": {}, "refs": {}, "board": {}, **parts}


@pytest.mark.parametrize(
    ("said", "is_kept"),
    [
        (hook(), True),
        (hook(stdout='{"systemMessage": "x"}'), True),
        (hook("on-idle", 2, stderr="news\n"), True),
        (hook(code=1), False),
        (hook(code=2, stderr="news\n"), False),
        (hook(stderr="a warning"), False),
        (hook(stdout="words"), False),
        (hook(stdout='{"additionalContext": "at the wrong place"}'), False),
        (hook("on-idle", 2), False),
        (command("status --json", stdout="{}"), True),
        (command("status --json", stdout="words"), False),
        (command("claim 42", 4), True),
        (command("claim 42", 2), False),
        (command("claim 42", 3), False),
    ],
)
def test_the_contract(said: Said, is_kept: bool) -> None:
    """The client's forms and the documented exit codes, and no other."""
    assert (violated(rules.contract, said=[said]) == []) is is_kept


def test_whoever_was_killed_owes_no_contract() -> None:
    """A signal of the sequence's explains an exit by a signal; without one it is a failure."""
    killed = Step("on_stop", kill=("SIGTERM", 3))
    assert violated(rules.contract, killed, said=[hook(code=-15)]) == []
    assert violated(rules.contract, killed, said=[hook(code=1)]) != []
    assert violated(rules.contract, said=[hook(code=-15)]) != []


def test_output_is_in_time_and_has_no_secret_and_no_traceback() -> None:
    """Each is seen wherever it is printed."""
    late = Said("on-stop", 0, "", "", 90.0, is_hook=True)
    assert violated(rules.in_time, said=[late]) != []
    assert violated(rules.in_time, said=[hook()]) == []
    for said in (command("doctor", stdout=f"token {TOKEN}"), hook(stderr=TOKEN)):
        assert violated(rules.no_secret, said=[said]) != []
    assert violated(rules.no_secret, said=[hook(stdout="{}")]) == []
    trace = hook(stderr="Traceback (most recent call last):\n")
    assert violated(rules.no_traceback, said=[trace]) != []
    assert violated(rules.no_traceback, said=[hook()]) == []


def test_two_open_pull_requests_of_a_branch() -> None:
    """One that is closed beside an open one is none too many."""
    pulls = {"46": {"head": "b", "state": "closed"}, "47": {"head": "b", "state": "open"}}
    assert violated(rules.one_open_pull, after=world(pulls=pulls)) == []
    pulls["46"]["state"] = "open"
    assert violated(rules.one_open_pull, after=world(pulls=pulls)) != []


GO_ON = Step("prompt", {"text": "go on"})
PROMPT = Said("user-prompt-submit", 0, "", "", 0.1, is_hook=True)
MERGED, OPEN = {"state": "merged", "head": "b"}, {"state": "open", "head": "b"}


@pytest.mark.parametrize(
    ("pulls", "is_right"),
    [
        (({"46": OPEN}, {"46": MERGED}), False),
        (({"46": MERGED}, {"46": MERGED}), True),
        (({"46": MERGED, "47": OPEN}, {"46": MERGED, "47": MERGED}), True),
        (({"46": OPEN, "47": MERGED}, {"46": MERGED, "47": MERGED}), False),
        (({"47": OPEN}, {"47": MERGED}), False),
    ],
    ids=["before", "after", "another merged later", "after another", "the only one, later"],
)
def test_a_yes_is_one_since_the_merge_of_the_claims_own_pull_request(
    pulls: tuple[dict[str, Any], dict[str, Any]], *, is_right: bool
) -> None:
    """A prompt, then a stop that closes: a merge in between takes a yes back only if it is the claim's."""
    record = {"values": {"issue_number": 42, "pr_number": 46}}
    clone = SimpleNamespace(life=1, renumbered=0, state={"record": record})
    known: dict[str, Any] = {}
    facts: dict[str, Any] = {"known": known, "clones": {1: clone}}
    at_first, later = pulls
    assert (
        violated(rules.closed_by_right, GO_ON, **facts, before=world(pulls=at_first), said=[PROMPT])
        == []
    )
    for close in (
        LoggedRequest(1, "PATCH", "/repos/o/r/issues/42", None, "rest", 200, None, 1),
        LoggedRequest(1, "POST", "/graphql", "CommentAndClose", "graphql", 200, 1, 1),
    ):
        found = violated(
            rules.closed_by_right,
            **facts,
            said=[hook()],
            requests=(close,),
            before=world(issues={"42": {"state": "open"}}, pulls=later),
            after=world(issues={"42": {"state": "closed"}}, pulls=later),
        )
        assert (found == []) is is_right


def test_a_claim_file_that_we_left_half_written(tmp_path: Path) -> None:
    """What the agent left broken is its own; what changed while we ran must be whole."""
    clone = SimpleNamespace(number=1, content=b'{"phase": ')
    facts: dict[str, Any] = {"clones": {1: clone}, "said": [hook()]}
    assert violated(rules.whole_claim, **facts, known={"content 1": b"{}"}) != []
    assert violated(rules.whole_claim, **facts, known={"content 1": b'{"phase": '}) == []
    assert violated(rules.whole_claim, clones={1: clone}, known={"content 1": b"{}"}) == []


def test_a_lease_that_another_clone_took() -> None:
    """Gone in a step of the other one's: a violation, unless that was a takeover; its own may go."""
    before, after = world(refs={LEASE: "one"}), world()
    facts: dict[str, Any] = {"before": before, "after": after, "known": {"leases": {"one": 1}}}
    second = Step("cli", by=2)
    assert violated(rules.others_lease, second, **facts, said=[command("claim 42")]) != []
    assert violated(rules.others_lease, second, **facts, said=[command("takeover 42")]) == []
    assert violated(rules.others_lease, Step("cli"), **facts, said=[command("release")]) == []


def test_a_create_without_a_look() -> None:
    """A comment after a query of the claim is right; the same without one is not."""
    look = LoggedRequest(1, "POST", "/graphql", "ObserveClaim", "graphql", 200, 1, 1)
    create = LoggedRequest(2, "POST", "/repos/o/r/issues/42/comments", None, "rest", 201, None, 1)
    assert violated(rules.looked_first, requests=(look, create)) == []
    assert violated(rules.looked_first, requests=(create, look)) != []
    joint = LoggedRequest(3, "POST", "/graphql", "OpenPullRequest", "graphql", 200, 1, 1)
    assert violated(rules.looked_first, requests=(look, joint)) == []
    assert violated(rules.looked_first, requests=(joint, look)) != []


def test_what_is_left_behind(tmp_path: Path) -> None:
    """Temporary files, a deletion that was begun, a log with an exception, the token in a file."""
    folder = tmp_path / ".lifecycle"
    folder.mkdir()
    (folder / "log").write_text("2026 on-stop: GitHub did not answer; look: TimeoutError\n")
    clone = SimpleNamespace(number=1, place=SimpleNamespace(root=tmp_path), state={})
    assert violated(rules.nothing_left, clones={1: clone}) == []
    assert violated(rules.no_secret_kept, clones={1: clone}) == []
    for name in ("closing.json", "x.tmp"):
        (folder / name).write_text("")
        assert violated(rules.nothing_left, clones={1: clone}) != []
        (folder / name).unlink()
    for name, text in (("log", "2026 on-stop: KeyError: 'x'\n"), ("started", json.dumps(TOKEN))):
        (folder / name).write_text(text)
        assert violated(rules.no_secret_kept, clones={1: clone}) != []
        (folder / name).unlink()


def test_an_end_without_a_comment() -> None:
    """A claim that says that it is closed has told its issue."""
    record = {"ending": {"outcome": "closed"}, "values": {"issue_number": 42}}
    clone = SimpleNamespace(number=1, state={"record": record})
    bare = {"number": 42, "comments": []}
    told = {
        "number": 42,
        "comments": [{"body": "Completed\n\n<!-- lifecycle:completed issue=42 -->"}],
    }
    assert violated(rules.ended_whole, clones={1: clone}, after=world(issues={"42": bare})) != []
    assert violated(rules.ended_whole, clones={1: clone}, after=world(issues={"42": told})) == []


def test_a_team_closes_what_was_merged_for_that_issue() -> None:
    """A merge that names another issue is none of this one's."""
    close = LoggedRequest(1, "PATCH", "/repos/o/r/issues/42", None, "rest", 200, None, 1)
    for text, is_right in (("Refs #42", True), ("Refs #421", False)):
        pulls = {"46": MERGED | {"title": "T", "body": text}}
        found = violated(
            rules.closed_by_right,
            machines=((0, "sam"),),
            said=[command("reconcile --close")],
            requests=(close,),
            before=world(issues={"42": {"state": "open"}}, pulls=pulls),
            after=world(issues={"42": {"state": "closed"}}, pulls=pulls),
        )
        assert (found == []) is is_right


@pytest.mark.parametrize(
    ("lease", "lost", "agent", "setter", "broken"),
    [
        ("one", {}, "a-1", 1, []),
        ("two", {}, "a-1", 1, ["one_holder"]),
        ("two", {"taken_by": "b-1"}, "b-1", 2, []),
        ("one", {}, "b-1", 2, ["holder_shown"]),
        ("one", {}, "b-1", None, []),
    ],
    ids=["held", "another's", "another's, and seen", "misnamed", "misnamed by a person"],
)
def test_a_task_has_one_holder_whom_its_card_names(
    lease: str, lost: dict[str, Any], agent: str, setter: int | None, broken: list[str]
) -> None:
    """A claim goes on only with its own lease, and its card is its own, unless a person named somebody."""
    ownership = {"lease": "one", **lost}
    clone = SimpleNamespace(
        number=1, ownership=ownership, is_lost=bool(lost), state={"record": {"ownership": ownership}},
        claim={"schema_version": 1, "issue_number": 42, "agent_id": "a-1", "phase": "coding",
               "status": "In Progress"},
        place=SimpleNamespace(git=lambda *_: ""),
    )  # fmt: skip
    card = {"archived": False, "values": {"Status": "In Progress", "Agent": agent}}
    facts: dict[str, Any] = {
        "clones": {1: clone},
        "known": {"card": {("42", "Agent"): setter}},
        "after": world(issues={"42": {"state": "open"}}, refs={LEASE: lease}, board={"42": card}),
    }
    both = (team_rules.one_holder, team_rules.holder_shown)
    assert [rule.__name__ for rule in both if violated(rule, **facts)] == broken


def test_a_team_leaves_nothing_held_and_loses_nothing() -> None:
    """A lease, a name on a card, a comment too many, and a commit that cannot be reached are each seen."""
    card = {"archived": False, "values": {"Agent": "a-1"}}
    known: dict[str, Any] = {"card": {("42", "Agent"): 1}}
    assert violated(team_rules.all_free, known=known, after=world(board={"42": card})) != []
    assert violated(team_rules.all_free, known={"card": {}}, after=world(refs={LEASE: "one"})) != []
    known = {"card": {("42", "Agent"): None}}
    assert violated(team_rules.all_free, known=known, after=world(board={"42": card})) == []
    told: dict[str, Any] = {
        "state": "closed",
        "comments": [{"body": "<!-- lifecycle:completed issue=42 -->"}],
    }
    facts: dict[str, Any] = {"known": {}, "after": world(issues={"42": told})}
    was = world(issues={"42": {"state": "open"}})
    assert violated(team_rules.count_closings, **facts, before=was) == []
    assert violated(team_rules.told_once, **facts) == []
    told["comments"] *= 2
    assert violated(team_rules.told_once, **facts) != []
    place = SimpleNamespace(git=lambda *_: "abc\n")
    clone = SimpleNamespace(number=1, commits=["abc"], place=place)
    assert violated(team_rules.work_kept, clones={1: clone}) == []
    clone.commits.append("def")
    assert violated(team_rules.work_kept, clones={1: clone}) != []
