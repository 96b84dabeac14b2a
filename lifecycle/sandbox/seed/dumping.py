"""Turn a world into its seed, which makes the same world again.

Short-lived state is left out: how often checks were read, how much a token has used.
"""

from __future__ import annotations

import base64
import itertools
from typing import Any

import msgspec
import yaml

from lifecycle.sandbox.accounts.state import App
from lifecycle.sandbox.boards.state import BoardTables, DraftIssue, Field, Item, Project
from lifecycle.sandbox.checks.state import CheckRun, CheckSuite, CheckTables
from lifecycle.sandbox.issues.state import Issue, IssueTables
from lifecycle.sandbox.pulls.state import PullRequest, PullTables, ReviewThread
from lifecycle.sandbox.repositories.state import Repository, World
from lifecycle.sandbox.rules.state import Protection, RuleTables
from lifecycle.sandbox.seed.form import (
    Seed,
    SeedApp,
    SeedDraft,
    SeedField,
    SeedInstallation,
    SeedItem,
    SeedIteration,
    SeedMark,
    SeedOption,
    SeedOrganization,
    SeedProject,
    SeedProtection,
    SeedRepository,
    SeedToken,
    SeedUser,
)
from lifecycle.sandbox.seed.form_content import (
    SeedAutoMerge,
    SeedCheckRun,
    SeedIssue,
    SeedLabel,
    SeedMilestone,
    SeedPull,
    SeedQueueEntry,
    SeedReview,
    SeedReviewComment,
    SeedStatus,
    SeedSuite,
    SeedThread,
    SeedWorkflow,
    SeedWorkflowRun,
)
from lifecycle.sandbox.seed.references import comments_of, events_of, halves, login, name_of, plain


def _project(project: Project) -> SeedProject:
    """A board with its fields and cards."""
    return plain(
        SeedProject,
        project,
        owner=project.owner.login,
        creator=login(project.creator),
        repositories=[repo.full_name for repo in project.repositories],
        fields=[_field(field) for field in project.fields],
        items=[_item(project, item) for item in project.items],
    )


def _field(field: Field) -> SeedField:
    return plain(
        SeedField,
        field,
        type=field.data_type,
        options=[plain(SeedOption, option) for option in field.options],
        iterations=[plain(SeedIteration, iteration) for iteration in field.iterations],
    )


def _item(board: Project, item: Item) -> SeedItem:
    content = item.content
    where: dict[str, Any]
    if isinstance(content, DraftIssue):
        draft = plain(
            SeedDraft, content, creator=content.creator.login,
            assignees=[user.login for user in content.assignees],
        )  # fmt: skip
        where = {"issue": None, "repository": None, "draft": draft}
    else:
        name = content.repository.full_name
        where = {"issue": content.number, "repository": name, "draft": None}
    values = {
        field.name: _value(field, item.values[field.id])
        for field in board.fields
        if field.id in item.values
    }
    marks = {
        field.name: plain(SeedMark, mark, creator=mark.creator.login)
        for field in board.fields
        if field.id in item.values and (mark := item.marks.get(field.id))
    }
    return plain(SeedItem, item, **where, values=values, marks=marks, creator=item.creator.login)


def _value(field: Field, raw: str) -> str:
    """A value in a person's form: options and iterations by their names."""
    names = {option.id: option.name for option in field.options}
    names |= {iteration.id: iteration.title for iteration in field.iterations}
    return names.get(raw, raw)


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]  # either will do
    """Writes texts of several lines as blocks."""


def _text(dumper: Any, value: str) -> Any:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)


def as_yaml(seed: Seed) -> str:
    """The text of a seed; reading it returns the same seed."""
    plain_data = msgspec.to_builtins(seed)
    text: str = yaml.dump(
        plain_data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100
    )
    return text


def seed_of(world: World, *, with_git: bool = True) -> Seed:
    """The seed of a world. Without git, it has no bundles: the bare repositories are kept elsewhere."""
    next_id = next(world.serial)  # reading takes the number, so it is put back
    world.serial = itertools.count(next_id)
    people = [user for user in world.users.values() if user.kind != "organization"]
    return Seed(
        users=[plain(SeedUser, user) for user in people],
        organizations=[
            plain(
                SeedOrganization, organization,
                members=[member.login for member in organization.members],
            )
            for organization in world.users.values()
            if organization.kind == "organization"
        ],
        apps=[_app(app) for app in world.apps.values() if app.slug != "github-actions"],
        installations=[
            plain(
                SeedInstallation, installation, app=installation.app.slug,
                account=installation.account.login, repositories=sorted(installation.repositories),
            )
            for installation in world.installations.values()
        ],
        tokens=[
            plain(
                SeedToken, token, token=token.value, user=token.user.login,
                app=token.app.slug if token.app else None,
                scopes=sorted(token.scopes), repositories=sorted(token.repositories),
            )
            for token in world.tokens.values()
        ],
        repositories=[_repository(repo, with_git) for repo in world.repositories.values()],
        projects=[_project(project) for project in BoardTables.of(world).projects],
        lag={name: reads for name, reads in world.lag.items() if reads},
        next_id=next_id,
        ahead=world.ahead,
    )  # fmt: skip


