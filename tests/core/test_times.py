"""lifecycle.core.timing: timestamps as GitHub, people and machines write them."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from email.utils import formatdate

import pytest
from dateutil import parser
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.core import timing

moments = st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001  the zone is given beside


def dated(seconds: float) -> str:
    """The form of HTTP's header Date."""
    return formatdate(seconds, usegmt=True)


def zoned(seconds: float) -> str:
    """The form of git, which has a committer's own zone, and so has a lease that says when work began."""
    return datetime.fromtimestamp(seconds, timezone(timedelta(hours=-9, minutes=-30))).isoformat(
        timespec="seconds"
    )


@given(moments, st.sampled_from([timing.render_time, dated, zoned]))
def test_githubs_and_gits_forms_are_read_as_any_other(
    moment: datetime, form: Callable[[float], str]
) -> None:
    """The short ways for what GitHub and git write say the same as the long one, to the second."""
    text = form(moment.timestamp())
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "dateutil", None)  # a look that imports it takes 30 ms longer
        said = timing.parse_time(text)
    assert said == parser.parse(text).timestamp() == int(moment.timestamp())


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("2026-01-31T10:30:00+01:00", "2026-01-31T09:30:00Z"),
        ("2026-01-31 09:30", "2026-01-31T09:30:00Z"),
        ("31 Jan 2026 09:30:00 UTC", "2026-01-31T09:30:00Z"),
        ("2026-01-31T09:30:00.000Z", "2026-01-31T09:30:00Z"),
    ],
)
def test_other_forms_are_read_too(text: str, same: str) -> None:
    """With a zone of their own, or none, which is UTC."""
    assert timing.parse_time(text) == timing.parse_time(same)


@pytest.mark.parametrize(
    "text",
    [
        *("Sat, 31 Feb 2026 12:00:00 GMT", "Sat, soon GMT"),
        *("", "soon", "2026-02-30T00:00:00Z", "2026-01-31T0x:30:00Z", None, 7),
        # dateutil would fill these up with today.
        *("-3", "5s", "1.5", "12:00", "31 Jan", "2026-01", "Sat", "10h36m"),
    ],
)
def test_what_is_no_time_is_none(text: object) -> None:
    """Nothing odd raises, also not what has GitHub's length and ending."""
    assert timing.parse_time(text) is None


@pytest.mark.parametrize(
    ("number", "year"),
    [
        (1e308, "9999-12-31T23:59:59Z"),
        (-(10**30), "1970-01-01T00:00:00Z"),
        (math.nan, "1970-01-01T00:00:00Z"),
    ],
)
def test_a_number_that_is_no_moment_is_shown_as_the_nearest(number: float, year: str) -> None:
    """A file that was edited by hand may have any, and each command would end with it."""
    assert timing.render_time(number) == year


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("2026-11-01T08:00:00+01:00", "2026-11-01T08:00:00+01:00"),
        ("2026-11-28T08:00:00Z", "2026-11-27T08:00:00Z"),
        ("x", "2026-11-27T08:00:00Z"),
        ("", "2026-11-27T08:00:00Z"),
    ],
)
def test_what_is_told_is_not_after_what_is_known(told: str, said: str) -> None:
    """A takeover's lease tells when its work began: later than the lease, or no date, is not believed."""
    assert timing.earlier(told, "2026-11-27T08:00:00Z") == said
