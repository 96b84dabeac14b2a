"""Recorded outputs of real runners (`make runners RECORD=1`), and what is true of each."""

from __future__ import annotations

import re

from lifecycle.evidence.outcomes import Outcome
from tests.batches import batched, each_row, wrong
from tests.evidence.runners.projects import CASES, Project, all_projects
from tests.evidence.runners.recordings import RECORDED, Recording, all_recordings, misread

PROJECTS = {project.name: project for project in all_projects()}
RECORDINGS = all_recordings()


@each_row("project", PROJECTS.values(), ids=PROJECTS)
def test_each_runner_has_each_case(project: Project) -> None:
    """All that is asked of a runner is in its file, or the file says why not."""
    names = [case.name for case in project.cases]
    assert len(names) == len(set(names))
    assert set(CASES) == set(CASES) & {*names, *project.without}
    assert not set(project.without) & set(names)


@each_row("project", PROJECTS.values(), ids=PROJECTS)
def test_each_case_is_recorded_as_its_author_states_it(project: Project) -> None:
    """No recording is without its project, none is older than what its project says of it."""
    recorded = [each for each in RECORDINGS if each.project == project.name]
    assert [
        (each.case, each.kind, each.argv, each.outcome, each.also, each.counts, each.failures)
        for each in recorded
    ] == [
        (case.name, case.kind, case.argv, case.outcome, case.also, case.counts, case.failures)
        for case in project.cases
    ]
    assert all(
        bool(each.junit) == bool(case.junit)
        for each, case in zip(recorded, project.cases, strict=True)
    )


def test_no_recording_is_left_over() -> None:
    """A file of recordings belongs to a file of projects."""
    assert {path.stem for path in RECORDED.iterdir()} == set(PROJECTS)


def test_the_status_fits_what_is_true() -> None:
    """A run that passed ended with 0, one that failed with another, unless its command ignores failures.

    Else what a case states of itself is mistaken.
    """
    assert RECORDINGS
    for each in RECORDINGS:
        if each.outcome is Outcome.PASSED:
            assert each.status == 0, each.name
        elif each.outcome is Outcome.FAILED:
            assert (each.status == 0) == (each.case == "failure_ignored"), each.name


def test_nothing_of_a_machine_is_recorded() -> None:
    """No recording names a home, a temporary folder or a user."""
    texts = {each.name: f"{each.output}{each.junit}" for each in RECORDINGS}
    assert texts
    for name, text in texts.items():
        assert not re.findall(r"/(?:home|root|Users|tmp|work|private)/[\w.-]*", text), name
        assert "<properties>" not in text, (
            name
        )  # a report's: the user, the kernel, the virtual machine


def test_recordings_are_short() -> None:
    """A recording can be read: 200 lines at the most, which is enough for every runner."""
    assert max(each.output.count("\n") for each in RECORDINGS) <= 200


@batched(RECORDINGS, 50)
def test_a_recording_is_read_as_its_author_states_it(batch: list[Recording]) -> None:
    """The reader says of each output what is true of the run: its outcome, counts and failures."""
    failed = wrong(batch, lambda each: each.name, misread, [])
    assert not failed, "\n".join(failed)
