"""What a text says of a stage in its own words: finished, green, approved, closed.

Sentence by sentence. One that asks, denies, plans or waits says nothing; neither does code in a fence
or a quoted line. It is the second-best source: a marker and what a tool did count before it.
"""

from __future__ import annotations

import re

from lifecycle.core.stage_names import Detected
from lifecycle.evidence import runner_table
from lifecycle.stages.detection.stage_markers import prose
from lifecycle.trackers import command_signs

LENGTH = 20_000
"""Characters of a text that are read, from its end."""

_COMMON = ("prove", "robot", "bats", "tap", "behave", "pest", "task test")
"""Runners whose names are words of other sentences, too."""

_RUNNER = "|".join(re.escape(name) for name in runner_table.names() if name not in _COMMON)
_CLOSE = "|".join(re.escape(name) for name in command_signs.names(command_signs.CLOSE))
_SHOW = "|".join(re.escape(name) for name in command_signs.names(command_signs.SHOW))
_GREEN = r"(?:pass(?:ed|es|ing)?|succe(?:ss(?:ful(?:ly)?)?|eded)|green)"
_IS = r"(?:(?:is|are|was|were|has been|have been|now|all|fully|successfully|both)\s+)*"

_CLOSED = (
    rf"\bissue\s+(?:[#\w.-]+\s+)?{_IS}closed\b|\bclosed\s+(?:the\s+)?issue\b"
    rf"|^(?:{_CLOSE})\b|\b(?:ran|executed|used|called|did)\b.*\b(?:{_CLOSE})\b"
    rf"|\b(?:{_CLOSE})\b.*\b(?:succe\w+|worked|done|completed|closed)\b"
)
_APPROVED = r"\b(?:approved|approves|LGTM)\b(?!\s+of\b)"
_TESTED = (
    rf"\b(?:{_RUNNER})\b.*\b{_GREEN}\b|\b{_GREEN}\b.*\b(?:{_RUNNER})\b"
    rf"|\btests?\s+(?:suites?\s+)?{_IS}{_GREEN}\b|\b[1-9]\d*\s+tests?\s+{_GREEN}\b"
)
_SATISFIED = rf"\brequirements?\s+{_IS}(?:satisfied|met|verified|fulfilled)\b"
_CODED = (
    rf"\b(?:implementation|coding|implementing)(?:\s+work)?\s*:?\s+{_IS}"
    r"(?:complete|completed|done|finished)\b"
    r"|\b(?:completed|finished)\s+(?:the\s+)?(?:implementation|coding)\b"
)
_CLEARED = rf"\b(?:ran|executed|used|did)\s+/clear\b|^/clear$|\bsession\s+{_IS}cleared\b"
_FAILING = (
    r"\b[1-9]\d*\s+(?:tests?\s+)?(?:failed|failing|failures?)\b"
    r"|\btests?\s+(?:still\s+|are\s+)*(?:fail|failing|failed)\b"
    r"|\bno tests passed\b|\b0\s+(?:tests\s+)?passed\b"
)
_UNAPPROVED = (
    r"\bnot\s+(?:yet\s+)?(?:been\s+)?approved\b|\bchanges\s+(?:were\s+)?requested\b"
    r"|\b(?:request(?:ed|s)|ask(?:ed|s) for|wants?|wanted)\s+(?:(?!no\b)\w+\s+){0,2}changes\b"
    r"|\b(?:review|oracle)\b.*\brejected\b|\bawaiting\s+(?:approval|review)\b|\breview\s+requested\b"
)
_ABOUT_REQUIREMENTS = rf"\b(?:{_SHOW})\b|\b(?:all|every|each)\b[^.]*\brequirement"
_ABOUT_REVIEW = r"\b(?:oracle|review\w*)\b"
_ABOUT_APPROVAL = r"\b(?:oracle|review\w*|approv\w+)\b"

