"""The last answers of REST by address, so that GitHub need only say that one is unchanged."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from lifecycle.core.light_dataclass import dataclass

MOST_ANSWERS = 64
MOST_CHARACTERS = 4_000_000
"""What is kept at the most; a page of a hundred check runs has about 300,000 characters."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """One answer: its ETag, its headers (names in lower case) and its body."""

    etag: str
    headers: Mapping[str, Any]
    text: str


class Etags:
    """The last answers by address, so that GitHub need only say that one is unchanged.

    A read with the ETag of the last answer is answered 304 while nothing changed, which does not count
    against the hour's requests. An ETag belongs to one token, and so does a client: nothing is shared
    and nothing is written to disk. The least lately used is forgotten first.
    Source: https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
    """

    def __init__(self) -> None:
        self._kept: OrderedDict[str, KeptAnswer] = OrderedDict()
        self._size = 0

    def get(self, address: str) -> KeptAnswer | None:
        """The last answer to this address, or None."""
        if address in self._kept:
            self._kept.move_to_end(address)
        return self._kept.get(address)

    def put(self, address: str, headers: Mapping[str, Any], text: str) -> None:
        """Keep an answer, if it has an ETag and is not too long."""
        self._drop(address)
        etag = str(headers.get("etag") or "")
        if not etag or len(text) > MOST_CHARACTERS:
            return
        self._kept[address] = KeptAnswer(etag, dict(headers), text)
        self._size += len(text)
        while len(self._kept) > MOST_ANSWERS or self._size > MOST_CHARACTERS:
            self._drop(next(iter(self._kept)))

    def _drop(self, address: str) -> None:
        known = self._kept.pop(address, None)
        self._size -= len(known.text) if known else 0
