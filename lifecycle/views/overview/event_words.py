"""An entry of the journal in words: what happened, for a person who reads one line. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.core.redact import named, quoted

if TYPE_CHECKING:
    from lifecycle.storage.journal import JournalEntry

_DID = {
    "active": "began",
    "blocked": "is blocked",
    "completed": "was completed",
    "failed": "failed",
    "pending": "was put back",
    "skipped": "was skipped",
}
_GATES = {"green": "is passed", "red": "is not passed"}


def event_words(entry: JournalEntry) -> str:
    """What happened, in one line; of a workflow a sentence with its name."""
    detail = entry.detail
    title = f" ({detail['title']})" if detail.get("title") and not entry.source else ""
    if entry.system == "workflow" and detail.get("number"):
        of = f" of {quoted(str(detail['title']))}" if detail.get("title") else ""
        phase = quoted(str(detail.get("phase") or ""))
        return f"phase {detail['number']}{of}, {phase}, {phase_words(entry)}"
    words = {
        "transition": f"{entry.source or '(begin)'} → {entry.target or '(end)'}{title}",
        "write": f"wrote: {entry.target}",
        "check": f"checked {entry.source}: {detail.get('outcome', '')}",
        "block": f"told to go on: {entry.source} → {entry.target}",
        "refused": f"not accepted: {entry.source}, stays in {entry.target}",
        "let_go": f"let go in {entry.source}",
    }
    return words.get(entry.kind, entry.kind)


def phase_words(entry: JournalEntry) -> str:
    """What became of a workflow's phase, as the end of a sentence about it: `failed: "no network"`."""
    if entry.kind == "check":
        how = _GATES.get(str(entry.detail.get("outcome")), "waits for a person")
        return f"its gate {named(entry.source)} {how}"
    before, after = (text.rpartition(" ")[2] for text in (entry.source, entry.target))
    is_again = after == "active" and before not in ("pending", "")
    did = "was taken up again" if is_again else _DID.get(after, after)
    by = f" by {named(entry.actor)}" if entry.actor else ""
    reason = entry.detail.get("reason")
    return f"{did}{by}{f': {quoted(str(reason))}' if reason else ''}"
