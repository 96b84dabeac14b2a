"""An embedded GitHub with many claimed tasks, in a process of its own: what it needs is not the sweep's.

Pull requests have texts of a usual length, every issue has the label of its Status besides its card, and
of so many cards one still says Todo, as before the task was taken.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lifecycle.sandbox.seed import Seed, SeedItem, SeedLabel, SeedMark, SeedPull, SeedRepository
from lifecycle.sandbox.server import SandboxInfo, serve
from tests.worlds import agos, claimed

TEXT = 3_000
"""Characters of a pull request's text, besides its link."""
_ROOT = Path(__file__).parents[2]
_LABELS = {
    "Todo": "status: todo",
    "In Progress": "status: in progress",
    "In Review": "status: in review",
}


@contextmanager
def hub(tasks: int, repositories: int, every: int = 0) -> Iterator[SandboxInfo]:
    """A GitHub with so many claimed tasks; one card of `every` is behind, none if 0."""
    words = [str(number) for number in (tasks, repositories, every)]
    command = [sys.executable, "-m", "tests.bench.hub", *words]
    with subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline() if process.stdout is not None else ""
            if not line:
                raise RuntimeError("the bench's GitHub did not start")
            yield SandboxInfo(**json.loads(line))
        finally:
            process.terminate()


def world(tasks: int, repositories: int, every: int) -> Seed:
    """The seed of such a GitHub."""
    seed = claimed(tasks, repositories)
    (project,) = seed.projects
    items = [
        _behind(item) if every and n % every == 0 else item
        for n, item in enumerate(project.items, 1)
    ]
    said = {(one.repository, one.issue): str(one.values["Status"]) for one in project.items}
    return replace(
        seed,
        repositories=[_repository(one, said) for one in seed.repositories],
        projects=[replace(project, items=items)],
    )


def _behind(item: SeedItem) -> SeedItem:
    """A card that nobody touched since before the task was taken."""
    mark = SeedMark("maria", agos().days(9), agos().days(9))
    values: dict[str, Any] = {**item.values, "Status": "Todo"}
    return replace(item, values=values, marks={**item.marks, "Status": mark})


def _repository(
    repo: SeedRepository, said: dict[tuple[str | None, int | None], str]
) -> SeedRepository:
    issues = [replace(one, labels=[_LABELS[said[repo.name, one.number]]]) for one in repo.issues]
    labels = [SeedLabel(name) for name in _LABELS.values()]
    return replace(repo, issues=issues, labels=labels, pulls=[_pull(one) for one in repo.pulls])


def _pull(pull: SeedPull) -> SeedPull:
    line = "What was done, and why it was done in this way and in no other.\n"
    text = line * (TEXT // len(line))
    return replace(pull, body=f"## Summary\n\n{text}\n{pull.body}")


def main(arguments: Sequence[str]) -> int:
    """Serve until the bench ends."""
    tasks, repositories, every = map(int, arguments)
    return serve(seed=world(tasks, repositories, every), out=sys.stdout, exit_with_parent=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
