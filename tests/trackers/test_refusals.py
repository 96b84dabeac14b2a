"""What trackers refuse is said in a sentence."""

from __future__ import annotations

from lifecycle.core.errors import HeldByAnother
from lifecycle.core.tracker import Task
from lifecycle.trackers.refusals import first_claimed, sentence


def test_a_sentence_is_one_line_however_the_file_breaks_it() -> None:
    """And what is filled in is said as it is, its own line breaks included."""
    assert sentence("circle", task="a", blocker="b") == (
        "a cannot wait for b, which waits for a itself; nothing was done."
    )
    assert sentence("bd-long-text", longest=9, most=8) == (
        "The text has 9 bytes, but bd takes at most 8, so nothing was done; put the rest in a file, and "
        "name the file in the text."
    )
    assert sentence("label-form", label="a\nb").startswith(r"'a\nb' cannot be a label")
    assert sentence("held", task="1", by="a\nb", since="").startswith("1 is held by a\nb;")


def test_who_was_too_late_goes_on_in_the_order_of_urgency_and_past_what_is_held() -> None:
    """However many tasks there are; not all who were too late try the same next one."""
    tasks = [Task(str(number), "", priority=number // 20) for number in range(60)]
    others, seconds = {str(number) for number in range(0, 60, 2)}, set[str]()
    for _ in range(30):
        tried: list[Task] = []

        def claim(task: Task, tried: list[Task] = tried) -> Task:
            tried.append(task)
            raise HeldByAnother("")

        assert first_claimed(claim, tasks, lambda: others) is None
        assert [task.priority for task in tried] == sorted(task.priority or 0 for task in tried)
        assert {task.id for task in tried} == {"0"} | {task.id for task in tasks} - others
        seconds.add(tried[1].id)
    assert len(seconds) > 1
