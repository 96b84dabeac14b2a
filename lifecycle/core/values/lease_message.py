"""What the commit of a lease says: `lease {"agent": …, "issue": …, "nonce": …, "branch": …}`.

Whoever takes a lease writes it, and whoever sweeps many repositories reads it from GitHub.
"""

from __future__ import annotations

import json

PREFIX = "lease "


def parse_lease(message: str) -> tuple[str, str, str]:
    """Agent, nonce and branch of a lease's commit message, "" for what it does not say.

    Leases of older versions name no branch, and a ref of that name may point to anybody's commit.
    """
    line = message.partition("\n")[0].strip()
    try:
        word = json.loads(line.removeprefix(PREFIX))
    except (ValueError, RecursionError):
        return "", "", ""
    if not isinstance(word, dict):
        return "", "", ""
    agent, nonce, branch = (word.get(key) for key in ("agent", "nonce", "branch"))
    return _text(agent), _text(nonce), _text(branch)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
