"""The modules that decide: which are pure, which are mutated, which neither, and where tests lie."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "lifecycle"

OUTSIDE = frozenset(
    {
        *("os", "io", "pathlib", "shutil", "tempfile", "glob", "fcntl"),
        *("time", "random", "secrets", "platform", "getpass", "ctypes"),
        *("subprocess", "threading", "selectors", "logging"),
        *("socket", "ssl", "http", "urllib.request", "click", "rich"),
    }
)
"""What reaches a clock, chance, a file, a process, the network or a terminal.."""

PURE = (
    "claim.decisions.*",
    "claim.engine.briefing",
    "claim.record.sections",
    "claim.record.state",
    "core.errors",
    "core.hidden_marker",
    "core.machine",
    "core.messages.*",
    "core.plan",
    "core.stage_names",
    "core.tracker",
    "core.values.branch_names",
    "core.values.checks",
    "core.values.configured",
    "core.values.failed_checks",
    "core.values.model",
    "core.values.priorities",
    "core.values.shapes",
    "core.values.survey",
    "evidence.checks.run_findings",
    "evidence.command_lines",
    "evidence.line_effects",
    "evidence.outcomes",
    "evidence.reading",
    "evidence.suite_runs",
    "evidence.words.own_words",
    "evidence.words.prose_blocks",
    "feedback.checks.excerpt",
    "feedback.checks.log_lines",
    "feedback.checks.packet",
    "feedback.failures.failure_words",
    "feedback.failures.ladder",
    "feedback.failures.tampering",
    "feedback.reviews.remarks",
    "feedback.reviews.review_ledger",
    "feedback.reviews.review_packet",
    "feedback.waiting.endings",
    "feedback.waiting.look_rounds",
    "hooks.client_contract",
    "run.gates.gate_rules",
    "run.gates.reviews",
    "run.gates.run_moves",
    "run.long_run",
    "run.stop.decide",
    "run.stories.story_edits",
    "run.table",
    "run.texts.report_text",
    "run.texts.standing",
    "run.texts.told",
    "run.trouble.blockers",
    "run.trouble.story_failures",
    "settings.persons",
    "setup.init.jsonc",
    "stages.decisions.*",
    "stages.detection.*",
    "stages.transcript.tasks_taken",
    "stages.transcript.turn",
    "trackers.beads.bd_decode",
    "views.overview.overview_values",
    "workflow.decide",
    "workflow.documents.*",
    "workflow.sources.source_text",
    "workflow.state",
    "workflow.table",
)
"""What decides: it imports nothing of OUTSIDE (`tests/test_imports.py`)."""

ALSO_MUTATED = (
    "claim.record.claim_file",
    "evidence.runners.runner_table",
    "github.failures",
    "github.pulls.rollup",
    "github.pulls.translate",
    "reconcile.finding",
    "reconcile.judge",
    "storage.state_file",
    "views.overview.overview_words",
    "views.stats.summary",
    "views.stats.visits",
    "workflow.nearest",
)
"""What translates or keeps, and decides in doing so: what an answer of GitHub means, what is said again."""

RIMS: dict[str, tuple[str, ...]] = {
    "It asks GitHub, through a client that it is given.": (
        "feedback.checks.fetching",
        "feedback.reviews.review_reading",
        "feedback.reviews.review_reply",
        "feedback.reviews.review_watch",
        "github.board.board_client",
        "github.board.status_fallback",
        "github.board.status_labels",
        "github.client.rest",
        "github.clients",
        "github.operations.*",
        "github.pulls.check_reports",
        "github.pulls.forge",
        "github.pulls.issue_calls",
        "github.pulls.pull_calls",
        "github.pulls.rest_checks",
        "github.sweep.sweep_holdings",
        "github.sweep.sweeping",
        "setup.doctor.examine_github",
        "trackers.github.github_issues",
        "trackers.github.issue_claims",
        "trackers.github.issue_tasks",
    ),
    "It asks git or bd, or reads files, through what it is given or through a module that does.": (
        "app.bare_repository",
        "claim.commands.task_branch",
        "feedback.merging.conflict",
        "git.commits",
        "reconcile.scope",
        "run.finish.completion",
        "run.gates.gate_runs",
        "run.gates.work_facts",
        "run.kept_work",
        "run.tdd_moves",
        "setup.doctor.examine_supplied",
        "trackers.beads.bd_tracker",
        "views.overview.overview_run",
        "workflow.sources.following",
        "workflow.steps.workflow_steps",
        "workflow.store.found_workflows",
    ),
    "It keeps what is known: the claim's file, the state, the journal, signs of life.": (
        "claim.linked.linked_writes",
        "claim.record.journalling",
        "feedback.failures.failure_watch",
        "stages.session.session_record",
        "stages.session.workflow_tasks",
        "stages.stop.own_task",
        "stages.stop.staged_task",
    ),
    "It is the way of a command, a hook or a look: it calls what reads, decides and writes.": (
        "__main__",
        "app.waiting.claim_wait",
        "app.waiting.pull_wait",
        "app.waiting.wait_loop",
        "claim.commands.next_task",
        "claim.commands.release",
        "claim.commands.unfinished_claims",
        "claim.engine.acting",
        "claim.engine.look",
        "claim.engine.observing",
        "cli.checks.feedback_reviews",
        "cli.claims.claim_look",
        "cli.run.run_begin",
        "cli.run.run_moves",
        "cli.run.run",
        "cli.tracker.tracker_hold",
        "cli.views.quick_status",
        "hooks.answers.*",
        "reconcile.repair",
        "stages.session.background_run",
        "stages.session.staged_start",
        "stages.stop.staged_stop",
    ),
    "It is made of other modules' parts: ports, values' classes, checks of other trackers.": (
        "core.light_dataclass",
        "core.ports",
        "trackers.conformance.read_cases",
        "trackers.conformance.__main__",
        "trackers.conformance.writing",
    ),
    "Pure, and not mutated so far: what its process-free tests kill of a sample is less than the aim.": (
        "app.guidance.guidance_text",
        "app.guidance.recovery_message",
        "cli.reconcile.reconcile_words",
        "github.auth.tokens",
        "github.client.client_common",
        "github.sweep.sweep_nodes",
        "platforms.command_argv",
        "platforms.platform_file",
        "platforms.platform_tables",
        "platforms.slow_patterns",
        "reconcile.inferred",
        "setup.init.init_mark",
        "setup.init.stages_switch",
        "trackers.command_signs",
        "trackers.refusals",
        "views.stats.stats_page",
    ),
}
"""The other modules that import nothing of OUTSIDE, and why they are not in the tables above.

