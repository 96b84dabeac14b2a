"""What a text claims in words: closed, approved, tested, satisfied, coded, cleared; and a review's verdict.

A verdict has a form: one line `VERDICT: APPROVED` or `VERDICT: CHANGES_REQUESTED`. The last such line
counts. Approved with further words after it asks for changes; a line that only lists the forms, or says
how to end, is not a verdict.

Words are the last resort. A claim counts if a whole sentence, or a part of one whose other parts are
harmless, has a form of the table (`sentences.json`), from its first word to its last: the agent's own,
about now, without a condition. And it counts only if no other sentence of the text takes it back: none may
have a word for what is open, doubted, left out or another's; in a sentence about what the code does, such
words count only if they say that it does it badly. Past events before the claim do not take it back.
A share, an exception, code that does nothing, an entry that is not done, another's word and another time
("spoils", "undone") take a claim back anywhere in the text; a denial or a turn ("denials") does so in any
other sentence about the work. A text that no form fits says nothing, and the question is asked.

The Markdown of a text shows which of its lines are the agent's own (`prose_blocks.py`).
"""

from __future__ import annotations

import re
from functools import cache, lru_cache, partial

from lifecycle.evidence.words import word_tables
from lifecycle.trackers import command_signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, TypeAlias

    Prose: TypeAlias = tuple[list[str], list[str], bool]
    """The agent's own words in a text: lines with content, except announced ones and those in code; all
    lines of prose; whether there is an unchecked box."""

LINE = 4_000
"""Characters of the longest line that is read; next to a longer one no claim counts."""

LENGTH = 20_000
"""Characters of a text in which words are looked for, from its end."""

TABLE = "words/sentences"
ITEM = "- "
"""The beginning of the line of a list entry or of a heading."""

LONGEST = 600
"""Characters of the longest sentence that is read: next to a longer one no claim counts.

Some patterns need time that grows with the square of a sentence's length; this bounds it.
"""

END = "%END%"
"""The pattern for words after a claim."""

APPROVED, CHANGES, CODED, SATISFIED, TESTED = "approved", "changes", "coded", "satisfied", "tested"


def said(text: str, about: tuple[str, ...] = (), wanted: str = "") -> tuple[list[str], list[str]]:
    """The claims of a text, the furthest first, and the open matters in it: failing tests, asked changes.

    Args:
        text: the agent's text. Words that are in none of its lines are not looked for in its prose.
        about: further words for the subject of the turn: for instance that a review was asked for, so that
            "approved" needs no other subject.
        wanted: the only claim to look for; "" for all. A claim's patterns cost more than all else.
    """
    lines = [line[:LINE] for line in text[-LENGTH:].splitlines()]
    claims = _borne_out(_prose(text), about, wanted) if _claimed(lines, wanted) else []
    if APPROVED in claims and may_have_verdict(text):
        claims.remove(APPROVED)  # a verdict is read by its form alone
    still, all_words = [], " ".join([*lines, *about])
    for name, row in word_tables.table(TABLE)["open"].items():
        says = partial(_says, "|".join(_listed(row)))
        is_there = any(map(says, _worth(row, lines))) and _has(row["about"], all_words)
        still += [name] * (is_there and any(map(says, _worth(row, _prose(text)[1]))))
    return claims, still


def takes_back(text: str) -> bool:
    """True if the text has a sentence that takes any claim back."""
    return are_doubts(_prose(text)[1])


def are_doubts(lines: list[str], *, is_strict: bool = False) -> bool:
    """True if a line takes any claim back; `is_strict`: or is not a full approval, which is more."""
    sentences = [(line, sentence) for line in lines for sentence in _bare(line)]
    claimed = (at for at, (_, part) in enumerate(sentences) if _claimed([part], ""))
    last = -1 if is_strict else max(claimed, default=-1)
    return any(_has(_of("signs"), line) or _spoils(line) for line in lines) or not all(
        _is_beside(sentence, is_label=line.startswith(ITEM), is_strict=last < 0)
        or (place < last and _is_over(sentence))
        for place, (line, sentence) in enumerate(sentences)
    )


