"""`.agent-claim.json`: what its bytes say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.claim.record.claim_file import FIELDS, Claim, CorruptClaimError, parse, render
from lifecycle.core.errors import ClaimRefused
from tests.factories import EXAMPLE, HAND_WRITTEN


@pytest.mark.parametrize("example", [EXAMPLE, HAND_WRITTEN])
def test_the_designs_examples_are_read_as_they_are(example: dict[str, Any]) -> None:
    """Both hand-written files of the design parse to themselves and come back field by field."""
    values = parse(json.dumps(example).encode())
    assert values == example
    assert json.loads(render(values)) == example
    assert tuple(json.loads(render(values))) == FIELDS


@pytest.mark.parametrize("version", [99, 2, 0, "2", True, 1.5, [], "one"])
def test_fault_8_an_unknown_schema_version_is_refused(version: object) -> None:
    """schema_version 99 was accepted by the shell version; here it is refused with a sentence."""
    content = json.dumps({**EXAMPLE, "schema_version": version}).encode()
    with pytest.raises(ClaimRefused, match="left as it is"):
        parse(content)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":' * 100_000])
def test_bytes_that_are_no_object_are_corrupt(content: bytes) -> None:
    """Nothing but a JSON object is a claim, however it is broken."""
    with pytest.raises(CorruptClaimError):
        parse(content)


@pytest.mark.parametrize(
    ("written", "read"),
    [("42", 42), ("#42", 42), (42.0, 42), (None, None), ("x", None), (True, None), ([1], None)],
)
def test_an_issue_number_may_be_written_loosely(written: object, read: int | None) -> None:
    """An agent writes numbers as text now and then; what is no number is none."""
    values = parse(json.dumps({**EXAMPLE, "issue_number": written}).encode())
    assert values["issue_number"] == read


def test_a_byte_order_mark_and_unknown_keys_are_kept_harmless() -> None:
    """A BOM is skipped, and a key that the schema does not know is written back unchanged."""
    content = b"\xef\xbb\xbf" + json.dumps({**EXAMPLE, "note": [1, {"a": "b"}]}).encode()
    values = parse(content)
    assert json.loads(render(values))["note"] == [1, {"a": "b"}]
    assert Claim.of(values).extra == {"note": [1, {"a": "b"}]}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(FIELDS[1:]) | st.text(max_size=5), JSON, max_size=12))
def test_any_object_is_read_or_refused_but_never_fails(content: dict[str, Any]) -> None:
    """Whatever JSON an agent writes, it parses, types, renders, and parses to the same again."""
    content.pop("schema_version", None)
    values = parse(json.dumps(content).encode())
    claim = Claim.of(values)
    assert isinstance(claim.phase, str)
    assert isinstance(claim.branch, str)
    assert parse(render(values)) == values
