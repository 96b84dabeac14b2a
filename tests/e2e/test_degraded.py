"""Tokens that may not do everything, from claim to close: labels for the board, an App's token."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Literal

import pytest
from msgspec.structs import replace

from lifecycle.api import GitHub, Wake
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.seed import Seed, SeedApp, SeedInstallation, SeedToken, default_seed
from lifecycle.sandbox.server import Sandbox
from tests.clones import clone
from tests.conftest import Place, environment_of
from tests.e2e.test_story import elapse, idle, stop
from tests.github.apps import make_key
from tests.repeated import soaked

SOAKED = pytest.mark.soak(
    "e2e/test_degraded.py::test_a_board_that_comes_back_takes_over_from_the_label",
    "claim/test_degraded.py::test_a_card_that_comes_back_is_written_once_whatever_it_shows",
    "e2e/test_degraded.py::test_an_app_takes_a_task_from_claim_to_close",
)

ISSUE = 42
Founded = Callable[[Seed], Place]

PERMISSIONS = {
    "issues": "write",
    "pull_requests": "write",
    "contents": "write",
    "checks": "read",
    "statuses": "read",
    "actions": "read",
}


@pytest.fixture
def founded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Founded]:
    """Makes a clone in another world; git keeps what the seed's first token may."""
    with ExitStack() as stack:

        def make(seed: Seed) -> Place:
            info = stack.enter_context(Sandbox(seed)).info
            root = tmp_path / "founded"
            environment = environment_of(info, root)
            for name, value in environment.items():
                if name.startswith("GIT_"):
                    monkeypatch.setenv(name, value)
            clone(info.git_url, root, environment)
            return Place(info, Control(info.control_url), root, environment)

        yield make


def statuses(place: Place) -> list[str]:
    """The labels of the issue that say a Status."""
    labels: list[str] = place.issue(ISSUE)["labels"]
    return [name for name in labels if name.startswith("status: ")]


def life(place: Place) -> dict[str, Any]:
    """Claim to close with labels; the reply of the last stop."""
    done = place.cli("claim", str(ISSUE))
    assert done.returncode == 0, done.stderr
    said = " ".join((done.stdout + done.stderr).split())
    assert "kept as a label on the issue" in said
    assert "did not assign" not in said  # GitHub assigns no App
    assert statuses(place) == ["status: in progress"]
    (place.root / "work.txt").write_text("work\n")
    place.git("add", "work.txt")
    place.git("commit", "--quiet", "-m", "Work")
    done = place.cli("handoff", "--summary", "Fix it")
    assert done.returncode == 0, done.stderr
    reply = stop(place)
    assert "created" in reply["hookSpecificOutput"]["additionalContext"]
    assert statuses(place) == ["status: in review"]
    place.control.merge_pull(place.pull())
    elapse(place)
    assert "Should I close issue #42?" in idle(place)
    done = place.cli("close")
    assert done.returncode == 0, done.stderr
    assert "Status label → Done" in " ".join((done.stdout + done.stderr).split())
    assert statuses(place) == ["status: done"]
    assert place.issue(ISSUE)["state"] == "closed"
    return reply


@SOAKED
def test_without_the_scope_labels_keep_the_status(place: Place) -> None:
    """The default token of gh: said once, and a card that it cannot see is not touched."""
    place.control.set_scopes(["repo"])
    life(place)
    assert place.card(ISSUE)["Status"] == "Todo"


@SOAKED
def test_labels_of_other_people_stay(place: Place) -> None:
    """They may begin as ours do: only the four that are ours are taken off."""
    theirs = ("status: blocked", "status: needs-triage")
    hub = GitHub(
        place.info.repository,
        token=place.info.token,
        api_url=place.info.api_url,
        graphql_url=place.info.graphql_url,
    )
    hub.labels.ensure_labels(ISSUE, add=theirs, create=True)
    hub.disconnect()
    place.control.set_scopes(["repo"])
    assert place.cli("claim", str(ISSUE)).returncode == 0
    assert sorted(statuses(place)) == ["status: blocked", "status: in progress", theirs[1]]


def test_a_board_that_comes_back_takes_over_from_the_label(place: Place) -> None:
    """One truth: the card has Status and Agent, and the label that was put on here is off."""
    place.control.set_scopes(["repo"])
    assert place.cli("claim", str(ISSUE)).returncode == 0
    assert statuses(place) == ["status: in progress"]
    place.control.set_scopes(["repo", "project"])
    assert place.cli("tick").returncode == 0
    assert statuses(place) == []
    card = place.card(ISSUE)
    assert card["Status"] == "In Progress"
    assert card["Agent"]


