"""Settings: the file, then the environment; whatever cannot be used is named."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from dataclasses import asdict
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core.errors import BadConfig, NoToken
from lifecycle.core.redact import redact
from lifecycle.core.stage_names import Stage
from lifecycle.core.values.configured import RunSettings, Settings, StageSettings
from lifecycle.core.values.model import Repository
from lifecycle.settings import config, credentials
from lifecycle.settings.readers import is_loopback


def load(tmp_path: Path, text: str = "", **environment: str) -> Settings:
    """Settings from a file and an environment."""
    if text:
        (tmp_path / ".lifecycle.toml").write_text(text)
    return config.load(tmp_path, environment)


def token(environment: dict[str, str]) -> tuple[str, str] | None:
    """What a variable holds, else what the user's command prints."""
    return config.variable_token(environment) or credentials.command_token(environment)


OF_STAGES: dict[str, Any] = {
    "use": False,
    "label": "auto-workflow",
    "test": (),
    "review": "",
    "deploy": "",
    "start": "",
    "require_evidence": False,
    "max_blocks": 50,
    "workflows": {},
}
OF_RUN: dict[str, Any] = {
    "max_iterations": 100,
    "max_sessions": 20,
    "max_hours": 24.0,
    "max_tokens": 40_000_000,
}
DEFAULTS: dict[str, Any] = {
    "repository": None,
    "remote": "origin",
    "base": None,
    "issue_link": "Refs",
    "validate": (),
    "project_owner": None,
    "project_number": None,
    "poll_seconds": 120.0,
    "check_commands": {},
    "check_seconds": 1800.0,
    "ci_rerun": 1,
    "ci_attempts": 3,
    "wait_unattended": 0.0,
    "close": "ask",
    "merge": "ask",
    "update_branch": False,
    "labels_use": "auto",
    "labels_prefix": "status: ",
    "reconcile_release": False,
    "silent_hours": 24.0,
    "api_url": "https://api.github.com",
    "graphql_url": "https://api.github.com/graphql",
    "hook_seconds": 8.0,
    "tdd_enforce": "off",
    "tracker_use": "auto",
    "tracker_folder": "",
    "evidence_runners": (),
    "written_ns": -1,
}


def test_defaults_need_no_file(tmp_path: Path) -> None:
    """Without anything configured: Refs, origin, no board, github.com, 120 s."""
    assert asdict(load(tmp_path)) == {**DEFAULTS, "stages": OF_STAGES, "run": OF_RUN}


def test_every_key_is_read(tmp_path: Path) -> None:
    """A full file gives full settings: each key is in it, and no value is the default."""
    text = """
    repository = "octo-org/hello"
    remote = "fork"
    base = "develop"
    issue_link = "Closes"
    validate = "make test"
    close = "auto"
    update_branch = true
    [project]
    owner = "octo-org"
    number = 7
    [checks]
    poll_seconds = 30
    seconds = 60
    commands = { "lint" = ["ruff", "check"] }
    [labels]
    use = "never"
    prefix = "at: "
    [reconcile]
    release = true
    silent_hours = 0.5
    [ci]
    rerun = 0
    attempts = 5
    [wait]
    unattended = "10m"
    [tdd]
    enforce = "deny"
    [tracker]
    use = "beads"
    folder = "tasks"
    [stages]
    use = true
    label = "staged"
    test = ["make test"]
    review = "/review"
    deploy = "make deploy"
    start = "/start"
    require_evidence = true
    max_blocks = 7
    workflows = { "staged:small" = ["CODING", "TESTING"] }
    [run]
    max_iterations = 7
    max_sessions = 5
    max_hours = 1.5
    max_tokens = 1000
    [[evidence.runners]]
    name = "tested"
    """
    assert {key for key, _ in config._flat(tomllib.loads(text))} == set(config._KEYS)
    full = load(tmp_path, text)
    assert full == Settings(
        repository=Repository("octo-org", "hello"),
        remote="fork",
        base="develop",
        issue_link="Closes",
        validate=("make test",),
        project_owner="octo-org",
        project_number=7,
        poll_seconds=30.0,
        check_commands={"lint": ["ruff", "check"]},
        check_seconds=60.0,
        close="auto",
        update_branch=True,
        labels_use="never",
        labels_prefix="at: ",
        reconcile_release=True,
        silent_hours=0.5,
        ci_rerun=0,
        ci_attempts=5,
        wait_unattended=600.0,
        tdd_enforce="deny",
        tracker_use="beads",
        tracker_folder="tasks",
        evidence_runners=({"name": "tested"},),
        stages=StageSettings(
            use=True,
            label="staged",
            test=("make test",),
            review="/review",
            deploy="make deploy",
            start="/start",
            require_evidence=True,
            max_blocks=7,
            workflows={"staged:small": (Stage.CODING, Stage.TESTING)},
        ),
        run=RunSettings(7, 5, 1.5, 1_000),
    )
    assert (full.waits_unattended, Settings().waits_unattended) == (True, False)
    of_others = {"api_url", "graphql_url", "hook_seconds", "written_ns", "stages", "run", "merge"}
    rows = (
        (full, {name: DEFAULTS[name] for name in set(DEFAULTS) - of_others}),
        (full.stages, OF_STAGES),
        (full.run, OF_RUN),
    )
    for values, defaults in rows:
        assert {name for name in defaults if getattr(values, name) == defaults[name]} == set()