def approves(text: str) -> bool:
    """True if a review's own words approve, and no condition is near them."""
    if may_have_verdict(text) or not _claimed(text[-LENGTH:].splitlines(), APPROVED):
        return False  # a line in the form of a verdict does not count here
    return bool(_borne_out(_prose(text), ("review",), APPROVED))


def _borne_out(prose: Prose, about: tuple[str, ...], wanted: str) -> list[str]:
    """The claims in the agent's own prose that nothing in it takes back."""
    own, prose_lines, is_open = prose
    on = " ".join([*prose_lines, *about])
    claimed = [] if is_open else _claimed(own, wanted)
    is_weak = any(_has(_of("weakens"), line) for line in prose_lines)
    claimed = [claim for claim in claimed if not (is_weak and claim == TESTED)]
    claims = [claim for claim in claimed if _has(_forms(claim)[-1], on)]
    return [] if claims and are_doubts(prose_lines, is_strict=claims == [APPROVED]) else claims


@cache
def _forms(claim: str) -> tuple[str, ...]:
    """All forms of a claim as one pattern, and the words that the whole text must contain.

    The common end of most forms is in it once: to compile it with each would cost more than all else here.
    """
    row = word_tables.table(TABLE)["claims"][claim]
    patterns = [form for form in _listed(row) if not form.endswith(END)]
    ended = "|".join(form.removesuffix(END) for form in _listed(row) if form.endswith(END))
    patterns += [f"(?:{ended}){END}"] if ended else []
    unfilled = (f"(?:{'|'.join(patterns)})", row["about"])
    forms = [word_tables.filled(TABLE, form) for form in unfilled]
    for verb in (command_signs.CLOSE, command_signs.SHOW):
        names = "|".join(map(re.escape, command_signs.names(verb)))
        forms = [form.replace(f"%{verb.upper()}%", names) for form in forms]
    return tuple(forms)


def _listed(row: dict[str, Any]) -> list[str]:
    return [form for group in row["forms"] for form in group["forms"]]


_of = partial(word_tables.pattern, TABLE)


def _worth(row: dict[str, Any], texts: Iterable[str]) -> Iterator[str]:
    """The texts that contain a word of a row: a pattern costs much more than a search for words."""
    words = row["has"].split()
    return (text for text in texts if any(map(text.lower().__contains__, words)))


def _claimed(lines: list[str], wanted: str) -> list[str]:
    """The claims in the lines, the furthest first."""
    sentences = [part for line in lines for part in _sentences(line)]
    all_rows = word_tables.table(TABLE)["claims"]
    rows = {wanted: all_rows[wanted]} if wanted else all_rows
    worth = {name: _worth(row, sentences) for name, row in rows.items()}
    return [name for name, texts in worth.items() if any(map(partial(_claims, name), texts))]


@lru_cache(1_000)
def _claims(claim: str, sentence: str) -> bool:
    """True if the sentence, or a part of it whose other parts are harmless, has a form of the claim."""
    if len(sentence) > LONGEST or sentence.endswith("?") or _has(_of("hangs on"), sentence):
        return False
    plain = re.sub(r" \([^()]*\)", partial(_kept, claim), sentence).rstrip(" .!:;)")
    if _fits(claim, plain):
        return True
    head, _, rest = plain.partition(": ")
    if claim in (CODED, SATISFIED) and _fits(claim, head):
        return " " in rest and _is_safe(rest, is_label=True) and not _denies(rest)
    if rest and claim == APPROVED and re.fullmatch(_of("reviewed"), head):
        return _claims(claim, rest)
    parts = [p for part in re.split(_of("parts"), plain) if (p := part.strip(" ().!,"))]
    firsts = [place for place, part in enumerate(parts) if _fits(claim, part)]
    is_safe = partial(_is_safe, is_label=True, is_strict=claim in (APPROVED, TESTED))
    return bool(firsts) and all(
        any(_fits(name, part) for name in word_tables.table(TABLE)["claims"])
        or (re.fullmatch(_of("aside"), part) and is_safe(part) and not _denies(part))
        or (place > firsts[0] and _has(_of("known"), part) and is_safe(part) and not _denies(part))
        for place, part in enumerate(parts)
    )


