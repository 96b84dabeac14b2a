"""Seed files: the built-in world, a small one, and every mistake in one sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from lifecycle.sandbox.control import Control
from lifecycle.sandbox.errors import SandboxError, SeedError
from lifecycle.sandbox.seed import default_seed, parse_seed, read_seed
from lifecycle.sandbox.server import Sandbox

if TYPE_CHECKING:
    from pathlib import Path


def small() -> dict[str, Any]:
    """The least that is a world."""
    return {
        "repository": {"owner": "ada", "owner_kind": "user", "name": "engine"},
        "users": [{"login": "ada", "role": "admin"}],
        "tokens": [{"token": "t-ada", "user": "ada", "scopes": ["repo"]}],
    }


def test_the_built_in_world_has_a_task_of_each_sort() -> None:
    """It offers what a demo and the tests need: ready, waiting, taken, reviewed, done tasks."""
    seed = default_seed()
    assert seed.project is not None
    cards = {item.issue: item.values for item in seed.project.items}
    assert cards[42] == {
        "Status": "Todo", "Priority": "P1: High", "Readiness": "Ready for Agent", "Effort": "M",
    }  # fmt: skip
    assert {values["Status"] for values in cards.values()} == {
        "Todo", "In Progress", "In Review", "Done",
    }  # fmt: skip
    assert cards[43]["Dependencies"] == "#38"
    assert cards[44]["Readiness"] == "Needs Refinement"
    assert seed.tokens[0].scopes == ["project", "repo"]


def test_a_small_world_runs(tmp_path: Path) -> None:
    """A user's repository without a board is served as well; the info says that there is none."""
    path = tmp_path / "seed.json"
    path.write_text(json.dumps({**small(), "checks": [{"name": "test", "after_reads": 1}]}))
    with Sandbox(read_seed(path)) as sandbox:
        assert sandbox.info.repository == "ada/engine"
        assert (sandbox.info.project_owner, sandbox.info.project_number) == (None, None)
        control = Control(sandbox.info.control_url)
        control.push_commit("work", {"a.txt": "a"}, "Work", by="ada")
        assert control.open_pull("work", "Work", by="ada") == 1
        assert control.world()["board"] == {}


def change(path: str, value: Any) -> dict[str, Any]:
    """A small world with one thing set, by `a.0.b`; `...` deletes it."""
    made: Any = {
        **small(),
        "issues": [{"number": 1, "title": "One"}],
        "project": {
            "number": 1,
            "title": "Board",
            "fields": [{"name": "Status", "type": "SINGLE_SELECT", "options": ["Todo"]},
                       {"name": "Title", "type": "TITLE"}],
            "items": [{"issue": 1, "values": {"Status": "Todo"}}],
        },
    }  # fmt: skip
    place = made
    *steps, last = path.split(".")
    for step in steps:
        place = place[int(step) if step.isdecimal() else step]
    if value is ...:
        del place[last]
    else:
        place[int(last) if last.isdecimal() else last] = value
    whole: dict[str, Any] = made
    return whole


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("colour", "red", "The seed has an unknown key 'colour'"),
        ("repository.stars", 5, "The seed, repository has an unknown key 'stars'"),
        ("repository.name", ..., "The seed, repository lacks the key 'name'"),
        ("repository.name", 5, "The seed, repository, name is 5, but has to be text"),
        ("repository.owner_kind", "team", 'one of "user", "organization"'),
        ("repository.files", ["a"], "has to be an object"),
        ("issues.0.number", "one", 'The seed, issues[0], number is "one"'),
        ("issues.0.number", True, "has to be a whole number"),
        ("issues.0.labels", "bug", "has to be a list"),
        ("issues.0.author", "eve", "Issue 1 names 'eve', but the seed has no such user"),
        ("issues", [{"number": 1, "title": "a"}] * 2, "the issue 1 twice"),
        ("users", [{"login": "ada"}, {"login": "ADA"}], "the user 'ada' twice"),
        ("tokens", [], "no token"),
        ("tokens.0.user", "eve", "no such user"),
        ("project.items.0.issue", 9, "no such issue"),
        ("project.items.0.values", {"Mood": "x"}, "no such field"),
        ("project.items.0.values", {"Status": "Later"}, "no such option"),
        ("project.items.0.values", {"Title": "x"}, "which the issue itself gives"),
        ("checks", [{}], "needs a name (a check run) or a context"),
        ("checks", [{"name": "a", "after_reads": 0.5}], "has to be a whole number"),
    ],
)
def test_every_mistake_is_a_sentence_with_its_place(path: str, value: Any, words: str) -> None:
    """What is wrong, and where, in one sentence."""
    with pytest.raises(SeedError) as caught:
        parse_seed(json.dumps(change(path, value)))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unchanged_it_is_no_mistake() -> None:
    """The world that the mistakes are made in is sound by itself."""
    assert parse_seed(json.dumps(change("issues.0.title", "Other"))).issues[0].title == "Other"


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"seed"', "[" * 100_000])
def test_what_is_no_seed_at_all(text: str) -> None:
    """Broken, deep or other JSON is refused, not crashed on."""
    with pytest.raises(SeedError):
        parse_seed(text)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing or binary file is a sentence, and both a SandboxError and a ValueError."""
    with pytest.raises(SandboxError, match="cannot be read"):
        read_seed(tmp_path / "none.json")
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not UTF-8"):
        read_seed(tmp_path / "binary.json")
