"""What a text says of a stage in its own words: finished, green, approved, closed.

The last resort. A claim counts if a whole sentence, or a part of one whose other parts are harmless, has a
form of CLAIMS, from its first word to its last: the agent's own, about now, without a condition. And it
counts only if nothing else in the text takes it back: a failure, a part that was left out, an unchecked
box, work to come. What no form fits says nothing; the stage goes on, or the question is asked.

Code, quotes and tables are left out (`prose_blocks`, which is loaded only where a claim is there).
"""

from __future__ import annotations

import re

from lifecycle.core.stage_names import Detected
from lifecycle.trackers import command_signs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

LENGTH = 20_000
"""Characters of a text in which words of what is under way are looked for, from its end."""

_RUNNER = (
    r"(?:pytest|py\.test|unittest|tox|nox|vitest|jest|mocha|ava|rspec|minitest|phpunit|ctest|playwright|cypress|gotestsum"
    r"|nextest|(?:make|just|npm|pnpm|yarn|bun|deno|cargo|go|mvn|gradle|gradlew|dotnet|mix|swift|rake|rails|bazel"
    r"|sbt|flutter|dart|hatch|meson|ninja)(?: run)? (?:tests?|check|verify))"
)
"""Runners by the names that people say; the table of them is about command lines, and costs more."""

