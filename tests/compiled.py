"""Compiled modules are kept, also where the shell says otherwise (PYTHONDONTWRITEBYTECODE).

Every worker, and every command that is started, would compile thousands of modules anew: half a minute of
CPU in each. It is imported before whatever else the suite imports.
"""

from __future__ import annotations

import os
import sys

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
