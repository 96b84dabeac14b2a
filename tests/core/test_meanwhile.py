"""lifecycle.core.timing: what is needed behind an answer is imported while it is waited for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lifecycle.core.timing import import_meanwhile, use_wait

Make = Callable[..., None]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Writes a module that can be imported; it is gone after the test."""
    monkeypatch.syspath_prepend(tmp_path)
    made: list[str] = []

    def write(name: str, text: str = "") -> None:
        (tmp_path / f"{name}.py").write_text(text)
        made.append(name)

    yield write
    use_wait()
    for name in made:
        sys.modules.pop(name, None)


def test_modules_are_imported_with_the_wait_and_not_before(make: Make) -> None:
    """In the order in which they were named, and once: the next wait has nothing to import."""
    make("meanwhile_first")
    make("meanwhile_second", "import sys\nassert 'meanwhile_first' in sys.modules")
    import_meanwhile("meanwhile_first", "meanwhile_second")
    assert "meanwhile_first" not in sys.modules
    use_wait()
    assert {"meanwhile_first", "meanwhile_second"} <= sys.modules.keys()
    del sys.modules["meanwhile_first"]
    use_wait()
    assert "meanwhile_first" not in sys.modules


def test_what_cannot_be_imported_costs_no_answer(make: Make) -> None:
    """The next one is imported all the same; whoever needs the first meets its error."""
    make("meanwhile_broken", "import no_such_module")
    make("meanwhile_wrong", "1 / 0")
    make("meanwhile_after")
    import_meanwhile("meanwhile_broken", "meanwhile_wrong", "meanwhile_after")
    use_wait()
    assert "meanwhile_after" in sys.modules
    with pytest.raises(ImportError, match="no_such_module"):
        __import__("meanwhile_broken")