_CLOSE = "|".join(re.escape(name) for name in command_signs.names(command_signs.CLOSE))
_SHOW = "|".join(re.escape(name) for name in command_signs.names(command_signs.SHOW))
_GREEN = r"(?:pass(?:ed|es|ing)?|succe(?:ss(?:ful(?:ly)?)?|eded|eds?)|green)"
_IS = r"(?:(?:is|are|was|were|has|have|been|now|all|fully|successfully|both|again|indeed) )*"
_NUMBER = r"[1-9][\d,]*"
_COUNT = rf"(?:{_NUMBER}(?: ?(?:/|of|out of) ?{_NUMBER})?)"
_SHARE = r"([1-9][\d,]*) ?(?:/|of|out of) ?([1-9][\d,]*)"
"""So many of so many: the claim is whole where both are the same."""
_TESTS = (
    r"(?:(?:(?:unit|integration|e2e|end-to-end)(?:,| and| &) )+(?:unit|integration|e2e|end-to-end)"
    r" )?tests?"
)
_TASK = (
    r"(?:the |this |my |our )?(?:whole |entire |full )?(?:issue|task|ticket|feature|change|work|fix"
    r"|story|bug fix)(?: (?:#\d+|[a-z]+-\w+))?|#\d+"
)
_END = (
    r"(?:(?: now| successfully| again| here| locally| in full| as required| as specified| as described"
    r"| (?:with|without|and) (?:(?:any|no|zero|0) )?(?:\w+ )?(?:failures?|errors?|regressions?|failed"
    r"|skipped|comments|findings|changes requested|open points|issues|warnings|skips)| in [\d.]+ ?"
    r"(?:s|ms|secs?|seconds?|m|min|minutes?)| after (?:the|this|my|that) (?:last |latest |final )?"
    r"(?:change|fix|refactor\w*|edit|rebase|merge|update)s?| on (?:this|my|the) (?:branch|commit"
    r"|head)))*"
)
_TESTED = (
    (
        rf"(?:all|all of|every|each)?(?: ?(?:the|my|our))? ?(?:{_COUNT} )?(?:of (?:the )?)?{_TESTS}(?: "
        rf"(?:cases|suites?))? {_IS}{_GREEN}{_END}"
    ),
    (
        rf"(?:the |our )?(?:whole |entire |full |complete )*(?:tests?|testing)(?: suite)?"
        rf" {_IS}{_GREEN}{_END}"
    ),
    rf"(?:the |our )?(?:whole |entire |full |complete )*(?:test )?suite {_IS}{_GREEN}{_END}",
    rf"(?:all )?{_COUNT} {_GREEN}{_END}(?=.*\btests?\b)",
    rf"{_RUNNER}:? {_IS}(?:(?:all )?(?:{_COUNT} )?(?:tests? )?{_IS})?{_GREEN}{_END}",
    (
        rf"(?:i )?(?:have )?(?:ran|re-?ran|executed) (?:the (?:whole |entire |full )?(?:test )?suite"
        rf"|{_RUNNER}|all (?:the )?tests)(?: (?:with success|successfully|:?,? ?(?:and )?(?:it|they|all"
        rf"|everything)(?: tests)? {_IS}{_GREEN})){_END}"
    ),
    rf"all (?:tests )?{_GREEN}{_END}",
)
_CODED = (
    (
        rf"(?:the |my )?(?:implementation|coding|implementing)(?: work| phase| stage)?(?: (?:of|for) "
        rf"(?:{_TASK}))?:? {_IS}(?:complete|completed|done|finished|in place){_END}"
    ),
    (
        rf"(?:i|we)?(?: have|'ve)?(?: now| just)? ?(?:completed|finished|done with) (?:implementing "
        rf"(?:{_TASK})|(?:the )?(?:implementation|coding)(?: (?:of|for) (?:{_TASK}))?|coding "
        rf"(?:{_TASK})){_END}"
    ),
    (
        rf"(?:{_TASK}) {_IS}(?:fully |completely )?(?:implemented|coded)(?: and (?:complete|done"
        rf"|finished))?{_END}"
    ),
    rf"(?:i|we)(?: have|'ve)?(?: now)? (?:fully |completely )?implemented (?:{_TASK}){_END}",
)
_SATISFIED = (
    (
        rf"(?:(?:all|all of|every|each)(?: of)?(?: the)?(?: {_COUNT})?|the|{_COUNT}) ?(?:stated "
        rf"|original |listed )?(?:requirements?|acceptance criteri(?:a|on))(?: (?:of|in|from) "
        rf"(?:{_TASK}))? {_IS}(?:satisfied|met|verified|fulfilled|covered|addressed|confirmed"
        rf"|implemented)(?: by the (?:implementation|code|change))?{_END}"
    ),
    rf"requirements? {_IS}(?:satisfied|met|verified|fulfilled){_END}",
    (
        r"(?:i|we)?(?: have|'ve)? ?(?:verified|confirmed|checked) (?:that )?(?:all|every|each)(?: of)?"
        r"(?: the)?"
        rf"(?: {_COUNT})? (?:requirements?|acceptance criteria){_END}"
    ),
    (
        rf"(?:the )?(?:implementation|code|change|diff) (?:satisfies|meets|fulfils|fulfills"
        rf"|covers) (?:all|every)(?: of)?(?: the)?(?: {_COUNT})? (?:requirements?|acceptance criteria)"
        rf"(?: (?:of|in|from) (?:{_TASK}))?{_END}"
    ),
    rf"(?:the )?requirements review {_IS}(?:complete|completed|done|passed|approved){_END}",
)
_WHAT = (
    r"(?: (?:it|this|them|the (?:change|changes|diff|pr|pull request|code|work|implementation|branch"
    r"|patch)))?"
)
_APPROVED = (
    (
        rf"(?:the |our )?(?:oracle|reviewer|code reviewer|(?:oracle |code |external )?review|change"
        rf"|changes|diff|pr|it|work)? ?(?:says? |said |{_IS})?(?:approved|approves|lgtm){_WHAT}{_END}"
    ),
    rf"/[\w:-]*review(?: has| is| was| says| said)*:? (?:approved|approves|lgtm){_WHAT}{_END}",
    rf"(?:the )?(?:verdict|result|outcome|status)(?: is| was)?:? (?:approved|lgtm){_END}",
    rf"(?:the )?(?:oracle|code)[ -]?review {_IS}(?:passed|approved){_END}",
    rf"approved by (?:the )?(?:oracle|reviewer|code reviewer|review){_END}",
)
_REVIEWED = r"(?:the |our )?(?:(?:oracle |code )?review(?:er)?|oracle|verdict)(?: result)?"
"""What stands before a colon and a verdict in words: `The review: approved, no findings`."""
_CLOSED = (
    rf"(?:the )?issue (?:(?:#\S+|\S*\d\S*|\w+-\w+) )?{_IS}closed{_END}",
    (
        rf"(?:i|we)?(?: have|'ve)?(?: now)? ?closed (?:the |this )?issue(?: [#\w.-]+)?(?: (?:with|using)"
        rf" (?:{_CLOSE})| with a summary)?{_END}"
    ),
    (
        rf"(?:i |we )?(?:have )?(?:just )?(?:ran|executed|used|did) (?:{_CLOSE})(?: (?!on\b|with\b|and\b"
        rf"|but\b)[#\w.-]+)?(?: with success| and it worked)?{_END}"
    ),
    rf"(?:{_CLOSE})(?: [#\w.-]+)?(?: {_IS}(?:succe\w+|worked|done|completed|closed))?{_END}",
)
_CLEARED = (
    r"(?:i )?(?:have )?(?:ran|executed|used|did) /clear",
    r"/clear",
    rf"(?:the )?session {_IS}cleared",
)
CLAIMS: tuple[tuple[str, tuple[str, ...], str, Detected], ...] = (
    ("clos", _CLOSED, "", Detected.ISSUE_CLOSED),
    ("approv lgtm review", _APPROVED, r"\b(?:oracle|review\w*)\b", Detected.ORACLE_APPROVED),
    ("pass succe green", _TESTED, "", Detected.TESTS_PASSING),
    (
        "requirement criteri",
        _SATISFIED,
        (
            rf"\b(?:{_SHOW})\b|\b(?:all|every|each|satisfies|meets)\b[^.]*\b(?:requirement|criteri)"
            rf"|requirements review"
        ),
        Detected.REQUIREMENTS_REVIEWED,
    ),
    ("coding implement", _CODED, "", Detected.CODING_COMPLETE),
    ("clear", _CLEARED, "", Detected.SESSION_CLEARED),
)
"""(what such a sentence has, its forms, what the whole text must speak of, the stage)."""

