#!/usr/bin/env bash
# Makes the command's options of the action's inputs, which come as IN_… variables, and runs it from the
# checkout that the action lies in. Token and key stay variables: a command line can be read by others.
set -euo pipefail
set -f # lists are split at their spaces, and nothing in them is a pattern of file names

wrong() { # what an input may be
	echo "::error title=lifecycle reconcile::Nothing was looked at: the input $1."
	printf '## lifecycle reconcile\n\n**Nothing was looked at: the input %s.**\n' "$1" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
	exit 2
}

each() { # option, list: the option once for every word, a number also as #42
	local word
	for word in ${2//,/ }; do
		options+=("$1=${word#\#}")
	done
}

value() { # option, value: the option, if there is a value
	if [ -n "$2" ]; then
		options+=("$1=$2")
	fi
}

switch() { # option, value, input: on, off, or as configured
	case "$2" in
	true) options+=("--$1") ;;
	false) options+=("--no-$1") ;;
	configured | "") ;;
	*) wrong "$1 is true, false or configured" ;;
	esac
}

options=(--summary)
each --repo "$IN_REPOSITORIES"
value --org "$IN_ORGANIZATION"
each --issue "$IN_ISSUES"
each --pull "$IN_PULLS"
value --shard "$IN_SHARD"
switch close "$IN_CLOSE"
switch release "$IN_RELEASE"
value --silent-hours "$IN_SILENT_HOURS"
value --fail-on "$IN_FAIL_ON"
value --minutes "$IN_MINUTES"

# Without its key an App cannot act, and a token that somebody did not mean must not act in its place.
if [ -n "$LIFECYCLE_APP_ID" ] && [ -z "$LIFECYCLE_APP_PRIVATE_KEY" ]; then
	wrong "app-private-key is empty, and app-id needs it"
fi

case "$IN_DRY_RUN" in
true) options+=(--dry-run) ;;
false | "") ;;
*) wrong "dry-run is true or false" ;;
esac

case "$IN_SCOPE" in
auto | "")
	# An event says which issue of the workflow's own repository it is about; who names other places
	# means all that is there.
	if [ -z "${IN_REPOSITORIES}${IN_ORGANIZATION}${IN_ISSUES}${IN_PULLS}" ]; then
		options+=(--event)
	fi
	;;
all) ;;
*) wrong "scope is auto or all" ;;
esac

# The user's own folder of a runner that is used again is none of this job's, nor does a token stay there.
export XDG_CONFIG_HOME="$RUNNER_TEMP/lifecycle/config"
PYTHONPATH="$(cd "$GITHUB_ACTION_PATH/../../.." && pwd)"
export PYTHONPATH
# -P: no file of the workspace is taken for a module.
exec "$RUNNER_TEMP/lifecycle/venv/bin/python" -P -m lifecycle reconcile "${options[@]}"
