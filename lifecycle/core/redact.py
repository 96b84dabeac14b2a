"""Makes text safe to leave the process: without secrets, and with strangers' words as data.

`redact` removes secrets from everything that is printed, logged or sent to GitHub. `shown` is applied to
every output stream: no control character reaches a terminal. `as_data`, `quoted` and `named` are for the
words of strangers in our sentences: a model reads them as data, in one line that opens and ends no frame of
the client, of Markdown or of ours. `unlinked` is for their words in our texts on GitHub.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, partial

_IS = r"[\"']?\s*[:=]\s*[\"']?"
"""The characters between a name and its value."""
_VALUE = r"(?=\S*\d)[^\s\"',]{16,}"
_KEY = r"[A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?"

# Patterns are texts here, compiled only if a text may contain such a secret: a hook with one line for the
# log starts in less time than compiling them all takes. A group called `kept` stays in the text.
_PATTERNS = (
    # https://github.blog/engineering/behind-githubs-new-authentication-token-formats/
    ("gh", r"(?<![A-Za-z0-9])gh[pousr]_(?:\d+_eyJ[\w.-]{16,}|[A-Za-z0-9]{16,})"),
    ("github_pat_", r"(?<![A-Za-z0-9])github_pat_\w{20,}"),
    ("://", r"(?P<kept>://)[^/@\s:]*:[^/@\s]+(?=@)"),
    ("://", r"(?P<kept>://)(?=[^/@\s:]*\d)[\w.~-]{20,}(?=@)"),  # a token alone, before the host
    (
        "authorization",
        rf"(?i)(?P<kept>authorization{_IS})(?:basic|bearer|digest|token)\s+[^\s\"',]+",
    ),
    ("bearer ", r"(?i)(?<=\bbearer )(?=\S*\d)[\w.~+/-]{20,}=*"),
    ("-token", rf"(?i)(?P<kept>\b(?:private|auth|access|api|vault)-token{_IS}){_VALUE}"),
    ("api-key", rf"(?i)(?P<kept>api-key{_IS}){_VALUE}"),
    # In an address: https://datatracker.ietf.org/doc/html/rfc6750#section-2.3, and signed URLs.
    (
        "=",
        (
            r"(?i)(?P<kept>[?&](?:(?:access_|auth_|private_|id_)?token|client_secret|api_?key|sig"
            r"|x-amz-(?:signature|security-token)|x-goog-signature)=)[^&#\s\"'<>]{8,}"
        ),
    ),
    # https://pkg.go.dev/encoding/pem, RFC 7468: a key that is cut off counts as well.
    ("private key", rf"-----BEGIN {_KEY}-----(?s:.*?)(?:-----END {_KEY}-----|\Z)"),
    # RFC 7519: two JSON objects and a signature.
    ("eyj", r"(?<![\w-])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    ("sk-ant-", r"(?<![\w-])sk-ant-[\w-]{16,}"),
    ("sk-or-", r"(?<![\w-])sk-or-[\w-]{32,}"),
    ("sk-", r"(?<![\w-])sk-(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{20,}|(?<![\w-])sk-[0-9a-f]{32,}"),
    # https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_identifiers.html#identifiers-unique-ids
    ("akia", r"(?<![A-Za-z0-9])AKIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("asia", r"(?<![A-Za-z0-9])ASIA[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("aws_", rf"(?i)(?P<kept>aws_(?:secret_access_key|session_token){_IS})[\w/+]{{40,}}=*"),
    ("xox", r"(?<![A-Za-z0-9])xox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}"),
    ("xapp-", r"(?<![A-Za-z0-9])xapp-\d-[A-Za-z0-9-]{10,}"),
    ("hooks.slack.com", r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[\w/-]{20,}"),
    ("/api/webhooks/", r"(?<=/api/webhooks/)\d{15,}/[\w-]{30,}"),
    ("aiza", r"(?<![\w-])AIza[\w-]{35}(?![\w-])"),
    ("ya29.", r"(?<![\w.])ya29\.[\w-]{20,}"),
    ("gocspx-", r"(?<![\w-])GOCSPX-[\w-]{20,}"),
    # https://docs.gitlab.com/security/tokens/#token-prefixes
    (
        "gl",
        r"(?<![\w-])gl(?:pat|oas|dt|rt|rtr|cbt|ptt|ft|imt|agent|wt|soat|ffct)-[\w-]{20,}(?:\.[\w.]+\w)?",
    ),
    ("npm_", r"(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,}"),
    ("pypi-", r"(?<![\w-])pypi-AgE[\w-]{40,}"),
    ("_live_", r"(?<![A-Za-z0-9])[srp]k_live_[A-Za-z0-9]{16,}"),
    ("_test_", r"(?<![A-Za-z0-9])[srp]k_test_[A-Za-z0-9]{16,}"),
    ("whsec_", r"(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/]{24,}=*"),
    ("hf_", r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"),
    ("sg.", r"(?<![\w.])SG\.[\w-]{16,}\.[\w-]{16,}"),
    ("_v1_", r"(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{64}"),
    ("dckr_", r"(?<![A-Za-z0-9])dckr_(?:pat|oat)_[\w-]{20,}"),
    ("hvs.", r"(?<![\w.])hvs\.[\w-]{24,}"),
    ("lin_api_", r"(?<![A-Za-z0-9])lin_api_[A-Za-z0-9]{32,}"),
    ("shp", r"(?<![A-Za-z0-9])shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    ("atatt3", r"(?<![A-Za-z0-9])ATATT3[\w=-]{50,}"),
    ("age-secret-key-", r"(?i)AGE-SECRET-KEY-1[0-9A-Z]{50,}"),
)
"""Pairs: a text in small letters that occurs with every such secret, and the pattern of the secret."""

_NAMES = r"(?i)(?:token(?!s)|secret|password|passwd|passphrase|credential|api_?key|private_?key)"
_PLACES = r"(?i)_(?:file|path|dir|folder|command|cmd|helper)$"
"""Variables that say where a secret is stored, or how to get one."""

_LONGEST = 4_096
"""The largest number of characters of a secret in one line."""

_SHORTEST = 8

_KEPT: set[str] = set()
"""Secrets of this process that are not in an environment variable."""

LIMIT = 200
"""How many characters of a stranger's words a sentence of ours contains."""