SAYINGS: tuple[tuple[str, str, str, Detected], ...] = (
    ("clos", _CLOSED, "", Detected.ISSUE_CLOSED),
    ("approve lgtm", _APPROVED, _ABOUT_REVIEW, Detected.ORACLE_APPROVED),
    ("pass succe green", _TESTED, "", Detected.TESTS_PASSING),
    ("requirement", _SATISFIED, _ABOUT_REQUIREMENTS, Detected.REQUIREMENTS_REVIEWED),
    ("coding implement", _CODED, "", Detected.CODING_COMPLETE),
    ("clear", _CLEARED, "", Detected.SESSION_CLEARED),
)
"""(what such a sentence has, what it says, what the whole text must speak of, the stage): completions."""

STILL: tuple[tuple[str, str, str, Detected], ...] = (
    ("fail passed", _FAILING, "", Detected.IN_TESTING),
    ("approv request reject await", _UNAPPROVED, _ABOUT_APPROVAL, Detected.IN_ORACLE_REVIEW),
)
"""The same for what is under way."""

_HARMLESS = re.compile(
    r"\b(?:no|0|zero|without(?:\s+any)?)\s+(?:\w+\s+)?"
    r"(?:failures?|errors?|failed|failing|issues|regressions?|problems?|warnings?|skipped|findings|comments)\b",
    re.IGNORECASE,
)
_VETO = re.compile(
    r"\?\s*$|n['\u2019]t\b|['\u2019]ll\b|\b(?!100)\d+\s*%"
    # what is wanted, planned or waited for
    r"|\b(?:will|shall|going to|gonna|should|must|needs? to|have to|has to|had to|want to|let me|let's|next"
    r"|once|when|until|till|if|unless|as soon as|before|plan(?:s|ning)? to|about to|ready to|to be|todo"
    r"|please|can|could|may|might|would|await\w*|wait\w*|pending|ensure|make sure|expect\w*|in order to"
    r"|so that|working on|in progress|remaining|assum\w+|try(?:ing)?|tried"
    # what is denied, or true in part
    r"|not|never|no|none|nothing|without|cannot|unable|fail\w*|error\w*|denied|refus\w+|rejected"
    r"|almost|nearly|partial(?:ly)?|mostly|half|except|only|incomplete|zero|0"
    # what is guessed
    r"|(?:think|believe|guess|suppose|suspect|hope)|probably|likely|presumably|apparently|hopefully|seems?"
    # what was so at another time or place, or is another's
    r"|previous(?:ly)?|earlier|formerly|yesterday|ago|last\s+(?:time|night|week|month|year|release)"
    r"|upstream|duplicates?|(?:old|former|existing|original|legacy|reference)\s+(?:implementation|issue|code)"
    r"|(?:from|by|says)\s+(?:(?:the|our|a)\s+)?(?:\w*lint\w*|ci|mypy|ruff|formatter|compiler|type ?checker)"
    r")\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}|^\s*(?:[-*+•#>]+|\d+[.)])\s+")
_ENDS = re.compile(r"(?<=[.!?;])\s+")


def said(text: str, about: tuple[str, ...] = ()) -> tuple[Detected, ...]:
    """What the text says is completed, the furthest stage first; then what it says is under way.

    `about`: words that stand for what the turn is about besides: that a review was asked for, so that
    "approved" needs no word of what was.
    """
    sentences = [(sentence, sentence.lower()) for sentence in _sentences(text)]
    whole = " ".join([*(sentence for sentence, _ in sentences), *about])
    states: list[Detected] = []
    for rows, says in ((SAYINGS, _says), (STILL, _says_still)):
        for hints, pattern, on, state in rows:
            # A pattern costs much more than a look for words: only sentences with one are worth it.
            words = hints.split()
            worth = (s for s, lower in sentences if any(word in lower for word in words))
            if any(says(pattern, sentence) for sentence in worth) and _has(on, whole):
                states.append(state)
    return tuple(states)


def _says(pattern: str, sentence: str) -> bool:
    return _has(pattern, sentence) and not _VETO.search(_HARMLESS.sub(" ", sentence))


def _says_still(pattern: str, sentence: str) -> bool:
    plain = _HARMLESS.sub(" ", sentence)
    return _has(pattern, plain) and not plain.rstrip().endswith("?")


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _sentences(text: str) -> list[str]:
    lines = [_MARKUP.sub("", line).strip() for line in prose(text[-LENGTH:])]
    return [part for line in lines for part in _ENDS.split(line) if part]
