"""The values of `core`: what one says that was given no more than it must have."""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from types import ModuleType
from typing import Any

import pytest

from lifecycle.core import errors, plan, tracker
from lifecycle.core.plan import StopVerdict
from lifecycle.core.stage_names import LINE, Stage
from lifecycle.core.tracker import TaskStatus
from lifecycle.core.values import checks, configured, failed_checks, model, shapes, survey
from lifecycle.core.values.configured import Addresses, RunSettings, Settings, StageSettings
from lifecycle.core.values.model import BoardField, BoardItem, BoardSchema, PullState, Repository
from lifecycle.core.values.shapes import PullFacts

MODULES = (checks, configured, failed_checks, model, plan, shapes, survey, tracker)
"""Whose values are read from GitHub, another tracker or the settings, or are made of such."""

UNLIKE_NOTHING = {
    "Addresses.api_url": "https://api.github.com",
    "Addresses.graphql_url": "https://api.github.com/graphql",
    "AdvancePullRequest.method": "merge",
    "Checks.is_complete": True,
    "Checks.sees_workflows": True,
    "Checks.sees_demands": True,
    "ClaimFacts.is_ours": True,
    "ClaimFacts.is_begun": True,
    "Done.is_new": True,
    "MilestoneFacts.is_open": True,
    "Observation.merge_method": "merge",
    "PullRequest.mergeable": "UNKNOWN",
    "RepositoryAccess.has_issues": True,
    "RunSettings.max_iterations": 100,
    "RunSettings.max_sessions": 20,
    "RunSettings.max_hours": 24.0,
    "RunSettings.max_tokens": 40_000_000,
    "Settings.remote": "origin",
    "Settings.issue_link": "Refs",
    "Settings.poll_seconds": 120.0,
    "Settings.check_seconds": 1800.0,
    "Settings.ci_rerun": 1,
    "Settings.ci_attempts": 3,
    "Settings.close": "ask",
    "Settings.merge": "ask",
    "Settings.labels_use": "auto",
    "Settings.labels_prefix": "status: ",
    "Settings.silent_hours": 24.0,
    "Settings.api_url": "https://api.github.com",
    "Settings.graphql_url": "https://api.github.com/graphql",
    "Settings.hook_seconds": 8.0,
    "Settings.tdd_enforce": "off",
    "Settings.tracker_use": "auto",
    "Settings.stages": StageSettings(),
    "Settings.run": RunSettings(),
    "Settings.written_ns": -1,
    "StageSettings.label": "auto-workflow",
    "StageSettings.max_blocks": 50,
    "StopWord.verdict": StopVerdict.PASS,
    "Task.status": TaskStatus.OPEN,
    "Task.raw_status": "open",
}
"""What is not empty where nobody said otherwise."""


def defaults(module: ModuleType) -> dict[str, Any]:
    """The default of each field of the module's values, as `Class.field`."""
    found: dict[str, Any] = {}
    for value in vars(module).values():
        if is_dataclass(value) and value.__module__ == module.__name__:
            for field in fields(value):
                if field.default is not MISSING:
                    found[f"{getattr(value, '__name__', '')}.{field.name}"] = field.default
                elif field.default_factory is not MISSING:
                    found[f"{getattr(value, '__name__', '')}.{field.name}"] = (
                        field.default_factory()
                    )
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_what_nobody_said_is_nothing(module: ModuleType) -> None:
    """None, "", 0, False or an empty collection: but for the table's, nothing is made up.

    Every collection of a value has a default, so that an answer without the list is one with an empty one.
    """
    found = defaults(module)
    assert found
    assert {name: value for name, value in found.items() if value} == {
        name: value for name, value in UNLIKE_NOTHING.items() if name in found
    }


def test_the_table_names_fields_that_there_are() -> None:
    """Nothing stands in the table for a field that is gone."""
    assert {name for module in MODULES for name in defaults(module)} >= UNLIKE_NOTHING.keys()


@pytest.mark.parametrize(
    "made",
    [
        lambda: plan.Channel("Stop", {}).alone,
        lambda: survey.Holding("octo-org/hello").leases,
        lambda: survey.Holding("octo-org/hello").tips,
        lambda: shapes.ItemFacts("PVTI_1", 42, "I_1").values,
        lambda: tracker.ClaimFacts().tasks,
    ],
)
def test_a_mapping_that_was_not_given_is_empty(made: Any) -> None:
    """The place, the board and the repository need not be known to make one of these."""
    assert made() == {}


