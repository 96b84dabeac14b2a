"""Seed files: the built-in world, a small one, and every mistake in one sentence."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from msgspec.structs import replace

from lifecycle.sandbox.base.errors import SandboxError, SeedError
from lifecycle.sandbox.boards.state import BoardTables
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.issues.state import IssueTables
from lifecycle.sandbox.pulls.state import PullTables
from lifecycle.sandbox.seed import (
    SeedApp,
    SeedIssue,
    SeedRepository,
    SeedToken,
    default_seed,
    parse_seed,
    read_seed,
)
from lifecycle.sandbox.server import Sandbox

if TYPE_CHECKING:
    from pathlib import Path

SMALL = """
users: [{login: ada, role: admin}, {login: bob}]
tokens: [{token: t-ada, user: ada, scopes: [repo]}]
repositories:
- name: ada/engine
  plans: [{name: test, after_reads: 1}]
"""
STORY = """
users: [{login: ada, role: admin}, {login: bob, role: read}]
organizations: [{login: analytical, members: [ada]}]
tokens: [{token: t-ada, user: ada, scopes: [repo, project]}]
repositories:
- name: analytical/engine
  labels: [{name: bug, color: ff0000, description: It does not turn}]
  milestones: [{number: 1, title: First run, due_on: 2026-12-01T00:00:00Z}]
  issues:
  - {number: 1, title: Cards jam, labels: [bug], milestone: 1, comments: [{author: bob, body: Mine too}]}
  - {number: 2, title: Oil, parent: 1, blocked_by: [1]}
  branches:
  - {name: oil, commits: [{message: Oil it, files: {oil.txt: much}}]}
  pulls:
  - {number: 3, title: Oil it, head: oil, reviews: [{author: ada, state: COMMENTED, body: Good}]}
  - {number: 4, title: Fork, head: main, head_repository: bob/engine, head_sha: {sha}, base_sha: {sha}}
- {name: bob/engine, fork_of: analytical/engine, visibility: private}
projects:
- number: 5
  title: Work
  owner: bob
  repositories: [analytical/engine, bob/engine]
  fields:
  - {name: Title, type: TITLE}
  - {name: Status, type: SINGLE_SELECT, options: [Todo, {name: Done, color: GREEN}]}
  - {name: Points, type: NUMBER}
  - {name: Due, type: DATE}
  - {name: Sprint, type: ITERATION, iterations: [{title: One, start: 2026-11-02, duration: 14}]}
  items:
  - {issue: 1, values: {Status: Done, Points: 3, Due: 2026-11-30, Sprint: One}}
  - {draft: {title: An idea}, archived: true}
