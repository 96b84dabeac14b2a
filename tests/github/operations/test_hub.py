"""The object: where token and addresses come from, its connections, its time, its errors."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest
import responses

from lifecycle import api
from lifecycle.api import Annotation, GitHub, LifecycleError, Refused, Rejected, Transient
from lifecycle.core import errors
from lifecycle.core.errors import BadConfig, BadCredentials, NoToken
from lifecycle.github.client.client_common import path_part
from lifecycle.github.client.rest import Calls
from lifecycle.sandbox.control.faults import Fault
from tests.github.operations.ground import APP, Ground, PatientClock, hub_on


def test_everything_comes_from_the_environment(ground: Ground, tmp_path: Path) -> None:
    """Token and addresses are found where every other part of the product finds them."""
    environment = {
        "GH_TOKEN": ground.info.token,
        "GITHUB_API_URL": ground.info.api_url,
        "GITHUB_GRAPHQL_URL": ground.info.graphql_url,
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    with GitHub(ground.info.repository, environment=environment) as hub:
        assert hub.issues.ensure_text(42, title="New").changed


def test_the_users_file_is_read(ground: Ground, tmp_path: Path) -> None:
    """The user's own file gives addresses, and a command for the token."""
    (tmp_path / "lifecycle").mkdir()
    (tmp_path / "lifecycle/config.toml").write_text(
        f'api_url = "{ground.info.api_url}"\ngraphql_url = "{ground.info.graphql_url}"\n'
        f'token_command = ["printf", "{ground.info.token}"]\n'
    )
    with GitHub(ground.info.repository, environment={"XDG_CONFIG_HOME": str(tmp_path)}) as hub:
        assert not hub.issues.ensure_open(42).changed
        assert hub.board(1).item(42) is not None


FORKED = """
import os
from lifecycle.api import GitHub

with GitHub("octo-org/hello-service") as hub:
    for _ in range(2):  # the parent once, then both
        hub.issues.ensure_open(42)
        hub.board(1).item(42)
        child = child if "child" in globals() else os.fork()
if child:
    raise SystemExit(os.waitpid(child, 0)[1])
"""


def test_a_forked_process_has_connections_of_its_own(ground: Ground) -> None:
    """On its parent's it would read the answers to others: an issue that exists was said to be missing."""
    around = {
        "GH_TOKEN": ground.info.token,
        "GITHUB_API_URL": ground.info.api_url,
        "GITHUB_GRAPHQL_URL": ground.info.graphql_url,
    }
    subprocess.run([sys.executable, "-c", FORKED], env=os.environ | around, check=True)
    assert len(ground.control.requests()) == 6
    assert ground.control.connections() == 4  # REST and GraphQL, of the parent and of the child


def test_a_request_beside_another_threads_is_no_redirect(ground: Ground) -> None:
    """One thread is all that is promised; but who forgot that was told to correct the API's URL."""
    ground.hub.issues.ensure_open(42)
    ground.control.set_latency(0.2)
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(ground.hub.issues.ensure_open, [42, 39])
        assert [each.now.number for each in found] == [42, 39]


def test_what_is_given_wins(ground: Ground) -> None:
    """A token and addresses that are given are used, whatever the environment says."""
    environment = {
        "GH_TOKEN": "another",
        "GITHUB_API_URL": "https://example.com",
        "GITHUB_GRAPHQL_URL": "https://example.com/graphql",
    }
    info = ground.info
    with GitHub(
        info.repository, token=info.token, api_url=info.api_url, environment=environment
    ) as hub:
        assert not hub.issues.ensure_open(42).changed
        assert hub.board(1).item(42) is not None  # GraphQL is found beside REST


def test_nothing_is_read_before_the_first_call() -> None:
    """Building needs neither token nor network; the first call says what is missing."""
    hub = GitHub("octo-org/hello-service", environment={"PATH": "", "HOME": "/nowhere"})
    hub.disconnect()
    with pytest.raises(NoToken):
        _ = hub.issues
    with pytest.raises(NoToken, match="empty"):
        _ = GitHub("octo-org/hello-service", token=" ", environment={}).issues
    with pytest.raises(BadConfig, match="owner/name"):
        GitHub("hello-service")


