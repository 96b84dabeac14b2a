"""A crowd on one claim: hooks, commands and an agent's own edits at the same time, often in `make soak`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import pytest

from lifecycle.api import Wake, Worktree
from lifecycle.claim.record.claim_store import ClaimStore
from lifecycle.core.timing import SystemClock
from lifecycle.sandbox.control import ControlError
from lifecycle.storage.store import CLAIM_FILE
from tests.conftest import Place
from tests.e2e.crowd import HEARD
from tests.factories import values
from tests.repeated import soaked

REPOSITORY = Path(__file__).parents[1]
SESSION = "11111111-aaaa-4bbb-8ccc-000000000001"
SECONDS = 100


class Crowd:
    """Processes that play their parts on one claim, until all have played all their rounds."""

    def __init__(self, root: Path, environment: Mapping[str, str], **rounds: int) -> None:
        self.processes = {
            part: subprocess.Popen(
                [sys.executable, "-m", "tests.e2e.crowd", part, str(root), str(count)],
                cwd=REPOSITORY,
                env={**environment, "CLAUDE_CODE_SESSION_ID": SESSION},
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for part, count in rounds.items()
        }

    @property
    def is_busy(self) -> bool:
        """True while one of them still plays."""
        return any(process.poll() is None for process in self.processes.values())

    def heard(self) -> dict[str, list[str]]:
        """What each part heard; all of them must have come to their end without a complaint."""
        found: dict[str, list[str]] = {}
        for part, process in self.processes.items():
            stdout, stderr = process.communicate(timeout=SECONDS)
            assert (process.returncode, stderr) == (0, b""), (part, stderr.decode())
            found[part] = json.loads(stdout)
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.processes.values():
            if process.poll() is None:
                process.kill()
            process.communicate()


@pytest.mark.parametrize("share", [24, soaked(1, id="1")])
def test_many_rounds_lose_no_edit_and_no_news(tmp_path: Path, share: int) -> None:
    """Without GitHub: each edit of the agent's survives, each piece of news is offered to one channel.

    The agent itself looks before each edit whether its last one is still whole. What is left on the
    queue at the end is taken by one more look, so that not one key is missing either.
    """
    (tmp_path / ".git").mkdir()
    content = values(phase="coding", x_count=-1)
    (tmp_path / CLAIM_FILE).write_text(json.dumps(content))
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "AGENT": "moody"}
    Worktree(tmp_path, environment=environment).tick(Wake.STOP)
    rounds = {
        "agent": 1800,
        "stop": 200,
        "idle": 200,
        "watch": 120,
        "prompt": 120,
        "start": 40,
        "poll": 300,
        "nudge": 100,
        "command": 60,
        "tell": 250,
        "read": 4000,
    }
    rounds = {part: count // share for part, count in rounds.items()}
    with Crowd(tmp_path, environment, **rounds) as crowd:
        heard = crowd.heard()
    rest = json.dumps([say.text for say in Worktree(tmp_path).tick(Wake.STOP).said])
    times = Counter(name for names in heard.values() for name in names)
    times.update(f"news-{n}" for n in range(rounds["tell"]) if f"news-{n}." in rest)
    assert {name: count for name, count in times.items() if count > 1} == {}
    assert {n for n in range(rounds["tell"]) if not times[f"news-{n}"]} == set()
    claim = json.loads((tmp_path / CLAIM_FILE).read_text())
    last = rounds["agent"] - 1
    assert (claim["summary"], claim["x_count"]) == (f"Summary {last}", last)
    assert claim["branch"] == f"claude/turn-{last // 40 * 40}"
    assert claim["last_check_poll"] == f"poll {rounds['poll'] - 1}"
    untouched = ("schema_version", "item_id", "issue_number", "agent_id", "last_synced_status")
    assert {name: claim[name] for name in untouched} == {name: content[name] for name in untouched}
    record = ClaimStore(tmp_path, SystemClock()).load(repair=False).record
    assert record is not None
    moves = [f"nudge {n}" for n in range(rounds["nudge"])]
    assert [nudge.reason for nudge in record.nudges] == moves[-len(record.nudges) :]
    assert not list(tmp_path.glob(f"{CLAIM_FILE}.*"))


@pytest.mark.parametrize("share", [10, soaked(1, id="1")])
def test_a_crowd_on_an_open_pull_request(place: Place, share: int) -> None:
    """Against GitHub: hand-offs, polls and failing checks come together, and all of it stays in step.

    One PR however often the agent asks for it; each failure is told once; the engine's fields and the
    agent's are both there at the end.
    """
    (place.root / ".lifecycle.toml").write_text("[checks]\npoll_seconds = 0.01\n")
    place.ready(x_count=-1, phase="coding", status="In Progress")
    place.tree().tick(Wake.STOP)
    place.write(phase="ready_for_pr", status="In Review")
    environment = {**place.environment, "AGENT": "eager"}
    rounds = {
        "agent": 500,
        "stop": 50,
        "idle": 40,
        "watch": 40,
        "look": 20,
        "prompt": 40,
        "read": 1000,
    }
    rounds = {part: count // share for part, count in rounds.items()}
    with Crowd(place.root, environment, **rounds) as crowd:
        failures, requests = 0, 0
        while crowd.is_busy:
            requests += 8
            with contextlib.suppress(ControlError):  # nobody asks any more
                place.control.wait_for_requests(requests, seconds=1)
            if place.pulls():
                place.control.set_check(46, f"flaky-{failures}")
                failures += 1
                place.control.set_check(46, f"flaky-{failures}", conclusion="failure")
        heard = crowd.heard()
    times = Counter(name for names in heard.values() for name in names)
    asked = [r.operation or r.path.rpartition("/")[2] for r in place.writes()]
    assert asked.count("pulls") + asked.count("OpenPullRequest") == 1
    assert list(place.pulls()) == [46]
    place.write(phase="ready_for_pr", status="In Review")
    place.tree().tick()
    # What failed too late for the crowd is told now, with what fails for certain after it.
    place.control.set_check(46, f"flaky-{failures}", conclusion="failure")
    texts = [notice.text for _ in range(2) for notice in place.tree().tick().said]
    times.update(name for text in texts for name in HEARD.findall(text))
    assert (times[f"flaky-{failures}"], [name for name in times if times[name] > 1]) == (1, [])
    claim, last = place.claim(), rounds["agent"] - 1
    assert (claim["summary"], claim["x_count"]) == (f"Summary {last}", last)
    assert (claim["pr_number"], claim["item_id"]) == (46, place.item_id())
    assert claim["phase"] in ("pr_created", "checks_running")
    assert claim["last_synced_status"] == place.card()["Status"] == "In Review"
    assert not list(place.root.glob(f"{CLAIM_FILE}.*"))
