#!/usr/bin/env bash
# Puts the libraries that `lifecycle reconcile` needs into an environment of the job: exactly the locked
# versions, each held to its hash, wheels only, so that nothing of a package runs while it is installed.
# Not compiled either: the run compiles what it imports, a tenth of it.
set -euo pipefail

if [ "${RUNNER_OS:-}" = Windows ]; then
	echo "::error title=lifecycle reconcile::Nothing was looked at: lifecycle needs Linux or macOS; say runs-on: ubuntu-latest."
	exit 2
fi

# RUNNER_TEMP is emptied at the end of every job, so nothing stays on a runner that is used again.
home="$RUNNER_TEMP/lifecycle"
lock="$GITHUB_ACTION_PATH/../../../requirements/action.txt"
if cmp -s "$lock" "$home/installed.txt"; then
	exit 0 # the job uses the action a second time
fi

# -I: no file of the workspace, which is the current folder, is taken for a module.
mkdir -p "$home"
python -I -m venv --clear "$home/venv"
"$home/venv/bin/python" -I -m pip install --quiet --disable-pip-version-check --no-input \
	--no-compile --only-binary :all: --require-hashes --requirement "$lock"
cp "$lock" "$home/installed.txt"