def test_no_secret_is_shown(ground: Ground) -> None:
    """The token is in no repr and in no error."""
    hub = GitHub("octo-org/hello-service", token="ghp_secret-123456", environment={},
                 api_url=ground.info.api_url)  # fmt: skip
    with hub, pytest.raises(BadCredentials) as caught:
        hub.issues.ensure_open(42)
    assert "token= of this call" in str(caught.value)
    for shown in (repr(hub), repr(hub.issues), str(caught.value), repr(vars(caught.value))):
        assert "ghp_secret" not in shown
    assert "give the token= of this call a valid one" in caught.value.sentence


def test_one_connection_serves_all_and_closes(ground: Ground) -> None:
    """REST and GraphQL have one connection each; after closing, the object opens others."""
    with hub_on(ground.info) as hub:
        for _ in range(3):
            hub.issues.ensure_open(42)
            hub.board(1).item(42)
        assert ground.control.connections() == 2
    hub.issues.ensure_open(42)
    assert ground.control.connections() == 3
    hub.disconnect()


def test_all_calls_share_their_time(ground: Ground) -> None:
    """When the time is up nothing more is sent, and the sentence says that another call does not help."""
    clock = PatientClock()
    hub = GitHub(ground.info.repository, token=ground.info.token, api_url=ground.info.api_url,
                 environment={}, clock=clock, seconds=10.0)  # fmt: skip
    with hub:
        hub.issues.ensure_open(42)
        clock.sleep(11)
        ground.asked()
        with pytest.raises(Transient, match=r"10 seconds of this object are over.*make a new one"):
            hub.issues.ensure_open(42)
    assert ground.asked() == []


def test_an_outage_is_transient(ground: Ground) -> None:
    """Nobody answers a read: tried three times, and then said, with nothing changed."""
    ground.unanswered("before", "GET", "/issues/42$", count=3)
    with pytest.raises(Transient, match="nothing was changed") as caught:
        ground.hub.issues.ensure_closed(42)
    assert not caught.value.is_ambiguous
    assert len(ground.asked()) == 3


@pytest.mark.parametrize("body", ["[]", '{"id": 1}', '"text"', "null", "<html>", ""])
def test_an_odd_answer_is_transient(body: str) -> None:
    """An answer of another shape than documented is neither believed nor a defect of ours."""
    address = "https://api.github.com:443/repos/octo-org/hello-service/issues/42"
    hub = GitHub("octo-org/hello-service", token="none", environment={}, clock=PatientClock())
    with hub, responses.RequestsMock() as mock:
        mock.get(address, body=body)
        with pytest.raises(Transient, match="cannot be read"):
            hub.issues.ensure_closed(42)


def test_a_remark_with_nulls_is_another() -> None:
    """GitHub may give a remark of a check run without a level and words; ours is added beside it."""
    base, sha = "https://api.github.com:443/repos/octo-org/hello-service", "a" * 40
    run = {"id": 7, "name": "lint", "head_sha": sha, "status": "queued", "html_url": "https://x"}
    page = {"title": "Two", "summary": "See", "annotations_count": 1}
    bare = dict.fromkeys(("annotation_level", "message", "title", "raw_details", "start_column"))
    runs = {"total_count": 1, "check_runs": [{**run, "output": page}]}
    hub = GitHub("octo-org/hello-service", token="none", environment={}, clock=PatientClock())
    with hub, responses.RequestsMock() as mock:
        mock.get("https://api.github.com:443/user", json={"login": "octocat"})
        mock.get(f"{base}/commits/{sha}/check-runs", json=runs)
        mock.get(
            f"{base}/check-runs/7/annotations",
            json=[{"path": "a.py", "start_line": 1, "end_line": 1} | bare],
        )
        more = {**run, "output": {**page, "annotations_count": 2}}
        mock.patch(f"{base}/check-runs/7", json=more)
        ensure, remark = hub.checks.ensure_check_run, Annotation("a.py", 1, 1, "notice", "Look.")
        done = ensure(
            "lint", sha, status="queued", title="Two", summary="See", annotations=(remark,)
        )
    assert (done.changed, done.now.annotations) == (True, 2)


