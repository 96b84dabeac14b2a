"""All overviews of a user: read when a file changed, and one that is broken costs no other."""

from __future__ import annotations

import os
import shutil
from datetime import datetime
from pathlib import Path

from lifecycle.settings import user_folder
from lifecycle.storage.store import CLAIM_FILE
from lifecycle.views.web import web_page
from lifecycle.views.web.all_worktrees import (
    BUDGET,
    LISTED,
    PAUSE,
    STALE,
    AllOverviews,
    AllWorktrees,
)
from tests.views.overview.overview_ground import OverviewGround
from tests.views.web.web_ground import StillClock, WebGround


def moments(world: AllOverviews) -> list[float]:
    """When each worktree was read."""
    return [one.at for one in world.overviews]


def later(user: WebGround, ground: OverviewGround, text: str) -> None:
    """Change the claim's file, with another date."""
    path = ground.root / CLAIM_FILE
    path.write_text(path.read_text().replace("octo-org", text))
    os.utime(path, ns=(1, int(user.clock.now() * 1e9)))


def test_a_user_without_clones_has_nothing(user: WebGround) -> None:
    """Nothing is known, and that is no trouble."""
    world = user.worktrees().look()
    assert (world.overviews, world.clones, world.unread, world.trouble) == ((), 0, 0, "")


def test_every_worktree_of_every_clone_is_there(user: WebGround) -> None:
    """Main and linked ones, with work or without, by clone."""
    one, other = user.clone("one"), user.clone("other")
    linked = user.linked(one, "one-42")
    world = user.worktrees().look()
    assert world.clones == 2
    roots = [each.worktree.root for each in world.overviews]
    assert roots == [str(each.root) for each in (one, linked, other)]


def test_the_worktree_that_it_is_asked_from_is_there_unknown(user: WebGround) -> None:
    """Where nobody claimed yet, somebody who looks sees at least this clone, and it stays unknown."""
    ground = user.clone("hello")
    shutil.rmtree(Path(user.environment["HOME"]) / ".config/lifecycle/clones")
    linked = user.linked(ground, "hello-42")
    world = user.worktrees(linked.root).look()
    assert [each.worktree.root for each in world.overviews] == [str(ground.root), str(linked.root)]
    assert user_folder.known_clones(user.environment) == ()


def test_what_did_not_change_is_not_read_again(user: WebGround) -> None:
    """However often somebody looks, a worktree is read when a file of it changed, and no other with it."""
    one, other = user.clone("one"), user.clone("other")
    one.claim()
    other.claim()
    worktrees = user.worktrees()
    first = worktrees.look()
    user.clock.sleep(PAUSE)
    again = worktrees.look()
    assert moments(again) == moments(first)
    assert again.version == first.version
    later(user, other, "another")
    user.clock.sleep(PAUSE)
    changed = worktrees.look()
    assert [at > before for at, before in zip(moments(changed), moments(first), strict=True)] == [
        False,
        True,
    ]


def test_at_midnight_what_was_today_gets_its_day(user: WebGround) -> None:
    """A page that stays open learns of the new day: "since 14:05" would be of today for good."""
    since = user.clone("one").everything()
    worktrees = user.worktrees()
    first = worktrees.look()
    moment = datetime.fromtimestamp(since).astimezone()
    user.clock.sleep(24 * 3600)
    later = worktrees.look()
    assert later.version != first.version
    assert f"since {moment:%a %d %b %H:%M}" in web_page.render("live.html", later, user.environment)


def test_many_who_ask_at_once_are_one_look(user: WebGround) -> None:
    """Within a second the same value is handed out, whatever changed."""
    ground = user.clone("one")
    ground.claim()
    worktrees = user.worktrees()
    first = worktrees.look()
    (ground.root / CLAIM_FILE).unlink()
    assert worktrees.look() is first
    user.clock.sleep(PAUSE)
    assert worktrees.look().version != first.version


def test_what_is_in_use_is_read_now_and_then(user: WebGround) -> None:
    """A session may be over without a file that changed; where nothing is in use, nobody reads again."""
    user.clone("idle")
    user.clone("used").claim()
    worktrees = user.worktrees()
    first = worktrees.look()
    user.clock.sleep(STALE)
    idle, used = moments(worktrees.look())
    assert (idle, used) == (moments(first)[0], moments(first)[1] + STALE)


def test_what_comes_and_goes_is_seen(user: WebGround) -> None:
    """A new clone, a new worktree and a first claim are shown by themselves, and what was deleted goes."""
    one = user.clone("one")
    worktrees = user.worktrees()
    assert len(worktrees.look().overviews) == 1
    other, linked = user.clone("other"), user.linked(one, "one-42")
    user.clock.sleep(LISTED)
    assert len(worktrees.look().overviews) == 3
    linked.claim()
    user.clock.sleep(PAUSE)
    assert [each.claim is not None for each in worktrees.look().overviews] == [False, True, False]
    shutil.rmtree(linked.root)
    shutil.rmtree(other.root)
    user.clock.sleep(LISTED)
    world = worktrees.look()
    assert ([each.worktree.root for each in world.overviews], world.clones) == ([str(one.root)], 1)


def test_a_worktree_whose_files_are_broken_costs_itself(user: WebGround) -> None:
    """Its own overview says why, and the others are whole."""
    user.clone("a").everything()
    broken = user.clone("b")
    (broken.root / CLAIM_FILE).write_text("{")
    (broken.root / ".lifecycle").write_text("no folder")
    user.clone("c").everything()
    world = user.worktrees().look()
    assert [bool(one.troubles) for one in world.overviews] == [False, True, False]
    assert [one.claim is not None for one in world.overviews] == [True, False, True]


def test_clones_that_cannot_be_listed_are_told(user: WebGround) -> None:
    """One sentence, and the worktree that it is asked from is shown all the same; later all is well."""
    ground = user.clone("hello")
    folder = Path(user.environment["HOME"]) / ".config/lifecycle/clones"
    folder.rename(folder.with_name("kept"))
    folder.write_text("no folder")
    worktrees = user.worktrees(ground.root)
    world = worktrees.look()
    assert "cannot be read" in world.trouble
    assert [one.worktree.root for one in world.overviews] == [str(ground.root)]
    folder.unlink()
    folder.with_name("kept").rename(folder)
    user.clock.sleep(LISTED)
    assert worktrees.look().trouble == ""


class SlowClock(StillClock):
    """A clock on which every look at it takes a while: a machine that is very slow."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        self.sleep(BUDGET / 4)
        return super().monotonic()


def test_very_many_are_read_in_turn(user: WebGround) -> None:
    """Nobody waits for all: each look reads some, says how many are left, and the next one goes on."""
    for number in range(12):
        user.clone(f"clone-{number:02}").claim()
    worktrees = AllWorktrees(user.environment, SlowClock(), None)
    unread = [worktrees.look().unread for _ in range(12)]
    assert unread[0] > 0
    assert unread == sorted(unread, reverse=True)
    assert unread[-1] == 0
    assert len(worktrees.look().overviews) == 12