def _app(app: App) -> SeedApp:
    return plain(SeedApp, app, owner=app.owner.login, bot=login(app.bot))


def _repository(repo: Repository, with_git: bool) -> SeedRepository:
    issue_tables = IssueTables.of(repo)
    check_tables = CheckTables.of(repo)
    rule_tables = RuleTables.of(repo)
    bundle = repo.bundle
    if with_git and repo.has_git:
        bundle = base64.b64encode(repo.git.bundle()).decode()
    former = [name for name, target in repo.world.renamed.items() if target is repo]
    return plain(
        SeedRepository,
        repo,
        name=repo.full_name,
        fork_of=repo.parent.full_name if repo.parent else None,
        files={} if bundle else repo.files,
        branches=[],
        refs=[],
        labels=[plain(SeedLabel, label) for label in issue_tables.labels.values()],
        milestones=[
            plain(SeedMilestone, milestone, creator=milestone.creator.login)
            for milestone in issue_tables.milestones.values()
        ],
        issues=[_issue(issue) for issue in issue_tables.issues.values() if not issue.is_pull],
        pulls=[_pull(pull) for pull in PullTables.of(repo).pulls.values()],
        plans=list(check_tables.plans),
        workflows=[plain(SeedWorkflow, workflow) for workflow in check_tables.workflows.values()],
        suites=[_suite(suite) for suite in check_tables.suites],
        checks=[_check(run) for runs in check_tables.checks.values() for run in runs],
        statuses=[
            plain(SeedStatus, status, creator=login(status.creator))
            for statuses in check_tables.statuses.values()
            for status in statuses
        ],
        required_approvals=rule_tables.required_approvals,
        protections=[_protection(protection) for protection in rule_tables.protections],
        renamed_from=former,
        gone=sorted(issue_tables.gone),
        moved={number: name_of(issue) for number, issue in issue_tables.moved.items()},
        bundle=bundle,
    )


def _protection(rule: Protection) -> SeedProtection:
    names = {name: list(getattr(rule, name)) for name in ("contexts", "includes", "excludes")}
    return plain(SeedProtection, rule, **names)


def _issue(issue: Issue) -> SeedIssue:
    return plain(
        SeedIssue,
        issue,
        **halves(issue),
        comments=comments_of(issue),
        events=events_of(issue),
        parent=name_of(issue.parent) if issue.parent else None,
        blocked_by=[name_of(blocker) for blocker in issue.blocked_by],
    )


def _suite(suite: CheckSuite) -> SeedSuite:
    run = suite.run
    return plain(
        SeedSuite,
        suite,
        app=suite.app.slug,
        run=plain(SeedWorkflowRun, run, actor=login(run.actor)) if run else None,
    )


def _check(run: CheckRun) -> SeedCheckRun:
    return plain(
        SeedCheckRun,
        run,
        title=run.output.title,
        summary=run.output.summary,
        text=run.output.text,
        annotations=list(run.output.annotations),
        suite=run.suite.id,
    )


OF_THE_ISSUE = (
    "number", "title", "body", "state", "locked", "lock_reason", "created_at", "updated_at",
    "closed_at", "hidden_for", "unread_for",
)  # fmt: skip


def _pull(pull: PullRequest) -> SeedPull:
    """A pull request, with the content of its issue half."""
    issue, auto, entry = pull.issue, pull.auto_merge, pull.queue_entry
    head_repository = pull.head_repository
    return plain(
        SeedPull,
        pull,
        **{name: getattr(issue, name) for name in OF_THE_ISSUE},
        **halves(issue),
        comments=comments_of(issue),
        events=events_of(issue),
        reviews=[plain(SeedReview, review, author=review.author.login) for review in pull.reviews],
        threads=[_thread(thread) for thread in pull.threads],
        requested_reviewers=[user.login for user in pull.requested_reviewers],
        merged_by=login(pull.merged_by),
        head_repository=head_repository.full_name if head_repository else None,
        head_owner=login(pull.head_owner),
        auto_merge=plain(SeedAutoMerge, auto, enabled_by=auto.enabled_by.login) if auto else None,
        queue_entry=plain(SeedQueueEntry, entry, enqueuer=entry.enqueuer.login) if entry else None,
        issue_id=issue.id,
    )


def _thread(thread: ReviewThread) -> SeedThread:
    comments = [
        plain(
            SeedReviewComment, comment, author=comment.author.login,
            review=comment.review.id if comment.review else None,
            reply_to=comment.reply_to.id if comment.reply_to else None,
        )
        for comment in thread.comments
    ]  # fmt: skip
    return plain(SeedThread, thread, comments=comments, resolved_by=login(thread.resolved_by))