_FAILING = (
    r"\b[1-9]\d*\s+(?:tests?\s+)?(?:failed|failing|failures?)\b|\btests?\s+(?:still\s+|are\s+)*"
    r"(?:fail|failing|failed)\b|\bno tests passed\b|\b0\s+(?:tests\s+)?passed\b"
)
_UNAPPROVED = (
    r"\bnot\s+(?:yet\s+)?(?:been\s+)?approved\b|\bchanges\s+(?:were\s+)?requested\b|\b(?:request(?:ed|s)"
    r"|ask(?:ed|s) for|wants?|wanted)\s+(?:(?!no\b)\w+\s+){0,2}changes\b|\b(?:review|oracle)\b.*\breject"
    r"ed\b|\bawaiting\s+(?:approval|review)\b|\breview\s+requested\b"
)
STILL: tuple[tuple[str, str, str, Detected], ...] = (
    ("fail passed", _FAILING, "", Detected.IN_TESTING),
    (
        "approv request reject await",
        _UNAPPROVED,
        r"\b(?:oracle|review\w*|approv\w+)\b",
        Detected.IN_ORACLE_REVIEW,
    ),
)
"""The same for what is under way; there a part of a sentence is enough."""

_HARMLESS = (
    r"\b(?:no|0|zero|without(?:\s+any)?|not a single)\s+(?:(?:\w+|-)\s+){0,2}?(?:failures?|errors?"
    r"|failed|failing|failing tests|issues|regressions?|problems?|warnings?|skipped|skips|findings"
    r"|comments|changes requested|nits?|open points|todos?|blockers?|flak\w+)\b(?:\s+(?:left|remaining"
    r"|remains?|open|pending))?|\b(?:nothing|none) (?:is |are |was )?(?:left|remaining|remains|pending"
    r"|missing|failing|failed|skipped|open)\b|\bno (?:\w+ )?(?:remaining|outstanding|pending|unchecked"
    r"|open) \w+|\bnothing (?:else )?(?:to do|fails)\b|\b(?:fixe[ds]|repaired|resolved|mended|previously"
    r"|formerly)\b[^.;:,]*?\b(?:fail\w*|errors?|broken|todos?|nits?|flaky)\b|\b(?:fail\w*|error\w*) "
    r"(?:cases?|paths?|handling|messages?|modes?)\b|\bnot only\b|\bif any\b|\b(?:are|is) no longer "
    r"(?:failing|flaky|broken|skipped)\b"
)
_DOUBT = (
    r"\bfail(?:s|ed|ing|ures?)?\b|\berrors?\b|\bbroken\b|\bflak\w+|\bskip(?:s|ped|ping)?\b"
    r"|\bx(?:fail|pass)\w*|\bcrash\w*|\btimed? ?out\b|\b(?:but|except|excluding|excepting|however"
    r"|although|though|apart from|aside from|other than|besides|whereas|nevertheless|unfortunately"
    r"|caveat\w*)\b|\b(?:remaining|remains?|left|to-?do|pending|outstanding|missing|incomplete"
    r"|partial\w*|unfinished|untested|unimplemented|uncovered|unverified|blocked|blocks|stub\w*"
    r"|placeholder|postponed|deferred|follow-?ups?|wip|in progress)\b|(?:\bnot\b|n['\u2019]t\b|\bnever\b"
    r"|\bcannot\b|\bno one\b)\s+(?:\w+\s+){0,3}?(?:run|ran|test\w*|implement\w*|done|complet\w*|cover\w*"
    r"|met|meet|verif\w*|finish\w*|approv\w*|handl\w*|support\w*|work\w*|pass\w*|yet|all|every\w*|fully"
    r"|entirely|sure|certain|able|written|possible|enough|includ\w*|address\w*|check\w*|review\w*|fix\w*"
    r"|started|ready|execut\w*|exist\w*|satisf\w*|green|there|closed?|clear\w*|true|so|pushed|merged"
    r"|correct\w*)\b|\b(?:unable|couldn['\u2019]t|could not|can['\u2019]t|won['\u2019]t)\b"
    r"|\b(?:once|until|till|unless|as soon as|assuming|provided|in theory|theoretically|supposed|should"
    r"|would|might|may|hopefully|believe|guess|suspect|suppose|presumably|apparently|probably|likely"
    r"|almost|nearly|mostly|roughly|partly|half|some|most|several|certain|many|few|only|just the"
    r"|first (?:part|half|step|draft|version|pass)|so far)\b|\b\d{1,2} ?%|\b(?:i think|i hope|i expect"
    r"|expect\w*|waiting|await\w*|still)\b|\b(?:step|phase|part|stage|milestone|task) (?:\d|one|two"
    r"|i+)\b|\bhalf ?way\b|\bother (?:repo\w*|branch\w*|project)|\b(?:yesterday|last (?:week|night|month"
    r"|year|time)|earlier (?:today|run)|upstream|in the past)\b|\u274c|\u26a0|\u2717|\u2718|\U0001f6a7"
    r"|\u23f3"
)
_AHEAD = (
    r"(?:\b(?:will|going to|gonna|next|then|now i|let me|let us|let's|need(?:s)? to|have to|must|want to"
    r"|plan to|todo)\b|['\u2019]ll\b)[^.;]*\b(?:implement|write|add|fix|build|finish|wire|refactor"
    r"|handle|investigate|debug|address|complete|cover|update|repair|extend|port|migrate|continue|tackle"
    r"|work on{0})\w*\b"
)
"""Work to come; what tests and looks is none in CODING, since it comes next."""
_TESTS_AHEAD = "|run|rerun|re-run|test|check|verify|see"

