"""The token of a GitHub App's installation: made with the App's key, kept until it ends, shared.

One process asks GitHub for it, under a lock; all others read it from the user's own folder, which only the
user can read. Neither the key nor a token is part of any output.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import cached_property
from pathlib import Path

from lifecycle.core import errors, timing
from lifecycle.core.light_dataclass import asdict, dataclass, field, from_json, object_in, replace
from lifecycle.core.redact import keep_secret
from lifecycle.core.values.model import Repository
from lifecycle.github.client.client_common import Keeper, Sending, Token, number, part, text
from lifecycle.github.client.rest import Json, RestClient
from lifecycle.github.failures import AskedRequest, Own, answered, first_of, sentence
from lifecycle.settings import config, user_folder
from lifecycle.storage import store

RENEW_SECONDS = 600.0
"""Seconds before its end at which a token is renewed, so that a long command begins with a good one.

Installation tokens last an hour.
Source:
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-an-installation-access-token-for-a-github-app
"""

BACK_SECONDS, AHEAD_SECONDS = 60, 540
"""A JWT begins a minute ago, since clocks differ, and may end at most ten minutes ahead.

Source:
https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
"""

SKEW_SECONDS = 30.0
"""A difference of the clocks in seconds that can explain a refused JWT."""

_VERSION = 1
_LOCK_SECONDS = 20.0
_FORGET_SECONDS = 2.0
_SENDABLE = re.compile(r"[\x21-\x7e]+")
_NEVER = 1e11
"""The end of a token from here on, in seconds since the epoch, is invalid; it may not even fit a float."""


@dataclass(frozen=True, slots=True)
class InstallationToken:
    """A token of an installation, with its end by this machine's clock.

    Attributes:
        permissions: its permissions, by GitHub's names; None if GitHub does not say.
    """

    token: str = field(repr=False)
    expires_at: float
    permissions: Mapping[str, str] | None = None


@dataclass(eq=False)
class AppTokens:
    """The tokens of an App's installation, one at a time: kept (0600) for all processes of the user.

    Attributes:
        app: the App, its key, and optionally its installation.
        repository: the repository of the installation, called only if no installation is configured.
        api_url: the REST API.
        environment: names the user's folder; without one, nothing is kept.
        deadline: the limit for all requests.
    """

    app: config.AppKey
    repository: Callable[[], Repository]
    api_url: str
    environment: Mapping[str, str] = field(repr=False)
    deadline: timing.Deadline
    _skew: float = 0.0

    def current(self) -> InstallationToken:
        """A token that lasts: the kept one, or a new one.

        Zero to two requests: POST …/access_tokens, and a search for the installation if it is not
        configured.

        Raises:
            BadConfig: the key cannot be read, or is not a key.
            BadCredentials: GitHub does not accept the App's signature.
            NotFound, NoPermission: there is no such installation, or it was suspended.
            Transient: GitHub, or another process that asks, did not answer.
        """
        place, mark = config.own_folder(self.environment), self._mark()
        token = self._fresh(place, mark)
        if token is None:
            with _alone(place, self.deadline.remaining(_LOCK_SECONDS)):
                # Another process may have asked since.
                token = self._fresh(place, mark) or self._made()
                _keep(place, {mark: token}, self.deadline.clock.now())
        return token

    def check(self) -> None:
        """Ask GitHub for the App itself, with its key: a kept token does not show whether the key is good.

        Raises:
            LifecycleError: as `current`.
        """
        self._ask("GET", "/app", AskedRequest("the GitHub App"))

    def forget(self, value: str) -> None:
        """Forget the kept token, which GitHub does not accept any more; the next one is new.

        If another process has replaced it since, the new one stays. Sends no request.

        Args:
            value: the refused token.
        """
        place, mark = config.own_folder(self.environment), self._mark()
        seconds = min(max(self.deadline.left, 0.0), _FORGET_SECONDS)
        # If another process uses the file, and still has this token, its next refusal removes it.
        with contextlib.suppress(errors.LockBusy), _alone(place, seconds):
            kept = _read(_entries(place).get(mark))
            if kept is not None and kept.token == value:
                _keep(place, {mark: replace(kept, expires_at=0.0)}, self.deadline.clock.now())

    def _mark(self) -> str:
        """The name under which a token is kept, from which nobody can guess the App."""
        whose = str(self.app.installation or self.repository()).casefold()
        return hashlib.sha256(json.dumps([self.api_url, self.app.id, whose]).encode()).hexdigest()

    def _fresh(self, place: Path | None, mark: str) -> InstallationToken | None:
        """The kept token, if it lasts long enough to begin something with it."""
        kept = _read(_entries(place).get(mark))
        if kept is None:
            return None
        keep_secret(kept.token)
        return kept if self.deadline.clock.now() < kept.expires_at - RENEW_SECONDS else None

    def _made(self) -> InstallationToken:
        """A new token of the installation."""
        self._skew = 0.0  # the clock may have been set right since the last one, an hour ago
        installation = self.app.installation or self._installation()
        asked = AskedRequest(f"a token of installation {installation} of the GitHub App")
        body = self._ask("POST", f"/app/installations/{installation}/access_tokens", asked)
        value, ends = text(body, "token"), timing.parse_time(body.get("expires_at"))
        if not value or ends is None:
            raise self._rest.failures.of_nonsense(asked)
        keep_secret(value)
        # GitHub's time for its end, ours for the remaining time: the clocks may differ.
        now = self.deadline.clock.now()
        theirs = self._rest.server_time or now
        allowed = from_json(Mapping[str, str], body.get("permissions"))
        return InstallationToken(value, ends - theirs + now, allowed)

    def _installation(self) -> int:
        """The number of the App's installation on a repository; one that was renamed is followed.

        Source:
        https://docs.github.com/rest/apps/apps#get-a-repository-installation-for-the-authenticated-app
        """
        repository = self.repository()
        asked = AskedRequest(f"the GitHub App's installation on {repository}")
        body = self._ask("GET", f"/repos/{repository}/installation", asked)
        installation = number(body.get("id"))
        if installation is None:
            raise self._rest.failures.of_nonsense(asked)
        return installation

    def _ask(self, method: str, path: str, asked: AskedRequest) -> Json:
        """The JSON of an answer; asks once more with GitHub's time if the clocks differ.

        Making a token twice is harmless: an installation can have many.
        """
        with closing(self._rest) as rest:
            try:
                _, body = rest.again(asked, method, path, own=self._refusal(asked))
            except errors.BadCredentials:
                theirs = rest.server_time
                self._skew = theirs - self.deadline.clock.now() if theirs else self._skew
                if abs(self._skew) <= SKEW_SECONDS:
                    raise
                _, body = rest.again(asked, method, path, own=self._refusal(asked))
        return body if isinstance(body, dict) else {}

    @cached_property
    def _rest(self) -> RestClient:
        """The client; each of its requests has a signature of its own."""
        source = f"the GitHub App {self.app.id}"
        signed = Keeper(lambda: Token(self._jwt(), source, 0.0), self.deadline.clock)  # not kept
        return RestClient(self.api_url, Sending(signed, self.deadline))

    def _key(self) -> str:
        """The App's private key, in PEM; BadConfig, without any part of it, if it cannot be read.

        It is read for each signature, so that a process that waits for hours uses a changed key.
        """
        if self.app.key_file is None:
            keep_secret(self.app.pem)
            # A variable often contains its line breaks in this form.
            return self.app.pem.replace("\\n", "\n")
        try:
            file = store.read(self.app.key_file)
        except OSError as error:
            raise _unusable(self.app, f"cannot be read ({error.strerror})") from None
        if file is None:
            raise _unusable(self.app, "is not there, or is no file")
        key = file.content.decode("ascii", "replace")
        keep_secret(key)
        return key

    def _jwt(self) -> str:
        import jwt

        now = int(self.deadline.clock.now() + self._skew)
        claims = {"iat": now - BACK_SECONDS, "exp": now + AHEAD_SECONDS, "iss": self.app.id}
        try:
            signed: str = jwt.encode(claims, self._key(), algorithm="RS256")
        except (jwt.PyJWTError, ValueError, TypeError, AttributeError):
            # AttributeError: a public key, which PyJWT mistakes for one that can sign.
            raise _unusable(self.app, "is no private key in PEM") from None
        keep_secret(signed)
        return signed

    def _refusal(self, asked: AskedRequest) -> Own:
        skew, app = abs(self._skew), self.app
        clock = f" (the clocks differ by {skew:.0f} s)" if skew > SKEW_SECONDS else ""
        subject = asked.subject.removeprefix("a token of ").removeprefix("the ")
        return first_of(
            answered("app-key-refused", errors.BadCredentials, 401, app=app, clock=clock),
            answered("app-suspended", errors.NoPermission, 403, "suspended", app=app),
            answered("app-not-installed", errors.NotFound, 404, app=app, subject=subject),
        )


def _unusable(app: config.AppKey, defect: str) -> errors.BadConfig:
    key = app.key_file or "in the environment"
    return errors.BadConfig(sentence("app-key-unusable", app=app, key=key, defect=defect))


@contextlib.contextmanager
def _alone(place: Path | None, seconds: float) -> Iterator[None]:
    """Hold the lock under which one process asks; without a writable folder each asks for itself."""
    try:
        if place is not None:
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            (place / user_folder.TOKENS_LOCK).touch(mode=0o600)
    except OSError:
        place = None
    if place is None:
        yield
        return
    with store.locked(place / user_folder.TOKENS_LOCK, seconds, sentence("app-asked-by-others")):
        yield


def _read(entry: object) -> InstallationToken | None:
    """The token of a kept entry; None for an entry of any other shape."""
    kept: InstallationToken | None = from_json(InstallationToken, entry)
    is_good = kept and _SENDABLE.fullmatch(kept.token) and 0 < kept.expires_at < _NEVER
    return kept if is_good else None


def _entries(place: Path | None) -> Json:
    """The kept entries, {} if the file cannot be read: all of them can be made again."""
    with contextlib.suppress(OSError):
        file = store.read(place / user_folder.TOKENS) if place is not None else None
        return part(object_in(file.content, _VERSION), "tokens") if file is not None else {}
    return {}


def _keep(place: Path | None, changed: Mapping[str, InstallationToken], now: float) -> None:
    """Write the file with these tokens beside the others in it, without those that ended."""
    if place is None:
        return
    path, kept = place / user_folder.TOKENS, _entries(place)
    tokens = {**{mark: _read(entry) for mark, entry in kept.items()}, **changed}
    lasting = {mark: token for mark, token in tokens.items() if token and token.expires_at > now}
    entries = {mark: asdict(token) for mark, token in lasting.items()}
    text = json.dumps({"version": _VERSION, "tokens": entries}, indent=1)
    with contextlib.suppress(OSError):  # if the folder cannot be written, that only costs a request
        if path.exists():
            path.chmod(0o600)  # the new file gets the old one's mode
        user_folder.write(path, text.encode("ascii") + b"\n")
