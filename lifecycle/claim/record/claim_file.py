"""Read, write and merge `.agent-claim.json`, schema version 1.

An agent edits this file by hand, in whole or in part, at any moment and with any tool. So reading is
lenient (a number written as text is a number, an unknown key is kept), and only two things are
rejected: bytes that are not a JSON object, and a schema version that is not ours.

The agent's changes and the engine's values are merged in a three-way merge (`merge`), and the merge base
matters. An agent reads the file, thinks, and writes all of it: the version that it read may be several
engine writes old. The engine's own fields, which an agent has no reason to touch, show which version: the
newest past projection with the same engine fields is the base. Against that base, a field that the agent
did not change takes the engine's value, and a field that it changed keeps the agent's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from lifecycle.claim.decisions.table import Phase
from lifecycle.core.errors import ClaimRefused
from lifecycle.core.light_dataclass import dataclass, field, fields
from lifecycle.core.values.model import LABELS_ITEM
from lifecycle.settings import resources
from lifecycle.storage.store import CLAIM_FILE

sentence: Final = resources.Sentences("claim/refusals.toml")
"""The refusals of and remarks on a claim."""

message: Final = resources.Sentences("claim/messages.toml")
"""What a decision tells about a claim, and what goes onto GitHub."""

actions: Final = partial(resources.table, "claim/actions.toml")
"""What is told of each kind of action, and what the journal has of its writes."""


def complaint(kind: str, why: str, issue: int | None) -> str:
    """The sentence that a kind of action was refused; "" for one whose refusal is told otherwise."""
    refused: str = actions().get(kind, {}).get("refused", "")
    return refused.format(why=why, issue=issue)


SCHEMA_VERSION = 1

_LARGEST = 2**31 - 1
"""GitHub's numbers are positive GraphQL Ints."""

LIMIT = 1_000_000
"""Most bytes of a claim that are read."""

_NUMBERS = ("schema_version", "issue_number", "pr_number")


class CorruptClaimError(Exception):
    """The bytes are not a JSON object; the text says where reading stopped."""


@dataclass(frozen=True, slots=True)
class Claim:
    """The fields of the claim file with their types: text is never None, numbers and times may be.

    They are in the design's order, as in the file. `extra` holds keys that the schema does not know; they
    are written back unchanged.
    """

    schema_version: int = SCHEMA_VERSION
    item_id: str = ""
    issue_number: int | None = None
    branch: str = ""
    agent_id: str = ""
    phase: str = ""
    summary: str = ""
    status: str = ""
    pr_number: int | None = None
    last_check_poll: str | None = None
    last_synced_status: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def issue(self) -> int:
        """The issue's number; 0 if the claim names none."""
        return self.issue_number or 0

    @property
    def pull(self) -> int:
        """The pull request's number; 0 if the claim has none."""
        return self.pr_number or 0

    @property
    def is_labels(self) -> bool:
        """True if the Status is kept as a label on the issue."""
        return self.item_id.startswith(LABELS_ITEM)

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Claim:
        """Convert the raw field values to their types; what cannot be converted is None or empty."""
        return cls(
            item_id=_text(values.get("item_id")),
            issue_number=_number(values.get("issue_number")),
            branch=_text(values.get("branch")).strip().removeprefix("refs/heads/"),
            agent_id=_text(values.get("agent_id")).strip(),
            phase=_text(values.get("phase")).strip(),
            summary=_text(values.get("summary")).strip(),
            status=_text(values.get("status")).strip(),
            pr_number=_number(values.get("pr_number")),
            last_check_poll=_text(values.get("last_check_poll")) or None,
            last_synced_status=_text(values.get("last_synced_status")) or None,
            extra={key: values[key] for key in values if key not in FIELDS},
        )


FIELDS = tuple(each.name for each in fields(Claim) if each.name != "extra")
"""The design's eleven fields, in the design's order."""

_BEGUN = {"schema_version": SCHEMA_VERSION, "item_id": "", "summary": ""}
BLANK: Mapping[str, Any] = {**dict.fromkeys(FIELDS), **_BEGUN}
"""The fields of a claim about which nothing is known yet."""

AGENT_FIELDS = ("phase", "summary", "status", "branch")
"""Fields whose edits by the agent always win."""

ENGINE_FIELDS = tuple(name for name in FIELDS if name not in AGENT_FIELDS)
"""Fields that the engine owns: reverted values are restored, edited values are hints."""


