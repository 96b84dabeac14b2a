"""lifecycle.github.client.rest: what is kept of earlier answers, and how much of it."""

from __future__ import annotations

from lifecycle.github.client.rest import MOST_ANSWERS, MOST_CHARACTERS, Etags


def headers(etag: str = '"1"') -> dict[str, str]:
    """Headers with an ETag."""
    return {"etag": etag, "link": "<x>"}


def test_the_last_answer_is_kept_with_its_headers() -> None:
    """What a 304 leaves out, as the next page's address, is in what was kept; it is one token's."""
    etags = Etags()
    etags.put(("mine", "/a"), headers(), "one")
    etags.put(("mine", "/a"), headers('"2"'), "two")
    kept, text = etags["mine", "/a"]
    assert (kept["etag"], text, kept["link"]) == ('"2"', "two", "<x>")
    assert etags.keys() == {("mine", "/a")}


def test_an_answer_that_lost_its_etag_is_forgotten() -> None:
    """An older answer must not come back under a newer one's name."""
    etags = Etags()
    etags.put(("mine", "/a"), headers(), "one")
    etags.put(("mine", "/a"), {}, "two")
    assert not etags


def test_the_least_lately_used_goes_first() -> None:
    """A watcher's own addresses, put anew at each use, stay, however many others are asked once."""
    etags = Etags()
    etags.put(("mine", "/mine"), headers(), "x")
    for number in range(MOST_ANSWERS * 2):
        etags.put(("mine", f"/{number}"), headers(), "x")
        etags.put(("mine", "/mine"), *etags["mine", "/mine"])
    assert len(etags) == MOST_ANSWERS
    assert ("mine", "/0") not in etags
    assert ("mine", f"/{MOST_ANSWERS * 2 - 1}") in etags


def test_what_is_kept_has_a_size() -> None:
    """Not more than so many answers, and none of more than so many characters."""
    etags = Etags()
    etags.put(("mine", "/a"), headers(), "x" * MOST_CHARACTERS)
    etags.put(("mine", "/b"), headers(), "x" * (MOST_CHARACTERS + 1))
    assert [address for _, address in etags] == ["/a"]
