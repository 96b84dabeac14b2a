"""Settings: the file, then the environment; whatever cannot be used is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle import config
from lifecycle.errors import BadConfig
from lifecycle.model import Repository


def load(tmp_path: Path, text: str = "", **environment: str) -> config.Settings:
    """Settings from a file and an environment."""
    if text:
        (tmp_path / ".lifecycle.toml").write_text(text)
    return config.load(tmp_path, environment)


def test_defaults_need_no_file(tmp_path: Path) -> None:
    """Without anything configured: Refs, origin, no board, github.com, 120 s."""
    assert load(tmp_path) == config.Settings()


def test_every_key_is_read(tmp_path: Path) -> None:
    """A full file gives full settings."""
    text = """
    repository = "octo-org/hello"
    remote = "fork"
    base = "develop"
    issue_link = "closes"
    validate = "make test"
    [project]
    owner = "octo-org"
    number = 7
    [checks]
    poll_seconds = 30
    """
    assert load(tmp_path, text) == config.Settings(
        repository=Repository("octo-org", "hello"),
        remote="fork",
        base="develop",
        issue_link="Closes",
        validate=("make test",),
        project_owner="octo-org",
        project_number=7,
        poll_seconds=30.0,
    )


def test_the_environment_wins_and_old_names_are_aliases(tmp_path: Path) -> None:
    """LIFECYCLE_ before MOLTNET_ before the file."""
    text = "[project]\nnumber = 7\n"
    assert load(tmp_path, text, MOLTNET_PROJECT_NUMBER="8").project_number == 8
    both = {"MOLTNET_PROJECT_NUMBER": "8", "LIFECYCLE_PROJECT_NUMBER": "9"}
    assert load(tmp_path, text, **both).project_number == 9
    assert load(tmp_path, MOLTNET_PROJECT_OWNER="octo").project_owner == "octo"


@pytest.mark.parametrize(
    "text",
    [
        "projct = 1",
        "[project]\nnumber = 0",
        '[project]\nnumber = "seven"',
        "[project]\nnumber = true",
        'repository = "hello"',
        'repository = "../../x"',
        'remote = "--upload-pack=evil"',
        'issue_link = "Fixes"',
        "validate = [1]",
        "[checks]\npoll_seconds = -1",
        "[checks]\npoll_seconds = nan",
        "not toml",
        'api_url = "https://evil.example"',
    ],
)
def test_what_cannot_be_used_is_refused_by_name(tmp_path: Path, text: str) -> None:
    """A typo or a wrong value is a sentence, never a silent default; API hosts are no key at all."""
    with pytest.raises(BadConfig) as refusal:
        load(tmp_path, text)
    assert ".lifecycle.toml" in refusal.value.sentence


@pytest.mark.parametrize(
    ("api", "graphql"),
    [
        ("https://ghes.example/api/v3", "https://ghes.example/api/graphql"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/graphql"),
    ],
)
def test_the_graphql_address_follows_the_api(tmp_path: Path, api: str, graphql: str) -> None:
    """Actions name both; one is enough."""
    assert load(tmp_path, GITHUB_API_URL=api).graphql_url == graphql


def test_addresses_with_credentials_are_refused_without_showing_them(tmp_path: Path) -> None:
    """A secret in a URL would travel into logs."""
    with pytest.raises(BadConfig) as refusal:
        load(tmp_path, GITHUB_API_URL="https://user:hunter2@ghes.example")
    assert "hunter2" not in refusal.value.sentence


def test_the_hook_deadline_can_only_be_shortened(tmp_path: Path) -> None:
    """No setting makes a hook hold the agent for longer than 8 s."""
    assert load(tmp_path, LIFECYCLE_HOOK_SECONDS="2").hook_seconds == 2
    assert load(tmp_path, LIFECYCLE_HOOK_SECONDS="600").hook_seconds == 8


@pytest.mark.parametrize("value", ["gho_…", "two words", "line\nbreak", "tab\tbed"])
def test_what_cannot_be_a_token_is_refused_without_showing_it(value: str) -> None:
    """A placeholder or a broken paste is named by its variable, before anything is sent."""
    with pytest.raises(BadConfig) as refusal:
        config.token({"GH_TOKEN": value})
    assert "GH_TOKEN" in refusal.value.sentence
    assert value not in refusal.value.sentence


def test_the_token_comes_from_either_variable() -> None:
    """GH_TOKEN before GITHUB_TOKEN; blank is none."""
    assert config.token({"GITHUB_TOKEN": "b"}) == ("b", "GITHUB_TOKEN")
    assert config.token({"GH_TOKEN": "a", "GITHUB_TOKEN": "b"}) == ("a", "GH_TOKEN")
    assert config.token({"GH_TOKEN": " "}) is None
