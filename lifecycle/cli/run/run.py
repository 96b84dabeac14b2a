"""`lifecycle run`: the group of its commands, loaded one at a time."""

from __future__ import annotations

import click

from lifecycle.cli.main import LazyGroup

COMMANDS: dict[str, str] = {
    "recover": "run.run_begin:recover",
    "questions": "run.run_story:questions",
    "add-clarification": "run.run_story:add_clarification",
    "init": "run.run_begin:init",
    "add-story": "run.run_story:add_story",
    "story-plan": "run.run_story:story_plan",
    "criterion": "run.run_story:criterion",
    "status": "run.look.run_look:status",
    "progress": "run.look.run_look:progress",
    "trim-progress": "run.look.run_look:trim_progress",
    "report": "run.look.run_look:report",
    "compact-context": "run.look.run_context:compact_context",
    "platform-context": "run.look.run_context:platform_context",
    "platform": "run.look.run_context:platform",
    "review-context": "run.look.run_review_context:review_context",
    "mark-working-state": "run.run_checkpoints:mark_working_state",
    "rollback-to-checkpoint": "run.run_checkpoints:rollback_to_checkpoint",
    "commit": "run.run_checkpoints:commit",
    "finish": "run.run_finish:finish",
    "complete": "run.run_finish:complete",
    "tdd-phase": "run.run_tdd:phase",
    "tdd-validate": "run.run_tdd:validate",
    "tdd-status": "run.run_tdd:status",
    "tdd": "run.run_tdd:waive",
    "add-failure": "run.run_failures:add_failure",
    "retry-recommendation": "run.run_failures:retry_recommendation",
    "retry-context": "run.run_failures:retry_context",
    "scan-dependencies": "run.run_failures:scan_dependencies",
    "add-blocker": "run.run_blockers:add_blocker",
    "await-user-fix": "run.run_blockers:await_user_fix",
    "check-user-fix": "run.run_blockers:check_user_fix",
    "user-fix-complete": "run.run_blockers:user_fix_complete",
    "resume-context": "run.run_resuming:resume_context",
    "resume": "run.run_resuming:resume",
    "stop": "run.run_resuming:stop",
    "gate": "run.run_gate:gate",
    "verify": "run.run_review:verify",
    "review": "run.run_review:review",
    "update-story": "run.run_moves:update_story",
    "update-phase": "run.run_moves:update_phase",
}
"""Where below `lifecycle/cli/` each command is: its module, and its name there."""


@click.group(
    "run", cls=LazyGroup, table=COMMANDS, short_help="An autonomous run: stories, gates, blockers."
)
def command() -> None:
    """Follow one goal through its stories, in `.claude/workflow-state.json`.

    A session that leads a run is not let go before it is completed, waits for you, or was stopped. See
    docs/runs.md.
    """
