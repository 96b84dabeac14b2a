"""What is written to GitHub holds no secret: the one place that every write passes."""

from __future__ import annotations

from lifecycle.core.errors import Refused
from lifecycle.core.redact import swept

ADDRESSES = frozenset({"head", "base", "ref"})
"""Fields that name a branch: another name would be another branch."""


def without_secrets(content: object, withheld: list[str]) -> object:
    """What a write sends, with `***` in the place of every secret that is known or looks like one.

    Args:
        content: the JSON of a request, or the variables of a mutation.
        withheld: gets the name of each field that held one, once.

    Raises:
        Refused: a branch is called so; nothing was sent.
    """
    found: list[str] = []
    clean = swept(content, found, is_request=True)
    if not ADDRESSES.isdisjoint(found):
        raise Refused(
            "The name of a branch holds what looks like a secret, so nothing was sent to GitHub; give "
            "the branch another name: git branch -m <name>"
        )
    withheld += [name for name in found if name not in withheld]
    return clean
