"""What goes out to GitHub holds no secret, whichever way it goes, and whoever wrote it is told."""

from __future__ import annotations

import json

import pytest

from lifecycle.claim.engine import look, observing
from lifecycle.claim.engine.observing import LookUnderWay
from lifecycle.core.plan import Wake
from lifecycle.git import lease
from lifecycle.git.process import GitRepository
from tests.cli.outcome import ok, refused
from tests.conftest import Place
from tests.e2e.client import Session

SOAKED = pytest.mark.soak(
    "e2e/test_withheld.py::test_a_secret_in_the_summary_is_not_published",
    "core/test_redact.py::test_what_has_the_shape_of_a_secret_goes",
)

ONE = "11111111-aaaa-4bbb-8ccc-000000000001"
SECRET = "gh" + "p_" + "aB3dE5gH1j" * 4
OTHER = "sk-" + "ant-api03-" + "aB3dE5gH1j" * 9


def published(place: Place) -> str:
    """All that the world holds, but for the tokens that open it."""
    return json.dumps({k: v for k, v in place.control.world().items() if k != "tokens"})


def test_a_secret_in_the_summary_is_not_published(place: Place) -> None:
    """Handoff, claim file, PR: none has it, the PR is opened all the same, and the command says so."""
    ok(place.cli("claim", "42"))
    place.work(place.claim()["branch"], push=False)
    said = ok(place.cli("handoff", "--summary", f"Fix it, tried with {SECRET}"))
    assert 'looks like a secret in the summary was replaced by "***"' in said
    assert place.claim()["summary"] == "Fix it, tried with ***"
    ok(place.cli("tick"))
    (pull,) = (one for one in place.pulls().values() if one["head"] == place.claim()["branch"])
    assert pull["title"] == "Fix it, tried with ***"
    assert SECRET not in published(place)
    assert SECRET not in "".join(p.read_text() for p in place.root.glob(".lifecycle/*.json"))


@SOAKED
def test_a_secret_that_the_agent_wrote_into_the_claim_is_not_published(place: Place) -> None:
    """Summary and name of a claim written by hand: the PR and the card are clean, and the agent is told."""
    place.ready(summary=f"Fix it: {OTHER}", agent_id=f"me-{SECRET}")
    told = Session(place, ONE).on_stop()
    assert "looks like a secret in the summary of .agent-claim.json" in told.model
    assert "PR #" in told.model
    ok(place.cli("tick"))
    assert place.claim()["summary"] == "Fix it: ***"
    assert place.card()["Agent"] == "me-***"
    assert OTHER not in published(place)
    assert SECRET not in published(place)


@SOAKED
def test_a_secret_in_the_projects_template_is_not_published(place: Place) -> None:
    """The last gate is where requests leave: also what no command has seen loses its secrets."""
    (place.root / ".github").mkdir(exist_ok=True)
    (place.root / ".github/pull_request_template.md").write_text(f"Use {SECRET}.\n")
    place.git("add", ".github")
    place.git("commit", "--quiet", "-m", "A template")
    place.ready()
    told = Session(place, ONE).on_stop()
    assert "looks like a secret in the body was replaced" in told.model
    assert "Use ***." in place.pulls()[place.pull()]["body"]
    assert SECRET not in published(place)


@SOAKED
def test_a_secret_in_a_task_or_a_comment_is_not_published(place: Place) -> None:
    """`tracker create`, `edit`, `label`, `comment`, `close`, `release`: each says what it took out."""
    made = json.loads(
        ok(place.cli("tracker", "create", f"a {SECRET}", "--description", OTHER, "--json"))
    )
    assert "secret in the title and description was" in made["withheld"]
    number = made["task"]["id"]
    for arguments, name in (
        (("edit", number, "--title", f"b {SECRET}"), "title"),
        (("label", number, "--create", "--add", f"l {SECRET}"), "label"),
        (("comment", number, f"c {OTHER}"), "comment"),
        (("close", number, "--reason", f"d {OTHER}"), "reason"),
    ):
        said = ok(place.cli("tracker", *arguments))
        assert f'looks like a secret in the {name} was replaced by "***"' in said
    assert SECRET not in published(place)
    assert OTHER not in published(place)


@SOAKED
def test_a_reason_is_not_published_with_its_secret(place: Place) -> None:
    """Giving back and closing by override: the comment on the issue has `***`, and it is said."""
    ok(place.cli("claim", "42"))
    assert "in the reason was replaced" in ok(place.cli("release", "--reason", f"no {SECRET}"))
    assert "Reason: no ***" in str(place.issue()["comments"])
    ok(place.cli("claim", "42"))
    said = ok(place.cli("close", "--override", f"because {OTHER}"))
    assert "in the override was replaced" in said
    assert "by explicit override: because ***" in str(place.issue()["comments"])
    assert SECRET not in published(place)
    assert OTHER not in published(place)


def test_what_was_removed_before_is_not_forgotten(place: Place) -> None:
    """A look that nobody listened to removed one secret, and the next look another: both are told."""
    ok(place.cli("claim", "42"))
    tree = place.tree()
    loaded = tree.claim_store.load()
    assert loaded.record is not None
    place_of_look = tree.world, tree.claim_store, Wake.STOP
    seen = observing.snapshot_of(*place_of_look, loaded.record, loaded.hints)
    for name in ("title", "comment", "comment"):
        tree.world.withheld.append(name)
        look._tell_withheld(LookUnderWay(tree.world, tree.claim_store, seen))
    tree.claim_store.save()
    said = ok(place.cli("tick"))
    assert said.count("like a secret in the title was") == 1
    assert said.count("like a secret in the comment was") == 1


def test_a_branch_that_is_called_like_a_secret_is_not_pushed(place: Place) -> None:
    """A name cannot be changed in passing: the hand-off refuses, and the remote has no such branch."""
    place.ready(phase="coding", branch=f"fix-{SECRET}")
    place.git("switch", "--quiet", "-C", f"fix-{SECRET}")
    sentence = refused(place.cli("handoff", "--summary", "Fix"))
    assert "branch contains what looks like a secret, so nothing was pushed" in sentence
    assert SECRET not in sentence
    assert SECRET not in published(place)


@SOAKED
def test_a_lease_names_no_secret(place: Place) -> None:
    """The commit that holds a task is public: an agent that is called like a secret is not named so."""
    git = GitRepository(place.root, place.tree().world.deadline, place.environment)
    lease.take(git, "origin", 43, f"me-{SECRET}")
    held = lease.read(git, "origin", 43)
    assert held is not None
    assert held.agent == "me-***"