_CONDITIONS = (
    r"\b(?:but|once|after|if|provided|when|unless|until|before|conditional\w*|conditions?|nits?|minor"
    r"|please|must|needs?|fix|fixe[sd]|fixing|address|addressed|addressing|required|pending|subject to"
    r"|should|would|could|consider|suggest\w*|recommend\w*|follow-?ups?|however|except|although|though"
    r"|first|to-?do|changes|blockers?|blocking|critical|high|major|medium|in principle|partial\w*"
    r"|with (?!no\b|out\b)\w+)\b"
)
"""What an approval in words must not have anywhere around it."""

_NO_CONDITION = (
    r"\b(?:no|0|zero|without(?:\s+any)?)\s+(?:\w+\s+|,\s*){0,3}?(?:changes?|nits?|blockers?|blocking"
    r"|conditions?|critical|high|major|medium|minor|suggestions?|follow-?ups?|issues|findings|comments"
    r"|problems?)\b(?:\s+(?:issues|findings|problems|requested|required|needed))?|\b(?:critical|high"
    r"|major|medium|minor|blockers?|nits?)\W*(?:none|0|no)\b|\b(?:i|we) (?:have )?(?:fixed|addressed)\b"
    r"|\bchanges? (?:is|are|was|were|look|looks|reviewed|approved)\b|\b(?:the|these|all|your"
    r"|reviewed) changes\b"
)

_LED = (
    r"(?i)\b(?:result\w*|summary|status|done|did|verif\w*|outcome|complete\w*|report|confirm\w*|update"
    r"|finished|now|findings|conclusion|wrap-?up|recap|accomplished|changes|achieved|verdict|evidence)\b"
)
"""The line before a list, or before a line of its own, that says what follows is so."""
_UNLED = (
    r"(?i)\b(?:next|plan\w*|to-?do|will|should|must|criteri\w*|requirement\w* (?:are|say|list)|ticket"
    r"|issue says|when|once|if|remaining|left|steps?|goals?|expect\w*|want\w*|need\w*|asks?|says?|said"
    r"|reads?|definition|example|quot\w*|before|previous\w*|earlier|last|yesterday|wrote|claims?|claimed"
    r"|reported)\b"
)