def test_a_repository_is_written_with_both_names() -> None:
    """As people and GitHub write it."""
    assert str(Repository("octo-org", "hello")) == "octo-org/hello"


@pytest.mark.parametrize(("id_", "is_labels"), [("labels/42", True), ("PVTI_labels/42", False)])
def test_an_item_that_stands_for_labels_says_so_by_its_id(id_: str, is_labels: bool) -> None:
    """A board's own ids never begin so."""
    assert BoardItem(id_).is_labels is is_labels


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("Done", "1"),
        ("done", "2"),
        ("DONE", "1"),
        ("in review", "3"),
        ("In Review", "3"),
        ("IN REVIEW", "3"),
        ("Review", None),
    ],
)
def test_an_option_is_known_by_its_name(name: str, option: str | None) -> None:
    """Exactly if there is one, else whatever its case; of two that differ in case the first."""
    status = BoardField("F", "Status", "single", (("Done", "1"), ("done", "2"), ("In Review", "3")))
    assert status.option(name) == option


def test_a_field_is_known_by_its_exact_name() -> None:
    """The board's fields are configured by GitHub's spelling; one that is not there is None."""
    status, agent = BoardField("F1", "Status", "single"), BoardField("F2", "Agent", "text")
    schema = BoardSchema("P", "Roadmap", "https://github.com/p/1", (status, agent))
    assert [schema.field(name) for name in ("Status", "Agent", "agent")] == [status, agent, None]


@pytest.mark.parametrize("state", PullState)
def test_a_pull_request_is_open_or_merged_or_neither(state: PullState) -> None:
    """One that was closed without a merge is neither."""
    pull = PullFacts(7, "PR_7", "u", "t", "", state, "octo-org:fix", "a" * 40, "main")
    assert (pull.is_open, pull.is_merged) == (state == "OPEN", state == "MERGED")


@pytest.mark.parametrize(
    ("words", "spelled"),
    [
        (PullState, ["OPEN", "CLOSED", "MERGED"]),
        (checks.Bucket, ["pass", "fail", "cancelled", "pending"]),
        (checks.Verdict, ["green", "failed", "pending"]),
        (plan.Wake, ["stop", "idle", "start", "tick", "sweep"]),
        (plan.Audience, ["act", "next", "news", "ask", "note"]),
        (plan.StopVerdict, ["pass", "block", "let_go"]),
        (plan.PACKED, ["failed", "ejected", "conflict"]),
        (
            (plan.AUTO_MERGE, plan.AUTO_MERGE_OFF, plan.UPDATE_BRANCH),
            ["auto-merge", "no-auto-merge", "update-branch"],
        ),
        (TaskStatus, ["open", "in_progress", "blocked", "deferred", "closed", "other"]),
        (tracker.Atomicity, ["none", "advisory", "local_cas", "shared_cas"]),
        (
            tracker.Capability,
            ["native_ready", "atomic_claim_next", "leases", "dependencies", "publish"],
        ),
    ],
)
def test_words_are_spelled_as_they_are_kept_and_told(words: Any, spelled: list[str]) -> None:
    """They stand in state.json, in the journal and in programs: another spelling breaks what is there."""
    assert [str(word) for word in words] == spelled


def test_the_stages_of_a_task_are_those_of_the_first_line_that_has_its_label() -> None:
    """A line of another label is passed over; a task with none of them has all stages."""
    quick, docs = (Stage.CODING, Stage.TESTING), (Stage.CODING, Stage.COMMIT_CLOSE)
    settings = StageSettings(workflows={"auto:quick": quick, "auto:docs": docs})
    assert settings.line_of(("bug", "auto:docs")) == docs
    assert settings.line_of(("auto:docs", "auto:quick")) == quick
    assert settings.line_of(("bug",)) == LINE


def test_a_task_of_the_staged_workflow_has_its_label_or_one_that_begins_with_it_and_a_colon() -> (
    None
):
    """What a tracker is asked for and what is known in its answer are the same."""
    settings = StageSettings(label="auto")
    assert settings.labels == ("auto", "auto:*")
    names = ("auto", "auto:", "auto:docs", "automatic", "AUTO", "my auto:docs", "")
    assert [settings.is_label(name) for name in names] == [True, True, True, *(False,) * 4]