def test_the_environment_wins_and_old_names_are_aliases(tmp_path: Path) -> None:
    """LIFECYCLE_ before MOLTNET_ before the file."""
    text = "[project]\nnumber = 7\n"
    assert load(tmp_path, text, MOLTNET_PROJECT_NUMBER="8").project_number == 8
    both = {"MOLTNET_PROJECT_NUMBER": "8", "LIFECYCLE_PROJECT_NUMBER": "9"}
    assert load(tmp_path, text, **both).project_number == 9
    assert load(tmp_path, MOLTNET_PROJECT_OWNER="octo").project_owner == "octo"


def test_the_boards_owner_is_a_login(tmp_path: Path) -> None:
    """A variable of Actions may end with a line break: every card would seem to be on another's board."""
    assert load(tmp_path, LIFECYCLE_PROJECT_OWNER=" octo-org\n").project_owner == "octo-org"
    with pytest.raises(BadConfig, match="LIFECYCLE_PROJECT_OWNER must be the login"):
        load(tmp_path, LIFECYCLE_PROJECT_OWNER="octo-org/projects/1")


@pytest.mark.parametrize(
    "text",
    [
        "projct = 1",
        "evidence.runners = 1",
        'evidence.runners = ["pytest"]',
        '[evidence.runners]\nname = "tested"',
        "[project]\nnumber = 0",
        '[project]\nnumber = "seven"',
        "[project]\nnumber = 2147483648",
        "[project]\nnumber = true",
        'repository = "hello"',
        'repository = "../../x"',
        'remote = "--upload-pack=evil"',
        'remote = " --upload-pack=evil"',
        'remote = "./evil.git"',
        'remote = "https://example.org/a/b"',
        'remote = "x; touch evil"',
        'remote = "up\\u0000stream"',
        'base = " --output=evil"',
        'base = "main:victim"',
        'base = "+main"',
        'base = "main..victim"',
        'base = "@{-1}"',
        'pass_tokens_to = ["validate"]',
        'tracker.folders = ["/srv/tasks"]',
        'project.owner = "x; touch evil"',
        'issue_link = "Fixes"',
        "validate = [1]",
        'close = "yes"',
        "close = true",
        "[checks]\npoll_seconds = -1",
        "[checks.commands]\ntest = []",
        "[checks.commands]\ntest = ''",
        "[checks]\npoll_seconds = nan",
        'labels.use = "sometimes"',
        "labels.use = true",
        'labels.prefix = ""',
        'labels.prefix = " status: "',
        'labels.prefix = "a,b"',
        "labels.prefix = 1",
        'reconcile.release = "yes"',
        "reconcile.release = 1",
        "reconcile.silent_hours = 0",
        "reconcile.silent_hours = true",
        "reconcile.silent_hours = nan",
        "reconcile.silent_hours = 1e9",
        "reconcile.close = true",
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


@pytest.mark.parametrize(
    "host", ["ghes.example", "0.0.0.0:8080", "localhost.evil.example", "[::2]", "["]
)
def test_a_token_is_not_sent_over_http_to_another_machine(tmp_path: Path, host: str) -> None:
    """Named by a variable or by the user's own file: one sentence, before anything is sent."""
    for variable in ("GITHUB_API_URL", "GITHUB_GRAPHQL_URL"):
        with pytest.raises(BadConfig, match=variable):
            load(tmp_path, **{variable: f"http://{host}/api/v3"})
    with pytest.raises(BadConfig, match="api_url"):
        load(tmp_path, **user(tmp_path, f'api_url = "http://{host}/api/v3"\n'))


@pytest.mark.parametrize(
    "host", ["localhost:1", "LOCALHOST", "127.0.0.1:1", "127.9.9.9", "[::1]:1"]
)
def test_http_is_for_this_machine(tmp_path: Path, host: str) -> None:
    """The embedded GitHub answers there, and no wire is between."""
    assert load(tmp_path, GITHUB_API_URL=f"http://{host}").api_url == f"http://{host}"


@given(st.lists(st.sampled_from(["127", "0", "1", "01", "256", "", "a"]), max_size=5).map(".".join))
def test_an_address_of_this_machine_is_one_to_python_too(host: str) -> None:
    """Whatever numbers are written: it is the machine's own where Python's own module says so."""
    try:
        known = ip_address(host).is_loopback
    except ValueError:
        known = False
    assert is_loopback(host) == known


def test_the_hook_deadline_can_only_be_shortened(tmp_path: Path) -> None:
    """No setting makes a hook hold the agent for longer than 8 s."""
    assert load(tmp_path, LIFECYCLE_HOOK_SECONDS="2").hook_seconds == 2
    assert load(tmp_path, LIFECYCLE_HOOK_SECONDS="600").hook_seconds == 8


@pytest.mark.parametrize("value", ["gho_…", "two words", "line\nbreak", "tab\tbed"])
def test_what_cannot_be_a_token_is_refused_without_showing_it(value: str) -> None:
    """A placeholder or a broken paste is named by its variable, before anything is sent."""
    with pytest.raises(BadConfig) as refusal:
        token({"GH_TOKEN": value})
    assert "GH_TOKEN" in refusal.value.sentence
    assert value not in refusal.value.sentence


def test_the_token_comes_from_either_variable() -> None:
    """GH_TOKEN before GITHUB_TOKEN; blank is none."""
    assert token({"GITHUB_TOKEN": "b"}) == ("b", "GITHUB_TOKEN")
    assert token({"GH_TOKEN": "a", "GITHUB_TOKEN": "b"}) == ("a", "GH_TOKEN")
    assert token({"GH_TOKEN": " "}) is None


def user(tmp_path: Path, text: str) -> dict[str, str]:
    """An environment whose user has this config.toml."""
    folder = tmp_path / "me/.config/lifecycle"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.toml").write_text(text)
    return {"HOME": str(tmp_path / "me")}


def test_what_the_token_merges_is_the_users_word(tmp_path: Path) -> None:
    """`merge` counts in the user's own file, and a project's file that has it is refused."""
    assert load(tmp_path, **user(tmp_path, 'merge = "auto"\n')).merge == "auto"
    assert load(tmp_path, **user(tmp_path, "")).merge == "ask"
    with pytest.raises(BadConfig, match=r"may not decide .* what they merge.*config\.toml"):
        load(tmp_path, 'merge = "auto"\n', **user(tmp_path, ""))


def prints(text: str, *, code: int = 0) -> str:
    """The line of config.toml for a token_command that prints this and exits so."""
    program = f"import sys; print({text!r}); sys.exit({code})"
    return f"token_command = {json.dumps([sys.executable, '-c', program])}\n"


def test_the_environment_names_the_repository_before_the_file(tmp_path: Path) -> None:
    """LIFECYCLE_REPOSITORY is the user's own word; a wrong one is named."""
    text = 'repository = "octo-org/hello"'
    found = load(tmp_path, text, LIFECYCLE_REPOSITORY="octo/other").repository
    assert found == Repository("octo", "other")
    with pytest.raises(BadConfig, match="LIFECYCLE_REPOSITORY"):
        load(tmp_path, text, LIFECYCLE_REPOSITORY="other")


def test_the_users_file_says_where_github_answers(tmp_path: Path) -> None:
    """Both addresses, or one and what follows from it; the environment wins over both."""
    environment = user(tmp_path, 'api_url = "https://ghes.example/api/v3/"')
    found = config.load(tmp_path, environment)
    assert found.api_url == "https://ghes.example/api/v3"
    assert found.graphql_url == "https://ghes.example/api/graphql"
    given = {**environment, "GITHUB_API_URL": "https://other.example"}
    assert config.load(tmp_path, given).api_url == "https://other.example"


def test_graphql_never_goes_elsewhere_than_rest(tmp_path: Path) -> None:
    """An API of the environment is not mixed with the GraphQL address of the user's file."""
    text = 'api_url = "https://a.example"\ngraphql_url = "https://a.example/gql"'
    environment = user(tmp_path, text)
    assert config.load(tmp_path, environment).graphql_url == "https://a.example/gql"
    given = {**environment, "GITHUB_API_URL": "https://b.example"}
    assert config.load(tmp_path, given).graphql_url == "https://b.example/graphql"


@pytest.mark.parametrize(
    "key", ["api_url", "graphql_url", "token_command", "app.id", "app.private_key"]
)
def test_a_project_cannot_say_where_tokens_go(tmp_path: Path, key: str) -> None:
    """The sentence says where such a key belongs; in the user's file it is one."""
    with pytest.raises(BadConfig, match=r"~/\.config/lifecycle/config\.toml") as refusal:
        load(tmp_path, f'{key} = "https://evil.example"')
    assert f'"{key}"' in refusal.value.sentence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('validate = "make"', ".lifecycle.toml"),
        ("token_comand = 1", "the keys are: api_url, graphql_url, token_command"),
        ('token_command = "gh auth token"', "list of words"),
        ("token_command = []", "list of words"),
        ('api_url = "ftp://x.example"', "http"),
        ('api_url = "https://x.example:99999"', "its port a number up to 65535"),
        ('api_url = "https://user:hunter2@x.example"', "without credentials"),
        ("no toml", "not valid TOML"),
        (f"merge = {'9' * 5000}", "not valid TOML"),
        ('app.id = "12 34"', "client ID"),
        ("app.installation = 0", "whole number"),
    ],
)
def test_what_the_users_file_cannot_say_is_refused_by_name(
    tmp_path: Path, text: str, said: str
) -> None:
    """The file is named as the user would write it, and no secret of it is shown."""
    with pytest.raises(BadConfig) as refusal:
        config.load(tmp_path, user(tmp_path, text))
    assert "~/.config/lifecycle/config.toml" in refusal.value.sentence
    assert said in refusal.value.sentence
    assert "hunter2" not in refusal.value.sentence


