"""Pull requests, reviews and their comments."""

from __future__ import annotations

from tests.clients.rows.form import Row, gone
from tests.clients.world import SAM

PULLS = (
    Row("pulls/list", lambda _: {"state": "all"}),
    Row("pulls/create", lambda s: {"title": "T", "head": s.branch()[0], "base": "main"}, 201),
    Row("pulls/get", lambda s: {"pull_number": s.proposal}),
    Row("pulls/update", lambda s: {"pull_number": s.pull(), "title": "New", "state": "closed"}),
    Row("pulls/list-files", lambda s: {"pull_number": s.proposal}),
    Row("pulls/list-commits", lambda s: {"pull_number": s.proposal}),
    gone("pulls/check-if-merged", lambda s: {"pull_number": s.merged}),
    Row("pulls/merge", lambda s: {"pull_number": s.pull(), "merge_method": "squash"}),
    Row("pulls/update-branch", lambda s: {"pull_number": s.late()}, 202),
    Row("pulls/list-reviews", lambda s: {"pull_number": s.proposal}),
    Row("pulls/create-review", lambda s: {
        "pull_number": s.pull(), "event": "APPROVE", "body": "Good"}, token=SAM),
    Row("pulls/get-review", lambda s: {
        "pull_number": s.proposal, "review_id": s.review(s.proposal)}),
    Row("pulls/update-review", lambda s: {
        "pull_number": s.proposal, "review_id": s.review(s.proposal), "body": "New"}, token=SAM),
    Row("pulls/submit-review", lambda s: {"pull_number": (n := s.pull()),
        "review_id": s.review(n, ""), "event": "COMMENT"}, token=SAM),
    Row("pulls/delete-pending-review", lambda s: {
        "pull_number": (n := s.pull()), "review_id": s.review(n, "")}, token=SAM),
    Row("pulls/dismiss-review", lambda s: {"pull_number": (n := s.pull()),
        "review_id": s.review(n, "APPROVE"), "message": "Stale"}),
    Row("pulls/list-comments-for-review", lambda s: {
        "pull_number": s.proposal, "review_id": s.review(s.proposal)}),
    Row("pulls/list-requested-reviewers", lambda s: {"pull_number": s.proposal}),
    Row("pulls/request-reviewers", lambda s: {"pull_number": s.pull(), "reviewers": ["sam"]}, 201),
    Row("pulls/remove-requested-reviewers", lambda s: {
        "pull_number": s.proposal, "reviewers": ["octocat"]}),
    Row("pulls/list-review-comments", lambda s: {
        "pull_number": (s.remark() and s.proposal)}),
    Row("pulls/list-review-comments-for-repo"),
    Row("pulls/get-review-comment", lambda s: {"comment_id": s.remark()}),
    Row("pulls/update-review-comment", lambda s: {"comment_id": s.remark(), "body": "New"}),
    gone("pulls/delete-review-comment", lambda s: {"comment_id": s.remark()}),
    Row("pulls/create-reply-for-review-comment", lambda s: {
        "pull_number": s.proposal, "comment_id": s.remark(), "body": "Because"}, 201),
    Row("repos/list-pull-requests-associated-with-commit", lambda s: {
        "commit_sha": s.ask("GET", f"pulls/{s.proposal}")["head"]["sha"]}),
    Row("pulls/create-review-comment", lambda s: {
        "pull_number": s.proposal, "body": "Why?", **s.line}, 201),
)  # fmt: skip
