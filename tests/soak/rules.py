"""What must hold, after each step and at rest. docs/architecture.md says why.

A rule takes the ground and gives the evidence of each violation. It judges by what GitHub, git, exit codes
and printed text show; the product's own state is asked only for what it claims to be finished.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from lifecycle.claim.record.state import is_same
from lifecycle.core.values.configured import LABEL_PREFIX
from lifecycle.core.values.model import LABELS_ITEM
from lifecycle.storage.store import FOLDER
from tests.soak.ground import TOKENS, Clone, Ground, Said
from tests.soak.sequence import Step

Rule = Callable[[Ground, Step], Iterator[str]]

WAKERS = ("on-idle", "ci-waiter", "on-clear")
"""Hooks that may exit 2."""
IN_TIME = {"session-start": 5.0, "session-end": 1.0}
LIMIT, SLACK = 8.0, 20.0
"""Seconds that docs/hooks.md promises, and what a machine with much else to do may add."""
CODES = {0, 1, 4}
"""How a command ends that nobody interrupts; 2 were a usage error, 3 a defect of ours."""
REPLY = {"decision", "reason", "hookSpecificOutput", "systemMessage"}
WRITES = ("POST", "PATCH", "PUT", "DELETE")
JOINT = ("OpenPullRequest", "CommentAndClose")
"""What may create, and close, in one request with what follows."""
MUTATIONS = ("SetBoardFields", "AddBoardItem", "UpdateRefs", *JOINT)
OURS = (".agent-claim.json", ".lifecycle")
DEFECT = re.compile(r"\b\w+(?:-\w+)*: (?!.*Refused)\w*(?:Error|Exception): ")
"""How the log names an exception that nobody expected (`wake.py`)."""


def was_killed(step: Step, said: Said) -> bool:
    """True if a signal of the sequence's ended the process."""
    return step.kill is not None and (said.code < 0 or said.code == 130)


def contract(at: Ground, step: Step) -> Iterator[str]:
    """A hook exits 0 with the client's JSON or nothing, or 2 to wake; a command by a documented code."""
    for said in at.said:
        if not was_killed(step, said):
            yield from _hook_ended(said) if said.is_hook else _command_ended(said)


def _command_ended(said: Said) -> Iterator[str]:
    if said.code not in CODES:
        yield f"exit code {said.code} of {said.name}: {said.stderr}"
    if "--json" in said.name and said.code == 0 and _object(said.stdout) is None:
        yield f"{said.name} printed no JSON: {said.stdout!r}"


def _hook_ended(said: Said) -> Iterator[str]:
    if said.code == 2 and said.name in WAKERS:
        if said.stdout or not said.stderr.strip():
            yield f"{said.name} woke with {said.stdout!r} and {said.stderr!r}"
    elif said.code != 0 or said.stderr:
        yield f"{said.name} exited {said.code}: {said.stderr!r}"
    elif said.stdout:
        reply = _object(said.stdout)
        if reply is None or not reply.keys() <= REPLY:
            yield f"{said.name} printed {said.stdout!r}"


def in_time(at: Ground, _step: Step) -> Iterator[str]:
    """A hook ends within its time."""
    for said in at.said:
        limit = IN_TIME.get(said.name, LIMIT) + SLACK
        if said.is_hook and said.seconds > limit:
            yield f"{said.name} took {said.seconds:.1f} s"


def no_secret(at: Ground, _step: Step) -> Iterator[str]:
    """No output has a token."""
    for said in at.said:
        if any(token in said.stdout + said.stderr for token in TOKENS.values()):
            yield f"{said.name} printed the token"


def no_traceback(at: Ground, _step: Step) -> Iterator[str]:
    """No output has a traceback."""
    for said in at.said:
        if "Traceback (most recent" in said.stdout + said.stderr:
            yield f"{said.name}: {said.stderr[-600:]}"


def looked_first(at: Ground, step: Step) -> Iterator[str]:
    """A pull request or a comment of a claim's is created by who looked before, in this process."""
    has_looked = step.name == "go_on"  # before it was held
    for request in at.requests:
        has_looked |= request.operation == "ObserveClaim" or request.method == "GET"
        is_alone = request.method == "POST" and request.path.endswith(("/pulls", "/comments"))
        if (is_alone or request.operation in JOINT) and not has_looked:
            yield f"{request.method} {request.operation or request.path} without a look"