def test_the_users_command_gives_the_token_last(tmp_path: Path) -> None:
    """A variable wins; else the command's first line is the token, and is redacted from then on."""
    environment = user(tmp_path, prints("made-up-secret\nmore"))
    assert token({**environment, "GITHUB_TOKEN": "b"}) == ("b", "GITHUB_TOKEN")
    assert token(environment) == ("made-up-secret", "token_command")
    assert redact("it is made-up-secret.") == "it is ***."


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (prints("made-up-secret", code=3), "failed (exit 3)"),
        (prints(""), "printed no token in its first line"),
        (prints("\nmade-up-secret"), "printed no token in its first line"),
        ('token_command = ["/nowhere/at all"]', "could not be started"),
    ],
)
def test_a_command_that_gives_no_token_has_a_face(tmp_path: Path, line: str, said: str) -> None:
    """One sentence that says what happened; nothing of what was printed is in it."""
    with pytest.raises(NoToken) as refusal:
        token(user(tmp_path, line))
    assert said in refusal.value.sentence
    assert "made-up-secret" not in refusal.value.sentence


def test_a_command_that_does_not_end_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So is what it started: nothing of it lives on to hold what it had opened."""
    from lifecycle.settings import credentials

    monkeypatch.setattr(credentials, "SECONDS", 0.5)
    held = tmp_path / "held"
    held.touch()
    lock = f"import fcntl; f = open({str(held)!r}); fcntl.flock(f, fcntl.LOCK_EX)"
    program = f"{lock}; import os, signal; os.fork(); signal.pause()"
    line = f"token_command = {json.dumps([sys.executable, '-c', program])}"
    with pytest.raises(NoToken, match=r"longer than 0\.5 s"):
        token(user(tmp_path, line))
    subprocess.run([sys.executable, "-c", lock], check=True, timeout=30)


def test_a_printed_token_that_cannot_be_one_is_not_shown(tmp_path: Path) -> None:
    """A command that prints an explanation on stdout does not leak into a header or a sentence."""
    with pytest.raises(BadConfig) as refusal:
        token(user(tmp_path, prints("please log in first")))
    assert "log in" not in refusal.value.sentence


@pytest.mark.parametrize("variable", ["GITHUB_API_URL", "GITHUB_GRAPHQL_URL"])
def test_the_users_token_goes_only_where_the_users_file_says(tmp_path: Path, variable: str) -> None:
    """The command is not run for a host that only the environment names."""
    ran = tmp_path / "ran"
    program = f"open({str(ran)!r}, 'w'); print('made-up-secret')"
    line = f"token_command = {json.dumps([sys.executable, '-c', program])}\n"
    environment = {**user(tmp_path, line), variable: "https://other.example/graphql"}
    with pytest.raises(NoToken, match=r"https://other\.example"):
        token(environment)
    assert not ran.exists()
    named = 'api_url = "https://other.example"\n'
    environment = {**user(tmp_path, line + named), variable: "https://other.example/graphql"}
    assert token(environment) == ("made-up-secret", "token_command")


def test_a_board_or_labels_keep_the_status(tmp_path: Path) -> None:
    """Nothing does unless a board is configured, or labels are wanted in any case."""
    assert not load(tmp_path).has_board
    assert load(tmp_path, LIFECYCLE_PROJECT_NUMBER="3").board_name == "project 3"
    always = load(tmp_path, 'labels.use = "always"')
    assert (always.has_board, always.board_name) == (True, "the labels")


def test_an_app_is_named_by_variables_or_by_the_users_file(tmp_path: Path) -> None:
    """Each with an id and a key; `~` is the home, and the key itself shows in no text."""
    environment = user(tmp_path, '[app]\nid = "Iv1.abc"\ninstallation = 7\nprivate_key = "~/k.pem"')
    assert config.app(environment, of_user=False) is None
    found = config.app(environment, of_user=True)
    assert found is not None
    assert (found.id, found.installation, found.key_file) == ("Iv1.abc", 7, tmp_path / "me/k.pem")
    variables = {"LIFECYCLE_APP_ID": "12", "LIFECYCLE_APP_PRIVATE_KEY": "very-secret"}
    found = config.app(variables, of_user=False)
    assert found is not None
    assert (found.id, found.installation, found.key_file) == ("12", None, None)
    assert "very-secret" not in repr(found)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("app.id = 12", "without app.private_key"),
        ('app.private_key = "/k.pem"', "without app.id"),
        ('app.id = 12\napp.private_key = "k.pem"', "absolute path"),
    ],
)
def test_an_app_that_is_not_whole_is_refused_by_name(tmp_path: Path, text: str, said: str) -> None:
    """What is missing is named, and the file that it is missing in."""
    with pytest.raises(BadConfig, match=said) as refusal:
        config.app(user(tmp_path, text), of_user=True)
    assert "~/.config/lifecycle/config.toml" in refusal.value.sentence


def test_the_users_app_is_for_the_users_addresses(tmp_path: Path) -> None:
    """Its key signs nothing for a host that only the environment names."""
    text = '[app]\nid = 12\nprivate_key = "/k.pem"'
    environment = {**user(tmp_path, text), "GITHUB_API_URL": "https://other.example"}
    with pytest.raises(NoToken, match=r"https://other\.example"):
        config.app(environment, of_user=True)


def test_a_projects_file_is_no_link(tmp_path: Path) -> None:
    """What it leads to is not read, and nothing of it is in the sentence; the user's own may be one."""
    private = tmp_path / "private.toml"
    private.write_text('a_secret_key = "a-secret-value"\n')
    project = tmp_path / "project"
    project.mkdir()
    (project / ".lifecycle.toml").symlink_to(private)
    with pytest.raises(BadConfig) as refusal:
        config.load(project, {})
    assert refusal.value.sentence == ".lifecycle.toml cannot be read (is a link); nothing was done."


