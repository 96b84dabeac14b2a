#!/bin/sh
# PostToolUse of an agent's launch, for settings that name this file. Written by `lifecycle init --workflow`. It runs
# lifecycle's own workflow-agent, and ends at once if settings or the plugin run that hook: so nothing is noted twice. Set it
# up with the matcher "Agent|Task": letters and | are compared as names, so "*Task*" never fires.
cd "${CLAUDE_PROJECT_DIR:-.}" 2>/dev/null || exit 0
own=${CLAUDE_CONFIG_DIR:-${HOME-}/.claude}/settings.json
for settings in .claude/settings.json .claude/settings.local.json "$own"; do
  [ -f "$settings" ] || continue
  while IFS= read -r line || [ "$line" ]; do
    case $line in
      *"hook workflow-agent"* | */workflow-agent\"*) exit 0 ;;
      *\"lifecycle@*\"*:*)
        plugin=${line#*\"lifecycle@} plugin=${plugin#*:}
        case $plugin in true* | " true"*) [ -e .claude/lifecycle.json ] || exit 0 ;; esac
        ;;
    esac
  done <"$settings"
done
COMMAND
