"""Dumps: a world written as a seed, and the same world made of it."""

from __future__ import annotations

import re
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lifecycle.sandbox.accounts import state as accounts
from lifecycle.sandbox.boards import state as boards
from lifecycle.sandbox.checks import state as checks
from lifecycle.sandbox.control import Control, ControlError
from lifecycle.sandbox.issues import state as issues
from lifecycle.sandbox.pulls import state as pulls
from lifecycle.sandbox.repositories import state as repositories
from lifecycle.sandbox.rules import state as rules
from lifecycle.sandbox.seed import default_seed, form, form_content, parse_seed
from lifecycle.sandbox.seed.dumping import as_yaml, seed_of
from lifecycle.sandbox.server import Sandbox
from tests.batches import each_row

Steps = list[tuple[str, dict[str, Any]]]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("close_issue"), st.fixed_dictionaries({
            "number": st.sampled_from([38, 42, 45]), "reason": st.sampled_from(
                ["completed", "not_planned", "duplicate"]), "by": st.just("maria")})),
        st.tuples(st.just("reopen_issue"), st.fixed_dictionaries({
            "number": st.sampled_from([36, 42])})),
        st.tuples(st.just("comment"), st.fixed_dictionaries({
            "number": st.sampled_from([42, 46]), "body": st.text(
                st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1),
            "by": st.sampled_from(["maria", "sam"])})),
        st.tuples(st.just("comment"), st.fixed_dictionaries({
            "number": st.sampled_from([42, 43, 46]), "body": st.sampled_from(
                ["See #45", "`#45`", "octo-org/hello-service#36, #46"]), "by": st.just("sam")})),
        st.tuples(st.just("advance"), st.fixed_dictionaries({
            "seconds": st.sampled_from([60, 86_400.5])})),
        st.tuples(st.just("assign"), st.fixed_dictionaries({
            "number": st.just(45), "logins": st.just(["sam", "octocat"])})),
        st.tuples(st.just("push_commit"), st.fixed_dictionaries({
            "branch": st.just("work"), "files": st.dictionaries(
                st.sampled_from(["a", "b"]), st.text("xyz", min_size=1), min_size=1),
            "message": st.sampled_from(["Work", "Closes #45"]), "start": st.just(""),
            "by": st.just("octocat")})),
        st.tuples(st.just("open_pull"), st.just({
            "head": "work", "title": "Work", "base": None, "body": "Refs #42\n\nMore: \"x\"",
            "draft": False, "by": "octocat"})),
        st.tuples(st.just("review"), st.fixed_dictionaries({
            "number": st.just(46), "state": st.sampled_from(["APPROVED", "CHANGES_REQUESTED"]),
            "login": st.just("maria"), "body": st.just("line one\nline two")})),
        st.tuples(st.just("set_status"), st.just({
            "target": 46, "context": "lint", "state": "failure", "description": None})),
        st.tuples(st.just("merge_pull"), st.fixed_dictionaries({
            "number": st.just(46), "method": st.sampled_from(["merge", "squash", "rebase"]),
            "delete_branch": st.booleans(), "by": st.just("maria")})),
        st.tuples(st.just("set_field"), st.fixed_dictionaries({
            "issue": st.sampled_from([42, 45]), "field": st.just("Status"),
            "value": st.sampled_from(["Done", "Todo", None]),
            "by": st.sampled_from(["maria", "sam"])})),
        st.tuples(st.just("set_field"), st.fixed_dictionaries({
            "issue": st.just(42), "field": st.just("Agent"),
            "value": st.sampled_from(["octocat-1", "sam-2", None])})),
        st.tuples(st.just("archive_item"), st.just({"issue": 39, "archived": True})),
        st.tuples(st.just("remove_item"), st.just({"issue": 38})),
    ),
    max_size=12,
)  # fmt: skip
BUNDLE = re.compile(r"^  bundle: .*(\n    .*)*", re.MULTILINE)
"""Packed anew each time; that the git is the same is seen by its refs."""


def take(control: Control, steps: Steps) -> None:
    """Do what can be done of the steps."""
    for verb, arguments in steps:
        try:
            control._do(verb, **arguments)
        except ControlError:
            continue  # it makes no sense in the world as it is: nothing was done


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(STEPS)
def test_a_dump_makes_the_same_world(steps: Steps) -> None:
    """Whatever was done in a world: what its dump makes looks the same, and dumps the same."""
    lease = form.SeedRef("refs/agent-claims/42", "Held", date=datetime(2026, 1, 2, tzinfo=UTC))
    with Sandbox(default_seed().with_home(refs=[lease])) as sandbox:
        control = Control(sandbox.info.control_url)
        take(control, steps)
        dump, world = control.dump(), control.world()
    with Sandbox(parse_seed(dump)) as again:
        control = Control(again.info.control_url)
        assert control.world() == world
        assert BUNDLE.sub("", control.dump()) == BUNDLE.sub("", dump)


