"""The subject of a tool call of the agent, its outcome, and the tasks that it names.

A command line is parsed only if something in it may matter. The modules that read command lines and
texts are imported only then, because this module is imported at every stop that is looked at.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import partial

from lifecycle.core.stage_names import Stage
from lifecycle.evidence.outcomes import CallEnd
from lifecycle.stages.transcript.turn import ANY_PROJECT, OwnCommands, ToolCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lifecycle.trackers import command_signs


class Sort(StrEnum):
    """The subject of a call."""

    CLOSE = "closes a task"
    SHOW = "shows a task"
    TESTS = "runs tests"
    REVIEW = "asks for a review"
    REQUIREMENTS = "reviews the requirements"
    CLEAR = "clears the session"
    EDIT = "edits a file"
    WORK = "does anything else"


Seen = tuple[Sort, str, tuple[str, ...], str]
"""A call's subject, its outcome, the tasks it names, and its name for the log."""

REOPENED = "reopened"
"""The outcome of a command that reopens a task."""

_ASKED = frozenset({"", "Skill", "SlashCommand", "Agent", "Task", "Bash"})
EDITS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})


REQUIREMENTS_REVIEW = r"(?i)\brequirements?[- ]review"
REVIEW = "review"
REQUIREMENTS = "every requirement"
"""A possible subject of a turn, for `stage_watch.said`."""

_TRAILER = r"(?s)(?:\A|\n)agentId: [\w-]+(?: \([^\n]*\))?(?:\n<usage>.*)?\s*\Z"
"""What the client adds after a subagent's answer: its id, how to continue with it, and its cost."""

_VERDICT = 500
"""The first characters of an agent's task, in which the task is searched for a review."""


def classify(call: ToolCall, own: OwnCommands = ANY_PROJECT, asked: Stage | None = None) -> Seen:
    """What a call is about, how it came out, the tasks it names, and its name for the log.

    An agent that was asked in other words, and ends with a verdict, did the review that `asked` needs.
    """
    if call.tool in EDITS:
        return Sort.EDIT, str(call.outcome), (), call.tool
    sort = _reviewing(call, own.review, asked)
    if sort is not None:
        return sort, _verdict(call), (), call.text.split("\n")[0][:60]
    if call.text.split(" ")[0] == "/clear" and call.tool in ("", "SlashCommand"):
        return Sort.CLEAR, str(call.outcome), (), "/clear"
    hints = hinted(call.text, own) if call.tool == "Bash" else set()
    if not hints:
        return Sort.WORK, "", (), call.tool or call.text[:60]
    from lifecycle.trackers import command_signs

    signs = _signs(call.text) if hints & {Sort.CLOSE, Sort.SHOW} else []
    verbs = {sign.verb: sign for sign, _ in signs}
    closes = verbs.get(command_signs.CLOSE)
    if command_signs.REOPEN in verbs and call.outcome is CallEnd.OK:
        return Sort.CLOSE, REOPENED, (), call.tool
    if closes is not None:
        is_shown = re.search(r"(?i)\bclosed\b", call.output) is not None
        decides = any(is_last for _, is_last in signs)  # its status is the line's
        is_done = (is_shown or decides) and call.outcome is CallEnd.OK
        is_done = is_done and not command_signs.is_denied(call.output)
        return Sort.CLOSE, "done" if is_done else str(call.outcome), closes.ids, closes.name
    ran = _tested(call, own) if Sort.TESTS in hints else None
    if ran is not None:
        return ran
    if Sort.EDIT in hints:
        from lifecycle.evidence import command_lines, line_effects

        if any(map(line_effects.changes_files, command_lines.commands(call.text))):
            return Sort.EDIT, str(call.outcome), (), call.tool
    return (Sort.SHOW if command_signs.SHOW in verbs else Sort.WORK), "", (), "tools"


def _tested(call: ToolCall, own: OwnCommands) -> Seen | None:
    """The test run in a command line, and its outcome; None if the line runs no tests."""
    from lifecycle.evidence import line_effects, reading, suite_runs
    from lifecycle.evidence.runners import runner_table

    run = suite_runs.run_in(call.text, own.tests, runner_table.rows(own.runners), own.root)
    if run is None:
        return None
    end = CallEnd.UNKNOWN if call.is_background else call.outcome
    known = str(reading.read_run(run, end, call.output).outcome) if run.is_suite else "part"
    if any(line_effects.changes_files(c) or line_effects.may_lock(c) for c in run.behind):
        known = "stale"
    elif suite_runs.leads_away(run, own.root):
        known = "elsewhere"
    return Sort.TESTS, known, (), run.name


def commands_of(runners: tuple[Mapping[str, object], ...]) -> tuple[str, ...]:
    """The first words of the commands of a project's own runners."""
    listed = (row.get("commands") for row in runners)
    return tuple(str(name) for names in listed if isinstance(names, list) for name in names)


