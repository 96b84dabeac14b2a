"""lifecycle.github.client.library_lines: time-outs that follow the deadline, silences."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
import responses

from lifecycle.core.errors import Transient
from lifecycle.core.timing import Deadline
from lifecycle.github.client.library_lines import Bearer, Patience, silence
from tests.github.hub import TOKEN, PatientClock


@contextmanager
def port(*, listening: bool) -> Iterator[int]:
    """A loopback port that accepts and never answers, or one that refuses."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        if listening:
            held.listen()
        yield held.getsockname()[1]


def test_each_request_gets_what_is_left(clock: PatientClock) -> None:
    """The same object gives another time-out after time has passed, and at most ten seconds."""
    patience = Patience(Deadline.after(clock, 12))
    assert patience.clone().read_timeout == 10
    clock.sleep(8)
    assert patience.clone().connect_timeout == pytest.approx(4)
    clock.sleep(4)
    with pytest.raises(Transient, match="time for this look is up"):
        patience.clone()


def test_a_silent_server_is_left_when_the_time_is_up(clock: PatientClock) -> None:
    """A client of requests ends a request by what is left of the deadline, and it may have landed."""
    patience = Patience(Deadline.after(clock, 0.2))
    with (
        port(listening=True) as number,
        requests.Session() as session,
        pytest.raises(requests.ReadTimeout) as caught,
    ):
        session.get(
            f"http://127.0.0.1:{number}/",
            timeout=patience,  # type: ignore[arg-type]  # requests' HTTPAdapter takes urllib3's too
        )
    assert silence(caught.value).may_have_landed


def test_a_refused_connection_sent_nothing() -> None:
    """Nobody listened, so nothing can have landed."""
    with (
        port(listening=False) as number,
        requests.Session() as session,
        pytest.raises(requests.ConnectionError) as caught,
    ):
        session.get(f"http://127.0.0.1:{number}/", timeout=5)
    assert not silence(caught.value).may_have_landed


def test_an_unknown_host_sent_nothing() -> None:
    """A name that does not resolve was never connected to."""
    with requests.Session() as session, pytest.raises(requests.ConnectionError) as caught:
        session.get("http://nowhere.invalid/", timeout=5)
    assert not silence(caught.value).may_have_landed


@pytest.mark.parametrize(
    ("error", "may_have_landed", "is_final"),
    [
        (requests.ConnectTimeout(), False, False),
        (requests.ReadTimeout(), True, False),
        (requests.exceptions.SSLError(), False, False),
        (requests.exceptions.ProxyError(), False, False),
        (requests.exceptions.ChunkedEncodingError(), True, False),
        (requests.ConnectionError("Connection aborted."), True, False),
        (requests.exceptions.InvalidURL(), False, True),
        (requests.exceptions.MissingSchema(), False, True),
    ],
)
def test_every_silence_says_whether_the_request_may_have_landed(
    error: Exception, may_have_landed: bool, is_final: bool
) -> None:
    """Only what was certainly not sent is called unsent."""
    found = silence(error)
    assert (found.may_have_landed, found.is_final) == (may_have_landed, is_final)


def test_a_netrc_entry_does_not_replace_the_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The library prefers ~/.netrc to a header, but not to an auth."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine api.github.com login someone password else\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    with responses.RequestsMock() as mock, requests.Session() as session:
        mock.get("https://api.github.com/", json={})
        session.get("https://api.github.com/", auth=Bearer(TOKEN), timeout=5)
        assert mock.calls[0].request.headers["Authorization"] == f"Bearer {TOKEN}"


def test_the_credentials_do_not_show_themselves() -> None:
    """A repr in a log line must not hold the token."""
    assert TOKEN not in repr(Bearer(TOKEN))
