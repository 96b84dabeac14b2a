"""Work that begins in a clone lets it be known to its user's own views; whoever only looks does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lifecycle.settings.user_folder import known_clones
from tests.conftest import Place


def known_in(place: Place) -> list[Path]:
    """The git folders of the clones that the user of this place works in."""
    return [one.git for one in known_clones(place.environment)]


def test_a_claim_lets_its_clone_be_known(place: Place) -> None:
    """Looking leaves no trace; a claim does, and a second one in another worktree adds none."""
    place.cli("status")
    assert known_in(place) == []
    assert place.cli("claim", "42").returncode == 0
    assert known_in(place) == [(place.root / ".git").resolve()]


def test_a_run_lets_its_clone_be_known(place: Place) -> None:
    """So does a run that begins, where there is no claim."""
    assert place.cli("run", "init", "Let people pay", "--autonomous").returncode == 0
    assert known_in(place) == [(place.root / ".git").resolve()]


def test_a_session_that_starts_beside_work_lets_its_clone_be_known(place: Place) -> None:
    """A clone whose work is older than this, or that was forgotten, is known again at the next start."""
    place.hook("session-start", {"source": "startup"}, LIFECYCLE_PROJECT_NUMBER="")
    assert known_in(place) == []
    (place.root / ".lifecycle.toml").write_text("")
    place.hook("session-start", {"source": "startup"}, LIFECYCLE_PROJECT_NUMBER="")
    assert known_in(place) == [(place.root / ".git").resolve()]


def test_a_workflow_lets_its_clone_be_known(place: Place) -> None:
    """So does a workflow that is started."""
    words = ("workflow", "start", "Feature X", "--type", "custom", "--phase", "Design")
    done = place.cli(*words)
    assert done.returncode == 0, done.stderr
    assert known_in(place) == [(place.root / ".git").resolve()]


@pytest.mark.parametrize(
    ("token", "so"),
    [(True, "so tasks are GitHub's issues"), (False, "so no task was read or changed")],
)
def test_a_session_whose_hooks_find_no_bd_says_so_once(place: Place, token: bool, so: str) -> None:
    """To the person: a terminal's PATH may have it, so what is typed there shows no reason.

    Without GitHub as well: else a token seems to be what is missing.
    """
    (place.root / ".lifecycle.toml").write_text("[stages]\nuse = true\n")
    (place.root / ".beads").mkdir()
    (place.root / ".beads/metadata.json").write_text("{}")
    if not token:
        place = replace(place, environment={**place.environment, "GH_TOKEN": ""})
    said = [
        place.hook("session-start", {"source": "startup", "session_id": session}).stdout
        for session in ("11111111-aaaa", "22222222-bbbb")
    ]
    told = f"For the hooks, .beads is here, and bd is not on PATH, {so}; install it"
    assert told in json.loads(said[0])["systemMessage"]
    assert told not in said[1]
