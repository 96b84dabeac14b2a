"""lifecycle.hooks.quick_idle: an idle look is sent before the engine is imported, if it is the same."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from lifecycle.github.client import early_request
from lifecycle.hooks import quick_idle
from tests.conftest import Place
from tests.factories import client

FAST = "[checks]\npoll_seconds = 0.001\n"
IDLE = {"hook_event_name": "Notification", "notification_type": "idle_prompt", "session_id": "s"}

_BEGIN = """
from lifecycle.hooks import quick_idle
quick_idle.begin()
from lifecycle.github.client import early_request
sent = early_request.under_way[0].connection(5)
import sys
print("sent" if sent else "not sent", *sys.modules)
"""


@pytest.fixture
def looked(place: Place) -> Place:
    """A pull request whose checks run, and that an idle look has seen."""
    (place.root / ".lifecycle.toml").write_text(FAST)
    os.utime(place.root / ".lifecycle.toml", (1_000_000_000, 1_000_000_000))
    place.ready()
    place.hook("on-stop")
    place.hook("on-idle", IDLE)
    assert (place.root / ".lifecycle/ask").exists()
    assert place.claim()["pr_number"] == place.pull()
    place.clear()
    return place


@pytest.mark.started  # what is imported is what is tested
def test_a_look_is_sent_before_anything_is_imported_that_reads_its_answer(looked: Place) -> None:
    """Neither the engine nor what speaks HTTP is there by then."""
    done = looked.run(sys.executable, "-P", "-c", _BEGIN, CLAUDE_PROJECT_DIR=str(looked.root))
    assert done.stderr == ""
    words = done.stdout.split()
    assert words[0] == "sent"
    assert {"json", "http.client", "pathlib", "typing", "lifecycle.hooks.wake"} & {*words} == set()
    looked.control.wait_for_requests(1, seconds=30)
    assert [request.operation for request in looked.requests()] == ["ObserveClaim"]


def test_a_look_that_was_sent_early_is_not_sent_again(looked: Place) -> None:
    """The engine takes up its answer: one request a look, and the news of a merge are heard as ever."""
    assert looked.hook("on-idle", IDLE).returncode == 0
    assert len(looked.requests()) == 1
    number = looked.pull()
    looked.control.merge_pull(number)
    looked.clear()
    told = looked.hook("on-idle", IDLE)
    assert (told.returncode, f"#{number}" in told.stderr) == (2, True)
    assert [request.operation for request in looked.requests()].count("ObserveClaim") == 1


def _edit(path: Path) -> None:
    path.write_bytes(path.read_bytes())


def _forge(path: Path) -> None:
    """Another question below the same signature."""
    path.write_bytes(path.read_bytes().replace(b'"query": "query', b'"query": "mutation'))


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to("elsewhere")


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "the claim was written": (_edit, ".agent-claim.json"),
    "state.json was written": (_edit, ".lifecycle/state.json"),
    "the settings were written": (_edit, ".lifecycle.toml"),
    "somebody else wrote the question": (_forge, ".lifecycle/ask"),
    "it is a link": (_link, ".lifecycle/ask"),
    "it is cut off": (lambda path: path.write_bytes(path.read_bytes()[:300]), ".lifecycle/ask"),
    "it is empty": (lambda path: path.write_bytes(b""), ".lifecycle/ask"),
    "it is none": (lambda path: path.write_bytes(b"\xff\n\xff\n\n\xff"), ".lifecycle/ask"),
    "it is not there": (Path.unlink, ".lifecycle/ask"),
}
VARIABLES = {
    "another token": {"GH_TOKEN": "gho_another"},
    "no token": {"GH_TOKEN": ""},
    "a proxy": {"HTTPS_PROXY": "http://127.0.0.1:9"},
    "another client": {"CLAUDECODE": ""},
    "another address": {"GITHUB_GRAPHQL_URL": "http://127.0.0.1:9/graphql"},
    "another repository": {"LIFECYCLE_REPOSITORY": "somebody/else"},
    "an App's token": {"LIFECYCLE_APP_ID": "1"},
}


def _begun(place: Place, monkeypatch: pytest.MonkeyPatch, **variables: str) -> bool:
    """True if something is sent in this process, which then takes it back."""
    environment = {**place.environment, **client(process=os.getppid()), **variables}
    with monkeypatch.context() as patched:
        for name in [*os.environ]:
            patched.delenv(name)
        for name, value in {**environment, "CLAUDE_PROJECT_DIR": str(place.root)}.items():
            patched.setenv(name, value)
        quick_idle.begin()
    is_begun = bool(early_request.under_way)
    if is_begun:
        early_request.taken("", "", b"", 0)
    return is_begun


def test_what_changed_is_looked_at_by_the_engine_alone(
    looked: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is sent early that the look may not ask, that is somebody else's, or that a proxy is for."""
    kept = {
        name: ((looked.root / name).read_bytes(), (looked.root / name).stat().st_mtime_ns)
        for _, name in CHANGES.values()
    }
    sent = {}
    for why, (change, name) in CHANGES.items():
        path = looked.root / name
        change(path)
        sent[why] = _begun(looked, monkeypatch)
        path.unlink(missing_ok=True)
        path.write_bytes(kept[name][0])
        os.utime(path, ns=(kept[name][1], kept[name][1]))
    for why, variables in VARIABLES.items():
        sent[why] = _begun(looked, monkeypatch, **variables)
    own = Path(looked.environment["XDG_CONFIG_HOME"]) / "lifecycle/config.toml"
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text('graphql_url = "http://127.0.0.1:9/graphql"\n')
    assert not _begun(looked, monkeypatch)
    own.unlink()
    assert sent == dict.fromkeys((*CHANGES, *VARIABLES), False)
    assert _begun(looked, monkeypatch)


