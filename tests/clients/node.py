"""Runs one octokit scenario: JSON in, JSON out."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.sandbox.server import SandboxInfo

SCENARIOS = Path(__file__).parent / "octokit"


@dataclass(frozen=True, slots=True)
class Node:
    """A folder with the scenarios and, beside them, the packages that they import."""

    folder: Path
    info: SandboxInfo

    @classmethod
    def beside(cls, packages: Path, folder: Path, info: SandboxInfo) -> Node:
        """Copy the scenarios to where node finds the packages: it looks upwards from a script."""
        shutil.copytree(SCENARIOS, folder, dirs_exist_ok=True)
        (folder / "node_modules").symlink_to(packages)
        return cls(folder, info)

    def tell(self, scenario: str, **given: Any) -> Any:
        """Run a scenario to its end; what it found."""
        owner, _, name = self.info.repository.partition("/")
        common = {"api": self.info.api_url, "token": self.info.token, "owner": owner, "repo": name}
        done = subprocess.run(
            ["node", f"{scenario}.mjs"],
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder)},
            input=json.dumps(common | given),
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)
