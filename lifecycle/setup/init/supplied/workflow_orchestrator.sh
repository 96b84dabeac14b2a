#!/bin/sh
# Stop, under a name that settings may call already. Written by `lifecycle init --stages`. It runs lifecycle's own
# on-stop, and ends at once if settings run on-stop themselves, so that nothing is said twice.
cd "${CLAUDE_PROJECT_DIR:-.}" 2>/dev/null || exit 0
own=${CLAUDE_CONFIG_DIR:-${HOME-}/.claude}/settings.json
for settings in .claude/settings.json .claude/settings.local.json "$own"; do
  [ -f "$settings" ] || continue
  while IFS= read -r line || [ "$line" ]; do
    case $line in *"hook on-stop"* | */on-stop\"*) exit 0 ;; esac
  done <"$settings"
done
COMMAND
