"""The agent's own word for a completed stage, `::: WORKFLOW_STAGE: X :::`, and how our words are known.

A marker counts as a line of its own or at the end of a line of the agent's prose, in any case, spacing or
emphasis. It does not count in code, a quote, a table or a comment (`prose_blocks`), in quotation marks,
after an unchecked box, or in a sentence about a marker: when it is to be emitted, that it is not, its
name, who asks for it. The last one wins.
"""

from __future__ import annotations

import re

from lifecycle.core.stage_names import Detected, Stage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from lifecycle.evidence.words.prose_blocks import Block

CURRENT = "CURRENT STAGE: "
"""The beginning of the line, in every instruction, that names the stage it asks for."""

QUESTION = "Unable to determine current workflow stage."
"""The beginning of the question."""

NEEDLE = "WORKFLOW"
"""A text without this word, in any case, has no marker."""

_NAMES = {str(state): state for state in Detected if state.is_completion}
_ANSWERS = {*_NAMES, str(Detected.IN_PROGRESS)}
_NAME = r"[A-Z]+(?:_[A-Z]+)+"
# Patterns are compiled when the first marker is met: compiling costs more than importing the rest.
_MARKER = r"(?i::{3,}[ *_]*workflow[_ ]stage[ *_]*:[ *_]*([a-z]+(?:_[a-z]+)*)[ *_]*:{3,})"
_MEANT = (
    r"(?i)(?:[:\uff1a]{1,}[ *_]*)?work[ _-]?flow[ _-]*stage[ *_]*[:=\uff1a]+[ *_]*([a-z]+(?:[ _-]+[a-z]+"
    r"){0,4})[ *_]*[:\uff1a]*"
)
"""A failed marker: a wrong name, too few colons, spaces instead of underscores."""

_SENTENCE_END = r"[.!?;][\"')\]*\u201c\u201d\u2019\u00bb]*\s+|[\u2705\u2714\U0001f389]"

_DRESS = " \t*_-+\u2022.!,;:)(]\u2705\u2714\u2713\U0001f389\U0001f680"
"""Characters allowed after a marker at the end of a line: emphasis, punctuation, a cheerful emoji."""

_LABEL = _DRESS + "0123456789>\u2192[=#~\u27a1\U0001f449"
"""Characters allowed before a marker on a line of its own: a list's bullet, an arrow, a check mark."""

SENTENCE = 1_000
"""Characters of a sentence that are read, from its end: nobody writes a longer one."""

LIST = 3
"""This many different markers, one below the other, only list the existing ones."""

_QUOTES = (
    *("\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb", "\u2018\u2019", "\u201a\u2018"),
    *("\u300c\u300d", "\u2039\u203a"),
)
"""Curly and angled quotation marks, each with the one that ends it."""


def find(text: str) -> list[Detected]:
    """The markers that the text really states, in order."""
    return [state for state, _ in said(text)]


def said(text: str) -> list[tuple[Detected, bool]]:
    """The markers that the text really states, each with whether it is a line of its own."""
    if NEEDLE not in text.upper():
        return []
    return [(_NAMES[name], is_own) for name, is_own in _named(text) if name in _NAMES]


def misnamed(text: str) -> str:
    """A line of its own that was meant as a marker but is not a valid one; "" without such a line.

    The wrong name is returned; or the whole line, if the name is right but the form is not a marker's.
    """
    if not re.search(r"(?i)work[ _-]?flow[ _-]*stage", text):
        return ""
    wrong = [name for name, is_own in _named(text) if is_own and name not in list(Detected)]
    for block in _blocks(text):
        for line in block.bare.split("\n"):
            meant = re.fullmatch(_MEANT, line.strip(" *_-\u2022.!"))
            if meant is not None and not re.search(_MARKER, line):
                name = re.sub(r"[ _-]+", "_", meant[1]).upper()
                is_there = name in _NAMES or name not in list(Detected)
                wrong += [line.strip(" *_-\u2022.!") if name in _NAMES else name] * is_there
    return wrong[-1] if wrong else ""


def _named(text: str) -> list[tuple[str, bool]]:
    """The names in markers that the text really states, known names or not."""
    from lifecycle.evidence.words.prose_blocks import plain

    if not re.search(_MARKER, plain(text).replace("\\", "").replace("&nbsp;", " ")):
        return []
    every_block = _blocks(text)
    listed = _listed([line for block in every_block for line in block.bare.split("\n")])
    names: list[tuple[str, bool]] = []
    number, lead = 0, ""
    for place, block in enumerate(every_block):
        bare = block.bare
        # The words before a marker also apply to a marker in the next paragraph.
        lead = lead if re.fullmatch(rf"\W*{_MARKER}\W*", block.lead) else block.lead
        begin = 0
        for line in bare.split("\n"):
            end = begin + len(line)
            for match in re.finditer(_MARKER, bare[begin:end]) if number not in listed else ():
                around = bare[: begin + match.start()], bare[begin + match.end() :]
                siblings = every_block[max(0, place - 8) : place] if block.is_item else ()
                is_to_do = any(o.is_item and _has("to do", o.bare, re.match) for o in siblings)
                if not is_to_do and _is_said(block, lead, *around):
                    later = [around[1], *(other.bare for other in every_block[place + 1 :])]
                    goes_on = not around[1].strip() and "".join(later[1:2])[:1].islower()
                    if not goes_on and not any(_has("taken back", text) for text in later):
                        is_own = not bare[begin : begin + match.start()].strip(_LABEL)
                        names.append((match[1].upper(), is_own))
            begin = end + 1
            number += 1
    return names