def one_open_pull(at: Ground, _step: Step) -> Iterator[str]:
    """A branch has one open pull request at the most."""
    heads = [p["head"] for p in at.after["pulls"].values() if p["state"] == "open"]
    yield from (f"two open for {head}" for head in sorted(set(heads)) if heads.count(head) > 1)


def one_comment(at: Ground, _step: Step) -> Iterator[str]:
    """An issue never has the same comment of ours twice."""
    for number, issue in at.after["issues"].items():
        bodies = [c["body"] for c in issue["comments"] if c["author"] in TOKENS]
        yield from (f"#{number}: {b!r}" for b in sorted(set(bodies)) if bodies.count(b) > 1)


def closed_by_right(at: Ground, step: Step) -> Iterator[str]:
    """What we close was merged, and somebody said yes since then and since the question; or overrode.

    The merge is that of the claim's own pull request: what the branch was used for later takes no yes back.
    """
    _consent(at, step)
    if not at.said:
        return
    for number in _closed_by_us(at):
        merged = [
            n
            for n, p in at.after["pulls"].items()
            if p["state"] == "merged" and _is_of(at, p, number)
        ]
        known = at.known.setdefault("consent", {}).get(step.by, {})
        if not merged and not known.get("override"):
            yield f"#{number} was closed without a merge, and nobody overrode"
        if not merged or not at.said[0].is_hook or known.get("override"):
            continue
        own = known["merges"].get(known.get("pull"), max(known["merges"].values()))
        if known["answered"] < own:
            yield f"#{number} was closed by {at.said[0].name}, and no person wrote since the merge"
        elif known.get("about") != number:
            yield f"#{number} was closed, and the yes was to closing #{known['about']}"


def _is_of(at: Ground, pull: dict[str, Any], number: str) -> bool:
    """True if a pull request names the issue, or people edit texts, who do so only without a team."""
    return not at.machines or bool(re.search(rf"#{number}\b", f"{pull['title']} {pull['body']}"))


def _closed_by_us(at: Ground) -> list[str]:
    """The issues that are closed since the last step, if a request of ours closes issues."""
    asked = [r for r in at.requests if r.status == 200]
    alone = {
        r.path.rpartition("/")[2] for r in asked if r.method == "PATCH" and "/issues/" in r.path
    }
    is_joint = any(r.operation == "CommentAndClose" for r in asked)
    return [
        number
        for number, issue in at.before["issues"].items()
        if issue["state"] == "open"
        and at.after["issues"].get(number, issue)["state"] != "open"
        and (is_joint or number in alone)
    ]


def _consent(at: Ground, step: Step) -> None:
    """What was merged, asked and answered so far, and at which of its steps this clone saw it."""
    clones = at.known.setdefault("consent", {})
    clone = at.clones.get(step.by)
    life = clone.life - clone.renumbered if clone is not None else 0
    record = clone.state.get("record") if clone is not None else None
    known = clones.setdefault(step.by, {"merges": {}, "steps": 0})
    if known.get("life") != life:
        known |= {"life": life, "pull": None, "answered": -1}
    now = known["steps"] = known["steps"] + 1
    for number, pull in at.before["pulls"].items():
        if pull["state"] == "merged":
            known["merges"].setdefault(number, now)
    if record and record.get("values", {}).get("pr_number"):
        known["pull"] = str(record["values"]["pr_number"])
    for said in at.said:
        is_prompt = said.name == "user-prompt-submit" and said.is_hook
        if is_prompt and not step.given["text"].startswith("<task"):
            known |= {"answered": now, "about": _number(record)}
        if said.name != "session-start" and ONCE[1].search(said.heard):
            known["answered"] = -1  # what goes out with a prompt is not answered by it
        if said.name.startswith(("close", "nudge done", "tracker close")):
            known |= {"answered": now, "about": _number(record)}
        if said.name.startswith(("close --override", "nudge done", "tracker close")):
            known["override"] = True


def _number(record: dict[str, Any] | None) -> str:
    """The issue that a claim's record is about, as it stands in an address."""
    return str((record or {}).get("values", {}).get("issue_number"))


def whole_claim(at: Ground, _step: Step) -> Iterator[str]:
    """What we leave in the claim file is a claim: the agent's bytes, or JSON of ours."""
    for clone in at.clones.values() if at.said else ():
        content, before = clone.content, at.known.get(f"content {clone.number}")
        if content in (None, before):
            continue
        if _object(content.decode("utf-8", "replace")) is None:
            yield f"{content[:200]!r}, after {before!r:.200}"


