"""`lifecycle wait` as a process: what it prints, with which status it ends, and whom it leaves what."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time

import pytest

from lifecycle.api import Wake
from lifecycle.app.waiting.pull_wait import Waited
from lifecycle.cli.checks import wait
from lifecycle.core.light_dataclass import replace
from lifecycle.core.values.configured import HOOK_SECONDS
from lifecycle.feedback.waiting.endings import STATUSES, Ending
from lifecycle.sandbox.control.faults import Fault
from lifecycle.storage.store import CLAIM_FILE
from tests.conftest import STARTED, Place
from tests.e2e.client import SECONDS, Session, ended, heard
from tests.repeated import soaked

FAST = "[checks]\npoll_seconds = 0.2\n"


@pytest.fixture
def session(place: Place) -> Session:
    """A session with an open pull request, in a project that polls fast."""
    (place.root / ".lifecycle.toml").write_text(FAST)
    place.ready()
    session = Session(place)
    assert "PR #46 created" in session.on_stop().model
    return session


def begun(session: Session, *arguments: str) -> subprocess.Popen[bytes]:
    """The command in the session's background, once it waits."""
    place = session.place
    waiting = subprocess.Popen(
        [str(STARTED), "wait", *arguments],
        cwd=place.root,
        env=session.variables(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    while not [*(place.root / ".lifecycle").glob("wait-*")]:
        assert waiting.poll() is None, waiting.communicate()
        place.control.wait_for_requests(len(place.requests()) + 1, seconds=SECONDS)
    return waiting


def test_a_command_joins_the_waiter_and_tells_what_it_waits_for(session: Session) -> None:
    """The waiter looks and tells the rest; what the command printed no other channel says again."""
    place = session.place
    place.clear()
    waiter = session.waiter()
    with ended(waiter):
        place.control.wait_for_requests(2, seconds=SECONDS)
        waiting = begun(session, "--for", "ci", "--json")
        with ended(waiting):
            place.control.set_check(46, "test", conclusion="failure", log="##[error]Boom\n")
            printed, complained = waiting.communicate(timeout=SECONDS)
        assert (waiting.returncode, complained) == (10, b"")
        told = json.loads(printed)
        assert (told["ending"], told["exit"], told["pull"]) == ("red", 10, 46)
        assert "1 FAILED — test on PR #46" in told["said"][-1]["text"]
        assert told["packet"]["failures"][0]["name"] == "test"
        place.control.close_pull(46)
        closed = heard(waiter)
    assert closed.woke
    assert "was closed without being merged" in closed.model
    assert "FAILED" not in closed.model
    assert not [*(place.root / ".lifecycle").glob("wait*[0-9r]")]
    again = session.cli("wait")
    assert again.returncode == 13
    assert "PR #46: it was closed without being merged." in again.stdout


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("number", "code", "sentence"),
    [
        (signal.SIGTERM, 143, "Ended by SIGTERM; no news was shown"),
        soaked(signal.SIGINT, 130, "Interrupted; what was done so far is kept."),
    ],
)
def test_what_ends_the_command_takes_no_news_along(
    session: Session, number: signal.Signals, code: int, sentence: str
) -> None:
    """Its signs go with it, and the next tells all."""
    place = session.place
    waiting = begun(session)
    with ended(waiting):
        waiting.send_signal(number)
        _, complained = waiting.communicate(timeout=SECONDS)
    assert (waiting.returncode, sentence in complained.decode()) == (code, True)
    assert not [*(place.root / ".lifecycle").glob("wait*[0-9r]")]
    place.control.merge_pull(46)
    done = session.cli("wait", "--for", "merge")
    assert (done.returncode, done.stdout.startswith("PR #46 merged!")) == (0, True)


def test_there_has_to_be_something_to_wait_for(place: Place) -> None:
    """No pull request: 1. No token: 16. No time: 2. The help has the table of the other statuses."""
    nothing = place.cli("wait", "--timeout", "5s")
    assert nothing.returncode == 1
    assert "No open pull request belongs to" in nothing.stderr
    tokenless = place.cli("wait", "7", "--json", GH_TOKEN="")
    assert tokenless.returncode == 16
    assert "No GitHub token" in json.loads(tokenless.stdout)["problem"]
    wrong = place.cli("wait", "--timeout", "soon")
    assert (wrong.returncode, "a time like" in wrong.stderr) == (2, True)
    shown = place.cli("wait", "--help").stdout
    table = shown.partition("Exit codes:")[2]
    listed = [int(code) for code in re.findall(r"(?m)^ +(\d+) ", table)]
    assert listed == [code for code, _ in STATUSES.values()]


@pytest.mark.soak(
    "cli/test_wait.py::test_a_command_joins_the_waiter_and_tells_what_it_waits_for",
    "app/test_claim_wait.py::test_a_look_has_the_time_that_its_wait_has_left",
    "app/test_claim_wait.py::test_each_look_of_a_wait_has_that_time",
)
@pytest.mark.parametrize("way", ["number", *map(soaked, ["claim", "branch"])])
def test_a_look_outlasts_the_wait_by_no_more_than_it_needs_for_itself(
    place: Place, way: str
) -> None:
    """GitHub hangs: the command ends soon after the time that was given, not after a look's whole time."""
    place.ready()
    place.tree().tick(Wake.STOP)
    if way != "claim":
        (place.root / CLAIM_FILE).unlink()
    words = ["46"] if way == "number" else []
    place.control.add_fault(Fault("hang", path="/", count=99))
    began = time.monotonic()
    done = place.cli("wait", *words, "--timeout", "1s")
    assert time.monotonic() - began < HOOK_SECONDS - 2
    assert (done.returncode, "did not answer in time" in done.stderr) == (1, True)


def test_good_without_news_is_said_once_and_not_as_three_alternatives() -> None:
    """The table's words are what 0 may mean; of this pull request it is so, and the next line says what."""
    assert wait._lines(Waited(Ending.GOOD, 46, state=("CI: 1/1 passed.",))) == [
        "Waited for PR #46: what it waited for is already true.",
        "CI: 1/1 passed.",
    ]


def test_where_the_last_look_failed_the_first_line_says_so() -> None:
    """No news may be news that was missed: the reason comes next, then how the pull request stood."""
    ended = Waited(Ending.TIME_OUT, 46, state=("CI: 1/1 passed.",), problem="GitHub is away.")
    assert wait._lines(ended) == [
        "Waited for PR #46: no news before the time was up, and the last look failed.",
        "GitHub is away.",
        "CI: 1/1 passed.",
    ]
    assert wait._lines(replace(ended, problem="")) == [
        "Waited for PR #46: no news before the time was up.",
        "CI: 1/1 passed.",
    ]
    refused = Waited(Ending.CREDENTIALS, 46, state=("CI: 1/1 passed.",), problem="No token.")
    assert wait._lines(refused)[1:] == ["CI: 1/1 passed.", "No token."]
