"""Failures of a story: their category, the iteration that they end, and when a story is given up.

An iteration is counted by what is seen: something failed on a tree, and then on another one; or the same
failure came again on the same tree, where waiting is no remedy.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from msgspec.structs import replace

from lifecycle.core.errors import Refused
from lifecycle.core.redact import visible
from lifecycle.run.state import Failure, Run, Story
from lifecycle.run.table import ESCALATION, MAX_RETRIES, RETRY, FailureCategory, StoryStatus
from lifecycle.run.texts.told import line_of
from lifecycle.run.trouble import story_blocks
from lifecycle.run.trouble.story_blocks import BLOCKING, LONGEST, kept_words

_STATUS = r"(?:https?(?:/\d(?:\.\d)?)?|status(?: code)?|error|code|returned|responded with)[ :=]*"
"""What stands before a number that is a status of HTTP, and no line and no count."""

PATTERNS: Final = r"""
code
  Assertion(?:Failed)?(?:Error|Exception)?|assert(?:ion failed)?
  expected\b.*\b(?:but|got|received|actual|found|to (?:be|equal|have))
test
  fixture '?[\w-]+'? not found|\w*errors? (?:while )?(?:collecting|importing test module)
  (?:Syntax|Indentation|Name)Error\b.*\btests?(?:[_/.]\w+)*
  tests?[_/]\S*\s.*\b(?:Syntax|Indentation|Name)Error
  no tests? (?:were )?(?:ran|run|collected|found|to run)
  (?:broken|flaky|wrong|invalid|outdated|incorrect) (?:test|mock|fixture|snapshot)s?
  test (?:itself|setup|set-up|teardown|fixture|data|case) (?:is|are|was|has|failed|fails|missing)
  obsolete snapshots?|before(?:Each|All) hook|bug in (?:the )?test
timeout
  time[ds]?[ -]?outs?|TimeoutE\w+|deadline exceeded|time (?:limit )?is up
  ETIMEDOUT|ESOCKETTIMEDOUT|took too long|time limit|STATUS504
external
  (?:api|access|secret|auth|licen[sc]e)[ _-]?(?:keys?|tokens?)\b.*\b(?:not|missing|invalid|expired)
  (?:api|access|secret|auth|licen[sc]e)[ _-]?(?:keys?|tokens?)\b.*\b(?:required|absent|unset|undefined)
  (?:api|access|secret|auth|licen[sc]e)[ _-]?(?:keys?|tokens?)\b.*\b(?:revoked|wrong|denied)
  (?:no|missing|invalid|expired|wrong|bad|incorrect|absent|without(?: an?)?) (?:\w+ )?api[ _-]?keys?
  (?:no|missing|invalid|expired|wrong|bad|incorrect|absent|without(?: an?)?) (?:\w+ )?credentials?
  (?:no|missing|invalid|expired|wrong|bad|incorrect|absent) (?:\w+ )?(?:secrets?|(?:access |auth )?tokens?)
  credentials? .*(?:not|missing|invalid|expired|required|rejected)
  (?:environment variable|env var) .*(?:not set|missing|unset|required|undefined)
  unauthori[sz]ed|authentication (?:failed|required)|forbidden|STATUS(?:40[123]|429)
  rate[ -]?limit(?:ed|s|ing)?|too many requests|payment required
  (?:account|billing|subscription) .*(?:suspended|disabled|required|inactive|expired)
  (?:api|usage|request|monthly|insufficient) quota|quota exceeded|permission denied \(publickey\)
  (?:external|third[ -]party) (?:service|api|dependency|system)s?
  (?:stripe|paypal|twilio|sendgrid|mailgun|openai|anthropic|auth0)(?: api)? (?:is )?(?:down|unavailable)
  (?:stripe|paypal|twilio|sendgrid|mailgun|openai|anthropic|auth0)(?: api)? (?:error|outage)
