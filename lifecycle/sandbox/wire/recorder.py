"""Record requests and answers, so that tests can compare them with GitHub's descriptions.

Each line of JSON is one exchange over REST or GraphQL. It contains no credential: of a request's headers,
only those that change an answer's form are kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from werkzeug.wrappers import Request, Response

from lifecycle.sandbox.base.errors import SandboxError

VARIABLE = "LIFECYCLE_SANDBOX_RECORD"
FORMING = (
    "accept",
    "content-type",
    "if-modified-since",
    "if-none-match",
    "x-github-api-version",
)
"""Headers of a request that change the form of its answer."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Appends to one file, to which other sandboxes may append, too.

    Attributes:
        handle: The open file. Each line is one write at its end, so that none is torn.
    """

    handle: int

    def note(
        self,
        request: Request,
        sent: Mapping[str, Any] | None,
        answer: Response,
        fault: Literal["before", "after"] | None = None,
    ) -> None:
        """Record an answer before it goes out.

        Args:
            request: The request.
            sent: The decoded body of the request.
            answer: The whole answer, not a stream.
            fault: When a fault replaced the answer; None for an answer of GitHub's.

        Raises:
            OSError: The disk is full, or the file is gone.
        """
        is_empty = request.method == "HEAD" or answer.status_code in {204, 304}
        record = {
            "method": request.method,
            "path": _path(request),
            "query": request.query_string.decode("utf-8", "replace"),
            "asked": {name: request.headers[name] for name in FORMING if name in request.headers},
            "sent": sent,
            "status": answer.status_code,
            "headers": {name.lower(): value for name, value in answer.headers},
            "text": "" if is_empty else answer.get_data().decode("utf-8", "replace"),
            "fault": fault,
        }
        os.write(self.handle, json.dumps(record, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self.handle)


def _path(request: Request) -> str:
    """The path as requested: a name in it may contain an escaped slash."""
    asked = str(request.environ.get("REQUEST_URI", request.path))
    return urlsplit(asked).path if "://" in asked else asked.partition("?")[0]


def recorder_of(environment: Mapping[str, str]) -> Recorder | None:
    """A recorder for the file in LIFECYCLE_SANDBOX_RECORD; None if that is not set.

    Raises:
        SandboxError: The file cannot be written.
    """
    path = environment.get(VARIABLE)
    if not path:
        return None
    try:
        return Recorder(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise SandboxError(
            f"{path} cannot be written; name another file in {VARIABLE}, or unset it."
        ) from error
