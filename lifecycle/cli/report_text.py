"""How an engine's report is printed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from lifecycle.claim.engine.look import Report
from lifecycle.cli.command_session import claim_data
from lifecycle.core import plan
from lifecycle.core.redact import quoted, redact
from lifecycle.core.values.model import LABELS_ITEM

_LINKED = {"claimed": "claim", "closed": "close", "released": "give back"}
"""What is done to a linked task that is wanted to be so."""


def report_lines(report: Report, *, would: bool = False) -> list[str]:
    """What was done (or, `would`, is planned), then what there is to say."""
    mark = "would " if would else "did   "
    lines = [f"{mark}{describe(action)}" for action in report.actions]
    return lines + [say.text for say in report.said]


def report_data(report: Report) -> dict[str, Any]:
    """The report for `--json`."""
    problem = report.problem
    return {
        "claim": claim_data(report.record),
        "actions": [{"kind": type(a).__name__, **asdict(a)} for a in report.actions],
        "said": [{"key": say.key, "text": say.text, "tone": say.tone} for say in report.said],
        "problem": problem
        and {"kind": type(problem).__name__, "sentence": redact(problem.sentence)},
    }


def describe(action: plan.Action) -> str:
    """One action in words."""
    match action:
        case plan.OpenPullRequest():
            kind = "draft PR" if action.is_draft else "PR"
            return f"open a {kind} from {action.head} into {action.base}: {quoted(action.title)}"
        case plan.LinkPullRequest():
            return f"add a line to PR #{action.number} that refers to #{action.issue}"
        case plan.AddToBoard():
            return f"put #{action.issue} on the board"
        case plan.SetBoard():
            parts = [f'Status "{action.status}"'] if action.status else []
            parts += ["Agent cleared"] if action.clear_agent else []
            parts += [f'Agent "{action.agent}"'] if action.agent else []
            where = "Status label" if action.item_id.startswith(LABELS_ITEM) else "board"
            return f"set the {where}: {', '.join(parts)}"
        case plan.PostComment():
            return f"comment on #{action.issue}: {action.body.splitlines()[0]}"
        case plan.SetLinked():
            return f"{_LINKED.get(action.wanted, action.wanted)} {action.id} in {action.tracker}"
        case _:
            return _describe_end(action)


def _describe_end(
    action: plan.CloseIssue | plan.Unassign | plan.ReleaseLease | plan.ForgetClaim,
) -> str:
    """One step of closing or giving back."""
    match action:
        case plan.CloseIssue():
            return f"close #{action.issue}"
        case plan.Unassign():
            return f"take {action.login} off #{action.issue}"
        case plan.ReleaseLease():
            return f"release the lease on #{action.issue}"
        case plan.ForgetClaim():
            return "delete .agent-claim.json"
