"""lifecycle.github.auth.app_token: an installation's token is asked for once, kept well, and renewed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from lifecycle.core.errors import (
    BadConfig,
    BadCredentials,
    LifecycleError,
    Moved,
    NoPermission,
    NotFound,
    Rejected,
    Transient,
)
from lifecycle.core.redact import redact
from lifecycle.core.timing import Deadline
from lifecycle.core.values.model import Repository
from lifecycle.github.auth.app_token import AppTokens, InstallationToken
from lifecycle.github.client import plain_line
from lifecycle.settings import user_folder as home
from lifecycle.settings.config import AppKey
from lifecycle.storage import store
from tests.at_once import at_once
from tests.github.apps import HOUR, AppServer, Key, make_key
from tests.github.hub import REPOSITORY, PatientClock

POST = "POST /app/installations/34/access_tokens"


@pytest.fixture(scope="module")
def key() -> Key:
    """The App's pair of keys."""
    return make_key()


@pytest.fixture(autouse=True, scope="module")
def read_once() -> Iterator[None]:
    """Reading a key is 25 ms of OpenSSL's checks, and there is one here: once is enough."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("jwt.algorithms.load_pem_private_key", cache(load_pem_private_key))
        yield


@pytest.fixture
def server(key: Key, clock: PatientClock) -> Iterator[AppServer]:
    """A GitHub whose clock is the test's."""
    with AppServer(key.public, clock.now) as found:
        yield found


class Asker:
    """Somebody with a home, an App, and a time-out."""

    def __init__(self, server: AppServer, key: Key, home: Path, deadline: Deadline) -> None:
        self.server = server
        self.deadline = deadline
        self.environment = {"HOME": str(home)}
        self.folder = home / ".config/lifecycle"
        file = home / "app.pem"
        file.write_text(key.private)
        self.app = AppKey("12", 34, file)

    def token(self, repository: Repository = REPOSITORY) -> InstallationToken:
        """The token for a repository; half a minute for it."""
        self.deadline.renew(30)
        return self.tokens(repository).current()

    def forgets(self, value: str) -> None:
        """GitHub has refused this token."""
        self.tokens(REPOSITORY).forget(value)

    def tokens(self, repository: Repository) -> AppTokens:
        """Its tokens, as one process keeps them."""
        return AppTokens(
            self.app, lambda: repository, self.server.url, self.environment, self.deadline
        )

    def refused(self, kind: type[LifecycleError]) -> str:
        """The sentence of the refusal, which tells no secret."""
        with pytest.raises(kind) as refusal:
            self.token()
        assert "-----BEGIN" not in refusal.value.sentence
        assert "eyJ" not in refusal.value.sentence
        return refusal.value.sentence


@pytest.fixture
def asker(server: AppServer, key: Key, tmp_path: Path, deadline: Deadline) -> Asker:
    """An asker on a server."""
    return Asker(server, key, tmp_path, deadline)


def test_a_token_is_asked_for_once_and_kept_for_the_user_alone(asker: Asker) -> None:
    """The second to ask reads the file, which nobody else may; the token shows in no repr."""
    first = asker.token()
    assert asker.token() == first
    assert asker.server.asked == [POST]
    assert (asker.folder / home.TOKENS).stat().st_mode & 0o777 == 0o600
    assert asker.folder.stat().st_mode & 0o777 == 0o700
    assert first.token not in repr(first)
    assert redact(f"x {first.token} x") == "x *** x"
    assert "very-secret" not in repr(replace(asker.app, pem="very-secret"))


def test_a_file_that_others_could_read_is_closed(asker: Asker) -> None:
    """Whatever mode the file had, a token is written for the user's eyes only."""
    asker.folder.mkdir(parents=True)
    (asker.folder / home.TOKENS).write_text("{}")
    (asker.folder / home.TOKENS).chmod(0o644)
    asker.token()
    assert (asker.folder / home.TOKENS).stat().st_mode & 0o777 == 0o600


def test_the_installation_is_found_by_the_repository(asker: Asker) -> None:
    """Without a number GitHub is asked which it is, and each repository has a token of its own."""
    asker.app = replace(asker.app, installation=None)
    asker.token()
    asker.token()
    assert asker.server.asked == ["GET /repos/octo-org/hello-service/installation", POST]
    with pytest.raises(NotFound, match="octo-org/other"):
        asker.token(Repository("octo-org", "other"))


