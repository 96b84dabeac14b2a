"""Every step of the walk, in order: what one makes the next ones use."""

from __future__ import annotations

from tests.conformance import steps_boards, steps_issues, steps_pulls, steps_repositories

STEPS = steps_repositories.STEPS + steps_issues.STEPS + steps_boards.STEPS + steps_pulls.STEPS
