"""Title and body of the pull request."""

from __future__ import annotations

from lifecycle.claim.decisions.pull.opening import body, title


def test_the_default_body_has_the_designs_parts() -> None:
    """Summary, link, five unchecked boxes of the checklist, and a test plan."""
    text = body("", summary="Fix it", issue=42, link="Refs")
    assert text.startswith("## Summary\n\nFix it\n\nRefs #42\n")
    checklist, _, plan = text.partition("## Test plan")
    assert checklist.count("- [ ]") == 5
    assert "- [ ]" in plan
    assert "[x]" not in text.lower()


def test_the_projects_template_may_say_where_things_go() -> None:
    """Marks are filled in; what has no mark is put in front; ticked boxes are unticked."""
    template = "Why: {{summary}}\n\n* [X] ticked\n"
    text = body(template, summary="Fix it", issue=42, link="Closes")
    assert text == "Closes #42\n\nWhy: Fix it\n\n* [ ] ticked\n"


def test_a_mark_in_the_summary_is_a_word_of_it() -> None:
    """Only the template's own marks are filled in."""
    text = body("", summary="Fill in {{issue}} and {{summary}}", issue=42, link="Refs")
    assert text.startswith("## Summary\n\nFill in {{issue}} and {{summary}}\n\nRefs #42\n")


def test_a_template_of_empty_lines_is_read_once() -> None:
    """A repository's template of a megabyte of line breaks holds nothing up: else this ends by its time."""
    assert "Fix it" in body("\n" * 1_000_000, summary="Fix it", issue=42, link="Refs")


def test_the_title_is_one_line() -> None:
    """Line breaks become spaces; GitHub's limit is kept."""
    assert title("Fix\n  it ") == "Fix it"
    assert len(title("x" * 500)) == 256