@pytest.mark.parametrize("number", range(3))
def test_a_dump_is_as_short_as_a_seed(number: int) -> None:
    """What is as it would be anyway is not written: the built-in world gains ids, times and a past."""
    with Sandbox() as sandbox:
        assert sandbox.site is not None
        seed = parse_seed(as_yaml(seed_of(sandbox.site.world)))
    before, after = default_seed().repositories[0], seed.repositories[0]
    assert [i.title for i in before.issues] == [i.title for i in after.issues]
    assert (after.issues[number].comments, after.issues[number].blocked_by) == ([], [])


PAIRS: list[tuple[type, tuple[type[form_content.Form], ...], set[str]]] = [
    (accounts.User, (form.SeedUser, form.SeedOrganization), set()),
    (accounts.Token, (form.SeedToken,), {"value", "used", "reset"}),
    (accounts.App, (form.SeedApp,), set()),
    (accounts.Installation, (form.SeedInstallation,), set()),
    (issues.Label, (form_content.SeedLabel,), {"node_id", "default", "repository"}),
    (issues.Milestone, (form_content.SeedMilestone,), {"node_id", "repository"}),
    (issues.Comment, (form_content.SeedComment,), {"node_id", "issue"}),
    (issues.IssueEvent, (form_content.SeedEvent,), {"node_id"}),
    (issues.Issue, (form_content.SeedIssue,),
     {"node_id", "repository", "sub_issues", "blocking", "is_pull"}),
    (pulls.PullRequest, (form_content.SeedPull,), {"node_id", "issue", "judged", "measure"}),
    (pulls.Review, (form_content.SeedReview,), {"node_id", "pull"}),
    (pulls.ReviewThread, (form_content.SeedThread,), {"node_id", "pull"}),
    (pulls.ReviewComment, (form_content.SeedReviewComment,), {"node_id", "thread"}),
    (pulls.AutoMerge, (form_content.SeedAutoMerge,), set()),
    (pulls.QueueEntry, (form_content.SeedQueueEntry,), {"node_id", "pull"}),
    (checks.Workflow, (form_content.SeedWorkflow,), {"node_id", "repository"}),
    (checks.WorkflowRun, (form_content.SeedWorkflowRun,), {"node_id", "suite"}),
    (checks.CheckSuite, (form_content.SeedSuite,), {"node_id", "repository"}),
    (checks.CheckRun, (form_content.SeedCheckRun,), {"node_id", "output"}),
    (checks.Output, (form_content.SeedCheckRun,), set()),
    (checks.CommitStatus, (form_content.SeedStatus,), {"node_id", "repository"}),
    (boards.Option, (form.SeedOption,), set()),
    (boards.Iteration, (form.SeedIteration,), set()),
    (boards.Field, (form.SeedField,), {"data_type"}),
    (boards.DraftIssue, (form.SeedDraft,), {"node_id"}),
    (boards.Mark, (form.SeedMark,), set()),
    (boards.Item, (form.SeedItem,), {"project", "content"}),
    (boards.Project, (form.SeedProject,), {"cards", "fresh"}),
    (rules.Protection, (form.SeedProtection,), set()),
    (repositories.Repository, (form.SeedRepository,),
     {"world", "owner", "parent", "forks", "tables", "_git", "_heads"}),
    (issues.IssueTables, (form.SeedRepository,), set()),
    (pulls.PullTables, (form.SeedRepository,), {"pulls_by_head", "pulls_indexed", "queues"}),
    (checks.CheckTables, (form.SeedRepository,),
     {"suites_by_run", "suites_indexed", "suites_by_sha", "arrivals", "rollup_reads", "announced"}),
    (rules.RuleTables, (form.SeedRepository,), set()),
    (boards.BoardTables, (form.Seed,), set()),
]  # fmt: skip


@each_row(("entity", "forms", "passing"), PAIRS, ids=[pair[0].__name__ for pair in PAIRS])
def test_nothing_of_a_world_is_forgotten(
    entity: Any, forms: tuple[Any, ...], passing: set[str]
) -> None:
    """Every field of an entity is in its form, or named here: derived, led to otherwise, passing."""
    written = {name for one in forms for name in one.__struct_fields__}
    assert {field.name for field in fields(entity)} - written == passing
