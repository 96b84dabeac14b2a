"""Ask GitHub what an idle look will ask, before the engine is imported.

As long as no file changed, an idle look asks the same as the previous one. That look leaves its request in
`.lifecycle/ask` (`keep`), and `__main__` sends it at once (`begin`). While GitHub answers, the engine is
imported; if it asks the same, it uses that answer (`early_request`). Nothing is decided here. The file's
content is sent only if its writer had the token, and if everything that decides the address and the
question is unchanged: all of that goes into its signature.

It is imported before everything else, so large imports are made only where they are used.
"""

# pathlib alone would cost as much as all of this.
# ruff: noqa: PTH117, PTH118

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
_URLS, _TOKENS = ("GITHUB_API_URL", "GITHUB_GRAPHQL_URL"), ("GITHUB_TOKEN", "GH_TOKEN")
_VARIABLES = ("LIFECYCLE_", "MOLTNET_", *_URLS, *_TOKENS)
"""The beginnings of variables that decide the address, the question and the token."""


def begin() -> None:
    """Send what was kept, if the next idle look will ask it; raises nothing."""
    try:
        # A connection must not get the number of a stream that is closed.
        for descriptor in (0, 1, 2):
            os.fstat(descriptor)
        root, environment = regular_files.worktree(), os.environ
        is_ours = running_client.client_of(environment) is not running_client.Client.OTHER
        # With a proxy it would go another way; on macOS one may be set outside of the variables.
        names = {name.lower() for name in environment} - {"no_proxy"}
        has_proxy = sys.platform == "darwin" or any(name.endswith("_proxy") for name in names)
        if root is None or not is_ours or has_proxy:
            return
        content = regular_files.whole(regular_files.below(root, FOLDER, ASK), 200_000)
        signature, _, signed = (content or b"").partition(b"\n")
        head, _, body = signed.partition(b"\n\n")
        url, scheme, host, port, path, variable, due = head.decode().split("\n")
        token = environment.get(variable, "").strip()
        is_same = token and _signature(token, signed, root, environment) == signature
        if is_same and time.time() >= float(due):
            early_request.send((scheme, host, int(port), path), url, f"Bearer {token}", body)
    except Exception:  # noqa: BLE001, S110 -- the look itself will ask again, and report any error
        pass


def keep(call: HookCall) -> None:
    """Keep this look's request if the next look will make it, too, with a token from a variable.

    The look's notices have still to be told, so errors here are only logged.
    """
    import json

    from lifecycle.core.errors import LifecycleError
    from lifecycle.github.client.plain_line import place_of
    from lifecycle.settings.config import TOKEN_VARIABLES
    from lifecycle.storage import log

    world, asked = call.world, call.world.asked
    with log.Surviving(world.root, f"on-idle: {ASK} could not be kept", LifecycleError, OSError):
        due = _due_again(call) if asked is not None else None
        if due is None or world.token.source not in TOKEN_VARIABLES:
            return
        url, token = world.addresses.graphql_url, world.token
        head = "\n".join(map(str, (url, *place_of(url), token.source, due)))
        signed = head.encode() + b"\n\n" + json.dumps(asked).encode()
        signature = _signature(token.value, signed, str(world.root), world.environment)
        call.claim_store.folder.write(ASK, signature + b"\n" + signed)


def _due_again(call: HookCall) -> float | None:
    """The time from which an idle look asks the same again; None if it will not ask the same."""
    from lifecycle.claim.decisions import decide
    from lifecycle.claim.decisions.pull.pace import next_poll
    from lifecycle.claim.engine.observing import snapshot_of
    from lifecycle.core.light_dataclass import replace
    from lifecycle.core.plan import Wake

    before, record = call.loaded, call.claim_store.remembered()
    if before is None or before.record is None or record is None:
        return None
    first = snapshot_of(call.world, call.claim_store, Wake.IDLE, before.record, before.hints)
    due = next_poll(record, first.settings.poll_seconds, first.now)
    following = replace(first, record=record, hints={}, now=max(first.now, due))
    return due if decide.look(first) == decide.look(following) is not None else None


def _signature(token: str, signed: bytes, root: str, environment: Mapping[str, str]) -> bytes:
    """The signature: only who knows the token can make it, and it changes once anything changed.

    What decides a look's address and question counts: files by their mtimes, variables by their values.
    """
    base = environment.get("XDG_CONFIG_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(environment.get("HOME", ""), ".config")
    paths = [os.path.join(root, name) for name in (".agent-claim.json", f"{FOLDER}/state.json")]
    paths += [regular_files.settings_path(root), os.path.join(base, "lifecycle", "config.toml")]
    dates = [f"{path}={regular_files.mtime_ns(path, follow=True)}" for path in paths]
    names = sorted(name for name in environment if name.startswith(_VARIABLES))
    around = "\n".join((*dates, *(f"{name}={environment[name]}" for name in names)))
    content = signed + b"\n\n" + around.encode("utf-8", "surrogateescape")
    key = hashlib.blake2b(token.encode()).digest()
    return hashlib.blake2b(content, key=key).hexdigest().encode()