def _kept(claim: str, aside: re.Match[str]) -> str:
    """The rest of a remark in parentheses: nothing, if it takes nothing back."""
    return aside[0] if claim == APPROVED or not _is_safe(aside[0], is_strict=True) else ""


def _fits(claim: str, part: str) -> bool:
    return re.fullmatch(_of("lead-in") + _forms(claim)[0], part) is not None


def _is_over(sentence: str) -> bool:
    """True for a sentence about the past, which does not affect a claim after it."""
    plain = re.sub(_of("harmless"), " ", sentence)
    return _has(_of("over"), plain) and not _has(_of("lasts"), plain)


def _is_safe(text: str, *, is_label: bool = False, is_strict: bool = False) -> bool:
    """True if nothing in the text takes a claim back.

    A sentence about the code does so only if it calls the code unfinished or bad; about the work any doubt.
    """
    plain, kind = re.sub(_of("harmless"), " ", text), "unsafe"
    if not is_strict and (is_label or not _has(_of("of the work"), plain)):
        plain, kind = re.sub(_of("under"), " thus ", plain), "wrong"
    elif not is_strict and _has(_of("deeds"), text):
        plain = re.sub(_of("of deeds"), " ", plain)
    is_marked = any(map(partial(_has, _of(kind)), [plain, *re.split(_of("clauses"), plain)]))
    is_none = _has(_of("no statement"), text) or (is_strict and _has(_of("orders"), plain))
    return not (is_marked or is_none)


def _is_beside(sentence: str, *, is_label: bool, is_strict: bool) -> bool:
    """True if a claim can count next to this sentence.

    It can if the sentence has no word that takes a claim back, and is whole, or has only words without
    content. An entry of a list, and an announcement, needs no verb.
    """
    if _claimed([sentence], ""):
        return True
    plain, kinds = re.sub(_of("harmless"), " ok ", sentence), ("known", "heading")
    is_known = is_label or is_strict or sentence.endswith(":")
    is_known = is_known or any(_has(_of(kind), plain) for kind in kinds)
    return is_known and _is_safe(sentence, is_label=is_label, is_strict=is_strict)


def _denies(part: str) -> bool:
    return _has(_of("denials"), re.sub(_of("harmless"), " ", part))


def _spoils(line: str) -> bool:
    """True if the line says in any way that not all is done: no claim counts next to that."""
    entries = (f"{ITEM}{entry.removeprefix(ITEM).strip()}" for entry in line.split("\n"))
    return any(_has(_of("undone"), entry) for entry in entries) or any(
        len(part) > LONGEST
        or _has(_of("spoils"), re.sub(_of("harmless"), " ", part))
        or (_has(_of("of the work"), part) and _denies(part) and not _claimed([part], ""))
        for part in _bare(line)
    )


def _says(pattern: str, line: str) -> bool:
    plain = re.sub(_of("harmless"), " ", line.lower())
    return any(_has(pattern, part) for part in _sentences(plain) if not part.endswith("?"))


def _has(pattern: str, text: str, how: Callable[..., object] = re.search) -> bool:
    return how(pattern, text, re.IGNORECASE) is not None


def _bare(line: str) -> tuple[str, ...]:
    """The sentences of a line without its inline code, except code that says that nothing is done there."""
    return _sentences(re.sub(_of("names"), "code", re.sub(_of("empty code"), "todo", line)))


