"""One call of a hook: what the client sent, and what may be touched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any

from lifecycle.app.wiring import WorktreeWorld
from lifecycle.claim.decisions import derive
from lifecycle.claim.decisions.table import Phase
from lifecycle.claim.engine import briefing, observing
from lifecycle.claim.engine import look as engine
from lifecycle.claim.record.claim_store import ClaimStore, Listener, Loaded
from lifecycle.claim.record.state import Record
from lifecycle.core.errors import LifecycleError
from lifecycle.core.light_dataclass import dataclass, replace, text_in
from lifecycle.core.plan import PACKED, REPLIES, Notice, Wake
from lifecycle.core.tracker import GITHUB, ClaimFacts
from lifecycle.hooks.client_contract import Reply, render
from lifecycle.settings.running_client import Client, process_of
from lifecycle.storage import live_process, signs_of_life
from lifecycle.storage.store import CLAIM_FILE

STOPPED = "stopped"
"""A mark in `.lifecycle/` whose mtime is the moment at which on-stop last ran."""


def has_packet(notices: Iterable[Notice]) -> bool:
    """True if one of these notices has a packet that tells more."""
    return any(f"/{event}:" in notice.key for notice in notices for event in PACKED)


@dataclass(frozen=True)
class HookCall:
    """One event that the client sent to one entrypoint.

    Attributes:
        hook: the entrypoint.
        event: the event's JSON.
        session: the client's session, or "" if unknown.
        world: what may be touched.
        claim_store: the claim file and state.json.
        client: which client sent it.
    """

    hook: str
    event: Mapping[str, Any]
    session: str
    world: WorktreeWorld
    claim_store: ClaimStore
    client: Client = Client.OTHER

    def text(self, *names: str) -> str:
        """The event's text under these names, each within the one before; "" if there is no text."""
        return text_in(self.event, *names)

    @property
    def listener(self) -> Listener:
        """This hook and its session, which hear what the hook can deliver."""
        return Listener(self.hook, REPLIES[self.hook].places.keys(), self.session)

    @property
    def process(self) -> int:
        """The client's process, 0 if it is not Claude Code's."""
        return process_of(self.world.environment) if self.client is not Client.OTHER else 0

    @property
    def has_claim(self) -> bool:
        """True if the claim file is there."""
        return (self.claim_store.root / CLAIM_FILE).exists()

    @cached_property
    def loaded(self) -> Loaded | None:
        """The claim as it is on disk, read once, without a lock and without repair; None if refused."""
        try:
            return self.claim_store.load(repair=False)
        except LifecycleError:
            return None

    @property
    def record(self) -> Record | None:
        """The claim's record, or None if there is no readable claim."""
        return self.loaded.record if self.loaded is not None else None

    @property
    def claim(self) -> ClaimFacts | None:
        """The claim as other systems see it; without a readable one, the last one if it is over."""
        record = self.record or self.claim_store.remembered()
        if record is None or (self.record is None and not record.ending.outcome):
            return None
        link = record.linked.link
        linked = {link.tracker: link.id} if link is not None else {}
        return ClaimFacts(
            tasks={**linked, GITHUB: str(record.claim.issue_number or "")},
            session=record.ownership.session,
            is_ours=not self.is_held(record),
            is_begun=record.claim.phase == Phase.CODING or record.ending.releasing is not None,
            outcome=record.ending.outcome,
        )

    @property
    def is_ours(self) -> bool:
        """True if there is no claim, or no other live session holds it."""
        return self.record is None or not self.is_held(self.record)

    def is_held(self, record: Record) -> bool:
        """True if another live session holds this claim.

        Another hook of this session may have made the claim ours since the record was read, and signed it:
        then the sign of life is not from the owner that the record names.
        """
        is_held = observing.is_held(self.claim_store, record, self.session)
        return is_held and not self.claim_store.marks.is_owner(self.session)

    def sign(self, record: Record | None) -> None:
        """Show that this session lives, if the claim is its own and was saved as such.

        Not before: there is only one sign. Next to another owner's name it would hide that the other's
        client is gone, and nobody could continue the claim for an hour. A killed client's process does
        not count: the same session may be at work in another client by now.
        """
        is_mine = record is not None and record.ownership.session == self.session
        if self.session and is_mine and live_process.is_there(self.process):
            # A save may have been cut off before it did this.
            self.claim_store.marks.show_owner(self.session)
            signs_of_life.sign(self.claim_store.folder, self.session, self.process)

    def sign_first(self, record: Record | None) -> None:
        """Show that this session lives, after a look that made the claim this session's."""
        if record is not None and self.claim_store.signs(record).last_at is None:
            self.sign(record)

    def briefed(self, mine: Record) -> list[str]:
        """Lines on the state of the claim that this session continues, and on a former owner.

        Remembered notices then count as told, and an open question as asked: the caller holds the lock,
        and saves before it prints.
        """
        self.claim_store.remember(replace(mine, ownership=replace(mine.ownership, inherited="")))
        if briefing.question_lines(mine):
            key = f"{mine.claim_key}/{derive.question_key(mine, mine.claim.pr_number)}"
            is_new = mine.is_inherited and not self.claim_store.has_heard(mine, key)
            self.claim_store.note_asked(again=is_new)
        news = [briefing.inherited_line(mine)] if mine.is_inherited and not mine.is_lost else []
        return [*news, *self.lines_on(mine)]

    def lines_on(self, record: Record) -> list[str]:
        """Lines on the state of a claim, which promise of hooks only what they do here."""
        hears = self.claim_store.marks.hears_prompts(record.created_at)
        hooks = observing.hooks_for(self.world, self.claim_store, record)
        return briefing.claim_lines(record, hears_prompts=hears, hooks=hooks)

    @property
    def has_waiter(self) -> bool:
        """True if a process waits for this session's news right now."""
        return signs_of_life.is_live(self.claim_store.folder, self.world.clock.now(), self.session)

    @property
    def tick(self) -> partial[engine.Report]:
        """One look of the engine at the claim; call it with a wake and with `to`, who hears the notices."""
        loaded = self.loaded if self.has_claim else None
        # `wake` has checked, before anything was read, that git tracks none of our files.
        return partial(engine.tick, self.world, self.claim_store, is_untracked=True, loaded=loaded)

    def look(self, wake: Wake) -> Reply:
        """One look of the engine at the claim, if there is anything to look for, and its reply."""
        if engine.is_quiet(self.world, self.claim_store, wake, self.loaded, self.session):
            return Reply()
        report = self.tick(wake, to=self.listener)
        self.sign_first(report.record)
        return self.reply(report)

    def told(self, notices: Sequence[Notice]) -> Sequence[Notice]:
        """The notices in the form for this entrypoint: with the place of a packet, if there is one."""
        if not has_packet(notices):
            return notices
        from lifecycle.app.news_packets import with_packet

        return [with_packet(self.world.root, notice) for notice in notices]

    def reply(self, report: engine.Report, why: Sequence[str] = ()) -> Reply:
        """What this entrypoint prints of a report; `why` are further lines for a wake."""
        notices = report.said if why else self.told(report.said)
        if report.said and report.record is not None and report.record.is_inherited:
            # At its start it was told to leave the claim alone; the state comes with its next prompt.
            why = [briefing.inherited_line(report.record), *why]
        return render(self.hook, notices, wake=why)