@pytest.mark.parametrize(
    ("number", "labels", "has_board", "called"),
    [
        (7, "auto", True, "project 7"),
        (7, "always", True, "project 7"),
        (None, "always", True, "the labels"),
        (None, "auto", False, "the labels"),
        (None, "never", False, "the labels"),
    ],
)
def test_the_status_is_kept_on_a_board_or_in_labels_that_always_are(
    number: int | None, labels: str, has_board: bool, called: str
) -> None:
    """Labels of `auto` need a board that cannot be seen; what nobody configured is not kept at all."""
    settings = Settings(project_number=number, labels_use=labels)
    assert (settings.has_board, settings.board_name) == (has_board, called)


def test_the_hosts_of_the_addresses_are_those_that_a_token_is_sent_to() -> None:
    """Scheme, host and port of both, the host in small letters; of one host there is one."""
    assert Addresses().hosts == {"https://api.github.com"}
    both = Addresses("http://A.Example:81/api/v3", "https://a.example/api/graphql")
    assert both.hosts == {"http://a.example:81", "https://a.example"}


@pytest.mark.parametrize(
    ("host", "api", "graphql"),
    [
        ("github.com", "https://api.github.com", "https://api.github.com/graphql"),
        ("octo.ghe.com", "https://api.octo.ghe.com", "https://api.octo.ghe.com/graphql"),
        ("git.example", "https://git.example/api/v3", "https://git.example/api/graphql"),
    ],
)
def test_where_a_github_answers_follows_from_its_host(host: str, api: str, graphql: str) -> None:
    """GitHub's own, one with data residency, and a server of one's own."""
    assert Addresses.of_host(host) == Addresses(api, graphql)


def test_an_error_keeps_what_is_known_beside_its_sentence() -> None:
    """Evidence, when to ask again, whether a write may have landed, whose a task is, and what blocks it."""
    made = errors.Transient("Later.", retry_after=7.0, is_ambiguous=True, evidence="503")
    assert (made.sentence, made.evidence) == ("Later.", "503")
    assert (made.retry_after, made.is_ambiguous) == (7.0, True)
    plain = errors.Transient("Later.")
    assert (plain.retry_after, plain.is_ambiguous, plain.evidence) == (None, False, "")
    assert errors.NotClaimable("No.", status="hooked").status == "hooked"
    assert errors.BlockedBy("No.", ids=("a-1", "a-2")).ids == ("a-1", "a-2")
    assert errors.BlockedBy("No.").ids == ()
    assert errors.AlreadyClaimed("No.", by="maria").by == "maria"
    assert [errors.NoToken("No.", is_absent=absent).is_absent for absent in (True, False)] == [1, 0]
    assert str(errors.NoToken("No.")) == "No."
    assert errors.Lacking("No.", capability="leases").capability == "leases"
    made.sentence = "Later ***."  # a secret was taken out of it
    assert str(made) == "Later ***."


def test_who_can_do_something_about_an_error_is_said_by_its_kind() -> None:
    """The agent, about its claim and its commits; another token, about what this one may not."""
    made = [one for one in vars(errors).values() if isinstance(one, type)]
    kinds = [one for one in made if issubclass(one, errors.LifecycleError)]
    assert {one.__name__ for one in kinds if one.for_agent} == {
        *("ClaimRefused", "HeadMissing", "HeadMoved", "IllegalMove", "NothingToMerge"),
        "UnknownOption",
    }
    assert {one.__name__ for one in kinds if one.is_of_access} == {
        *("BadConfig", "BadCredentials", "MissingScope", "NoPermission", "NoToken", "NotFound"),
    }
    assert (errors.Refused("No.").evidence, errors.NoToken("No.").is_absent) == ("", False)
    assert errors.AlreadyClaimed("No.").by == ""


def test_what_the_settings_were_read_from_does_not_make_them_others() -> None:
    """A file that was written again with the same words changes nothing."""
    assert Settings(written_ns=1) == Settings(written_ns=2)


def test_a_name_that_is_nearly_a_known_one_is_asked_about() -> None:
    """Whatever its case, as the known one is written; the nearest alone, and none that is far."""
    known = ("Bug", "bogus", "feature")
    assert errors.did_you_mean("bugs", known) == ' Did you mean "Bug"?'
    assert errors.did_you_mean("FEATURES", known) == ' Did you mean "feature"?'
    assert errors.did_you_mean("xyz", known) == errors.did_you_mean("bug", ()) == ""
