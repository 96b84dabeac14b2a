"""The agent's own word for a completed stage, `::: WORKFLOW_STAGE: X :::`, and how our words are known.

A marker counts where the agent says it, in any case, spacing or emphasis. It does not count in a code
fence (also one that is never closed), in a block quote, in inline code, in quotation marks, or where
the sentence only repeats when to emit it. The last one wins.

Source: what fences, quotes and code spans are, https://spec.commonmark.org/0.31.2/.
"""

from __future__ import annotations

import re

from lifecycle.core.stage_names import Detected, Stage

CURRENT = "CURRENT STAGE: "
"""Every instruction has a line that begins so and names the stage that it asks for."""

QUESTION = "Unable to determine current workflow stage."
"""How the question begins."""

NEEDLE = "WORKFLOW"
"""No marker is in a text without this, whatever its case."""

_NAMES = {str(state): state for state in Detected if state.is_completion}
_ANSWERS = {*_NAMES, str(Detected.IN_PROGRESS)}
_NAME = r"[A-Z]+(?:_[A-Z]+)+"
# Patterns are text here, and made when the first marker is met: that costs more than importing the rest.
_MARKER = (
    r"(?i::{3,}[ \t*_]*workflow\\?[_ ]stage[ \t*_]*:[ \t*_]*([a-z]+(?:\\?_[a-z]+)*)[ \t*_]*:{3,})"
)
_FENCE = r"\s*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})(.*)"
_SPAN = r"(`+)(?!`)(.+?)(?<!`)\1(?!`)"
_SENTENCE_END = r"[.!?][\"')\]*]*\s+"

_REPEATS = (
    r"\b(?:when|once|if|after|until|as soon as|before)\b.*\bemit"
    r"|\bemit\w*\b.*\b(?:when|once|after|until|as soon as|later|eventually)\b"
    r"|\b(?:then|next|please|must|should|to|not|never|cannot|can't|won't|don't|didn't|yet)\s+"
    r"(?:\w+\s+){0,2}?(?:emit|respond|answer)"
    r"|\b(?:not|never|cannot|can't|won't|haven't|isn't|aren't)\s+(?:\w+\s+){0,3}?"
    r"(?:emit|say|send|write|output|claim|mark|ready|reach|done|there)"
    r"|\b(?:document|describ|explain|mention|quot|renam|pars|search|grepp)\w*\s.*\bmarkers?\W*$"
    r"|\b(?:says?|reads?|told me|tells me):?\s+(?:to\s+)?emit\W*$"
    r"|\b(?:next|last) marker (?:will be|is|would be)\W*$|\bstill to come\W*$"
)
"""Before a marker: the sentence says when it is to be emitted, that it is not, or only speaks of it."""

_READY = r"(?i)\bready to (?=emit)"
_TOLD = (
    r"(?i)^\W*as (?:you |i was |i am |it was |the \w+ )?"
    r"(?:ask|tell|told|want|instruct|request|requir|say|said)\w*\b[^.!?]*"
)
"""That the agent is ready, or does as it was told, repeats no instruction."""

_CONDITION = (
    r"\W*(?:when|once|after|if|until|as soon as|only|later|will|would|can|comes|follows"
    r"|is (?:not|for|what|the))\b"
)
"""Behind one: the same."""

_DRESS = " \t*_-+\u2022.!)0123456789"
"""What may stand beside a marker that is a line of its own: emphasis, or the sign of a list's item."""

LIST = 3
"""So many different markers below each other only say which there are."""

_QUOTES = (("\u201c", "\u201d"), ("\u201e", "\u201c"), ("\u00ab", "\u00bb"), ("\u2018", "\u2019"))
"""Curly and angled quotation marks, each with the one that ends it."""


def find(text: str) -> list[Detected]:
    """The markers that the text really says, in its order."""
    return [state for state, _ in _said(text)]


def is_signed(text: str) -> bool:
    """True if a marker that the text says is a line of its own, and not a part of a sentence."""
    return any(is_own for _, is_own in _said(text))


