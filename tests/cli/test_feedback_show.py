"""`lifecycle feedback`: what failed on a pull request's head, for whoever mends it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest

from lifecycle.cli.checks.feedback import standing_of
from lifecycle.core.values.checks import Bucket, Check, Checks
from lifecycle.core.values.model import PullState
from lifecycle.sandbox.checks.state import Annotation, Step
from tests import factories
from tests.conftest import BRANCH, Place
from tests.docs import packet_schema

RED = factories.checks(Bucket.FAIL)

LOG = """2026-01-31T10:00:02.0000000Z ##[group]Run pytest
2026-01-31T10:00:02.0000000Z pytest
2026-01-31T10:00:02.0000000Z ##[endgroup]
2026-01-31T10:00:03.0000000Z ============ FAILURES ============
2026-01-31T10:00:03.0000000Z E       assert 13 == 12
2026-01-31T10:00:04.0000000Z FAILED tests/test_shop.py::test_total - assert 13 == 12
2026-01-31T10:00:04.0000000Z ##[error]Process completed with exit code 1.
2026-01-31T10:00:09.0000000Z Post job cleanup.
"""


@pytest.fixture
def pull(place: Place) -> int:
    """An open pull request of this clone's branch, whose check `test` failed with a log."""
    place.work()
    number = place.control.open_pull(BRANCH, "Work")
    failed(place, number, "test")
    place.control.set_check(number, "lint")
    place.clear()
    return number


def failed(place: Place, number: int, name: str, log: str = LOG, **more: object) -> int:
    """A failed job."""
    return place.control.set_check(number, name, conclusion="failure", log=log, **more)  # type: ignore[arg-type]


def asked(place: Place) -> Iterator[str]:
    """What was asked of GitHub, but for the storage of its logs."""
    for one in place.requests():
        if not one.path.startswith("/_downloads/"):
            yield one.operation or one.path.rpartition("/repos/octo-org/hello-service")[2]


def test_a_packet_costs_a_request_and_one_for_each_log_once(place: Place, pull: int) -> None:
    """Without a claim, by its number: what failed and why. Said again, the log is not asked for again.

    Another attempt of the job is another log.
    """
    shown = place.cli("feedback", str(pull))
    assert shown.returncode == 0, shown.stderr
    assert "1 failed check of PR #" in shown.stdout
    assert 'First error: "E assert 13 == 12"' in shown.stdout
    assert "FAILED tests/test_shop.py::test_total" in shown.stdout
    assert "Post job cleanup" not in shown.stdout
    assert [one.rpartition("/")[2] for one in asked(place)] == ["FailedChecks", "logs"]
    place.clear()
    assert place.cli("feedback", f"#{pull}").stdout == shown.stdout
    assert [*asked(place)] == ["FailedChecks"]
    failed(place, pull, "test", "Error: another\n", rerun=True)
    place.clear()
    assert 'First error: "Error: another"' in place.cli("feedback", str(pull)).stdout
    assert len([*asked(place)]) == 2


def test_without_a_number_it_is_the_branchs(place: Place, pull: int) -> None:
    """The open pull request of the branch that is checked out; none is a refusal that says what to do."""
    data = json.loads(place.cli("feedback", "--json").stdout)
    assert (data["pull"], [one["name"] for one in data["failures"]]) == (pull, ["test"])
    place.control.close_pull(pull)
    refused = place.cli("feedback")
    assert refused.returncode == 1
    assert "hand off, or give its number." in refused.stderr
    refused = place.cli("feedback", "go-on")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "No task with a pull request is claimed here" in refused.stderr


def test_json_has_the_form_that_is_published(place: Place, pull: int) -> None:
    """The schema that is shipped fits what is printed; the files that it names are there."""
    steps = [Step(1, "Set up"), Step(2, "Run pytest", "failure")]
    remark = Annotation("shop.py", 7, 7, "failure", "assert 13 == 12")
    failed(place, pull, "test", steps=steps, annotations=[remark])
    place.control.set_status(pull, "ci/other", "failure", description="2 of 9")
    data = json.loads(place.cli("feedback", str(pull), "--json").stdout)
    jsonschema_rs.validate(json.loads(packet_schema.SCHEMA.read_text("utf-8")), data)
    test, other = data["failures"]
    assert (test["step"], test["remarks"][0]["line"], other["summary"]) == (
        "Run pytest",
        7,
        "2 of 9",
    )
    text = (place.root / data["path"]).read_text("utf-8")
    assert 'First error: "E assert 13 == 12"' in text
    kept = (place.root / test["log"]).read_text("utf-8")
    assert kept.splitlines() == LOG.splitlines()[:-1]  # as far as the failed step goes


def test_the_schema_is_what_the_values_are() -> None:
    """The shipped schema is written from the values; a change of one without the other is found."""
    assert packet_schema.SCHEMA.read_text("utf-8") == packet_schema.schema(), "run make docs"
    failure = json.loads(packet_schema.schema())["$defs"]["CheckFailure"]["properties"]
    assert failure["word"]["description"] == "its result in GraphQL's spelling."  # the base says it


def test_a_log_that_is_gone_is_told_and_the_rest_stands(place: Place, pull: int) -> None:
    """No failure of the command: what GitHub still shows is worth reading."""
    place.control.expire_logs()
    shown = place.cli("feedback", str(pull))
    assert shown.returncode == 0
    assert "Without its log: The log is older than the repository keeps logs" in shown.stdout
    assert "test of CI: failure" in shown.stdout


def test_what_is_misspelt_is_no_number(place: Place) -> None:
    """A command that is not there is told as such; so is a number that is none."""
    assert "Did you mean" in place.cli("feedback", "exerpt").stderr
    for number in ("x1", "0", "2147483648"):
        assert "is no pull request's number" in place.cli("feedback", "show", number).stderr
    assert "excerpt" in place.cli("feedback", "--help").stdout


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, ["PR #107 is ready to merge."]),
        ({"checks": RED}, ["The checks of PR #107 are not green: check-0."]),
        (
            {"checks": Checks(factories.SHA, (Check("all is\nwell", Bucket.FAIL),))},
            ['The checks of PR #107 are not green: "all is well".'],
        ),
        (
            {"checks": Checks(factories.SHA, (Check("is\ndone", Bucket.PENDING),))},
            ['Checks of PR #107 are still running: "is done".'],
        ),
        (
            {"changes_requested": (factories.review(),)},
            ["Changes are requested on PR #107 by maria."],
        ),
        (
            {"checks": RED, "is_draft": True},
            [
                "PR #107 is a draft, and cannot be merged before it is marked as ready on its page.",
                "The checks of PR #107 are not green: check-0.",
            ],
        ),
        ({"state": PullState.MERGED, "checks": RED}, ["PR #107 is merged."]),
    ],
)
def test_nothing_red_or_asked_for_is_ready_to_merge(
    changes: dict[str, Any], lines: list[str]
) -> None:
    """Where no rule of the base holds it back, what has to be mended stands alone."""
    green = factories.pull(checks=factories.checks(Bucket.PASS))
    assert standing_of(replace(green, **changes), None) == lines