@SOAKED
def test_a_board_that_comes_back_is_not_left_with_a_label_at_the_end(place: Place) -> None:
    """The task is given back, its card says Todo already, and the label goes all the same."""
    place.control.set_scopes(["repo"])
    assert place.cli("claim", str(ISSUE)).returncode == 0
    place.control.set_scopes(["repo", "project"])
    assert place.cli("release").returncode == 0
    assert statuses(place) == []
    assert place.card(ISSUE)["Status"] == "Todo"


@SOAKED
@pytest.mark.parametrize("is_on_board", [True, False])
def test_a_board_that_can_only_be_read(place: Place, *, is_on_board: bool) -> None:
    """Labels from the first refusal on, and the claim says so; later looks write nothing again."""
    if not is_on_board:
        place.control.remove_item(ISSUE)
    place.control.set_scopes(["repo", "read:project"])
    done = place.cli("claim", str(ISSUE))
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 0
    assert "the board cannot be written;" in said
    assert "kept as a label on the issue" in said
    assert statuses(place) == ["status: in progress"]
    for _ in range(2):
        place.clear()
        done = place.cli("tick")
        assert done.returncode == 0
        assert [one.operation for one in place.requests()] == ["ObserveClaim"]
    assert "board" not in done.stdout + done.stderr


@SOAKED
def test_the_board_is_refused_after_the_claim(place: Place) -> None:
    """The right to write it was taken away meanwhile: the next Status is a label, whole and said."""
    assert place.cli("claim", str(ISSUE)).returncode == 0
    place.control.set_scopes(["repo", "read:project"])
    assert place.cli("release").returncode == 0
    assert statuses(place) == ["status: todo"]


@SOAKED
@pytest.mark.parametrize("kind", ["actions", "app", "fine-grained"])
def test_labels_last_longer_than_the_memory_of_the_board(
    founded: Founded, kind: Literal["actions", "app", "fine-grained"]
) -> None:
    """After an hour the board is asked for again; an empty answer is not taken for a look at it."""
    rights = [f"{name}:{level}" for name, level in PERMISSIONS.items()]
    letters = "github_pat_" if kind == "fine-grained" else "ghs_"
    token = SeedToken(letters + "a" * 36, "octocat", rights, kind, limit=5000)
    seed = default_seed()
    place = founded(replace(seed, tokens=[token, *seed.tokens]))
    assert place.cli("claim", str(ISSUE)).returncode == 0
    (place.root / "work.txt").write_text("work\n")
    place.git("add", "work.txt")
    place.git("commit", "--quiet", "-m", "Work")
    assert place.cli("handoff", "--summary", "Fix it").returncode == 0
    place.clock.sleep(3700)
    tree = place.tree()
    said = " ".join(one.text for one in tree.tick(Wake.STOP).said)
    assert "is not on project" not in said
    assert statuses(place) == ["status: in review"]
    place.control.merge_pull(place.pull())
    said = " ".join(one.text for one in tree.close().said)
    tree.disconnect()
    assert "Status label → Done." in said
    assert statuses(place) == ["status: done"]


def test_the_token_of_actions_with_a_claim_written_by_hand(founded: Founded) -> None:
    """It is given an empty list of cards, never an error: the project is asked for, and labels used."""
    rights = [f"{name}:{level}" for name, level in PERMISSIONS.items()]
    token = SeedToken("ghs_" + "a" * 36, "octocat", rights, "actions", limit=1000)
    seed = default_seed()
    place = founded(replace(seed, tokens=[token, *seed.tokens]))
    place.write(issue_number=ISSUE, branch="work", phase="coding", status="In Progress")
    done = place.cli("tick")
    assert "kept as a label on the issue" in " ".join((done.stdout + done.stderr).split())
    assert statuses(place) == ["status: in progress"]


@SOAKED
def test_each_label_is_made_once(place: Place) -> None:
    """Three labels for three Statuses, in all of a task's life."""
    place.control.set_scopes(["repo"])
    place.clear()
    life(place)
    path = f"/repos/{place.info.repository}/labels"
    made = [r for r in place.requests() if (r.method, r.path) == ("POST", path)]
    assert len(made) == 3


