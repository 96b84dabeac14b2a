"""What `init` refuses is said in a sentence."""

from __future__ import annotations

import pytest

from lifecycle.core.errors import Refused
from lifecycle.setup.init.init_mark import MARK, parse


def test_a_sentence_of_several_lines_is_one() -> None:
    """However the file breaks it."""
    with pytest.raises(Refused) as refusal:
        parse(b"{")
    assert refusal.value.sentence == (
        f"{MARK} cannot be read, so nothing was written; delete it and run lifecycle init again, "
        "which recognizes its own entries."
    )
