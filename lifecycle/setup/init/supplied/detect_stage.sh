#!/bin/sh
# Text on stdin, the stage of the workflow on stdout. Written by `lifecycle init --stages`.
case ${XDG_CONFIG_HOME-} in /*) ours=$XDG_CONFIG_HOME ;; *) ours=${HOME-}/.config ;; esac
bin=${LIFECYCLE_BIN-}
[ "$bin" ] || { IFS= read -r bin <"$ours/lifecycle/bin"; } 2>/dev/null
[ -f "$bin" ] && [ -x "$bin" ] || bin=$(command -v lifecycle) || {
  echo "No lifecycle command was found, so no stage was detected; install it as its README says." >&2
  exit 1
}
exec "$bin" stage detect "$@"
