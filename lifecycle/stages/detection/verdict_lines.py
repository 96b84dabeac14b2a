"""A review's verdict in its form: one line `VERDICT: APPROVED` or `VERDICT: CHANGES_REQUESTED`.

The last such line counts, of what a review returned or of the agent's own prose. Approved with anything
behind it asks for changes; a line that only says which forms there are, or how to end, is none.
"""

from __future__ import annotations

import re

NEEDLE = "verdict"
"""No such line is in a text without this, whatever its case."""

APPROVED, CHANGES = "approved", "changes"

FORM = "VERDICT: APPROVED` or `VERDICT: CHANGES_REQUESTED"
"""Both, as an instruction names them between its backticks."""

_LINE = (
    r"(?i)\W*(?:(?:final|overall|review|oracle|my)\s+)*verdict\W+(approved|changes[\s_-]*requested)\b"
    r"(.*)"
)
_HARMLESS = r"(?i)\W*(?:\(?(?:with|and)?\s*(?:no|0|zero|without)\s+(?:\w+\s+){0,2}\w+\)?)?\W*"
_ELSEWHERE = (
    r"(?i)\b(?:earlier|previous\w*|last|first|old|example|must|should|will|would|form\w*|ends? with"
    r"|end your|expect\w*|when|if|once|until|after|template|either|asks?|wants?|says?|said|options?"
    r"|waiting|await\w*|next)\b"
)
"""Before a line, if it announces it: it is no verdict, or not this one."""


def read(text: str) -> str:
    """APPROVED, CHANGES, or "" where the text has no such line."""
    if not re.search(r"(?im)^.{0,40}verdict\W+(?:approved|changes)", text):
        return ""
    from lifecycle.stages.detection.prose_blocks import CODE, END, blocks

    result = ""
    for block in blocks(text):
        above = block.lead if block.lead.rstrip(" *_").endswith(":") or block.is_item else ""
        for line in block.text.split("\n"):
            match = re.fullmatch(_LINE, line.replace(CODE, "").replace(END, ""))
            if match and block.box != " " and not re.search(_ELSEWHERE, above):
                word, behind = match[1].lower(), match[2]
                if re.match(r"\W*(?:\||/|or\b)", behind):
                    continue  # which verdicts there are
                is_whole = word == APPROVED and re.fullmatch(_HARMLESS, behind)
                result = APPROVED if is_whole else CHANGES
            above = line if line.rstrip(" *_").endswith(":") else ""
    return result