@SOAKED
def test_labels_that_are_not_wanted(place: Place) -> None:
    """labels.use = "never": issue and PR work alone, and the reason is said."""
    (place.root / ".lifecycle.toml").write_text('labels.use = "never"')
    place.control.set_scopes(["repo"])
    done = place.cli("claim", str(ISSUE))
    assert "gh auth refresh -s project" in " ".join((done.stdout + done.stderr).split())
    assert statuses(place) == []


@SOAKED
def test_the_token_of_actions(founded: Founded) -> None:
    """GITHUB_TOKEN sees no project: the whole life goes by labels, and it says so."""
    rights = [f"{name}:{level}" for name, level in PERMISSIONS.items()]
    token = SeedToken("ghs_" + "a" * 36, "octocat", rights, "actions", limit=1000)
    seed = default_seed()
    place = founded(replace(seed, tokens=[token, *seed.tokens]))
    life(place)
    assert place.card(ISSUE)["Status"] == "Todo"


def test_an_app_takes_a_task_from_claim_to_close(founded: Founded, tmp_path: Path) -> None:
    """One token for all of its processes, kept outside of the repository, and in no text of ours."""
    key = make_key()
    file = tmp_path / "app.pem"
    file.write_text(key.private)
    app = SeedApp("robot", 12, "octo-org", public_key=key.public, permissions=PERMISSIONS)
    seed = replace(
        default_seed(), apps=[app], installations=[SeedInstallation(34, "robot", "octo-org")]
    )
    place = founded(seed)
    del place.environment["GH_TOKEN"]
    place.environment["LIFECYCLE_APP_ID"] = "12"
    place.environment["LIFECYCLE_APP_PRIVATE_KEY_FILE"] = str(file)
    place.clear()
    life(place)
    asked = [r.path for r in place.requests() if r.path.endswith("/access_tokens")]
    assert len(asked) == 1
    (kept,) = (tmp_path / "home").rglob("app-tokens.json")
    secret = kept.read_text().partition('"ghs_')[2][:20]
    for folder in (place.root / ".lifecycle", place.root / ".git"):
        for path in folder.rglob("*"):
            assert not path.is_file() or secret.encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("lacks", "hidden"),
    [
        soaked(("statuses",), "commit statuses (Commit statuses: read)"),
        (("actions",), "runs of GitHub Actions (Actions: read)"),
        (("actions", "statuses"), "any of its checks"),
    ],
)
def test_a_token_that_may_not_read_checks_hears_of_reviews_all_the_same(
    founded: Founded, lacks: tuple[str, ...], hidden: str
) -> None:
    """What of the checks it is not shown is named, by GitHub's own word over all of them or without."""
    rights = [
        f"{name}:{level}" for name, level in PERMISSIONS.items() if name not in ("checks", *lacks)
    ]
    token = SeedToken("github_pat_" + "a" * 36, "octocat", rights, "fine-grained", limit=5000)
    seed = default_seed()
    hidden_from_others = [replace(seed.repositories[0], visibility="private")]
    place = founded(replace(seed, tokens=[token, *seed.tokens], repositories=hidden_from_others))
    assert place.cli("claim", str(ISSUE)).returncode == 0
    (place.root / "work.txt").write_text("work\n")
    place.git("add", "work.txt")
    place.git("commit", "--quiet", "-m", "Work")
    assert place.cli("handoff", "--summary", "Fix it").returncode == 0
    stop(place)
    number = place.pull()
    place.control.set_check(number, "test", conclusion="failure")
    place.control.review(number, "CHANGES_REQUESTED", login="maria", body="Not so.")
    done = place.cli("tick")
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 0, said
    assert f"Changes requested on PR #{number} by maria" in said
    assert f"CI: 1 FAILED — CI on PR #{number}" in said
    place.control.set_check(number, "test", conclusion="success")
    place.control.set_status(number, "deploy", "failure")
    said = " ".join(place.cli("tick").stdout.split())
    is_judged = "statuses" not in lacks
    assert ("cannot be judged: the token is not shown" in said) is not is_judged, said
    assert ("1 FAILED — deploy" in said) is is_judged
    assert is_judged or hidden in said
    place.control.set_status(number, "deploy", "success")
    assert "CI passed!" in place.cli("tick").stdout
    place.control.merge_pull(number)
    assert f"PR #{number} merged!" in place.cli("tick").stdout
