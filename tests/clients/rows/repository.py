"""Repositories, their branches, rules and git data."""

from __future__ import annotations

from tests.clients.rows.form import Row, gone

PROTECTION = {
    "required_status_checks": {"strict": False, "contexts": ["test"]},
    "enforce_admins": None,
    "required_pull_request_reviews": {"required_approving_review_count": 1},
    "restrictions": None,
}
RULESET = {
    "enforcement": "active",
    "conditions": {"ref_name": {"include": ["refs/heads/ruled-*"], "exclude": []}},
    "rules": [{"type": "deletion"}],
}

REPOSITORY = (
    Row("repos/get"),
    Row("repos/update", lambda _: {"description": "Greets"}),
    Row("repos/list-branches"),
    Row("repos/get-branch", lambda _: {"branch": "main"}),
    Row("repos/list-collaborators"),
    Row("repos/get-collaborator-permission-level", lambda _: {"username": "sam"}),
    Row("repos/list-commits", lambda _: {"per_page": 5}),
    Row("repos/get-commit", lambda s: {"ref": s.sha}),
    Row("repos/compare-commits", lambda s: {"basehead": f"main...{s.sha}"}),
    Row("repos/get-content", lambda _: {"path": "README.md"}),
    Row("repos/get-readme"),
    Row("repos/list-tags"),
    Row("repos/get-all-topics"),
    Row("repos/list-forks"),
    Row("repos/merge", lambda s: {"base": "main", "head": s.branch()[0]}, 201),
    Row("repos/get-branch-rules", lambda _: {"branch": "main"}),
    Row("repos/get-repo-rulesets"),
    Row("git/get-ref", lambda _: {"ref": "heads/main"}),
    Row("git/list-matching-refs", lambda _: {"ref": "heads/"}),
    Row("git/create-ref", lambda s: {"ref": f"refs/heads/{s.name('ref')}", "sha": s.sha}, 201),
    Row("git/update-ref", lambda s: {"ref": f"heads/{s.branch()[0]}", "sha": s.sha, "force": True}),
    gone("git/delete-ref", lambda s: {"ref": f"heads/{s.branch()[0]}"}),
    Row("git/get-commit", lambda s: {"commit_sha": s.sha}),
    Row("git/create-commit", lambda s: {"message": "M", "tree": s.tree, "parents": [s.sha]}, 201),
    Row("git/get-tree", lambda s: {"tree_sha": s.tree, "recursive": "1"}),
    Row("git/create-tree", lambda s: {"base_tree": s.tree, "tree": [
        {"path": "new.txt", "mode": "100644", "type": "blob", "content": "new"}]}, 201),
    Row("git/get-blob", lambda s: {"file_sha": s.blob}),
    Row("git/create-blob", lambda _: {"content": "text"}, 201),
    Row("git/get-tag", lambda s: {"tag_sha": s.tag()}),
    Row("git/create-tag", lambda s: {
        "tag": s.name("v"), "message": "M", "object": s.sha, "type": "commit"}, 201),
    Row("repos/create-in-org", lambda s: {"org": "octo-org", "name": s.name("made")}, 201),
    Row("repos/create-for-authenticated-user", lambda s: {"name": s.name("mine")}, 201),
    gone("repos/delete", lambda s: {"owner": "maria", "repo": s.repository()}),
    Row("repos/create-fork", lambda s: {"name": s.name("fork")}, 202),
    Row("repos/merge-upstream", lambda s: {
        "owner": "maria", "repo": s.behind, "branch": "main"}),
    Row("repos/replace-all-topics", lambda _: {"names": ["greeting"]}),
    Row("repos/add-collaborator", lambda s: {
        "owner": "maria", "repo": s.repository(), "username": "visitor", "permission": "push"},
        201),
    gone("repos/check-collaborator", lambda _: {"username": "sam"}),
    gone("repos/remove-collaborator", lambda s: {
        "owner": "maria", "repo": s.repository(), "username": "sam"}),
    Row("repos/list-branches-for-head-commit", lambda s: {"commit_sha": s.sha}),
    Row("repos/create-or-update-file-contents", lambda s: {
        "path": f"{s.name('file')}.txt", "message": "Add", "content": "aGk=",
        "branch": s.branch()[0]}, 201),
    Row("repos/delete-file", lambda s: {
        "path": f"{(n := s.branch()[0])}.txt", "branch": n, "message": "Delete",
        "sha": s.ask("GET", f"contents/{n}.txt?ref={n}")["sha"]}),
    Row("repos/update-branch-protection", lambda s: {"branch": s.branch()[0], **PROTECTION}),
    Row("repos/get-branch-protection", lambda s: {"branch": s.protected()}),
    gone("repos/delete-branch-protection", lambda s: {"branch": s.protected()}),
    Row("repos/get-status-checks-protection", lambda s: {"branch": s.protected()}),
    Row("repos/update-status-check-protection", lambda s: {
        "branch": s.protected(), "strict": True, "contexts": ["test"]}),
    gone("repos/remove-status-check-protection", lambda s: {"branch": s.protected()}),
    Row("repos/create-repo-ruleset", lambda s: {"name": s.name("rules"), **RULESET}, 201),
    Row("repos/get-repo-ruleset", lambda s: {"ruleset_id": s.ruleset()}),
    Row("repos/update-repo-ruleset", lambda s: {
        "ruleset_id": s.ruleset(), "enforcement": "disabled"}),
    gone("repos/delete-repo-ruleset", lambda s: {"ruleset_id": s.ruleset()}),
)  # fmt: skip