def _listed(lines: list[str]) -> set[int]:
    """The numbers of the lines that are a list of markers."""
    result: set[int] = set()
    run: dict[int, set[str]] = {}
    for number, line in enumerate([*lines, "."]):
        names = {name.upper() for name in re.findall(_MARKER, line)}
        if names:
            run[number] = names
        elif line.strip():
            if len(set().union(*run.values())) >= LIST:
                result |= run.keys()
            run = {}
    return result


def _blocks(text: str) -> tuple[Block, ...]:
    from lifecycle.evidence.words.prose_blocks import blocks

    return blocks(text)


def named_alone(text: str) -> str:
    """The one name that is a line of its own, in a marker or bare, as an answer to the question.

    It is the name of a completed stage or IN_PROGRESS; without one, an unknown name that looks like one
    of them (`TESTS_PASSED`). "" if there is none, or several.
    """
    if not re.search(rf"\b{_NAME}\b", text):
        return ""
    lines = (line for block in _blocks(text) for line in block.text.split("\n"))
    answers = (line.strip(" \t*_`-\u2022.:\ue000\ue001") for line in lines)
    bare = {answer for answer in answers if re.fullmatch(_NAME, answer)}
    names = bare | {name for name, is_own in _named(text) if is_own}
    known = names & _ANSWERS
    chosen = known or names - set(Detected)
    return chosen.pop() if len(chosen) == 1 else ""


def asked_in(text: str) -> Stage | None:
    """The stage that an instruction of ours asks for; None if the text is not an instruction."""
    if CURRENT not in text:  # splitting it costs more
        return None
    headings = [line for line in text.split("\n") if line.startswith(CURRENT)]
    name = headings[-1].removeprefix(CURRENT).rstrip(" \t") if headings else ""
    return Stage(name) if name in Stage.__members__ else None


def _is_said(block: Block, lead: str, before: str, after: str) -> bool:
    """True unless the marker between these two parts of its block is quoted or only mentioned."""
    from lifecycle.evidence.words import word_tables

    rest, _, below = re.sub(_MARKER, "", after).partition("\n")
    if block.box == " " or rest.strip(_DRESS) or _is_quoted(before, after):
        return False
    is_continued = below[:1].islower() and _has("behind", below, re.match)
    if is_continued or rest.lstrip(" *_")[:1] == ":":
        return False
    if re.search(r"(?:^|\n)(?:[+<=~-]|(?://|/\*|;).*)$|\]\($", before):
        return False  # a line of a diff, a comment in code, or the target of a link
    sentence = re.split(_SENTENCE_END, re.sub(_MARKER, " ", before).replace("\n", " "))[-1]
    is_alone = not sentence.strip(_LABEL)
    if is_alone and (block.is_item or block.is_headed) and _has("plan", lead):
        return False
    if is_alone and not before.strip(_LABEL):
        is_whole = lead.rstrip(" *_").endswith((".", "!"))
        goes_on = _has("last", lead) and not is_whole
        is_led = block.is_headed or _has("leads", lead) or goes_on
        sentence = re.split(_SENTENCE_END, lead)[-1] if is_led else ""
    sentence = sentence[-SENTENCE:]
    # Words such as "ready" or "as instructed" are not about a marker.
    for pattern, instead in word_tables.table("words/markers")["not spoken"]:
        sentence = re.sub(pattern, instead, sentence)
    words = re.findall(r"\w+", sentence)
    is_label = sentence.rstrip(" *_").endswith(":")
    line = before.rpartition("\n")[2]
    if line.rstrip(_LABEL).endswith("?"):
        return False
    is_dense = re.search("[\u0400-\u9fff\uac00-\ud7af]", sentence) is not None
    is_long = is_dense or len(words) > (3 if is_label else 2)
    if is_long and (is_label or line.strip(_LABEL)) and not _has("joined", sentence):
        return False
    if is_label and 0 < len(words) <= 3 and not _has("label", sentence):
        return False
    return not any(_has(kind, sentence) for kind in ("last", "speaks")) and not _has("box", line)


def _has(kind: str, text: str, how: Callable[..., object] = re.search) -> bool:
    """True if the text matches a pattern of this kind: the ways to talk about a marker."""
    from lifecycle.evidence.words import word_tables

    pattern = word_tables.pattern("words/markers", kind)
    if "%TOOLS%" in pattern:
        from lifecycle.trackers import command_signs

        tools = sorted({words[0] for words, _ in command_signs.SIGNS})
        pattern = pattern.replace("%TOOLS%", "|".join(tools))
    return how(pattern, text, re.IGNORECASE) is not None


def _is_quoted(before: str, after: str) -> bool:
    is_single = before.rstrip("* ").endswith("'") and after.lstrip("* ").startswith("'")
    is_double = before.count('"') % 2 == 1 and '"' in after
    return (is_single or is_double) or any(
        before.rfind(opening) > before.rfind(closing) and closing in after
        for opening, closing in map(tuple, _QUOTES)
    )