_LEAD_IN = (
    r"(?:(?:done|yes|yep|great|good|good news|ok|okay|perfect|result|results|status|summary"
    r"|test results?|tests?|testing|confirmed|verified|update|finally|so|now|excellent|nice|success"
    r"|as of now|after the fix|final status|conclusion|(?:i|we)(?: have|'ve)? (?:now )?(?:verified|confi"
    r"rmed|checked)(?: that)?|i can confirm(?: that)?|i confirm(?: that)?|i am done|i'm done"
    r"|everything is done|all done|coding|implementation|requirements?|review|requirements review"
    r"|code review)(?:\s*[:,!.-]\s*|\s+))*"
)
_ASIDE = (
    r"with (?:a |an |its |their |own )?(?:tests?|proofs?)\b.*|(?:i |we )?(?:(?:have|'ve) )?(?:also "
    r"|then |now |just )?(?:ran|re-?ran|executed|added|updated|implemented|wrote|created|refactored"
    r"|removed|documented|committed|pushed|verified|checked|confirmed|renamed|moved|extended|cleaned"
    r"|fixed|reviewed|re-?read|went through|compared|addressed|used|did)\b.*|(?:the )?(?:linter|lint"
    r"|types?|type ?check\w*|mypy|ruff|eslint|build|ci|formatting|coverage|everything)\b.*\b"
    r"(?:clean|green|pass\w*|succe\w+|fine|done|ok|complete\w*|up to date|works?)|(?:and |with )?(?:no|0"
    r"|zero|without(?: any)?) (?:\w+ ){0,2}?(?:failures?|errors?|failed|regressions?|skipped|skips"
    r"|comments|findings|issues|warnings|changes requested|todos?)(?: found| left| remain| were found"
    r"| introduced)?|.*\b(?:is|are|was|were) (?:now )?(?:clean|committed|pushed|documented|in place"
    r"|up to date|updated|added|covered)|ready for (?:the )?(?:review|testing|tests|next stage"
    r"|requirements review|next step)|nothing (?:is )?left(?: to do)?|as requested|finally|now|too|so"
    r"|done"
)
"""What may stand beside a claim in its sentence and takes nothing from it."""

_MARKUP = (
    r"[*`~]{1,3}(?=\S)|(?<=\S)[*`~]{1,3}|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)|^\s*(?:[-*+\u2022#]+"
    r"|\d+[.)])\s+|[\ue000\ue001]|[\u2600-\u2604\u2705\u2713\u2714\u2728\U0001f300-\U0001faff]"
)
_ENDS = r"(?<=[.!?;])[\"')\]]*\s+|\n\s*\n"
_PARTS = r"(?:,|;|\s[\u2013\u2014-]\s|:)\s+(?:and\s+)?|\s+and\s+|\s+\((?=[^)]*\)$)"


def said(text: str, about: tuple[str, ...] = ()) -> tuple[Detected, ...]:
    """What the text says is completed, the furthest stage first; then what it says is under way.

    `about`: words that stand for what the turn is about besides: that a review was asked for, so that
    "approved" needs no word of what was.
    """
    lines = _lines(text[-LENGTH:])
    whole = " ".join([*lines, *about])
    states = [state for state in _claimed(lines) if _is_about(state, whole)]
    if states:
        states = _borne_out(text, about)
    for hints, pattern, on, state in STILL:
        words = hints.split()
        worth = [line for line in lines if any(word in line.lower() for word in words)]
        if any(_says_still(pattern, line) for line in worth) and _has(on, whole):
            states.append(state)
    return tuple(states)


def takes_back(text: str, state: Detected) -> bool:
    """True if the text says something that a claim of this stage cannot stand beside."""
    return any(_doubts(sentence, state) for line in _lines(text) for sentence in _sentences(line))


def approves(text: str) -> bool:
    """True if a review's own words approve, and nothing around them is a condition."""
    lines = _lines(text[-LENGTH:])
    if Detected.ORACLE_APPROVED not in set(_claimed(lines)):
        return False
    if Detected.ORACLE_APPROVED not in _borne_out(text, ("review",)):
        return False
    return not any(
        _has(_CONDITIONS, re.sub(_NO_CONDITION, " ", line, flags=re.IGNORECASE)) for line in lines
    )


