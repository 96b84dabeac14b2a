"""lifecycle.github.client.client_common: what is kept of earlier answers, and how much of it."""

from __future__ import annotations

from lifecycle.github.client.client_common import MOST_ANSWERS, MOST_CHARACTERS, Etags


def headers(etag: str = '"1"') -> dict[str, str]:
    """Headers with an ETag."""
    return {"etag": etag, "link": "<x>"}


def test_the_last_answer_is_kept_with_its_headers() -> None:
    """What a 304 leaves out, as the next page's address, is in what was kept."""
    etags = Etags()
    etags.put("/a", headers(), "one")
    etags.put("/a", headers('"2"'), "two")
    found = etags.get("/a")
    assert found is not None
    assert (found.etag, found.text, found.headers["link"]) == ('"2"', "two", "<x>")
    assert etags.get("/b") is None


def test_an_answer_that_lost_its_etag_is_forgotten() -> None:
    """An older answer must not come back under a newer one's name."""
    etags = Etags()
    etags.put("/a", headers(), "one")
    etags.put("/a", {}, "two")
    assert etags.get("/a") is None


def test_the_least_lately_used_goes_first() -> None:
    """A watcher's own addresses stay, however many others are asked once."""
    etags = Etags()
    etags.put("/mine", headers(), "x")
    for number in range(MOST_ANSWERS * 2):
        etags.put(f"/{number}", headers(), "x")
        assert etags.get("/mine") is not None
    assert etags.get("/0") is None
    assert etags.get(f"/{MOST_ANSWERS * 2 - 1}") is not None


def test_what_is_kept_has_a_size() -> None:
    """Not more than so many characters altogether, and nothing of one that is larger."""
    etags = Etags()
    half = "x" * (MOST_CHARACTERS // 2)
    for name in ("/a", "/b", "/c"):
        etags.put(name, headers(), half)
    assert [etags.get(name) is not None for name in ("/a", "/b", "/c")] == [False, True, True]
    etags.put("/d", headers(), "x" * (MOST_CHARACTERS + 1))
    assert etags.get("/d") is None
    assert etags.get("/c") is not None