""".replace("{sha}", "a" * 40)


def test_the_built_in_world_has_a_task_of_each_sort() -> None:
    """It offers what a demo and the tests need: ready, waiting, taken, reviewed, done tasks."""
    seed = default_seed()
    cards = {item.issue: item.values for item in seed.projects[0].items}
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
    path = tmp_path / "seed.yaml"
    path.write_text(SMALL)
    with Sandbox(read_seed(path)) as sandbox:
        assert sandbox.info.repository == "ada/engine"
        assert (sandbox.info.project_owner, sandbox.info.project_number) == (None, None)
        control = Control(sandbox.info.control_url)
        control.push_commit("work", {"a.txt": "a"}, "Work", by="ada")
        assert control.open_pull("work", "Work", by="ada") == 1
        assert control.world()["board"] == {}


def test_a_seed_builds_any_world() -> None:
    """People, forks, labels, relations, branches, reviews, all types of fields, drafts."""
    with Sandbox(parse_seed(STORY)) as sandbox:
        assert sandbox.site is not None
        world = sandbox.site.world
        engine, fork = world.repositories.values()
        assert fork.parent is engine
        assert fork.is_private
        one, two = IssueTables.of(engine).issues[1], IssueTables.of(engine).issues[2]
        assert (two.parent, two.blocked_by, one.blocking) == (one, [one], [two])
        assert one.milestone is IssueTables.of(engine).milestones[1]
        assert [comment.body for comment in one.comments] == ["Mine too"]
        assert IssueTables.of(engine).labels["bug"].color == "ff0000"
        assert engine.git.resolve("refs/pull/3/head") == PullTables.of(engine).pulls[3].head_sha
        assert PullTables.of(engine).pulls[4].head_repository is fork
        board = BoardTables.of(world).projects[0]
        assert board.owner is world.user("bob")
        values = {f.name: board.items[0].values.get(f.id) for f in board.fields}
        assert (values["Points"], values["Due"]) == ("3", "2026-11-30")
        sprint = board.fields[-1].iterations[0]
        assert (values["Sprint"], sprint.start) == (sprint.id, "2026-11-02")
        assert board.items[1].archived


def test_json_is_a_seed_too() -> None:
    """Whoever makes seeds with a program need not write YAML, whatever the title says."""
    seed = parse_seed(json.dumps(change("repositories.0.issues.0.title", "Lift off \U0001f680")))
    assert seed.repositories[0].issues[0].title == "Lift off \U0001f680"


def change(path: str, value: Any) -> dict[str, Any]:
    """A small world with one thing set, by `a.0.b`; `...` deletes it."""
    made: Any = {
        "users": [{"login": "ada", "role": "admin"}],
        "tokens": [{"token": "t-ada", "user": "ada", "scopes": ["repo"]}],
        "repositories": [{"name": "ada/engine", "issues": [{"number": 1, "title": "One"}]}],
        "projects": [{
            "number": 1,
            "title": "Board",
            "fields": [{"name": "Status", "type": "SINGLE_SELECT", "options": ["Todo"]},
                       {"name": "Title", "type": "TITLE"}],
            "items": [{"issue": 1, "values": {"Status": "Todo"}}],
        }],
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


REPO, BOARD = "repositories.0", "projects.0"


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("colour", "red", "The seed is wrong: Object contains unknown field `colour`."),
        (f"{REPO}.stars", 5, "wrong at repositories[0]: Object contains unknown field `stars`."),
        (f"{REPO}.name", ..., "at repositories[0]: Object missing required field `name`."),
        (f"{REPO}.name", 5, "at repositories[0].name: Expected `str`, got `int`."),
        (f"{REPO}.name", "engine", "a name of the form owner/name"),
        (f"{REPO}.name", "bob/engine", "is of 'bob', but the seed has no such owner"),
        (f"{REPO}.files", ["a"], "at repositories[0].files: Expected `object`, got `array`."),
        (f"{REPO}.issues.0.number", "one", "at repositories[0].issues[0].number: Expected `int`"),
        (f"{REPO}.issues.0.labels", "bug", "issues[0].labels: Expected `array`, got `str`."),
        (f"{REPO}.issues.0.author", "eve", "names 'eve', but the seed has no such user"),
        (f"{REPO}.issues.0.milestone", 3, "is for milestone 3, but the seed has no such milestone"),
        (f"{REPO}.issues", [{"number": 1, "title": "a"}] * 2, "the issue of ada/engine 1 twice"),
        (f"{REPO}.plans", [{}], "needs a name (a check run) or a context"),
        (f"{REPO}.plans", [{"name": "a", "after_reads": 0.5}], "plans[0].after_reads: Expected"),
        (f"{REPO}.pulls", [{"number": 2, "title": "b", "head": "gone"}], "no branch 'gone'"),
        (f"{REPO}.fork_of", "ada/steam", "a fork of 'ada/steam', which is not there"),
        (f"{REPO}.issues.0.parent", 7, "names the issue 7 in ada/engine: there is none"),
        (f"{REPO}.issues.0.number", 0, "needs a number from 1 and a title"),
        (f"{REPO}.issues.0.title", " ", "needs a number from 1 and a title"),
        (f"{REPO}.files", {"../evil": ""}, "has a file '../evil', which git would not take"),
        (f"{REPO}.name", "ada/..", "a name of the form owner/name"),
        (f"{REPO}.fork_of", "ada/engine", "cannot be a fork of itself"),
        ("users", [{"login": "a b/../c"}], "'a b/../c' is no login"),
        ("organizations", [{"login": "o", "members": ["zork"]}], "names 'zork'"),
        ("apps", [{"slug": "a", "id": 1, "owner": "zork"}], "names 'zork'"),
        ("installations", [{"id": 1, "app": "a", "account": "ada"}], "names the App 'a'"),
        ("lag", {"pullz": 2}, "The lag 'pullz' is none; there are comments, issues"),
        ("projects", [{"number": 1, "title": "A"}] * 2, "the board '/1' twice"),
        ("repositories", [], "no repository"),
        ("users", [{"login": "ada"}, {"login": "ADA"}], "the user or organization 'ada' twice"),
        ("tokens", [], "no token"),
        ("tokens.0.user", "eve", "no such user"),
        (f"{BOARD}.items.0.issue", 9, "no such issue"),
        (f"{BOARD}.items.0.issue", None, "needs an issue or a draft, and only one of them"),
        (f"{BOARD}.items.0.values", {"Mood": "x"}, "no such field"),
        (f"{BOARD}.items.0.values", {"Status": "Later"}, "no such option"),
        (f"{BOARD}.items.0.values", {"Title": "x"}, "which the issue itself gives"),
        (f"{BOARD}.owner", "eve", "names 'eve', but has no such user or organization"),
        (f"{BOARD}.repositories", ["ada/steam"], "linked to a repository that is not there"),
    ],
)
def test_every_mistake_is_a_sentence_with_its_place(path: str, value: Any, words: str) -> None:
    """What is wrong, and where, in one sentence, before anything is served."""
    with pytest.raises(SeedError) as caught, Sandbox(parse_seed(json.dumps(change(path, value)))):
        pass
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "got `null`"),
        ("{", "not valid YAML in line 2"),
        ("[]", "got `array`"),
        ('"seed"', "got `str`"),
        ("users: 1\nusers: 2", "the key 'users' is there twice"),
        ("users: !!python/object/apply:os.getcwd []", "not valid YAML"),
        ("\x00", "not valid YAML"),
        ("[" * 100_000, "nests more than"),
        ("- " * 100_000, "nests more than"),
        ("\n".join(" " * n + "a:" for n in range(1000)), "nests more than"),
    ],
)
def test_what_is_no_seed_at_all(text: str, words: str) -> None:
    """Broken, dangerous, deep or other YAML is refused in a sentence, not crashed on."""
    with pytest.raises(SeedError) as caught:
        parse_seed(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing or binary file is a sentence, and both a SandboxError and a ValueError."""
    with pytest.raises(SandboxError, match="cannot be read"):
        read_seed(tmp_path / "none.yaml")
    (tmp_path / "binary.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not UTF-8"):
        read_seed(tmp_path / "binary.yaml")