def test_a_limit_keeps_its_time(ground: Ground) -> None:
    """A used-up limit on a write is said with the time to wait, and nothing is sent again."""
    limited = {"retry-after": "120"}
    ground.control.add_fault(
        Fault("status", method="POST", path="/comments$", status=403, headers=limited)
    )
    with pytest.raises(Transient, match="120 seconds") as caught:
        ground.hub.comments.ensure_comment(42, "k", "Text")
    assert (caught.value.retry_after, caught.value.is_ambiguous) == (120.0, False)


def test_a_token_of_no_user(app: Ground) -> None:
    """An app's token may not ask REST who it is; its own comments are known all the same."""
    assert app.hub.comments.ensure_comment(42, "k", "Text").changed
    assert not app.hub.comments.ensure_comment(42, "k", "Text").changed
    with hub_on(app.info, APP) as later:
        assert not later.comments.ensure_comment(42, "k", "Text").changed


def test_every_error_is_one_of_three(ground: Ground) -> None:
    """What a caller has to expect: refused, transient, rejected; nothing else."""
    for operation in (
        lambda: ground.hub.issues.ensure_open(4040),
        lambda: ground.hub.comments.ensure_comment(42, "a b", "Text"),
        lambda: ground.hub.pulls.ensure_pull_request("none", title="T"),
        lambda: ground.hub.board(9).ensure_item(45),
    ):
        with pytest.raises(LifecycleError) as caught:
            operation()
        assert isinstance(caught.value, (Refused, Transient, Rejected))
        assert str(caught.value).strip()
        assert "\n" not in str(caught.value)


def test_a_renamed_repository_is_told_with_its_name(ground: Ground) -> None:
    """Reads go on; a write is refused by an error that a program can catch, and that has the name."""
    ground.hub.comments.ensure_comment(42, "k", "One")
    name = ground.control.rename_repository("renamed")
    assert not ground.hub.comments.ensure_comment(42, "k", "One").changed
    with pytest.raises(api.Moved, match="a program") as caught:
        ground.hub.comments.ensure_comment(42, "k", "Two")
    assert caught.value.evidence == name == "octo-org/renamed"


def test_pages_are_followed(ground: Ground) -> None:
    """A list of more than a hundred is read to its end, by the page that GitHub names."""
    for number in range(101):
        ground.control.comment(42, f"Comment {number}")
    ground.hub.comments.ensure_comment(42, "k", "Text")
    ground.asked()
    assert not ground.hub.comments.ensure_comment(42, "k", "Text").changed
    assert ground.asked().count("GET /issues/42/comments") == 2


def test_calls_are_shared_by_the_groups(ground: Ground) -> None:
    """One client and one login serve all groups of an object: whose token it is, is asked once."""
    ground.hub.comments.ensure_comment(42, "k", "Text")
    ground.hub.comments.ensure_comment(42, "k", "Text")
    ground.hub.issues.ensure_issue("k", title="T")
    assert ground.asked().count("GET /user") == 1
    assert isinstance(ground.hub._calls, Calls)


def test_a_path_of_dots_is_never_sent(ground: Ground) -> None:
    """A path with a part of dots is refused wherever it comes from, and a name that is none, too."""
    calls = Calls(ground.hub._clients.rest, ground.hub.repository)
    for path in ("labels/..", "commits/./status", "../other/issues"):
        with pytest.raises(Refused, match="No API address can contain"):
            calls.create("DELETE", path, "a thing", dict)
    for name in ("", " ", ".", ".."):
        with pytest.raises(Refused, match="No API address can contain"):
            path_part(name)
    assert path_part("a/b..c") == "a%2Fb..c"
    assert ground.asked() == []


