"""The blocks of text that the design shows: their words are in `design_blocks.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from lifecycle.settings import resources

_BLOCKS: dict[str, str] = resources.texts("run/texts/design_blocks.toml")


def filled(name: str, /, **values: Any) -> list[str]:
    """The lines of a block.

    Args:
        name: of the block.
        values: by the word in braces, what stands there; a list, whose word stands alone in its line, is as
            many lines.
    """
    lines: list[str] = []
    for line in _BLOCKS[name].splitlines():
        alone = re.fullmatch(r"\{(\w+)\}", line)
        value = values[alone[1]] if alone else None
        lines += value if isinstance(value, list) else [line.format_map(values)]
    return lines


def listed(names: Iterable[str], most: int = 5) -> str:
    """The first few of some names, and how many more there are."""
    every = tuple(names)
    more = f" and {len(every) - most} more" if len(every) > most else ""
    return ", ".join(every[:most]) + more


def numbered(texts: list[str] | tuple[str, ...]) -> list[str]:
    """The texts as a list with numbers."""
    return [f"{number}. {text}" for number, text in enumerate(texts, 1)]
