"""A world in which each endpoint has something to answer about; made over plain REST, unparsed."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import requests

from lifecycle.sandbox.checks.state import PlannedCheck
from lifecycle.sandbox.control import Control
from lifecycle.sandbox.server import SandboxInfo
from tests.clients.world import MARIA, ROBOT, SAM, VISITOR


@dataclasses.dataclass
class Scene:
    """What rows ask about. Things that a row uses up are made anew by a method; the rest are kept."""

    info: SandboxInfo
    control: Control
    session: requests.Session
    serial: Iterator[int] = dataclasses.field(default_factory=lambda: itertools.count(1))

    def ask(self, method: str, path: str, /, *, token: str = MARIA, **body: Any) -> Any:
        """One request, below the repository unless `/…`, which must succeed."""
        below = path if path.startswith("/") else f"/repos/{self.info.repository}/{path}"
        whole = f"{self.info.api_url}{below}"
        headers = {"Authorization": f"token {token}"}
        answer = self.session.request(method, whole, json=body or None, headers=headers, timeout=10)
        assert answer.ok, (method, path, answer.status_code, answer.text)
        return answer.json() if answer.content else None

    def name(self, stem: str) -> str:
        """A name that nothing has yet."""
        return f"{stem}-{next(self.serial)}"

    # -- branches and commits

    def branch(self, text: str = "one\n") -> tuple[str, str]:
        """A new branch with one commit, of a file of its own: its name and sha."""
        name = self.name("branch")
        return name, self.control.push_commit(name, {f"{name}.txt": text}, f"Add {name}")

    @cached_property
    def sha(self) -> str:
        """A commit of its own branch, with a check run, a status and a workflow behind it."""
        name, sha = self.branch()
        self.control.set_check(name, "test", conclusion="failure", event="push")
        self.control.set_status(name, "deploy", "success")
        return sha

    @cached_property
    def tree(self) -> str:
        """The tree of that commit."""
        return str(self.ask("GET", f"git/commits/{self.sha}")["tree"]["sha"])

    @cached_property
    def blob(self) -> str:
        """A file of that tree."""
        files = self.ask("GET", f"git/trees/{self.tree}")["tree"]
        return next(str(one["sha"]) for one in files if one["type"] == "blob")

    def tag(self) -> str:
        """A new annotated tag object."""
        made = self.ask(
            "POST", "git/tags", tag=self.name("v"), message="A tag", object=self.sha, type="commit"
        )
        return str(made["sha"])

    def repository(self) -> str:
        """A new repository of maria's, where sam may push: its name."""
        name = self.name("own")
        self.ask("POST", "/user/repos", name=name, auto_init=True)
        self.ask("PUT", f"/repos/maria/{name}/collaborators/sam", permission="push")
        return name

    @cached_property
    def behind(self) -> str:
        """A fork of maria's that lacks what main has got since: its name."""
        name = str(self.ask("POST", "forks", name=self.name("behind"))["name"])
        self.control.push_commit("main", {f"{name}.txt": "new"}, "Meanwhile")
        return name

    def protected(self) -> str:
        """A new branch with required checks and reviews: its name."""
        name, _ = self.branch()
        checks = {"strict": False, "contexts": ["test"]}
        self.ask(
            "PUT", f"branches/{name}/protection", required_status_checks=checks,
            enforce_admins=None, required_pull_request_reviews={}, restrictions=None,
        )  # fmt: skip
        return name

    def ruleset(self) -> int:
        """A new ruleset's id, for branches that nobody uses."""
        where = {"ref_name": {"include": ["refs/heads/ruled-*"], "exclude": []}}
        body: dict[str, Any] = {
            "name": self.name("rules"),
            "conditions": where,
            "rules": [{"type": "deletion"}],
        }
        return int(self.ask("POST", "rulesets", enforcement="active", **body)["id"])

    # -- issues

    def issue(self, **more: Any) -> int:
        """A new issue."""
        body = {"title": self.name("Issue"), "labels": ["bug"], "assignees": ["sam"], **more}
        return int(self.ask("POST", "issues", **body)["number"])

    @cached_property
    def rich(self) -> int:
        """An issue that has everything: milestone, labels, assignees, comments, and was closed."""
        number = self.issue(body="Text", milestone=self.milestone())
        self.control.comment(number, "A comment", by="sam")
        self.control.close_issue(number, reason="not_planned")
        return number

    def issue_id(self, number: int) -> int:
        """The database id of an issue."""
        return int(self.ask("GET", f"issues/{number}")["id"])

    def comment(self) -> int:
        """A new comment's id."""
        return int(self.ask("POST", f"issues/{self.rich}/comments", body="Again")["id"])

    def label(self) -> str:
        """A new label's name."""
        return str(self.ask("POST", "labels", name=self.name("label"), color="00ff00")["name"])

    def milestone(self) -> int:
        """A new milestone's number."""
        return int(self.ask("POST", "milestones", title=self.name("Milestone"))["number"])

    @cached_property
    def family(self) -> tuple[int, int]:
        """An issue and its sub-issue."""
        parent, child = self.issue(), self.issue()
        self.ask("POST", f"issues/{parent}/sub_issues", sub_issue_id=self.issue_id(child))
        return parent, child

    def siblings(self) -> tuple[int, int, int]:
        """An issue and two sub-issues."""
        parent, *children = numbers = (self.issue(), self.issue(), self.issue())
        for child in children:
            self.ask("POST", f"issues/{parent}/sub_issues", sub_issue_id=self.issue_id(child))
        return numbers

    @cached_property
    def chain(self) -> tuple[int, int]:
        """An issue, and another one that blocks it."""
        waits, blocks = self.issue(), self.issue()
        self.ask("POST", f"issues/{waits}/dependencies/blocked_by", issue_id=self.issue_id(blocks))
        return waits, blocks

    # -- pull requests

    def pull(self, *, draft: bool = False, token: str = MARIA) -> int:
        """A new pull request of a new branch."""
        name, _ = self.branch()
        body = {"title": name, "head": name, "base": "main", "body": "Refs #42", "draft": draft}
        return int(self.ask("POST", "pulls", token=token, **body)["number"])

    @cached_property
    def proposal(self) -> int:
        """A pull request with a label, an assignee, a reviewer, reviews and a comment on a line."""
        number = self.pull()
        self.ask("POST", f"issues/{number}/labels", labels=["bug"])
        self.ask("POST", f"issues/{number}/assignees", assignees=["sam"])
        self.ask("POST", f"pulls/{number}/requested_reviewers", reviewers=["octocat"])
        self.review(number)
        return number

    @cached_property
    def merged(self) -> int:
        """A merged pull request."""
        number = self.pull()
        self.control.merge_pull(number)
        return number

    def review(self, number: int, event: str = "COMMENT") -> int:
        """A new review by sam; PENDING if the event is empty."""
        body = {"body": "Hm", **({"event": event} if event else {})}
        return int(self.ask("POST", f"pulls/{number}/reviews", token=SAM, **body)["id"])

    @cached_property
    def line(self) -> dict[str, Any]:
        """A line of the proposal, for a comment."""
        head = self.ask("GET", f"pulls/{self.proposal}")["head"]
        where = {"commit_id": head["sha"], "path": f"{head['ref']}.txt"}
        return {**where, "line": 1, "side": "RIGHT"}

    def remark(self) -> int:
        """A new comment on a line of the proposal."""
        made = self.ask("POST", f"pulls/{self.proposal}/comments", **{"body": "Why?", **self.line})
        return int(made["id"])

    def late(self) -> int:
        """A new pull request whose base has moved on."""
        number = self.pull()
        self.control.push_commit("main", {f"{self.name('main')}.txt": "new"}, "Meanwhile")
        return number

    # -- checks

    def check(self) -> int:
        """A new check run by an App, with an annotation."""
        annotation = {
            "path": "greeting.py",
            "start_line": 1,
            "end_line": 1,
            "annotation_level": "warning",
            "message": "Odd",
        }
        output = {"title": "T", "summary": "S", "annotations": [annotation]}
        body = {"name": self.name("check"), "head_sha": self.sha, "output": output}
        made = self.ask("POST", "check-runs", token=ROBOT, conclusion="neutral", **body)
        return int(made["id"])

    @cached_property
    def suite(self) -> int:
        """The id of a check suite."""
        found = self.ask("GET", f"commits/{self.sha}/check-suites")["check_suites"]
        return int(found[0]["id"])

    @cached_property
    def run(self) -> int:
        """The id of a workflow run."""
        found = self.ask("GET", f"actions/runs?head_sha={self.sha}")["workflow_runs"]
        return int(found[0]["id"])

    def failed_run(self) -> int:
        """The id of a new workflow run that failed."""
        name, sha = self.branch()
        self.control.set_check(name, "test", conclusion="failure", event="push")
        return int(self.ask("GET", f"actions/runs?head_sha={sha}")["workflow_runs"][0]["id"])

    def live_run(self) -> int:
        """The id of a new workflow run that goes on."""
        name, sha = self.branch()
        self.control.set_check(name, "test", status="in_progress", conclusion=None, event="push")
        return int(self.ask("GET", f"actions/runs?head_sha={sha}")["workflow_runs"][0]["id"])

    def job(self, run: int | None = None) -> int:
        """The id of a workflow run's job."""
        return int(self.ask("GET", f"actions/runs/{run or self.run}/jobs")["jobs"][0]["id"])

    @cached_property
    def workflow(self) -> int:
        """The id of a workflow."""
        return int(self.sha and self.ask("GET", "actions/workflows")["workflows"][0]["id"])

    def spare_workflow(self) -> int:
        """The id of a new workflow that nobody else needs."""
        name = self.name("Workflow")
        self.control.set_check(self.branch()[0], "test", workflow=name, event="push")
        found = self.ask("GET", "actions/workflows?per_page=100")["workflows"]
        return next(int(one["id"]) for one in found if one["name"] == name)

    def apps_suite(self) -> int:
        """The id of a check suite that the App made."""
        body = {"name": self.name("check"), "head_sha": self.branch()[1]}
        return int(self.ask("POST", "check-runs", token=ROBOT, **body)["check_suite"]["id"])

    def held_run(self) -> int:
        """The id of a workflow run of a stranger's fork, which waits for somebody to approve it."""
        self.control.plan_checks(PlannedCheck("test"))
        fork = str(self.ask("POST", "forks", token=VISITOR, name=self.name("fork"))["full_name"])
        sha = self.control.at(fork).push_commit("work", {"work.txt": "1"}, "Work", by="visitor")
        body = {"title": "From outside", "head": "visitor:work", "base": "main"}
        self.ask("POST", "pulls", token=VISITOR, head_repo=fork.partition("/")[2], **body)
        self.control.plan_checks()
        runs = self.ask("GET", f"actions/runs?head_sha={sha}")["workflow_runs"]
        return int(runs[0]["id"])

    # -- boards

    @cached_property
    def maria(self) -> str:
        """Maria's id, as a path has it."""
        return str(self.ask("GET", "/users/maria")["id"])

    def board(self, owner: str) -> str:
        """The path of somebody's board."""
        kind, number = ("orgs", 1) if owner == "octo-org" else ("users", 2)
        return f"/{kind}/{owner}/projectsV2/{number}"

    def field(self, owner: str, name: str) -> int:
        """The id of a field of somebody's board."""
        found = self.ask("GET", f"{self.board(owner)}/fields")
        return next(int(one["id"]) for one in found if one["name"] == name)

    def item(self, owner: str) -> int:
        """The id of a new card on somebody's board."""
        body: dict[str, Any] = {"type": "Issue", "id": self.issue_id(self.issue())}
        made = self.ask("POST", f"{self.board(owner)}/items", **body)
        return int(made["id"])