infra
  connection (?:was |is )?(?:refused|reset|closed|lost|aborted|failed|error)
  ECONN\w+|EHOSTUNREACH|ENETUNREACH|EADDRINUSE|ENOSPC|EACCES|EPERM|EMFILE|EROFS|EIO|EPIPE
  could(?: not|n't) (?:connect|resolve)|can(?:not|'t| not) connect|failed to connect|docker daemon
  (?:database|db|server|host|redis|postgres(?:ql)?|mysql|broker) (?:is )?not (?:available|running|ready)
  (?:database|db|server|host|redis|postgres(?:ql)?|mysql|broker) (?:is )?un(?:available|reachable)
  ENOTFOUND|EAI_AGAIN|getaddrinfo|name resolution|name or service not known|database (?:is )?locked
  dns (?:error|failure|lookup)|network (?:error|failure|down|is \w+)|unreachable|STATUS50[023]
  no space left|disk (?:is )?(?:full|quota)|read-only file ?system|permission denied|i/o error
  too many open files|out of memory|oom|(?:cannot|can't) allocate memory|MemoryError|signal 9|SIGKILL
  address already in use|port \d+ (?:is )?(?:already )?(?:in use|taken)|socket hang up
  bad gateway|service unavailable|internal server error|CERTIFICATE_VERIFY_FAILED
  command not found|no such file or directory
"""
"""Whole words of a message, in any case, and what they tell; the first that is in it counts.

An assertion stands first: what it quotes is the program's, not the world's. None of them: the code. What
is indented belongs to the category above it; STATUS stands for `_STATUS`.
"""


@cache
def _words() -> tuple[tuple[FailureCategory, re.Pattern[str]], ...]:
    rows: list[tuple[FailureCategory, list[str]]] = []
    for line in PATTERNS.replace("STATUS", _STATUS).strip().splitlines():
        if line.startswith(" "):
            rows[-1][1].append(line.strip())
        else:
            rows.append((FailureCategory(line), []))
    return tuple(
        (kind, re.compile(rf"(?<![\w-])(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE))
        for kind, patterns in rows
    )


def category_of(text: str) -> FailureCategory:
    """What kind of failure a message tells of."""
    line = " ".join(text.split())[:LONGEST]
    return next((kind for kind, words in _words() if words.search(line)), FailureCategory.CODE)


def attempts(story: Story) -> int:
    """Iterations since the story began, or since a person resolved what it was given up for."""
    return story.iteration - story.retries_from


def recent(story: Story) -> tuple[Failure, ...]:
    """The failures since then, the oldest first."""
    return tuple(one for one in story.failures if one.iteration > story.retries_from)


def is_same(first: Failure, second: Failure) -> bool:
    """True if it is the same failure on a tree that is known and did not change."""
    words = (first.source, first.text, first.tree) == (second.source, second.text, second.tree)
    return bool(words and first.tree)


def failed(
    run: Run,
    story_id: str,
    text: str,
    now: float,
    category: FailureCategory | None = None,
    *,
    source: str = "",
    tree: str = "",
    file: str = "",
    line: int = 0,
) -> Run:
    """The run with one more failure of a story; after MAX_RETRIES iterations the story is blocked.

    Args:
        run: before.
        story_id: as `S1`.
        text: the error.
        now: the present, in seconds since the epoch.
        category: None to tell it from the text.
        source: the gate or review that failed; "" if somebody told it.
        tree: the tree that it failed on; "" if that is not known.
        file: where, if it is known.
        line: of that file; 0 if nobody knows.

    Raises:
        Refused: there is no such story, it is completed, or the text is empty.
    """
    story = run.story(story_id)
    words = line_of(kept_words(text), "a failure")
    if not story.is_open:
        raise Refused(
            f"{story.id} is completed, so nothing failed in it; nothing was changed. Open it again with: "
            f"lifecycle run rollback-to-checkpoint {story.id}"
        )
    kind = category or category_of(words)
    failure = Failure(
        f"F{sum(len(one.failures) for one in run.stories) + 1}",
        kind, words, now, tree, source, visible(file)[:500], max(line, 0),
    )  # fmt: skip
    failure = replace(failure, iteration=_iteration(story, failure))
    story = replace(
        story,
        failures=(*story.failures, failure),
        iteration=max(story.iteration, failure.iteration),
    )
    run = run.with_story(story)
    if RETRY[kind].escalates and not _is_logged(run, story):
        run = story_blocks.added(
            run, words, "high", now, story.id, trigger=ESCALATION, failure=failure.id
        )
    if attempts(story) < MAX_RETRIES or story.status is StoryStatus.BLOCKED:
        return run
    reason = f"{story.id} failed in {MAX_RETRIES} iterations; last: [{kind}] {words}"
    run = story_blocks.added(run, reason, "high", now, story.id, trigger=ESCALATION)
    return story_blocks.standing_still(run, story, now)


def _is_logged(run: Run, story: Story) -> bool:
    """True if a blocker that weighs something stands before the story or the run already."""
    return any(
        one.story in ("", story.id) and one.severity in BLOCKING for one in run.standing_blockers
    )


def _iteration(story: Story, failure: Failure) -> int:
    """The iteration that this failure ends: the one under way, or one more."""
    if attempts(story) < 1:
        return story.retries_from + 1
    before = [one for one in recent(story) if one.iteration == story.iteration]
    is_again = any(is_same(failure, one) for one in before) and not RETRY[failure.category].backoff
    is_changed = bool(before) and before[-1].tree != failure.tree
    return story.iteration + (is_again or is_changed)