def hinted(line: str, own: OwnCommands = ANY_PROJECT) -> set[Sort]:
    """The possible subjects of a command line, without parsing it: it has one of the words of each."""
    from lifecycle.evidence.words import word_tables

    listed = word_tables.table("words/hints")
    sorts = {sort for sort in Sort if any(hint in line for hint in listed.get(sort.name, ()))}
    runs = (*own.tests, *commands_of(own.runners))
    if any(max(run.split(), key=len) in line for run in runs if run.strip()):
        sorts.add(Sort.TESTS)
    if (mine := own.review.split()) and mine[-1] in line:
        sorts.add(Sort.REVIEW)
    return sorts


def _signs(line: str) -> list[tuple[command_signs.Sign, bool]]:
    """What the line does at a tracker; and whether it ends with status 0 only if that did."""
    from lifecycle.evidence.command_lines import commands
    from lifecycle.trackers import command_signs

    signs = ((command_signs.read(command.words), command.is_last) for command in commands(line))
    return [(sign, is_last) for sign, is_last in signs if sign is not None]


def _reviewing(call: ToolCall, review: str, asked: Stage | None) -> Sort | None:
    """The kind of review that the call asks for; None if it asks for none."""
    text = _prompt_of(call.text) if call.tool == "Bash" else call.text
    head = text.split(" ")[0]
    is_agents = call.tool in ("Agent", "Task", *["Bash"] * (head[:1] not in ("", "/")))
    words = text[:_VERDICT] if is_agents else head
    if call.tool not in _ASKED:
        return None
    has = partial(_has, words)
    if re.search(REQUIREMENTS_REVIEW, words) and head != review:
        return Sort.REQUIREMENTS if is_agents or call.tool == "Skill" or has("a command") else None
    if not is_agents:
        is_one = _has(text, "review by name") or _is_own_review(call, head, review)
        return Sort.REVIEW if is_one else None
    from lifecycle.evidence.words import own_words

    is_judged, is_asked = own_words.verdict(call.output), asked is Stage.REQUIREMENTS_REVIEW
    if has("told what to say"):
        return None
    is_of_them = is_asked and has("requirements") and not has("code")
    if (has("review") and is_of_them) or (is_judged and has("requirements alone")):
        return Sort.REQUIREMENTS
    if has("review"):
        return Sort.REVIEW
    return (Sort.REQUIREMENTS if is_asked else Sort.REVIEW) if is_judged else None


def _has(words: str, kind: str) -> bool:
    """True if a call's words match this kind of pattern; only used if they may ask for a review."""
    from lifecycle.evidence.words import word_tables

    return re.search(word_tables.table("words/hints")["patterns"][kind], words) is not None


def _prompt_of(line: str) -> str:
    """The prompt in a line that starts the client, as `claude -p "/oracle-review"` does; "" without one.

    Nothing else in the line may print, since that could look like a verdict.
    """
    if "claude -" not in line:  # parsing a line costs more than this search
        return ""
    from lifecycle.evidence.command_lines import commands, listed

    all_commands = commands(line)
    place = next((i for i, c in enumerate(all_commands) if c.words[0] == "claude"), None)
    if place is None:
        return ""
    words, behind = all_commands[place].words, all_commands[place + 1 :]
    is_alone = all(c.after == "|" or c.words[0] in listed("quiet") for c in all_commands[:place])
    is_piped = all(c.after == "|" for c in all_commands[place:-1])
    is_shown = all(c.words[0] in listed("passing") for c in behind) and is_piped
    is_fed = "approved" in " ".join(word for c in behind for word in c.words).lower()
    if is_fed or not (is_alone and is_shown) or {"-p", "--print"}.isdisjoint(words):
        return ""
    prompts = (word for word in words if " " in word or word[:1] == "/")
    return min(prompts, key=lambda word: word[0] != "/", default="")


def _is_own_review(call: ToolCall, head: str, review: str) -> bool:
    """True if the call is the project's own review."""
    mine = tuple(review.split())
    if head or not mine:
        return head in mine[:1]
    from lifecycle.evidence.command_lines import commands

    return any(command.words[: len(mine)] == mine for command in commands(call.text))


def has_answered(call: ToolCall) -> bool:
    """True if a review returned a result, and not only the notice that the client is about to run it."""
    answer = re.sub(_TRAILER, "", call.output).strip()
    return bool(answer) and not _has(answer, "only launched")


def _verdict(call: ToolCall) -> str:
    """The outcome of a review: "approved", "changes", "open", or how its call ended."""
    if call.outcome is not CallEnd.OK:
        return str(call.outcome)
    from lifecycle.evidence.words import own_words

    output = re.sub(_TRAILER, "", call.output)
    if verdict := own_words.verdict(output) or (own_words.approves(output) and "approved"):
        return verdict
    says, _ = own_words.said(output, (REVIEW, REQUIREMENTS))
    # The call's output is the whole review: if it approves nothing, it asks for changes.
    is_bad = has_answered(call) and {"approved", "satisfied"}.isdisjoint(says)
    return "changes" if is_bad else "open"
