"""`.agent-claim.json`: what its bytes say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.claim.record.claim_file import (
    FIELDS,
    Claim,
    CorruptClaimError,
    Merged,
    merge,
    parse,
    render,
)
from lifecycle.core.errors import ClaimRefused
from tests.batches import each_row
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
    with pytest.raises(ClaimRefused, match="left unchanged"):
        parse(content)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"a":' * 100_000])
def test_bytes_that_are_no_object_are_corrupt(content: bytes) -> None:
    """Nothing but a JSON object is a claim, however it is broken."""
    with pytest.raises(CorruptClaimError):
        parse(content)


@each_row(
    ("written", "read"),
    [
        *(
            ("42", 42),
            (" #42 ", 42),
            (42.0, 42),
            (2**31 - 1, 2**31 - 1),
            (str(2**31 - 1), 2**31 - 1),
        ),
        *((None, None), ("x", None), ("~42", None), ("²", None), ("٤٢", None), ("9" * 5000, None)),
        *((True, None), ([1], None), (42.5, None), (0, None), (-1, None), (2**31, None)),
    ],
    ids=lambda value: str(value)[:12],
)
def test_an_issue_number_may_be_written_loosely(written: object, read: int | None) -> None:
    """An agent writes numbers as text now and then; what is no number is none."""
    both = dict.fromkeys(("issue_number", "pr_number"), written)
    values = parse(json.dumps({**EXAMPLE, **both}).encode())
    assert (values["issue_number"], values["pr_number"]) == (read, read)


def test_a_byte_order_mark_and_unknown_keys_are_kept_harmless() -> None:
    """A BOM is skipped, and a key that the schema does not know is written back unchanged."""
    content = b"\xef\xbb\xbf" + json.dumps({**EXAMPLE, "note": [1, {"a": "b"}]}).encode()
    values = parse(content)
    assert json.loads(render(values))["note"] == [1, {"a": "b"}]
    assert Claim.of(values).extra == {"note": [1, {"a": "b"}]}


def test_a_file_without_a_version_is_of_the_first_and_one_as_text_is_one() -> None:
    """An agent that writes the file anew may leave it out, or write it as text."""
    for content in (b"{}", b'{"schema_version": null}', b'{"schema_version": "1"}'):
        assert parse(content) == {**dict.fromkeys(FIELDS), "schema_version": 1}


def test_a_file_that_cannot_be_read_says_why_in_few_words() -> None:
    """Of the version that it has only the beginning, and how many bytes a claim may have."""
    with pytest.raises(ClaimRefused) as refused:
        parse(json.dumps({"schema_version": "x" * 60}).encode())
    assert f'has schema_version "{"x" * 39}, and this lifecycle' in refused.value.sentence
    with pytest.raises(CorruptClaimError, match=r"^it is larger than 1,000,000 bytes$"):
        parse(b"{}".ljust(1_000_001))
    assert parse(b"{}".ljust(1_000_000))["schema_version"] == 1


def test_a_claim_is_written_as_people_read_it() -> None:
    """The design's order, a line a field, letters as they are; half of a sign alone has to be escaped."""
    nothing = "".join(f'  "{name}": null,\n' for name in FIELDS)
    for note, written in (("é", '"é"'), ("é\ud800", '"é\\ud800"')):
        text = f'{{\n{nothing}  "note": {written}\n}}\n'
        assert render({"note": note}).decode() == text
    assert render({"note": 1, "phase": "done"}).index(b"phase") < render({"note": 1}).index(b"note")


def test_times_that_are_not_written_are_none() -> None:
    """An empty text is no time, and no Status that the board had."""
    claim = Claim.of({"last_check_poll": "", "last_synced_status": ""})
    assert (claim.last_check_poll, claim.last_synced_status) == (None, None)
    assert claim == Claim(issue_number=None, branch="", phase="")


def test_what_the_agent_wrote_is_its_own_and_the_engines_fields_are_the_engines() -> None:
    """Of the one each edit counts, of the other it is a hint; what was emptied, or is older, is neither."""
    past = [EXAMPLE, {**EXAMPLE, "pr_number": 107}]
    ours = {**past[1], "status": "In Review"}
    assert merge(past, ours, past[1]) == merge(past, ours, EXAMPLE) == Merged(ours, frozenset(), {})
    for name in FIELDS:
        found = merge(past, ours, {**past[1], name: "another"})
        if name in ("phase", "summary", "status", "branch"):
            assert found == Merged({**ours, name: "another"}, frozenset({name}), {}), name
        else:
            assert found == Merged(ours, frozenset(), {name: "another"}), name
            assert merge(past, ours, {**past[1], name: ""}).hints == {}, name


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