def others_lease(at: Ground, step: Step) -> Iterator[str]:
    """Nobody touches a lease that another clone took, but by a takeover or a sweep that gives back."""
    owners = at.known.setdefault("leases", {})
    before, after = _leases(at.before), _leases(at.after)
    may = any(said.name.startswith(("takeover", "reconcile")) for said in at.said)
    for ref, sha in before.items():
        owner = owners.get(sha)
        if at.said and after.get(ref) != sha and owner not in (None, step.by) and not may:
            yield f"{ref} of clone {owner} was touched by {at.said[0].name} in clone {step.by}"
    for sha in after.values():
        if at.said:
            owners.setdefault(sha, step.by)


ONCE = (
    re.compile(r"PR #\d+ created: "),
    re.compile(r"PR #\d+ merged! Should I close issue #\d+\?"),
    re.compile(r"Issue #\d+ closed\. "),
)
"""Sentences that one claim gets once, whatever happens. A session's start shows what stands again."""


def said_once(at: Ground, step: Step) -> Iterator[str]:
    """No sentence comes twice, unless something happened that makes it news again."""
    told = at.known.setdefault("told", {})
    if _is_new(at, step):
        for key in [key for key in told if key[0] == "line"]:
            del told[key]
    clone = at.clones.get(step.by)
    for said in at.said:
        if not said.is_hook or said.name == "session-start" or clone is None:
            continue
        heard = said.heard
        keys: set[tuple[Any, ...]] = {
            ("line", step.by, line) for line in heard.splitlines() if len(line) > 20
        }
        if "was not closed" not in heard:
            found = (word for pattern in ONCE for word in pattern.findall(heard))
            keys |= {("once", step.by, clone.life, word) for word in found}
        for key in keys:
            if key in told:
                yield f"{key[-1]!r} was said in step {told[key]}, and again in {at.index}"
            told[key] = at.index


def _is_new(at: Ground, step: Step) -> bool:
    """True if the step may make an old sentence new: anything but a wake on a GitHub that works."""
    is_wake = bool(at.said) and all(said.is_hook for said in at.said)
    return bool(at.struck) or not (is_wake or step.name == "time") or step.kill is not None


EACH: tuple[Rule, ...] = (
    contract, in_time, no_secret, no_traceback, looked_first, one_open_pull, one_comment,
    closed_by_right, whole_claim, others_lease, said_once,
)  # fmt: skip
"""Held after each step."""


# --- at rest


def clean_tree(at: Ground, _step: Step) -> Iterator[str]:
    """git sees nothing of ours in the worktree."""
    for clone in at.clones.values():
        lines = clone.place.git("status", "--porcelain").splitlines()
        yield from (f"clone {clone.number}: {line}" for line in lines if _is_new_of_ours(line))


def _is_new_of_ours(line: str) -> bool:
    return line.startswith("??") and any(name in line for name in OURS)


def nothing_left(at: Ground, _step: Step) -> Iterator[str]:
    """Nothing that was begun lies about: no temporary file, no claim half deleted."""
    for clone in at.clones.values():
        root = clone.place.root
        left = [
            *root.glob("*.tmp"),
            *(root / FOLDER).rglob("*.tmp"),
            root / FOLDER / "closing.json",
        ]
        yield from (f"{path.name} in clone {clone.number}" for path in left if path.exists())


def no_secret_kept(at: Ground, _step: Step) -> Iterator[str]:
    """No file of ours has the token or a traceback, and no log an exception that nobody expected."""
    token = at.sandbox.info.token
    for clone in at.clones.values():
        for path in (clone.place.root / FOLDER).rglob("*"):
            if not path.is_file():
                continue
            text = path.read_text("utf-8", "replace")
            is_log = path.name.startswith("log")
            if token in text and (is_log or not at.known.get("wrote secret")):
                yield f"the token is in {path.name}"
            if is_log:
                lines = [x for x in text.splitlines() if "Traceback" in x or DEFECT.search(x)]
                yield from (f"{path.name}: {line}" for line in lines)


