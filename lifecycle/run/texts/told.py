"""The texts of a run: texts that somebody gives it, its refusals, and the blocks of the design.

The sentences and lines are in `refusals.toml` and `design_blocks.toml`; longer texts, which a hook never
says, are templates in `templates/`. A given text is kept in one line, without secrets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from lifecycle.core.errors import Refused
from lifecycle.core.redact import quoted, redact, visible
from lifecycle.settings import resources

_BLOCKS: dict[str, str] = resources.texts("run/texts/design_blocks.toml")

Answer = tuple[list[str], dict[str, Any]]
"""What a command answers: its lines, and the same as data for `--json`."""

LINE = 2_000
"""Characters of a title, a criterion, a question, an answer."""

LONG = 20_000
"""Characters of a goal, or of a design."""


sentence: Final = resources.Sentences("run/texts/refusals.toml")


def refused(name: str, /, **values: Any) -> Refused:
    """The refusal with that sentence, to be raised."""
    return Refused(sentence(name, **values))


def there(names: Sequence[object], none: str, most: int = 20) -> str:
    """The existing names, as "there are S1, S2", the newest of many; `none` if there are no names."""
    shown = ", ".join(map(str, (["…"] if len(names) > most else []) + [*names[-most:]]))
    return f"there {'is' if len(names) == 1 else 'are'} {shown}" if names else none


def kept_words(text: str, longest: int = LINE) -> str:
    """A text as it is kept: one line, without secrets, cut if it is too long."""
    return visible(redact(" ".join(text.split())))[:longest]


def line_of(text: str, what: str, longest: int = LINE) -> str:
    """The text in one line, as it is kept.

    Args:
        text: as it was given.
        what: what it is, with its article, for the refusal: "a story's title".
        longest: how many characters it may have.

    Raises:
        Refused: it is empty, or too long.
    """
    words = " ".join(text.split())
    if not words:
        raise refused("empty-text", what=what)
    if len(words) > longest:
        raise refused("long-text", length=len(words), what=what, longest=longest)
    return visible(redact(words))


def filled(name: str, /, **values: Any) -> list[str]:
    """The lines of a block of `design_blocks.toml`, filled in.

    Args:
        name: the block's name.
        values: the values of the words in braces; a list, whose word is alone in its line, gives one line
            for each entry.
    """
    lines: list[str] = []
    for line in _BLOCKS[name].splitlines():
        alone = re.fullmatch(r"\{(\w+)\}", line)
        value = values[alone[1]] if alone else None
        lines += value if isinstance(value, list) else [line.format_map(values)]
    return lines


def drawn(name: str, /, **values: Any) -> list[str]:
    """The lines of a text whose parts depend on what there is: a template in `templates/`, filled in."""
    page = resources.templates("run/texts/templates", bare=bare).get_template(f"{name}.md")
    text = page.render(values).rstrip("\n")
    return text.split("\n") if text else []


def bare(text: str, longest: int) -> str:
    """Anybody's text on one line, as data, without quotation marks."""
    return quoted(text, longest)[1:-1]