def misnamed(text: str) -> str:
    """The name in the last marker on a line of its own that has none of the six names; "" without one."""
    known = list(Detected)
    names = [name for name, is_own in _named(text) if is_own and name not in known]
    return names[-1] if names else ""


def _said(text: str) -> list[tuple[Detected, bool]]:
    """The markers that count, each with whether it is a line of its own."""
    return [(_NAMES[name], is_own) for name, is_own in _named(text) if name in _NAMES]


def _named(text: str) -> list[tuple[str, bool]]:
    """The names in markers that the text really says, whether there is such a marker or not."""
    if NEEDLE not in text.upper():
        return []
    names: list[tuple[str, bool]] = []
    above = ""
    for line in _unlisted(prose(text)):
        for match in re.finditer(_MARKER, line):
            name = match[1].replace("\\", "").upper()
            if _is_said(line, match.start(), match.end(), above):
                around = f"{line[: match.start()]}{line[match.end() :]}"
                names.append((name, not around.strip(_DRESS)))
        above = line.strip() or above
    return names


def _unlisted(lines: list[str]) -> list[str]:
    """The lines, with those of a list of markers left empty."""
    result: list[str] = []
    names: set[str] = set()
    begin = 0  # where the list began that the last lines are
    for line in lines:
        match = re.search(_MARKER, line) if NEEDLE in line.upper() else None
        if match is not None:
            names.add(match[1].upper())
        elif line.strip():
            names.clear()
        if match is None and line.strip():
            begin = len(result) + 1
        result.append(line)
        if len(names) >= LIST:
            result[begin:] = [""] * (len(result) - begin)
    return result


def prose(text: str) -> list[str]:
    """The lines that are neither in a code fence nor in a block quote."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = re.match(_FENCE, line) if "```" in line or "~~~" in line else None
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif not line.lstrip().startswith(">"):
            lines.append(line)
    return lines


def named_alone(text: str) -> str:
    """The one name that is a line of its own, in a marker or bare, as an answer to the question.

    That of a completed stage or IN_PROGRESS; without such a one the name of nothing that there is, if it
    looks as if one of them was meant: `TESTS_PASSED`. "" if there is none, or several.
    """
    lines = {line.strip(" \t*_`-•.:") for line in prose(text)}
    bare = {line for line in lines if re.fullmatch(_NAME, line)}
    names = bare | {name for name, is_own in _named(text) if is_own}
    known = names & _ANSWERS
    chosen = sorted(known or names - set(Detected))
    return chosen[0] if len(chosen) == 1 else ""


def asked_in(text: str) -> Stage | None:
    """The stage that an instruction of ours asks for; None if the text is none."""
    headings = (
        [line for line in text.split("\n") if line.startswith(CURRENT)] if CURRENT in text else []
    )
    name = headings[-1].removeprefix(CURRENT).rstrip(" \t") if headings else ""
    return Stage(name) if name in Stage.__members__ else None


def is_question(text: str) -> bool:
    """True if the text holds our question which stage it is."""
    return QUESTION in text


def _is_said(line: str, start: int, end: int, above: str) -> bool:
    """True unless the marker at this place is code, quoted, or only spoken of."""
    if any(span.start() < start and end < span.end() for span in re.finditer(_SPAN, line)):
        return False
    before, after = line[:start], line[end:]
    if _is_quoted(before, after):
        return False
    sentence = re.split(_SENTENCE_END, before)[-1]
    if not before.strip(" \t*_-•>") and above.endswith((":", ",")):
        sentence = re.split(_SENTENCE_END, above)[-1]
    sentence = re.sub(_TOLD, "", re.sub(_READY, "ready, I ", sentence))
    return not re.search(_REPEATS, sentence, re.IGNORECASE) and not re.match(_CONDITION, after)


def _is_quoted(before: str, after: str) -> bool:
    if before.count('"') % 2 and '"' in after:
        return True
    for opening, closing in _QUOTES:
        if before.rfind(opening) > before.rfind(closing) and closing in after:
            return True
    return before.rstrip("* ").endswith("'") and after.lstrip("* ").startswith("'")