def parse(content: bytes) -> dict[str, Any]:
    """Parse the file's bytes and return the raw values of its fields; missing ones are None.

    Raises:
        CorruptClaimError: the bytes are not a JSON object, or too many.
        ClaimRefused: the schema version is not one that this product knows.
    """
    if len(content) > LIMIT:
        raise CorruptClaimError(f"it is larger than {LIMIT:,} bytes")
    try:
        values = json.loads(content.decode("utf-8-sig"))
    except RecursionError:
        raise CorruptClaimError("it is nested too deeply") from None
    except ValueError as error:
        raise CorruptClaimError(str(error)) from None
    if not isinstance(values, dict):
        raise CorruptClaimError("it is not a JSON object")
    values = {**dict.fromkeys(FIELDS), **values}
    version = values["schema_version"]
    if version is None:
        values["schema_version"] = SCHEMA_VERSION
    elif _number(version) != SCHEMA_VERSION:
        words = {"version": json.dumps(version)[:40], "known": SCHEMA_VERSION}
        raise ClaimRefused(sentence("unknown-version", file=CLAIM_FILE, **words))
    return values | {name: _number(values[name]) for name in _NUMBERS}


def render(values: Mapping[str, Any]) -> bytes:
    """Return field values as the file's bytes: the eleven fields in the design's order, then others."""
    text = json.dumps({**dict.fromkeys(FIELDS), **values}, indent=2, ensure_ascii=False)
    # Half a surrogate pair, which some editors leave, is escaped, as in JSON, and can be read back.
    return text.encode(errors="backslashreplace") + b"\n"


def _text(value: object) -> str:
    """A raw value as text; empty for None."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def _number(value: object) -> int | None:
    """A raw value (42, "42", "#42", 42.0) as a number that GitHub may have assigned; else None."""
    text = str(value) if isinstance(value, str | int | float) else ""
    match = re.fullmatch(r"#*([0-9]{1,10})(?:\.0)?", text.strip())
    number = int(match[1]) if match is not None else 0
    return number if 0 < number <= _LARGEST else None


Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Merged:
    """The outcome of one merge.

    Attributes:
        values: what the file should hold now.
        changed: agent fields (and unknown keys) that the agent changed.
        hints: engine fields that somebody edited, with the edited values. `values` has the engine's values;
            GitHub decides which is right.
    """

    values: dict[str, Any]
    changed: frozenset[str]
    hints: dict[str, Any]


def merge(past: Sequence[Values], ours: Values, theirs: Values) -> Merged:
    """Merge the file's values `theirs` with the engine's `ours`.

    Args:
        past: projections that were once in the file, oldest first; the last one is the newest.
        ours: the values that the engine would write.
        theirs: the values in the file.
    """

    def likeness(old: Values) -> int:
        return sum(_same(theirs.get(name), old.get(name)) for name in ENGINE_FIELDS)

    # The edit started from the projection with most equal engine fields; of several, from the newest.
    base = max(reversed(past), key=likeness, default=ours)
    values: dict[str, Any] = dict(ours)
    changed = set()
    hints = {}
    for name in AGENT_FIELDS:
        # A claim with work always has a branch: whoever wrote the whole file left it out.
        is_left_out = name == "branch" and not theirs.get(name)
        if not is_left_out and not _same(theirs.get(name), base.get(name)):
            values[name] = theirs.get(name)
            changed.add(name)
    phase = theirs.get("phase")
    asks = phase in (Phase.READY_FOR_PR, Phase.DONE) and phase != ours.get("phase")
    if past and base is not past[-1] and asks:
        # An old copy carries a phase that is a request by the agent, which the agent may have left alone or
        # written again on purpose. GitHub judges both phases: to treat it as a request costs at most one
        # look, and to ignore it could lose the request.
        values["phase"] = phase
        changed.add("phase")
    for name in ENGINE_FIELDS:
        value = theirs.get(name)
        is_reverted = value in (None, "") or any(_same(value, old.get(name)) for old in past)
        if not _same(value, ours.get(name)) and not is_reverted:
            hints[name] = value
    # Unknown keys that the agent wrote or deleted.
    for name in {*theirs, *ours} - set(FIELDS):
        if name in theirs and (name not in base or theirs[name] != base[name]):
            values[name] = theirs[name]
            changed.add(name)
        elif name not in theirs and name in base:
            values.pop(name, None)
            changed.add(name)
    return Merged(values, frozenset(changed), hints)


def _same(value: object, other: object) -> bool:
    """True if two values are equal; None and an empty text count as equal."""
    return value == other or (value in (None, "") and other in (None, ""))
