"""The documents in `graphql/`, alone or several as one operation, as the text that is sent.

What not every server knows lies in a document of its own. It is sent together with the one that it
adds to, in one request, and left out once the server has said that it does not know it: so an older
GitHub Enterprise Server costs a part of an answer, never all of it.

Nothing is parsed here: `ready.json` has what looks ask for together, written by `make docs`, and a test
holds it to the documents. What is not in it is put together by `document_trees.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from lifecycle.core.light_dataclass import dataclass
from lifecycle.settings.resources import graphql_document, packaged

READY = "github/client/ready.json"
_OPERATION = r"(?m)^(query|mutation) (\w+)(?:\(([^)]*)\))?"


@dataclass(frozen=True, slots=True)
class Document:
    """One operation, ready to be sent.

    Attributes:
        text: the operation and its fragments.
        operation: its name, that of the first document.
        is_mutation: it changes something.
        variables: the names of its variables.
    """

    text: str
    operation: str
    is_mutation: bool
    variables: frozenset[str]

    @classmethod
    def of(cls, text: str) -> Document:
        """A document by its text, which has one operation."""
        found = re.search(_OPERATION, text)
        if found is None:
            raise TypeError("a document without a named operation")
        names = re.findall(r"\$(\w+)", found[3] or "")
        return cls(text, found[2], found[1] == "mutation", frozenset(names))

    def payload(self, variables: Mapping[str, Any]) -> dict[str, Any]:
        """What is sent.

        Source: https://graphql.github.io/graphql-over-http/draft/#sec-Request-Parameters
        """
        asked: dict[str, Any] = {"query": self.text, "operationName": self.operation}
        return {**asked, "variables": dict(variables)} if variables else asked


@cache
def document(name: str, *others: str) -> Document:
    """`graphql/NAME.graphql`, with what other documents ask for besides; read once per process.

    Raises:
        ValueError, TypeError: the documents do not fit together (`document_trees.merged`).
    """
    if not others:
        return Document.of(graphql_document(name))
    text = _ready()["texts"].get(" ".join((name, *others)))
    if text is None:  # the server lacks one of those that looks ask for
        from lifecycle.github.client.document_trees import merged

        text = merged(name, *others)
    return Document.of(text)


def fields_of(name: str, kind: str) -> frozenset[str]:
    """The keys that the fragments of a look's part on the type `kind` add to its objects."""
    return frozenset(_ready()["fields"][name][kind])


@cache
def _ready() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(packaged(READY))
    return found
