"""What a transcript tells of tokens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.hooks.answers import run_events
from lifecycle.hooks.answers.run_events import tokens_taken


def answer(name: str, tokens: int, at: str = "2026-01-02T00:00:00Z") -> str:
    """A line of the transcript with one part of an answer."""
    usage = {"input_tokens": tokens, "output_tokens": 1, "cache_read_input_tokens": 1_000}
    message = {"id": name, "usage": usage}
    return json.dumps({"type": "assistant", "timestamp": at, "message": message}) + "\n"


def test_an_answer_counts_once_and_its_cache_does_not(tmp_path: Path) -> None:
    """Its parts have the same counts; a line of another kind, and one that is broken, count nothing."""
    path = tmp_path / "transcript.jsonl"
    strange = '{"usage": \n{"type": "user", "message": {"id": "x", "usage": {"input_tokens": 5}}}\n'
    path.write_text(answer("one", 10) * 2 + strange + answer("two", 20))
    assert tokens_taken(str(path), 0, 0.0) == (32, path.stat().st_size)


def test_what_was_read_is_not_read_again_and_half_a_line_waits(tmp_path: Path) -> None:
    """The next look begins where the whole lines ended."""
    path = tmp_path / "transcript.jsonl"
    first, second = answer("one", 10), answer("two", 20)
    path.write_text(first + second[:-5])
    tokens, read = tokens_taken(str(path), 0, 0.0)
    assert (tokens, read) == (11, len(first))
    path.write_text(first + second)
    assert tokens_taken(str(path), read, 0.0) == (21, len(second))


def test_a_line_that_no_read_holds_stops_no_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its parts are passed over, one at each look; what comes after them is counted."""
    monkeypatch.setattr(run_events, "MOST", 400)
    path = tmp_path / "transcript.jsonl"
    path.write_text(answer("one", 10) + '{"usage": "' + "x" * 1_000 + '"}\n' + answer("two", 20))
    looks, read = [], 0
    while read < path.stat().st_size:
        tokens, more = tokens_taken(str(path), read, 0.0)
        assert more > 0
        looks.append(tokens)
        read += more
    assert sum(looks) == 32


def test_what_came_before_and_what_is_not_there_count_nothing(tmp_path: Path) -> None:
    """A transcript that cannot be read tells nothing, and neither does an older answer."""
    path = tmp_path / "transcript.jsonl"
    path.write_text(answer("one", 10, "1970-01-01T00:00:10Z"))
    assert tokens_taken(str(path), 0, 11.0) == (0, path.stat().st_size)
    assert tokens_taken(str(path), 0, 10.0) == (11, path.stat().st_size)
    assert tokens_taken(str(tmp_path / "none"), 0, 0.0) == tokens_taken("", 0, 0.0) == (0, 0)
