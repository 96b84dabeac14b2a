"""Takes secrets out of text on its way out of the process: output, log, state."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

_PATTERNS = (
    re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,})"),
    re.compile(r"(?<=://)[^/@\s:]+:[^/@\s]+(?=@)"),
    re.compile(r"(?i)(?<=authorization: )(?:basic|bearer|token) \S+"),
)
_NAMES = re.compile(r"(?i)(token|secret|password|passwd|api_?key)")
_SHORTEST = 8


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with tokens, passwords in URLs and secret environment values replaced by `***`."""
    variables = os.environ if environment is None else environment
    for name, value in variables.items():
        if len(value) >= _SHORTEST and _NAMES.search(name) and value in text:
            text = text.replace(value, "***")
    for pattern in _PATTERNS:
        text = pattern.sub("***", text)
    return text