def board_in_step(at: Ground, _step: Step) -> Iterator[str]:
    """The card of a claim shows its Status and its Agent, each unless somebody else set it since."""
    for clone in at.clones.values():
        claim, state = clone.claim, clone.state
        record = state.get("record") or {}
        issue = str(claim.get("issue_number"))
        card = at.after["board"].get(issue)
        if not claim or card is None or card["archived"] or not _is_led(at, clone, claim, record):
            continue
        if str(claim.get("item_id")).startswith(LABELS_ITEM):
            shown = at.after["issues"][issue]  # once it is closed, no look sets a Status
            labels = {label.casefold() for label in shown["labels"]}
            wanted = f"{LABEL_PREFIX}{claim['status']}".casefold()
            if shown["state"] == "open" and wanted not in labels:
                yield f"#{issue}: labels {sorted(labels)}, the claim {claim['status']}"
            continue
        for name, wanted in (("Status", claim["status"]), ("Agent", claim["agent_id"])):
            value = card["values"].get(name)
            is_ours = at.known.get("card", {}).get((issue, name), clone.number) == clone.number
            if is_ours and not is_same(value, wanted):
                text = f"the card shows {name} {value}, the claim {wanted}"
                yield f"#{issue}: {text}, phase {claim['phase']}"


PHASES = ("coding", "ready_for_pr", "pr_created", "checks_running", "merged_detected", "pr_closed")
STATUSES = ("todo", "in progress", "in review", "done")


def _is_led(at: Ground, clone: Clone, claim: dict[str, Any], record: dict[str, Any]) -> bool:
    """True if the engine leads this claim: it is a whole one, and nobody took it away."""
    is_known = claim.get("phase") in PHASES and str(claim.get("status")).casefold() in STATUSES
    is_lost = clone.is_lost or record.get("ending", {}).get("releasing")
    is_one = claim.get("schema_version") == 1 and isinstance(claim.get("issue_number"), int)
    return bool(is_known and is_one and claim.get("agent_id") and not is_lost) and not _is_tracked(
        clone
    )


def _is_tracked(clone: Clone) -> bool:
    return bool(clone.place.git("ls-files", *OURS))


def lease_returned(at: Ground, _step: Step) -> Iterator[str]:
    """A claim that was closed or given back leaves no lease, unless it said that it stayed."""
    told = " ".join(at.known.get("heard", ()))
    for clone in at.clones.values():
        record = clone.state.get("record") or {}
        lease = record.get("ownership", {}).get("lease")
        issue = record.get("values", {}).get("issue_number")
        outcome = record.get("ending", {}).get("outcome")
        if not outcome or not lease or "The lease stayed" in told:
            continue
        if _leases(at.after).get(f"refs/agent-claims/{issue}") == lease:
            yield f"clone {clone.number}: the lease of #{issue} is still there, {outcome}"


def ended_whole(at: Ground, _step: Step) -> Iterator[str]:
    """An issue that we closed has its comment; no claim of ours lies in phase done on a closed issue."""
    told = " ".join(at.known.get("heard", ()))
    for clone in at.clones.values():
        record = clone.state.get("record") or {}
        issue = at.after["issues"].get(str((record.get("values") or {}).get("issue_number")))
        outcome = record.get("ending", {}).get("outcome")
        if outcome != "closed" or issue is None or "got no comment" in told:
            continue
        ours = [c for c in issue["comments"] if "<!-- lifecycle:completed" in c["body"]]
        if not ours:
            yield f"#{issue['number']} was closed without a comment of ours"


REST: tuple[Rule, ...] = (
    clean_tree, nothing_left, no_secret_kept, board_in_step, lease_returned, ended_whole,
)  # fmt: skip
"""Held at rest."""


def is_write(at: Ground) -> list[str]:
    """What changed something on GitHub or its git, in the last step."""
    return [
        f"{r.method} {r.operation or r.path}"
        for r in at.requests
        if r.operation in MUTATIONS
        or (r.kind == "rest" and r.method in WRITES)
        or (r.kind == "git" and r.method == "POST" and "receive-pack" in r.path)
    ]


def remember(at: Ground, step: Step) -> None:
    """Note what later rules have to know of this step: who set a card last, what was heard."""
    cards = at.known.setdefault("card", {})
    is_ours = bool(at.said) and (at.said[0].name != "reconcile" or step.by == 0)
    for issue, card in at.after["board"].items():
        before = at.before["board"].get(issue, {}).get("values", {})
        for name in ("Status", "Agent"):
            if before.get(name) != card["values"].get(name):
                cards[issue, name] = step.by if is_ours else None
    at.known.setdefault("heard", []).extend(
        s.heard + s.stdout for s in at.said if s.heard or s.stdout
    )
    if at.sandbox.info.token in str(step.given):
        at.known["wrote secret"] = True  # the agent's own words, which its files keep as they are
    for clone in at.clones.values():
        at.known[f"content {clone.number}"] = clone.content


def _leases(world: dict[str, Any]) -> dict[str, str]:
    return {ref: sha for ref, sha in world["refs"].items() if ref.startswith("refs/agent-claims/")}


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