def _borne_out(text: str, about: tuple[str, ...]) -> list[Detected]:
    """The claims that stand in the agent's own prose, and that nothing in it takes back."""
    from lifecycle.stages.detection.prose_blocks import blocks

    own: list[str] = []
    every: list[str] = []
    is_open = False
    for block in blocks(text):
        lines = _joined(block.text)
        every += lines
        is_open = is_open or block.box == " "
        is_led = block.lead.rstrip(" *_").endswith((":", ",")) or (block.is_item and block.lead)
        is_strange = is_led and (
            _has(_UNLED, block.lead) or not (_has(_LED, block.lead) or block.is_headed)
        )
        if not is_strange and not re.fullmatch(
            "\ue000[^\ue001]* [^\ue001]*\ue001[.!]?", block.text
        ):
            own += lines
    states: list[Detected] = []
    for state in () if is_open else _claimed(own):
        is_doubted = any(_doubts(part, state) for line in every for part in _sentences(line))
        on = " ".join([*every, *about])
        is_bound = state is Detected.ORACLE_APPROVED and any(
            _has(_CONDITIONS, re.sub(_NO_CONDITION, " ", line, flags=re.IGNORECASE))
            for line in every
            if _has(r"approv|lgtm", line)
        )
        if not is_doubted and not is_bound and _is_about(state, on):
            states.append(state)
    return states


def _joined(text: str) -> list[str]:
    """The lines of a block; one that goes on in the next is joined with it."""
    return [
        line for line in re.split(r"(?<=[.!?:;])\n|\n(?=\W*[A-Z\u2705/])", text) if line.strip()
    ]


def _claimed(lines: list[str]) -> list[Detected]:
    """The stages that one of the lines claims, the furthest first."""
    sentences = [part for line in lines for part in _sentences(line)]
    result: list[Detected] = []
    for hints, forms, _, state in CLAIMS:
        # A pattern costs much more than a look for words: only sentences with one are worth it.
        words = hints.split()
        worth = (part for part in sentences if any(word in part for word in words))
        if any(_claims(forms, part) for part in worth):
            result.append(state)
    return result


def _claims(forms: tuple[str, ...], sentence: str) -> bool:
    """True if the sentence, or a part of it whose other parts are harmless, has one of the forms."""
    if sentence.endswith("?"):
        return False
    plain = sentence.rstrip(" .!:;)")
    if _fits(forms, plain):
        return True
    head, _, rest = plain.partition(": ")
    if rest and forms in (_CODED, _SATISFIED) and _fits(forms, head):
        return all(some == every for some, every in re.findall(_SHARE, rest))
    if rest and forms is _APPROVED and re.fullmatch(_REVIEWED, head):
        return _claims(forms, rest)
    parts = [part.strip(" ().!,") for part in re.split(_PARTS, plain)]
    parts = [part for part in parts if part]
    if len(parts) < 2 or not any(_fits(forms, part) for part in parts):
        return False
    every = tuple(form for _, forms_of, _, _ in CLAIMS for form in forms_of)
    return all(_fits(every, part) or re.fullmatch(_ASIDE, part) for part in parts)


def _fits(forms: tuple[str, ...], part: str) -> bool:
    if any(some != every for some, every in re.findall(_SHARE, part)):
        return False
    return any(re.fullmatch(_LEAD_IN + form, part) for form in forms)


def _doubts(sentence: str, state: Detected) -> bool:
    if sentence.endswith("?"):
        return False
    plain = re.sub(_HARMLESS, " ", sentence)
    ahead = _AHEAD.format("" if state is Detected.CODING_COMPLETE else _TESTS_AHEAD)
    return _has(_DOUBT, plain) or _has(ahead, plain)


def _is_about(state: Detected, whole: str) -> bool:
    return next(_has(on, whole) for _, _, on, of in CLAIMS if of is state)


def _says_still(pattern: str, line: str) -> bool:
    plain = re.sub(_HARMLESS, " ", line.lower())
    return any(_has(pattern, part) for part in _sentences(plain) if not part.endswith("?"))


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.IGNORECASE) is not None


def _sentences(line: str) -> Iterator[str]:
    """The sentences of a line in small letters, without markup."""
    plain = re.sub(_MARKUP, "", line).replace("\u2019", "'")
    for part in re.split(_ENDS, plain):
        words = " ".join(part.lower().split())
        if words:
            yield words


def _lines(text: str) -> list[str]:
    """The lines that are neither in a code fence nor in a block quote, told without a parser."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = re.match(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?(`{3,}(?=[^`]*$)|~{3,})(.*)", line)
        if fence:
            is_end = mark and mark[1].startswith(fence) and not mark[2].strip()
            fence = "" if is_end else fence
        elif mark:
            fence = mark[1]
        elif line.strip() and not line.lstrip().startswith((">", "|")):
            lines.append(line)
    return lines
