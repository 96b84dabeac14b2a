"""The example workflows: when their jobs run, and what they give to the action."""

from __future__ import annotations

import pytest

from tests.actions.conftest import Founded, Shop
from tests.actions.events import REPOSITORY, dispatched, issue, pull, schedule
from tests.actions.runner import Event, run_job
from tests.docs.pages import ROOT

EXAMPLE = ROOT / ".github/workflows/reconcile.yml"
ORGANISATION = ROOT / "docs/examples/reconcile-organisation.yml"
FORK = "visitor/hello-service"

pytestmark = pytest.mark.timeout(300)  # the libraries are installed, really


@pytest.mark.parametrize(
    ("event", "login", "runs"),
    [
        (schedule(), None, True),
        (schedule(), "robot[bot]", True),
        (dispatched(), "maria", True),
        (issue("closed", 38), None, True),
        (issue("closed", 38, sender="claude[bot]"), "robot[bot]", True),
        (issue("closed", 38, sender="github-actions[bot]"), None, False),
        (issue("closed", 38, sender="robot[bot]"), "robot[bot]", False),
        (issue("closed", 38, sender="Machine"), "machine", False),
        (pull("closed", 46, merged=True), None, True),
        (pull("opened", 46, sender="github-actions[bot]"), None, False),
        (pull("opened", 46, sender="dependabot[bot]"), None, False),
        (pull("opened", 46, head=FORK), None, False),
        (pull("closed", 46, head=None), None, False),
    ],
)
def test_which_events_start_the_job(
    shop: Shop, event: Event, login: str | None, *, runs: bool
) -> None:
    """Not its own events, and no pull request of a fork; a schedule has no sender and runs always."""
    variables = {} if login is None else {"LIFECYCLE_LOGIN": login}
    machine = shop.machine(event, variables=variables, inputs={"dry-run": True})
    done = run_job(machine, EXAMPLE, "reconcile")
    assert (done is not None) is runs
    if not runs:
        assert shop.control.requests() == ()


@pytest.mark.soak("actions/test_action.py::test_a_schedule_repairs_everything")
@pytest.mark.started
def test_the_example_repairs_on_a_schedule(shop: Shop) -> None:
    """From the checkout to the board: the token is the secret's, the board the variable's."""
    machine = shop.machine(
        schedule(),
        token="the workflow's own",
        secrets={"LIFECYCLE_TOKEN": shop.info.token},
        variables={"LIFECYCLE_PROJECT_NUMBER": "1"},
    )
    done = run_job(machine, EXAMPLE, "reconcile")
    assert done is not None
    assert done.code == 0, done.log
    assert shop.card(38)["Status"] == "Done"
    assert shop.card(42)["Status"] == "In Progress"


@pytest.mark.parametrize("event", [schedule(), issue("closed", 38)], ids=["schedule", "event"])
@pytest.mark.parametrize("value", ["true", "false", None])
def test_the_trial_mode(shop: Shop, event: Event, value: str | None) -> None:
    """With LIFECYCLE_DRY_RUN schedule and events look and report, and write nothing; without it they do."""
    variables = {"LIFECYCLE_PROJECT_NUMBER": "1"} | (
        {} if value is None else {"LIFECYCLE_DRY_RUN": value}
    )
    done = run_job(shop.machine(event, variables=variables), EXAMPLE, "reconcile")
    assert done is not None
    assert done.code == 0, done.log
    assert "closed-on-board" in done.told
    assert shop.card(38)["Status"] == ("In Progress" if value == "true" else "Done")
    if value == "true":
        assert {one.method for one in shop.control.requests() if one.kind == "rest"} <= {"GET"}


@pytest.mark.parametrize("event", [schedule(), issue("closed", 38)], ids=["schedule", "event"])
def test_a_typing_error_in_the_trial_mode_writes_nothing(shop: Shop, event: Event) -> None:
    """Who writes "yes" meant to be careful: the step fails, and says what the input may be."""
    variables = {"LIFECYCLE_PROJECT_NUMBER": "1", "LIFECYCLE_DRY_RUN": "yes"}
    done = run_job(shop.machine(event, variables=variables), EXAMPLE, "reconcile")
    assert done is not None
    assert done.code == 2
    assert done.said("error") == ["Nothing was looked at: the input dry-run is true or false."]
    assert "the input dry-run is true or false." in done.told
    assert shop.control.requests() == ()


@pytest.mark.parametrize("trial", ["true", "false"])
@pytest.mark.parametrize("dry", [True, False])
def test_the_button_says_for_itself(shop: Shop, trial: str, *, dry: bool) -> None:
    """Whoever presses it has chosen: the variable is for the runs that nobody watches."""
    given = {"dry-run": dry, "issues": "38", "close": "configured", "release": "configured"}
    variables = {"LIFECYCLE_PROJECT_NUMBER": "1", "LIFECYCLE_DRY_RUN": trial}
    machine = shop.machine(dispatched(**given), inputs=given, variables=variables)
    done = run_job(machine, EXAMPLE, "reconcile")
    assert done is not None
    assert done.code == 0, done.log
    assert shop.card(38)["Status"] == ("In Progress" if dry else "Done")


def test_the_example_can_be_tried_by_hand(shop: Shop) -> None:
    """The button looks only, unless one says otherwise; what it is given reaches the command."""
    given = {"dry-run": True, "issues": "38", "close": "configured", "release": "configured"}
    machine = shop.machine(
        dispatched(**given), inputs=given, variables={"LIFECYCLE_PROJECT_NUMBER": "1"}
    )
    done = run_job(machine, EXAMPLE, "reconcile")
    assert done is not None
    assert done.code == 0, done.log
    assert "#38" in done.told
    assert "#42" not in done.told
    assert shop.card(38)["Status"] == "In Progress"


def test_the_program_is_never_that_of_a_pull_request(shop: Shop) -> None:
    """What is checked out is the default branch, by its name; a schedule is of it anyway."""
    text = EXAMPLE.read_text(encoding="utf-8")
    assert "ref: ${{ github.event.repository.default_branch }}" in text
    assert pull("opened", 46).payload["repository"]["default_branch"] == "main"


@pytest.mark.once("test_the_trial_mode has the variable")
@pytest.mark.parametrize("is_trial", [False, True])
def test_the_shards_of_an_organisation_look_at_everything_once(
    founded: Founded, *, is_trial: bool
) -> None:
    """Four jobs with one share each: together they repair all there is, and none does it twice.

    The trial mode holds there, too.
    """
    shop = founded(None)
    shop.control.close_issue(38)
    text = ORGANISATION.read_text(encoding="utf-8").replace(
        "your-org", REPOSITORY.partition("/")[0]
    )
    file = shop.folder / "organisation.yml"
    shop.folder.mkdir()
    file.write_text(
        text.replace("app-id: ${{ vars.LIFECYCLE_APP_ID }}", "token: ${{ secrets.PAT }}")
    )
    machine = shop.machine(
        schedule(),
        token="nothing",
        repository="octo-org/.github-private",
        secrets={"PAT": shop.info.token},
        variables={"LIFECYCLE_PROJECT_NUMBER": "1"}
        | ({"LIFECYCLE_DRY_RUN": "true"} if is_trial else {}),
    )
    done = run_job(machine, file, "reconcile")
    assert done is not None
    assert done.code == 0, done.log
    assert shop.card(38)["Status"] == ("In Progress" if is_trial else "Done")
    assert done.told.count("closed-on-board") == 1
