"""A worker tells of a passed test once, not six times: each message costs it and the whole run CPU.

Nothing that is shown lacks it: the other messages say that a test begins, that its set-up and its tear-down
went well, and that it ended. Who asks for such things, or for an end at the first failure, gets them all.
"""

from __future__ import annotations

import pytest
from _pytest.runner import runtestprotocol

EACH_PHASE = ("durations", "xmlpath", "maxfail", "setupshow", "setuponly")
"""Options with which each phase of a test is told as it ends."""


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Tell less in a worker whose run shows no more than its points."""
    shown = config.option.verbose > 0 or any(vars(config.option).get(n) for n in EACH_PHASE)
    if hasattr(config, "workerinput") and not shown:
        config.pluginmanager.register(_Worker())


class _Worker:
    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test as pytest does, and tell what there is to tell."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if report.when == "call" or not report.passed:
                item.ihook.pytest_runtest_logreport(report=report)
        return True