@pytest.mark.parametrize(
    "target", ["{url}/repositories/77/installation", "/repositories/77/installation"]
)
def test_a_renamed_repositorys_installation_is_followed(asker: Asker, target: str) -> None:
    """GitHub redirects to the repository's id, and the App serves it under its old name too."""
    asker.app = replace(asker.app, installation=None)
    asker.server.moved = target.format(url=asker.server.url)
    asker.token()
    asked = ["GET /repos/octo-org/hello-service/installation", "GET /repositories/77/installation"]
    assert asker.server.asked == [*asked, POST]


@pytest.mark.parametrize(
    "target",
    [
        "https://127.0.0.1:{port}/x",
        "http://localhost:{port}/x",
        "http://127.0.0.1:9/x",
        "http://127.0.0.1:no/x",
    ],
)
def test_the_signature_is_carried_nowhere_else(asker: Asker, target: str) -> None:
    """Not to another scheme, host or port, nor to what is none: the refusal is said."""
    asker.app = replace(asker.app, installation=None)
    asker.server.moved = target.format(port=asker.server.url.rpartition(":")[2])
    assert "must not get the token" in asker.refused(Rejected)
    assert len(asker.server.asked) == 1


def test_behind_a_proxy_by_tls_the_signature_is_what_it_has_to_be(
    asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The libraries send there; GitHub takes a signature after the word Bearer alone."""
    monkeypatch.setattr(plain_line, "speaks_to_proxy_of", lambda _url: False)
    assert asker.token().token
    assert asker.server.asked == [POST]


@pytest.mark.parametrize("target", ["{url}/repos/octo-org/hello-service/installation", " "])
def test_a_redirect_that_leads_nowhere_is_said(asker: Asker, target: str) -> None:
    """In a circle, or without an address: it is followed no further."""
    asker.app = replace(asker.app, installation=None)
    asker.server.moved = target.format(url=asker.server.url)
    assert "has moved" in asker.refused(Moved)
    assert len(asker.server.asked) <= 2


def test_a_token_is_renewed_before_it_ends(asker: Asker, clock: PatientClock) -> None:
    """Fifty minutes on the kept one serves; after that a new one does, and the old one is gone."""
    first = asker.token()
    clock.moment += HOUR - 700
    assert asker.token() == first
    clock.moment += 200
    second = asker.token()
    assert second != first
    assert asker.server.asked == [POST, POST]
    clock.moment += HOUR
    asker.token()
    kept = json.loads((asker.folder / home.TOKENS).read_text())["tokens"]
    assert len(kept) == 1


def test_a_token_that_github_does_not_accept_is_forgotten(asker: Asker) -> None:
    """The next one is a new one."""
    first = asker.token()
    asker.forgets(first.token)
    assert asker.token() != first


def test_another_ones_good_token_stays(asker: Asker) -> None:
    """Who learns late that the old token is dead does not throw away the new one."""
    first = asker.token()
    asker.forgets(first.token)
    second = asker.token()
    asker.forgets(first.token)
    assert asker.token() == second
    assert asker.server.asked == [POST, POST]


def test_nobody_forgets_while_another_asks(asker: Asker) -> None:
    """The file is changed under its lock only; who cannot have that leaves the file as it is."""
    first = asker.token()
    asker.deadline.renew(0)
    with store.locked(asker.folder / home.TOKENS_LOCK, 1, "held"):
        asker.forgets(first.token)
    assert asker.token() == first
    asker.forgets(first.token)
    assert asker.token() != first


def kept(ends: str) -> str:
    """A file of tokens whose one end is this."""
    return f'{{"version": 1, "tokens": {{"x": {{"token": "a", "expires_at": {ends}}}}}}}'


@pytest.mark.parametrize(
    "content",
    [
        *("", "no json", "[]", '{"version": 1, "tokens": {"x": 1}}'),
        *(kept(ends) for ends in ('"abc"', "[]", "{}", "null", "NaN", "Infinity", "9" * 400)),
    ],
)
def test_a_kept_file_that_cannot_be_used_is_made_anew(asker: Asker, content: str) -> None:
    """All of it can be had again."""
    asker.folder.mkdir(parents=True)
    (asker.folder / home.TOKENS).write_text(content)
    assert asker.token() == asker.token()
    assert asker.server.asked == [POST]


@pytest.mark.parametrize(
    "changes",
    [{"expires_at": "abc"}, {"expires_at": 10**400}, {"token": "a\nb"}, {"token": "\u00e4"}],
)
def test_a_kept_token_that_is_none_is_asked_for_anew(
    asker: Asker, changes: dict[str, object]
) -> None:
    """Whatever somebody has done to the file, nothing of it breaks or is sent."""
    first = asker.token()
    file = asker.folder / home.TOKENS
    data = json.loads(file.read_text())
    (mark,) = data["tokens"]
    data["tokens"][mark] |= changes
    file.write_text(json.dumps(data))
    assert asker.token() != first
    assert asker.server.asked == [POST, POST]


def test_without_a_home_every_process_asks(asker: Asker) -> None:
    """Nothing is kept where there is no place for it, and the token serves all the same."""
    asker.environment = {}
    asker.token()
    asker.token()
    assert asker.server.asked == [POST, POST]


def test_processes_that_need_a_token_at_once_ask_once(asker: Asker) -> None:
    """Six at the same moment: one asks, under a lock, and the others read what it kept."""
    imports = f"""
    import jwt
    from pathlib import Path
    from lifecycle.settings.config import AppKey
    from lifecycle.core.timing import Deadline
    from lifecycle.github.auth.app_token import AppTokens
    from lifecycle.github.client import library_lines, plain_line

    class Clock:
        def now(self): return {asker.deadline.clock.now()!r}
        def monotonic(self): return 0.0
        def sleep(self, seconds): raise AssertionError("nobody waits here")

    app = AppKey("12", 34, Path({str(asker.app.key_file)!r}))
    home = {{"HOME": {asker.environment["HOME"]!r}}}
    """
    work = f"""
    tokens = AppTokens(app, None, {asker.server.url!r}, home, Deadline(Clock(), None))
    print(tokens.current().token)
    """
    printed = at_once(6, imports, work, NO_PROXY="127.0.0.1")
    assert len(printed) == 6
    assert len({*printed}) == 1
    assert asker.server.asked == [POST]


def test_a_clock_that_is_wrong_costs_one_request_more(asker: Asker, clock: PatientClock) -> None:
    """GitHub refuses a signature of the future: it is signed again with the time that GitHub says."""
    theirs = [0.0]
    asker.server.now = lambda: theirs[0]
    for wrong in (600.0, -900.0):
        theirs[0] = clock.moment - wrong
        asker.server.asked.clear()
        found = asker.token()
        assert asker.server.asked == [POST, POST]
        asker.forgets(found.token)


@pytest.mark.parametrize("wrong", [4200.0, -4200.0])
def test_a_token_lasts_an_hour_whatever_our_clock_says(
    asker: Asker, clock: PatientClock, wrong: float
) -> None:
    """Its end is kept by our clock: it is neither asked for at each look, nor used when it is dead."""
    asker.server.now = lambda: clock.moment - wrong
    first = asker.token()
    assert first.expires_at == pytest.approx(clock.moment + HOUR, abs=2)
    clock.moment += HOUR - 700
    assert asker.token() == first
    clock.moment += 200
    assert asker.token() != first


def test_who_waits_for_hours_heeds_a_new_key_and_a_clock_set_right(
    asker: Asker, clock: PatientClock
) -> None:
    """One wait renews its token with the key and the clock of that hour, not those of its first one."""
    wrong, other = [4000.0], make_key()
    asker.server.now = lambda: clock.moment - wrong[0]
    tokens = asker.tokens(REPOSITORY)
    asker.deadline.renew(30)
    first = tokens.current()
    wrong[0] = 0.0
    asker.server.asked.clear()
    assert asker.app.key_file is not None
    asker.app.key_file.write_text(other.private)
    asker.server.public = other.public
    tokens.forget(first.token)
    assert tokens.current() != first
    assert asker.server.asked == [POST]


def test_a_minute_of_difference_costs_nothing(asker: Asker, clock: PatientClock) -> None:
    """The signature begins a minute ago."""
    asker.server.now = lambda: clock.moment - 50
    asker.token()
    assert asker.server.asked == [POST]


def test_a_key_of_another_app_is_said(asker: Asker, clock: PatientClock) -> None:
    """Id and key do not belong together: what to look at, and the clocks if these differ too."""
    assert asker.app.key_file is not None
    asker.app.key_file.write_text(make_key().private)
    sentence = asker.refused(BadCredentials)
    assert "does not accept the key of the GitHub App 12, so" in sentence
    assert "LIFECYCLE_APP_ID" in sentence
    assert asker.server.asked == [POST], (
        "where the clocks agree, another signature would help no more"
    )
    asker.server.now = lambda: clock.moment - 4000
    assert "the clocks differ by 4000 s" in asker.refused(BadCredentials)


def test_an_app_that_github_does_not_know_is_said(asker: Asker) -> None:
    """Nothing is shown to it; its ID is named, and an installation only as one that may be set."""
    asker.app = replace(asker.app, id="13")
    sentence = asker.refused(NotFound)
    assert "to the App with the ID 13, so" in sentence
    assert "LIFECYCLE_APP_ID, or LIFECYCLE_APP_INSTALLATION if it is set" in sentence


def test_an_installation_that_is_not_there_is_said(asker: Asker) -> None:
    """With its number."""
    asker.app = replace(asker.app, installation=35)
    sentence = asker.refused(NotFound)
    assert "installation 35" in sentence
    assert "install the App" in sentence


def test_a_suspended_installation_is_said(asker: Asker) -> None:
    """GitHub's own word for it, and where it is lifted."""
    asker.server.refusals = [(403, "This installation has been suspended")]
    assert "is suspended" in asker.refused(NoPermission)


@pytest.mark.parametrize("status", [401, 404])
def test_a_page_in_githubs_place_says_nothing_of_the_app(asker: Asker, status: int) -> None:
    """A proxy's or a firewall's: neither is the key a wrong one, nor is the App to be installed."""
    asker.server.refusals = [(status, "<html>Blocked</html>")] * 2
    assert "a proxy, a firewall" in asker.refused(Rejected)


def test_an_outage_is_waited_for_within_the_time(asker: Asker) -> None:
    """Two bad gateways cost two requests more; three are an outage, and nothing is kept."""
    asker.server.refusals = [(502, "Bad Gateway")] * 2
    found = asker.token()
    assert len(asker.server.asked) == 3
    asker.forgets(found.token)
    asker.server.refusals = [(502, "Bad Gateway")] * 3
    asker.refused(Transient)


def test_a_github_that_is_not_there_is_transient(asker: Asker) -> None:
    """No answer is no verdict on the key."""
    asker.server.url = "http://127.0.0.1:9"
    assert "could not be reached" in asker.refused(Transient)


def test_an_address_that_cannot_be_asked_is_to_be_corrected(asker: Asker) -> None:
    """As with every other client: nobody is told to try again what fails for ever."""
    asker.server.url = "http://:bad"
    said = asker.refused(Rejected)
    assert "the API URL is not a usable URL" in said
    assert ("Correct that" in said, "Try again" in said) == (True, False)


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "is not there"), (b"no key", "is no private key"), (b"\xff\xfe", "is no private key")],
)
def test_a_key_that_cannot_be_used_is_said(asker: Asker, content: bytes | None, said: str) -> None:
    """Its file is named, nothing of what is in it is."""
    assert asker.app.key_file is not None
    asker.app.key_file.unlink()
    if content is not None:
        asker.app.key_file.write_bytes(content)
    sentence = asker.refused(BadConfig)
    assert said in sentence
    assert str(asker.app.key_file) in sentence
    assert asker.server.asked == []


def test_a_key_in_a_variable_may_have_its_line_breaks_written_out(asker: Asker, key: Key) -> None:
    """As secrets stores often hand them on."""
    for pem in (key.private, key.private.replace("\n", "\\n")):
        asker.environment = {}
        asker.app = AppKey("12", 34, None, pem)
        asker.token()
    assert asker.server.asked == [POST] * 2


def test_a_public_key_is_no_private_key(asker: Asker, key: Key) -> None:
    """The two are easily mixed up; it is said without a character of it."""
    asker.app = AppKey("12", 34, None, key.public)
    assert "is no private key in PEM" in asker.refused(BadConfig)
    assert asker.server.asked == []
