"""Ask GitHub what an idle look will ask, before what looks is imported.

An idle look asks what the one before it asked, as long as no file changed since: that look leaves it in
`.lifecycle/ask` (`keep`), and `__main__` has it sent at once (`begin`). While GitHub answers the engine is
imported, and asks: it takes up the answer if it asks just that (`early_request`). Nothing is decided here.
What lies in the file is sent only if it was written by somebody who had the token: it is signed with that.

It is imported before everything else, so what imports much is imported where it is used.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH118

from __future__ import annotations

import hashlib
import os
import sys
import time

from lifecycle.github.client import early_request
from lifecycle.settings import running_client
from lifecycle.storage import regular_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from lifecycle.hooks.answers.call import HookCall

FOLDER, ASK = ".lifecycle", "ask"
_FILES = (".agent-claim.json", f"{FOLDER}/state.json")
_LIMIT = 200_000


def begin() -> None:
    """Send what was kept, if the next idle look will ask it; raises nothing."""
    try:
        root = regular_files.worktree()
        if (
            root is not None
            and running_client.client_of(os.environ) is not running_client.Client.OTHER
        ):
            _begin(root, os.environ)
    except Exception:  # noqa: BLE001, S110 -- whatever it is, the look itself asks, and says it
        pass


def _begin(root: str, environment: Mapping[str, str]) -> None:
    content = regular_files.whole(regular_files.below(root, FOLDER, ASK), _LIMIT)
    signature, _, signed = (content or b"").partition(b"\n")
    head, _, body = signed.partition(b"\n\n")
    if not body or _may_have_proxy(environment):
        return
    url, scheme, host, port, path, variable, due, dates = head.decode().split("\n")
    token = environment.get(variable, "").strip()
    is_ours = token and _signature(token, signed) == signature.decode()
    if is_ours and time.time() >= float(due) and dates == _dates(root):
        early_request.send((scheme, host, int(port), path), url, f"Bearer {token}", body)


def _may_have_proxy(environment: Mapping[str, str]) -> bool:
    """True if the line has to see whether a proxy is to be asked; macOS has one beside the variables."""
    names = {name.lower() for name in environment} - {"no_proxy"}
    return sys.platform == "darwin" or any(name.endswith("_proxy") for name in names)


def keep(call: HookCall) -> None:
    """Keep what this look asked, where the next one will ask it too, with a variable's token."""
    import json
    from urllib.parse import urlsplit

    from lifecycle.settings.config import TOKEN_VARIABLES
    from lifecycle.storage import log

    world, asked = call.world, call.world.asked
    due = _due_again(call) if asked is not None else None
    if due is None or world.token.source not in TOKEN_VARIABLES:
        return
    url, token = world.addresses.graphql_url, world.token
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    head = (url, parts.scheme, parts.hostname, port, parts.path or "/", token.source, due)
    dates = _dates(str(world.root))
    signed = "\n".join(map(str, (*head, dates))).encode() + b"\n\n" + json.dumps(asked).encode()
    try:
        content = b"\n".join((_signature(token.value, signed).encode(), signed))
        call.claim_store.folder.write(ASK, content)
    except OSError as error:
        log.write(world.root, f"on-idle: {ASK} could not be written: {error}")


def _due_again(call: HookCall) -> float | None:
    """From when on an idle look asks what this one did; None if it will ask something else, or nothing."""
    from lifecycle.claim.decisions import decide
    from lifecycle.claim.decisions.pull.pace import next_poll
    from lifecycle.claim.engine.observing import snapshot_of
    from lifecycle.core.light_dataclass import replace
    from lifecycle.core.plan import Wake

    before, record = call.loaded, call.claim_store.remembered()
    if before is None or before.record is None or record is None:
        return None
    first = snapshot_of(call.world, call.claim_store, Wake.IDLE, before)
    due = next_poll(record, first.rules.poll_seconds, first.now)
    following = replace(first, record=record, hints={}, now=max(first.now, due))
    return due if decide.look(first) == decide.look(following) is not None else None


def _signature(token: str, signed: bytes) -> str:
    """Nobody who does not know the token can write this."""
    key = hashlib.blake2b(token.encode()).digest()
    return hashlib.blake2b(signed, key=key).hexdigest()


def _dates(root: str) -> str:
    """The mtimes of the files that decide what a look asks."""
    paths = [*(os.path.join(root, name) for name in _FILES), regular_files.settings_path(root)]
    return " ".join(str(regular_files.mtime_ns(path, follow=True)) for path in paths)