def test_a_large_world_makes_no_git_until_somebody_asks(tmp_path: Path) -> None:
    """Ten thousand issues in two hundred repositories: one bare repository, and the 200th if asked."""
    seed = default_seed()
    issues = [SeedIssue(number, f"Task {number}") for number in range(1, 51)]
    many = [SeedRepository(f"octo-org/service-{n}", issues=issues) for n in range(200)]
    with Sandbox(replace(seed, repositories=[*seed.repositories, *many])) as sandbox:
        assert sandbox.site is not None
        world = sandbox.site.world
        assert (
            sum(len(IssueTables.of(repo).issues) for repo in world.repositories.values()) > 10_000
        )
        assert [path.name for path in world.folder.glob("*.git")] == [f"{world.home.id}.git"]
        url = sandbox.info.git_url.replace("hello-service", "service-199")
        subprocess.run(["git", "clone", "--quiet", url, str(tmp_path / "c")], check=True)
        assert len(list(world.folder.glob("*.git"))) == 2


def test_tokens_that_begin_alike_are_two_tokens() -> None:
    """A dump with two tokens of one kind is a seed again; the same token twice is refused, masked."""
    given = default_seed()
    more = [SeedToken(token=f"ghp_{n}", user="maria", scopes=["repo"]) for n in range(2)]
    with Sandbox(replace(given, tokens=[*given.tokens, *more])) as sandbox:
        dumped = Control(sandbox.info.control_url).dump()
    assert {token.token for token in parse_seed(dumped).tokens} >= {"ghp_0", "ghp_1"}
    twice = replace(given, tokens=[*given.tokens, more[0], more[0]])
    with pytest.raises(SeedError, match="the token 'ghp_…' twice"):
        parse_seed(msgspec.json.encode(twice).decode())


def test_an_apps_token_may_do_what_the_app_may() -> None:
    """A seed that gives a token more than its App has is refused with both names."""
    given = default_seed()
    app = SeedApp(id=7, slug="helper", owner="octo-org", permissions={"issues": "read"})
    token = SeedToken(
        token="ghs_1", user="octocat", kind="app", app="helper", scopes=["issues:write"]
    )
    seed = replace(given, apps=[app], tokens=[*given.tokens, token])
    with pytest.raises(SeedError, match="issues:write, which its App helper does not have"):
        parse_seed(msgspec.json.encode(seed).decode())
