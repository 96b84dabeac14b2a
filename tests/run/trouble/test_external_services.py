"""Services outside: whole words tell of them, and each has its stand-in."""

from __future__ import annotations

import pytest

from lifecycle.run.state import Criterion, Run, Story
from lifecycle.run.stories.story_edits import (
    SERVICES,
    scanned,
    services_in,
)
from lifecycle.run.texts.told import drawn
from tests.batches import each_row

NOW = 1_800_000_000.0

DESIGNED = """
stripe payment, paypal payment, braintree payment, payment payment, checkout payment, email email,
smtp email, sendgrid email, mailgun email, sms sms, twilio sms, nexmo sms, vonage sms,
push notification sms, oauth oauth, sso oauth, google auth oauth, azure ad oauth, facebook login oauth,
s3 storage, azure blob storage, gcs storage, cloudinary storage, file upload storage,
openai ai_ml, gpt-4 ai_ml, anthropic ai_ml, rds database_cloud, cosmosdb database_cloud,
atlas database_cloud, rabbitmq messaging, kafka messaging, azure service bus messaging,
api key external_api, third-party external_api, integration external_api
"""
"""Each keyword of the design's two tables, and the type that it tells of."""


def dependency_lines(story: Story, *, as_table: bool = False) -> list[str]:
    """What the command prints of a story's services."""
    return drawn("dependencies", story=story, as_table=as_table)


PAIRS = [tuple(pair.strip().rsplit(" ", 1)) for pair in DESIGNED.split(",")]


def test_both_of_the_designs_tables_are_one() -> None:
    """No keyword is missing; each stands once."""
    words = [word for row in SERVICES for word in row.named]
    assert {word for word, _ in PAIRS} <= set(words)
    assert len(words) == len(set(words))


@each_row(("word", "type_"), PAIRS)
def test_a_keyword_tells_of_its_type(word: str, type_: str) -> None:
    """In any case, in a sentence, in the plural."""
    for text in (f"It uses {word.upper()}, and more", f"{word}s are used"):
        assert [(one.type, one.keyword) for one in services_in(text)] == [(type_, word)]


@pytest.mark.parametrize(
    "text",
    ["", "records are kept", "words", "transmission", "assort", "repayments", "a smart checkouter"],
)
def test_a_part_of_a_word_tells_nothing(text: str) -> None:
    """The word rds is in records."""
    assert services_in(text) == ()


def test_general_words_count_where_nothing_special_is_named() -> None:
    """A payment's integration is no second service."""
    assert [one.type for one in services_in("Payment integration with Stripe")] == ["payment"]
    assert [one.type for one in services_in("integration with the ERP")] == ["external_api"]


def test_the_design_prints_two() -> None:
    """Title, criteria and design are read; each line is as the design has it."""
    story = Story("S1", "Pay with Stripe", criteria=(Criterion("records are kept"),))
    story = Story("S1", story.title, criteria=story.criteria, design="mail goes through SendGrid")
    run = scanned(Run("a", "b", NOW, stories=(story,)), "s1")
    assert dependency_lines(run.story("S1")) == [
        "Detected 2 external dependencies:",
        "[payment] payment_processing",
        "  Keyword: stripe",
        "  Mock: Use test/sandbox API keys or mock payment service",
        "  Requires secrets: True",
        "",
        "[email] email_service",
        "  Keyword: sendgrid",
        "  Mock: Use local mailhog/papercut or mock email sender",
        "  Requires secrets: True",
    ]
    table = dependency_lines(run.story("S1"), as_table=True)
    assert table[0] == "## External Dependencies Detected for Story S1"
    assert "| payment | payment_processing | yes |" in table
    assert "- **email:** Use local mailhog/papercut or mock email sender" in table
    assert table[-1] == "3. Never hardcode credentials in code"


def test_words_of_a_keyword_may_be_joined_in_any_way() -> None:
    """By blanks or hyphens, one or several; without either it is another word."""
    for text in ("Google Auth", "google-auth", "google  auth", "push-notifications", "third party"):
        assert len(services_in(f"with {text} only")) == 1
    assert services_in("googleauth") == ()


def test_criteria_tell_of_services_too() -> None:
    """And one alone is told as one."""
    story = Story("S1", "Pay", criteria=(Criterion("it goes through Stripe"),))
    run = scanned(Run("a", "b", NOW, stories=(story,)), "S1")
    assert dependency_lines(run.story("S1"))[:2] == [
        "Detected 1 external dependency:",
        "[payment] payment_processing",
    ]
    table = dependency_lines(run.story("S1"), as_table=True)
    assert "| Type | Category | Requires Secrets |" in table


def test_a_story_that_was_not_scanned_has_none() -> None:
    """As far as anybody knows."""
    told = ["Detected no external dependencies in S1."]
    assert (
        dependency_lines(Story("S1", "x"))
        == dependency_lines(Story("S1", "x"), as_table=True)
        == told
    )


def test_without_any_it_is_one_line() -> None:
    """And what needs no secrets says nothing of them."""
    run = scanned(Run("a", "b", NOW, stories=(Story("S1", "x"), Story("S2", "kafka"))), "S1")
    assert run.story("S1").dependencies == ()
    assert dependency_lines(run.story("S1")) == dependency_lines(run.story("S1"), as_table=True)
    assert len(dependency_lines(run.story("S1"))) == 1
    table = dependency_lines(scanned(run, "S2").story("S2"), as_table=True)
    both = Run("a", "b", NOW, stories=(Story("S1", "kafka and Stripe"),))
    mixed = dependency_lines(scanned(both, "S1").story("S1"), as_table=True)
    assert any("Secrets Required:" in line for line in mixed)
    assert "| messaging | message_queue | no |" in table
    assert not any("Secrets Required:" in line for line in table)
