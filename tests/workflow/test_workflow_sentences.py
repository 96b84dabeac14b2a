"""Every refusal and remark of a workflow is a sentence of one file, and what it fills in is there."""

from __future__ import annotations

from lifecycle.core.errors import Refused
from lifecycle.settings import resources
from lifecycle.workflow.workflow_sentences import refused
from tests.sentences import lacking

SENTENCES: dict[str, str] = resources.texts("workflow/refusals.toml")


def test_each_sentence_is_said_somewhere_with_all_that_it_needs() -> None:
    """None is left over, and none is short of a word: that would be a defect for its reader."""
    assert len(SENTENCES) > 30
    assert lacking(SENTENCES, ("workflow", "cli/workflow")) == {}


def test_a_refusal_is_one_line() -> None:
    """However the file breaks it; and a person's braces are no words of ours."""
    error = refused("no-gate", gate='"{gate}"')
    assert isinstance(error, Refused)
    assert error.sentence.startswith(
        '"{gate}" is no gate, so nothing was done. A gate is check:NAME'
    )
    assert "\n" not in error.sentence