A new module stands in one of the tables, or here with its reason, or it imports something of OUTSIDE; a
pure one that is not mutated stays visible as such. Of folders that are named whole, all is of that kind.
"""

FOLDERS = {
    "claim": "tests/claim",
    "core": "tests/core",
    "evidence": "tests/evidence",
    "feedback": "tests/feedback",
    "github": "tests/github",
    "hooks": "tests/hooks",
    "reconcile": "tests/reconcile",
    "run": "tests/run",
    "settings": "tests/settings",
    "setup": "tests/setup",
    "stages": "tests/stages",
    "storage": "tests/storage",
    "trackers": "tests/trackers",
    "views": "tests/views",
    "workflow": "tests/workflow",
}
"""Where the tests of each room lie."""


def named(patterns: tuple[str, ...]) -> list[str]:
    """The modules that patterns mean, sorted; a pattern ends in `.*` for a folder and all below it."""
    modules: set[str] = set()
    for pattern in patterns:
        place = PACKAGE.joinpath(*pattern.removesuffix(".*").split("."))
        paths = place.rglob("*.py") if pattern.endswith(".*") else [place.with_suffix(".py")]
        files = [path for path in paths if path.is_file() and path.name != "__init__.py"]
        if not files:
            raise LookupError(f"no module is called {pattern}")
        modules |= {".".join(path.relative_to(PACKAGE).with_suffix("").parts) for path in files}
    return sorted(modules)
