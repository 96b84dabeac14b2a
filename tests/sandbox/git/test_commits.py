"""Commits, files and git's objects over REST."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from requests import Response

    from lifecycle.sandbox.control import Control

    Api = Callable[..., Response]


def test_commits_are_listed_by_branch_and_path(api: Api, control: Control) -> None:
    """Newest first, from a branch or a sha, only those of a path, page by page."""
    first = control.push_commit("work", {"a.txt": "a"}, "Add a")
    second = control.push_commit("work", {"b.txt": "b\n"}, "Add b\n\nWith a body.")
    found = api("GET", "commits", params={"sha": "work"}).json()
    assert [one["commit"]["message"].splitlines()[0] for one in found] == [
        "Add b", "Add a", "Initial commit",
    ]  # fmt: skip
    assert found[0]["author"]["login"] == found[1]["author"]["login"]
    one = api("GET", "commits", params={"sha": "work", "path": "a.txt"}).json()
    assert [c["sha"] for c in one] == [first]
    page = api("GET", "commits", params={"sha": second, "per_page": 1, "page": 2})
    assert [c["sha"] for c in page.json()] == [first]
    assert set(page.links) == {"prev", "next", "first", "last"}
    assert api("GET", "commits", params={"sha": "nowhere"}).status_code == 404


def test_a_commit_tells_what_it_changed(api: Api, control: Control) -> None:
    """Files with their hunks and counts; as a diff or as its sha for who accepts that; 422 else."""
    sha = control.push_commit("work", {"greeting.py": "x = 1\n", "queue.py": None}, "Change")
    found = api("GET", f"commits/{sha}").json()
    files = {one["filename"]: one for one in found["files"]}
    assert files["queue.py"]["status"] == "removed"
    assert files["greeting.py"]["status"] == "modified"
    assert files["greeting.py"]["patch"].startswith("@@ ")
    assert found["stats"]["total"] == sum(one["changes"] for one in found["files"])
    diff = api("GET", "commits/work", headers={"Accept": "application/vnd.github.diff"})
    assert diff.text.startswith("diff --git ")
    plain = api("GET", "commits/work", headers={"Accept": "application/vnd.github.sha"})
    assert plain.text == sha
    assert api("GET", "commits/nowhere").status_code == 422
    assert api("GET", "commits/HEAD").json()["commit"]["message"] == "Initial commit"
    (where,) = api("GET", f"commits/{sha}/branches-where-head").json()
    assert where["name"] == "work"


def test_comparing_two_ends(api: Api, control: Control) -> None:
    """identical, ahead, behind and diverged, with the commits that only the head has."""
    control.push_commit("work", {"a.txt": "a"}, "Work")
    control.push_commit("other", {"b.txt": "b"}, "Other")

    def compared(ends: str) -> Any:
        answer = api("GET", f"compare/{ends}").json()
        return answer["status"], answer["ahead_by"], answer["behind_by"]

    assert compared("main...main") == ("identical", 0, 0)
    assert compared("main...work") == ("ahead", 1, 0)
    assert compared("work...main") == ("behind", 0, 1)
    assert compared("work...octo-org:other") == ("diverged", 1, 1)
    found = api("GET", "compare/main...work").json()
    assert [one["commit"]["message"] for one in found["commits"]] == ["Work"]
    assert [one["filename"] for one in found["files"]] == ["a.txt"]
    assert api("GET", "compare/main...nowhere").status_code == 404


def test_files_are_written_with_what_they_replace(api: Api) -> None:
    """PUT makes (201) and changes (200) a file; without the old sha 422, with another 409."""
    text = base64.b64encode(b"one\n").decode()
    made = api("PUT", "contents/docs/a.txt", json={"message": "Add", "content": text})
    assert made.status_code == 201
    sha = made.json()["content"]["sha"]
    found = api("GET", "contents/docs/a.txt").json()
    assert (found["sha"], base64.b64decode(found["content"])) == (sha, b"one\n")
    body = {"message": "Change", "content": base64.b64encode(b"two\n").decode()}
    assert api("PUT", "contents/docs/a.txt", json=body).status_code == 422
    stale = api("PUT", "contents/docs/a.txt", json={**body, "sha": "1" * 40})
    assert (stale.status_code, stale.json()["message"]) == (
        409, f"docs/a.txt does not match {'1' * 40}",
    )  # fmt: skip
    assert api("PUT", "contents/docs/a.txt", json={**body, "sha": sha}).status_code == 200
    raw = api("GET", "contents/docs/a.txt", headers={"Accept": "application/vnd.github.raw+json"})
    assert raw.text == "two\n"
    new = api("GET", "contents/docs/a.txt").json()["sha"]
    gone = api("DELETE", "contents/docs/a.txt", json={"message": "Remove", "sha": new})
    assert (gone.status_code, gone.json()["content"]) == (200, None)
    assert api("GET", "contents/docs/a.txt").status_code == 404
    lost = api("PUT", "contents/x", json={**body, "branch": "nowhere"})
    assert (lost.status_code, lost.json()["message"]) == (404, "Branch nowhere not found")


def test_folders_and_the_readme(api: Api) -> None:
    """A folder is a list of what is in it; the readme is found without its name."""
    listed = {one["path"]: one["type"] for one in api("GET", "contents/").json()}
    assert (listed["tests"], listed["README.md"]) == ("dir", "file")
    inside = api("GET", "contents/tests").json()
    assert [one["path"] for one in inside] == ["tests/test_greeting.py"]
    readme = api("GET", "readme").json()
    assert base64.b64decode(readme["content"]).startswith(b"# hello-service")


def test_objects_by_hand(api: Api) -> None:
    """Blob, tree, commit and tag are made apart, and a ref to them last: a release by hand."""
    blob = api("POST", "git/blobs", json={"content": "hi\n", "encoding": "utf-8"}).json()["sha"]
    assert base64.b64decode(api("GET", f"git/blobs/{blob}").json()["content"]) == b"hi\n"
    base = api("GET", "git/ref/heads/main").json()["object"]["sha"]
    entries = [
        {"path": "hi.txt", "mode": "100644", "type": "blob", "sha": blob},
        {"path": "deep/new.txt", "mode": "100644", "type": "blob", "content": "new"},
        {"path": "queue.py", "mode": "100644", "type": "blob", "sha": None},
    ]
    tree = api("POST", "git/trees", json={"base_tree": base, "tree": entries}).json()["sha"]
    whole = api("GET", f"git/trees/{tree}", params={"recursive": 1}).json()
    paths = {one["path"] for one in whole["tree"]}
    assert {"hi.txt", "deep", "deep/new.txt", "README.md"} <= paths
    assert "queue.py" not in paths
    author = {"name": "Ada", "email": "ada@example.com", "date": "2020-01-02T03:04:05Z"}
    body = {"message": "By hand", "tree": tree, "parents": [base], "author": author}
    commit = api("POST", "git/commits", json=body).json()
    assert (commit["author"], commit["committer"]["name"]) == (author, "Ada")
    wanted = {"tag": "v1", "message": "First", "object": commit["sha"], "type": "commit"}
    tag = api("POST", "git/tags", json=wanted).json()
    assert api("GET", f"git/tags/{tag['sha']}").json()["object"]["sha"] == commit["sha"]
    api("POST", "git/refs", json={"ref": "refs/tags/v1", "sha": tag["sha"]})
    assert api("GET", "git/ref/tags/v1").json()["object"]["type"] == "tag"
    (listed,) = api("GET", "tags").json()
    assert (listed["name"], listed["commit"]["sha"]) == ("v1", commit["sha"])
    wrong = api("POST", "git/commits", json={"message": "x", "tree": "1" * 40})
    assert (wrong.status_code, wrong.json()["message"]) == (422, "Tree SHA does not exist")
    assert api("GET", f"git/commits/{tree}").status_code == 404


def test_branches_and_merges(api: Api, control: Control) -> None:
    """Branches tell commit and protection; POST merges is 201, then 204, and 409 for a conflict."""
    tip = control.push_commit("work", {"a.txt": "a"}, "Work")
    control.push_commit("clash", {"a.txt": "b"}, "Clash")
    assert [one["name"] for one in api("GET", "branches").json()] == ["clash", "main", "work"]
    found = api("GET", "branches/work").json()
    assert (found["commit"]["sha"], found["protected"]) == (tip, False)
    assert api("GET", "branches/nowhere").json()["message"] == "Branch not found"
    body = {"base": "main", "head": "work"}
    merged = api("POST", "merges", json=body)
    assert (merged.status_code, len(merged.json()["parents"])) == (201, 2)
    assert api("POST", "merges", json=body).status_code == 204
    conflict = api("POST", "merges", json={"base": "main", "head": "clash"})
    assert (conflict.status_code, conflict.json()["message"]) == (409, "Merge conflict")
