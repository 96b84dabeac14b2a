"""Where GitHub's own description is wrong about GitHub, each with its witness.

What stands here is no finding on the sandbox. It is on recorded answers: the calibration counts it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conformance.exchange import Finding


@dataclass(frozen=True, slots=True)
class Lie:
    """A finding that says nothing against an answer.

    Attributes:
        where: The call and status, as a regular expression.
        pointer: The place, as a regular expression.
        what: What the oracle says there, as a regular expression.
        witness: A recording that shows the same, or a public thread about it.
    """

    where: str
    pointer: str
    what: str
    witness: str

    def excuses(self, finding: Finding) -> bool:
        """Whether a finding is this one."""
        return (
            re.fullmatch(self.where, finding.where) is not None
            and re.fullmatch(self.pointer, finding.pointer) is not None
            and re.fullmatch(self.what, finding.what) is not None
        )


NULL = 'null is not of type "string"'
ORGANIZATION = r"(GET|PATCH) /orgs/\{org\} 200"
LIES = (
    Lie(ORGANIZATION, "/(company|email|blog)", NULL, "Organization.testOrgVariable.txt"),
    Lie(
        ORGANIZATION,
        "/location",
        NULL,
        "https://github.com/github/rest-api-description/issues/2507",
    ),
    # The account is said to be a user and an enterprise at once, where one of both is meant.
    Lie(
        r"GET /app/installations 200",
        r"/\d+/account",
        '"(name|slug|created_at|updated_at)" is a required property',
        "Installation.setUp.txt",
    ),
    Lie(
        r"(GET|POST|DELETE|PATCH|PUT) .* 20\d",
        r".*/homepage",
        '"" is not a "uri"',
        "SubIssue.testRemoveSubIssue.txt",
    ),
    Lie(
        r"GET /repos/\{owner\}/\{repo\}/pulls/\{pull_number\} 200",
        "/head/(label|user|repo)",
        r'null is not of type "(string|object)"',
        "PullRequest.setUp.txt",
    ),
    # The simple pull request forgets that a label may have no description, which the whole one knows.
    Lie(
        r"(GET|POST|DELETE) .*/(pulls|requested_reviewers) 20\d",
        r"(/\d+)?/labels/\d+/description",
        NULL,
        "https://github.com/github/rest-api-description/issues/1812",
    ),
    Lie(
        r"GET .*/actions/runs(/\{run_id\})? 200",
        r".*/head_commit/author/email",
        r'"\d+\+\w+\[bot\]@users\.noreply\.github\.com" is not a "email"',
        "PullRequest2408.test_get_workflow_runs.txt",
    ),
    # A comment on lines that the head no longer has is at no line and no position.
    Lie(
        r"GET /repos/\{owner\}/\{repo\}/pulls/(\{pull_number\}/)?comments(/\{comment_id\})? 200",
        r"(/\d+)?/position",
        'null is not of type "integer"',
        "https://github.com/github/rest-api-description/issues/1901",
    ),
    Lie(
        r"GET /repos/\{owner\}/\{repo\}/pulls/(\{pull_number\}/)?comments(/\{comment_id\})? 200",
        r"(/\d+)?/line",
        'null is not of type "integer"',
        "https://github.com/vitali87/croft/pull/454",
    ),
    # An issue without a body has null in every list that was recorded; of search there is no recording.
    Lie(
        r"GET /search/issues 200",
        r"/items/\d+/body",
        NULL,
        "https://github.com/HubTurbo/HubTurbo/issues/838",
    ),
)