def test_every_error_that_a_contract_names_is_public(ground: Ground) -> None:
    """Whoever reads an operation's Raises can import each name from lifecycle.api."""
    hub = ground.hub
    parts = [hub, hub.board(1), hub.issues, hub.comments, hub.labels, hub.relations, hub.pulls,
             hub.merging, hub.checks, hub.statuses, hub.refs]  # fmt: skip
    texts = [
        inspect.getdoc(one) or ""
        for part_ in parts
        for one in (type(part_), *vars(type(part_)).values())
    ]
    known = {name for name, one in vars(errors).items() if isinstance(one, type)}
    named = {word for text in texts for word in re.findall(r"[A-Z]\w+", text)} & known
    assert {"NoPermission", "HeadMissing", "BadConfig", "NoToken"} <= named
    assert named <= set(api.__all__)


def test_a_text_where_a_list_belongs_is_refused(ground: Ground) -> None:
    """Python would read a text as the list of its letters: refused before anything is asked."""
    hub, text = ground.hub, cast("Any", "bug")
    for call in (
        lambda: hub.labels.ensure_labels(42, add=text, create=True),
        lambda: hub.labels.ensure_labels(42, remove=text),
        lambda: hub.labels.ensure_labels(42, only=text),
        lambda: hub.issues.ensure_assignees(42, add=text),
        lambda: hub.issues.ensure_assignees(42, only=text),
        lambda: hub.issues.ensure_issue("key", title="New", labels=text),
        lambda: hub.pulls.ensure_reviewers(42, people=text),
        lambda: hub.pulls.ensure_reviewers(42, teams=text),
        lambda: hub.pulls.ensure_not_reviewers(42, people=text),
    ):
        with pytest.raises(
            Refused, match=r"='bug' is not a list of names, so nothing was done; write "
        ):
            call()
    for other, words in ((7, "7"), (("a", 7), r"\('a', 7\)")):
        with pytest.raises(Refused, match=f"contains {words}, which is not a name"):
            hub.labels.ensure_labels(42, add=cast("Any", ["bug", other]))
    assert ground.asked() == []
    assert set(hub.labels.ensure_labels(42, only={"bug"}).now.labels) == {"bug"}


@pytest.mark.parametrize("name", [n for n in vars(api.Worktree) if n[0] != "_"])
def test_every_call_on_a_worktree_tells_its_contract(name: str) -> None:
    """Each public method says what goes in, what comes out, and what it raises."""
    method = vars(api.Worktree)[name]
    text = inspect.getdoc(method) or ""
    assert text
    if isinstance(method, property) or name == "disconnect":
        return
    for parameter in [*inspect.signature(method).parameters][1:]:
        assert re.search(rf"(?m)^    {parameter}: ", text), parameter
    assert "\nReturns:\n" in text
    assert "\nRaises:\n" in text


def test_a_worktree_is_named_by_a_text_or_a_path(tmp_path: Path) -> None:
    """`Worktree("path")` is the same place as `Worktree(Path("path"))`."""
    assert api.Worktree(str(tmp_path)).root == api.Worktree(tmp_path).root == tmp_path
    assert api.Worktree(".").root == Path.cwd()


def test_a_folder_of_a_worktree_stands_for_it(tmp_path: Path) -> None:
    """A claim file never lies in a subfolder, where no hook sees it; what is no folder is refused."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "file").touch()
    link = tmp_path / "other/link"
    (link.parent / ".git").mkdir(parents=True)
    link.symlink_to(tmp_path / "sub")
    for folder in (tmp_path / "sub", tmp_path / "sub/../sub", link):
        assert api.Worktree(folder).root == tmp_path
    for gone in (tmp_path / "file", tmp_path / "gone"):
        tree = api.Worktree(gone, environment={})
        assert tree.root == gone
        with pytest.raises(Refused, match="no folder"):
            tree.claim(42)
