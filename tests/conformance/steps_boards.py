"""The walk past boards, of an organization and of a user."""

from __future__ import annotations

from tests.conformance.tour import Step


def _of(board: str) -> tuple[Step, ...]:
    """Every call of one board; `board` is its path without its number."""
    name = board.strip("/").partition("/")[0]
    return (
        Step("GET", f"{board}?per_page=1"),
        Step("GET", f"{board}/1"),
        Step("GET", f"{board}/1/fields?per_page=3"),
        Step("POST", f"{board}/1/fields", {"name": f"Walked {name}", "data_type": "text"},
             ("field", "id"), 201),
        Step("GET", f"{board}/1/fields/{{field}}"),
        Step("POST", f"{board}/1/items", {"type": "Issue", "id": "{issue_id}"}, ("item", "id"), 201),
        Step("GET", f"{board}/1/items?per_page=2&fields={{field}}"),
        Step("PATCH", f"{board}/1/items/{{item}}", {"fields": [{"id": "{field}", "value": "seen"}]}),
        Step("GET", f"{board}/1/items/{{item}}?fields={{field}}"),
        Step("DELETE", f"{board}/1/items/{{item}}", status=204),
        Step("GET", f"{board}/99", status=404),
    )  # fmt: skip


STEPS = (
    Step("GET", "issues/{issue}", keep=("issue_id", "id")),
    Step("GET", "/user", keep=("user_id", "id")),
    *_of("/orgs/octo-org/projectsV2"),
    *_of("/users/maria/projectsV2"),
    Step("POST", "/orgs/octo-org/projectsV2/1/drafts", {"title": "later"}, status=201),
    Step("POST", "/user/{user_id}/projectsV2/1/drafts", {"title": "later"}, status=201),
)
