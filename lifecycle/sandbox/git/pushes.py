"""Read the refs that a push wants to move, and find those that rules refuse.

A push begins with a line for each ref: the old commit, the new one, the ref's name; zeros mean "none". The
rules are checked before git gets the push. Git's `update` hook reports the refusals to the client; it also
knows the one thing for which the pushed commits are needed: whether a ref would be forced.
Source: https://git-scm.com/docs/pack-protocol#_reference_update_request_and_packfile_transfer
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import IO

from lifecycle.sandbox.accounts.state import User
from lifecycle.sandbox.repositories.state import Repository
from lifecycle.sandbox.rules import actions as rules

VARIABLE = "SANDBOX_REFUSALS"
HOOK = f"""\
#!/bin/sh
# Written by the sandbox: tells a client which rule keeps it from a ref.
case "$2" in *[!0]*) ;; *) kind=any ;; esac
case "$3" in *[!0]*) ;; *) kind=any ;; esac
if [ -z "$kind" ]; then
  if git merge-base --is-ancestor "$2" "$3"; then kind=any; else kind=forced; fi
fi
tab=$(printf '\\t')
printf '%s' "${VARIABLE}" | while IFS="$tab" read -r ref when text; do
  if [ "$ref" = "$1" ] && [ "$when" = "$kind" ]; then
    printf '%b' "$text" >&2
    exit 1
  fi
done
"""
REASON = b"hook declined"
"""The words in git's report on a ref that the hook refuses; GitHub names its own hook."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """A push's refusals by ref: when (`any`, or only if `forced`), the text and the reason."""

    listed: tuple[tuple[str, str, str, str], ...] = ()

    def variable(self) -> str:
        """The text of `VARIABLE` for the hook: a line with ref, condition and text for each refusal."""
        lines = [f"{ref}\t{when}\t{_escaped(text)}\n" for ref, when, text, _ in self.listed]
        return "".join(lines)

    def named(self, report: bytes) -> bytes:
        """Git's report with GitHub's reasons, with corrected packet lengths."""
        for ref, _, _, reason in self.listed:
            report = _replaced(report, ref.encode(), reason.encode())
        return report


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("\n", "\\n")


def _replaced(report: bytes, ref: bytes, reason: bytes) -> bytes:
    """Rewrite `ng REF hook declined` wherever it occurs, and correct the lengths of its packets.

    The report is a packet inside packets of a side band, so both lengths grow by the same amount.
    """
    line = b"ng " + ref + b" " + REASON + b"\n"
    place = report.find(line)
    if place < 0:
        return report
    better = b"ng " + ref + b" " + reason + b"\n"
    grown = len(better) - len(line)
    report = report[:place] + better + report[place + len(line) :]
    report = _lengthened(report, place - 4, grown)
    outer = _packet_around(report, place - 4)
    return report if outer is None else _lengthened(report, outer, grown)


def _lengthened(report: bytes, place: int, grown: int) -> bytes:
    length = int(report[place : place + 4], 16) + grown
    return report[:place] + b"%04x" % length + report[place + 4 :]


def _packet_around(report: bytes, inner: int) -> int | None:
    """The beginning of the side band's packet around a position; None without a side band."""
    place = 0
    while place < inner:
        length = int(report[place : place + 4], 16)
        if place + max(length, 4) > inner:
            return place
        place += max(length, 4)
    return None


def commands(stream: IO[bytes]) -> tuple[list[rules.Push], bytes]:
    """Read the refs that a push wants to move; return them, and the bytes read from the stream."""
    pushes: list[rules.Push] = []
    data = b""
    while True:
        head = stream.read(4)
        data += head
        if len(head) < 4 or head == b"0000":
            return pushes, data
        line = stream.read(int(head, 16) - 4)
        data += line
        if line.startswith((b"shallow ", b"push-cert")):
            continue
        parts = line.split(b"\0", 1)[0].decode(errors="replace").rstrip("\n").split(" ", 2)
        if len(parts) == 3:
            old, new = (sha if set(sha) != {"0"} else None for sha in parts[:2])
            pushes.append(rules.Push(parts[2], old, new))


def refusals(repo: Repository, user: User, wanted: list[rules.Push], page: str) -> Refusals:
    """The rules' refusals of a push; for each ref, of the move itself and, if it moves, of forcing it."""
    listed = []
    for push in wanted:
        forms = [("any", push)]
        if push.old and push.new:
            forms.append(("forced", replace(push, forced=True)))
        for when, form in forms:
            refused = rules.push_refusal(repo, user, form)
            if refused is not None:
                listed.append((push.ref, when, *rules.push_message(push.ref, refused, page)))
    return Refusals(tuple(listed))


def install(repo: Repository) -> None:
    """Write the `update` hook into a repository that does not have it yet."""
    path = repo.git.path / "hooks" / "update"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(HOOK, encoding="utf-8")
        fresh.chmod(0o700)
        fresh.replace(path)
