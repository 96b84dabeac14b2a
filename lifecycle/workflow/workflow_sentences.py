"""What workflows refuse and remark on: the sentences of `refusals.toml`, filled in."""

from __future__ import annotations

from typing import Any, Final

from lifecycle.core.errors import Refused
from lifecycle.settings.resources import Sentences

sentence: Final = Sentences("workflow/refusals.toml")


def refused(name: str, /, **values: Any) -> Refused:
    """The refusal with that sentence, to be raised."""
    return Refused(sentence(name, **values))