def keep_secret(value: str) -> None:
    """Make `redact` remove this value too, until the process ends."""
    if len(value) >= _SHORTEST:
        _KEPT.add(value)


def redact(text: str, environment: Mapping[str, str] | None = None) -> str:
    """The text with `***` in place of every secret that is known or looks like one.

    Those are: values given to `keep_secret`, the values of variables that are named like a secret
    (`…TOKEN`, `…PASSWORD`, of 8 characters or more), passwords in addresses, and the published shapes
    of keys and tokens. Hashes, commits and ids have none of these shapes.

    Args:
        text: pass several lines as one text, or a key that is spread over them is not found.
        environment: the variables; those of the process unless given.
    """
    if len(text) < _SHORTEST:
        environment = {}  # no value of a variable is so short, and the journal has many short texts
    variables = os.environ if environment is None else environment
    there = [(name, value) for name, value in variables.items() if value in text]
    return _without((value for name, value in there if _is_secret(name, value)), text)


def _without(secrets: Iterable[str], text: str) -> str:
    for value in (*secrets, *_KEPT):
        text = text.replace(value, "***")
    lower = text.lower()
    for needle, pattern in _PATTERNS:
        if needle in lower:
            text = re.sub(pattern, _starred, text)
    return text


def seam(text: str, longest: int) -> int:
    """Where a text that will be continued can be cut without cutting a secret; 0 if it is short enough.

    The text after the cut is kept until more has come, since a secret may continue there.
    """
    if len(text) <= longest:
        return 0
    redacted, last = redact(text), len(text) - _LONGEST
    places = range(last, max(last - _LONGEST, 0), -_LONGEST // 8)
    whole_at = (at for at in places if redact(text[:at]) + redact(text[at:]) == redacted)
    return next(whole_at, last)


LONGEST_LINE = 65_536
"""How many characters of a line are kept until it ends: an endless line costs no more memory."""


def lines_in(parts: Iterable[bytes]) -> Iterator[str]:
    """The lines of a text whose parts may break anywhere; a very long line comes in pieces."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    left = ""
    for part in parts:
        *whole, left = (left + decoder.decode(part)).split("\n")
        yield from whole
        if at := seam(left, LONGEST_LINE):
            yield left[:at]
            left = left[at:]
    left += decoder.decode(b"", final=True)
    if left:
        yield left


def _is_secret(name: str, value: str) -> bool:
    if len(value) < _SHORTEST:
        return False
    is_number = value.isdecimal() or value == "*" * len(value)
    return bool(re.search(_NAMES, name)) and not is_number and not re.search(_PLACES, name)


def _starred(match: re.Match[str]) -> str:
    return f"{match.groupdict().get('kept') or ''}***"


TEXTS = frozenset(
    {
        *("title", "body", "text", "summary", "message", "description", "value", "raw_details"),
        *("commit_title", "commit_message", "agent", "comment", "reason"),
    }
)
"""Fields of requests with texts that somebody wrote; all others have names, ids and choices."""


def swept(value: object, names: list[str], name: str = "", *, is_request: bool = False) -> object:
    """A JSON value with `redact` applied to every text in it; anything else (a path, say) becomes a text.

    Args:
        value: the value that will leave the process: a text, a number, or lists and objects of these.
        names: gets the name of each field that had a secret, once.
        name: the name of the field that has this value.
        is_request: from a name or an id (a field that is not in `TEXTS`), only what has the shape of a
            secret is removed: a variable may be called TOKEN_OWNER and have the repository's owner.
    """
    secrets = tuple(value for name, value in os.environ.items() if _is_secret(name, value))
    without = cache(_without)  # many entries have the same names

    def clean(value: object, name: str) -> object:
        if isinstance(value, str):
            text = without(() if is_request and name not in TEXTS else secrets, value)
            if text != value and name not in names:
                names.append(name)
            return text
        if isinstance(value, Mapping):
            return {key: clean(part, str(key)) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [clean(part, name) for part in value]
        is_plain = value is None or isinstance(value, int | float)
        return value if is_plain else clean(str(value), name)

    return clean(value, name)


_HIDDEN = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0"
    + "".join(map(chr, (*range(0xFE00, 0xFE0E), *range(0xE0100, 0xE01F0))))
)
"""Characters that Unicode counts as printable but that are invisible: they can hide a text."""

_PICTURE = "[\\u2190-\\u2bff\\U0001f000-\\U0001faff]"
_JOINT = f"(?<={_PICTURE})\u200d(?={_PICTURE})|(?<={_PICTURE}[\ufe0f])\u200d(?={_PICTURE})"
"""The character that joins two emoji into one picture."""


def visible(text: str) -> str:
    """One line, in which every character that a terminal would not show as such is an escape.

    It is for what strangers wrote: no control sequence can hide or move a part of it, no change of
    direction reverses it, and nothing in it is invisible.
    """
    return _spelled(text, "")


def shown(text: str) -> str:
    """Text for an output stream: without secrets, and `visible` except for its line breaks and tabs.

    Every byte that this product prints passes through here, except colours that it chose itself. Tags with
    which a model's client frames its own words lose their effect: an agent reads what commands print.
    """
    plain = _spelled(redact(text).replace("\r\n", "\n"), "\n\t")
    return re.sub(_CLIENTS, _BRACKET, plain) if "<" in plain else plain


def _spelled(text: str, plain: str) -> str:
    """The text with an escape for every invisible character, except those in `plain`."""
    if text.isascii() and text.isprintable():
        return text
    joints = {match.start() for match in re.finditer(_JOINT, text)} if "\u200d" in text else ()

    def spelled(match: re.Match[str]) -> str:
        c = match[0]
        is_seen = (c.isprintable() and c not in _HIDDEN) or match.start() in joints
        return c if is_seen else c.encode("unicode_escape").decode()

    return re.sub(f"[^ -~{plain}]", spelled, text)


_BRACKET = "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"
_TAGS = r"<(?!(?:number|id)>)(?=[/!?]?[A-Za-z]|!--)"
_CLIENTS = (
    r"(?i)<(?=\s*(?:/\s*)?(?:system|user|human|assistant|function|invoke|parameter|antml|tool|command|local-command"
    r"|bash|task|hook|claude)[\w:-]*[\s/>])"
)
"""Tags that clients of models put around their own words, the user's and what tools said."""
_FRAMES = r"(?i):{3,}|\bcurrent\s+stage(?=\s*:)|\bcurrent\s+workflow\s+stage\b"
"""The signs of the staged workflow's markers, instructions and question in a transcript."""


def as_data(text: str) -> str:
    """One line with what strangers wrote, safe for a model to read: it opens and ends no frame.

    Line breaks and control characters become escapes, whatever looks like a tag loses its bracket, a
    stage's marker is broken up, and nothing is a link or an image in Markdown: a check's name or an
    issue's title must not look like words of the client, of the user or of ours.
    """
    line = re.sub(_TAGS, _BRACKET, visible(text))
    line = re.sub(_FRAMES, _apart, line)
    return line.replace("](", "] (")


def _apart(match: re.Match[str]) -> str:
    words = match[0]
    return " ".join(words) if words.startswith(":") else "-".join(words.split())


def quoted(text: str, limit: int = LIMIT) -> str:
    """A stranger's sentence (a title, a server's words) inside one of ours: in quotation marks, as data.

    Args:
        text: what was written; its runs of white space become single spaces.
        limit: the largest number of characters between the marks.
    """
    line = short(as_data(" ".join(text.split())), limit)
    return '"' + line.replace('"', "'") + '"'


def cell(text: str) -> str:
    """The text in the form of a table's cell: one line, of a bounded length, that ends no column."""
    return short(as_data(" ".join(text.split())), LIMIT).replace("|", "\\|")


_WORD = r"[\w.:/@#+()\[\]=,~-]+"


def named(text: str, limit: int = LIMIT) -> str:
    """A stranger's name (of a check, a label, an agent) inside a sentence of ours, as data.

    A single word gets no quotation marks, since it says nothing by itself; anything else is `quoted`.
    """
    line = quoted(text, limit)
    return line[1:-1] if re.fullmatch(_WORD, line[1:-1]) else line


_REFERENCES = r"(?i)@(?=\w)|#(?=\d)|\bGH-(?=\d)|:(?=//)|&(?=#?\w+;)"
"""The last is a character by its name: GitHub looks for mentions once `&#x40;` is an @.

Sources: https://github.github.com/gfm/#entity-and-numeric-character-references and
https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls
"""


def unlinked(text: str) -> str:
    """A stranger's words in a text that we write on GitHub, as data: they mention nobody and no issue.

    Else GitHub would notify people in this account's name, and the merge of a pull request whose title or
    text says "fixes #7" would close #7.
    """
    return re.sub(_REFERENCES, r"\g<0> ", as_data(text))


_LINKS = r"\](?=\(\s*(?:<\s*)?(?:[A-Za-z][\w+.-]*:|//|www\.))"

TEXT_LIMIT = 20_000
"""How many characters of a stranger's text of several lines are shown."""


def block(text: str) -> list[str]:
    """A stranger's text of several lines as a quotation, with a bar before each line.

    Code in it stays code: only the tags of clients, and hidden comments, lose their bracket. No marker of
    ours is left, and no link or image in Markdown.
    """
    whole = redact(text.replace("\r\n", "\n")).strip("\n")
    kept = re.sub(_CLIENTS, _BRACKET, whole[:TEXT_LIMIT])
    kept = re.sub(_LINKS, "] ", re.sub(_FRAMES, _apart, kept)).replace("<!--", f"{_BRACKET}!--")
    lines = [f"  | {_spelled(line, chr(9))}".rstrip() for line in kept.split("\n")]
    left = len(whole) - TEXT_LIMIT
    return [*lines, f"  … {left:,} more characters"] if left > 0 else lines


def short(text: str, limit: int) -> str:
    """The text, cut to at most `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def few(names: Iterable[str], most: int = 5, joint: str = ", ", more: str = " (+{:,} more)") -> str:
    """The first few of some texts that are safe to show, and how many more there are."""
    texts = tuple(names)
    left = len(texts) - most
    return joint.join(texts[:most]) + (more.format(left) if left > 0 else "")


listed = partial(few, more=" and {:,} more")
"""The same inside of a sentence."""
