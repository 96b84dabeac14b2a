"""What the board's field Dependencies names: the issues that a task waits for. Pure."""

from __future__ import annotations

import re

_NUMBER = re.compile(r"(?<![\w./#-])#?(\d+)\b")


def numbers(text: str | None) -> list[int]:
    """The issue numbers that a Dependencies field names: `#12, #13` or `12 13`.

    Issues of other repositories (`owner/name#12`, URLs) are not ours to judge.
    """
    return sorted({int(number) for number in _NUMBER.findall(text or "")})
