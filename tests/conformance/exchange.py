"""One exchange with a GitHub, as the oracles see it, and how a recorded one is read back."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from collections.abc import Mapping

JSON_TYPES = ("application/json", "+json")


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and the answer that it got.

    Attributes:
        path: The path of the URL as it was sent, without host and query.
        query: The query string, without its question mark.
        asked: The request's headers that the oracles need, with names in lower case.
        sent: The decoded JSON body of the request; None if it has none, or another kind.
        headers: The answer's headers, with names in lower case.
        text: The answer's body.
        fault: When a fault took the answer's place: `before` or `after` the work; None if none did.
    """

    method: str
    path: str
    status: int
    query: str = ""
    asked: Mapping[str, str] = field(default_factory=dict)
    sent: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    fault: str | None = None

    @property
    def is_json(self) -> bool:
        """Whether the answer says that it is JSON."""
        kind = self.headers.get("content-type", "").partition(";")[0].strip()
        return kind.endswith(JSON_TYPES)

    @property
    def is_conditional(self) -> bool:
        """Whether the client asked for a 304 if nothing changed."""
        return "if-none-match" in self.asked or "if-modified-since" in self.asked

    @property
    def parameters(self) -> dict[str, str]:
        """The query's parameters; of one that is named twice, the last."""
        return dict(parse_qsl(self.query, keep_blank_values=True))

    def body(self) -> Any:
        """The answer's body, decoded.

        Raises:
            ValueError: It is not JSON.
        """
        return json.loads(self.text)


def from_line(line: str) -> Exchange:
    """Read what the sandbox's recorder wrote as one line.

    Raises:
        ValueError: The line is not a whole record.
    """
    known = json.loads(line)
    try:
        return Exchange(**known)
    except TypeError as error:
        raise ValueError(f"No exchange: {error}.") from None


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong with one answer.

    Attributes:
        where: The route's template and the status, or the GraphQL operation.
        pointer: A JSON pointer into the body; empty for the answer as a whole.
        what: What was wrong there.
    """

    where: str
    pointer: str
    what: str

    def __str__(self) -> str:
        return f"{self.where} {self.pointer or '(whole answer)'}: {self.what}"