def test_what_a_number_may_be_is_said_as_it_is(tmp_path: Path) -> None:
    """0 turns ci.rerun off; a board's number is an Int of GraphQL's, and no setting is named there."""
    with pytest.raises(BadConfig, match=r"ci\.rerun in .* a whole number from 0 on, not -1"):
        load(tmp_path, "[ci]\nrerun = -1")
    with pytest.raises(BadConfig, match=r"project\.number in .* from 1 to 2147483647"):
        load(tmp_path, "[project]\nnumber = 2147483648")


@pytest.mark.parametrize(
    ("url", "renamed"),
    [
        ("git@github.com:acme/shop.git", "git@github.com:acme/store.git"),
        ("ssh://git@ghe.example:22/acme/shop", "ssh://git@ghe.example:22/acme/store.git"),
        ("https://x:secret@github.com/Acme/shop.git", "https://x:secret@github.com/acme/store.git"),
        ("http://127.0.0.1:8080/acme/shop.git", "http://127.0.0.1:8080/acme/store.git"),
    ],
)
def test_a_remote_gets_a_new_name_and_keeps_its_form(
    tmp_path: Path, url: str, renamed: str
) -> None:
    """The command changes the name alone: an ssh clone stays one, a token stays where it is."""
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "remote", "add", "up", url], cwd=tmp_path, check=True)
    command = config.renaming(Repository("acme", "store"), "up")
    assert "secret" not in command
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    done = subprocess.run(
        ["git", "remote", "get-url", "up"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == renamed
