"""The data tables of this room: runners, and words with their roles."""

from __future__ import annotations

import json
import os
from functools import cache

TYPE_CHECKING = False
"""Type checkers take it for true; importing `typing` for it costs more than the rest."""

if TYPE_CHECKING:
    from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """The table of this name: for instance `words/commands`, the path of its file in this room."""
    room = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 -- no pathlib here
    path = os.path.join(room, f"{name}.json")  # noqa: PTH118 -- as above
    with open(path, encoding="utf-8") as file:  # noqa: PTH123 -- as above
        words: dict[str, Any] = json.load(file)
    return words


@cache
def pattern(name: str, kind: str) -> str:
    """The pattern of this kind in a table of sentences: any of its forms, with their pieces filled in."""
    forms = (form for row in table(name)["patterns"][kind] for form in row["forms"])
    return filled(name, "|".join(forms))


def filled(name: str, form: str) -> str:
    """A form with its named pieces, like `%COUNT%`, filled in; a name that is not in the table stays."""
    for piece, text in table(name)["pieces"].items():
        form = form.replace(f"%{piece}%", text)
    return form
