"""Title and body of the pull request."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.claim.pr_body import TEMPLATES, body, title


def test_the_default_body_has_the_designs_parts(tmp_path: Path) -> None:
    """Summary, link, five unchecked boxes of the checklist, and a test plan."""
    text = body(tmp_path, summary="Fix it", issue=42, link="Refs")
    assert text.startswith("## Summary\n\nFix it\n\nRefs #42\n")
    checklist, _, plan = text.partition("## Test plan")
    assert checklist.count("- [ ]") == 5
    assert "- [ ]" in plan
    assert "[x]" not in text.lower()


@pytest.mark.parametrize("name", TEMPLATES)
def test_the_projects_template_may_say_where_things_go(tmp_path: Path, name: str) -> None:
    """Marks are filled in; what has no mark is put in front; ticked boxes are unticked."""
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("Why: {{summary}}\n\n* [X] ticked\n")
    text = body(tmp_path, summary="Fix it", issue=42, link="Closes")
    assert text == "Closes #42\n\nWhy: Fix it\n\n* [ ] ticked\n"


def test_the_title_is_one_line(tmp_path: Path) -> None:
    """Line breaks become spaces; GitHub's limit is kept."""
    assert title("Fix\n  it ") == "Fix it"
    assert len(title("x" * 500)) == 256
