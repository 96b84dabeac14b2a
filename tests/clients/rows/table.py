"""All rows."""

from __future__ import annotations

from tests.clients.rows.accounts import ACCOUNTS
from tests.clients.rows.boards import BOARDS
from tests.clients.rows.checks import CHECKS
from tests.clients.rows.issues import ISSUES
from tests.clients.rows.pulls import PULLS
from tests.clients.rows.repository import REPOSITORY

ROWS = (*ACCOUNTS, *REPOSITORY, *ISSUES, *PULLS, *CHECKS, *BOARDS)