@lru_cache(1_000)
def _sentences(line: str) -> tuple[str, ...]:
    """The sentences of a line in lower case, without markup."""
    plain = re.sub(_of("markup"), "", line).replace("\u2019", "'").lower()
    return tuple(" ".join(part.split()) for part in re.split(_of("ends"), plain) if part.strip())


def may_have_verdict(text: str) -> bool:
    """True if a line of the text may be a verdict, so that its prose is worth parsing."""
    return "verdict" in text.lower() and _has(_of("may be a verdict"), text)


def verdict(text: str) -> str:
    """The verdict in a text's last line of that form: "approved", "changes"; "" if there is none."""
    if not may_have_verdict(text):
        return ""
    from lifecycle.evidence.words import prose_blocks

    result, every_block = "", prose_blocks.blocks(text)
    for block, later in zip(every_block, (*every_block, None)[1:], strict=True):
        if block.box == " " or (later and _has(_of("goes on"), later.text, re.match)):
            continue  # an unticked box; or a sentence continues after it
        above = block.lead if _announces(block.lead) or block.is_item else ""
        for line in block.text.split("\n"):
            bare = line.replace(prose_blocks.CODE, "").replace(prose_blocks.END, "")
            result = _verdict(bare, above) or result
            above = "" if re.search(r"[.!?;)\]*_]\s*$", line) else line
    return result


def _verdict(line: str, above: str) -> str:
    """The verdict in a line; "" if it is not a verdict, or only announced by the line above it."""
    match = re.fullmatch(_of("verdict"), line, re.IGNORECASE)
    if match is None or re.match(r"\W*(?:\||/|or\b)", match[2]):
        return ""  # or it lists the possible verdicts
    is_approval = match[1].lower() == APPROVED
    if is_approval and _has(_of("before a verdict"), above):
        return ""
    is_whole = re.fullmatch(_of("behind a verdict"), match[2], re.IGNORECASE)
    return APPROVED if is_approval and is_whole else CHANGES


def _prose(text: str) -> Prose:
    """The agent's own lines with content, all of its prose, and whether a box is unchecked."""
    from lifecycle.evidence.words.prose_blocks import blocks

    text = re.sub(rf"(?m)^.{{{LINE},}}$", "todo", text)
    own: list[str] = []
    cells = re.findall(r"[^|\n]+(?=\|)", "\n".join(re.findall(r"(?m)^ *\|.*", text)))
    all_lines = [f"{ITEM}{cell.strip()}" for cell in cells]
    fences = "\n".join(re.findall(r"(?ms)^ {0,3}(?:```|~~~).*?^ {0,3}(?:```|~~~)", text))
    all_lines += [f"{ITEM}todo"] if _has(_of("empty fence"), fences) else []
    every_block = blocks(text)
    for block in every_block:
        # A line that continues in the next is joined with it.
        words = block.text if len(block.text) < LINE else "todo"
        parts = re.split(r"(?<=[.!?:;])\n|\n(?=\W*[A-Z\u2705/])", words)
        sign = ITEM if block.is_item or block.is_heading else ""
        lines = [f"{sign}{line}" for line in parts if line.strip()]
        all_lines += lines
        is_led = _announces(block.lead, ",") or (block.is_item and block.lead)
        is_alone = block.is_item and not (block.lead or block.box)  # nothing announces the list
        is_headed = block.is_headed or _has(_of("led"), block.lead)
        is_due = not is_headed or _has(_of("unled"), block.lead)
        is_strange = is_alone or (is_led and is_due)
        is_code = re.fullmatch("\ue000[^\ue001]* [^\ue001]*\ue001[.!]?", words)
        if not is_strange and not is_code:
            own += lines
    return own, all_lines, any(block.box == " " for block in every_block)


def _announces(lead: str, *more: str) -> bool:
    return lead.rstrip(" *_").endswith((":", *more))
