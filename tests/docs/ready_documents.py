"""Each document, and what looks ask for together, as `ready.json` has it: written by `make docs`.

So no hook parses a document: that takes a library, which takes longer to import than GitHub to answer.
"""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from lifecycle.github.board.board_client import IDS, SET_FIELDS
from lifecycle.github.client.graph import READY
from lifecycle.github.pulls.forge import BOARD, LABELS, PARTS, WRITES
from lifecycle.github.pulls.translate import MERGING, REVIEWS
from lifecycle.github.sweep.sweep_holdings import OWNER, OWNER_WAITS
from tests.docs.document_trees import fields_of, merged
from tests.graphql_texts import graphql_documents

PATH = READY
_CLAIM = "observe_claim"
_BOARDS: tuple[tuple[str, ...], ...] = ((), (BOARD,), (LABELS,), (BOARD, LABELS))


def looks() -> list[tuple[str, ...]]:
    """The parts that a look may add to the claim's own document, as the forge puts them together."""
    parts = product(_BOARDS, ((), MERGING), ((), (REVIEWS,)))
    polls = [(PARTS, *board, *merging, *reviews) for board, merging, reviews in parts]
    writes = [(PARTS, *board, WRITES) for board in _BOARDS]  # none of these looks at checks
    return [*polls, *writes, (PARTS, BOARD, WRITES, IDS)]


JOINED = tuple((name, SET_FIELDS) for name in ("open_pull_request", "comment_and_close"))
"""What is written together with a card."""

_SWEPT = (OWNER, OWNER_WAITS)
"""What a sweep asks first of an owner."""


def _looks() -> list[tuple[str, ...]]:
    return [(_CLAIM, *parts) for parts in looks()]


def ready() -> dict[str, Any]:
    """The texts by the names of their documents, and the fields that parts add to a pull request."""
    kind = "PullRequest"
    alone = {path.stem: path.read_text(encoding="utf-8") for path in graphql_documents()}
    together = {" ".join(names): merged(*names) for names in (*_looks(), *JOINED, _SWEPT)}
    return {
        "texts": {**alone, **together},
        "fields": {name: {kind: sorted(fields_of(name, kind))} for name in (*MERGING, REVIEWS)},
    }


def written() -> str:
    """The file's content."""
    return json.dumps(ready(), indent=1) + "\n"
