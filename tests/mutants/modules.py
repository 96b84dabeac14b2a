"""The modules that decide: which are pure, which are mutated, and where the tests of each room lie."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "lifecycle"

PURE = (
    "claim.decisions.*",
    "claim.linked.linked_decisions",
    "claim.record.file_merge",
    "core.hidden_marker",
    "core.machine",
    "core.plan",
    "core.stage_names",
    "core.tracker",
    "core.values.checks",
    "core.values.failed_checks",
    "core.values.merging",
    "core.values.model",
    "core.values.priorities",
    "core.values.shapes",
    "core.values.survey",
    "evidence.checks.run_findings",
    "evidence.command_lines",
    "evidence.outcomes",
    "evidence.reading",
    "evidence.runners.runner_options",
    "evidence.test_runs",
    "evidence.words.claim_words",
    "evidence.words.own_words",
    "evidence.words.prose_blocks",
    "feedback.checks.anchors",
    "feedback.checks.excerpt",
    "feedback.checks.failing_tests",
    "feedback.checks.kept_log",
    "feedback.checks.log_lines",
    "feedback.checks.packet",
    "feedback.checks.packet_text",
    "feedback.failures.failure_identity",
    "feedback.failures.failure_ledger",
    "feedback.failures.failure_words",
    "feedback.failures.infrastructure",
    "feedback.failures.ladder",
    "feedback.failures.tampering",
    "feedback.merging.conflict_text",
    "feedback.reviews.remarks",
    "feedback.reviews.review_ledger",
    "feedback.reviews.review_packet",
    "feedback.reviews.rounds",
    "feedback.waiting.endings",
    "feedback.waiting.look_rounds",
    "run.gates.gate_records",
    "run.gates.gate_rules",
    "run.gates.run_moves",
    "run.gates.reviews",
    "run.long_run",
    "run.stop.decide",
    "run.stop.next_step",
    "run.trouble.blockers",
    "run.trouble.story_failures",
    "run.trouble.external_services",
    "settings.persons",
    "run.trouble.story_failures",
    "run.trouble.blockers",
    "stages.decisions.*",
    "stages.detection.*",
    "workflow.decide",
    "workflow.documents.*",
    "workflow.sources.source_text",
    "workflow.state",
    "workflow.table",
)
"""What decides: it imports no clock, no file, no process and no network (`tests/test_imports.py`)."""

ALSO_MUTATED = (
    "evidence.runners.project_rows",
    "evidence.runners.runner_table",
    "github.failures.*",
    "github.pulls.rollup",
    "reconcile.judge",
    "storage.state_file",
    "views.stats.summary",
    "views.stats.visits",
)
"""What translates or keeps, and decides in doing so: what an answer of GitHub means, what is said again."""

FOLDERS = {
    "claim": "tests/claim",
    "core": "tests/core",
    "evidence": "tests/evidence",
    "feedback": "tests/feedback",
    "github": "tests/github",
    "reconcile": "tests/reconcile",
    "run": "tests/run",
    "settings": "tests/settings",
    "stages": "tests/stages",
    "storage": "tests/storage",
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
