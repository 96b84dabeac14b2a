"""The agent's own word for a completed stage, `::: WORKFLOW_STAGE: X :::`, and how our words are known.

A marker counts where the agent says it, in any case, spacing or emphasis. It does not count in a code
fence (also one that is never closed), in a block quote, in inline code, in quotation marks, or where
the sentence only repeats when to emit it. The last one wins.

Source: what fences, quotes and code spans are, https://spec.commonmark.org/0.31.2/.
"""

from __future__ import annotations

import re

from lifecycle.stage_names import Detected, Stage

CURRENT = "CURRENT STAGE: "
"""Every instruction has a line that begins so and names the stage that it asks for."""

QUESTION = "Unable to determine current workflow stage."
"""How the question begins."""

NEEDLE = "WORKFLOW"
"""No marker is in a text without this, whatever its case."""

_NAMES = {str(state): state for state in Detected if state.is_completion}
_MARKER = re.compile(
    r":{3,}[ \t*_]*workflow\\?[_ ]stage[ \t*_]*:[ \t*_]*([a-z]+(?:\\?_[a-z]+)*)[ \t*_]*:{3,}",
    re.IGNORECASE,
)
_CURRENT = re.compile(rf"^{CURRENT}([A-Z_]+)[ \t]*$", re.MULTILINE)
_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})(.*)")
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_SENTENCE_END = re.compile(r"[.!?][\"')\]*]*\s+")

_REPEATS = (
    r"\b(?:when|once|if|after|until|as soon as|before)\b.*\bemit"
    r"|\bemit\w*\b.*\b(?:when|once|after|until|as soon as|later|eventually)\b"
    r"|\b(?:then|next|please|must|should|to|not|never|cannot|can't|won't|don't|didn't|yet)\s+"
    r"(?:\w+\s+){0,2}?(?:emit|respond|answer)"
    r"|\b(?:not|never|cannot|can't|won't|haven't|isn't|aren't)\s+(?:\w+\s+){0,3}?"
    r"(?:emit|say|send|write|output|claim|mark|ready|reach|done|there)"
)
"""Made a pattern when the first marker is met: that costs more than importing the rest."""

_CONDITION = re.compile(
    r"\W*(?:when|once|after|if|until|as soon as|only|later|will|would|can|comes|follows"
    r"|is (?:not|for|what|the))\b"
)

_QUOTES = (("\u201c", "\u201d"), ("\u201e", "\u201c"), ("\u00ab", "\u00bb"), ("\u2018", "\u2019"))
"""Curly and angled quotation marks, each with the one that ends it."""


def find(text: str) -> list[Detected]:
    """The markers that the text really says, in its order."""
    if NEEDLE not in text.upper():
        return []
    found: list[Detected] = []
    above = ""
    for line in prose(text):
        for match in _MARKER.finditer(line):
            name = match[1].replace("\\", "").upper()
            if name in _NAMES and _is_said(line, match.start(), match.end(), above):
                found.append(_NAMES[name])
        above = line.strip() or above
    return found


def prose(text: str) -> list[str]:
    """The lines that are neither in a code fence nor in a block quote."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark:
            fence = mark[1]
        elif not line.lstrip().startswith(">"):
            lines.append(line)
    return lines


def named_alone(text: str) -> Detected | None:
    """The one completed stage whose name is a line of its own, as an answer to the question."""
    bare = {line.strip(" \t*_`-•.:") for line in prose(text)}
    names = [_NAMES[line] for line in sorted(bare) if line in _NAMES]
    return names[0] if len(names) == 1 else None


def asked_in(text: str) -> Stage | None:
    """The stage that an instruction of ours asks for; None if the text is none."""
    found = _CURRENT.findall(text)
    return Stage(found[-1]) if found and found[-1] in Stage.__members__ else None


def is_question(text: str) -> bool:
    """True if the text holds our question which stage it is."""
    return QUESTION in text


def _is_said(line: str, start: int, end: int, above: str) -> bool:
    """True unless the marker at this place is code, quoted, or only spoken of."""
    if any(span.start() < start and end < span.end() for span in _SPAN.finditer(line)):
        return False
    before, after = line[:start], line[end:]
    if _is_quoted(before, after):
        return False
    sentence = _SENTENCE_END.split(before)[-1]
    if not before.strip(" \t*_-•>") and above.endswith((":", ",")):
        sentence = _SENTENCE_END.split(above)[-1]
    return not re.search(_REPEATS, sentence, re.IGNORECASE) and not _CONDITION.match(after)


def _is_quoted(before: str, after: str) -> bool:
    if before.count('"') % 2 and '"' in after:
        return True
    for opening, closing in _QUOTES:
        if before.rfind(opening) > before.rfind(closing) and closing in after:
            return True
    return before.rstrip("* ").endswith("'") and after.lstrip("* ").startswith("'")