@pytest.mark.started  # which streams are open is what is tested
def test_a_connection_is_no_stream_that_was_closed(looked: Place) -> None:
    """Else what the hook prints would go to GitHub, and its answer be read as the event."""
    end = "\nimport sys; print(len(early_request.under_way), file=sys.stderr)"
    begin = _BEGIN.partition("sent =")[0] + end
    for closed, count in (("<&-", "0"), (">&-", "0"), ("", "1")):
        command = f'exec "$0" -P -c "$1" {closed}'
        done = looked.run(
            "sh", "-c", command, sys.executable, begin, CLAUDE_PROJECT_DIR=str(looked.root)
        )
        assert done.stderr.strip() == count, closed


def test_a_question_that_cannot_be_kept_costs_no_news(looked: Place) -> None:
    """What the look found out is told; the log says what was wrong."""
    (looked.root / ".lifecycle/ask").unlink()
    (looked.root / ".lifecycle/ask").mkdir()
    number = looked.pull()
    looked.control.set_check(number, "test", conclusion="failure")
    told = looked.hook("on-idle", IDLE)
    assert (told.returncode, f"#{number}" in told.stderr) == (2, True)
    assert "ask could not be kept" in (looked.root / ".lifecycle/log").read_text()


def test_a_look_before_its_time_is_not_sent_early(
    looked: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks for less: neither is what it asked kept for the next one, nor does it ask what was kept."""
    with monkeypatch.context() as patched:
        patched.setattr(time, "time", lambda: 0.0)
        assert not _begun(looked, patched)
    (looked.root / ".lifecycle/ask").unlink()
    (looked.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 600\n")
    looked.hook("on-idle", IDLE)
    assert len(looked.requests()) == 1
    assert not (looked.root / ".lifecycle/ask").exists()


def test_what_a_program_gives_as_a_token_signs_nothing(looked: Place) -> None:
    """It would have to be started before anything could be sent."""
    (looked.root / ".lifecycle/ask").unlink()
    own = Path(looked.environment["XDG_CONFIG_HOME"]) / "lifecycle"
    own.mkdir(parents=True, exist_ok=True)
    urls = f'api_url = "{looked.info.api_url}"\ngraphql_url = "{looked.info.graphql_url}"\n'
    command = f'token_command = ["echo", "{looked.info.token}"]\n'
    (own / "config.toml").write_text(urls + command)
    without = dict.fromkeys(("GH_TOKEN", "GITHUB_API_URL", "GITHUB_GRAPHQL_URL"), "")
    looked.hook("on-idle", IDLE, **without)
    assert len(looked.requests()) == 1
    assert not (looked.root / ".lifecycle/ask").exists()
